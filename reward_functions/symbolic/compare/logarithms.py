r"""Logarithms without a base, which textbooks write for two functions.

\log x may be natural or to base ten, the same on both sides of a comparison, and either reading may
make the sides equal. Where one of them writes \ln, the natural logarithm has a name of its own:
then \log of a number is to base ten. Beside a variable, calculus writes \log x for \ln x all the
same; so may an answer beside a number, in one reading for the whole of it.
"""

from __future__ import annotations

from reward_functions.symbolic.expr.literals import TEN
from reward_functions.symbolic.expr.nodes import Apply, Node
from reward_functions.symbolic.expr.traversal import free_names, replaced


def to_base_ten(tree: Node) -> Node:
    r"""A tree with the base filled in that \log of a number has beside \ln."""
    return replaced(tree, _based)


def _based(node: Node) -> Node:
    match node:
        case Apply("log", (argument,)) if not free_names(argument):
            return Apply("log_", (TEN, argument))
    return node
