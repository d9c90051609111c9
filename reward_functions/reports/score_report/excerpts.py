"""Texts of data cut to the room that a page has for them, measured as the page writes them.

An ampersand takes five bytes of a page and a character that does not print up to ten, so that a
hostile text of few characters can be a long one. A longer text is shown by its two ends.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Final

from reward_functions.reports.pages.charts.drawing import printable
from reward_functions.reports.pages.page import QUOTED, quoted

if TYPE_CHECKING:
    from collections.abc import Callable

NOTE: Final = 60
"""Characters that say how much is left out."""

LINE: Final = 180
"""Characters of a line at most: the kit cuts a longer title."""

LAST: Final = 200
"""Characters of the end of a text."""


def excerpt(text: str, room: int) -> str:
    """A text, or its two ends and how much is left out, that takes about `room` bytes of a page."""
    return _cut(text, min(QUOTED - NOTE, room), room, quoted, "\n… {:,} characters left out …\n")


def ending(text: str, room: int) -> str:
    """The last characters of a text, where its answer is likely to be; a short text as a whole."""
    size = LAST
    while len(escape(quoted(text[-size:])).encode("utf-8", "replace")) > room and size > 1:
        size //= 2
    return text if len(text) <= size else f"… {text[-size:]}"


def line(text: str, room: int = LINE) -> str:
    """The same on one line, its spaces as one."""
    near = text if len(text) <= 4 * room else f"{text[: 2 * room]} … {text[-2 * room :]}"
    return _cut(" ".join(near.split()), min(LINE, room), room, printable, " … ")


def _cut(text: str, size: int, room: int, shown_as: Callable[[str], str], note: str) -> str:
    while True:
        shown = text
        if len(text) > size:
            half = size // 2
            shown = text[:half] + note.format(len(text) - 2 * half) + text[len(text) - half :]
        wide = len(escape(shown_as(shown)).encode("utf-8", "replace"))
        if wide <= room + NOTE or size < 2:  # noqa: PLR2004 - nothing is left to leave out
            return shown
        size = min(size - 1, size * room // wide)
