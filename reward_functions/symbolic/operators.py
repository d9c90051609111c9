"""Sums, products, integrals, derivatives and limits in exact algebra.

Between two numbers sums and products are computed term by term; polynomials are differentiated and
integrated. What is left is an atom, equal to itself and unknown otherwise.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Final

from reward_functions.symbolic.polynomial_calculus import antiderivative, at, derivative
from reward_functions.symbolic.polynomials import (
    Quotient,
    atom,
    constant,
    function_atom,
    number_of,
)
from reward_functions.symbolic.tree import Derivative, Integral, Iterated, Limit

if TYPE_CHECKING:
    from reward_functions.symbolic.algebra import Algebra

REPEATS: Final = 100
"""Terms of one sum or product that are computed one by one."""


def operated(algebra: Algebra, node: Iterated | Integral | Derivative | Limit) -> Quotient:
    """The value of an operator's application."""
    name = node.variable.name
    match node:
        case Iterated():
            return _iterated(algebra, node)
        case Integral():
            return _integral(algebra, node)
        case Derivative(body, _, order):
            return _derivative(algebra, algebra.value(body), name, order)
        case Limit(body, _, point, side):
            return function_atom(
                f"limit{side}[{name}]", [algebra.value(body), algebra.value(point)]
            )


def _iterated(algebra: Algebra, node: Iterated) -> Quotient:
    low, high = algebra.value(node.low), algebra.value(node.high)
    first, last = number_of(low), number_of(high)
    name = node.variable.name
    if first is None or last is None or not 0 <= last - first < REPEATS:
        return function_atom(f"{node.operation}[{name}]", [algebra.value(node.body), low, high])
    adds = node.operation == "sum"
    total = constant(Fraction(0 if adds else 1))
    outside = dict(algebra.places)
    for step in range(int(last - first) + 1):
        algebra.places[name] = constant(first + step)
        term = algebra.value(node.body)
        total = algebra.field.add(total, term) if adds else algebra.field.multiply(total, term)
    algebra.places = outside
    return total


def _integral(algebra: Algebra, node: Integral) -> Quotient:
    """Of a polynomial computed; without ends it is known up to a constant, which is called C."""
    body, name, field = algebra.value(node.body), node.variable.name, algebra.field
    rising = antiderivative(body, name, field)
    if node.low is None or node.high is None:
        if rising is None:
            return function_atom(f"integral[{name}]", [body])
        return field.add(rising, atom("vC"))
    low, high = algebra.value(node.low), algebra.value(node.high)
    if rising is None:
        return function_atom(f"integral[{name}]", [body, low, high])
    below = field.negate(at(rising, name, low, field))
    return field.add(at(rising, name, high, field), below)


def _derivative(algebra: Algebra, value: Quotient, name: str, order: int) -> Quotient:
    for done in range(order):
        once = derivative(value, name, algebra.field)
        if once is None:
            return function_atom(f"derivative[{name}]{order - done}", [value])
        value = once
    return value
