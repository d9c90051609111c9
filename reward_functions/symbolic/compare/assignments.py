"""The name to which an equation gives a value: x = 5, AB = 3, (p, q) = (1, 2), f(x) = 2x."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, TypeGuard

from reward_functions.symbolic.expr.names import FUNCTION_LETTERS
from reward_functions.symbolic.expr.nodes import (
    Apply,
    Bracket,
    Derivative,
    Integral,
    Iterated,
    Limit,
    Listing,
    Node,
    Product,
    Ratio,
    Relation,
    Symbol,
)
from reward_functions.symbolic.expr.printer import rendered
from reward_functions.symbolic.expr.traversal import without_names

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


def equation(node: Node) -> TypeGuard[Relation]:
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


def numbered(names: Iterable[str]) -> bool:
    """Whether names are one letter with numbers below it: x_1, x_2."""
    return len({name.partition("_")[0] for name in names}) == 1


def solved(
    named: dict[str, Node] | None, others: Sequence[Node]
) -> tuple[list[Node], list[Node]] | None:
    """The values of x_1 = 2, x_2 = -2 and of x = 2, x = -2, which are the same two solutions."""
    if named is None or not numbered(named):
        return None
    letter = next(iter(named)).partition("_")[0]
    values = [
        stated_value(each)
        for each in others
        if equation(each) and name_of(each.operands[0]) == letter
    ]
    return (list(named.values()), values) if len(values) == len(others) else None


def orders(names: Iterable[str], *, by_reference: bool = False) -> list[list[str]]:
    """The orders that values with these names may be meant in, where nobody asked for one.

    Letters that follow each other, x and y, are meant in the order of the alphabet, and other names
    as they are written. Lone letters, k and b, and numbers below a letter may be meant either way
    where an answer writes them: it may write them as it likes, a reference as the question does.
    """
    written = list(names)
    alphabetical = sorted(written, key=_place)
    if written == alphabetical:
        return [written]
    letters = all(len(name) == 1 for name in written)
    if letters and all(ord(b) - ord(a) == 1 for a, b in pairwise(alphabetical)):
        return [alphabetical]
    lone = (letters or numbered(written)) and not by_reference
    return [alphabetical, written] if lone else [written]


def _place(name: str) -> tuple[str, int, str]:
    """Where a name stands: by its letter, then by the number below it."""
    head, _, number = name.partition("_")
    return head, int(number) if number.isdecimal() else 0, number


def turned_round(node: Node) -> Node:
    """The assignments of (y, x) = (1, 2), names not in their order; any other node as it is."""
    match node:
        case Relation((Bracket(_, left, _), Bracket(_, right, _)), ("=",)) if len(left) == len(
            right
        ):
            named = tuple(Relation(pair, ("=",)) for pair in zip(left, right, strict=True))
            names = list(by_name(named) or ())
            if names and names not in orders(names):
                return Listing(named)
    return node


def rounds_of(items: Sequence[Node]) -> list[dict[str, Node]] | None:
    """Values that are named in rounds, p = 5, q = 2; p = 7, q = 2; None for anything else."""
    if all(isinstance(item, Listing) for item in items):
        rounds = [item.items for item in items if isinstance(item, Listing)]
    else:
        size = len({name_of(item.operands[0]) for item in items if equation(item)}) or 1
        rounds = [tuple(items[start : start + size]) for start in range(0, len(items), size)]
    named = [by_name(each) for each in rounds]
    if len(named) < 2 or len({frozenset(each or ()) for each in named}) > 1:  # noqa: PLR2004
        return None
    return [each for each in named if each] or None


def stated_value(node: Relation) -> Node:
    """The value at the end of a chain, or before an approximation of it.

    A formula in letters rounds to no number: y = 2x ≈ 9 states that y is 9.
    """
    if "≈" in node.operators[1:]:
        exact = node.operands[node.operators.index("≈", 1)]
        if without_names(exact) or not without_names(node.operands[-1]):
            return exact
    return node.operands[-1]


def shifted(name: str) -> bool:
    """Whether a name is a function at an expression: f(-x) = x² is no statement of f(x)."""
    argument = name.partition("(")[2].rstrip(")")
    letters = name[0] in FUNCTION_LETTERS and any(map(str.isalpha, argument))
    return letters and any(each.isdigit() or each in "+-" for each in argument)


def name_of(node: Node) -> str | None:
    """The name that an equation gives to a value: x, AB, |AB|, (p, q), A:B, AB/CD or f(2).

    In "the limit of … = 1" that is the limit itself. |x| is asked for by the prompt, or is no name.
    """
    match node:
        case Symbol(name):
            return name
        case Bracket(_, items, _) | Ratio(items):
            names = [name_of(item) for item in items]
            return None if None in names else ",".join(map(str, names))
        case Apply("abs", (Product() | Symbol() as inside,)):
            length = name_of(inside)  # or a size; |x| = 2 is to be solved
            return length if length and not length[0].islower() else None
        case Apply(letter, values) if len(letter) == 1 and all(map(without_names, values)):
            return rendered(node)
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
    """The name f(x) among two names, or nothing: y = ... and f(x) = ... mean the same."""
    return next((name for name, _ in (mine, theirs) if name.endswith("(x)")), "")


def one_name(first: str, second: str) -> bool:
    """Whether two names are the same, or one of them with its arguments: y and y(t)."""
    if first == second:
        return True
    (name, *arguments), (other, *others) = first.split("(", 1), second.split("(", 1)
    inside = arguments or others
    return name == other and not (arguments and others) and bool(argument_names("(" + inside[0]))


def argument_names(name: str) -> list[str]:
    """The letters x, y of f(x,y); none where the arguments are other expressions."""
    found = name.partition("(")[2].rstrip(")").split(",")
    letters = len(set(found)) == len(found) and all(
        len(each) == 1 and each.isalpha() for each in found
    )
    return found if letters else []
