"""The card as Markdown. Texts that come from files cannot break out of their cell."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from helpers.calibration.sheets import Card, Sheet

_SPECIAL: Final = str.maketrans({each: f"\\{each}" for each in "\\`*_[]<>|#"})


def markdown(card: Card) -> str:
    """The whole card."""
    return "\n".join(_lines(card)) + "\n"


def table(sheet: Sheet) -> Iterator[str]:
    """The lines of a table and its note."""
    yield _row(sheet.heads)
    yield _row(["---", *["---:"] * (len(sheet.heads) - 1)], safe=True)
    for row in sheet.rows:
        yield _row(row)
    if sheet.note:
        yield ""
        yield escaped(sheet.note)


def escaped(text: str) -> str:
    """A text on one line that Markdown shows as it is."""
    return " ".join(text.split()).translate(_SPECIAL)


def _lines(card: Card) -> Iterable[str]:
    yield f"# {escaped(card.title)}"
    yield ""
    for warning in card.warnings:
        yield f"> {escaped(warning)}"
        yield ""
    for name, value in card.facts:
        yield f"- {name}: {escaped(value)}"
    for sheet in card.sheets:
        yield ""
        yield f"## {sheet.title}"
        yield ""
        yield from table(sheet)


def _row(cells: Sequence[str], *, safe: bool = False) -> str:
    return f"| {' | '.join(cells if safe else map(escaped, cells))} |"
