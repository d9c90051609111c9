"""Tables that fit the terminal without breaking a name or a number.

    enough room       every column; words wrap between words
    too little        columns that can be spared are left out, and named below
    still too little  a row is a few lines, which the terminal wraps

What is piped is as wide as it must be: nothing is left out.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from itertools import repeat
from typing import TYPE_CHECKING, Final

from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from reward_functions.cli._console import output, shown_in_cell
from reward_functions.cli._echo import harmless
from reward_functions.jobs.figures import BARS as LEVELS
from reward_functions.jobs.figures import sparkline

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from rich.console import Console, ConsoleOptions, RenderResult

    from reward_functions.reports.sheets import Sheet

READABLE: Final = 20
"""Columns that words want, where they have as many."""

FEWEST_BARS: Final = 8

BARS: Final = frozenset("▁▂▃▄▅▆▇█")

FRAME: Final = 3
"""Columns around each column of a table; one more ends the line."""


@dataclass(frozen=True, slots=True)
class Bars:
    """Bars of a course, as many as there is room for."""

    text: str

    def __rich_measure__(self, _: Console, options: ConsoleOptions) -> Measurement:
        """From a few bars to all."""
        most = len(self.text)
        return Measurement(min(FEWEST_BARS, most), most).with_maximum(options.max_width)

    def __rich_console__(self, _: Console, options: ConsoleOptions) -> RenderResult:
        """Each bar the mean of those that it stands for."""
        heights = [float(LEVELS.index(bar)) for bar in self.text]
        yield Text(sparkline(heights, options.max_width))


@dataclass(frozen=True, slots=True)
class Column:
    """A column with its cells.

    Args:
        head: above it.
        cells: from top to bottom.
        least: columns of the terminal without which it is not shown.
        most: columns that it can use.
        number: whether it is set to the right.
        words: whether it may wrap.
    """

    head: str
    cells: tuple[Text | Bars, ...]
    least: int
    most: int
    number: bool
    words: bool


def print_sheet(sheet: Sheet, console: Console | None = None) -> None:
    """Show a sheet; its cells are data and made harmless."""
    rows = [[Bars(text) if _is_course(text) else text for text in row] for row in sheet.rows]
    print_table(
        sheet.heads,
        rows,
        numbers=sheet.numbers,
        words=sheet.words,
        spare=sheet.spare,
        title=sheet.title,
        note=sheet.note,
        console=console,
    )


def print_table(
    heads: Sequence[str],
    rows: Sequence[Sequence[Text | Bars | str | None]],
    *,
    numbers: Collection[str] = (),
    words: Collection[str] = (),
    spare: Sequence[str] = (),
    title: str = "",
    note: str = "",
    console: Console | None = None,
) -> None:
    """Show a table as the terminal allows.

    Args:
        heads: of the columns.
        rows: of texts, made harmless here as all others are, and of cells that are so already.
        numbers: columns that are set to the right.
        words: columns that may wrap between words; the others hold names and numbers, which are
            neither broken nor cut.
        spare: columns that can be left out, the first to go first.
        title: above it.
        note: below it.
        console: where; standard output where not given.
    """
    console = console or output()
    title, note = harmless(title), harmless(note)
    heads, numbers, words, spare = (
        [harmless(each) for each in names] for names in (heads, numbers, words, spare)
    )
    shown = [map(shown_in_cell, row) for row in rows]
    cells_of = zip(*shown, strict=True) if rows else repeat((), len(heads))
    columns = [
        _column(console, head, cells, number=head in numbers, words=head in words)
        for head, cells in zip(heads, cells_of, strict=True)
    ]
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = max(console.width, _least(columns))
    left_out = []
    for head in spare:
        if _least(columns) > console.width:
            columns = [each for each in columns if each.head != head]
            left_out.append(head)
    if _least(columns) > console.width:
        _print_lines(console, columns, title)
    else:
        console.print(_table(columns, console.width, title))
    if note:
        console.print(Text(note, "dim"))
    if left_out:
        named = ", ".join(left_out)
        console.print(Text(f"no room for {named}: a wider terminal, or --json", "dim"))


def _is_course(text: str) -> bool:
    return len(text) > 1 and BARS.issuperset(text)


def _column(
    console: Console, head: str, cells: tuple[Text | Bars, ...], *, number: bool, words: bool
) -> Column:
    named = Measurement.get(console, console.options.update(width=10_000), Text(head))
    sizes = [Measurement.get(console, console.options.update(width=10_000), each) for each in cells]
    widest = max((size.maximum for size in sizes), default=0)
    if words or any(isinstance(each, Bars) for each in cells):
        narrow = max((size.minimum for size in sizes), default=0)
        least = max(narrow, min(widest, READABLE)) if words else narrow
    else:
        least = widest
    least, most = max(least, named.minimum), max(widest, named.maximum)
    return Column(head, cells, least, most, number, words)


def _least(columns: Sequence[Column]) -> int:
    return sum(each.least + FRAME for each in columns) + 1


def _table(columns: Sequence[Column], width: int, title: str) -> Table:
    """A table in which each column has its least, and the rest by what it can use."""
    shown = Table(title=title or None, box=SIMPLE_HEAD, title_justify="left", title_style="bold")
    room = width - _least(columns)
    wanted = sum(each.most - each.least for each in columns) or 1
    for each in columns:
        more = (each.most - each.least) * min(room, wanted) // wanted
        shown.add_column(
            each.head,
            width=each.least + more,
            justify="right" if each.number else "left",
            overflow="fold",
        )
    for row in zip(*(each.cells for each in columns), strict=True):
        shown.add_row(*row)
    return shown


def _print_lines(console: Console, columns: Sequence[Column], title: str) -> None:
    """A row is a few lines: its names, its numbers with their heads, its words."""
    if title:
        console.print(Text(f"\n{title}", "bold"), soft_wrap=True)
    first = max((cell_len(str(each)) for each in columns[0].cells), default=0)
    for row in zip(*(each.cells for each in columns), strict=True):
        pairs = [
            (each, Text(shown.text) if isinstance(shown, Bars) else shown)
            for each, shown in zip(columns, row, strict=True)
        ]
        names = [shown for each, shown in pairs if not (each.number or each.words)]
        figures = [
            Text.assemble((f"{each.head} ", "dim"), shown) for each, shown in pairs if each.number
        ]
        words = [shown for each, shown in pairs if each.words]
        if len(columns) == len(names) + len(words) == 2:  # noqa: PLR2004 - a name and what it is
            names[0] = Text.assemble(names[0], " " * (first - cell_len(names[0].plain)))
            lines = [Text("  ").join([*names, *words])]
        else:
            lines = [Text("  ").join(names), Text(" · ").join(figures), *words]
        head, *rest = [line for line in lines if line.plain.strip()] or [Text("–")]
        console.print(head, soft_wrap=True)
        for line in rest:
            console.print(Text.assemble("  ", line), soft_wrap=True)
    console.print()
