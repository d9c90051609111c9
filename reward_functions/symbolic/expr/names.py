"""The names of the variables in a tree: found, changed, and taken away with their terms.

A subscript is part of a name: a_i is a variable, but for a sum over i a sequence.

An expression that does not depend on its variables is equal to itself with other names for them.
Two sets by conditions are the same when only the names of their variables differ.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from reward_functions.symbolic.expr.nodes import (
    KINDS,
    Integral,
    Iterated,
    Limit,
    Node,
    Symbol,
)
from reward_functions.symbolic.expr.record import changed, values

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping


WHOLE: Final = "ℤ"
"""The name of a variable that runs through the whole numbers. No answer can write it as one."""

FUNCTION_LETTERS: Final = frozenset("fghFGH")
"""Letters that name a function whatever it is taken at: f(-x), g(x + 1)."""


def symbols(tree: Any) -> dict[str, None]:
    """The names of all variables in a tree, in order of appearance."""
    found: dict[str, None] = {}

    def note(name: str) -> str:
        found[name] = None
        return name

    _mapped(tree, note)
    return found


def renamed(tree: Node) -> Node:
    """A tree with another name for every variable."""
    result: Node = _mapped(tree, lambda name: name + "*")
    return result


def in_order_of_names(tree: Node) -> Node:
    """A tree whose variables are called by the order in which they appear."""
    order = {name: f"#{place}" for place, name in enumerate(symbols(tree))}
    result: Node = _mapped(tree, order.__getitem__)
    return result


def indexed_by(name: str, bound: Iterable[str]) -> bool:
    """Whether a name has a bound variable in its subscript."""
    _, _, subscript = name.partition("_")
    return bool(subscript) and any(each in subscript for each in bound)


def with_bound_renamed(tree: Any, depth: int = 0) -> Any:
    """A tree whose bound variables are called by their depth."""
    if isinstance(tree, Iterated | Integral | Limit):
        old, new = tree.variable.name, f"#{depth}"
        body = with_bound_renamed(tree.body, depth + 1)
        inside = _mapped(body, lambda name: _exchanged(name, old, new))
        return changed(tree, variable=Symbol(new), body=inside)
    if isinstance(tree, tuple):
        return tuple(with_bound_renamed(part, depth) for part in tree)
    if type(tree) not in KINDS:
        return tree
    return type(tree)(*(with_bound_renamed(part, depth) for part in values(tree)))


def _exchanged(name: str, old: str, new: str) -> str:
    head, line, subscript = name.partition("_")
    return f"{new if head == old else head}{line}{subscript.replace(old, new)}"


def _mapped(tree: Any, change: Callable[[str], str]) -> Any:
    if isinstance(tree, Symbol):
        return Symbol(change(tree.name))
    if isinstance(tree, tuple):
        return tuple(_mapped(part, change) for part in tree)
    if type(tree) not in KINDS:
        return tree
    return type(tree)(*(_mapped(part, change) for part in values(tree)))


def with_names(tree: Node, names: Mapping[str, str]) -> Node:
    """A tree in which some variables have other names, which must be free in it."""
    result: Node = _mapped(tree, lambda name: names.get(name, name))
    return result
