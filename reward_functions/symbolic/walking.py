"""What stands in a tree: every node of it, its free names, and its operations of calculus."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any, Final

from reward_functions.symbolic.tree import Derivative, Integral, Iterated, Limit, Symbol

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reward_functions.symbolic.tree import Node

CALCULUS: Final = (Iterated, Integral, Derivative, Limit)


def parts(node: Node) -> Iterator[Node]:
    """The node and everything in it."""
    yield node
    for child in _children(node):
        yield from parts(child)


def operations(node: Node) -> int:
    """How many sums, products, integrals, derivatives and limits there are in it."""
    return sum(isinstance(part, CALCULUS) for part in parts(node))


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


def _children(value: Any) -> Iterator[Any]:
    """The nodes directly inside a node, through whatever tuples hold them."""
    inside = value if isinstance(value, tuple) else (getattr(value, f.name) for f in fields(value))
    for each in inside:
        if isinstance(each, tuple):
            yield from _children(each)
        elif is_dataclass(each):
            yield each
