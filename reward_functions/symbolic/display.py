"""A tree in one notation, for `explain` and for error messages. Nothing is decided here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reward_functions.symbolic.tree import (
    Apply,
    Based,
    Braces,
    Bracket,
    BuiltSet,
    Clock,
    Constant,
    Degrees,
    Listing,
    Matrix,
    Measured,
    NamedSet,
    Node,
    Number,
    Percent,
    Power,
    Product,
    Ratio,
    Relation,
    Root,
    Signed,
    Sum,
    Symbol,
    Union,
)

if TYPE_CHECKING:
    from collections.abc import Iterable


def rendered(node: Node) -> str:  # noqa: C901 - one case per kind of node
    """The tree as text, in one notation."""
    match node:
        case Symbol(text) | Constant(text) | NamedSet(text):
            return text
        case Number(value, _):
            return str(value)
        case Sum(terms):
            return " + ".join(map(_factor, terms))
        case Product(over, under):
            above = "·".join(map(_factor, over))
            return f"{above}/({'·'.join(map(_factor, under))})" if under else above
        case Power(base, exponent):
            return f"{_factor(base)}^{_factor(exponent)}"
        case Root(index, radicand):
            return f"root({rendered(index)}, {rendered(radicand)})"
        case Apply(name, arguments):
            return f"{name}({_listed(arguments)})"
        case Signed(body, flipped):
            return f"{'∓' if flipped else '±'}{_factor(body)}"
        case Percent(body):
            return f"{_factor(body)}%"
        case Degrees(body):
            return f"{_factor(body)}°"
    return _with_parts(node)


def _with_parts(node: Node) -> str:  # noqa: C901 - the other kinds
    match node:
        case Measured(body, unit):
            names = (name if power == 1 else f"{name}^{power}" for name, power in unit)
            return " ".join((_factor(body), *names))
        case Based(digits, base, _):
            return f"{digits}_{base}"
        case Listing(items, word):
            return (f" {word} " if word else ", ").join(map(rendered, items))
        case Bracket(left, items, right):
            return f"{left}{_listed(items)}{right}"
        case Braces(items):
            return f"{{{_listed(items)}}}"
        case Union(parts, minus):
            return (" ∖ " if minus else " ∪ ").join(map(rendered, parts))
        case BuiltSet(member, conditions):
            return f"{{{rendered(member)} | {_listed(conditions)}}}"
        case Matrix(rows):
            return f"[{'; '.join(map(_listed, rows))}]"
        case Relation(operands, operators):
            links = zip(operators, operands[1:], strict=True)
            return rendered(operands[0]) + "".join(
                f" {sign} {rendered(each)}" for sign, each in links
            )
        case Ratio(parts):
            return ":".join(map(rendered, parts))
        case Clock(minutes, half):
            return f"{minutes // 60}:{minutes % 60:02} {half}".strip()
    raise AssertionError(f"no notation for {type(node).__name__}")


def _factor(node: Node) -> str:
    text = rendered(node)
    return f"({text})" if isinstance(node, Sum) else text


def _listed(nodes: Iterable[Node]) -> str:
    return ", ".join(map(rendered, nodes))
