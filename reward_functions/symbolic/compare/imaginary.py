"""The letter j for the imaginary unit, as engineers and programs write it: 3 + 4j, e^{jωt}.

It is one beside a number, in a power of e and as a factor of ω. Elsewhere it may be a unit vector
or an index.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reward_functions.symbolic.expr.nodes import Constant, Power, Product, Sum, Symbol
from reward_functions.symbolic.expr.traversal import names_in, parts, replaced, without_names

if TYPE_CHECKING:
    from reward_functions.symbolic.expr.nodes import Node

_EULER: Final = Constant("e")


def with_one_letter(reference: Node, candidate: Node) -> tuple[Node, Node] | None:
    """Both sides with i for their j, where one of them has i or the reference oscillates by j."""
    mine, theirs = names_in(reference), names_in(candidate)
    if "j" in mine & theirs:
        if "i" in mine | theirs or not _oscillates(reference):
            return None
        return _with_i(reference), _with_i(candidate)
    if "j" in theirs and "i" in mine - theirs and _complex(candidate):
        return reference, _with_i(candidate)
    if "j" in mine and "i" in theirs - mine and _complex(reference):
        return _with_i(reference), candidate
    return None


def _with_i(node: Node) -> Node:
    return replaced(node, lambda each: Constant("i") if each == Symbol("j") else each)


def _complex(node: Node) -> bool:
    """Whether j stands beside a number somewhere, or oscillates."""
    return _oscillates(node) or any(
        any("j" in names_in(term) for term in each.terms) and any(map(without_names, each.terms))
        for each in parts(node)
        if isinstance(each, Sum)
    )


def _oscillates(node: Node) -> bool:
    """Whether j stands in a power of e, or beside ω as a factor."""
    for each in parts(node):
        match each:
            case Power(base, exponent) if base == _EULER and "j" in names_in(exponent):
                return True
            case Product(over, _) if Symbol("j") in over and Symbol("ω") in over:
                return True
    return False
