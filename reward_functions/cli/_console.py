"""What reaches the terminal, and data made harmless before it gets there.

A response is written by a model that may have learned anything, terminal control sequences too, and
so is the name of a file that somebody else made. A string that is printed here is a text: no
markup, no emoji code, and what does not print is shown by its escape. What is cut to a length as
well passes through `plain` or `cell`.

How a gate says how much was measured, before anything else that it says.
"""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING, Any, Final, TextIO

import typer
from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table
from rich.text import Text

from reward_functions.cli._echo import PlainStatus, harmless

if TYPE_CHECKING:
    from collections.abc import Container, Mapping

    from rich.status import Status

    from reward_functions.reports.measured import Measured
    from reward_functions.reports.sheets import Sheet


CELL: Final = 200
"""Characters of a text shown in a table's cell; the rest is what jsonl is for."""

IDENTITY: Final = 40
"""Columns an id or a name may take, which is not broken but cut. A UUID has 36."""

NARROW: Final = 80
"""Below so many columns, ids and names take a third of them, and the rest is left to words."""

SHORTEST: Final = 20
"""Columns that are an id's or a name's in the narrowest terminal."""

MESSAGE: Final = 1_000
"""Characters of an error message shown; the longest of ours lists every reward by name."""


PIPED: Final = 120
"""Columns of a table nobody's terminal limits."""

NOTHING: Final = Text("-", "dim")
"""A cell without content."""


class _Console(Console):
    def __init__(self, **options: Any) -> None:
        super().__init__(markup=False, emoji=False, highlight=False, **options)

    def render_str(self, text: str, **options: Any) -> Text:
        """A string as it stands, wherever it is printed: alone, in a cell, as a title."""
        return super().render_str(harmless(text), **{**options, "markup": False, "emoji": False})

    def status(self, status: Any, **options: Any) -> Status:
        """A spinner beside a text that is no markup."""
        return PlainStatus(status, self, **options)

    def print(self, *objects: Any, **options: Any) -> None:
        """Print, and name standard output where it takes no more.

        What exceeds its buffer is lost at once: flushing it later finds nothing to complain of.
        An ARN, an address or a path is copied from a terminal: none is broken, however narrow it
        is; the terminal itself wraps the line.
        """
        if any(isinstance(each, _Whole) for each in objects):
            options.setdefault("crop", False)
        elif any(
            whole_words(each) > self.width for each in objects if isinstance(each, str | Text)
        ):
            options.setdefault("soft_wrap", True)
        try:
            super().print(*objects, **options)
        except OSError as error:
            if error.filename is None and self.file is sys.stdout:
                error.filename = "standard output"
            raise

    def on_broken_pipe(self) -> None:
        """Leave it to the command, where rich would exit with our status for unscored rows."""
        raise BrokenPipeError


def output(stream: TextIO | None = None) -> Console:
    """Standard output, or another stream, for what was asked for."""
    console = _Console(file=stream)
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = PIPED
    return console


def errors() -> Console:
    """Standard error, for progress, summaries and complaints."""
    return _Console(stderr=True)


def print_json(content: Any) -> None:
    """Standard output for programs, in ASCII."""
    typer.echo(json.dumps(content, indent=2))


def plain(text: str, limit: int = CELL) -> str:
    """One line without anything a terminal acts on: what does not print is shown by its escape."""
    shown = harmless(text[:limit]).replace("\n", "\\n")
    return f"{shown[:limit]}…" if max(len(text), len(shown)) > limit else shown


def remark(text: str, style: str = "") -> None:
    """One line on standard error, which no width breaks."""
    errors().print(Text(plain(text, MESSAGE), style), soft_wrap=True)


def cell(text: str | None, style: str = "") -> Text:
    """A table cell for a text that comes from data."""
    return NOTHING if text is None else Text(plain(text), style)


def shown_in_cell(content: Any) -> Any:
    """A cell for a text or None; any other stays as it is."""
    return cell(content) if content is None or isinstance(content, str) else content


FEWEST: Final = 8
"""Columns that are left to words beside an ARN that needs more than the terminal has."""

FRAME: Final = 3
"""Columns around a cell."""

WHOLE: Final = ("arn:", "/", "./", "../", "~/")
"""How an ARN and a path begin."""


def whole_words(text: str | Text) -> int:
    """Columns of the longest ARN, address or path of a text, which no width breaks; 0 of none."""
    return max((cell_len(word) for word in str(text).split() if _is_whole(word)), default=0)


def _is_whole(word: str) -> bool:
    bare = word.lstrip("\"'(`[")
    _, slash, name = bare.rpartition("/")
    return bare.startswith(WHOLE) or "://" in bare or bool(slash and "." in name)


class _Whole(Table):
    """A table of data in which no ARN, address or path is broken."""

    def add_row(self, *cells: Any, **options: Any) -> None:
        """A row of texts, made harmless, and of cells that are so already."""
        super().add_row(*map(shown_in_cell, cells), **options)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Render, with the room that the longest of them takes."""
        for column in self.columns:
            if not column.no_wrap:
                cells = (each for each in column.cells if isinstance(each, str | Text))
                column.min_width = max(map(whole_words, cells), default=0) or None
        if any(column.min_width for column in self.columns):
            room = sum((column.min_width or FEWEST) + FRAME for column in self.columns)
            options = options.update(max_width=max(options.max_width, room))
        return super().__rich_console__(console, options)


class _Table(_Whole):
    """A table whose ids and names stand on one line each, however narrow the terminal is."""

    def __init__(self, names: Container[str], title: str | None) -> None:
        super().__init__(title=title, box=SIMPLE_HEAD, title_justify="left", title_style="bold")
        self.names = names

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Render, now that the width is known: rich would take it from the other columns."""
        for column in self.columns:
            if column.header in self.names:
                wide = options.max_width >= NARROW
                column.max_width = IDENTITY if wide else max(SHORTEST, options.max_width // 3)
        return super().__rich_console__(console, options)


def table(
    *columns: str,
    names: Container[str] = (),
    numbers: Container[str] = (),
    title: str | None = None,
) -> Table:
    """An empty table in the style of this command: quiet lines, room to breathe.

    Args:
        columns: their names.
        names: those that hold ids or names, which are cut and not broken.
        numbers: those that hold numbers, set to the right.
        title: above the table.
    """
    empty = _Table(names, title)
    for column in columns:
        if column in numbers:
            empty.add_column(column, justify="right", no_wrap=True)
        elif column in names:
            empty.add_column(column, no_wrap=True)
        else:
            empty.add_column(column, overflow="fold")
    return empty


def sheet_table(sheet: Sheet) -> Table:
    """A sheet as such a table."""
    shown = table(*sheet.heads, numbers=sheet.numbers, title=sheet.title)
    for row in sheet.rows:
        shown.add_row(*row)
    return shown


def facts(named: Mapping[str, Text | None]) -> Table:
    """Names and values, one pair a line; what is None is left out."""
    grid = _Whole.grid(padding=(0, 2))
    for name, value in named.items():
        if value is not None:
            grid.add_row(Text(name, "dim"), value)
    return grid


def say_measured(measured: Measured) -> None:
    """Print how much was measured on standard error; call it before the results."""
    remark(measured.sentence, "" if measured.measured else "bold red")


def leave(measured: Measured, *, failed: bool = False) -> None:
    """End the command with the status of a check; where all is well it goes on.

    Args:
        measured: of the check.
        failed: whether something that was measured is wrong.

    Raises:
        typer.Exit: something is wrong, or a part, or nothing, was measured.
    """
    if status := measured.status(failed=failed):
        raise typer.Exit(status)
