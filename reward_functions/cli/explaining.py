"""`reward explain`: why a response earns what it does, be it typed or a row of a file.

A row is named by its id or its place, or found by its score. A file is read once and what is not
shown is not kept; only a reward that looks at its group holds all of it.
"""

from __future__ import annotations

import sys
from heapq import nsmallest
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, NamedTuple

import typer
from rich.text import Text

from reward_functions import RewardResult, RewardSpec, Scored, sample, score_batch
from reward_functions.cli._composites import explained_parts
from reward_functions.cli._console import cell, facts, output, plain, print_json, remark
from reward_functions.cli._errors import INCOMPLETE
from reward_functions.cli._options import (  # noqa: TC001 - typer reads annotations
    Map,
    Models,
    Name,
    Parameters,
    Shape,
)
from reward_functions.cli._results import cells_of, decision_line, metric_key, written
from reward_functions.core.errors import ConfigurationError
from reward_functions.core.suggest import did_you_mean
from reward_functions.core.types import Sample
from reward_functions.data.json_rows import BadInput, shown
from reward_functions.reports.rules.registry import rule_of
from reward_functions.scoring.results import explanation, row_object
from reward_functions.scoring.rewards import nobody, ready, reward_named
from reward_functions.scoring.rows import Read, row_options, samples_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from rich.table import Table

    from reward_functions.core.spec import RewardFunction

CHUNK: Final = 1_024
"""Rows scored at a time, in search of the lowest rewards."""

SHOWN: Final = 20
"""Rows of one id that are shown."""

KNOWN: Final = 10_000
"""Ids that an unknown one is compared with."""

LONG: Final = 200
"""Characters of an id that nobody mistypes."""

HEAD: Final = 300
TAIL: Final = 600
"""Characters of a long response: its answer is likely to stand at the end."""


class Explained(NamedTuple):
    """A row and its result."""

    read: Read
    result: RewardResult


def explain(
    name: Name,
    file: Annotated[
        str | None,
        typer.Argument(
            metavar="[FILE]",
            help="Samples, read as `reward score` reads them; name rows by --id, --line or "
            "--worst. Without FILE: --response.",
        ),
    ] = None,
    *,
    id: Annotated[  # noqa: A002 - the option's name
        str | None, typer.Option("--id", metavar="ID", help="The rows of FILE with this id.")
    ] = None,
    line: Annotated[
        int | None,
        typer.Option(min=1, help="The row of FILE at this line, or of an array this item."),
    ] = None,
    worst: Annotated[
        int | None,
        typer.Option(min=1, help="So many rows of FILE that earn least; scores all of them."),
    ] = None,
    response: Annotated[
        str | None,
        typer.Option(
            metavar="TEXT",
            help="What the policy wrote; @FILE reads a file, - standard input, @@… is a string "
            "that begins with @.",
        ),
    ] = None,
    answers: Annotated[
        Path | None,
        typer.Option(
            "--answers",
            metavar="KEPT",
            help="Answers to the prompts of FILE, as `reward job baseline --out` and `evaluate "
            "--out` keep them.",
        ),
    ] = None,
    reference: Annotated[
        str | None,
        typer.Option(
            metavar="TEXT",
            help="The ground truth, a string or a JSON object; @FILE reads a file, @@… is a string "
            "that begins with @.",
        ),
    ] = None,
    prompt: Annotated[
        str | None, typer.Option(metavar="TEXT", help="The user turn before it.")
    ] = None,
    parameter: Parameters = None,
    judge: Models = None,
    mapped: Map = None,
    shape: Shape = None,
    as_json: Annotated[bool, typer.Option("--json", help="Write JSON.")] = False,
) -> None:
    """Explain a score: the answer found, what was compared, the rule that decided.

    Of rows of a file it shows their prompt, response and reference too. Exit status: 0 all that is
    shown was scored; 1 something was not; 2 nothing could be explained.
    """
    typed = {"--response": response, "--reference": reference, "--prompt": prompt}
    rows = {"--id": id, "--line": line, "--worst": worst}
    columns = {"--map": mapped or None, "--rows": shape, "--answers": answers}
    _check(file, _given(typed), _given(rows), _given(columns))
    spec = reward_named(name)
    reward = ready(spec, parameter or [], judge, answers=None if judge else nobody(spec))
    if file is not None:
        options = row_options(mapped, shape)
        reads = samples_of(file, options, answered=answers is None, whole=spec.needs.group)
        if answers is not None:
            reads = _answered(reads, answers, file)
        explained = list(_of_file(spec, reward, file, reads, id=id, line=line, worst=worst))
        if not explained:
            raise BadInput(f"{shown(file)} holds no rows")
    else:
        truth = None if reference is None else _typed(reference)
        one = sample(_typed(response or ""), truth, prompt=prompt or "")
        explained = [Explained(Read("", one), *score_batch(reward, [one]))]
    _show(spec, explained, as_json=as_json)
    if not all(isinstance(each.result, Scored) for each in explained):
        raise typer.Exit(INCOMPLETE)


def _given(options: dict[str, Any]) -> list[str]:
    return [name for name, value in options.items() if value is not None]


def _check(file: str | None, typed: list[str], rows: list[str], columns: list[str]) -> None:
    """Refuse what leaves open which responses are meant.

    Raises:
        ConfigurationError: neither a response nor rows of a file are named, or both are.
    """
    if file is None and (rows or columns):
        option, what = (rows[0], "names rows") if rows else (columns[0], "says how to read rows")
        raise ConfigurationError(f"{option} {what} of a FILE: reward explain NAME FILE …")
    if file is None and "--response" not in typed:
        wanted = "give --response TEXT, or a FILE with --id ID, --line N or --worst N"
        raise ConfigurationError(f"nothing to explain: {wanted}")
    if file is not None and typed:
        raise ConfigurationError(f"{typed[0]} and a FILE exclude each other")
    if file is not None and len(rows) != 1:
        raise ConfigurationError("name rows of FILE by one of --id ID, --line N and --worst N")


def _answered(reads: Iterable[Read], answers: Path, file: str) -> Iterator[Read]:
    """The rows with each of the answers that are kept to them; rows that were not asked go.

    Raises:
        BadInput: no row was asked.
        ConfigurationError: it is no file of answers.
        OSError: it cannot be read.
    """
    from reward_functions.jobs.asking import kept_texts, with_kept_answers

    kept, found = kept_texts(answers), False
    for place, row in reads:
        samples = with_kept_answers(row, kept) if isinstance(row, Sample) else []
        for number, one in enumerate(samples, 1):
            found = True
            yield Read(f"answer {number} to {place}", one)
    if not found:
        raise BadInput(f"{answers} holds no answer to a prompt of {shown(file)}: name its rows")


def _of_file(
    spec: RewardSpec,
    reward: RewardFunction,
    file: str,
    reads: Iterable[Read],
    *,
    id: str | None,  # noqa: A002
    line: int | None,
    worst: int | None,
) -> Iterable[Explained]:
    """The rows that are meant, with their results, in the order in which they are shown."""
    if worst is not None:
        return _worst(spec, _scored(spec, reward, reads), worst)
    if spec.needs.group:
        reads = list(reads)
    picked = _with_id(reads, file, id) if id is not None else _at(reads, file, line or 0)
    return _with_results(spec, reward, picked, reads)


def _with_id(reads: Iterable[Read], file: str, id: str) -> list[Read]:  # noqa: A002
    """The rows of an id. That there are several is said: ids are names.

    Raises:
        BadInput: there is none; the message suggests the nearest.
    """
    picked: list[Read] = []
    found, others = 0, set[str]()
    for read in reads:
        if read.sample.id == id:
            found += 1
            if len(picked) < SHOWN:
                picked.append(read)
        elif len(others) < KNOWN and len(read.sample.id) <= LONG:
            others.add(read.sample.id)
    if not picked:
        near = did_you_mean(id, others)
        suggestion = near if near.startswith(". ") else ""
        raise BadInput(f"{shown(file)} has no row with the id {id!r}{suggestion}")
    if found > 1:
        places = ", ".join(read.place for read in picked)
        more = f" and {found - SHOWN:,} more, which are not shown"
        note = f"{found:,} rows have the id {id!r}: {places}{more if found > SHOWN else ''}"
        remark(note)
    return picked


def _at(reads: Iterable[Read], file: str, line: int) -> list[Read]:
    """The row at a line; with --answers, once for each of them.

    Raises:
        BadInput: no row begins there.
    """
    last, picked = "it has no rows", list[Read]()
    for read in reads:
        if read.place.rpartition(" ")[2] == str(line):
            picked.append(read)
        elif picked:
            break
        last = f"its last row is {read.place}"
    if picked:
        return picked
    raise BadInput(f"{shown(file)} has no row at line {line}; {last}")


def _with_results(
    spec: RewardSpec, reward: RewardFunction, picked: Sequence[Read], reads: Iterable[Read]
) -> Iterator[Explained]:
    """The results of some rows; a reward that looks at groups sees all of theirs."""
    batch = list(picked)
    if spec.needs.group:
        prompts = {each.sample.context for each in picked if isinstance(each.sample, Sample)}
        batch = [
            each
            for each in reads
            if isinstance(each.sample, Sample) and each.sample.context in prompts
        ] + [each for each in picked if not isinstance(each.sample, Sample)]
    results = score_batch(reward, [each.sample for each in batch])
    found = {read.place: result for read, result in zip(batch, results, strict=True)}
    return (Explained(read, found[read.place]) for read in picked)


def _scored(spec: RewardSpec, reward: RewardFunction, reads: Iterable[Read]) -> Iterator[Explained]:
    """Every row with its result, a chunk at a time; all at once where groups are looked at."""
    rows = iter(reads)
    while chunk := list(islice(rows, None if spec.needs.group else CHUNK)):
        yield from map(Explained, chunk, score_batch(reward, [each.sample for each in chunk]))


def _worst(spec: RewardSpec, rows: Iterable[Explained], count: int) -> list[Explained]:
    """The rows that earn least, the first of equals; where nothing has a score, those without."""
    unscored = 0

    def earned(row: Explained) -> float:
        nonlocal unscored
        if isinstance(row.result, Scored):
            return row.result.score.value
        unscored += 1
        return spec.scale.maximum + 1  # behind whatever was scored

    lowest = nsmallest(count, rows, key=earned)
    if unscored:
        remark(f"unscored {unscored:,}: they follow those with a score")
    return lowest


def _show(spec: RewardSpec, explained: Sequence[Explained], *, as_json: bool) -> None:
    if as_json:
        print_json([_object(spec, each) for each in explained])
        return
    console = output()
    for at, each in enumerate(explained):
        if each.read.place:
            heading = f"{each.read.place}, id {each.read.sample.id}"
            console.print(Text(f"{chr(10) if at else ''}{plain(heading)}", "bold"))
        console.print(_explanation(spec, each))
        if isinstance(each.result, Scored) and each.result.score.parts:
            console.print(explained_parts(spec, each.result.score))


def _object(spec: RewardSpec, explained: Explained) -> dict[str, Any]:
    """A row and its explanation as JSON; what is compared is readable, whatever its type is."""
    place, sample = explained.read
    row = {
        "place": place,
        "prompt": getattr(sample, "prompt", None),
        "response": getattr(sample, "response", None),
        "reference": getattr(sample, "reference", None),
    }
    return row_object(explained.result, place, explain=True, reward=spec.name) | row


def _explanation(spec: RewardSpec, explained: Explained) -> Table:
    (place, sample), result = explained
    known = cells_of(spec, result, place)
    why = explanation(result, spec.name) or {}
    rule = rule_of(spec.name, why.get("rule") or "")
    row: dict[str, Any] = {}
    if isinstance(sample, Sample):
        as_given = None if sample.reference is None else cell(written(sample.reference))
        if place:
            row = {
                "prompt": cell(sample.prompt),
                "response": _ends(sample.response),
                "reference given": as_given,
            }
        elif why.get("normal_reference") is None:
            row = {"reference given": as_given}
    compared = {
        name: None if why.get(key) is None else _normal_form(why[key])
        for name, key in (
            ("normal form", "normal_answer"),
            ("reference", "normal_reference"),
            ("outcome", "outcome"),
            ("rule", "rule"),
        )
    }
    return facts(
        {
            **row,
            "answer": known.get("answer"),
            **compared,
            "the rule": rule and cell(rule.statement),
            "score": known["score"],
            "reason": known.get("reason"),
            **{metric_key(name): known.get(metric_key(name)) for name in spec.metrics},
            "error": known.get("error"),
        }
    )


def _normal_form(form: str | list[dict[str, str | None]]) -> Text:
    """What was compared; of a judge a line for each of its decisions."""
    if isinstance(form, str):
        return cell(form)
    return Text("\n").join(cell(decision_line(each)) for each in form)


def _ends(response: str) -> Any:
    """A response by its beginning and its end."""
    if len(response) <= HEAD + TAIL:
        return Text(plain(response, HEAD + TAIL))
    left = f" … {len(response) - HEAD - TAIL:,} characters … "
    ends = plain(response[:HEAD], HEAD), left, plain(response[-TAIL:], TAIL)
    return Text("".join(ends))


def _typed(text: str) -> str:
    """A text as typed, or the content of a file, or of standard input.

    Raises:
        ConfigurationError: the content is not UTF-8.
        OSError: the file cannot be read.
    """
    if text == "-":
        content = sys.stdin.buffer.read()
    elif text.startswith("@@"):
        return text[1:]
    elif text.startswith("@"):
        content = Path(text[1:]).read_bytes()
    else:
        return text
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        raise ConfigurationError(f"{text}: not UTF-8") from None
