"""Walk a tree: every node of it, its names, and its operations of calculus."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from reward_functions.symbolic.expr.nodes import (
    KINDS,
    Apply,
    Based,
    Constant,
    Degrees,
    Derivative,
    Integral,
    Iterated,
    Limit,
    Node,
    Number,
    Percent,
    Power,
    Product,
    Root,
    Sum,
    Symbol,
)
from reward_functions.symbolic.expr.record import changed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

CALCULUS: Final = (Iterated, Integral, Derivative, Limit)


def parts(node: Node) -> Iterator[Node]:
    """The node and everything in it, from left to right, each before what is in it."""
    waiting: list[Node] = [node]
    while waiting:
        each = waiting.pop()
        yield each
        waiting.extend(reversed(_children(each)))


def replaced(node: Node, change: Callable[[Node], Node]) -> Node:
    """The tree with every node changed, the inner ones first; the same object where nothing is."""
    result: Node = _replaced(node, change)
    return result


def _replaced(value: Any, change: Callable[[Node], Node]) -> Any:
    if type(value) is tuple:
        inside = tuple(_replaced(each, change) for each in value)
        return inside if any(a is not b for a, b in zip(inside, value, strict=True)) else value
    if type(value) not in KINDS:
        return value
    changes = {}
    for name in value.__slots__:
        before = getattr(value, name)
        after = _replaced(before, change)
        if after is not before:
            changes[name] = after
    return change(changed(value, **changes) if changes else value)


def operations(node: Node) -> int:
    """How many sums, products, integrals, derivatives and limits there are in it."""
    return sum(isinstance(part, CALCULUS) for part in parts(node))


def names_in(node: Node) -> set[str]:
    """The names of all symbols and constants in a tree."""
    return {part.name for part in parts(node) if isinstance(part, Symbol | Constant)}


def free_names(node: Node) -> set[str]:
    """The names of its variables, but for those that a sum, an integral or a limit binds."""
    match node:
        case Symbol(name):
            return {name}
        case Iterated(_, body, variable, low, high):
            return free_names(body) - {variable.name} | free_names(low) | free_names(high)
        case Integral(body, variable, low, high) if low is not None and high is not None:
            return free_names(body) - {variable.name} | free_names(low) | free_names(high)
        case Limit(body, variable, point):
            return free_names(body) - {variable.name} | free_names(point)
    return set().union(*map(free_names, _children(node)))


def without_names(node: Node) -> bool:
    """Whether a tree is a number by its form: literals and constants under operations."""
    match node:
        case Number() | Constant() | Based():
            return True
        case Sum(parts) | Product(parts, ()):
            return all(map(without_names, parts))
        case Product(over, under):
            return all(map(without_names, (*over, *under)))
        case Power(first, second) | Root(first, second):
            return without_names(first) and without_names(second)
        case Percent(body) | Degrees(body):
            return without_names(body)
        case Apply(name, arguments):
            return len(name) > 1 and all(map(without_names, arguments))
    return False


def _children(node: Any) -> list[Node]:
    """The nodes directly inside a node, through whatever tuples hold them."""
    inside: list[Node] = []
    waiting = [getattr(node, name) for name in reversed(node.__slots__)]
    while waiting:
        value = waiting.pop()
        if type(value) is tuple:
            waiting.extend(reversed(value))
        elif type(value) in KINDS:
            inside.append(value)
    return inside
