"""`reward score`: a file of responses in, one result for each out, and a page about all of them.

Everything that can be wrong with the arguments or the file is found before the first sample is
scored. Output file and page appear complete and together, or not at all.
"""

from __future__ import annotations

import os
import sys
from contextlib import ExitStack, contextmanager
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Final, Literal

import typer

from reward_functions.cli._errors import INCOMPLETE
from reward_functions.cli._options import File, Models, Name, Parameters  # noqa: TC001 - typer reads annotations
from reward_functions.cli._pages import require_page, say_where
from reward_functions.tools.atomic import Together, replaced

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import TextIO

    from reward_functions import RewardResult, RewardSpec, Sample, Unscored
    from reward_functions.core.spec import RewardFunction
    from reward_functions.tools.score_report.labels import Labels

Format = Literal["table", "jsonl", "json"]

STANDARD: Final = "-"
"""Standard input as FILE, standard output as OUT."""


def score(
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
        typer.Option(min=1, help="Threads.", show_default="what the reward needs"),
    ] = None,
    parameter: Parameters = None,
    judge: Models = None,
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
) -> None:
    """Score a file of responses.

    Samples are written as trainers send them: an id, messages, a reference_answer. A result in
    jsonl is the object the Lambda returns; what cannot be scored has a null score and an error.

    A line or an item that is not a JSON object makes the whole file unusable: status 2, and nothing
    is scored or written. A JSON object that is not a valid sample is an unscored row, and the
    others are scored.

    The summary on standard error has `frac_reward_zero_std`: of the prompts with several samples,
    the share whose samples all score the same: such a group has zero advantage in GRPO. It ends
    with the most frequent reasons at the minimum, and what to try.

    The page of --report has these figures with their intervals, the rows worth a look, and what a
    judge decided; it is one file without scripts, and quotes prompts and responses.

    A label is true or false, 0 or 1, correct or incorrect, or a number on the reward's scale. A
    path with points leads into objects: --label review.correct.

    Exit status: 0 all scored, 1 some were not, 2 nothing was done.
    """
    from reward_functions.cli._progress import scored
    from reward_functions.cli._rewards import ready, reward_named
    from reward_functions.cli._rows import read_samples
    from reward_functions.cli._summary import agreement, no_samples, spent, summary
    from reward_functions.tools.score_report.batch import Batch
    from reward_functions.tools.score_report.labels import confusion, labels_of

    output = None if output == STANDARD else output
    spec = reward_named(name)
    reward = ready(spec, parameter or [], judge)
    _check_destinations(file, output, report)
    samples, places = read_samples(file)
    labels = None if label is None else labels_of(samples, label, spec.scale)
    source = _source(file) if report else []
    with _destinations(output, report) as (stream, page):
        start = perf_counter()
        results = scored(reward, samples, workers or spec.needs.workers)
        seconds = perf_counter() - start
        to_terminal = output is None and sys.stdout.isatty()
        chosen = format or ("table" if to_terminal else "jsonl")
        with _named(output):
            _write(chosen, stream, spec, results, places, explain=explain)
        if page and report:
            with _named(report):
                page.write(_page(reward, samples, results, labels, source))
    if not samples:
        no_samples(file)
    batch = Batch.of(samples, results, spec.scale)
    summary(spec, batch, seconds)
    if labels:
        agreement(confusion(batch, labels))
    if account := getattr(reward, "account", None):
        spent(account)
    if report:
        say_where(report)
    if batch.unscored:
        raise typer.Exit(INCOMPLETE)


def _page(
    reward: RewardFunction,
    samples: Sequence[Sample | Unscored],
    results: Sequence[RewardResult],
    labels: Labels | None,
    source: Sequence[tuple[str, str]],
) -> str:
    from datetime import UTC, datetime

    from reward_functions.tools.score_report.page import score_page

    made = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    return score_page(reward, samples, results, labels=labels, source=source, made=made).html()


def _source(file: str) -> list[tuple[str, str]]:
    """The facts of the file; one that is read a second time has a checksum, and a pipe has none."""
    from hashlib import file_digest

    from reward_functions.tools.json_rows import shown

    facts = [("file", shown(file))]
    if file != STANDARD and Path(file).is_file():
        with Path(file).open("rb") as stream:
            facts.append(("SHA-256", file_digest(stream, "sha256").hexdigest()))
    return facts


def _write(
    format: Format,  # noqa: A002
    stream: TextIO,
    spec: RewardSpec,
    results: Sequence[RewardResult],
    places: Sequence[str],
    *,
    explain: bool,
) -> None:
    from reward_functions.cli._console import output
    from reward_functions.cli._results import json_lines, results_table

    if format == "table":
        output(stream).print(results_table(spec, results, places, explain=explain))
        return
    lines = json_lines(results, places, explain=explain)
    if format == "jsonl":
        stream.writelines(f"{line}\n" for line in lines)
        return
    stream.write("[")
    stream.writelines(f"{',' if at else ''}\n{line}" for at, line in enumerate(lines))
    stream.write("\n]\n")


def _check_destinations(file: str, output: str | None, report: str | None) -> None:
    """Refuse files that would take the place of the samples, or of each other.

    Raises:
        ConfigurationError: one would, or the page is not called NAME.html.
    """
    from reward_functions.core.errors import ConfigurationError

    require_page(report)
    for name in (output, report):
        if name is not None and _same_file(file, name):
            raise ConfigurationError(f"{name} holds the samples; write the results to another file")
    if report and output and os.path.realpath(report) == os.path.realpath(output):
        raise ConfigurationError(f"{report} is to hold the results and the page; name two files")


def _same_file(file: str, output: str) -> bool:
    """Whether the results would take the place of the samples. Devices and pipes hold neither."""
    source = 0 if file == STANDARD else file
    try:
        return Path(output).is_file() and os.path.samefile(source, output)  # noqa: PTH121 - takes 0
    except OSError:  # one of them cannot be looked at; whoever opens it says so
        return False


@contextmanager
def _destinations(output: str | None, report: str | None) -> Iterator[tuple[TextIO, TextIO | None]]:
    """Standard output or a file, and one for the page; files take their names when complete.

    Raises:
        OSError: one cannot be written. The error names what was typed.
    """
    with _named(output), ExitStack() as devices, Together() as files:
        stream = sys.stdout if output is None else _opened(output, files, devices)
        page = None
        if report is not None:
            with _named(report):
                page = _opened(report, files, devices)
        yield stream, page
        if output is None:
            sys.stdout.flush()


def _opened(name: str, files: Together, devices: ExitStack) -> TextIO:
    path = Path(os.path.realpath(name))
    if path.exists() and not path.is_file() and not path.is_dir():
        return devices.enter_context(replaced(path))  # a device is written to, not replaced
    return files.opened(path)


@contextmanager
def _named(name: str | None) -> Iterator[None]:
    """Let an error of writing name what was typed."""
    try:
        yield
    except _Named:
        raise
    except BrokenPipeError:  # not our failure: the reader has read enough
        raise
    except OSError as error:
        typed = "standard output" if name is None else name
        raise _Named(error.errno, error.strerror, typed) from None


class _Named(OSError):
    """An error that names what was typed."""
