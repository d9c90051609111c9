"""What an equation gives a name to, and which: x = 5, AB = 3, (p, q) = (1, 2), f(x) = 2x."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reward_functions.symbolic.display import rendered
from reward_functions.symbolic.tree import (
    Apply,
    Bracket,
    Derivative,
    Integral,
    Iterated,
    Limit,
    Node,
    Product,
    Ratio,
    Relation,
    Symbol,
)

if TYPE_CHECKING:
    from collections.abc import Sequence


def equation(node: Node) -> bool:
    """Whether a tree is a chain of = and ≈ only."""
    return isinstance(node, Relation) and set(node.operators) <= {"=", "≈"}


def by_name(items: Sequence[Node]) -> dict[str, Node] | None:
    """Assignments to different names; None when there is anything else, or a name twice."""
    found: dict[str, Node] = {}
    for item in items:
        if not isinstance(item, Relation) or set(item.operators) - {"=", "≈"}:
            return None
        name = name_of(item.operands[0])
        if name is None or name in found:
            return None
        found[name] = stated_value(item)
    return found if len(found) > 1 else None


def stated_value(node: Relation) -> Node:
    """The value at the end of a chain, or before an approximation of it."""
    if "≈" in node.operators[1:]:
        return node.operands[node.operators.index("≈", 1)]
    return node.operands[-1]


def name_of(node: Node) -> str | None:
    """The name that an equation gives to a value: x, AB, |AB|, (p, q), A:B or AB/CD.

    In "the limit of … = 1" that is the limit itself.
    """
    match node:
        case Symbol(name):
            return name
        case Bracket(_, items, _) | Ratio(items):
            names = [name_of(item) for item in items]
            return None if None in names else ",".join(map(str, names))
        case Apply("abs", (Product() | Symbol() as inside,)):
            return name_of(inside)
        case Derivative(Symbol(name), Symbol(variable), order):
            return f"d{order}{name}/d{variable}"
        case Iterated() | Integral() | Derivative() | Limit():
            return rendered(node)
        case Product(over, under):
            names = [name_of(each) for each in (*over, *under)]
            if all(name and name[0].isupper() for name in names):
                return "".join(map(str, names))
    return None


def function_name(mine: tuple[str, Node], theirs: tuple[str, Node]) -> str:
    """The name f(x) among two names, or nothing: y = ... and f(x) = ... say the same."""
    return next((name for name, _ in (mine, theirs) if name.endswith("(x)")), "")
