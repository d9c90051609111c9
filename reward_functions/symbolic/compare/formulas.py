r"""Formulas and reactions of chemistry, electrons by shell.

Logarithms without a base, which textbooks write for two functions.

\log x may be natural or to base ten, the same on both sides of a comparison, and either reading may
make the sides equal. Where one of them writes \ln, the natural logarithm has a name of its own:
then \log of a number is to base ten. Beside a variable, calculus writes \log x for \ln x all the
same; so may an answer beside a number, in one reading for the whole of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from reward_functions.symbolic.expr.literals import TEN
from reward_functions.symbolic.expr.nodes import Apply, Node
from reward_functions.symbolic.expr.traversal import free_names, replaced
from reward_functions.symbolic.verdict import Finding, differ, same, unknown

if TYPE_CHECKING:
    from reward_functions.symbolic.parsing.document import Document


def by_formula(mine: Document, theirs: Document) -> Finding | None:
    """Compare two strings in chemistry; None where the reference may be something else."""
    first = mine.chemistry
    if first is None or not first.sure:
        return None
    found = same_formula(mine, theirs)
    if found is None and theirs.chemistry is not None:
        return differ("chemistry", "another substance, reaction or state")
    return found or unknown("chemistry", "the reference is chemistry")


def same_formula(mine: Document, theirs: Document) -> Finding | None:
    """That two strings say the same in chemistry; None where they do not.

    States of aggregation may be left out on one side.
    """
    first, second = mine.chemistry, theirs.chemistry if mine.chemistry else None
    if first is None or second is None or first.value != second.value:
        return None
    if first.states and second.states and first.states != second.states:
        return None
    return same("chemistry", "the same in chemistry")


def to_base_ten(tree: Node) -> Node:
    r"""A tree with the base filled in that \log of a number has beside \ln."""
    return replaced(tree, _based)


def _based(node: Node) -> Node:
    match node:
        case Apply("log", (argument,)) if not free_names(argument):
            return Apply("log_", (TEN, argument))
    return node
