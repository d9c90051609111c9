r"""The pieces on which two definitions by cases each have one formula.

Real pieces lie between the ends of all conditions and the places where a bar or a maximum turns:
on each of them |x| is x or -x. Whole numbers are parted by their rests, so that n is 2k or 2k + 1.
Nothing is shown different here: a formula may be equal on its piece and not elsewhere.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from math import lcm
from typing import TYPE_CHECKING, Final, NamedTuple

from reward_functions.symbolic.compare.interval_sets import order
from reward_functions.symbolic.compare.real_sets import region, solve_linear
from reward_functions.symbolic.exact.polynomials import number_of
from reward_functions.symbolic.exact.rational import rational
from reward_functions.symbolic.expr.literals import negated
from reward_functions.symbolic.expr.names import WHOLE
from reward_functions.symbolic.expr.nodes import (
    Apply,
    Congruence,
    Node,
    Number,
    Product,
    Relation,
    Sum,
    Symbol,
)
from reward_functions.symbolic.expr.traversal import free_names, parts, replaced

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from reward_functions.symbolic.compare.interval_sets import RealInterval, Span
    from reward_functions.symbolic.compare.scalars import ScalarComparison

Branch = tuple[Node, Node | None]
Pair = tuple[Node, Node]

MODULUS: Final = 24
"""The largest modulus by which whole numbers are parted."""

PIECES: Final = 60
"""Pieces that are compared one by one."""

INDEX: Final = Symbol(WHOLE)

_ZERO: Final = Number(Fraction(0))


def pieces(
    branches: Sequence[Branch], others: Sequence[Branch], scalars: ScalarComparison
) -> list[Pair] | None:
    """The formulas of both sides, piece by piece; None where one side alone has a value somewhere.

    None as well where the conditions are no regions and no rests of one variable.
    """
    rests = _by_rests(branches, others)
    return _by_regions(branches, others, scalars) if rests is None else rests


# ---- whole numbers


def _by_rests(branches: Sequence[Branch], others: Sequence[Branch]) -> list[Pair] | None:
    """The formulas for each rest of the variable; None where a condition is no rest of it."""
    named = {name for _, when in (*branches, *others) for name in _parted(when)}
    if len(named) != 1:
        return None
    name = named.pop()
    mine, theirs = (
        _all_of(_rest(value, when, name) for value, when in side) for side in (branches, others)
    )
    if mine is None or theirs is None:
        return None
    modulus = lcm(*(each.modulus for each in (*mine, *theirs)))
    if not 1 < modulus <= MODULUS:
        return None
    found: list[Pair] = []
    for rest in range(modulus):
        value = Sum((Product((Number(Fraction(modulus)), INDEX)), Number(Fraction(rest))))
        first, second = _holding(mine, rest), _holding(theirs, rest)
        if bool(first) != bool(second):
            return None
        found += [(_at(first[0], name, value), _at(each, name, value)) for each in second]
    return found


def _holding(cases: Sequence[_Case], number: int) -> list[Node]:
    """The values of the cases that hold for a whole number; that of "otherwise" where none does."""
    held = [each.value for each in cases if each.modulus > 1 and number % each.modulus == each.rest]
    return held or [each.value for each in cases if each.modulus == 1]


class _Case(NamedTuple):
    """A value and the rest under which it holds; of modulus 1 where no other case does."""

    value: Node
    modulus: int
    rest: int


def _all_of(cases: Iterable[_Case | None]) -> list[_Case] | None:
    """The cases; None where one of them is none."""
    found = list(cases)
    known = [each for each in found if each is not None]
    return known if len(known) == len(found) else None


def _rest(value: Node, when: Node | None, name: str) -> _Case | None:
    """A branch by the rest that its condition asks for; None for any other condition."""
    match when:
        case None:
            return _Case(value, 1, 0)
        case Congruence(Symbol(each), right, modulus) if each == name:
            numbers = _whole(right), _whole(modulus)
            if numbers[0] is None or not numbers[1] or numbers[1] < 1:
                return None
            return _Case(value, numbers[1], numbers[0] % numbers[1])
        case Relation((Symbol(each), right), ("=",)) if each == name:
            return _multiple(value, right, name)
    return None


def _multiple(value: Node, right: Node, name: str) -> _Case | None:
    """The branch of n = 2k + 1, in whose value k is (n - 1)/2."""
    terms = right.terms if isinstance(right, Sum) else (right,)
    rest = sum((number for each in terms if (number := rational(each)) is not None), Fraction(0))
    others = [each for each in terms if rational(each) is None]
    match others:
        case [Product((Number(factor), Symbol(index)), ())] if factor.denominator == 1 < factor:
            if rest.denominator != 1 or index == name:
                return None
            shifted = Sum((Symbol(name), Number(-rest)))
            solved = Product((shifted,), (Number(factor),))
            return _Case(_at(value, index, solved), int(factor), int(rest % factor))
    return None


def _parted(when: Node | None) -> Iterator[str]:
    """The name on whose rest a condition is, if it is one."""
    match when:
        case Congruence(Symbol(name)) | Relation((Symbol(name), _), ("=",)):
            yield name


def _whole(node: Node) -> int | None:
    number = rational(node)
    return int(number) if number is not None and number.denominator == 1 else None


def _at(value: Node, name: str, place: Node) -> Node:
    """A formula with a value for its variable."""
    return replaced(value, lambda each: place if each == Symbol(name) else each)


# ---- real numbers


def _by_regions(
    branches: Sequence[Branch], others: Sequence[Branch], scalars: ScalarComparison
) -> list[Pair] | None:
    """The formulas on each piece of the line; None where a condition is no region of one name."""
    conditions = [when for _, when in (*branches, *others) if when is not None]
    names = {name for each in conditions for name in free_names(each)}
    if len(names) != 1:
        return None
    (name,) = names
    regions = [[_region(when, scalars, name) for _, when in side] for side in (branches, others)]
    turns = [place for value, _ in (*branches, *others) for place in _turns(value, name, scalars)]
    known = [each for side in regions for each in side if each is not None]
    intervals = [interval for each in known for interval in each]
    ends = order(intervals, scalars)
    if len(known) < len(branches) + len(others) or ends is None:
        return None
    if any(place != rational(end) for end, place in ends.places.items()):
        return None
    places = sorted({*turns, *ends.places.values()})
    if len(places) > PIECES:
        return None
    spans = [[ends.spans(each or ()) for each in side] for side in regions]
    found: list[Pair] = []
    for cell, inside in _cells(places):
        first = _formulas(branches, spans[0], cell)[:1]
        second = _formulas(others, spans[1], cell)
        if bool(first) != bool(second):
            return None
        change = _formula_on(cell, inside, name, scalars)
        found += [(change(first[0]), change(each)) for each in second]
    return found


def _region(
    when: Node | None, scalars: ScalarComparison, name: str
) -> tuple[RealInterval, ...] | None:
    """The intervals of a condition; none of them for "otherwise"."""
    if when is None:
        return ()
    found = region(when, scalars, name)
    if found is None or found.domain or found.variable not in (None, name):
        return None
    return found.intervals


def _cells(places: Sequence[Fraction]) -> Iterator[tuple[Span, Fraction]]:
    """The points at some places and what lies between and beyond them, each with a number in it."""
    if not places:
        yield ((-1, Fraction(0), 0), (1, Fraction(0), 0)), Fraction(0)
        return
    yield ((-1, Fraction(0), 0), (0, places[0], -1)), places[0] - 1
    for low, high in pairwise(places):
        yield ((0, low, 0), (0, low, 0)), low
        yield ((0, low, 1), (0, high, -1)), (low + high) / 2
    yield ((0, places[-1], 0), (0, places[-1], 0)), places[-1]
    yield ((0, places[-1], 1), (1, Fraction(0), 0)), places[-1] + 1


def _formulas(
    branches: Sequence[Branch], spans: Sequence[Sequence[Span]], cell: Span
) -> list[Node]:
    """The values whose conditions hold on a piece; that of "otherwise" where none does."""
    held = [
        value
        for (value, when), inside in zip(branches, spans, strict=True)
        if when is not None and any(low <= cell[0] and cell[1] <= high for low, high in inside)
    ]
    return held or [value for value, when in branches if when is None]


def _turns(value: Node, name: str, scalars: ScalarComparison) -> Iterator[Fraction]:
    """The places at which a bar or a maximum of a formula turns."""
    for each in parts(value):
        turning = _turning(each)
        solved = turning and solve_linear(turning, _ZERO, scalars)
        place = rational(solved[2]) if solved and solved[0] == name else None
        if place is not None:
            yield place


def _turning(node: Node) -> Node | None:
    """What changes its sign where a formula turns: x of |x|, a - b of max(a, b)."""
    match node:
        case Apply("abs" | "sgn", (inside,)):
            return inside
        case Apply("max" | "min", (first, second)):
            return Sum((first, negated(second)))
    return None


def _formula_on(
    cell: Span, inside: Fraction, name: str, scalars: ScalarComparison
) -> Callable[[Node], Node]:
    """What a formula is on a piece: at a point its value, elsewhere without what turns."""
    if cell[0] == cell[1]:
        return lambda value: _at(value, name, Number(inside))

    def untwisted(node: Node) -> Node:
        turning = _turning(node)
        if turning is None or not list(_turns(node, name, scalars)):
            return node
        number = scalars.algebra.value(_at(turning, name, Number(inside)))
        positive = (number_of(number) or 0) > 0
        match node:
            case Apply("abs", (body,)):
                return body if positive else negated(body)
            case Apply("sgn"):
                return Number(Fraction(1 if positive else -1))
            case Apply(kind, (first, second)):
                return first if positive == (kind == "max") else second
        return node

    return lambda value: replaced(value, untwisted)
