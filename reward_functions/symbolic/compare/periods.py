"""Arithmetic progressions: whether a + bk and c + dk are the same sets for all whole k.

A family has entries that are linear in its index: the value kπ + π/4, or the two ends of an
interval, which move together. Values are compared as sets of rests, so that kπ is 2kπ and π + 2kπ.
"""

from __future__ import annotations

from fractions import Fraction
from math import gcd, lcm
from typing import TYPE_CHECKING, Final, NamedTuple

from reward_functions.symbolic.budget import ITEMS, Unreadable
from reward_functions.symbolic.compare.real_sets import region
from reward_functions.symbolic.exact.polynomials import number_of
from reward_functions.symbolic.expr.literals import MINUS_ONE
from reward_functions.symbolic.expr.nodes import (
    Bracket,
    Node,
    Number,
    Product,
    Relation,
    Sum,
    Symbol,
)
from reward_functions.symbolic.expr.traversal import replaced
from reward_functions.symbolic.verdict import Finding, differ, same, unknown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reward_functions.symbolic.compare.scalars import ScalarComparison

_ZERO: Final = Number(Fraction(0))
_ONE: Final = Number(Fraction(1))
_NO_VALUES: Final = (Bracket, Relation)


class _Linear(NamedTuple):
    """A value that is `start` at the index 0 and grows by `step`."""

    start: Node
    step: Node


class _Progression(NamedTuple):
    """Values that depend on one index, and what they are the parts of."""

    shape: tuple[object, ...]
    entries: tuple[_Linear, ...]


def same_progressions(
    bodies: Sequence[Node], others: Sequence[Node], index: str, scalars: ScalarComparison
) -> Finding | None:
    """Whether two lists of progressions are the same set; None where that is not worked out."""
    steps = _Steps(index, scalars)
    try:
        mine, theirs = [list(map(steps.progression, each)) for each in (bodies, others)]
    except Unreadable:
        return None
    first, second = ([each for each in side if each is not None] for side in (mine, theirs))
    if len(first) < len(mine) or len(second) < len(theirs) or not first or not second:
        return None
    if all(each.shape == ("value",) for each in (*first, *second)):
        return steps.rests(first, second)
    return steps.shifted(first, second)


class _Steps:
    """Progressions in one index."""

    def __init__(self, index: str, scalars: ScalarComparison) -> None:
        self.index = Symbol(index)
        self.scalars = scalars

    def progression(self, body: Node) -> _Progression | None:
        """The progression that an answer is for each value of the index; None for anything else."""
        shape, entries = self._entries(body)
        found = [self._linear(each) for each in entries]
        known = tuple(each for each in found if each is not None)
        if not known or len(known) < len(found):
            return None
        return _Progression(shape, known)

    def _entries(self, body: Node) -> tuple[tuple[object, ...], tuple[Node, ...]]:
        match body:
            case Bracket(left, (low, high), right):
                return ("interval", left == "[", right == "]"), (low, high)
            case Bracket(left, items, right):
                return (left, right, len(items)), items
            case Relation((Symbol(), value), ("≠",)):
                return ("≠",), (value,)
            case Relation((_, Symbol(name), _), _) if name != self.index.name:
                found = region(body, self.scalars, name)
                if found is not None and len(found.intervals) == 1:
                    ends = found.intervals[0]
                    return ("interval", *ends.closed), (ends.low, ends.high)
        return (("value",), (body,)) if not isinstance(body, _NO_VALUES) else ((), ())

    def _linear(self, value: Node) -> _Linear | None:
        start = self._at(value, _ZERO)
        step = Sum((self._at(value, _ONE), Product((MINUS_ONE, start))))
        line = Sum((start, Product((step, self.index))))
        return _Linear(start, step) if self._equal(value, line) else None

    def _at(self, value: Node, place: Node) -> Node:
        return replaced(value, lambda node: place if node == self.index else node)

    def _equal(self, first: Node, second: Node) -> bool:
        value = self.scalars.algebra.value
        return not self.scalars.field.difference(value(first), value(second))

    def _quotient(self, above: Node, below: Node) -> Fraction | None:
        return number_of(self.scalars.algebra.value(Product((above,), (below,))))

    def _apart(self, first: Node, second: Node, step: Node) -> Fraction | None:
        """How many steps lie between two values; None where that is no rational number."""
        return self._quotient(Sum((first, Product((MINUS_ONE, second)))), step)

    # ---- values, as sets of rests

    def rests(
        self, first: Sequence[_Progression], second: Sequence[_Progression]
    ) -> Finding | None:
        """Values of both sides by their rests after division by a common period."""
        lines = [each.entries[0] for each in (*first, *second)]
        unit = lines[0].step
        if any(self._equal(each.step, _ZERO) for each in lines):
            return None
        ratios = [self._quotient(each.step, unit) for each in lines]
        periods = [abs(each) for each in ratios if each]
        if len(periods) < len(lines):
            return None
        period = _common(periods)
        if sum(period / each for each in periods) > ITEMS:
            return None
        bases: list[Node] = []
        found: list[set[tuple[int, Fraction]]] = [set(), set()]
        for place, (line, each) in enumerate(zip(lines, periods, strict=True)):
            base, offset = self._based(line.start, bases, unit)
            side = found[place >= len(first)]
            side |= {(base, (offset + turn * each) % period) for turn in range(int(period / each))}
        if found[0] == found[1]:
            return same("family-shifted", "the same values for all whole numbers")
        if len(bases) == 1:
            return differ("family-shifted", "the families have other values for some whole numbers")
        return unknown("family-shifted", "the families are not shown to be equal")

    def _based(self, start: Node, bases: list[Node], unit: Node) -> tuple[int, Fraction]:
        """The first value that lies a rational number of steps away, and that number."""
        for place, base in enumerate(bases):
            offset = self._apart(start, base, unit)
            if offset is not None:
                return place, offset
        bases.append(start)
        return len(bases) - 1, Fraction(0)

    # ---- intervals and points, whose entries move together

    def shifted(
        self, first: Sequence[_Progression], second: Sequence[_Progression]
    ) -> Finding | None:
        """Each progression matched with one that runs through the same values."""
        left = list(second)
        for each in first:
            match = next((other for other in left if self._moved(each, other)), None)
            if match is None:
                return None
            left.remove(match)
        return None if left else same("family-shifted", "the same sets for all whole numbers")

    def _moved(self, first: _Progression, second: _Progression) -> bool:
        if first.shape != second.shape:
            return False
        moves: set[tuple[Fraction, Fraction]] = set()
        for one, other in zip(first.entries, second.entries, strict=True):
            if self._equal(one.step, _ZERO):
                if not (self._equal(other.step, _ZERO) and self._equal(one.start, other.start)):
                    return False
                continue
            turn = self._quotient(other.step, one.step)
            offset = self._apart(other.start, one.start, one.step)
            if turn is None or offset is None:
                return False
            moves.add((turn, offset))
        if len(moves) != 1:
            return False
        turn, offset = moves.pop()
        return abs(turn) == 1 and offset.denominator == 1


def _common(periods: Sequence[Fraction]) -> Fraction:
    """The least common multiple of some fractions."""
    below = gcd(*(each.denominator for each in periods))
    return Fraction(lcm(*(each.numerator for each in periods)), below)
