"""Inequalities with an absolute value, as what they state about the value inside.

|u| < 3 is -3 < u < 3, and 1 ≤ |u| ≤ 2 is 1 ≤ u ≤ 2 or -2 ≤ u ≤ -1.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Final

from reward_functions.symbolic.exact.rational import rational
from reward_functions.symbolic.expr.nodes import (
    Apply,
    Braces,
    Listing,
    NamedSet,
    Node,
    Number,
    Relation,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

_REVERSED: Final = {">": "<", "≥": "≤"}

Bound = tuple[Fraction, str]
"""A number and the operator, < or ≤, that stands between it and the absolute value."""


def without_absolute(node: Relation) -> Node | None:
    """The same statement without bars; None unless it bounds one absolute value by numbers."""
    upwards = _ascending(node)
    if upwards is None:
        return None
    operands, operators = upwards
    places = [place for place, each in enumerate(operands) if isinstance(each, Apply)]
    if len(places) != 1 or len(operands) > 3:  # noqa: PLR2004 - a bound on either side at most
        return None
    match operands[places[0]]:
        case Apply("abs", (inside,)):
            numbers = [rational(each) for each in operands]
            low, high = _bounds(numbers, operators, places[0])
            return _stated(inside, low, high)
    return None


def _ascending(node: Relation) -> tuple[Sequence[Node], Sequence[str]] | None:
    """The operands from small to large; None where the operators do not all point one way."""
    if set(node.operators) <= {"<", "≤"}:
        return node.operands, node.operators
    if set(node.operators) <= {">", "≥"}:
        return node.operands[::-1], [_REVERSED[each] for each in node.operators[::-1]]
    return None


def _bounds(
    numbers: Sequence[Fraction | None], operators: Sequence[str], place: int
) -> tuple[Bound | None, Bound | None]:
    low = numbers[place - 1] if place else None
    high = numbers[place + 1] if place + 1 < len(numbers) else None
    return (
        None if low is None else (low, operators[place - 1]),
        None if high is None else (high, operators[place]),
    )


def _stated(inside: Node, low: Bound | None, high: Bound | None) -> Node | None:
    if low is None and high is None:
        return None
    if low is not None and (low[0] < 0 or (not low[0] and low[1] == "≤")):
        low = None
    if high is not None and (high[0] < 0 or (not high[0] and high[1] == "<")):
        return Braces(())
    if low is None:
        return NamedSet("R") if high is None else _chain(inside, _mirrored(high), high)
    upper = _chain(inside, low, high)
    lower = _chain(inside, None if high is None else _mirrored(high), _mirrored(low))
    return Listing((upper, lower), "or")


def _mirrored(bound: Bound) -> Bound:
    return -bound[0], bound[1]


def _chain(inside: Node, low: Bound | None, high: Bound | None) -> Relation:
    operands: list[Node] = [inside]
    operators: list[str] = []
    if low is not None:
        operands.insert(0, Number(low[0]))
        operators.append(low[1])
    if high is not None:
        operands.append(Number(high[0]))
        operators.append(high[1])
    return Relation(tuple(operands), tuple(operators))
