"""Sets in words: all real numbers, no solution.

Only what names a set of values is here. "Does not exist", "undefined" and "infinitely many" are
other statements about a question, and stay words.
"""

from __future__ import annotations

from itertools import product
from typing import Final

from reward_functions.symbolic.expr.nodes import Braces, NamedSet, Node

_REALS: Final = NamedSet("R")
_EMPTY: Final = Braces(())
_NOTHING: Final = (
    ("", "there is ", "there are ", "it has ", "the equation has ", "the system has "),
    ("no ",),
    ("", "real "),
    ("solution", "solutions", "root", "roots"),
    ("", " exist", " exists"),
)
"""How people state that nothing solves a problem, word by word. Real numbers are meant anyway."""

PHRASES: Final[dict[str, Node]] = {
    **{"".join(words): _EMPTY for words in product(*_NOTHING)},
    **dict.fromkeys(("none", "empty set", "the empty set"), _EMPTY),
    **dict.fromkeys(
        (
            f"{quantity}{noun}"
            for quantity in ("all ", "any ", "the set of all ", "the set of ", "the ", "")
            for noun in ("real numbers", "real number", "reals")
        ),
        _REALS,
    ),
    **dict.fromkeys(("all integers", "the integers", "the set of integers"), NamedSet("Z")),
}
"""What a phrase in lower case stands for."""
