"""Whole answers: which comparison the kinds of two trees ask for.

The comparison follows the reference's kind. A pair in brackets is a point or an interval, whichever
the other side shows. `members` compares parts, `relations` statements, `real_sets` sets of reals,
and `scalars` single values. `RULES` is the order in which all of them are asked.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from reward_functions.symbolic.budget import Unreadable
from reward_functions.symbolic.compare import cases, clocks, members, relations
from reward_functions.symbolic.compare.assignments import by_name, numbered, turned_round
from reward_functions.symbolic.compare.families import MAY_BE_FAMILIES, families
from reward_functions.symbolic.compare.members import Comparison
from reward_functions.symbolic.compare.mixed_units import in_one_unit
from reward_functions.symbolic.compare.real_sets import compare_regions, region, states_region
from reward_functions.symbolic.expr.names import in_order_of_names
from reward_functions.symbolic.expr.nodes import (
    KINDS,
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
    from collections.abc import Callable, Sequence

    _Several = Listing | Braces

_EULER: Final = Constant("e")


def with_one_letter(reference: Node, candidate: Node) -> tuple[Node, Node] | None:
    """Both sides with i for their j, where one of them has i or the reference oscillates by j.

    Engineers and programs write the imaginary unit so: 3 + 4j, e^{jωt}. It is one beside a number,
    in a power of e and as a factor of ω. Elsewhere j may be a unit vector or an index.
    """
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


class AnswerComparison(Comparison):
    """Comparisons of whole answers, by the first rule that finds something."""

    def compare(self, reference: Node, candidate: Node) -> Finding:
        """Whether two answers, or two parts of answers, are equal."""
        if reference == candidate:
            return same("same-expression", "both read as the same expression")
        reference, candidate = in_one_unit(reference, candidate)
        kinds: tuple[Any, Any] = type(reference), type(candidate)
        for rule in _rules(*kinds):
            found = rule(self, reference, candidate)
            if found is not None:
                return found
        raise AssertionError("the last rule always finds something")

    def equations(self, reference: Node, candidate: Node) -> Finding:
        """Equations that still have to be solved."""
        return relations.equations(self, reference, candidate)


def by_units(answers: Comparison, reference: Node, candidate: Node) -> Finding | None:
    """Unlike answers again where units have several names: i and j, i with a hat or an arrow.

    None where they are not equal by that.
    """
    sides = with_one_letter(reference, candidate)
    if sides is None:
        from reward_functions.symbolic.compare.arrays import in_basis  # noqa: PLC0415 - as below

        work = answers.scalars.field.work
        mine, theirs = (in_basis(each, _SPACE, work) for each in (reference, candidate))
        sides = None if mine is None or theirs is None else (mine, theirs)
    found = None if sides is None else answers.compare(*sides)
    return found if found and found.equal else None


# ---- rules that no other module has


def _about_names(answers: Comparison, reference: Node, candidate: Node) -> Finding | None:
    """Statements, of which one may name its values in another order than usual."""
    mine, theirs = turned_round(reference), turned_round(candidate)
    return (
        relations.approximation(answers, mine, theirs)
        or relations.relations(answers, mine, theirs)
        or _again(answers, reference, candidate, turned_round)
    )


def _again(
    answers: Comparison, reference: Node, candidate: Node, written: Callable[[Node], Node]
) -> Finding | None:
    """Both answers written otherwise; None where that is how they are written."""
    others = written(reference), written(candidate)
    return None if others == (reference, candidate) else answers.compare(*others)


def _regions(answers: Comparison, reference: Node, candidate: Node) -> Finding | None:
    """Intervals, unions and inequalities as the sets of reals that they are."""
    if not states_region(reference) and not states_region(candidate):
        return None
    first, second = (region(each, answers.scalars) for each in (reference, candidate))
    if first is not None and second is not None:
        return compare_regions(first, second, answers.scalars)
    match reference, candidate:
        case NamedSet(), NamedSet():
            return differ("members", "the sets differ")
        case Union(parts, minus), Union(others, other_minus) if minus == other_minus:
            return _unions(answers, parts, others, minus=minus)
        case Relation(), Relation():
            return relations.inequalities(answers, reference, candidate)
        case BuiltSet(), BuiltSet():
            if in_order_of_names(reference) == in_order_of_names(candidate):
                return same("members", "the same condition on a variable of another name")
            return unknown("members", "sets by conditions are not decided")
    if without_names(reference) or without_names(candidate):
        return differ("shape", "a set of numbers is not a single value")
    return unknown("shape", _kinds(reference, candidate))


def _unions(
    answers: Comparison, parts: Sequence[Node], others: Sequence[Node], *, minus: bool
) -> Finding:
    """Unions of the same sets in any order, or differences of the same sets."""
    if minus and len(parts) != len(others):
        return unknown("union", "set differences of other forms")
    if minus:
        return members.in_order(answers, "union", parts, others)
    found = relations.members(answers, parts, others)
    return found if found.equal else unknown("union", "unions are not decided")


def _values(answers: Comparison, reference: Node, candidate: Node) -> Finding:
    """Single values; sums, products and multiples of matrices are worked out first."""
    try:
        return answers.scalars.compare(reference, candidate)
    except Unreadable:
        found = _arrays(answers, reference, candidate)
        if found is None:
            raise
        return found


def _arrays(answers: Comparison, reference: Node, candidate: Node) -> Finding | None:
    """Sums, products and multiples of matrices and vectors, worked out; None without any."""
    from reward_functions.symbolic.compare.arrays import (  # noqa: PLC0415 - few get here
        by_names,
        worked_out,
    )

    work = answers.scalars.field.work
    mine, theirs = worked_out(reference, work), worked_out(candidate, work)
    if mine is None and theirs is None:
        mine = by_names(reference, candidate, work)
        theirs = by_names(candidate, reference, work)
    if mine is None and theirs is None:
        return None
    return answers.compare(mine or reference, theirs or candidate)


def _clock_beside_another(answers: Comparison, reference: Node, candidate: Node) -> Finding | None:
    """4:30 as the ratio that it may be, beside what is no time of day."""
    if isinstance(reference, Clock) and isinstance(candidate, Clock):
        return None
    return _again(answers, reference, candidate, clocks.on_the_dial)


def _one_of_several(_answers: Comparison, reference: Node, candidate: Node) -> Finding | None:
    if _one_of(reference) == _one_of(candidate):
        return None
    return unknown("names", "one of several statements is not all of them")


def _array(answers: Comparison, matrix: Matrix, brackets: Bracket) -> Finding:
    """A matrix against brackets: row by row, [[1, 2], [3, 4]], or as a vector."""
    items = brackets.items
    inner = tuple(each.items for each in items if isinstance(each, Bracket) and each.left == "[")
    if len(inner) == len(items) and len(set(map(len, inner))) == 1:
        return members.matrices(answers, matrix, Matrix(inner))
    return members.vector(answers, matrix.rows, items)


def _unordered(_answers: Comparison, reference: Node, candidate: Node) -> Finding | None:
    items, named = reference, candidate
    if not isinstance(items, Braces):
        items, named = candidate, reference
    if isinstance(items, Braces) and relations.unordered(items.items, named):
        return unknown("names", "a set does not say which value has which name")
    return None


def _collections(answers: Comparison, reference: _Several, candidate: _Several) -> Finding:
    """Lists and sets; two sets must both have sets as members, or neither."""
    items, others = reference.items, candidate.items
    sets = isinstance(reference, Braces) and isinstance(candidate, Braces)
    if sets and _any(Braces, items) != _any(Braces, others):
        return differ("members", "a set of sets is no set of their members")
    data = isinstance(reference, Listing) and isinstance(candidate, Listing)
    return relations.members(answers, items, others, counted=data)


def _interval_beside_set(_answers: Comparison, pair: Bracket, _set: Braces) -> Finding | None:
    if pair.left + pair.right == "[]" and len(pair.items) == 2:  # noqa: PLR2004 - its ends
        return differ("members", "an interval is no finite set")
    return None


def _interval_beside_list(_answers: Comparison, pair: Bracket, _list: Listing) -> Finding | None:
    if _closed(pair):
        return unknown("interval", "one is an interval, the other a list")
    return None


def _without_brackets(answers: Comparison, reference: Node, candidate: Node) -> Finding | None:
    """A point against a list: the entries of one are the members of the other."""
    items, others = _entries(reference), _entries(candidate)
    listed = items if isinstance(reference, Listing) else others
    if items is None or others is None or listed is None or _any(Bracket, listed):
        return None
    point = isinstance(reference, Bracket), isinstance(candidate, Bracket)
    named = any(point) and relations.assignments(
        answers, (reference,) if point[0] else items, (candidate,) if point[1] else others
    )
    return named or members.unbracketed(answers, items, others)


def _entries(node: Node) -> Sequence[Node] | None:
    """The entries of a point, a vector or a list; None for any other matrix."""
    if isinstance(node, Matrix):
        return members.entries(node.rows) if members.is_vector(node.rows) else None
    return node.items if isinstance(node, Listing | Bracket) else None


def _only_member(answers: Comparison, reference: Node, candidate: Node) -> Finding:
    """A list or set against what may be its only member."""
    sides = (
        each.items if isinstance(each, Listing | Braces) else (each,)
        for each in (reference, candidate)
    )
    return relations.members(answers, *sides)


def _quotient(answers: Comparison, reference: Node, candidate: Node) -> Finding | None:
    """A ratio of two terms is their quotient."""
    return _again(answers, reference, candidate, _divided)


def _divided(node: Node) -> Node:
    match node:
        case Ratio((over, under)):
            return Product((over,), (under,))
    return node


def _only_entry(answers: Comparison, reference: Matrix, candidate: Node) -> Finding | None:
    match reference:
        case Matrix(((only,),)):
            return answers.compare(only, candidate)
    return None


def _point_beside_value(_answers: Comparison, _point: Node, other: Node) -> Finding | None:
    return differ("shape", "a point is not a single value") if without_names(other) else None


def _unlike(_answers: Comparison, reference: Node, candidate: Node) -> Finding:
    return unknown("shape", _kinds(reference, candidate))


# ---- the rules


class Rule(NamedTuple):
    """A rule for two kinds of answers.

    Attributes:
        mine: the kinds of the reference.
        theirs: those of the answer.
        compare: what it finds; None leaves the answers to the next rule.
        either: whether it holds for the kinds the other way round, too.
        turned: whether `compare` then takes the answers the other way round as well.
    """

    mine: tuple[type, ...]
    theirs: tuple[type, ...]
    compare: Callable[[Comparison, Any, Any], Finding | None]
    either: bool = False
    turned: bool = False


_ANY: Final = tuple(KINDS)
_VALUE: Final = tuple(KINDS.difference(_KINDS))
_SEVERAL: Final = (Listing, Braces)
_POINT: Final = (Bracket, Matrix)

RULES: Final = (
    Rule(MAY_BE_FAMILIES, _ANY, families, either=True),
    Rule((Relation,), _ANY, _about_names, either=True),
    Rule(_ANY, _ANY, _regions),
    Rule(_VALUE, _VALUE, _values),
    Rule((Clock,), _ANY, _clock_beside_another, either=True),
    Rule((Listing,), _ANY, _one_of_several, either=True),
    Rule((Piecewise,), (Piecewise,), cases.piecewise),
    Rule((Piecewise,), _VALUE, cases.piece_by_piece, either=True),
    Rule((Bracket,), (Bracket,), members.points),
    Rule((Matrix,), (Matrix,), members.matrices),
    Rule((Matrix,), (Bracket,), _array, either=True, turned=True),
    Rule((Braces,), _ANY, _unordered, either=True),
    Rule(_SEVERAL, _SEVERAL, _collections),
    Rule((Ratio,), (Ratio,), members.ratios),
    Rule((Clock,), (Clock,), clocks.compare_clocks),
    Rule((Date,), (Date,), clocks.compare_dates),
    Rule((Congruence,), (Congruence,), cases.congruences),
    Rule((Bracket,), (Braces,), _interval_beside_set, either=True, turned=True),
    Rule((Bracket,), (Listing,), _interval_beside_list, either=True, turned=True),
    Rule(_POINT, (Listing,), _without_brackets, either=True),
    Rule(_SEVERAL, _ANY, _only_member, either=True),
    Rule((Ratio,), _ANY, _quotient, either=True),
    Rule((Number,), (Date,), clocks.day_of_month),
    Rule(_VALUE, (Congruence,), cases.remainder),
    Rule((Matrix,), _ANY, _only_entry),
    Rule(_POINT, _ANY, _point_beside_value, either=True, turned=True),
    Rule(_ANY, _ANY, _arrays),
    Rule(_ANY, _ANY, _unlike),
)
"""Tried in order. A rule that finds nothing returns None."""


@cache
def _rules(mine: type, theirs: type) -> tuple[Callable[..., Finding | None], ...]:
    """What is tried for two kinds, in order."""
    found: list[Callable[..., Finding | None]] = []
    for rule in RULES:
        if mine in rule.mine and theirs in rule.theirs:
            found.append(rule.compare)
        elif rule.either and theirs in rule.mine and mine in rule.theirs:
            found.append(_turned(rule.compare) if rule.turned else rule.compare)
    return tuple(found)


def _turned(compare: Callable[..., Finding | None]) -> Callable[..., Finding | None]:
    return lambda answers, reference, candidate: compare(answers, candidate, reference)


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


def _any(kind: type, items: Sequence[Node]) -> bool:
    return any(isinstance(item, kind) for item in items)


def _kinds(reference: Node, candidate: Node) -> str:
    names = [_KINDS.get(type(node), "a value") for node in (reference, candidate)]
    return "the reference is {}, the answer {}".format(*names)
