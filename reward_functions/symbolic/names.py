"""The names of the variables in a tree: found, changed, and taken away with their terms.

A subscript is part of a name: a_i is a variable, but for a sum over i a sequence.

What does not depend on its variables is equal to itself with other names for them; two sets by
conditions are the same when only the names of their variables differ; an arbitrary constant may
have any name.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

from reward_functions.symbolic.rational import rational
from reward_functions.symbolic.tree import (
    Apply,
    Integral,
    Iterated,
    Limit,
    Node,
    Number,
    Product,
    Sum,
    Symbol,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


_ONE: Final = Number(Fraction(1))


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


def without_constants(reference: Node, candidate: Node) -> tuple[Node, Node] | None:
    """Both sides without their arbitrary constants; None unless each has one.

    The reference's is a capital C, a term beside something with a lower-case variable; the
    candidate's may be any letter that is used nowhere else, as a term or as a factor in a
    logarithm: ln|x| + ln C and ln|Cx| are ln|x| and any number.
    """
    mine = _without(reference, "C")
    if mine is None:
        return None
    used = symbols(mine)
    if not any(name[0].islower() for name in used):
        return None
    for name in symbols(candidate):
        if name not in used:
            theirs = _without(candidate, name) or _without_factor(candidate, name)
            if theirs is not None:
                return mine, theirs
    return None


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
        return replace(tree, variable=Symbol(new), body=inside)
    if isinstance(tree, tuple):
        return tuple(with_bound_renamed(part, depth) for part in tree)
    if not is_dataclass(tree) or isinstance(tree, type):
        return tree
    parts = {e.name: with_bound_renamed(getattr(tree, e.name), depth) for e in fields(tree)}
    return replace(tree, **parts)


def _exchanged(name: str, old: str, new: str) -> str:
    head, line, subscript = name.partition("_")
    return f"{new if head == old else head}{line}{subscript.replace(old, new)}"


def _without(node: Node, name: str) -> Node | None:
    """A sum without the one term that is a letter, which stands nowhere else in it."""
    if not isinstance(node, Sum):
        return None
    rest = tuple(term for term in node.terms if term != Symbol(name))
    if len(rest) != len(node.terms) - 1 or not rest or name in symbols(rest):
        return None
    return rest[0] if len(rest) == 1 else Sum(rest)


def _without_factor(node: Node, name: str) -> Node | None:
    """A sum of logarithms without the one factor in one of them that is a letter.

    The letter may take any sign, so the rest of its logarithm may too: ln(Cx) leaves ln|x|.
    """
    match node:
        case Sum(terms):
            changed = _with_one(terms, name, _without_factor)
            return Sum(changed) if changed else None
        case Product(over, under):
            factors = [each for each in (*over, *under) if name not in symbols(each)]
            above = _with_one(over, name, _without_factor)
            numbers = len(factors) == len(over) + len(under) - 1 and all(map(rational, factors))
            return Product(above, under) if above and numbers else None
        case Apply("ln" | "log" as function, (inside,)):
            rest = _unscaled(inside, name)
            return rest and Apply(function, (Apply("abs", (rest,)),))
    return None


def _unscaled(node: Node, name: str) -> Node | None:
    """A product without a factor that is a letter; None where it stands elsewhere."""
    match node:
        case Symbol(other) if other == name:
            return _ONE
        case Product(over, under):
            above = _with_one(over, name, _unscaled)
            if above is not None:
                return None if name in symbols(under) else Product(above, under)
            below = _with_one(under, name, _unscaled)
            return None if below is None or name in symbols(over) else Product(over, below)
        case Apply("abs", (inside,)):
            return _unscaled(inside, name)
    return None


def _with_one(
    nodes: tuple[Node, ...], name: str, change: Callable[[Node, str], Node | None]
) -> tuple[Node, ...] | None:
    """Nodes with the only one changed that has a name; None if that fails or there are more."""
    having = [place for place, node in enumerate(nodes) if name in symbols(node)]
    changed = change(nodes[having[0]], name) if len(having) == 1 else None
    if changed is None:
        return None
    return (*nodes[: having[0]], changed, *nodes[having[0] + 1 :])


def _mapped(tree: Any, change: Callable[[str], str]) -> Any:
    if isinstance(tree, Symbol):
        return Symbol(change(tree.name))
    if isinstance(tree, tuple):
        return tuple(_mapped(part, change) for part in tree)
    if not is_dataclass(tree) or isinstance(tree, type):
        return tree
    parts = {each.name: _mapped(getattr(tree, each.name), change) for each in fields(tree)}
    return replace(tree, **parts)
