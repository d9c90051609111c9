"""Amounts in several units of one kind: 2 h 30 min is 150 min, and 2.5 h.

Single units are not converted: an amount in two of them has no unit of its own to be asked for.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import Final

from reward_functions.quantities.units import size
from reward_functions.symbolic.exact.rational import rational
from reward_functions.symbolic.expr.nodes import Listing, Measured, Node, Number, Sum

_SEVERAL: Final = (Sum, Listing)
"""What an amount in several units is read as."""

_NEITHER: Final = (False, False)


def in_one_unit(reference: Node, candidate: Node) -> tuple[Node, Node]:
    """Both answers as numbers of one unit, where one of them has several; else as they are.

    A list, "2 hours and 30 minutes", is one amount beside an amount only.
    """
    several = isinstance(reference, _SEVERAL), isinstance(candidate, _SEVERAL)
    if several == _NEITHER or (isinstance(reference, Listing) and isinstance(candidate, Listing)):
        return reference, candidate
    first, second = _amounts(reference), _amounts(candidate)
    if not first or not second:
        return reference, candidate
    unit = (second if several[0] else first)[-1].unit[0][0]
    mine, theirs = _total(first, unit), _total(second, unit)
    if mine is None or theirs is None:
        return reference, candidate
    return mine if several[0] else first[0].body, theirs if several[1] else second[0].body


def _amounts(node: Node) -> tuple[Measured, ...]:
    """The amounts of an answer, from the largest unit to the smallest; none of any other answer."""
    parts: tuple[Node, ...]
    match node:
        case Measured():
            parts = (node,)
        case Sum((Measured(), *_)):
            parts = node.terms
        case Listing((Measured(), *_), word) if word != "or":
            parts = node.items
        case _:
            return ()
    found = tuple(each for each in parts if isinstance(each, Measured) and _plain(each))
    sizes = [size(each.unit[0][0]) for each in found]
    descend = all(one[0] == other[0] and one[1] > other[1] for one, other in pairwise(sizes))
    return found if len(found) == len(parts) and descend else ()


def _plain(amount: Measured) -> bool:
    """Whether the unit is one unit, in the first power."""
    return len(amount.unit) == 1 and amount.unit[0][1] == 1


def _total(amounts: tuple[Measured, ...], unit: str) -> Number | None:
    """The sum of amounts in a unit; None where one is of another kind, or no known number."""
    base, many = size(unit)
    total = Fraction(0)
    for amount in amounts:
        value = rational(amount.body)
        other, times = size(amount.unit[0][0])
        if value is None or other != base:
            return None
        total += value * times / many
    return Number(total)
