"""Differential equations in one notation: x', dot x, dx/dt and dx(t)/dt are the same.

Every derivative becomes a symbol of its own, so that an equation is a polynomial in the unknown and
its derivatives. Two of them are the same equation when one is a multiple of the other by numbers
and parameters; the unknown, its derivatives and the independent variable are no parameters.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from reward_functions.symbolic.expr.nodes import Apply, Derivative, Node, Product, Symbol
from reward_functions.symbolic.expr.traversal import parts, replaced
from reward_functions.symbolic.parsing.unicode_notation import GREEK

if TYPE_CHECKING:
    from collections.abc import Iterable

    from reward_functions.symbolic.exact.polynomials import Poly, Quotient

_DOTS: Final = {"dot(": 1, "ddot(": 2}
_TIME: Final = "t"
_MARK: Final = "D"


class Unknowns(NamedTuple):
    """The functions that an equation differentiates, and by which variable; empty after primes."""

    functions: frozenset[str]
    variable: str

    def parameter(self, name: str) -> bool:
        """Whether an atom of a polynomial is a symbol that the equation only multiplies with."""
        letter = name[1:]
        return name[0] == "v" and not (
            letter in self.functions or letter == self.variable or letter.startswith(_MARK + "_")
        )


def unknowns(first: Node, second: Node) -> Unknowns | None:
    """The functions that two equations differentiate; None unless they are the same in both."""
    found = [list(_derivatives(each)) for each in (first, second)]
    functions = [frozenset(name for name, _, _ in each) for each in found]
    variables = {variable for each in found for _, variable, _ in each} - {""}
    if not functions[0] or functions[0] != functions[1] or len(variables) > 1:
        return None
    return Unknowns(functions[0], variables.pop() if variables else "")


def in_symbols(equation: Node, of: Unknowns) -> Node:
    """An equation with a symbol for every derivative, and x for x(t)."""

    def change(node: Node) -> Node:
        match node:
            case Symbol() | Derivative():
                found = _derivative(node)
                return Symbol(f"{_MARK}_{found[2]}{found[0]}") if found else node
            case Apply(name, (Symbol(variable),)) if len(name) == 1 and variable == of.variable:
                return Symbol(name)
            case Product(over, under):
                return Product(tuple(_without_argument(over, of)), under)
        return node

    return replaced(equation, change)


def _without_argument(factors: Iterable[Node], of: Unknowns) -> list[Node]:
    """Factors without the argument of an unknown, which stands right behind it: x(t)."""
    kept: list[Node] = []
    for factor in factors:
        argument = factor == Symbol(of.variable) and bool(kept)
        if not (argument and isinstance(kept[-1], Symbol) and kept[-1].name in of.functions):
            kept.append(factor)
    return kept


def multiples(first: Quotient, second: Quotient, of: Unknowns) -> bool:
    """Whether one equation is the other times a number and powers of parameters."""
    if not all(
        of.parameter(name) for each in (first, second) for key in each.below for name, _ in key
    ):
        return False
    own = next((key for key in first.above if _differentiated(key)), None)
    if own is None:
        return False
    return any(
        _scaled(second.above, own, key, first.above[own] / factor, of) == first.above
        for key, factor in second.above.items()
        if _differentiated(key)
    )


def _differentiated(key: tuple[tuple[str, object], ...]) -> bool:
    return any(name.startswith(f"v{_MARK}_") for name, _ in key)


def _scaled(poly: Poly, own: object, key: object, factor: object, of: Unknowns) -> Poly | None:
    """A polynomial times what makes one term of it another one; None where that is not allowed."""
    ratio = dict(own)  # type: ignore[call-overload]
    for name, power in key:  # type: ignore[attr-defined]
        ratio[name] = ratio.get(name, 0) - power
    ratio = {name: power for name, power in ratio.items() if power}
    if not all(map(of.parameter, ratio)):
        return None
    result: Poly = {}
    for each, value in poly.items():
        powers = dict(each)
        for name, power in ratio.items():
            powers[name] = powers.get(name, 0) + power
        result[tuple(sorted((name, power) for name, power in powers.items() if power))] = (
            value * factor  # type: ignore[operator]
        )
    return result


def _derivatives(tree: Node) -> Iterable[tuple[str, str, int]]:
    return filter(None, map(_derivative, parts(tree)))


def _derivative(node: Node) -> tuple[str, str, int] | None:
    """The function, the variable and the order of a derivative in any notation."""
    match node:
        case Derivative(Symbol(name) | Product((Symbol(name),), ()), Symbol(variable), order):
            return name, variable, order
        case Derivative(Product((Symbol(name), Symbol(argument)), ()), Symbol(variable), order):
            return (name, variable, order) if argument == variable else None
        case Derivative(Apply(name, (Symbol(argument),)), Symbol(variable), order):
            return (name, variable, order) if argument == variable and len(name) == 1 else None
        case Symbol(name) if name.endswith("'"):
            return name.rstrip("'"), "", len(name) - len(name.rstrip("'"))
        case Symbol(name):
            mark, bracket, inside = name.partition("(")
            if mark + bracket in _DOTS:
                function = inside.rstrip(")")
                return GREEK.get(function, function), _TIME, _DOTS[mark + bracket]
    return None
