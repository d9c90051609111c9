"""Algebra: whether two mathematical answers mean the same.

The one door to this folder. `equal` climbs a ladder of exact means and says *equal*, *different* or
*undecided*; plain numbers are decided without loading the grammar.
"""

from reward_functions.symbolic.ladder import equal, readable
from reward_functions.symbolic.limits import OverBudget, Unreadable
from reward_functions.symbolic.verdict import Outcome, Verdict

__all__ = ["Outcome", "OverBudget", "Unreadable", "Verdict", "equal", "readable"]
