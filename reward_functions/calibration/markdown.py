"""The card as Markdown. Strings from files are escaped and cannot leave their line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reward_functions.reports.sheets import escaped

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reward_functions.calibration.sheets import Card


def markdown(card: Card) -> str:
    """The whole card."""
    return "\n".join(_lines(card)) + "\n"


def _lines(card: Card) -> Iterator[str]:
    yield f"# {escaped(card.title)}"
    yield ""
    for warning in card.warnings:
        yield f"> {escaped(warning)}"
        yield ""
    for name, value in card.facts:
        yield f"- {name}: {escaped(value)}"
    for sheet in card.sheets:
        yield ""
        yield from sheet.markdown()
