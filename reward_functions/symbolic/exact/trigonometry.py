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

HALF: Final = Fraction(1, 2)
PI: Final[Monomial] = (("kπ", ONE),)


class Trigonometry:
    """Values of trigonometric functions in one field."""

    def __init__(self, field: PolynomialField) -> None:
        self.field = field

    def trigonometric(self, name: str, angle: Quotient) -> Quotient:
        """Sine and cosine, exact at multiples of 15 degrees; the others through them."""
        if name == "sin":
            return self._sine(angle)
        if name == "cos":
            return self._cosine(angle)
        sine, cosine = self._sine(angle), self._cosine(angle)
        match name:
            case "tan":
                return self.field.divide(sine, cosine)
            case "cot":
                return self.field.divide(cosine, sine)
            case "sec":
                return self.field.inverse(cosine)
        return self.field.inverse(sine)

    def _sine(self, angle: Quotient) -> Quotient:
        turn = _turn(angle)
        known = None if turn is None else self.cosine_of_turn(turn - HALF)
        if known is not None:
            return known
        flipped, angle = self.positive(angle)
        sine = atom(f"s({rendered(angle)})")
        return self.field.negate(sine) if flipped else sine

    def _cosine(self, angle: Quotient) -> Quotient:
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
