"""Conditions with words between them: "or" is weaker than "and", and a comma is an "and".

A comma beside an "or" may also go on with a list of alternatives (x < 1, x > 3 or x = 2). There it
is an "and" only beside a condition that says where a variable lies; else nothing is settled.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Final

from reward_functions.symbolic.budget import ITEMS, OverBudget
from reward_functions.symbolic.expr.nodes import Listing, Node, Relation

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reward_functions.symbolic.parsing.grammar import Grammar

_CONDITIONAL: Final = frozenset("<≤>≥≠∈∉")


def set_conditions(parser: Grammar) -> tuple[Node, ...]:
    """The conditions of a set, all of which hold."""
    groups: list[tuple[list[Node], list[str]]] = [([parser.statement()], [])]
    count = 1
    while (separator := parser.separator()) is not None:
        if separator in ("and", "or"):
            groups[-1][1].append(separator)
            groups[-1][0].append(parser.statement())
        else:
            groups.append(([parser.statement()], []))
        count += 1
        if count > ITEMS:
            raise OverBudget(f"more than {ITEMS} conditions")
    found = tuple(alternatives(items, words) for items, words in groups)
    if any("or" in words for _, words in groups) and not _located(found):
        return (Listing(found),)
    return tuple(part for each in found for part in _all_of(each))


def alternatives(items: Sequence[Node], words: Sequence[str]) -> Node:
    """Conditions by the words between them, all of which hold within each alternative."""
    starts = [0, *(place for place, word in enumerate(words, 1) if word != "and"), len(items)]
    found = tuple(
        items[start] if end - start == 1 else Listing(tuple(items[start:end]), "and")
        for start, end in pairwise(starts)
    )
    return found[0] if len(found) == 1 else Listing(found, "or")


def states_condition(node: Node) -> bool:
    """Whether a statement holds for some values and not for others."""
    return isinstance(node, Relation) and not _CONDITIONAL.isdisjoint(node.operators)


def _located(groups: Sequence[Node]) -> bool:
    """Whether at most one of some conditions says more than where a variable lies."""
    return sum(not isinstance(each, Relation) or "∈" not in each.operators for each in groups) < 2  # noqa: PLR2004


def _all_of(condition: Node) -> tuple[Node, ...]:
    match condition:
        case Listing(items, "and"):
            return items
    return (condition,)
