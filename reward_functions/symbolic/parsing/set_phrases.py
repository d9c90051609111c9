"""Sets in words: all real numbers, no solution.

Only what names a set of values is here. "Does not exist", "undefined" and "infinitely many" are
other statements about a question, and stay words.
"""

from __future__ import annotations

from itertools import product
from typing import Final

from reward_functions.symbolic.expr.nodes import Braces, NamedSet, Node

_REALS: Final = {
    "": "R", "positive ": "R+", "negative ": "R-", "non-negative ": "R0+", "nonnegative ": "R0+",
    "non-zero ": "R*", "nonzero ": "R*",
}  # fmt: skip
_INTEGERS: Final = {"": "Z", "positive ": "Z+", "non-negative ": "N0", "nonnegative ": "N0"}
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
    **{
        f"{quantity}{sign}{noun}": NamedSet(kind)
        for quantity in ("all ", "any ", "the set of all ", "the set of ", "the ", "")
        for sign, kind in _REALS.items()
        for noun in ("real numbers", "real number", "reals")
    },
    **{
        f"{quantity}{sign}integers": NamedSet(kind)
        for quantity in ("all ", "the ", "the set of ")
        for sign, kind in _INTEGERS.items()
    },
}
"""What a phrase in lower case stands for."""
