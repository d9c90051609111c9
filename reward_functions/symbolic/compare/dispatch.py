"""Whole answers: which comparison the kinds of two trees ask for.

The comparison follows the reference's kind. A pair in brackets is a point or an interval, whichever
the other side shows. `members` compares parts, `relations` statements, `real_sets` sets of reals,
and `scalars` single values.

The letter j for the imaginary unit, as engineers and programs write it: 3 + 4j, e^{jωt}.

It is one beside a number, in a power of e and as a factor of ω. Elsewhere it may be a unit vector
or an index.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reward_functions.symbolic.budget import Unreadable
from reward_functions.symbolic.compare.assignments import by_name, numbered, turned_round
from reward_functions.symbolic.compare.families import MAY_BE_FAMILIES, FamilyComparison
from reward_functions.symbolic.compare.members import entries, is_vector
from reward_functions.symbolic.compare.mixed_units import in_one_unit
from reward_functions.symbolic.compare.real_sets import compare_regions, region, states_region
from reward_functions.symbolic.expr.names import in_order_of_names
from reward_functions.symbolic.expr.nodes import (
    Braces,
    Bracket,
    BuiltSet,
    Clock,
    Congruence,
    Constant,
    Date,
    Listing,
    Matrix,
    NamedSet,
    Node,
    Number,
    Piecewise,
    Power,
    Product,
    Ratio,
    Relation,
    Sum,
    Symbol,
    Union,
)
from reward_functions.symbolic.expr.traversal import names_in, parts, replaced, without_names
from reward_functions.symbolic.verdict import Finding, differ, same, unknown

if TYPE_CHECKING:
    from collections.abc import Sequence


_EULER: Final = Constant("e")


def with_one_letter(reference: Node, candidate: Node) -> tuple[Node, Node] | None:
    """Both sides with i for their j, where one of them has i or the reference oscillates by j."""
    mine, theirs = names_in(reference), names_in(candidate)
    if "j" in mine & theirs:
        if "i" in mine | theirs or not _oscillates(reference):
            return None
        return _with_i(reference), _with_i(candidate)
    if "j" in theirs and "i" in mine - theirs and _complex(candidate):
        return reference, _with_i(candidate)
    if "j" in mine and "i" in theirs - mine and _complex(reference):
        return _with_i(reference), candidate
    return None


def _with_i(node: Node) -> Node:
    return replaced(node, lambda each: Constant("i") if each == Symbol("j") else each)


def _complex(node: Node) -> bool:
    """Whether j stands beside a number somewhere, or oscillates."""
    return _oscillates(node) or any(
        any("j" in names_in(term) for term in each.terms) and any(map(without_names, each.terms))
        for each in parts(node)
        if isinstance(each, Sum)
    )


def _oscillates(node: Node) -> bool:
    """Whether j stands in a power of e, or beside ω as a factor."""
    for each in parts(node):
        match each:
            case Power(base, exponent) if base == _EULER and "j" in names_in(exponent):
                return True
            case Product(over, _) if Symbol("j") in over and Symbol("ω") in over:
                return True
    return False


_SPACE: Final = 3
_NO_VALUES: Final = (
    Listing, Braces, Bracket, Union, BuiltSet, NamedSet, Matrix, Relation, Ratio, Clock, Date,
    Congruence, Piecewise,
)  # fmt: skip

_KINDS: Final[dict[type, str]] = {
    Listing: "a list",
    Braces: "a set",
    BuiltSet: "a set by a condition",
    NamedSet: "a set of numbers",
    Union: "a union",
    Bracket: "a point or interval",
    Matrix: "a matrix",
    Relation: "an equation or inequality",
    Ratio: "a ratio",
    Clock: "a time of day",
    Date: "a date",
    Congruence: "a congruence",
    Piecewise: "a function by cases",
}


class AnswerComparison(FamilyComparison):
    """Comparisons of whole answers."""

    def compare(self, reference: Node, candidate: Node) -> Finding:
        """Whether two answers are equal in kind and in every part."""
        if reference == candidate:
            return same("same-expression", "both read as the same expression")
        reference, candidate = in_one_unit(reference, candidate)
        if isinstance(reference, MAY_BE_FAMILIES) or isinstance(candidate, MAY_BE_FAMILIES):
            found = self.families(reference, candidate)
            if found is not None:
                return found
        if isinstance(reference, Relation) or isinstance(candidate, Relation):
            reference, candidate = turned_round(reference), turned_round(candidate)
            found = self.approximation(reference, candidate)
            found = found or self.relations(reference, candidate)
            if found is not None:
                return found
        if states_region(reference) or states_region(candidate):
            return self.regions(reference, candidate)
        if not isinstance(reference, _NO_VALUES) and not isinstance(candidate, _NO_VALUES):
            try:
                return self.scalars.compare(reference, candidate)
            except Unreadable:
                found = self.arrays(reference, candidate)
                if found is None:
                    raise
                return found
        return self.parts(reference, candidate)

    def arrays(self, reference: Node, candidate: Node) -> Finding | None:
        """Sums, products and multiples of matrices and vectors, worked out; None without any."""
        from reward_functions.symbolic.compare.arrays import (  # noqa: PLC0415 - few get here
            by_names,
            worked_out,
        )

        work = self.scalars.field.work
        mine, theirs = worked_out(reference, work), worked_out(candidate, work)
        if mine is None and theirs is None:
            mine = by_names(reference, candidate, work)
            theirs = by_names(candidate, reference, work)
        if mine is None and theirs is None:
            return None
        return self.compare(mine or reference, theirs or candidate)

    def by_units(self, reference: Node, candidate: Node) -> Finding | None:
        """Unlike answers again where units have several names: i and j, i with a hat or an arrow.

        None where they are not equal by that.
        """
        sides = with_one_letter(reference, candidate)
        if sides is None:
            from reward_functions.symbolic.compare.arrays import in_basis  # noqa: PLC0415 - as above

            work = self.scalars.field.work
            mine, theirs = (in_basis(each, _SPACE, work) for each in (reference, candidate))
            sides = None if mine is None or theirs is None else (mine, theirs)
        found = None if sides is None else self.compare(*sides)
        return found if found and found.equal else None

    def parts(self, reference: Node, candidate: Node) -> Finding:
        """Two answers of which at least one has parts."""
        if isinstance(reference, Clock) != isinstance(candidate, Clock):
            from reward_functions.symbolic.compare.clocks import on_the_dial  # noqa: PLC0415 - as above

            reference, candidate = on_the_dial(reference), on_the_dial(candidate)
        if _one_of(reference) != _one_of(candidate):
            return unknown("names", "one of several statements is not all of them")
        return (
            self.by_cases(reference, candidate)
            or self.of_one_kind(reference, candidate)
            or self.with_list(reference, candidate)
            or self.with_value(reference, candidate)
            or self.arrays(reference, candidate)
            or unknown("shape", _kinds(reference, candidate))
        )

    def by_cases(self, reference: Node, candidate: Node) -> Finding | None:
        """Definitions by cases; a formula is one with a single case."""
        match reference, candidate:
            case Piecewise(branches), Piecewise(others):
                return self.piecewise(branches, others)
            case Piecewise(branches), _ if not isinstance(candidate, _NO_VALUES):
                return self.piece_by_piece(branches, ((candidate, None),))
            case _, Piecewise(others) if not isinstance(reference, _NO_VALUES):
                return self.piece_by_piece(((reference, None),), others)
        return None

    def of_one_kind(self, reference: Node, candidate: Node) -> Finding | None:
        """Answers with parts of the same nature."""
        match reference, candidate:
            case Bracket(), Bracket():
                return self.points(reference, candidate)
            case Matrix(rows), Matrix(others):
                return self.matrices(rows, others)
            case (Matrix(rows), Bracket(_, items, _)) | (Bracket(_, items, _), Matrix(rows)):
                return self.array(rows, items)
            case (Braces(items), named) | (named, Braces(items)) if self.unordered(items, named):
                return unknown("names", "a set does not say which value has which name")
            case ((Listing(items) | Braces(items)), (Listing(others) | Braces(others))):
                return self.collections(reference, candidate, items, others)
            case Ratio(parts), Ratio(others):
                return self.ratios(parts, others)
            case ((Clock() | Date()), (Clock() | Date())):
                from reward_functions.symbolic.compare import clocks  # noqa: PLC0415 - as above

                return clocks.compare_times(reference, candidate)
            case Congruence(), Congruence():
                return self.congruences(reference, candidate)
        return None

    def collections(
        self, reference: Node, candidate: Node, items: Sequence[Node], others: Sequence[Node]
    ) -> Finding:
        """Lists and sets; two sets must both have sets as members, or neither."""
        sets = isinstance(reference, Braces) and isinstance(candidate, Braces)
        if sets and _sets_in(items) != _sets_in(others):
            return differ("members", "a set of sets is no set of their members")
        data = isinstance(reference, Listing) and isinstance(candidate, Listing)
        return self.members(items, others, counted=data)

    def array(self, rows: Sequence[Sequence[Node]], items: Sequence[Node]) -> Finding:
        """A matrix against brackets: row by row, [[1, 2], [3, 4]], or as a vector."""
        inner = [item.items for item in items if isinstance(item, Bracket) and item.left == "["]
        if len(inner) == len(items) and len(set(map(len, inner))) == 1:
            return self.matrices(rows, inner)
        return self.vector(rows, items)

    def with_list(self, reference: Node, candidate: Node) -> Finding | None:
        """A list or set against something else: a point without brackets, or the only member."""
        match reference, candidate:
            case (Bracket("[", (_, _), "]"), Braces()) | (Braces(), Bracket("[", (_, _), "]")):
                return differ("members", "an interval is no finite set")
            case (Bracket() as pair, Listing()) | (Listing(), Bracket() as pair) if _closed(pair):
                return unknown("interval", "one is an interval, the other a list")
            case (Bracket(_, items, _), Listing(others)) if not _has_points(others):
                return self.assignments((reference,), others) or self.unbracketed(items, others)
            case (Matrix(rows), Listing(others)) if is_vector(rows) and not _has_points(others):
                return self.unbracketed(entries(rows), others)
            case (Listing(items), Matrix(rows)) if is_vector(rows) and not _has_points(items):
                return self.unbracketed(items, entries(rows))
            case (Listing(items), Bracket(_, others, _)) if not _has_points(items):
                return self.assignments(items, (candidate,)) or self.unbracketed(items, others)
            case ((Listing(items) | Braces(items)), _):
                return self.members(items, (candidate,))
            case _, (Listing(items) | Braces(items)):
                return self.members((reference,), items)
        return None

    def with_value(self, reference: Node, candidate: Node) -> Finding | None:
        """A point, matrix, ratio or congruence against a single value.

        A matrix of one entry is that entry, a ratio of two terms their quotient.
        """
        match reference, candidate:
            case Ratio((over, under)), _:
                return self.compare(Product((over,), (under,)), candidate)
            case _, Ratio((over, under)):
                return self.compare(reference, Product((over,), (under,)))
            case Number(), Date():
                from reward_functions.symbolic.compare import clocks  # noqa: PLC0415 - as above

                return clocks.day_of_month(reference, candidate)
            case _, Congruence() if not isinstance(reference, _NO_VALUES):
                return self.rest(reference, candidate)
            case Matrix(((only,),)), _:
                return self.compare(only, candidate)
            case ((Bracket() | Matrix()), other) | (other, (Bracket() | Matrix())):
                if without_names(other):
                    return differ("shape", "a point is not a single value")
        return None

    def regions(self, reference: Node, candidate: Node) -> Finding:
        """Intervals, unions and inequalities as the sets of reals that they are."""
        first, second = region(reference, self.scalars), region(candidate, self.scalars)
        if first is not None and second is not None:
            return compare_regions(first, second, self.scalars)
        match reference, candidate:
            case NamedSet(), NamedSet():
                return differ("members", "the sets differ")
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
                    return same("members", "the same condition on a variable of another name")
                return unknown("members", "sets by conditions are not decided")
        if without_names(reference) or without_names(candidate):
            return differ("shape", "a set of numbers is not a single value")
        return unknown("shape", _kinds(reference, candidate))


def _one_of(node: Node) -> bool:
    """Whether only one of some values of different names is stated: x = 1 or y = 2."""
    if not isinstance(node, Listing) or node.word != "or":
        return False
    names = by_name(node.items)
    return names is not None and not numbered(names)


def _closed(pair: Bracket) -> bool:
    """Whether brackets around two values include an end, which only an interval does."""
    match pair:
        case Bracket(left, (_, _), right):
            return left == "[" or right == "]"
    return False


def _has_points(items: Sequence[Node]) -> bool:
    return any(isinstance(item, Bracket) for item in items)


def _sets_in(items: Sequence[Node]) -> bool:
    return any(isinstance(item, Braces) for item in items)


def _kinds(reference: Node, candidate: Node) -> str:
    names = [_KINDS.get(type(node), "a value") for node in (reference, candidate)]
    return "the reference is {}, the answer {}".format(*names)
