"""`reward score`: a file of responses in, one result for each out, and a page about all of them.

`reward_functions.scoring` does the work; here is what is typed, and what is printed.
"""

from __future__ import annotations

import json
import shlex
import sys
from contextlib import suppress
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, Literal, TextIO

import typer

from reward_functions.cli import _engine_options as engines
from reward_functions.cli._console import MESSAGE, leave, output, plain, say_measured
from reward_functions.cli._options import (  # noqa: TC001 - typer reads annotations
    AllowEmpty,
    File,
    Map,
    Models,
    Name,
    Output,
    Parameters,
    Shape,
)
from reward_functions.cli._progress import Bars
from reward_functions.cli._tracking import Track, send, trackers
from reward_functions.cli._verdicts import (
    NoVerdicts,
    Verdicts,
    calls_left,
    kept_verdicts,
    opened_store,
    say,
)
from reward_functions.core.errors import ConfigurationError
from reward_functions.scoring import Only, Sort  # noqa: TC001
from reward_functions.scoring.rewards import reward_named
from reward_functions.scoring.rows import row_options

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reward_functions import RewardSpec
    from reward_functions.export import Tracker
    from reward_functions.scoring.file import ScoredFile, ScoringInterrupted

Format = Literal["table", "jsonl", "json"]

STANDARD: Final = "-"
"""Standard output as OUT."""

REPORT: Final = "--report"

LARGEST_TABLE: Final = 20_000
"""Rows of a table: each takes some kB while the columns are measured."""

SHOWN: Final = 50
"""Rows of a table on a terminal, where no limit is given."""


def score(
    name: Name,
    file: File,
    *,
    output: Output = None,
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
            REPORT,
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
    track: Track = None,
    allow_empty: AllowEmpty = False,
    on: engines.On = None,
    stage: engines.Stage = None,
    shard_mb: engines.ShardMb = None,
    concurrency: engines.Concurrency = None,
    max_unscored: engines.MaxUnscored = None,
    max_usd: engines.MaxUsd = None,
    detach: engines.Detach = False,
    plan: engines.PlanOnly = False,
    adjacent_groups: engines.AdjacentGroups = False,
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
    judge decided; it is one file that needs no network, and quotes prompts and responses.

    A judge's verdicts are kept in a file as they come: what was asked once is not asked again, by
    this command or another one. Ctrl-C loses none.

    A label is true or false, 0 or 1, correct or incorrect, or a number on the reward's scale. A
    path with points leads into objects: --label review.correct.

    Results on standard output come as they are scored, after the file has been read once, unless
    they are sorted or a table. A reader that has read enough ends the
    command; a page is written all the same.

    Ctrl-C, or a signal to end, keeps the rows that are scored in OUT.partial where -o OUT is given;
    the same command with --resume, and without --report, goes on.

    Memory does not grow with the file, except with --report, --sort id, and a reward that compares
    the responses of a group. A table has 20,000 rows at most.

    Exit status: 0 all scored; 1 some were not, or a tracker of --track took nothing; 2 none was, or
    only those that a judge decides without a model, or nothing was done.
    """
    typed, how = dict(locals()), row_options(mapped, shape)
    if on is not None:
        from reward_functions.cli.runs import score_on

        score_on(typed, how)
        return
    engines.require_here(typed)
    from reward_functions.cli._summary import agreement, spent, summary, written
    from reward_functions.scoring.file import ScoringInterrupted, score_file

    output = None if output == STANDARD else output
    spec = reward_named(name)
    if report is not None:
        from reward_functions.cli._pages import require_page, say_where

        require_page(report)
    asked = trackers(track)
    chosen, most = _written_as(output, format, limit)
    try:
        with Bars() as progress:
            done = score_file(
                name,
                file,
                output,
                parameters=parameter or [],
                judge=judge,
                verdicts=opened_store(spec, verdicts, none=no_verdicts),
                rows=how,
                allow_empty=allow_empty,
                workers=workers,
                explain=explain,
                resume=resume,
                label=label,
                report=report,
                only=only,
                sort=sort,
                limit=most,
                form=partial(_table, spec, explain=explain) if chosen == "table" else chosen,
                stream=sys.stdout,
                live=not sys.stdout.isatty(),  # where a bar stands meanwhile
                progress=progress,
                notify=say,
                signals=True,
            )
    except ScoringInterrupted as interrupt:
        raise KeyboardInterrupt(_kept(interrupt, output)) from None
    rows, digest = done.rows, done.summary
    if rows and not digest.measured.measured:
        say_measured(digest.measured)
    if done.written < rows:
        written(done.written, rows, _how_to_see_more(done.written, most, limit))
    summary(digest, done.seconds, done.computed)
    if done.agreement:
        agreement(done.agreement)
    spent(done.account)
    if report:
        say_where(report)
    taken = not asked or _tracked(asked, spec, file, done, parameter or [])
    if rows:
        leave(digest.measured, failed=not taken)


def _tracked(
    asked: list[Tracker], spec: RewardSpec, file: str, done: ScoredFile, parameters: list[str]
) -> bool:
    """Send the run to its trackers; True if all took it."""
    from reward_functions.export.tracked import TrackedRun, digest_figures, file_figures

    kept = done.path if done.written == done.rows else None
    figures, name = digest_figures(done.summary), f"{spec.name} {Path(file).stem}"
    named = {"reward": spec.name, "version": str(spec.version), "file": Path(file).name}
    named |= dict(text.split("=", 1) for text in parameters)
    files: tuple[Path, ...] = ()
    again = "-o FILE keeps results, which reward export sends"
    if kept is not None:
        files, words = (kept,), [f"-p{key}={value}" for key, value in named.items()]
        typed = shlex.join(["reward", "export", str(kept), "--name", name, *words])
        again = f"to send it again: {typed} --track …"
        with suppress(ConfigurationError):  # such as a table, which holds no metrics
            figures = file_figures(kept) | figures
    run = TrackedRun(name, named, figures, files=files)
    return send(asked, run, again)


def _kept(interrupt: ScoringInterrupted, output: str | None) -> str:
    """What is scored, what is kept and where, and how to go on.

    A page needs all rows of one run, so the command that goes on makes none.
    """
    if not interrupt.began:
        return (
            "interrupted before the first row was scored: nothing is written, and what an earlier "
            "run has kept is as it was"
        )
    done, left = interrupt.done, calls_left(interrupt.calls_left)
    line = f"interrupted: {done:,} of {interrupt.rows:,} scored"
    verdicts = kept_verdicts(interrupt.verdicts)
    if not interrupt.kept or not done:
        if verdicts:
            return f"{line}; {verdicts}{left}; the same command goes on"
        streamed = interrupt.streamed
        kept = "nothing is kept" if streamed is None else f"{streamed:,} written"
        how = "" if interrupt.kept else "; -o OUT keeps rows, and --resume goes on"
        return f"{line}, and {kept}{left}{how}"
    typed = [word for word in sys.argv[1:] if word != "--resume"]
    kept_words = _without_page(typed)
    command = plain(shlex.join(["reward", *kept_words, "--resume"]), MESSAGE)
    kept = plain(_as_typed(interrupt.kept, output), MESSAGE)
    line = f"{line} and kept in {kept}{f', {verdicts}' if verdicts else ''}{left}"
    page = "" if kept_words == typed else ", without --report: a page needs all rows of one run"
    return f"{line}; to go on{page}: {command}"


def _without_page(words: list[str]) -> list[str]:
    """A command without --report and its PAGE."""
    return [
        word
        for before, word in pairwise(["", *words])
        if not (REPORT in (before, word) or word.startswith(f"{REPORT}="))
    ]


def _as_typed(kept: Path, output: str | None) -> str:
    """The path of partial results beside an output, as the output was typed where that leads there.

    A link leads to another folder.
    """
    typed = Path(output or "").parent / kept.name
    return str(typed if typed.resolve() == kept else kept)


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


def _table(spec: RewardSpec, stream: TextIO, lines: Iterator[str], *, explain: bool) -> None:
    from reward_functions.cli._results import results_table

    rows = [json.loads(line) for line in lines]
    output(stream).print(results_table(spec, rows, explain=explain))
