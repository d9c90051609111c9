r"""Left sides of equations that name the quantity a question asks for: \cos\theta, \det A, A^{-1}.

x = 5 is an assignment to a name. The expressions here stand for one value as a name does. They
cannot be mistaken for an equation that is still to be solved, as 2x = 10 can.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reward_functions.symbolic.budget import OverBudget, Unreadable
from reward_functions.symbolic.compare.assignments import name_of
from reward_functions.symbolic.compare.structural_form import Form, form
from reward_functions.symbolic.expr.nodes import (
    Apply,
    Node,
    Number,
    Power,
    Product,
    Relation,
    Symbol,
)
from reward_functions.symbolic.expr.traversal import free_names, parts
from reward_functions.symbolic.parsing.document import read

if TYPE_CHECKING:
    from collections.abc import Iterable

_MEASURES: Final = frozenset(
    "sin cos tan cot sec csc arcsin arccos arctan det abs conj log log_ ln arg re im".split()
)
"""Functions whose value at a name is a quantity that is asked for under this name."""


def names(tree: Node) -> bool:
    """Whether an expression is the name of a value, and no equation's side."""
    match tree:
        case Apply(name, arguments):
            return name in _MEASURES and any(map(free_names, arguments))
        case Power(Symbol(base), Number(exponent)):
            return base[:1].isupper() and len(base) == 1 and exponent == -1
        case Power(Symbol(), Symbol()):
            return True
        case Product((Symbol(first), Number() | Symbol()), ()) if first.endswith("'"):
            return True
        case Product(factors, ()):
            return all(
                isinstance(each, Symbol) and each.name.startswith("vec(") for each in factors
            )
    return False


def quantity_asked_for(left: str, asked: Iterable[str], formulas: Iterable[str]) -> bool:
    """Whether the left side of an equation is what a question asks for.

    It is when the question asks for that very expression; or when the question asks for something
    in words, and the left side is a name of which the question does not give the value.

    Args:
        left: the left side.
        asked: what the question asks for as a formula.
        formulas: all formulas of the question.
    """
    asked = tuple(asked)
    tree = _read(left)
    if tree is not None and name_of(tree) is not None:
        return False  # an assignment, which is read without a prompt
    if _squeezed(left) in map(_squeezed, asked):
        return True
    if tree is None:
        return False
    mine = form(tree)
    if any(mine in _sides(each) for each in map(_read, asked) if each is not None):
        return True
    if asked or not names(tree):
        return False
    return not any(mine in _given(each) for each in map(_read, formulas) if each is not None)


def _sides(tree: Node) -> list[Form]:
    """An expression, or the two sides of an equation, of which one may name the other."""
    if isinstance(tree, Relation):
        return [form(side) for side in tree.operands] if set(tree.operators) == {"="} else []
    return [form(tree)]


def _given(tree: Node) -> list[Form]:
    """The sides of the equations in a formula, which give values and ask for none."""
    return [
        form(side)
        for part in parts(tree)
        if isinstance(part, Relation)
        for side in part.operands
        if not any(isinstance(other, Symbol) for other in part.operands if other is not side)
    ]


def _squeezed(text: str) -> str:
    text = text.replace(r"\_", "_")
    for layout in (r"\left", r"\right", r"\,", r"\!", "{", "}", " "):
        text = text.replace(layout, "")
    return text


def _read(text: str) -> Node | None:
    try:
        return read(text).tree
    except (OverBudget, Unreadable):
        return None
