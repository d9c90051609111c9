"""A file of your own as training data: prepared, and split without leaking.

A file that has splits keeps them. Any other becomes `train.jsonl` and `test.jsonl`: rows that share
a page or a prompt, punctuation and capitals apart, stand on one side. Bedrock trains on 100 rows or
more: the test part is smaller where the training part would have fewer, and empty where the file
has just enough.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal

from reward_functions.core.errors import ConfigurationError
from reward_functions.data.json_rows import Row
from reward_functions.data.lengths import Lengths, prompt_tokens, suggested_prompt_length
from reward_functions.data.linting import MAX_ROWS, MIN_ROWS, lint
from reward_functions.data.parting import parted
from reward_functions.data.preparing import REPORT, BadRecords, prepare_own
from reward_functions.data.rows.reading import canonical_rows, prompts_of, recognised
from reward_functions.data.rows.shapes import RowOptions
from reward_functions.data.splitting import components, group_of, prompt_of
from reward_functions.data.wording import Wording, filled
from reward_functions.extraction.choices import options_in

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from reward_functions.core.spec import RewardSpec
    from reward_functions.data.preparing import Complaint
    from reward_functions.data.records import RecordOutcome
    from reward_functions.data.splitting import Leak
    from reward_functions.scaffold.columns import Source

TRAIN: Final = "train"
TEST: Final = "test"

SHARE: Final = 0.8
"""Of the rows that are trained on."""

LEAST: Final = 5
"""Rows that are held out, at least: fewer tell nothing."""

SEED: Final = 0

BY: Final[Sequence[Literal["page", "prompt"]]] = ("page", "prompt")
"""What no two parts share."""


@dataclass(slots=True)
class MadeRows:
    """The rows made of a file, and those left out.

    Args:
        rows: written, by split.
        dropped: rows left out on purpose, by reason.
        problems: rows that could not be used, each in a sentence.
        leaks: what the splits share, each in a sentence.
        are_joined: whether no row is held out, since each shares a page or a prompt with others.
        prompt_tokens: `maxPromptLength` as suggested, from the prompts that are trained on.
    """

    rows: Mapping[str, int]
    dropped: Mapping[str, int] = field(default_factory=dict)
    problems: Sequence[str] = ()
    leaks: Sequence[str] = ()
    are_joined: bool = False
    prompt_tokens: int = 0


def mapped_to(prompt: str, reference: str | None) -> RowOptions:
    """How rows are read whose columns are known."""
    return RowOptions({"prompt": prompt} | ({"reference": reference} if reference else {}))


def template_of(source: Source, options: RowOptions) -> str | None:
    """The user turn of rows whose options stand in columns; None where they have none.

    A prompt that shows its options already is left alone.
    """
    columns = [name for name in source.options if name not in options.map.values()]
    if len(columns) < len(source.options) or not columns:
        return None
    if any(options_in(prompt_of(row)) for row in wire_rows(source, options)):
        return None
    letters = zip("ABCDEFGHIJ", columns, strict=False)
    return "\n".join(["{question}\n", *(f"{letter}) {{{name}}}" for letter, name in letters)])


def wire_rows(
    source: Source, options: RowOptions, template: str | None = None
) -> list[dict[str, Any]]:
    """The rows looked at as a trainer sends them; those that cannot be read are left out.

    Args:
        source: the file.
        options: how its rows are read.
        template: of the user turn.
    """
    how = recognised(source.file, source.rows, options)
    how = how._replace(columns=how.columns._replace(response=()))
    given = (Row(f"row {at}", each, f"row {at}") for at, each in enumerate(source.rows, 1))
    read = canonical_rows(given, how, responses=False)
    found = [row.content for row in read if isinstance(row, Row)]
    for row in found if template else ():
        texts = {name: str(value) for name, value in (row.get("metadata") or {}).items()}
        asked = filled(template or "", texts | {"question": prompt_of(row)})
        row["messages"] = [*row["messages"][:-1], {"role": "user", "content": asked}]
    return found


def made_rows(
    file: str,
    folder: Path,
    *,
    options: RowOptions,
    template: str | None = None,
    answer_format: str | None = None,
    complaint: Complaint | None,
    skip_bad: bool,
    fewest: int = MIN_ROWS,
    watched: Callable[[Iterable[RecordOutcome]], Iterable[RecordOutcome]] = iter,
) -> MadeRows:
    """Write a file as training data, and the report.

    Args:
        file: its path.
        folder: an empty one, to write to.
        options: how its rows are read.
        template: of the user turn; None for the prompts as they are.
        answer_format: the sentence that asks for a form of answer; None leaves the prompts alone.
        complaint: why the reward cannot use a row, at a position; None where it can.
        skip_bad: leave out rows that cannot be used, instead of giving up.
        fewest: rows that the service trains on.
        watched: passes the outcomes on, and shows that it goes on.

    Raises:
        ConfigurationError: rows cannot be used; the message shows the first, and what to add. Or of
            several splits none is to be trained on.
        OSError: a file cannot be read or written.
    """
    if template and answer_format:
        template += "\n\n{answer_format}"
    wording = Wording(template=template, answer_format=answer_format)
    try:
        report = prepare_own(
            file,
            folder,
            options=options,
            wording=wording.checked(),
            complaint=complaint,
            skip_bad=skip_bad,
            watched=watched,
        )
    except BadRecords as error:
        unusable = str(error).partition(";")[0]
        raise ConfigurationError(
            f"{unusable}, such as {error.problems[0]}. Mend them, or leave them out with --skip-bad"
        ) from None
    made = MadeRows(dict(report.splits), dict(report.dropped), report.problems)
    leaks = report.leaks
    if len(made.rows) == 1:
        leaks = _split(folder, made, fewest)
    elif TRAIN not in made.rows:
        raise ConfigurationError(
            f"{file}: the splits are {', '.join(sorted(made.rows))}, and none is {TRAIN}: call the "
            f"one that is trained on {TRAIN}"
        )
    prompts = prompts_of(str(folder / f"{TRAIN}.jsonl"))
    lengths = Lengths([prompt_tokens(row.content["messages"]) for row in prompts])
    made.leaks = [str(leak) for leak in leaks]
    made.rows = dict(sorted(made.rows.items(), key=lambda each: (each[0] != TRAIN, each[0])))
    made.prompt_tokens = suggested_prompt_length(lengths)
    return made


def lint_errors(
    folder: Path, made: MadeRows, spec: RewardSpec, parameters: Mapping[str, Any]
) -> list[str]:
    """The errors that lint finds in the rows, each in a sentence that calls the folder `data`.

    Args:
        folder: of the rows.
        made: what is there.
        spec: the reward.
        parameters: of it.

    Raises:
        OSError: a file cannot be read.
    """
    files = [str(folder / f"{part}.jsonl") for part in made.rows]
    found = lint(files, reward=spec, parameters=parameters, rows=(1, MAX_ROWS)).errors
    return [f"{each.what}: {each.detail}".replace(f"{folder}/", "data/") for each in found]


def _split(folder: Path, made: MadeRows, fewest: int) -> list[Leak]:
    """Split the one file that was made, which is gone then; returns what the parts share."""
    (whole,) = made.rows
    named = folder / f".{whole}.jsonl"
    (folder / f"{whole}.jsonl").replace(named)
    try:
        rows = list(prompts_of(str(named), whole=True))
        groups = components(map(_keys, rows))
        held_out = min(len(rows) - fewest, round((1 - SHARE) * len(rows)))
        if len(rows) < fewest:
            held_out = round((1 - SHARE) * len(rows))
        made.are_joined = len(set(groups.values())) == 1 < len(rows)
        if held_out < LEAST or made.are_joined:
            named.replace(folder / f"{TRAIN}.jsonl")
            made.rows = {TRAIN: len(rows)}
            _note(folder / REPORT, {"rows": made.rows})
            return []
        shares = {TRAIN: 1 - held_out / len(rows), TEST: held_out / len(rows)}
        done = parted(
            str(named), folder, shares=shares, seed=SEED, group=lambda row: groups[_keys(row)[0]]
        )
    finally:
        named.unlink(missing_ok=True)
    made.rows = {part: done.rows[part] for part in shares}
    how = {"by": BY, "seed": SEED, "leaks": [str(leak) for leak in done.leaks]}
    _note(folder / REPORT, {"rows": made.rows, "split": how})
    return done.leaks


def _keys(row: Row) -> list[str]:
    """The page of a row, where it has one, and what it asks: neither stands on two sides."""
    named = {by: group_of(row.content, by) for by in BY}
    return [f"{by} {name}" for by, name in named.items() if name] or [row.where]


def _note(report: Path, further: dict[str, Any]) -> None:
    """Say in the report what became of the rows once they were prepared."""
    content = json.loads(report.read_text(encoding="utf-8")) | further
    report.write_text(f"{json.dumps(content, indent=2)}\n", encoding="utf-8")
