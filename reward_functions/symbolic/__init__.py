"""Algebra: whether two mathematical answers mean the same.

Other packages import this module and none below it. `equal` returns *equal*, *different* or
*undecided*. Plain numbers are compared without loading the grammar. The last tier, sympy, runs in a
process of its own, which `warm` starts before it is needed.
"""

from reward_functions.symbolic.budget import OverBudget, Unreadable
from reward_functions.symbolic.equality import (
    begins_with_function,
    digits_in_base,
    end,
    equal,
    equal_members,
    equal_within,
    finite_sum,
    names_in,
    quantity_asked_for,
    readable,
    restated,
    unevaluated,
    unread_command,
    warm,
)
from reward_functions.symbolic.verdict import EqualityVerdict, Ordered, Outcome

__all__ = [
    "EqualityVerdict",
    "Ordered",
    "Outcome",
    "OverBudget",
    "Unreadable",
    "begins_with_function",
    "digits_in_base",
    "end",
    "equal",
    "equal_members",
    "equal_within",
    "finite_sum",
    "names_in",
    "quantity_asked_for",
    "readable",
    "restated",
    "unevaluated",
    "unread_command",
    "warm",
]
