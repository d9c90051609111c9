"""`reward score`: a file of responses in, one result for each out.

Everything that can be wrong with the arguments or the file is found before the first sample is
scored, and an output file appears complete or not at all.
"""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Final, Literal

import typer

from reward_functions.cli._errors import INCOMPLETE
from reward_functions.cli._options import File, Models, Name, Parameters  # noqa: TC001 - typer reads annotations
from reward_functions.tools.atomic import replaced

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import TextIO

    from reward_functions import RewardResult, RewardSpec

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

    The summary on standard error ends with `frac_reward_zero_std`: of the prompts with several
    samples, the share whose samples all score the same: such a group has zero advantage in GRPO.

    Exit status: 0 all scored, 1 some were not, 2 nothing was done.
    """
    from reward_functions import Unscored
    from reward_functions.cli._progress import scored
    from reward_functions.cli._rewards import ready, reward_named
    from reward_functions.cli._rows import read_samples
    from reward_functions.cli._summary import no_samples, spent, summary
    from reward_functions.core.errors import ConfigurationError

    output = None if output == STANDARD else output
    spec = reward_named(name)
    reward = ready(spec, parameter or [], judge)
    if output is not None and _same_file(file, output):
        raise ConfigurationError(f"{output} holds the samples; write the results to another file")
    samples, places = read_samples(file)
    with _destination(output) as stream:
        start = perf_counter()
        results = scored(reward, samples, workers or spec.needs.workers)
        seconds = perf_counter() - start
        to_terminal = output is None and sys.stdout.isatty()
        chosen = format or ("table" if to_terminal else "jsonl")
        _write(chosen, stream, spec, results, places, explain=explain)
    if not samples:
        no_samples(file)
    summary(spec, samples, results, seconds)
    if account := getattr(reward, "account", None):
        spent(account)
    if any(isinstance(result, Unscored) for result in results):
        raise typer.Exit(INCOMPLETE)


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


def _same_file(file: str, output: str) -> bool:
    """Whether the results would take the place of the samples. Devices and pipes hold neither."""
    source = 0 if file == STANDARD else file
    try:
        return Path(output).is_file() and os.path.samefile(source, output)  # noqa: PTH121 - takes 0
    except OSError:  # one of them cannot be looked at; whoever opens it says so
        return False


@contextmanager
def _destination(name: str | None) -> Iterator[TextIO]:
    """Standard output, or a file that takes its name once it is complete.

    Raises:
        OSError: it cannot be written. The error names what was typed.
    """
    try:
        if name is None:
            yield sys.stdout
            sys.stdout.flush()
        else:
            with replaced(Path(os.path.realpath(name))) as stream:
                yield stream
    except BrokenPipeError:  # not our failure: the reader has read enough
        raise
    except OSError as error:
        typed = "standard output" if name is None else name
        raise OSError(error.errno, error.strerror, typed) from None
