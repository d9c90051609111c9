"""Numbers with a bound on their error: a midpoint and a radius, which is called a ball as in Arb.

Every operation of a `BallArithmetic` returns a ball that contains the true result for all true
operands in the given balls. So two balls that do not touch prove two values different, in spite of
all rounding on the way. `ball_double` implements it at low cost, `ball_mpmath` at high precision.

Arb is the library of F. Johansson, "Arb: efficient arbitrary-precision midpoint-radius interval
arithmetic", IEEE Transactions on Computers 66 (2017).

Where a function has several values (roots, logarithms) it is the principal one. An operation with
no value, or none that is certain (a division by what may be zero), raises `NoValue`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from fractions import Fraction
from math import comb, factorial
from typing import TYPE_CHECKING, Final, Generic, TypeVar

from reward_functions.symbolic.budget import BITS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

Ball = TypeVar("Ball")

_HALF: Final = Fraction(1, 2)


class NoValue(ValueError):
    """An expression has no value at a point, or none that this arithmetic is certain of."""


class BallArithmetic(ABC, Generic[Ball]):
    """The facts that the two arithmetics must know, and what follows from them.

    Attributes:
        real: whether leaving the real numbers is refused, as for an expression's real domain.
        cost: steps of work that one operation is worth.
    """

    real: bool
    cost: int

    # ---- numbers in and out

    @abstractmethod
    def rational(self, value: Fraction | int) -> Ball:
        """A rational number."""

    @abstractmethod
    def constant(self, name: str) -> Ball:
        """Pi, e or i."""

    @abstractmethod
    def whole(self, value: Ball) -> int | None:
        """The integer that a value certainly is, or None."""

    @abstractmethod
    def sign(self, value: Ball) -> int:
        """1 or -1 for what is certainly real and has that sign, else 0."""

    @abstractmethod
    def is_real(self, value: Ball) -> bool:
        """Whether a value is real by the way it was computed."""

    @abstractmethod
    def apart(self, first: Ball, second: Ball) -> bool:
        """Whether two values are certainly different."""

    @abstractmethod
    def bounds(self, value: Ball) -> tuple[Fraction, Fraction]:
        """Two numbers that a real value lies between."""

    # ---- operations

    @abstractmethod
    def add(self, first: Ball, second: Ball) -> Ball:
        """The sum."""

    @abstractmethod
    def multiply(self, first: Ball, second: Ball) -> Ball:
        """The product."""

    @abstractmethod
    def inverse(self, value: Ball) -> Ball:
        """One over the value."""

    @abstractmethod
    def whole_power(self, value: Ball, exponent: int) -> Ball:
        """An integer power."""

    @abstractmethod
    def sqrt(self, value: Ball) -> Ball:
        """The square root."""

    @abstractmethod
    def exp(self, value: Ball) -> Ball:
        """A power of e."""

    @abstractmethod
    def ln(self, value: Ball) -> Ball:
        """The natural logarithm."""

    @abstractmethod
    def sin(self, value: Ball) -> Ball:
        """The sine of an angle in radians."""

    @abstractmethod
    def cos(self, value: Ball) -> Ball:
        """The cosine of an angle in radians."""

    @abstractmethod
    def arctan(self, value: Ball) -> Ball:
        """The inverse tangent of a real number."""

    @abstractmethod
    def floor(self, value: Ball) -> Ball:
        """The largest integer that is not above a real number."""

    @abstractmethod
    def parts(self, value: Ball) -> tuple[Ball, Ball]:
        """The real and the imaginary part."""

    @abstractmethod
    def magnitude(self, value: Ball) -> Ball:
        """The absolute value."""

    # ---- what follows from these

    def negative(self, value: Ball) -> Ball:
        """The value times minus one."""
        return self.multiply(self.rational(Fraction(-1)), value)

    def divide(self, first: Ball, second: Ball) -> Ball:
        """The quotient."""
        return self.multiply(first, self.inverse(second))

    def halved(self, value: Ball) -> Ball:
        """Half of a value."""
        return self.multiply(self.rational(_HALF), value)

    def shifted(self, value: Ball, number: int) -> Ball:
        """A value plus an integer."""
        return self.add(value, self.rational(Fraction(number)))

    def power(self, base: Ball, exponent: Ball) -> Ball:
        """A power with any exponent."""
        whole = self.whole(exponent)
        if whole is not None:
            return self.whole_power(base, whole)
        return self.exp(self.multiply(exponent, self.ln(base)))

    def rational_power(self, base: Ball, exponent: Fraction, *, principal: bool = False) -> Ball:
        """A power with a rational exponent; of odd index the real root unless `principal`."""
        above, index = exponent.numerator, exponent.denominator
        if index == 1:
            return self.whole_power(base, above)
        if index == 2:  # noqa: PLR2004 - square roots are precise and fast
            return self.whole_power(self.sqrt(base), above)
        if index % 2 and not principal and self.sign(base) < 0:
            root = self.rational_power(self.negative(base), Fraction(1, index))
            return self.whole_power(self.negative(root), above)
        return self.exp(self.multiply(self.rational(exponent), self.ln(base)))

    def factorial(self, value: Ball) -> Ball:
        """The factorial of a natural number; there is no other here."""
        number = self.whole(value)
        if number is None or number < 0 or number * number.bit_length() > BITS:
            raise NoValue("no factorial of a small natural number")
        return self.rational(Fraction(factorial(number)))

    def binomial(self, upper: Ball, lower: Ball) -> Ball:
        """A binomial coefficient of any number over an integer; over a negative one it is zero."""
        number = self.whole(lower)
        if number is None or number * number.bit_length() > BITS:
            raise NoValue("no binomial coefficient over a small integer")
        if number < 0:
            return self.rational(Fraction(0))
        above = self.whole(upper)
        if above is not None and above >= 0:
            return self.rational(Fraction(comb(above, number)))
        result = self.rational(Fraction(1))
        for step in range(number):
            factor = self.divide(self.shifted(upper, -step), self.rational(Fraction(step + 1)))
            result = self.multiply(result, factor)
        return result

    def of_integers(self, function: Callable[..., int], values: Sequence[Ball]) -> Ball:
        """A common divisor or multiple."""
        integers = [self.whole(value) for value in values]
        if None in integers:
            raise NoValue("a common divisor or multiple of what is no integer")
        return self.rational(Fraction(function(*integers)))

    def largest(self, *values: Ball) -> Ball:
        """The maximum."""
        best = values[0]
        for value in values[1:]:
            sign = self.sign(self.add(value, self.negative(best)))
            if not sign:
                raise NoValue("a maximum or minimum that is not certain")
            best = value if sign > 0 else best
        return best

    def smallest(self, *values: Ball) -> Ball:
        """The minimum."""
        return self.negative(self.largest(*map(self.negative, values)))

    def ceil(self, value: Ball) -> Ball:
        """The smallest integer that is not below a real number."""
        return self.negative(self.floor(self.negative(value)))

    def sgn(self, value: Ball) -> Ball:
        """1, 0 or -1."""
        sign = self.sign(value)
        if not sign and self.whole(value) != 0:
            raise NoValue("the sign of what may be zero")
        return self.rational(Fraction(sign))

    def complex(self, real: Ball, imaginary: Ball) -> Ball:
        """The number with these parts."""
        return self.add(real, self.multiply(imaginary, self.constant("i")))

    def conjugate(self, value: Ball) -> Ball:
        """The complex conjugate."""
        if self.is_real(value):
            return value
        real, imaginary = self.parts(value)
        return self.complex(real, self.negative(imaginary))

    def sinh(self, value: Ball) -> Ball:
        """The hyperbolic sine."""
        up = self.exp(value)
        return self.halved(self.add(up, self.negative(self.inverse(up))))

    def cosh(self, value: Ball) -> Ball:
        """The hyperbolic cosine."""
        up = self.exp(value)
        return self.halved(self.add(up, self.inverse(up)))

    def log_to_base(self, base: Ball, value: Ball) -> Ball:
        """The logarithm to a base."""
        return self.divide(self.ln(value), self.ln(base))

    def arcsin(self, value: Ball) -> Ball:
        """The inverse sine of a real number, from the two sides of its triangle."""
        number = self.whole(value)
        if number is not None and abs(number) == 1:
            return self.multiply(self.rational(Fraction(number, 2)), self.constant("π"))
        inside = self.shifted(self.negative(self.multiply(value, value)), 1)
        if self.sign(inside) <= 0:
            raise NoValue("an inverse sine outside of (-1, 1)")
        return self.arctan(self.divide(value, self.sqrt(inside)))

    def arccos(self, value: Ball) -> Ball:
        """The inverse cosine of a real number."""
        right_angle = self.halved(self.constant("π"))
        return self.add(right_angle, self.negative(self.arcsin(value)))

    def arccot(self, value: Ball) -> Ball:
        """The inverse cotangent of a positive number; of a negative one conventions disagree."""
        if self.sign(value) <= 0:
            raise NoValue("an inverse cotangent that conventions disagree on")
        return self.arctan(self.inverse(value))

    def arcsinh(self, value: Ball) -> Ball:
        """The inverse hyperbolic sine."""
        root = self.sqrt(self.shifted(self.multiply(value, value), 1))
        return self.ln(self.add(value, root))

    def arccosh(self, value: Ball) -> Ball:
        """The inverse hyperbolic cosine."""
        root = self.sqrt(self.shifted(self.multiply(value, value), -1))
        if self.sign(self.shifted(value, -1)) < 0:
            raise NoValue("an inverse hyperbolic cosine below 1")
        return self.ln(self.add(value, root))

    def arctanh(self, value: Ball) -> Ball:
        """The inverse hyperbolic tangent."""
        above = self.shifted(value, 1)
        return self.halved(self.ln(self.divide(above, self.shifted(self.negative(value), 1))))
