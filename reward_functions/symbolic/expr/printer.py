"""A tree in one notation, for `explain` and for error messages. Nothing is decided here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reward_functions.symbolic.expr.nodes import (
    Apply,
    Based,
    Braces,
    Bracket,
    BuiltSet,
    Clock,
    Congruence,
    Constant,
    Date,
    Degrees,
    Derivative,
    Given,
    Integral,
    Iterated,
    Limit,
    Listing,
    Matrix,
    Measured,
    NamedSet,
    Node,
    Number,
    Percent,
    Piecewise,
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
    """The tree as a string, in one notation."""
    match node:
        case Symbol(text) | Constant(text) | NamedSet(text):
            return text
        case Number(value, _):
            return str(value)
        case Sum(terms):
            return " + ".join(map(_factor, terms))
        case Product(over, under):
            above = "·".join(map(_factor, over))
            below = "·".join(map(_factor, under))
            return (
                (f"{above}/{below}" if len(under) == 1 else f"{above}/({below})")
                if under
                else above
            )
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
        case Iterated() | Integral() | Derivative() | Limit():
            return _calculus(node)
    return _with_parts(node)


def _calculus(node: Iterated | Integral | Derivative | Limit) -> str:
    body, name = rendered(node.body), node.variable.name
    match node:
        case Iterated(operation, _, _, low, high):
            return f"{operation}({body}, {name} = {rendered(low)}..{rendered(high)})"
        case Integral(_, _, low, high):
            ends = "" if low is None or high is None else f" = {rendered(low)}..{rendered(high)}"
            return f"integral({body}, {name}{ends})"
        case Derivative(_, _, order):
            return f"derivative({body}, {name}{f', {order}' if order > 1 else ''})"
        case Limit(_, _, point, side):
            return f"limit({body}, {name} → {rendered(point)}{side})"


def _with_parts(node: Node) -> str:  # noqa: C901, PLR0912 - the other kinds
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
        case Given(body, conditions):
            return f"{rendered(body)}, {_listed(conditions)}"
        case BuiltSet(member, conditions):
            return f"{{{rendered(member)} | {_listed(conditions)}}}"
        case Matrix(rows):
            return f"[{'; '.join(map(_listed, rows))}]"
        case Relation(operands, operators):
            links = zip(operators, operands[1:], strict=True)
            return rendered(operands[0]) + "".join(
                f" {sign} {rendered(each)}" for sign, each in links
            )
        case Congruence(left, right, modulus):
            value = "" if left is None else f"{rendered(left)} ≡ "
            return f"{value}{rendered(right)} (mod {rendered(modulus)})"
        case Piecewise(branches):
            return "; ".join(map(_branch, branches))
        case Ratio(parts):
            return ":".join(map(rendered, parts))
        case Clock(minutes, half, seconds):
            dial = f"{minutes // 60}:{minutes % 60:02}" + (f":{seconds:02}" if seconds else "")
            return f"{dial} {half}".strip()
        case Date(day, month, year, weekday):
            stated = {"weekday": weekday, "day": day, "month": month, "year": year}
            return ", ".join(f"{name} {number}" for name, number in stated.items() if number)
    raise AssertionError(f"no notation for {type(node).__name__}")


def _branch(branch: tuple[Node, Node | None]) -> str:
    value, condition = branch
    return f"{rendered(value)} {'otherwise' if condition is None else f'if {rendered(condition)}'}"


def _factor(node: Node) -> str:
    text = rendered(node)
    return f"({text})" if isinstance(node, Sum) else text


def _listed(nodes: Iterable[Node]) -> str:
    return ", ".join(map(rendered, nodes))
