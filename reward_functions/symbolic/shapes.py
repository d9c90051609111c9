"""Answers with parts: lists, sets, points, regions, matrices, relations, ratios.

The comparison follows the reference's shape. Order counts in points and matrices and nowhere else;
every member is required and none extra; a pair in brackets is a point or an interval, whichever the
other side shows.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Final

from reward_functions.symbolic.display import rendered
from reward_functions.symbolic.limits import Unreadable
from reward_functions.symbolic.names import in_order_of_names
from reward_functions.symbolic.polynomials import names_of, number_of
from reward_functions.symbolic.rational import rational
from reward_functions.symbolic.regions import (
    compare_regions,
    region,
    solve_linear,
    states_region,
)
from reward_functions.symbolic.tree import (
    Apply,
    Braces,
    Bracket,
    BuiltSet,
    Choice,
    Clock,
    Congruence,
    Derivative,
    Integral,
    Iterated,
    Limit,
    Listing,
    Matrix,
    NamedSet,
    Node,
    Number,
    Piecewise,
    Product,
    Ratio,
    Relation,
    Symbol,
    Union,
)
from reward_functions.symbolic.verdict import Finding, differ, same, unknown
from reward_functions.symbolic.walking import operations

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reward_functions.symbolic.polynomials import Quotient
    from reward_functions.symbolic.values import Values

_COMPARISON_COST: Final = 1
"""Steps of work that one comparison of two members is worth."""

_NO_VALUES: Final = (
    Listing, Braces, Bracket, Union, BuiltSet, NamedSet, Matrix, Relation, Ratio, Clock,
    Choice, Congruence, Piecewise,
)  # fmt: skip
Branch = tuple[Node, Node | None]


class Shapes:
    """Comparisons of whole answers, with their single values in `values`."""

    def __init__(self, values: Values) -> None:
        self.values = values

    def compare(self, reference: Node, candidate: Node) -> Finding:
        """Whether two answers are equal in shape and in every part."""
        if reference == candidate:
            return same("same expression", "both read as the same expression")
        if isinstance(reference, Relation) or isinstance(candidate, Relation):
            found = self.relations(reference, candidate)
            if found is not None:
                return found
        if states_region(reference) or states_region(candidate):
            return self.regions(reference, candidate)
        if not isinstance(reference, _NO_VALUES) and not isinstance(candidate, _NO_VALUES):
            return self.values.compare(reference, candidate)
        return self.parts(reference, candidate)

    def parts(self, reference: Node, candidate: Node) -> Finding:
        """Two answers of which at least one has parts."""
        return (
            self.of_one_kind(reference, candidate)
            or self.with_list(reference, candidate)
            or self.with_value(reference, candidate)
            or unknown("shape", f"{_name(reference)} against {_name(candidate)}")
        )

    def of_one_kind(  # noqa: C901 - one case per kind of node
        self, reference: Node, candidate: Node
    ) -> Finding | None:
        """Answers with parts of the same nature."""
        match reference, candidate:
            case Bracket(), Bracket():
                return self.points(reference, candidate)
            case Matrix(rows), Matrix(others):
                return self.matrices(rows, others)
            case (Matrix(rows), Bracket(_, items, _)) | (Bracket(_, items, _), Matrix(rows)):
                return self.vector(rows, items)
            case ((Listing(items) | Braces(items)), (Listing(others) | Braces(others))):
                return self.members(items, others)
            case Ratio(parts), Ratio(others):
                return self.ratios(parts, others)
            case Clock(), Clock():
                return clocks(reference, candidate)
            case Piecewise(branches), Piecewise(others):
                return self.piecewise(branches, others)
            case Congruence(), Congruence():
                return self.congruences(reference, candidate)
            case Clock(minutes, ""), Ratio():
                return self.compare(_on_the_dial(minutes), candidate)
            case Ratio(), Clock(minutes, ""):
                return self.compare(reference, _on_the_dial(minutes))
        return None

    def with_list(self, reference: Node, candidate: Node) -> Finding | None:
        """A list or set against something else: a point without brackets, or the only member."""
        match reference, candidate:
            case (Bracket("[", (_, _), "]"), Braces()) | (Braces(), Bracket("[", (_, _), "]")):
                return differ("set", "an interval is no finite set")
            case (Bracket(_, items, _), Listing(others)) if not _has_points(others):
                return self.assignments((reference,), others) or self.unbracketed(items, others)
            case (Listing(items), Bracket(_, others, _)) if not _has_points(items):
                return self.assignments(items, (candidate,)) or self.unbracketed(items, others)
            case ((Listing(items) | Braces(items)), _):
                return self.members(items, (candidate,))
            case _, (Listing(items) | Braces(items)):
                return self.members((reference,), items)
        return None

    def with_value(self, reference: Node, candidate: Node) -> Finding | None:
        """A point or matrix against a single value; a matrix of one entry is that entry."""
        match reference, candidate:
            case Matrix(((only,),)), _:
                return self.compare(only, candidate)
            case ((Bracket() | Matrix()), other) | (other, (Bracket() | Matrix())):
                if _plain_value(other):
                    return differ("shape", "a point is not a single value")
        return None

    # ---- in order

    def points(self, reference: Bracket, candidate: Bracket) -> Finding:
        """Points entry by entry; of two entries they may be an interval, whose ends count."""
        if len(reference.items) != len(candidate.items):
            return differ("tuple", "the numbers of entries differ")
        found = self.in_order("tuple", reference.items, candidate.items)
        mine, theirs = (reference.left, reference.right), (candidate.left, candidate.right)
        if len(reference.items) == 2 and mine != theirs and "<" not in (*mine, *theirs):  # noqa: PLR2004
            return differ("interval", "the brackets differ: an end belongs to one side only")
        return found

    def in_order(self, rule: str, items: Sequence[Node], others: Sequence[Node]) -> Finding:
        """Entry by entry: one difference decides, then one doubt."""
        findings = []
        for item, other in zip(items, others, strict=True):
            finding = self.compare(item, other)
            if finding.different:
                return differ(rule, f"an entry differs: {finding.reason}")
            findings.append(finding)
        doubt = next((finding for finding in findings if not finding.equal), None)
        return doubt or same(rule, "equal entry by entry")

    def unbracketed(self, items: Sequence[Node], others: Sequence[Node]) -> Finding:
        """A point that lost its brackets, or a list that got some: equal in the same order only."""
        if len(items) != len(others):
            return differ("tuple", "the numbers of entries differ")
        found = self.in_order("tuple", items, others)
        return found if found.equal else unknown("tuple", "a point against a list")

    def matrices(self, rows: Sequence[Sequence[Node]], others: Sequence[Sequence[Node]]) -> Finding:
        """Matrices of one format entry by entry; a row is not a column."""
        if len(rows) != len(others) or len(rows[0]) != len(others[0]):
            return differ("matrix", "the formats differ")
        return self.in_order(
            "matrix",
            [entry for row in rows for entry in row],
            [entry for row in others for entry in row],
        )

    def vector(self, rows: Sequence[Sequence[Node]], items: Sequence[Node]) -> Finding:
        """A tuple equals a column or a row of the same entries."""
        entries = [entry for row in rows for entry in row]
        if min(len(rows), len(rows[0])) != 1 or len(entries) != len(items):
            return differ("matrix", "the formats differ")
        return self.in_order("matrix", entries, items)

    def ratios(self, parts: Sequence[Node], others: Sequence[Node]) -> Finding:
        """Ratios are equal in proportion: 6:8 is 3:4."""
        if len(parts) != len(others):
            return differ("ratio", "the numbers of terms differ")
        for place in range(1, len(parts)):
            found = self.values.compare(
                Product((parts[0], others[place])), Product((others[0], parts[place]))
            )
            if not found.equal:
                return differ("ratio", "other proportions") if found.different else found
        return same("ratio", "the same proportions")

    # ---- under conditions

    def piecewise(self, branches: Sequence[Branch], others: Sequence[Branch]) -> Finding:
        """Definitions by cases: the same values under the same conditions, in any order."""
        if len(branches) != len(others):
            return unknown("cases", "the numbers of cases differ")
        left = list(others)
        for value, condition in branches:
            place = next(
                (place for place, other in enumerate(left) if self.agree(condition, other[1])), None
            )
            if place is None:
                return unknown("cases", "a condition has no equal on the other side")
            found = self.compare(value, left.pop(place)[0])
            if not found.equal:
                return differ("cases", "another value in a case") if found.different else found
        return same("cases", "the same values under the same conditions")

    def agree(self, condition: Node | None, other: Node | None) -> bool:
        """Whether two conditions are the same; that of "otherwise" is None."""
        if condition is None or other is None:
            return condition is other
        return self.compare(condition, other).equal

    def congruences(self, reference: Congruence, candidate: Congruence) -> Finding:
        """Congruences of one value: of the same modulus, equal when the rests are."""
        moduli = self.values.compare(reference.modulus, candidate.modulus)
        lefts = self.values.compare(reference.left, candidate.left)
        if not (moduli.equal and lefts.equal):
            return unknown("congruence", "congruences of other forms")
        numbers = [rational(each.right) for each in (reference, candidate)]
        modulus = rational(reference.modulus)
        if modulus is None or None in numbers:
            return self.values.compare(reference.right, candidate.right)
        if not modulus:
            raise Unreadable("a division by zero")
        mine, theirs = (number for number in numbers if number is not None)
        if (mine - theirs) % modulus:
            return differ("congruence", "other rests")
        return same("congruence", "the same rest")

    # ---- in any order

    def members(self, items: Sequence[Node], others: Sequence[Node]) -> Finding:
        """Lists and sets: each member has its equal on the other side, and none is left over."""
        named = self.assignments(items, others)
        if named is not None:
            return named
        left = list(others)
        missing = []
        for item in items:
            place, _ = self.find(item, left)
            if place is not None:
                left.pop(place)
            else:
                missing.append(item)
        for alone, side in ((missing, others), (left, items)):
            for item in alone:
                place, doubt = self.find(item, side)
                if place is None:  # else it only repeats a member that was matched before
                    return doubt or differ("set", "a member has no equal on the other side")
        return same("set", "the same members")

    def find(self, item: Node, among: Sequence[Node]) -> tuple[int | None, Finding | None]:
        """The place of an equal member, or the first doubt there is about one."""
        doubt = None
        self.values.field.work.spend(_COMPARISON_COST * len(among))
        for place, other in enumerate(among):
            finding = self.compare(item, other)
            if finding.equal:
                return place, None
            if not finding.different and doubt is None:
                doubt = finding
        return None, doubt

    # ---- names and relations

    def assignments(self, items: Sequence[Node], others: Sequence[Node]) -> Finding | None:
        """X = 2, y = -1: values by name; against bare values, in alphabetical order of the names.

        None when neither side names its values, or names one several times (its solutions).
        """
        mine, theirs = _by_name(items), _by_name(others)
        if mine is None and theirs is None:
            return None
        if mine is not None and theirs is not None:
            if mine.keys() != theirs.keys():
                return differ("names", "other names")
            return self.in_order("names", list(mine.values()), [theirs[name] for name in mine])
        named, bare = (mine, others) if mine is not None else (theirs, items)
        if named is None:
            return None
        if len(bare) == 1 and isinstance(bare[0], Bracket):
            bare = bare[0].items
            if len(bare) != len(named):
                return differ("names", "the numbers of values differ")
            values = [named[name] for name in sorted(named)]
            return self.in_order("names", values, bare)
        if any(isinstance(each, Relation) for each in bare):
            return None
        return self.members(list(named.values()), bare)

    def relations(self, reference: Node, candidate: Node) -> Finding | None:
        """X = 5 is 5 and not y = 5; a chain says its last value, unless it contradicts itself.

        None when the relations are inequalities, which are regions.
        """
        if isinstance(candidate, Relation) and self.contradicts(candidate):
            return differ("chain", "the chain of equations contradicts itself")
        if isinstance(reference, Relation) and _membership(reference):
            return self.compare(reference.operands[1], candidate)
        if isinstance(candidate, Relation) and _membership(candidate):
            return self.compare(reference, candidate.operands[1])
        # An equation that still has to be solved is no answer to a bare value.
        solve = isinstance(reference, Relation) and isinstance(candidate, Relation)
        mine, theirs = self.assigned(reference, solve=solve), self.assigned(candidate, solve=solve)
        if mine is not None and theirs is not None:
            return self.both_named(mine, theirs, reference, candidate)
        if mine is not None and not isinstance(candidate, Relation):
            return self.compare(mine[1], candidate)
        if theirs is not None and not isinstance(reference, Relation):
            return self.compare(reference, theirs[1])
        if _equation(reference) and _equation(candidate):
            return self.equations(reference, candidate)
        if _equation(reference) or _equation(candidate):
            if isinstance(reference, Relation) and isinstance(candidate, Relation):
                return differ("relation", "an equation is no inequality")
            return unknown("relation", "an equation against a value")
        return None

    def both_named(
        self, mine: tuple[str, Node], theirs: tuple[str, Node], reference: Node, candidate: Node
    ) -> Finding:
        """Two assignments: of the same name, or the same equation the other way round."""
        if mine[0] == theirs[0] or {mine[0], theirs[0]} == {"y", _function_name(mine, theirs)}:
            return self.compare(mine[1], theirs[1])
        if not isinstance(reference, Relation) or not isinstance(candidate, Relation):
            return unknown("names", "other names")
        if mine[0][:2] == theirs[0][:2] and "(" in mine[0][1:2]:
            return unknown("names", "one function of differently named variables")
        found = self.equations(reference, candidate)
        if found.equal or len(mine[0]) > 1 or len(theirs[0]) > 1:
            return found
        return (
            found
            if not _constant_value(mine[1])
            else differ("names", f"{mine[0]} is not {theirs[0]}")
        )

    def assigned(self, node: Node, *, solve: bool) -> tuple[str, Node] | None:
        """The name and the value of an assignment: x = 5, (a, b) = (3, 2), or 3x = 15 solved."""
        if not isinstance(node, Relation) or set(node.operators) - {"=", "≈"}:
            return None
        name = _name_of(node.operands[0])
        if name is not None:
            return name, _stated_value(node)
        last = _name_of(node.operands[-1])
        if last is not None and len(node.operands) == 2:  # noqa: PLR2004 - 5 = x
            return last, node.operands[0]
        if solve and len(node.operands) == 2 and rational(node.operands[1]) is not None:  # noqa: PLR2004
            solved = solve_linear(node.operands[0], node.operands[1], self.values)
            return None if solved is None else (solved[0], solved[2])
        return None

    def contradicts(self, chain: Relation) -> bool:
        """Whether two numbers that a chain of equations calls equal are not."""
        if set(chain.operators) != {"="}:
            return False
        numbers = [value for value in map(self.number, chain.operands) if value is not None]
        return any(self.values.compare(numbers[0], other).different for other in numbers[1:])

    def number(self, node: Node) -> Node | None:
        """The node if it is a rational number or works out to one exactly, else None."""
        if rational(node) is not None:
            return node
        if not operations(node):
            return None
        try:
            return node if number_of(self.values.algebra.value(node)) is not None else None
        except Unreadable:
            return None

    def equations(self, reference: Node, candidate: Node) -> Finding:
        """Equations are equal when their sides differ by proportional polynomials."""
        first, second = self.residue(reference), self.residue(candidate)
        if first is None or second is None:
            return unknown("equation", "an equation that is not read as one polynomial")
        if self.proportional(first, second):
            return same("equation", "the same equation up to a factor")
        linear = _linear(first) and _linear(second)
        if linear:
            return differ("equation", "the linear equations differ")
        return unknown("equation", "the equations are not proportional")

    def residue(self, node: Node) -> Quotient | None:
        """Left side minus right side; None for a chain or for sides that are no values."""
        if not isinstance(node, Relation) or len(node.operands) != 2:  # noqa: PLR2004
            return None
        try:
            left, right = (self.values.algebra.value(side) for side in node.operands)
        except Unreadable:
            return None
        return self.values.field.add(left, self.values.field.negate(right))

    def proportional(self, first: Quotient, second: Quotient) -> bool:
        """Whether two differences have the same zeros because one is a multiple of the other."""
        field = self.values.field
        if not any(name[0] == "v" for name in names_of(first)):
            return False  # 6 = 5 and 7 = 5 are no equations in anything
        if not (first.whole and second.whole and first.above and second.above):
            return not field.same(first, second) or not field.same(first, field.negate(second))
        key = next(iter(first.above))
        if key not in second.above:
            return False
        scale = first.above[key] / second.above[key]
        scaled = {each: value * scale for each, value in second.above.items()}
        return scaled == first.above

    # ---- regions

    def regions(self, reference: Node, candidate: Node) -> Finding:
        """Intervals, unions and inequalities as the sets of reals that they are."""
        first, second = region(reference, self.values), region(candidate, self.values)
        if first is not None and second is not None:
            return compare_regions(first, second, self.values)
        match reference, candidate:
            case NamedSet(), NamedSet():
                return differ("set", "other sets")
            case Union(parts, minus), Union(others, other_minus) if minus == other_minus:
                if not minus:
                    found = self.members(parts, others)
                    return found if found.equal else unknown("union", "unions are not decided")
                return (
                    self.in_order("union", parts, others)
                    if len(parts) == len(others)
                    else (unknown("union", "set differences of other forms"))
                )
            case Relation(), Relation():
                return self.inequalities(reference, candidate)
            case BuiltSet(), BuiltSet():
                if in_order_of_names(reference) == in_order_of_names(candidate):
                    return same("set", "the same condition on a variable of another name")
                return unknown("set", "sets by conditions are not decided")
        if _plain_value(reference) or _plain_value(candidate):
            return differ("shape", "a set of numbers is not a single value")
        return unknown("shape", f"{_name(reference)} against {_name(candidate)}")

    def inequalities(self, reference: Relation, candidate: Relation) -> Finding:
        """Inequalities in several variables: the same up to a positive factor."""
        first, second = _one_way(reference), _one_way(candidate)
        if first is None or second is None or first.operators != second.operators:
            return unknown("inequality", "the inequalities are not of one form")
        mine, theirs = self.residue(first), self.residue(second)
        if mine is not None and theirs is not None and self.proportional(mine, theirs):
            key = next(iter(mine.above), ())
            if mine.above.get(key, 1) * theirs.above.get(key, 1) > 0:
                return same("inequality", "the same inequality up to a positive factor")
        return unknown("inequality", "the inequalities are not proportional")


def _has_points(items: Sequence[Node]) -> bool:
    return any(isinstance(item, Bracket) for item in items)


def _on_the_dial(minutes: int) -> Ratio:
    """4:30 as the ratio that it may be."""
    hours, rest = divmod(minutes, 60)
    return Ratio((Number(Fraction(hours)), Number(Fraction(rest))))


_HALF_DAY: Final = 12 * 60


def clocks(reference: Clock, candidate: Clock) -> Finding:
    """Times of day; a missing a.m. or p.m. agrees with both. Two bare times may also be ratios."""
    if reference.minutes % _HALF_DAY != candidate.minutes % _HALF_DAY:
        if reference.half or candidate.half:
            return differ("clock", "other times")
        return unknown("clock", "other times, or ratios of other terms")
    if reference.half and candidate.half and reference.half != candidate.half:
        return differ("clock", "other halves of the day")
    return same("clock", "the same time")


_MIRRORED: Final = {">": "<", "≥": "≤"}


def _one_way(node: Relation) -> Relation | None:
    """A single inequality with its smaller side on the left."""
    if len(node.operators) != 1 or node.operators[0] not in "<≤>≥≠":
        return None
    operator = node.operators[0]
    if operator in _MIRRORED:
        return Relation((node.operands[1], node.operands[0]), (_MIRRORED[operator],))
    return node


def _by_name(items: Sequence[Node]) -> dict[str, Node] | None:
    """Assignments to different names; None when there is anything else, or a name twice."""
    found: dict[str, Node] = {}
    for item in items:
        if not isinstance(item, Relation) or set(item.operators) - {"=", "≈"}:
            return None
        name = _name_of(item.operands[0])
        if name is None or name in found:
            return None
        found[name] = _stated_value(item)
    return found if len(found) > 1 else None


def _stated_value(node: Relation) -> Node:
    """The value at the end of a chain, or before an approximation of it."""
    if "≈" in node.operators[1:]:
        return node.operands[node.operators.index("≈", 1)]
    return node.operands[-1]


def _name_of(node: Node) -> str | None:
    """The name that an equation gives to a value: x, AB, |AB|, (p, q), A:B or AB/CD.

    In "the limit of … = 1" that is the limit itself.
    """
    match node:
        case Symbol(name):
            return name
        case Bracket(_, items, _) | Ratio(items):
            names = [_name_of(item) for item in items]
            return None if None in names else ",".join(map(str, names))
        case Apply("abs", (Product() | Symbol() as inside,)):
            return _name_of(inside)
        case Derivative(Symbol(name), Symbol(variable), order):
            return f"d{order}{name}/d{variable}"
        case Iterated() | Integral() | Derivative() | Limit():
            return rendered(node)
        case Product(over, under):
            names = [_name_of(each) for each in (*over, *under)]
            if all(name and name[0].isupper() for name in names):
                return "".join(map(str, names))
    return None


def _function_name(mine: tuple[str, Node], theirs: tuple[str, Node]) -> str:
    """The name f(x) among two names, or nothing: y = ... and f(x) = ... say the same."""
    return next((name for name, _ in (mine, theirs) if name.endswith("(x)")), "")


def _membership(node: Relation) -> bool:
    """X ∈ {1, 2}, which states the set."""
    return node.operators == ("∈",) and isinstance(node.operands[1], Braces)


def _equation(node: Node) -> bool:
    return isinstance(node, Relation) and set(node.operators) <= {"=", "≈"}


def _constant_value(node: Node) -> bool:
    return rational(node) is not None


def _plain_value(node: Node) -> bool:
    return not isinstance(node, _NO_VALUES)


def _linear(value: Quotient) -> bool:
    """Whether a polynomial has variables only, to the first power, with rational factors."""
    return value.whole and all(
        len(key) <= 1 and all(name[0] == "v" and power == 1 for name, power in key)
        for key in value.above
    )


def _name(node: Node) -> str:
    return type(node).__name__.lower()
