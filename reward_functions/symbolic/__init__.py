"""Algebra: whether two mathematical answers mean the same.

The one door to this folder. `equal` climbs a ladder and says *equal*, *different* or *undecided*;
plain numbers are decided without loading the grammar. sympy, the last rung, lives in a process of
its own, which `warm` starts before it is needed.
"""

from reward_functions.symbolic.budget import OverBudget, Unreadable
from reward_functions.symbolic.equality import equal, readable, restated, warm
from reward_functions.symbolic.verdict import Outcome, Verdict

__all__ = [
    "Outcome",
    "OverBudget",
    "Unreadable",
    "Verdict",
    "equal",
    "readable",
    "restated",
    "warm",
]
