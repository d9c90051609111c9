"""Whether an undecided comparison is worth asking sympy, whose requests take milliseconds.

sympy is for what a data set asks: a reference with sums, integrals, derivatives or limits, or
an equation whose solutions matter. An answer alone hardly ever brings it in, or a policy could slow
its own training down. It does so only where it works out one operation in exactly the variables of
the reference, and for the numbers that these stand for there. Everything else, and anything too
large to end in time, stays undecided.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reward_functions.symbolic.expr.nodes import Braces, Bracket, Listing, Matrix, Relation, Symbol
from reward_functions.symbolic.expr.traversal import free_names, operations, parts
from reward_functions.symbolic.numeric.traits import Traits

if TYPE_CHECKING:
    from reward_functions.symbolic.expr.nodes import Node

NODES: Final = 120
"""Nodes of both trees together. Textbook integrals with their values have 10 to 40."""

OPERATIONS: Final = 4
"""Operations of calculus in both trees together; each nested one multiplies the work."""

_COLLECTIONS: Final = (Listing, Braces, Bracket, Matrix)


def admitted(reference: Node, candidate: Node) -> bool:
    """Whether sympy is asked about two answers."""
    if _larger_than(NODES, reference, candidate):
        return False
    asked, offered = operations(reference), operations(candidate)
    if asked + offered > OPERATIONS:
        return False
    mine, theirs = free_names(reference), free_names(candidate)
    if asked:
        # A constant of integration apart, equal values have the same variables.
        alike = isinstance(reference, _COLLECTIONS) == isinstance(candidate, _COLLECTIONS)
        return alike and len(mine - theirs) <= 1 and len(theirs - mine) <= 1
    if offered:
        if offered > 1 or not mine or mine != theirs:
            return False
        return not Traits(reference, candidate).for_whole_numbers
    if not mine or not _to_solve(reference):
        return False
    if isinstance(candidate, Relation) and mine == theirs:
        return True
    return len(mine) == 1 and theirs <= mine


def _larger_than(limit: int, *trees: Node) -> bool:
    count = 0
    for tree in trees:
        for _ in parts(tree):
            count += 1
            if count > limit:
                return True
    return False


def _to_solve(reference: Node) -> bool:
    """Whether it is an equation that does not name its solution."""
    return (
        isinstance(reference, Relation)
        and reference.operators == ("=",)
        and not any(isinstance(side, Symbol) for side in reference.operands)
    )
