"""Answers in numbered parts: (1) 12 (2) 5, (a) x; (b) y, (i) yes (ii) no.

The parts stand in the order of their numbers, which are no factors of anything.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from reward_functions.symbolic.parsing.lexer import Token

_SERIES: Final = (
    "1 2 3 4 5 6 7 8 9".split(),
    "a b c d e f g h i".split(),
    "i ii iii iv v vi vii viii ix".split(),
)
_BETWEEN: Final = frozenset(",;.")
_GOES_ON: Final = frozenset("+-±∓*/^_=≠<≤>≥≈≡∪∖:")
"""Behind one of these a bracket is no number of a part, and none before one but for a sign."""

_SIGNS: Final = frozenset("+-±∓")
_OPENERS: Final = frozenset(("(", "[", "{", "\\{"))
_CLOSERS: Final = frozenset((")", "]", "}", "\\}"))


def enumerated(stream: list[Token]) -> list[list[Token]] | None:
    """The parts of an answer whose numbers stand in brackets; None unless there are two or more."""
    if [token.kind for token in stream[:3:2]] != ["(", ")"]:
        return None
    series = next((each for each in _SERIES if each[0] == stream[1].text), None)
    if series is None:
        return None
    places: list[int] = []
    depth = 0
    for place in range(len(stream) - 2):
        opening, number, closing = stream[place : place + 3]
        depth += (opening.kind in _OPENERS) - (opening.kind in _CLOSERS)
        if depth > 1:
            continue
        wanted = series[len(places)] if len(places) < len(series) else None
        if (opening.kind, number.text, closing.kind) == ("(", wanted, ")"):
            places.append(place)
    parts = [_trimmed(stream[start + 3 : end]) for start, end in pairwise([*places, len(stream)])]
    whole = all(
        part and part[-1].kind not in _GOES_ON and part[0].kind not in _GOES_ON - _SIGNS
        for part in parts
    )
    return parts if len(parts) > 1 and whole else None


def _trimmed(part: list[Token]) -> list[Token]:
    """A part without what stands between it and the next."""
    while part and part[-1].kind in _BETWEEN:
        part = part[:-1]
    return part
