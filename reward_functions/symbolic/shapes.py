"""Answers with parts: lists, sets, points, regions, matrices, relations, ratios.

The comparison follows the reference's shape. Order counts in points and matrices and nowhere else;
every member is required and none extra; a pair in brackets is a point or an interval, whichever the
other side shows.
"""

from __future__ import annotations

from collections import Counter
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
    Based,
    Braces,
    Bracket,
    BuiltSet,
    Clock,
    Congruence,
    Constant,
    Degrees,
    Derivative,
    Integral,
    Iterated,
    Limit,
    Listing,
    Matrix,
    Measured,
    NamedSet,
    Node,
    Number,
    Percent,
    Piecewise,
    Power,
    Product,
    Ratio,
    Relation,
    Root,
    Sum,
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

_ZERO: Final = Number(Fraction(0))
_TEN: Final = 10

_NO_VALUES: Final = (
    Listing, Braces, Bracket, Union, BuiltSet, NamedSet, Matrix, Relation, Ratio, Clock,
    Congruence, Piecewise,
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
                data = isinstance(reference, Listing) and isinstance(candidate, Listing)
                return self.members(items, others, counted=data)
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
            case (Matrix(rows), Listing(others)) if _is_vector(rows) and not _has_points(others):
                return self.unbracketed(_entries(rows), others)
            case (Listing(items), Matrix(rows)) if _is_vector(rows) and not _has_points(items):
                return self.unbracketed(items, _entries(rows))
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
                if _numeric(other):
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
            return unknown("tuple", "a point against a list of another length")
        found = self.in_order("tuple", items, others)
        return found if found.equal else unknown("tuple", "a point against a list")

    def matrices(self, rows: Sequence[Sequence[Node]], others: Sequence[Sequence[Node]]) -> Finding:
        """Matrices of one format entry by entry; a row is not a column."""
        if len(rows) != len(others) or len(rows[0]) != len(others[0]):
            return differ("matrix", "the formats differ")
        return self.in_order("matrix", _entries(rows), _entries(others))

    def vector(self, rows: Sequence[Sequence[Node]], items: Sequence[Node]) -> Finding:
        """A tuple equals a column or a row of the same entries."""
        entries = _entries(rows)
        if not _is_vector(rows) or len(entries) != len(items):
            return unknown("matrix", "a matrix against a point of another format")
        return self.in_order("matrix", entries, items)

    def ratios(self, parts: Sequence[Node], others: Sequence[Node]) -> Finding:
        """Ratios are equal in proportion: 6:8 is 3:4; of zeros only there is none.

        All terms are measured by the first one that is not zero, which must not be on either side.
        """
        if len(parts) != len(others):
            return differ("ratio", "the numbers of terms differ")
        zeros, other_zeros = self.zeros(parts), self.zeros(others)
        if all(zeros) or all(other_zeros):
            return unknown("ratio", "a ratio of zeros")
        pivot = zeros.index(False)
        if other_zeros[pivot]:
            return differ("ratio", "other proportions")
        for place in range(len(parts)):
            found = self.values.compare(
                Product((parts[pivot], others[place])), Product((others[pivot], parts[place]))
            )
            if not found.equal:
                return differ("ratio", "other proportions") if found.different else found
        return same("ratio", "the same proportions")

    def zeros(self, parts: Sequence[Node]) -> list[bool]:
        """Which of the terms are zero."""
        return [self.values.compare(_ZERO, part).equal for part in parts]

    # ---- under conditions

    def piecewise(self, branches: Sequence[Branch], others: Sequence[Branch]) -> Finding:
        """Definitions by cases: the same values under the same conditions, in any order."""
        if len(branches) != len(others):
            return unknown("cases", "the numbers of cases differ")
        left = list(others)
        for value, condition in branches:
            place = next(
                (
                    place
                    for place, other in enumerate(left)
                    if self.same_condition(condition, other[1])
                ),
                None,
            )
            if place is None:
                return unknown("cases", "a condition has no equal on the other side")
            found = self.compare(value, left.pop(place)[0])
            if not found.equal:
                return differ("cases", "another value in a case") if found.different else found
        return same("cases", "the same values under the same conditions")

    def same_condition(self, condition: Node | None, other: Node | None) -> bool:
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

    def members(
        self, items: Sequence[Node], others: Sequence[Node], *, counted: bool = False
    ) -> Finding:
        """Lists and sets: each member has its equal on the other side, and none is left over.

        A list is a set, so it may repeat its members. When both repeat some (`counted`: and both
        are lists), they are data, which are repeated equally often.
        """
        named = self.assignments(items, others)
        if named is not None:
            return named
        unpaired, left = _unpaired(items, others)
        missing = []
        for item in unpaired:
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
        if counted and (missing or left) and self.repeats(items) and self.repeats(others):
            return unknown("set", "the members are repeated another number of times")
        return same("set", "the same members")

    def repeats(self, items: Sequence[Node]) -> bool:
        """Whether a member is equal to another one."""
        return len(set(map(_key, items))) < len(items) or any(
            self.find(item, items[:place])[0] is not None for place, item in enumerate(items)
        )

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

        A bare list may also follow the order in which the reference states them.

        None when neither side names its values, or names one several times (its solutions).
        """
        if any(isinstance(each, Relation) and self.contradicts(each) for each in others):
            return differ("chain", "a chain of equations contradicts itself")
        mine, theirs = _by_name(items), _by_name(others)
        if mine is None and theirs is None:
            return None
        if mine is not None and theirs is not None:
            if mine.keys() != theirs.keys():
                return differ("names", "other names")
            return self.in_order("names", list(mine.values()), [theirs[name] for name in mine])
        named, bare = (mine, others) if mine is not None else (theirs, items)
        if named is None or any(isinstance(each, Relation) for each in bare):
            return None
        point = len(bare) == 1 and isinstance(bare[0], Bracket)
        if point:
            bare = bare[0].items  # type: ignore[union-attr]
        values: Sequence[Node] = [named[name] for name in sorted(named)]
        if mine is not None and not point and self.agree(list(mine.values()), bare):
            return same("names", "the values in the order of the reference")
        sides = (values, bare) if mine is not None else (bare, values)
        solutions = mine is None and len({name.partition("_")[0] for name in named}) == 1
        return self.ordered(*sides, strictly=point, solutions=solutions)

    def agree(self, items: Sequence[Node], others: Sequence[Node]) -> bool:
        """Whether two lists are equal entry by entry."""
        return len(items) == len(others) and self.in_order("names", items, others).equal

    def ordered(
        self,
        items: Sequence[Node],
        others: Sequence[Node],
        *,
        strictly: bool,
        solutions: bool,
    ) -> Finding:
        """Values in the order of their names against a point, `strictly`, or against a list.

        Under one letter, x_1 = 2, x_2 = -1, they may be the `solutions` that a list asks for.
        """
        if strictly and len(items) != len(others):
            return differ("names", "the numbers of values differ")
        if strictly:
            return self.in_order("names", items, others)
        if self.agree(items, others):
            return same("names", "the values in alphabetical order of the names")
        shuffled = self.members(items, others)
        if solutions or not shuffled.equal:
            return shuffled
        return unknown("names", "the values in another order than the names")

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
        """Whether a chain calls two constants equal that are not, or one a rounding of the other.

        Each constant is compared with the one before it in its run of = and ≈.
        """
        before, rounded = None, False
        for operator, operand in zip(("=", *chain.operators), chain.operands, strict=True):
            if operator not in ("=", "≈"):
                before = None
            rounded = rounded or operator == "≈"
            if not (_constant(operand) or self.worked_out(operand)):
                continue
            if before is not None and (
                self.not_rounded(before, operand) if rounded else self.apart(before, operand)
            ):
                return True
            before, rounded = operand, False
        return False

    def apart(self, first: Node, second: Node) -> bool:
        """Whether two constants are proved different, even if one is a rounding of the other.

        Other units prove nothing here: 5 m = 500 cm.
        """
        findings = (self.values.compare(first, second), self.values.compare(second, first))
        return all(found.different and found.rule != "units" for found in findings)

    def not_rounded(self, value: Node, rounding: Node) -> bool:
        """Whether a decimal or integer is proved no rounding of a constant."""
        if isinstance(value, Measured) and isinstance(rounding, Measured):
            return value.unit == rounding.unit and self.not_rounded(value.body, rounding.body)
        if not isinstance(rounding, Number):
            return False
        if rounding.unit is None and rounding.value.denominator != 1:
            return False  # a fraction
        unit = _last_place(rounding)
        exact = rational(value)
        if exact is not None:
            precision = max(unit, _last_place(value)) if isinstance(value, Number) else unit
            return abs(exact - rounding.value) * 2 > precision
        if abs(rounding.value) < _TEN * unit:
            return False  # which the rule for decimals takes for an exact value
        return self.values.compare(Number(rounding.value, unit), value).different

    def worked_out(self, node: Node) -> bool:
        """Whether an operation of calculus works out to a rational number exactly."""
        if not operations(node):
            return False
        try:
            return number_of(self.values.algebra.value(node)) is not None
        except Unreadable:
            return False

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
            opposite = field.negate(second)
            return not field.difference(first, second) or not field.difference(first, opposite)
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
        if _numeric(reference) or _numeric(candidate):
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


def _entries(rows: Sequence[Sequence[Node]]) -> list[Node]:
    return [entry for row in rows for entry in row]


def _is_vector(rows: Sequence[Sequence[Node]]) -> bool:
    return min(len(rows), len(rows[0])) == 1


def _key(node: Node) -> Fraction | Node:
    """The exact value of a number, else the tree: equal keys are equal members."""
    known = None if isinstance(node, Percent) else rational(node)
    return node if known is None else known


def _unpaired(items: Sequence[Node], others: Sequence[Node]) -> tuple[list[Node], list[Node]]:
    """What is left of two lists once members with equal keys are paired off, in linear time."""
    mine, theirs = list(map(_key, items)), list(map(_key, others))
    common = Counter(mine) & Counter(theirs)
    return _beyond(items, mine, common), _beyond(others, theirs, common)


def _beyond(
    items: Sequence[Node], keys: Sequence[Fraction | Node], paired: Counter[Fraction | Node]
) -> list[Node]:
    counts = Counter(paired)
    left: list[Node] = []
    for item, key in zip(items, keys, strict=True):
        if counts[key]:
            counts[key] -= 1
        else:
            left.append(item)
    return left


def _constant(node: Node) -> bool:
    """Whether a tree is a number without variables; a lone e or i is the name of something."""
    match node:
        case Constant(name):
            return name not in ("e", "i")
        case Measured(body, _):
            return _constant(body)
    return _numeric(node)


def _numeric(node: Node) -> bool:
    match node:
        case Number() | Constant() | Based():
            return True
        case Sum(parts) | Product(parts, ()):
            return all(map(_numeric, parts))
        case Product(over, under):
            return all(map(_numeric, (*over, *under)))
        case Power(first, second) | Root(first, second):
            return _numeric(first) and _numeric(second)
        case Percent(body) | Degrees(body):
            return _numeric(body)
        case Apply(name, arguments):
            return len(name) > 1 and all(map(_numeric, arguments))
    return False


def _last_place(literal: Number) -> Fraction:
    """The worth of the last digit that a literal shows: 1/100 of 2.50, 100 of 1200."""
    if literal.unit is not None:
        return literal.unit
    place = Fraction(1)
    while literal.value and literal.value % (place * _TEN) == 0:
        place *= _TEN
    return place


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


def _linear(value: Quotient) -> bool:
    """Whether a polynomial has variables only, to the first power, with rational factors."""
    return value.whole and all(
        len(key) <= 1 and all(name[0] == "v" and power == 1 for name, power in key)
        for key in value.above
    )


def _name(node: Node) -> str:
    return type(node).__name__.lower()
