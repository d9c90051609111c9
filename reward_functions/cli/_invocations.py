"""A file of samples through a function, local or deployed, in batches: results, failures, times."""

from __future__ import annotations

import json
import os
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TextIO

import typer
from rich.text import Text

from reward_functions.aws.deployed.function import FunctionError, InitError, Invocation, read
from reward_functions.cli._console import MESSAGE, errors, leave, plain
from reward_functions.core.errors import ConfigurationError
from reward_functions.data.atomic import replaced
from reward_functions.data.rows.reading import read_rows
from reward_functions.reports.measured import Measured
from reward_functions.reports.statistics import quantile
from reward_functions.scoring.rows import require_rows
from reward_functions.serving.contract import decode_row

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reward_functions.data.rows.shapes import RowOptions


class Invoked(Protocol):
    """A function that takes a batch and answers."""

    def invoke(self, event: Any) -> Invocation:
        """Call it; a `FunctionError` is one batch's, an `InitError` every batch's."""


@contextmanager
def results_to(output: str | None, file: str) -> Iterator[TextIO]:
    """Where results are written: standard output, or a file that is whole or not there.

    Batches that failed do not keep the others' results from the file.

    Raises:
        ConfigurationError: the results would take the place of the samples.
        OSError: the file cannot be written.
    """
    if output in (None, "-"):
        yield sys.stdout
        return
    if file != "-" and os.path.realpath(output) == os.path.realpath(file):
        raise ConfigurationError(f"{output} holds the samples; write the results to another file")
    incomplete: typer.Exit | None = None
    with replaced(Path(output)) as stream:
        try:
            yield stream
        except typer.Exit as left:
            incomplete = left
    if incomplete is not None:
        raise incomplete


def rows_of(file: str, how: RowOptions, *, allow_empty: bool) -> list[dict[str, Any]]:
    """The samples of a file as a trainer would send them.

    Raises:
        BadInput: it cannot be read, or holds none.
    """
    rows = [row.content for row in read_rows(file, how, answered=True, whole=True)]
    require_rows(len(rows), file, allow_empty=allow_empty)
    return rows


def invoked(function: Invoked, rows: Sequence[Any], batch_size: int, destination: TextIO) -> None:
    """Send the rows and write what comes back; times and failures go to standard error.

    Raises:
        typer.Exit: with 1 some batches were not answered, with 2 none was.
        ConfigurationError: the function does not start.
    """
    batches = [list(rows[at : at + batch_size]) for at in range(0, len(rows), batch_size)]
    answered = [_answered(function, batch, at, destination) for at, batch in enumerate(batches, 1)]
    _summary(answered, batch_size)
    missing = answered.count(None)
    if batches:
        leave(Measured("batches", len(answered) - missing, missing))


def _answered(
    function: Invoked, batch: list[Any], at: int, destination: TextIO
) -> Invocation | None:
    """Send one batch and write its results; a failed invocation is reported, and is None."""
    try:
        invocation = function.invoke(batch)
    except InitError as error:
        raise ConfigurationError(f"the function does not start: {error}") from None
    except FunctionError as error:
        _complain(at, str(error))
        return None
    response = read(invocation.body, [decode_row(row, place).id for place, row in enumerate(batch)])
    destination.writelines(f"{json.dumps(item)}\n" for item in response.items)
    for breach in response.breaches:
        _complain(at, breach.message)
    return None if response.breaches else invocation


def _complain(at: int, what: str) -> None:
    line = Text.assemble((f"batch {at} failed: ", "yellow"), plain(what, MESSAGE))
    errors().print(line, soft_wrap=True)


def _summary(answered: Sequence[Invocation | None], batch_size: int) -> None:
    console = errors()
    seconds = [call.seconds for call in answered if call and not call.cold]
    for call in answered:
        if call and call.cold:
            console.print(f"cold start and first batch {_milliseconds(call.seconds)}")
    if seconds:
        figures = {"p50": quantile(seconds, 0.5), "p95": quantile(seconds, 0.95)}
        shown = [f"{name} {_milliseconds(value)}" for name, value in figures.items()]
        # The log of a deployed function does not always show its start.
        kind = "warm batches" if any(call and call.cold for call in answered) else "batches"
        slowest = f"max {_milliseconds(max(seconds))}"
        console.print(
            f"{kind} of {batch_size}: {len(seconds):,}, {', '.join([*shown, slowest])}",
            soft_wrap=True,
        )


def _milliseconds(seconds: float) -> str:
    return f"{seconds * 1000:,.1f} ms"
