"""Arbitrary constants as terms of a tree: f(x) + C against g(x) + K.

The rule itself stands in `values`; here are the trees without the constants, and a tree with other
names for its variables: what does not depend on its variables is equal to that.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from typing import Any

from reward_functions.symbolic.tree import Node, Sum, Symbol


def without_constants(reference: Node, candidate: Node) -> tuple[Node, Node] | None:
    """Both sides without their arbitrary constants; None unless each has one as a term.

    The reference's is a capital C beside something with a lower-case variable; the candidate's may
    be any letter that is used nowhere else.
    """
    mine = _without(reference, "C")
    if mine is None or not any(name[0].islower() for name in symbols(mine)):
        return None
    if not isinstance(candidate, Sum):
        return None
    for term in candidate.terms:
        if isinstance(term, Symbol) and term.name not in symbols(mine):
            theirs = _without(candidate, term.name)
            if theirs is not None:
                return mine, theirs
    return None


def renamed(tree: Any) -> Any:
    """A tree with another name for every variable."""
    if isinstance(tree, Symbol):
        return Symbol(tree.name + "*")
    if isinstance(tree, tuple):
        return tuple(map(renamed, tree))
    if not is_dataclass(tree) or isinstance(tree, type):
        return tree
    return replace(tree, **{each.name: renamed(getattr(tree, each.name)) for each in fields(tree)})


def symbols(tree: Any) -> set[str]:
    """The names of all variables in a tree."""
    if isinstance(tree, Symbol):
        return {tree.name}
    if isinstance(tree, tuple):
        return set().union(*map(symbols, tree))
    if not is_dataclass(tree):
        return set()
    return set().union(*(symbols(getattr(tree, each.name)) for each in fields(tree)))


def _without(node: Node, name: str) -> Node | None:
    """A sum without the one term that is a letter, which stands nowhere else in it."""
    if not isinstance(node, Sum):
        return None
    rest = tuple(term for term in node.terms if term != Symbol(name))
    if len(rest) != len(node.terms) - 1 or not rest or name in symbols(rest):
        return None
    return rest[0] if len(rest) == 1 else Sum(rest)
