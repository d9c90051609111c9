"""An answer against the members of a list that is one answer.

Braces, "or", "and" between bare members, and the two signs of ± say no order: each member is given
as often. Brackets, names and bare commas say one, and the members are given in it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reward_functions.symbolic.compare.assignments import (
    by_name,
    equation,
    name_of,
    stated_value,
    turned_round,
)
from reward_functions.symbolic.compare.members import entries, in_order, is_vector, multiset
from reward_functions.symbolic.compare.relations import assignments
from reward_functions.symbolic.expr.nodes import Braces, Bracket, Listing, Matrix, Node, Relation
from reward_functions.symbolic.verdict import Finding, differ, unknown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reward_functions.symbolic.compare.members import Comparison
    from reward_functions.symbolic.verdict import Ordered

_COLLECTIONS: Final = (Braces, Bracket, Listing, Matrix)


def compare_listed(
    members: Sequence[Node], candidate: Node, comparison: Comparison, ordered: Ordered
) -> Finding:
    """Whether an answer gives two or more members.

    Args:
        members: the reference's, in their order.
        candidate: the answer.
        comparison: compares members.
        ordered: "and" where the prompt gives the members names, "always" where they answer
            questions in turn.
    """
    candidate = turned_round(candidate)
    match candidate:
        case Relation((name, *_, values)) if isinstance(values, _COLLECTIONS) and _named(name):
            return compare_listed(members, values, comparison, ordered)
        case Braces(items):
            free = ordered != "always"
            return (
                multiset(comparison, members, items)
                if free
                else _in_order(members, items, comparison)
            )
        case Listing(items, word):
            return _of_listing(members, items, word, comparison, ordered)
        case Bracket(left, items, right) if left + right in ("()", "[]", "<>"):
            return _in_order(members, items, comparison)
        case Matrix(rows) if is_vector(rows):
            return _in_order(members, entries(rows), comparison)
        case Bracket() | Matrix():
            return differ("tuple", "an interval or a matrix gives no members")
    return differ("members", "the answer names one value, and the reference several")


def _of_listing(
    members: Sequence[Node],
    items: Sequence[Node],
    word: str,
    comparison: Comparison,
    ordered: Ordered,
) -> Finding:
    """Members side by side: with names of their own, with one name, or bare."""
    if word == "or" and (ordered == "always" or by_name(items)):
        return unknown("names", "one of several statements is not all of them")
    if by_name(items):
        point = Bracket("<", tuple(members), ">")
        return assignments(comparison, (point,), items) or unknown("names", "values by name")
    values = _of_one_name(items)
    if values or word == "or" or (word == "and" and ordered == "as-written"):
        return multiset(comparison, members, values or items)
    return _in_order(members, items, comparison)


def _named(name: Node) -> bool:
    """Whether the left side of an equation calls its values by one name."""
    return name_of(name) is not None


def _of_one_name(items: Sequence[Node]) -> list[Node] | None:
    """The values of one name, 1 and -1 of x = 1, x = -1; None where there is no such name."""
    statements = [item for item in items if equation(item)]
    names = {name_of(item.operands[0]) for item in statements}
    if len(statements) < len(items) or len(names) > 1 or None in names:
        return None
    return [stated_value(item) for item in statements]


def _in_order(members: Sequence[Node], items: Sequence[Node], comparison: Comparison) -> Finding:
    if len(members) != len(items):
        return differ("tuple", "the numbers of members differ")
    found = in_order(comparison, "tuple", members, items)
    if found.equal or not multiset(comparison, members, items).equal:
        return found
    return unknown("tuple", "the members stand in another order")
