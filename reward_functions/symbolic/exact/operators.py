"""Sums, products, integrals, derivatives, limits and determinants in exact algebra.

Between two numbers sums and products are computed term by term; polynomials are differentiated and
integrated. The rest is an atom, equal to itself and unknown otherwise.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Final, Protocol

from reward_functions.symbolic.budget import Unreadable
from reward_functions.symbolic.exact.polynomial_calculus import antiderivative, at, derivative
from reward_functions.symbolic.exact.polynomials import (
    Quotient,
    atom,
    constant,
    function_atom,
    number_of,
)
from reward_functions.symbolic.expr.nodes import Derivative, Integral, Iterated, Limit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reward_functions.symbolic.exact.polynomials import PolynomialField
    from reward_functions.symbolic.expr.nodes import Node

REPEATS: Final = 100
"""Terms of one sum or product that are computed one by one."""

_TERM: Final = 20
"""Steps of work that one such term is worth, beside its own: sums of fractions grow."""


class Evaluator(Protocol):
    """The needs of operators from the algebra that applies them.

    Attributes:
        field: the arithmetic.
        places: the values of the variables that operators bind.
    """

    field: PolynomialField
    places: dict[str, Quotient]

    def value(self, node: Node) -> Quotient:
        """The value of a tree."""


def operated(algebra: Evaluator, node: Iterated | Integral | Derivative | Limit) -> Quotient:
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


def determinant(algebra: Evaluator, rows: Sequence[Sequence[Node]]) -> Quotient:
    """A determinant, expanded by its first row, every product of which is paid for."""
    if len(rows) != len(rows[0]):
        raise Unreadable("the determinant of a matrix that is not square")
    return _expanded(algebra.field, [[algebra.value(entry) for entry in row] for row in rows])


def _expanded(field: PolynomialField, rows: list[list[Quotient]]) -> Quotient:
    if len(rows) == 1:
        return rows[0][0]
    total = constant(Fraction(0))
    for place, entry in enumerate(rows[0]):
        minor = [row[:place] + row[place + 1 :] for row in rows[1:]]
        term = field.multiply(entry, _expanded(field, minor))
        total = field.add(total, field.negate(term) if place % 2 else term)
    return total


def _iterated(algebra: Evaluator, node: Iterated) -> Quotient:
    low, high = algebra.value(node.low), algebra.value(node.high)
    first, last = number_of(low), number_of(high)
    name = node.variable.name
    outside = dict(algebra.places)
    if first is None or last is None or not 0 <= last - first < REPEATS:
        algebra.places[name] = atom("v" + name)
        body = algebra.value(node.body)
        algebra.places = outside
        return function_atom(f"{node.operation}[{name}]", [body, low, high])
    adds = node.operation == "sum"
    total = constant(Fraction(0 if adds else 1))
    for step in range(int(last - first) + 1):
        algebra.field.work.spend(_TERM)
        algebra.places[name] = constant(first + step)
        term = algebra.value(node.body)
        total = algebra.field.add(total, term) if adds else algebra.field.multiply(total, term)
    algebra.places = outside
    return total


def _integral(algebra: Evaluator, node: Integral) -> Quotient:
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


def _derivative(algebra: Evaluator, value: Quotient, name: str, order: int) -> Quotient:
    for done in range(order):
        once = derivative(value, name, algebra.field)
        if once is None:
            return function_atom(f"derivative[{name}]{order - done}", [value])
        value = once
    return value
