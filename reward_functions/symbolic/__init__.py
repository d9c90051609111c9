"""Algebra: whether two mathematical answers mean the same.

Other packages import this module and none below it. `equal` returns *equal*, *different* or
*undecided*. Plain numbers are compared without loading the grammar. The last tier, sympy, runs in a
process of its own, which `warm` starts before it is needed.
"""

from reward_functions.symbolic.budget import OverBudget, Unreadable
from reward_functions.symbolic.equality import (
    end,
    equal,
    equal_within,
    names_in,
    quantity_asked_for,
    readable,
    restated,
    unevaluated,
    warm,
)
from reward_functions.symbolic.verdict import EqualityVerdict, Outcome

__all__ = [
    "EqualityVerdict",
    "Outcome",
    "OverBudget",
    "Unreadable",
    "end",
    "equal",
    "equal_within",
    "names_in",
    "quantity_asked_for",
    "readable",
    "restated",
    "unevaluated",
    "warm",
]
