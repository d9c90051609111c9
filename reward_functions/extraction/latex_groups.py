"""Matching braces of LaTeX source without a parser: where does this group end?"""

from __future__ import annotations

from typing import Final

from reward_functions.core import patterns as re

_BRACE: Final = re.compile(r"\\[\\{}]|[{}]")
_SHALLOW: Final = re.compile(r"\{[^{}\\]*(?:(?:\{[^{}\\]*\}|\\[^{}\\])[^{}\\]*)*\}").match
"""A group of groups without further ones, as those of fractions and roots are."""

REACH: Final = 8_000
"""Characters of a group at most, several times those of any answer that is read."""

MAX_SHALLOW: Final = 200
"""Characters of a group that is matched at once, for a fifth of what following its braces costs."""


def group_end(text: str, opening: int) -> int | None:
    r"""The position after the brace that closes the one at `opening`; None when none does in reach.

    Escaped braces (`\{`) are characters, not groups. Linear.
    """
    nearest = text.find("}", opening, opening + REACH)
    if nearest < 0:
        return None
    inside = text[opening + 1 : nearest]
    if "{" not in inside and "\\" not in inside:
        return nearest + 1
    shallow = _SHALLOW(text, opening, opening + MAX_SHALLOW)
    if shallow:
        return shallow.end()
    depth = 0
    for brace in _BRACE.finditer(text, opening, opening + REACH):
        if brace[0] == "{":
            depth += 1
        elif brace[0] == "}":
            depth -= 1
            if depth == 0:
                return brace.end()
    return None
