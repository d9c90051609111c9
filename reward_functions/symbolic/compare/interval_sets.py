"""Unions of intervals as sets: in one form, cut with each other, taken from the line, counted.

Ends are compared exactly where they are rational, and by proven bounds where they are other
constants. Ends with letters have no order, and the functions here return None for them.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from math import floor
from typing import TYPE_CHECKING, Final, NamedTuple

from reward_functions.symbolic.budget import ITEMS, Unreadable
from reward_functions.symbolic.compare.scalars import ScalarComparison, infinite
from reward_functions.symbolic.exact.rational import rational
from reward_functions.symbolic.expr.nodes import Constant, Node, Number, Product
from reward_functions.symbolic.expr.record import record
from reward_functions.symbolic.numeric.approximation import bounds

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

INFINITY: Final = Constant("∞")
MINUS_INFINITY: Final = Product((Number(Fraction(-1)), INFINITY))


@record
class RealInterval:
    """Everything between two ends; `closed` marks which of them belong to it."""

    low: Node
    high: Node
    closed: tuple[bool, bool]


LINE: Final = RealInterval(MINUS_INFINITY, INFINITY, (False, False))

_MOST_ROOTS: Final = 30
"""Ends of which some are not rational; the bounds of one take up to some milliseconds."""

End = tuple[int, Fraction, int]
"""An end in order: the sign of an infinity, the value, and -1, 0 or 1 for just below, at, above."""

Span = tuple[End, End]
_WHOLE: Final[Span] = ((-1, Fraction(0), 0), (1, Fraction(0), 0))


class Order(NamedTuple):
    """The order of some ends: the place of each one in it, and the end at each place."""

    places: dict[Node, Fraction]
    ends: dict[Fraction, Node]

    def spans(self, intervals: Iterable[RealInterval]) -> list[Span]:
        """Intervals in ascending order, those that touch joined, empty ones left out."""
        return _merged(
            (
                self._end(interval.low, 0 if interval.closed[0] else 1),
                self._end(interval.high, 0 if interval.closed[1] else -1),
            )
            for interval in intervals
        )

    def intervals(self, spans: Iterable[Span]) -> tuple[RealInterval, ...]:
        """Spans as intervals again."""
        return tuple(
            RealInterval(
                self._node(low),
                self._node(high),
                (not (low[0] or low[2]), not (high[0] or high[2])),
            )
            for low, high in spans
        )

    def _end(self, node: Node, side: int) -> End:
        sign = infinite(node)
        return (sign, Fraction(0), 0) if sign else (0, self.places[node], side)

    def _node(self, end: End) -> Node:
        return self.ends[end[1]] if not end[0] else INFINITY if end[0] > 0 else MINUS_INFINITY


def order(intervals: Iterable[RealInterval], scalars: ScalarComparison) -> Order | None:
    """The order of the ends of some intervals; None where it is not certain."""
    ends = {node for each in intervals for node in (each.low, each.high) if not infinite(node)}
    exact = {node: rational(node) for node in ends}
    known = {node: value for node, value in exact.items() if value is not None}
    if len(known) == len(ends):
        return Order(known, {value: node for node, value in known.items()})
    if len(ends) > _MOST_ROOTS:
        return None
    between = {node: bounds(node, scalars.identity.work) for node in ends}
    sorted_ends = sorted(
        (found, place, node) for place, (node, found) in enumerate(between.items()) if found
    )
    if len(sorted_ends) < len(ends):
        return None
    places: dict[Node, Fraction] = {}
    for place, (found, _, node) in enumerate(sorted_ends):
        places[node] = Fraction(place)
        if place and sorted_ends[place - 1][0][1] >= found[0]:
            before = sorted_ends[place - 1][2]
            if not _exactly_equal(before, node, scalars):
                return None
            places[node] = places[before]
    return Order(places, {place: node for node, place in places.items()})


def _exactly_equal(first: Node, second: Node, scalars: ScalarComparison) -> bool:
    """Whether two constants are equal, neither being a rounding of the other."""
    try:
        values = scalars.algebra.value(first), scalars.algebra.value(second)
    except Unreadable:
        return False
    return not scalars.field.difference(*values)


def intersection(parts: Sequence[Sequence[Span]]) -> list[Span]:
    """The points in every one of some sets, which are outside of none."""
    return complement(_merged(outside for part in parts for outside in complement(part)))


def complement(spans: Sequence[Span]) -> list[Span]:
    """The points in none of some spans in ascending order."""
    inner = [
        ((sign, value, side + 1), (other_sign, other, other_side - 1))
        for (_, (sign, value, side)), ((other_sign, other, other_side), _) in pairwise(spans)
    ]
    if not spans:
        return [_WHOLE]
    (sign, value, side), (last_sign, last, last_side) = spans[0][0], spans[-1][1]
    before = [(_WHOLE[0], (sign, value, side - 1))] if not sign else []
    after = [((last_sign, last, last_side + 1), _WHOLE[1])] if not last_sign else []
    return _merged([*before, *inner, *after])


def integers(intervals: Iterable[RealInterval], scalars: ScalarComparison) -> list[Span] | None:
    """The whole numbers in some intervals as closed spans; None where that is not certain."""
    found: list[Span] = []
    for interval in intervals:
        ends = []
        for sign, node, closed in (
            (-1, interval.low, interval.closed[0]),
            (1, interval.high, interval.closed[1]),
        ):
            end = _whole_end(node, sign, scalars, closed=closed)
            if end is None:
                return None
            ends.append(end)
        found.append((ends[0], ends[1]))
    joined: list[Span] = []
    for low, high in _merged(found):
        if joined and not joined[-1][1][0] and joined[-1][1][1] + 1 == low[1]:
            joined[-1] = (joined[-1][0], high)
        else:
            joined.append((low, high))
    return joined


def points(spans: Sequence[Span]) -> tuple[RealInterval, ...] | None:
    """The whole numbers in closed spans one by one; None for more than a list may have."""
    if any(low[0] or high[0] for low, high in spans):
        return None
    if sum(high[1] - low[1] + 1 for low, high in spans) > ITEMS:
        return None
    numbers = [
        Number(Fraction(value))
        for low, high in spans
        for value in range(int(low[1]), int(high[1]) + 1)
    ]
    return tuple(RealInterval(each, each, (True, True)) for each in numbers)


def closed_intervals(spans: Iterable[Span]) -> tuple[RealInterval, ...]:
    """Spans between whole numbers as intervals."""
    return tuple(
        RealInterval(
            MINUS_INFINITY if low[0] else Number(low[1]),
            INFINITY if high[0] else Number(high[1]),
            (not low[0], not high[0]),
        )
        for low, high in spans
    )


def _whole_end(node: Node, sign: int, scalars: ScalarComparison, *, closed: bool) -> End | None:
    """The whole number at or next to an end, on the inner side of it."""
    if infinite(node):
        return infinite(node), Fraction(0), 0
    exact = rational(node)
    if exact is None:
        found = bounds(node, scalars.identity.work)
        if found is None or floor(found[0]) != floor(found[1]) or floor(found[0]) == found[0]:
            return None
        exact = found[0]
    if exact.denominator == 1:
        return 0, exact if closed else exact - sign, 0
    return 0, Fraction(floor(exact) + (sign < 0)), 0


def _merged(spans: Iterable[Span]) -> list[Span]:
    merged: list[Span] = []
    for low, high in sorted(span for span in spans if span[0] <= span[1]):
        if merged and _touch(merged[-1][1], low):
            merged[-1] = (merged[-1][0], max(merged[-1][1], high))
        else:
            merged.append((low, high))
    return merged


def _touch(high: End, low: End) -> bool:
    """Whether nothing lies between the end of one interval and the start of the next."""
    return low <= high or (low[:2] == high[:2] and low[2] - high[2] == 1)
