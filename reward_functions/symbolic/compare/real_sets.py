"""Sets of real numbers: intervals, their unions, and inequalities in one variable.

A `Region` is what `x > 2`, `x ∈ (2, ∞)` and `(2, ∞)` have in common. Two of them with rational ends
are compared as sets; with other ends, interval by interval.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from reward_functions.symbolic.budget import Unreadable
from reward_functions.symbolic.compare.absolute import without_absolute
from reward_functions.symbolic.compare.interval_sets import (
    INFINITY,
    LINE,
    MINUS_INFINITY,
    RealInterval,
    closed_intervals,
    complement,
    integers,
    intersection,
    order,
    points,
)
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
from reward_functions.symbolic.expr.record import changed, record
from reward_functions.symbolic.verdict import Finding, differ, same, unknown

if TYPE_CHECKING:
    from collections.abc import Sequence

_MIRRORED: Final = {"<": ">", "≤": "≥", ">": "<", "≥": "≤", "≠": "≠", "=": "="}
_INEQUALITIES: Final = frozenset("<≤>≥≠")


@record
class Region:
    """A union of intervals, of the values of a variable where one is named.

    Where there is a `domain` (ℤ, ℚ), only the numbers of it that lie in them.
    """

    intervals: tuple[RealInterval, ...]
    variable: str | None = None
    domain: str = ""


def region(node: Node, scalars: ScalarComparison, name: str = "") -> Region | None:  # noqa: C901 - kinds of nodes
    """The real set that a tree states, or None when it states none that is understood.

    Conditions are on the variable of a `name`; without one, on the only variable in them.
    """
    match node:
        case Bracket(left, (low, high), right) if left in "([" and right in ")]":
            return Region((RealInterval(low, high, (left == "[", right == "]")),))
        case NamedSet(kind) if kind in _REALS:
            return Region(_REALS[kind])
        case NamedSet("Z" | "Q" as kind):
            return Region((LINE,), domain=kind)
        case NamedSet("Z+" | "N0" as kind):
            return of_kind((LINE,), kind, scalars)
        case Braces(items):
            return Region(tuple(RealInterval(item, item, (True, True)) for item in items))
        case Union(parts, minus):
            return _difference(parts, scalars) if minus else _union(parts, scalars, name)
        case Listing(items, word):
            return _listed(items, word, scalars, name)
        case Relation():
            return _relation(node, scalars, name)
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
        case Union() | BuiltSet():
            return True
        case NamedSet(kind):
            return kind in _REALS or kind in ("Z+", "N0")
    return False


def compare_regions(first: Region, second: Region, scalars: ScalarComparison) -> Finding:
    """Whether two regions are the same set, of the same variable where both name one."""
    if first.variable and second.variable and first.variable != second.variable:
        return differ("names", f"{first.variable} is not {second.variable}")
    if first.domain != second.domain:
        if first.intervals == second.intervals == (LINE,):
            return differ("members", "the sets differ")
        return unknown("members", "the sets hold numbers of another kind")
    scalars.of_parts = True
    ends = order((*first.intervals, *second.intervals), scalars)
    alike = ends is not None and ends.spans(first.intervals) == ends.spans(second.intervals)
    if alike:
        return same("interval", "the same set of real numbers")
    if ends is not None and all(place == rational(end) for end, place in ends.places.items()):
        return differ("interval", "the sets of real numbers differ")
    return _pairwise(first.intervals, second.intervals, scalars)


# ---- from trees to intervals


def _listed(
    items: tuple[Node, ...], word: str, scalars: ScalarComparison, name: str
) -> Region | None:
    """Conditions with a word between them; x ∈ ℝ beside others that are on x adds nothing."""
    real = {each for item in items for each in symbols(item) if _kind_of(item, each)}
    if word != "or" and len(real) == 1 and all(isinstance(item, Relation) for item in items):
        found = _built(variable := real.pop(), items, scalars)
        return None if found is None else changed(found, variable=variable)
    if word == "or":
        return _union(items, scalars, name)
    excluding = any(isinstance(item, Relation) and item.operators == ("≠",) for item in items)
    word = "and" if excluding else word
    return _intersection([region(item, scalars, name) for item in items], scalars) if word else None


def _union(parts: tuple[Node, ...], scalars: ScalarComparison, name: str) -> Region | None:
    regions = [region(part, scalars, name) for part in parts]
    found = [each for each in regions if each is not None and not each.domain]
    names = {each.variable for each in found} - {None}
    if len(found) < len(parts) or len(names) > 1:
        return None
    intervals = tuple(interval for each in found for interval in each.intervals)
    return Region(intervals, names.pop() if names else None)


def _difference(parts: tuple[Node, ...], scalars: ScalarComparison) -> Region | None:
    """The first of some sets without what lies in the others."""
    regions = [region(part, scalars) for part in parts]
    found = [each for each in regions if each is not None and not each.domain]
    if len(found) < len(parts):
        return None
    if found[0].intervals == (LINE,) and [len(each.intervals) for each in found] == [1, 1]:
        taken = found[1].intervals[0]
        if taken.low == taken.high:
            return _without((taken.low,))
    ends = order([interval for each in found for interval in each.intervals], scalars)
    if ends is None:
        return None
    first, *others = [ends.spans(each.intervals) for each in found]
    return Region(ends.intervals(intersection([first, *map(complement, others)])))


def _without(points: tuple[Node, ...]) -> Region:
    """The real line without points in ascending order."""
    ends = (MINUS_INFINITY, *points, INFINITY)
    return Region(tuple(RealInterval(low, high, (False, False)) for low, high in pairwise(ends)))


def _intersection(parts: Sequence[Region | None], scalars: ScalarComparison) -> Region | None:
    """What lies in every one of some sets of one variable."""
    found = [each for each in parts if each is not None and not each.domain]
    variables = {each.variable for each in found}
    if len(found) < len(parts) or len(variables) != 1:
        return None
    variable = variables.pop()
    ends = order([interval for each in found for interval in each.intervals], scalars)
    if ends is None:
        return _between(found, variable)
    cut = intersection([ends.spans(each.intervals) for each in found])
    return Region(ends.intervals(cut), variable)


def _between(parts: Sequence[Region], variable: str | None) -> Region | None:
    """One half-line in each direction, cut with the other; None for anything more involved."""
    ends: dict[int, tuple[Node, bool]] = {0: (MINUS_INFINITY, False), 1: (INFINITY, False)}
    bounded = 0
    for part in parts:
        if len(part.intervals) != 1:
            return None
        interval = part.intervals[0]
        for side, end in enumerate((interval.low, interval.high)):
            if not infinite(end):
                ends[side] = (end, interval.closed[side])
                bounded += 1
    if bounded != sum(not infinite(end) for end, _ in ends.values()):
        return None
    (low, at_low), (high, at_high) = ends[0], ends[1]
    return Region((RealInterval(low, high, (at_low, at_high)),), variable)


def _built(name: str, conditions: Sequence[Node], scalars: ScalarComparison) -> Region | None:
    """{x | 1 < x < 2}; the condition x ∈ ℝ adds nothing, x ∈ ℤ leaves whole numbers."""
    kinds = {kind for each in conditions if (kind := _kind_of(each, name))} - {"R"}
    kept = [each for each in conditions if not _kind_of(each, name)]
    found = [region(each, scalars, name) for each in kept] or [Region((LINE,))]
    if any(each is None or each.variable not in (None, name) for each in found):
        return None
    result = found[0] if len(found) == 1 else _intersection(found, scalars)
    if result is None or result.domain or len(kinds) > 1:
        return None
    return of_kind(result.intervals, kinds.pop() if kinds else "", scalars)


def of_kind(
    intervals: tuple[RealInterval, ...], kind: str, scalars: ScalarComparison
) -> Region | None:
    """The numbers of a kind in some intervals. Whether 0 is a natural number is not settled."""
    if kind in ("", "Q", "Q+", "C"):
        return None if kind in ("C", "Q+") else Region(intervals, domain=kind)
    whole = integers(intervals, scalars)
    if whole is None:
        return None
    start = _NATURAL.get(kind)
    if start is not None:
        whole = intersection([whole, [((0, start, 0), (1, start * 0, 0))]])
        if kind == "N" and whole and whole[0][0] == (0, Fraction(0), 0):
            return None
    listed = points(whole)
    if listed is not None:
        return Region(listed)
    return Region(closed_intervals(whole), domain="Z")


_NATURAL: Final = {"N": Fraction(0), "N0": Fraction(0), "Z+": Fraction(1)}
_ZERO: Final = Number(Fraction(0))
_POSITIVE: Final = RealInterval(_ZERO, INFINITY, (False, False))
_NEGATIVE: Final = RealInterval(MINUS_INFINITY, _ZERO, (False, False))
_REALS: Final = {
    "R": (LINE,),
    "R+": (_POSITIVE,),
    "R-": (_NEGATIVE,),
    "R*": (_NEGATIVE, _POSITIVE),
    "R0+": (changed(_POSITIVE, closed=(True, False)),),
    "R0-": (changed(_NEGATIVE, closed=(False, True)),),
}
"""The real numbers, and the parts of them that have a name."""


def _kind_of(node: Node, name: str) -> str:
    """ℝ of x ∈ ℝ, and nothing of any other condition."""
    match node:
        case Relation((Symbol(each), NamedSet(kind)), ("∈",)) if each == name:
            return "" if kind in _REALS and kind != "R" else kind
    return ""


def _relation(node: Relation, scalars: ScalarComparison, name: str) -> Region | None:
    """An inequality or chain of them, linear in one variable."""
    if node.operators == ("∈",) and isinstance(node.operands[0], Symbol):
        inside = region(node.operands[1], scalars)
        return None if inside is None else changed(inside, variable=node.operands[0].name)
    if node.operators != ("=",) and not _INEQUALITIES.issuperset(node.operators):
        return None
    plain = without_absolute(node)
    if plain is not None:
        return region(plain, scalars, name)
    links = [
        _half_line(left, operator, right, scalars, name)
        for left, operator, right in zip(
            node.operands, node.operators, node.operands[1:], strict=False
        )
    ]
    if len(links) == 1:
        return links[0]
    return _intersection(links, scalars)


def _half_line(
    left: Node, operator: str, right: Node, scalars: ScalarComparison, name: str
) -> Region | None:
    """One inequality solved for its variable, which stands alone or is the only one."""
    if name and left == Symbol(name) and name not in symbols(right):
        return _bounded(name, operator, right)
    if name and right == Symbol(name) and name not in symbols(left):
        return _bounded(name, _MIRRORED[operator], left)
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
    variable, negative, boundary = solved
    return _bounded(variable, _MIRRORED[operator] if negative else operator, boundary)


def _constant(node: Node) -> bool:
    """Whether a node is a number, of whatever kind."""
    return rational(node) is not None or not symbols(node)


def _bounded(name: str, operator: str, end: Node) -> Region:
    if operator == "=":
        return Region((RealInterval(end, end, (True, True)),), name)
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
