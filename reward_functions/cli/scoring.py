"""`reward score`: a file of responses in, one result for each out, and a page about all of them.

The file is read twice. The first time, everything that can be wrong with the arguments or the file
is found; the second time rows are scored and forgotten, so that memory does not grow with the file.
Results wait in a journal until all are there. Output file and page appear complete and together, or
not at all; an interrupt leaves the journal of an output file behind, and --resume goes on with it.
"""

from __future__ import annotations

import sys
from contextlib import ExitStack
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

import typer

from reward_functions.cli._options import (  # noqa: TC001 - typer reads annotations
    AllowEmpty,
    File,
    Map,
    Models,
    Name,
    Only,
    Parameters,
    Shape,
    Sort,
)
from reward_functions.cli._pages import say_where
from reward_functions.cli._verdicts import NoVerdicts, Verdicts  # noqa: TC001

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TextIO

    from reward_functions import RewardSpec
    from reward_functions.cli._journal import Journal
    from reward_functions.cli._scoring_run import Held
    from reward_functions.cli._streaming import Streamed
    from reward_functions.core.spec import RewardFunction
    from reward_functions.tools.score_report.labels import Labels

Format = Literal["table", "jsonl", "json"]

STANDARD: Final = "-"
"""Standard input as FILE, standard output as OUT."""

LARGEST_TABLE: Final = 20_000
"""Rows of a table: each takes some kB while the columns are measured."""

SHOWN: Final = 50
"""Rows of a table on a terminal, where no limit is given."""


def score(  # noqa: PLR0915 - one step after the other
    name: Name,
    file: File,
    *,
    output: Annotated[
        str | None,
        typer.Option(
            "--output", "-o", metavar="OUT", help="Write results to a file; - is standard output."
        ),
    ] = None,
    format: Annotated[  # noqa: A002 - the option's name
        Format | None,
        typer.Option(help="What to write.", show_default="table on a terminal, jsonl elsewhere"),
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Interpreters that compute side by side, or threads that wait for a judge.",
            show_default="what the reward needs",
        ),
    ] = None,
    parameter: Parameters = None,
    judge: Models = None,
    mapped: Map = None,
    shape: Shape = None,
    verdicts: Verdicts = None,
    no_verdicts: NoVerdicts = False,
    report: Annotated[
        str | None,
        typer.Option(
            "--report",
            metavar="PAGE",
            help="Write a page about the rewards and their reasons to a file, NAME.html.",
        ),
    ] = None,
    label: Annotated[
        str | None,
        typer.Option(
            "--label",
            metavar="FIELD",
            help="Hold the rewards against a field of the rows that says whether a response is "
            "correct: precision and recall.",
        ),
    ] = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Add the answer found and the reason of each score.")
    ] = False,
    resume: Annotated[
        bool,
        typer.Option(
            "--resume",
            help="Go on with OUT.partial, the rows of an interrupted run; rows that our failure "
            "left unscored are scored again.",
        ),
    ] = False,
    only: Annotated[
        Only | None,
        typer.Option(
            help="Write these rows alone. Truncated are those at the minimum with a sign of it; "
            "disagree are those whose reward differs from their --label."
        ),
    ] = None,
    sort: Annotated[
        Sort | None,
        typer.Option(
            help="Write rows in this order; length is the response's, - the largest first.",
            show_default="the order of the file",
        ),
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option(
            min=0,
            metavar="N",
            help="Write so many rows at most.",
            show_default=f"{SHOWN} of a table on a terminal",
        ),
    ] = None,
    allow_empty: AllowEmpty = False,
) -> None:
    """Score a file of responses.

    Rows are read as trainers and evaluations write them (Bedrock, TRL, verl, verifiers, OpenAI,
    question and answer …); --map names the columns of any others. A result in jsonl is the object
    the Lambda returns; what cannot be scored has a null score and an error.

    A line or an item that is not a JSON object makes the whole file unusable: status 2, and nothing
    is scored or written. A JSON object that is not a valid sample is an unscored row, and the
    others are scored.

    The summary on standard error is about all rows, whichever are written. It has
    `frac_reward_zero_std`: of the prompts with several samples, the share whose samples all score
    the same: such a group has zero advantage in GRPO. It ends with the most frequent reasons at the
    minimum, and what to try.

    The page of --report has these figures with their intervals, the rows worth a look, and what a
    judge decided; it is one file without scripts, and quotes prompts and responses.

    A judge's verdicts are kept in a file as they come: what was asked once is not asked again, by
    this command or another one. Ctrl-C loses none.

    A label is true or false, 0 or 1, correct or incorrect, or a number on the reward's scale. A
    path with points leads into objects: --label review.correct.

    Results on standard output come as they are scored, after the file has been read once, unless
    they are sorted or a table. A reader that has read enough ends the
    command; a page is written all the same.

    Ctrl-C, or a signal to end, keeps the rows that are scored in OUT.partial where -o OUT is given;
    the same command with --resume goes on.

    Memory does not grow with the file, except with --report, --sort id, and a reward that compares
    the responses of a group. A table has 20,000 rows at most.

    Exit status: 0 all scored; 1 some were not; 2 none was, or only those that a judge
    decides without a model, or nothing was done.
    """
    from reward_functions.cli import _destinations as where
    from reward_functions.cli import _scoring_run as running
    from reward_functions.cli._measured import leave, say_measured
    from reward_functions.cli._rewards import ready, reward_named
    from reward_functions.cli._rows import require_rows, row_options, rows_of
    from reward_functions.cli._selection import Selection
    from reward_functions.cli._spooled import spooled
    from reward_functions.cli._summary import agreement, spent, summary, written
    from reward_functions.cli._verdicts import opened_store
    from reward_functions.tools.score_report.digest import Digest
    from reward_functions.tools.score_report.labels import confusion

    output = None if output == STANDARD else output
    spec = reward_named(name)
    settings = parameter or []
    how = row_options(mapped, shape)
    where.check_destinations(file, output, report)
    selection = Selection(spec.scale, only, sort)
    selection.require_labels(label)
    kept = None if spec.needs.group else where.is_file_to_be(output)
    if resume:
        running.require_resumable(spec, kept, report)
    with ExitStack() as stack:
        store = stack.enter_context(opened_store(spec, verdicts, none=no_verdicts))
        reward = ready(spec, settings, judge, store=store)
        stack.enter_context(running.ends_are_interrupts())
        stack.enter_context(running.first_interrupts_explained())
        source = stack.enter_context(spooled(file))
        rows, labels = running.surveyed(rows_of(source.again(), how), label, spec.scale)
        require_rows(rows, file, allow_empty=allow_empty)
        facts = running.source_facts(source, file) if report else []
        with where.naming(output):
            identity = running.identity(
                source, name, spec, reward, judge, rows=repr(how), explain=explain
            )
            journal = stack.enter_context(running.journal_of(kept, identity, rows, resume=resume))
        chosen, most = _written_as(output, format, limit)
        to_pipe = output is None and chosen != "table" and selection.in_order
        streamed = _streamed(chosen, limit, report) if to_pipe else None
        stack.enter_context(running.interrupts_explained(journal, reward, streamed))
        plan = running.Plan(name, settings, workers, explain=explain)
        digest = Digest(spec.name, spec.scale)
        held = running.Held() if report else None
        keeps = bool(report) or spec.needs.group or (sort or "").endswith("id")
        scored = rows_of(source.again(), how, whole=keeps)
        start = perf_counter()
        with where.destinations(output, report) as (out, page):
            with where.naming(output):
                running.score_rows(
                    scored,
                    spec=spec,
                    reward=reward,
                    plan=plan,
                    journal=journal,
                    counted=(digest, selection),
                    held=held,
                    streamed=streamed,
                )
            seconds = perf_counter() - start
            source.require_unchanged()
            found = confusion(digest, labels) if labels else None
            positions = selection.positions(most, found.disagreements if found else None)
            results = partial(_write, chosen, spec, journal, positions, explain=explain)
            if page:
                _page_to(page, report, reward, held, labels, facts)
            if out:
                _put(output, lambda: results(out()))
        if not out:  # the page has its name by now, whether this is read or not
            _put(None, streamed.end if streamed else lambda: results(sys.stdout))
    if rows and not digest.measured.measured:
        say_measured(digest.measured)
    if len(positions) < rows:
        written(len(positions), rows, _how_to_see_more(len(positions), most, limit))
    summary(digest, seconds, journal.written)
    if found:
        agreement(found)
    spent(getattr(reward, "account", None))
    if report:
        say_where(report)
    if rows:
        leave(digest.measured)


def _page(
    reward: RewardFunction,
    held: Held,
    labels: Labels | None,
    source: list[tuple[str, str]],
) -> str:
    from datetime import UTC, datetime

    from reward_functions.tools.score_report.page import score_page

    made = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    page = score_page(reward, held.samples, held.results, labels=labels, source=source, made=made)
    return page.html()


def _written_as(
    output: str | None,
    format: Format | None,  # noqa: A002
    limit: int | None,
) -> tuple[Format, int | None]:
    """What is written, and how many rows at most; on a terminal both are for a person."""
    to_terminal = output is None and sys.stdout.isatty()
    chosen = format or ("table" if to_terminal else "jsonl")
    if chosen != "table":
        return chosen, limit
    usual = SHOWN if to_terminal else LARGEST_TABLE
    return chosen, min(usual if limit is None else limit, LARGEST_TABLE)


def _how_to_see_more(count: int, most: int | None, limit: int | None) -> str:
    """What writes the other rows, where nobody asked for so few; "" where somebody did."""
    if count == most == LARGEST_TABLE != limit:
        return "; a table has no more: --format jsonl writes all"
    if most is not None and limit is None:
        return "; --limit N shows more, and -o FILE keeps all"
    return ""


def _streamed(
    format: Format,  # noqa: A002
    limit: int | None,
    report: str | None,
) -> Streamed | None:
    """What writes results while rows are scored; None on a terminal, where a bar stands then."""
    from reward_functions.cli._streaming import Streamed

    if sys.stdout.isatty():
        return None
    return Streamed(sys.stdout, format, limit, patient=report is not None)


def _put(name: str | None, write: Callable[[], None]) -> None:
    """Write to a file, or to standard output; an error names it."""
    from reward_functions.cli import _destinations as where

    with where.naming(name):
        write()
        if name is None:
            sys.stdout.flush()


def _page_to(stream: TextIO, report: str | None, *parts: Any) -> None:
    """Write the page; an error names the file."""
    from reward_functions.cli import _destinations as where

    with where.naming(report):
        stream.write(_page(*parts))


def _write(
    format: Format,  # noqa: A002
    spec: RewardSpec,
    journal: Journal,
    positions: Sequence[int],
    stream: TextIO,
    *,
    explain: bool,
) -> None:
    import json

    from reward_functions.cli._console import output
    from reward_functions.cli._results import results_table

    lines = journal.lines(positions)
    if format == "table":
        rows = [json.loads(line) for line in lines]
        output(stream).print(results_table(spec, rows, explain=explain))
    elif format == "jsonl":
        stream.writelines(f"{line}\n" for line in lines)
    else:
        stream.write("[")
        stream.writelines(f"{',' if at else ''}\n{line}" for at, line in enumerate(lines))
        stream.write("\n]\n")
