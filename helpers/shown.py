"""What a cell shows: tables of the library with sentences below them, as HTML and as text.

Jupyter's page has no style of ours, so that what a table needs stands in its cells. Cells come from
services and from models: each is escaped, and made to print.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Final

from reward_functions.reports.pages.escaping import inline, printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reward_functions.reports.sheets import Sheet

WRAPPED: Final = "text-align: left; max-width: 40rem"
RIGHT: Final = "text-align: right"
"""Jupyter's own style sets every cell to the right; GitHub drops styles."""

LONGEST: Final = 1_200
MOST_LINES: Final = 40
"""Characters of a line, and lines, that are shown of a cell: a prompt whole, and no book."""

DOLLAR: Final = "$"
TYPESET: Final = ("\\(", "\\[", "\\begin{")
"""What Jupyter and GitHub typeset, as they do what two dollar signs enclose; not in `<code>`."""

PLAIN: Final = "font: inherit; background: none; padding: 0"


@dataclass(frozen=True, repr=False)
class Shown:
    """Tables, and what there is to say about them.

    Args:
        sheets: in their order.
        notes: sentences below them.
    """

    sheets: Sequence[Sheet] = ()
    notes: Sequence[str] = ()

    def _repr_html_(self) -> str:
        return "".join(self._html())

    def _html(self) -> Iterator[str]:
        for sheet in self.sheets:
            if sheet.title:
                yield f"<p><strong>{inline(sheet.title)}</strong></p>"
            styles = [RIGHT if head in sheet.numbers else WRAPPED for head in sheet.heads]
            heads = "".join(
                f'<th style="{style}">{inline(head)}</th>'
                for head, style in zip(sheet.heads, styles, strict=True)
            )
            yield f"<table><thead><tr>{heads}</tr></thead><tbody>"
            for row in sheet.rows:
                cells = "".join(
                    f'<td style="{style}">{_cell(cell)}</td>'
                    for cell, style in zip(row, styles, strict=True)
                )
                yield f"<tr>{cells}</tr>"
            yield "</tbody></table>"
            if sheet.note:
                yield f"<p><small>{inline(sheet.note, LONGEST)}</small></p>"
        if self.notes:
            lines = "".join(f"<li>{inline(note, LONGEST)}</li>" for note in self.notes)
            yield f"<ul>{lines}</ul>"

    def __repr__(self) -> str:
        """The same for a terminal."""
        return "\n".join([*chain.from_iterable(map(_lines, self.sheets)), *self._sentences])

    @property
    def _sentences(self) -> list[str]:
        return [f"- {printable(note, LONGEST)}" for note in self.notes]


class Showing(ABC):
    """What a notebook shows by its tables, and has more of behind names of its own."""

    def _repr_html_(self) -> str:
        return self._shown()._repr_html_()

    def __repr__(self) -> str:
        """The same as text."""
        return repr(self._shown())

    @abstractmethod
    def _shown(self) -> Shown:
        """The tables and the sentences."""


def _cell(text: str) -> str:
    """A cell as HTML, line by line; what would be typeset as a formula stays as it was written."""
    lines = text.splitlines()
    shown = [inline(line, LONGEST) for line in lines[:MOST_LINES]]
    html = "<br>".join([*shown, "…"] if len(lines) > MOST_LINES else shown)
    typeset = text.count(DOLLAR) > 1 or any(mark in text for mark in TYPESET)
    return f'<code style="{PLAIN}">{html}</code>' if typeset else html


def _lines(sheet: Sheet) -> Iterator[str]:
    """A table with spaces between its columns."""
    if sheet.title:
        yield sheet.title
    rows = [[printable(cell) for cell in row] for row in (sheet.heads, *sheet.rows)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (
            cell.rjust(width) if head in sheet.numbers else cell.ljust(width)
            for head, cell, width in zip(sheet.heads, row, widths, strict=True)
        )
        yield "  ".join(cells).rstrip()
    if sheet.note:
        yield sheet.note
