"""The last `####` of a response, GSM8K's marker, and the line behind it."""

from __future__ import annotations

from typing import Final

from reward_functions.extraction.candidates.candidate import Candidate
from reward_functions.extraction.candidates.statements import is_heading

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
        if not is_heading(line):
            return Candidate("hash_marker", line, start, end)
    return None
