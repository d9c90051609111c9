"""Statements about names: equations, inequalities.

x = 5 is 5 and not y = 5; an equation equals its multiples, an inequality its positive ones.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reward_functions.symbolic.budget import Unreadable
from reward_functions.symbolic.compare.assignments import (
    argument_names,
    by_name,
    equation,
    function_name,
    name_of,
    numbered,
    one_name,
    orders,
    rounds_of,
    shifted,
    solved,
    stated_value,
)
from reward_functions.symbolic.compare.chains import (
    approximated,
    contradicts,
    settled,
    written,
)
from reward_functions.symbolic.compare.derivatives import in_symbols, multiples, unknowns
from reward_functions.symbolic.compare.members import in_any_order, in_order, pairwise_equal
from reward_functions.symbolic.compare.real_sets import solve_linear
from reward_functions.symbolic.exact.polynomials import names_of
from reward_functions.symbolic.exact.rational import rational
from reward_functions.symbolic.expr.names import with_names
from reward_functions.symbolic.expr.nodes import (
    Braces,
    Bracket,
    Listing,
    Node,
    Number,
    Relation,
    Symbol,
)
from reward_functions.symbolic.expr.traversal import free_names
from reward_functions.symbolic.verdict import Finding, differ, same, unknown

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from reward_functions.symbolic.compare.members import Comparison
    from reward_functions.symbolic.exact.polynomials import Quotient

Names = tuple[str, ...]


# ---- values by name


def members(
    answers: Comparison, items: Sequence[Node], others: Sequence[Node], *, counted: bool = False
) -> Finding:
    """Lists and sets, whose members may be named."""
    named = assignments(answers, items, others)
    return named or in_any_order(answers, items, others, counted=counted)


def assignments(
    answers: Comparison, items: Sequence[Node], others: Sequence[Node]
) -> Finding | None:
    """X = 2, y = -1: values by name; against bare values, in the order of the names (`orders`).

    None when neither side names its values, or names one several times (its solutions).
    """
    if any(contradicts(each, answers.scalars) for each in _statements(others)):
        return differ("chain", "a chain of equations contradicts itself")
    first, second = rounds_of(items), rounds_of(others)
    if first is not None or second is not None:
        return in_rounds(answers, first, second, items, others)
    mine, theirs = by_name(items), by_name(others)
    if mine is None and theirs is None:
        return None
    values = solved(mine, others) or solved(theirs, items)
    if values:
        return in_any_order(answers, *(values if mine is not None else values[::-1]))
    if mine is not None and theirs is not None:
        if mine.keys() != theirs.keys():
            return differ("names", "the values have other names")
        return in_order(answers, "names", list(mine.values()), [theirs[name] for name in mine])
    named, bare = (mine, others) if mine is not None else (theirs, items)
    if named is None or any(isinstance(each, Relation) for each in bare):
        return None
    point = len(bare) == 1 and isinstance(bare[0], Bracket)
    if point:
        bare = bare[0].items  # type: ignore[union-attr]
    solutions = mine is None and numbered(named) and not point
    found = []
    for order in orders(named, by_reference=mine is not None):
        in_turn = [named[name] for name in order]
        sides = (in_turn, bare) if mine is not None else (bare, in_turn)
        found.append(ordered(answers, *sides, strictly=point, solutions=solutions))
    return _agreed(found)


def in_rounds(
    answers: Comparison,
    first: list[dict[str, Node]] | None,
    second: list[dict[str, Node]] | None,
    items: Sequence[Node],
    others: Sequence[Node],
) -> Finding:
    """Points by the names of their entries, on either side, or without names on one."""
    if first and second and first[0].keys() != second[0].keys():
        return differ("names", "the values have other names")
    written = (first or second or [{}])[0]
    found = []
    for order in orders(written, by_reference=first is not None):
        mine = items if first is None else _as_points(first, order)
        theirs = others if second is None else _as_points(second, order)
        found.append(in_any_order(answers, mine, theirs))
    return _agreed(found)


def unordered(items: Sequence[Node], named: Node) -> bool:
    """Whether the members of a set, in no order, meet values of several names."""
    if not isinstance(named, Listing | Braces) or any(map(equation, items)):
        return False
    names = by_name(named.items)
    return names is not None and not numbered(names)


def ordered(
    answers: Comparison,
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
        return in_order(answers, "names", items, others)
    if pairwise_equal(answers, items, others):
        return same("names", "the values in the order of the names")
    shuffled = members(answers, items, others)
    if shuffled.different:
        return differ("names", "the values differ")
    if solutions or not shuffled.equal:
        return shuffled
    return unknown("names", "the values stand in another order than the names")


def relations(answers: Comparison, reference: Node, candidate: Node) -> Finding | None:
    """X = 5 is 5 and not y = 5; a chain states its last value, unless it contradicts itself.

    None when the relations are inequalities, which are regions.
    """
    if isinstance(candidate, Relation) and contradicts(candidate, answers.scalars):
        return differ("chain", "the chain of equations contradicts itself")
    if isinstance(reference, Relation) and _membership(reference):
        return answers.compare(reference.operands[1], candidate)
    if isinstance(candidate, Relation) and _membership(candidate):
        return answers.compare(reference, candidate.operands[1])
    # An equation that still has to be solved is no answer to a bare value.
    solve = isinstance(reference, Relation) and isinstance(candidate, Relation)
    mine, theirs = (
        assigned(answers, reference, solve=solve),
        assigned(answers, candidate, solve=solve),
    )
    if mine is not None and theirs is not None:
        return both_named(answers, mine, theirs, reference, candidate)
    value = mine[1] if mine is not None else written(reference)
    elsewhere = not isinstance(reference, Relation) and theirs is not None and shifted(theirs[0])
    other = settled(candidate) if theirs is None or elsewhere else theirs[1]
    if value is not None and (other is not None or not isinstance(candidate, Relation)):
        return answers.compare(value, candidate if other is None else other)
    if other is not None and not isinstance(reference, Relation):
        return answers.compare(reference, other)
    if equation(reference) and equation(candidate):
        return answers.equations(reference, candidate)
    if equation(reference) or equation(candidate):
        if isinstance(reference, Relation) and isinstance(candidate, Relation):
            return differ("relation", "an equation is no inequality")
        return unknown("relation", "one is an equation, the other a value")
    return None


def approximation(answers: Comparison, reference: Node, candidate: Node) -> Finding | None:
    """A value given with its approximation: the value itself, or a decimal rounding to that.

    None where the reference is no such pair, or the candidate contradicts itself.
    """
    pair = approximated(reference)
    if pair is None or (
        isinstance(candidate, Relation) and contradicts(candidate, answers.scalars)
    ):
        return None
    exact, rounding = pair
    mine, theirs = (
        assigned(answers, reference, solve=False),
        assigned(answers, candidate, solve=False),
    )
    if mine is not None and theirs is not None and mine[0] != theirs[0]:
        return unknown("names", "the values have other names")
    other = settled(candidate) if theirs is None else theirs[1]
    if other is None and isinstance(candidate, Relation):
        return unknown("relation", "one is an equation, the other a value")
    value = candidate if other is None else other
    found = answers.compare(exact, value)
    if found.equal or not isinstance(value, Number):
        return found
    return answers.compare(rounding, value)


def both_named(
    answers: Comparison,
    mine: tuple[str, Node],
    theirs: tuple[str, Node],
    reference: Node,
    candidate: Node,
) -> Finding:
    """Two assignments: of the same name, or the same equation the other way round."""
    if _other_names(reference, candidate):
        return differ("names", "the chains of equations are between other names")
    if len(_chained(reference)) > 1 and _chained(reference) == _chained(candidate):
        return answers.compare(mine[1], theirs[1])
    if one_name(mine[0], theirs[0]) or {mine[0], theirs[0]} == {
        "y",
        function_name(mine, theirs),
    }:
        return answers.compare(mine[1], theirs[1])
    if not isinstance(reference, Relation) or not isinstance(candidate, Relation):
        return unknown("names", "the values have other names")
    if mine[0][:2] == theirs[0][:2] and "(" in mine[0][1:2]:
        return of_other_argument(answers, mine, theirs)
    found = answers.equations(reference, candidate)
    if found.equal or len(mine[0]) > 1 or len(theirs[0]) > 1:
        return found
    return (
        found if not _constant_value(mine[1]) else differ("names", f"{mine[0]} is not {theirs[0]}")
    )


def of_other_argument(
    answers: Comparison, mine: tuple[str, Node], theirs: tuple[str, Node]
) -> Finding:
    """One function, whose arguments may have other names: f(z) = z is f(x) = x."""
    names, others = (argument_names(each[0]) for each in (mine, theirs))
    free = free_names(theirs[1])
    if len(names) != len(others) or not names or (free - set(others)) & set(names):
        return unknown("names", "one function of differently named variables")
    found = answers.compare(mine[1], with_names(theirs[1], dict(zip(others, names, strict=True))))
    if found.equal:
        return same("argument-renamed", "the same function of an argument of another name")
    return unknown("names", "one function of differently named variables")


def assigned(answers: Comparison, node: Node, *, solve: bool) -> tuple[str, Node] | None:
    """The name and the value of an assignment: x = 5, (a, b) = (3, 2), or 3x = 15 solved."""
    if not isinstance(node, Relation) or set(node.operators) - {"=", "≈"}:
        return None
    name = name_of(node.operands[0])
    if name is not None:
        return name, stated_value(node)
    last = name_of(node.operands[-1])
    if last is not None and len(node.operands) == 2:  # noqa: PLR2004 - 5 = x
        return last, node.operands[0]
    if solve and len(node.operands) == 2 and rational(node.operands[1]) is not None:  # noqa: PLR2004
        solved = solve_linear(node.operands[0], node.operands[1], answers.scalars)
        return None if solved is None else (solved[0], solved[2])
    return None


# ---- by what they require


def equations(answers: Comparison, reference: Node, candidate: Node) -> Finding:
    """Equations are equal when their sides differ by proportional polynomials."""
    unknown_functions = unknowns(reference, candidate)
    if unknown_functions is not None:
        reference = in_symbols(reference, unknown_functions)
        candidate = in_symbols(candidate, unknown_functions)
    first, second = residue(answers, reference), residue(answers, candidate)
    if first is None or second is None:
        return unknown("equation", "an equation is not read as a polynomial")
    if unknown_functions is not None and multiples(first, second, unknown_functions):
        return same("differential-equation", "the same equation up to factors of parameters")
    if proportional(answers, first, second):
        return same("equation", "the same equation up to a factor")
    linear = _linear(first) and _linear(second)
    if linear:
        return differ("equation", "the linear equations differ")
    return unknown("equation", "the equations are not proportional")


def residue(answers: Comparison, node: Node) -> Quotient | None:
    """Left side minus right side; None for a chain or for sides that are no values."""
    if not isinstance(node, Relation) or len(node.operands) != 2:  # noqa: PLR2004 - one sign
        return None
    field, algebra = answers.scalars.field, answers.scalars.algebra
    try:
        left, right = map(algebra.value, node.operands)
    except Unreadable:
        return None
    return field.add(left, field.negate(right))


def proportional(answers: Comparison, first: Quotient, second: Quotient) -> bool:
    """Whether two differences have the same zeros because one is a multiple of the other."""
    field = answers.scalars.field
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


def inequalities(answers: Comparison, reference: Relation, candidate: Relation) -> Finding:
    """Inequalities in several variables: the same up to a positive factor."""
    if same_order(answers, reference, candidate):
        return same("inequality", "the same values in the same order")
    first, second = _one_way(reference), _one_way(candidate)
    if first is None or second is None or first.operators != second.operators:
        return unknown("inequality", "the inequalities are not of one form")
    mine, theirs = residue(answers, first), residue(answers, second)
    if mine is not None and theirs is not None and proportional(answers, mine, theirs):
        key = next(iter(mine.above), ())
        if mine.above.get(key, 1) * theirs.above.get(key, 1) > 0:
            return same("inequality", "the same inequality up to a positive factor")
    return unknown("inequality", "the inequalities are not proportional")


def same_order(answers: Comparison, reference: Relation, candidate: Relation) -> bool:
    """Whether inequalities have the same values in the same order, from either end."""
    chain = candidate
    if reference.operators != chain.operators:
        chain = Relation(chain.operands[::-1], tuple(map(_turned, chain.operators[::-1])))
    return reference.operators == chain.operators and pairwise_equal(
        answers, reference.operands, chain.operands
    )


def _as_points(rounds: list[dict[str, Node]], order: Sequence[str]) -> list[Node]:
    return [Bracket("(", tuple(each[name] for name in order), ")") for each in rounds]


def _agreed(found: Sequence[Finding]) -> Finding:
    """What several orders of the names come to: nothing is decided where they do not agree."""
    if len({finding.outcome for finding in found}) == 1:
        return found[0]
    return unknown("names", "the names do not say which value is meant first")


def _statements(items: Iterable[Node]) -> Iterator[Relation]:
    """The relations in a list, and in the lists in it."""
    for item in items:
        if isinstance(item, Relation):
            yield item
        elif isinstance(item, Listing):
            yield from _statements(item.items)


def _other_names(first: Node, second: Node) -> bool:
    """Whether two chains of equations call different names equal: x = y = 5 and x = z = 5."""
    chains = _chained(first), _chained(second)
    return min(map(len, chains)) > 1 and chains[0] != chains[1]


def _chained(node: Node) -> set[str]:
    """The names that a chain gives one value to; none of an equation between two names."""
    if not isinstance(node, Relation) or isinstance(node.operands[-1], Symbol):
        return set()
    return {each.name for each in node.operands if isinstance(each, Symbol)}


_MIRRORED: Final = {">": "<", "≥": "≤"}
_TURNED: Final = {**_MIRRORED, "<": ">", "≤": "≥"}


def _turned(operator: str) -> str:
    """A sign of order as it is read from the other end."""
    return _TURNED.get(operator, operator)


def _one_way(node: Relation) -> Relation | None:
    """A single inequality with its smaller side on the left."""
    if len(node.operators) != 1 or node.operators[0] not in "<≤>≥≠":
        return None
    operator = node.operators[0]
    if operator in _MIRRORED:
        return Relation((node.operands[1], node.operands[0]), (_MIRRORED[operator],))
    return node


def _membership(node: Relation) -> bool:
    """X ∈ {1, 2}, which states the set."""
    return node.operators == ("∈",) and isinstance(node.operands[1], Braces)


def _constant_value(node: Node) -> bool:
    return rational(node) is not None


def _linear(value: Quotient) -> bool:
    """Whether a polynomial has variables only, to the first power, with rational factors."""
    return value.whole and all(
        len(key) <= 1 and all(name[0] == "v" and power == 1 for name, power in key)
        for key in value.above
    )
