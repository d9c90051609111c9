"""Strings of data made harmless for HTML and SVG.

A model wrote them: script tags, terminal escapes, characters that reverse the line. What does not
print is shown by its escape, so that a reader sees that it was there; so are spaces that only look
like one, but for that of Chinese and Japanese.
"""

from __future__ import annotations

from html import escape
from typing import Final

CELL: Final = 200
"""Characters of a string in a table's cell."""

QUOTED: Final = 4_000
"""Characters of a quotation; a longer one is shown by its beginning and its end."""

WIDE_SPACE: Final = "\u3000"

KEPT: Final = "\n\t"
"""What does not print and is kept in a quotation."""


def inline(text: str, limit: int = CELL) -> str:
    """One line of HTML of at most `limit` characters of the string, all of which print."""
    return escape(printable(text, limit))


def quoted(text: str, limit: int = QUOTED) -> str:
    """Lines of HTML: the whole string, or its beginning and its end with what was left out."""
    if len(text) <= limit:
        return escape(printable(text, limit, KEPT))
    half = limit // 2
    left_out = f"\n… {len(text) - 2 * half:,} characters left out …\n"
    ends = printable(text[:half], half, KEPT), printable(text[-half:], half, KEPT)
    return escape(left_out.join(ends))


def printable(text: str, limit: int = CELL, kept: str = "") -> str:
    """The string with every character that does not print shown by its escape; no HTML yet.

    Args:
        text: of data.
        limit: characters of it that are shown.
        kept: characters that stay although they do not print.
    """
    shown = "".join(
        char
        if char.isprintable() or char == WIDE_SPACE or char in kept
        else char.encode("unicode_escape").decode()
        for char in text[:limit]
    )
    return f"{shown}…" if len(text) > limit else shown
