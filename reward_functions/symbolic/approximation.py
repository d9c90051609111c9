"""Numbers with roots, π, e and logarithms to fifty digits, for rounding against a decimal.

Only the decimal rule asks for them. Nothing here shows two expressions equal.
"""

from __future__ import annotations

from decimal import Context, Decimal, DecimalException
from fractions import Fraction
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from reward_functions.symbolic.polynomials import Field, Poly, Quotient

DIGITS: Final = 50
_CONTEXT: Final = Context(prec=DIGITS)
_PI: Final = Decimal("3.14159265358979323846264338327950288419716939937510582097494")


def approximate(value: Quotient, field: Field) -> Fraction | None:
    """A real number to about fifty digits, or None where that is not known how."""
    try:
        above, below = _poly(value.above, field), _poly(value.below, field)
        if above is None or not below:
            return None
        return Fraction(_CONTEXT.divide(above, below))
    except (DecimalException, OverflowError):
        return None


def _poly(poly: Poly, field: Field) -> Decimal | None:
    total = Decimal(0)
    for monomial, factor in poly.items():
        term = _fraction(factor)
        for name, exponent in monomial:
            base = _atom(name, field)
            if base is None or base <= 0:
                return None
            term = _CONTEXT.multiply(term, _CONTEXT.power(base, _fraction(exponent)))
        total = _CONTEXT.add(total, term)
    return total


def _atom(name: str, field: Field) -> Decimal | None:
    """The value of an atom that is a positive number; None for variables, i and functions."""
    if name[0] == "r":
        return Decimal(name[1:])
    if name == "kπ":
        return _PI
    if name == "ke":
        return _CONTEXT.exp(Decimal(1))
    if name in field.bases:
        base = approximate(field.bases[name], field)
        if base is None or base <= 0:
            return None
        value = _fraction(base)
        return _CONTEXT.ln(value) if name[0] == "l" else value
    return None


def _fraction(value: Fraction | int) -> Decimal:
    return _CONTEXT.divide(Decimal(value.numerator), Decimal(value.denominator))
