"""The last `####` of a response, GSM8K's marker, and the line behind it."""

from __future__ import annotations

from typing import Final

from reward_functions.extraction.candidates.candidate import Candidate
from reward_functions.extraction.candidates.statements import is_heading
from reward_functions.extraction.cues.statements import HEADING
from reward_functions.extraction.markup import plain
from reward_functions.quantities.numerals import quantity

LOOK: Final = 200
"""Characters behind a marker that stands alone in which the next line must begin and end."""

MARKER: Final = "####"

MAX_HEADINGS: Final = 50
"""Headings passed over in search of a marker."""


def last_hash_marker(text: str) -> Candidate | None:
    """What stands behind the last marker, up to the end of its line; None without one. Linear.

    `####` also opens a heading in Markdown ("#### Explanation"): a line that begins with a word and
    is no number is a heading, and is passed over.
    """
    start = len(text)
    for _ in range(MAX_HEADINGS):
        start = text.rfind(MARKER, 0, start)
        if start < 0:
            return None
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        line = text[start + len(MARKER) : end].strip("# \t\r")
        if not line or HEADING.fullmatch(line):
            line, end = _next_line(text, end) or (line, end)
        if not is_heading(line):
            return Candidate("hash_marker", line, start, end)
    return None


def _next_line(text: str, end: int) -> tuple[str, int] | None:
    """The line below a marker that stands alone, and its end, where it is one number alone."""
    below = text[end : end + LOOK]
    line = below.lstrip()
    stop = len(text) if len(text) - end < LOOK else end + LOOK
    start = end + len(below) - len(line)
    line, _, behind = line.partition("\n")
    if not line or start + len(line) > stop or behind.partition("\n")[0].strip():
        return None
    if quantity(plain(line)) is None:
        return None
    return line.strip(), start + len(line)
