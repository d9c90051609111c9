"""Sets of real numbers: intervals, their unions, and inequalities in one variable.

A `Region` is what `x > 2`, `x ∈ (2, ∞)` and `(2, ∞)` have in common. Two of them with rational ends
are compared as sets; with other ends, interval by interval.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Final

from reward_functions.symbolic.budget import Unreadable
from reward_functions.symbolic.compare.absolute import without_absolute
from reward_functions.symbolic.compare.scalars import ScalarComparison, infinite
from reward_functions.symbolic.exact.polynomials import Quotient, number_of
from reward_functions.symbolic.exact.rational import rational
from reward_functions.symbolic.expr.names import symbols
from reward_functions.symbolic.expr.nodes import (
    Braces,
    Bracket,
    BuiltSet,
    Constant,
    Listing,
    NamedSet,
    Node,
    Number,
    Power,
    Product,
    Relation,
    Sum,
    Symbol,
    Union,
)
from reward_functions.symbolic.verdict import Finding, differ, same, unknown

INFINITY: Final = Constant("∞")
MINUS_INFINITY: Final = Product((Number(Fraction(-1)), INFINITY))
_MIRRORED: Final = {"<": ">", "≤": "≥", ">": "<", "≥": "≤", "≠": "≠", "=": "="}
_INEQUALITIES: Final = frozenset("<≤>≥≠")


@dataclass(frozen=True, slots=True)
class RealInterval:
    """Everything between two ends; `closed` marks which of them belong to it."""

    low: Node
    high: Node
    closed: tuple[bool, bool]


@dataclass(frozen=True, slots=True)
class Region:
    """A union of intervals, of the values of a variable where one is named."""

    intervals: tuple[RealInterval, ...]
    variable: str | None = None


LINE: Final = RealInterval(MINUS_INFINITY, INFINITY, (False, False))


def region(node: Node, scalars: ScalarComparison) -> Region | None:
    """The real set that a tree states, or None when it states none that is understood."""
    match node:
        case Bracket(left, (low, high), right) if left in "([" and right in ")]":
            return Region((RealInterval(low, high, (left == "[", right == "]")),))
        case NamedSet("R"):
            return Region((LINE,))
        case Braces(items):
            return Region(tuple(RealInterval(item, item, (True, True)) for item in items))
        case Union(parts, minus):
            return _difference(parts, scalars) if minus else _union(parts, scalars)
        case Listing(items, word):
            return _listed(items, word, scalars)
        case Relation():
            return _relation(node, scalars)
        case BuiltSet(Symbol(name), conditions):
            return _built(name, conditions, scalars)
        case BuiltSet(Relation((Symbol(name), _), ("∈",)) as member, conditions):
            return _built(name, (member, *conditions), scalars)
    return None


def states_region(node: Node) -> bool:
    """Whether a tree is a set of reals by its form, where a pair in brackets could be a point."""
    match node:
        case Relation(_, operators):
            return any(operator in _INEQUALITIES or operator == "∈" for operator in operators)
        case Listing(items, _):
            return any(isinstance(item, Relation) and states_region(item) for item in items)
        case Union() | NamedSet("R") | BuiltSet():
            return True
    return False


def compare_regions(first: Region, second: Region, scalars: ScalarComparison) -> Finding:
    """Whether two regions are the same set, of the same variable where both name one."""
    if first.variable and second.variable and first.variable != second.variable:
        return differ("names", f"{first.variable} is not {second.variable}")
    exact, other = _canonical(first), _canonical(second)
    if exact is not None and other is not None:
        if exact == other:
            return same("interval", "the same set of real numbers")
        return differ("interval", "the sets of real numbers differ")
    return _pairwise(first.intervals, second.intervals, scalars)


# ---- from trees to intervals


def _listed(items: tuple[Node, ...], word: str, scalars: ScalarComparison) -> Region | None:
    """Conditions with a word between them; x ∈ ℝ beside others that are on x adds nothing."""
    real = {name for item in items for name in symbols(item) if _is_real(item, name)}
    if word != "or" and len(real) == 1 and all(isinstance(item, Relation) for item in items):
        found = _built(name := real.pop(), items, scalars)
        return None if found is None else Region(found.intervals, name)
    if word == "or":
        return _union(items, scalars)
    return _intersection([region(item, scalars) for item in items]) if word else None


def _union(parts: tuple[Node, ...], scalars: ScalarComparison) -> Region | None:
    regions = [region(part, scalars) for part in parts]
    found = [each for each in regions if each is not None]
    names = {each.variable for each in found} - {None}
    if len(found) < len(parts) or len(names) > 1:
        return None
    intervals = tuple(interval for each in found for interval in each.intervals)
    return Region(intervals, names.pop() if names else None)


def _difference(parts: tuple[Node, ...], scalars: ScalarComparison) -> Region | None:
    """The real line without finitely many points, in ascending order."""
    first, second = region(parts[0], scalars), parts[1]
    if first is None or first.intervals != (LINE,) or not isinstance(second, Braces):
        return None
    points = [(rational(item), item) for item in second.items]
    known = sorted((value, place) for place, (value, _) in enumerate(points) if value is not None)
    if len(known) < len(points) and len(points) > 1:
        return None
    return _without(tuple(points[place][1] for _, place in known) or second.items)


def _without(points: tuple[Node, ...]) -> Region:
    """The real line without points in ascending order."""
    ends = (MINUS_INFINITY, *points, INFINITY)
    return Region(tuple(RealInterval(low, high, (False, False)) for low, high in pairwise(ends)))


def _intersection(parts: list[Region | None]) -> Region | None:
    """One half-line in each direction, cut with the other; None for anything more involved."""
    ends: dict[int, tuple[Node, bool]] = {0: (MINUS_INFINITY, False), 1: (INFINITY, False)}
    variables: set[str | None] = set()
    bounded = 0
    for part in parts:
        if part is None or len(part.intervals) != 1:
            return None
        variables.add(part.variable)
        interval = part.intervals[0]
        for side, end in enumerate((interval.low, interval.high)):
            if not infinite(end):
                ends[side] = (end, interval.closed[side])
                bounded += 1
    if len(variables) != 1 or bounded != sum(not infinite(end) for end, _ in ends.values()):
        return None
    (low, at_low), (high, at_high) = ends[0], ends[1]
    return Region((RealInterval(low, high, (at_low, at_high)),), variables.pop())


def _built(name: str, conditions: tuple[Node, ...], scalars: ScalarComparison) -> Region | None:
    """{x | 1 < x < 2}; the condition x ∈ ℝ adds nothing."""
    kept = [each for each in conditions if not _is_real(each, name)]
    if not kept:
        return Region((LINE,))
    found = [region(each, scalars) for each in kept]
    if any(each is None or each.variable not in (None, name) for each in found):
        return None
    result = found[0] if len(found) == 1 else _intersection(found)
    return None if result is None else Region(result.intervals)


def _is_real(node: Node, name: str) -> bool:
    return node == Relation((Symbol(name), NamedSet("R")), ("∈",))


def _relation(node: Relation, scalars: ScalarComparison) -> Region | None:
    """An inequality or chain of them, linear in one variable."""
    if node.operators == ("∈",) and isinstance(node.operands[0], Symbol):
        inside = region(node.operands[1], scalars)
        return None if inside is None else Region(inside.intervals, node.operands[0].name)
    if not all(operator in _INEQUALITIES for operator in node.operators):
        return None
    plain = without_absolute(node)
    if plain is not None:
        return region(plain, scalars)
    links = [
        _half_line(left, operator, right, scalars)
        for left, operator, right in zip(
            node.operands, node.operators, node.operands[1:], strict=False
        )
    ]
    if len(links) == 1:
        return links[0]
    return _intersection(links)


def _half_line(left: Node, operator: str, right: Node, scalars: ScalarComparison) -> Region | None:
    """One inequality solved for its only variable, which stands to the first power."""
    if isinstance(left, Symbol) and infinite(right):
        return _bounded(left.name, operator, right)
    if isinstance(right, Symbol) and infinite(left):
        return _bounded(right.name, _MIRRORED[operator], left)
    if isinstance(left, Symbol) and _constant(right):
        return _bounded(left.name, operator, right)
    if isinstance(right, Symbol) and _constant(left):
        return _bounded(right.name, _MIRRORED[operator], left)
    solved = solve_linear(left, right, scalars)
    if solved is None:
        return None
    name, negative, boundary = solved
    return _bounded(name, _MIRRORED[operator] if negative else operator, boundary)


def _constant(node: Node) -> bool:
    """Whether a node is a number, of whatever kind."""
    return rational(node) is not None or not symbols(node)


def _bounded(name: str, operator: str, end: Node) -> Region:
    below = RealInterval(MINUS_INFINITY, end, (False, operator == "≤"))
    above = RealInterval(end, INFINITY, (operator == "≥", False))
    if operator == "≠":
        return Region((below, above), name)
    return Region((below if operator in "<≤" else above,), name)


def solve_linear(
    left: Node, right: Node, scalars: ScalarComparison
) -> tuple[str, bool, Node] | None:
    """The only variable of left = right: its name, the sign of its factor, its value.

    The sign is given as whether the factor is negative. None unless the variable stands to the
    first power with a rational factor.
    """
    try:
        first, second = scalars.algebra.value(left), scalars.algebra.value(right)
    except Unreadable:
        return None
    difference = scalars.field.add(first, scalars.field.negate(second))
    if not difference.whole:
        return None
    names = {name for key in difference.above for name, _ in key if name[0] == "v"}
    if len(names) != 1:
        return None
    name = names.pop()
    alone = ((name, Fraction(1)),)
    rest = {key: factor for key, factor in difference.above.items() if key != alone}
    if alone not in difference.above or any(each[0] in "vscplf" for key in rest for each, _ in key):
        return None
    factor = difference.above[alone]
    boundary = {key: -value / factor for key, value in rest.items()}
    return name[1:], factor < 0, _as_node(scalars.field.polynomial(boundary))


def _as_node(value: Quotient) -> Node:
    """A number made of roots and constants as a tree, like the ends that are written."""
    exact = number_of(value)
    if exact is not None:
        return Number(exact)
    terms: list[Node] = []
    for monomial, factor in value.above.items():
        factors: list[Node] = [Number(factor)]
        for name, exponent in monomial:
            base: Node = Number(Fraction(int(name[1:]))) if name[0] == "r" else Constant(name[1:])
            factors.append(Power(base, Number(Fraction(exponent))))
        terms.append(Product(tuple(factors)))
    return Sum(tuple(terms))


# ---- comparing


End = tuple[int, Fraction, int]
"""An end in order: the sign of an infinity, the value, and -1, 0 or 1 for just below, at, above."""


def _canonical(given: Region) -> tuple[tuple[End, End], ...] | None:
    """Sorted, merged intervals when every end is rational or infinite; None otherwise."""
    spans: list[tuple[End, End]] = []
    for interval in given.intervals:
        low = _end(interval.low, 0 if interval.closed[0] else 1)
        high = _end(interval.high, 0 if interval.closed[1] else -1)
        if low is None or high is None:
            return None
        if low <= high:
            spans.append((low, high))
    spans.sort()
    merged: list[tuple[End, End]] = []
    for low, high in spans:
        if merged and _touch(merged[-1][1], low):
            merged[-1] = (merged[-1][0], max(merged[-1][1], high))
        else:
            merged.append((low, high))
    return tuple(merged)


def _touch(high: End, low: End) -> bool:
    """Whether nothing lies between the end of one interval and the start of the next."""
    return low <= high or (low[:2] == high[:2] and low[2] - high[2] == 1)


def _end(node: Node, side: int) -> End | None:
    sign = infinite(node)
    if sign:
        return sign, Fraction(0), 0
    value = rational(node)
    return None if value is None else (0, value, side)


def _pairwise(
    first: tuple[RealInterval, ...], second: tuple[RealInterval, ...], scalars: ScalarComparison
) -> Finding:
    """Intervals matched one to one; without ordered ends only single ones are found different."""
    if len(first) == len(second) == 1:
        return _interval(first[0], second[0], scalars)
    left = list(second)
    for interval in first:
        match = next((each for each in left if _interval(interval, each, scalars).equal), None)
        if match is None:
            return unknown("interval", "the intervals could not be matched one to one")
        left.remove(match)
    if left:
        return unknown("interval", "the intervals could not be matched one to one")
    return same("interval", "the same intervals")


def _interval(first: RealInterval, second: RealInterval, scalars: ScalarComparison) -> Finding:
    ends = [
        scalars.compare(first.low, second.low),
        scalars.compare(first.high, second.high),
    ]
    for finding in ends:
        if finding.different:
            return differ("interval", f"an end differs: {finding.reason}")
    if first.closed != second.closed:
        return differ("interval", "an end belongs to one side only")
    for finding in ends:
        if not finding.equal:
            return finding
    return same("interval", "the same ends")
