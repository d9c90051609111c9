"""Arbitrary constants: the C of an antiderivative has any name, and goes with its term."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Final

from reward_functions.symbolic.exact.rational import rational
from reward_functions.symbolic.expr.names import symbols
from reward_functions.symbolic.expr.nodes import Apply, Node, Number, Product, Sum, Symbol

if TYPE_CHECKING:
    from collections.abc import Callable

_ONE: Final = Number(Fraction(1))


def without_constants(reference: Node, candidate: Node) -> tuple[Node, Node] | None:
    """Both sides without their arbitrary constants; None unless each has one.

    The reference's is a capital C, a term beside something with a lower-case variable; the
    candidate's may be any letter that is used nowhere else, as a term or as a factor in a
    logarithm: ln|x| + ln C and ln|Cx| are ln|x| and any number.
    """
    mine = _without(reference, "C")
    if mine is None:
        return None
    used = symbols(mine)
    if not any(name[0].islower() for name in used):
        return None
    for name in symbols(candidate):
        if name not in used:
            theirs = _without(candidate, name) or _without_factor(candidate, name)
            if theirs is not None:
                return mine, theirs
    return None


def _without(node: Node, name: str) -> Node | None:
    """A sum without the one term that is a letter, which stands nowhere else in it."""
    if not isinstance(node, Sum):
        return None
    rest = tuple(term for term in node.terms if term != Symbol(name))
    if len(rest) != len(node.terms) - 1 or not rest or name in symbols(rest):
        return None
    return rest[0] if len(rest) == 1 else Sum(rest)


def _without_factor(node: Node, name: str) -> Node | None:
    """A sum of logarithms without the one factor in one of them that is a letter.

    The letter may take any sign, so the rest of its logarithm may too: ln(Cx) leaves ln|x|.
    """
    match node:
        case Sum(terms):
            changed = _with_one(terms, name, _without_factor)
            return Sum(changed) if changed else None
        case Product(over, under):
            factors = [each for each in (*over, *under) if name not in symbols(each)]
            above = _with_one(over, name, _without_factor)
            numbers = len(factors) == len(over) + len(under) - 1 and all(map(rational, factors))
            return Product(above, under) if above and numbers else None
        case Apply("ln" | "log" as function, (inside,)):
            rest = _unscaled(inside, name)
            return rest and Apply(function, (Apply("abs", (rest,)),))
    return None


def _unscaled(node: Node, name: str) -> Node | None:
    """A product without a factor that is a letter; None where it stands elsewhere."""
    match node:
        case Symbol(other) if other == name:
            return _ONE
        case Product(over, under):
            above = _with_one(over, name, _unscaled)
            if above is not None:
                return None if name in symbols(under) else Product(above, under)
            below = _with_one(under, name, _unscaled)
            return None if below is None or name in symbols(over) else Product(over, below)
        case Apply("abs", (inside,)):
            return _unscaled(inside, name)
    return None


def _with_one(
    nodes: tuple[Node, ...], name: str, change: Callable[[Node, str], Node | None]
) -> tuple[Node, ...] | None:
    """Nodes with the only one changed that has a name; None if that fails or there are more."""
    having = [place for place, node in enumerate(nodes) if name in symbols(node)]
    changed = change(nodes[having[0]], name) if len(having) == 1 else None
    if changed is None:
        return None
    return (*nodes[: having[0]], changed, *nodes[having[0] + 1 :])
