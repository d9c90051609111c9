"""Sine and cosine, exact at multiples of 15 degrees, and the functions made of them."""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from reward_functions.symbolic.exact.polynomials import (
    UNIT,
    Monomial,
    Poly,
    PolynomialField,
    Quotient,
    atom,
    rendered,
    single_term,
)
from reward_functions.symbolic.exact.rational import ONE
from reward_functions.symbolic.expr.functions import applied

HALF: Final = Fraction(1, 2)
PI: Final[Monomial] = (("kπ", ONE),)


class Trigonometry:
    """Values of trigonometric functions in one field."""

    def __init__(self, field: PolynomialField) -> None:
        self.field = field

    def trigonometric(self, name: str, angle: Quotient) -> Quotient:
        """Sine and cosine, exact at multiples of 15 degrees; the others through them."""
        value: Quotient = applied(name, "numeric", self, [angle])
        return value

    def divide(self, first: Quotient, second: Quotient) -> Quotient:
        """The quotient."""
        return self.field.divide(first, second)

    def inverse(self, value: Quotient) -> Quotient:
        """One over the value."""
        return self.field.inverse(value)

    def sin(self, angle: Quotient) -> Quotient:
        """The sine, an atom where it is not exact."""
        turn = _turn(angle)
        known = None if turn is None else self.cosine_of_turn(turn - HALF)
        if known is not None:
            return known
        flipped, angle = self.positive(angle)
        sine = atom(f"s({rendered(angle)})")
        return self.field.negate(sine) if flipped else sine

    def cos(self, angle: Quotient) -> Quotient:
        """The cosine, likewise."""
        turn = _turn(angle)
        known = None if turn is None else self.cosine_of_turn(turn)
        if known is not None:
            return known
        return atom(f"c({rendered(self.positive(angle)[1])})")

    def cosine_of_turn(self, turn: Fraction) -> Quotient | None:
        """cos(π · turn) at multiples of 15 degrees, or None elsewhere."""
        steps = turn % 2 * 12
        if steps.denominator != 1:
            return None
        step = min(steps.numerator, 24 - steps.numerator)
        if step <= 6:  # noqa: PLR2004 - up to a right angle, in steps of 15 degrees
            return self.field.polynomial(_COSINES[step])
        return self.field.negate(self.field.polynomial(_COSINES[12 - step]))

    def positive(self, value: Quotient) -> tuple[bool, Quotient]:
        """The value with its first coefficient positive, and whether that took a sign change."""
        if value.above and min(value.above.items())[1] < 0:
            return True, self.field.negate(value)
        return False, value


def _turn(angle: Quotient) -> Fraction | None:
    """An angle as a rational multiple of π, or None."""
    if not angle.above:
        return Fraction(0)
    term = single_term(angle)
    return term[1] if term is not None and term[0] == PI else None


def _surd(*primes: int) -> Monomial:
    return tuple((f"r{prime}", HALF) for prime in primes)


_QUARTER: Final = Fraction(1, 4)
_COSINES: Final[tuple[Poly, ...]] = (
    {UNIT: ONE},
    {_surd(2, 3): _QUARTER, _surd(2): _QUARTER},
    {_surd(3): HALF},
    {_surd(2): HALF},
    {UNIT: HALF},
    {_surd(2, 3): _QUARTER, _surd(2): -_QUARTER},
    {},
)
"""Cosines of 0, 15, ..., 90 degrees."""
