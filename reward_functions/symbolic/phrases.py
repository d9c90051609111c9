"""Sets of numbers in words.

Only what names a set of values is here. "No solution", "does not exist", "none" and "infinitely
many" say something about a question, each something else, and stay words.
"""

from __future__ import annotations

from typing import Final

from reward_functions.symbolic.tree import NamedSet

_REALS: Final = NamedSet("R")
PHRASES: Final = {
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
