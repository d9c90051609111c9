"""Derivatives, integrals and sums of polynomials, done on their terms.

A value is a polynomial in a variable here when the variable stands in it to natural powers and in
no other atom: a·x² + π is one, sin(x)·x is not and is left alone.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Final

from reward_functions.symbolic.exact.polynomials import UNIT, Quotient, atom, constant

if TYPE_CHECKING:
    from reward_functions.symbolic.exact.polynomials import Monomial, PolynomialField

_INDEPENDENT: Final = frozenset("vkr")
"""Kinds of atoms that no other variable is hidden in."""


def derivative(value: Quotient, name: str, field: PolynomialField) -> Quotient | None:
    """The derivative by a variable; None for what is no polynomial in it, or does not have it."""
    terms = _terms(value, name)
    if terms is None or not any(terms):
        return None
    total = constant(Fraction(0))
    for power, coefficient in terms.items():
        if power:
            lowered = field.multiply(coefficient, _power(name, power - 1))
            total = field.add(total, field.multiply(lowered, constant(Fraction(power))))
    return total


def antiderivative(value: Quotient, name: str, field: PolynomialField) -> Quotient | None:
    """The antiderivative that is zero at zero; None for what is no polynomial in the variable."""
    terms = _terms(value, name)
    if terms is None:
        return None
    total = constant(Fraction(0))
    for power, coefficient in terms.items():
        raised = field.multiply(coefficient, _power(name, power + 1))
        total = field.add(total, field.multiply(raised, constant(Fraction(1, power + 1))))
    return total


def at(value: Quotient, name: str, place: Quotient, field: PolynomialField) -> Quotient:
    """A polynomial at a value of its variable."""
    total = constant(Fraction(0))
    for power, coefficient in (_terms(value, name) or {}).items():
        raised = field.power(place, power) if power else constant(Fraction(1))
        total = field.add(total, field.multiply(coefficient, raised))
    return total


def _terms(value: Quotient, name: str) -> dict[int, Quotient] | None:
    """The coefficients by the power of the variable."""
    if not value.whole:
        return None
    found: dict[int, dict[Monomial, Fraction]] = {}
    for monomial, factor in value.above.items():
        power, rest = 0, []
        for each, exponent in monomial:
            if each == "v" + name:
                if exponent < 0 or exponent.denominator != 1:
                    return None
                power = int(exponent)
            elif each[0] not in _INDEPENDENT and name in each[1:]:
                return None
            else:
                rest.append((each, exponent))
        found.setdefault(power, {})[tuple(rest)] = factor
    return {power: Quotient(above, {UNIT: Fraction(1)}) for power, above in found.items()}


def _power(name: str, exponent: int) -> Quotient:
    return atom("v" + name, exponent) if exponent else constant(Fraction(1))
