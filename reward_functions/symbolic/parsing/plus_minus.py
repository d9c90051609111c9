"""The two answers that ± stands for.

All signs of one member are chosen together (± above and ∓ below), so 1 ± √5 is two values and so is
a ± b ∓ c. Members of a list choose apart: in "±6, ±2" there are four.
"""

from __future__ import annotations

from typing import Any, cast

from reward_functions.symbolic.budget import ITEMS, OverBudget
from reward_functions.symbolic.expr.literals import negated
from reward_functions.symbolic.expr.nodes import (
    KINDS,
    Braces,
    Listing,
    Node,
    Relation,
    Signed,
)
from reward_functions.symbolic.expr.record import changed


def spelled_out(node: Node) -> Node:
    """The tree with every ± replaced by the two answers that it means."""
    match node:
        case Listing(items, word):
            return Listing(_members(items), word)
        case Braces(items):
            return Braces(_members(items))
        case Relation((name, Listing() | Braces() as values), ("=",)):
            return Relation((name, spelled_out(values)), ("=",))
    both = _both(node)
    return both[0] if len(both) == 1 else Listing(both, "or")


def _members(items: tuple[Node, ...]) -> tuple[Node, ...]:
    result: list[Node] = []
    for item in items:
        if isinstance(item, Listing | Braces):
            result.append(spelled_out(item))
        else:
            result.extend(_both(item))
    if len(result) > 2 * ITEMS:
        raise OverBudget(f"more than {2 * ITEMS} values")
    return tuple(result)


def _both(node: Node) -> tuple[Node, ...]:
    upper = _chosen(node, upper=True)
    return (node,) if upper is node else (upper, _chosen(node, upper=False))


def _chosen(node: Node, *, upper: bool) -> Node:
    """The tree with one of the signs chosen; the same object when there is none in it."""
    if isinstance(node, Signed):
        body = _chosen(node.body, upper=upper)
        return body if upper != node.flipped else negated(body)
    changes: dict[str, Any] = {}
    for name in node.__match_args__:
        value = getattr(node, name)
        chosen = _chosen_in(value, upper=upper)
        if chosen is not value:
            changes[name] = chosen
    return changed(node, **changes) if changes else node


def _chosen_in(value: Any, *, upper: bool) -> Any:
    if isinstance(value, tuple):
        parts = tuple(_chosen_in(part, upper=upper) for part in value)
        return parts if any(a is not b for a, b in zip(parts, value, strict=True)) else value
    if type(value) in KINDS:
        return _chosen(cast("Node", value), upper=upper)
    return value
