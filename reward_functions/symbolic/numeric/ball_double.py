"""Balls in double precision, which prove most wrong answers different.

A ball is a float, or a complex number once the reals are left, and the radius around it. One
operation takes well under a microsecond. The roundoff charged is four times that of IEEE 754.
Library functions are trusted to 2^-48 of their result, sixteen times what glibc, musl and Apple
state of theirs. Both are for safety and cost nothing, since values that lie closer are left to
higher precision anyway.
"""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Final

from reward_functions.symbolic.numeric.ball import BallArithmetic, NoValue

Number = float | complex
DoubleBall = tuple[Number, float]
_Real = Callable[[float], float]
_Complex = Callable[[complex], complex]

_ROUNDOFF: Final = 2.0**-50
_LIBRARY: Final = 2.0**-48
_HUGE: Final = 1e140
"""Above this, and below its inverse, a value is given up: in between the square of a value is a
double too, and rounding is relative."""

_EXPONENT: Final = 300.0
"""The largest exponent of e that stays below `_HUGE`."""

_EXACT: Final = 2.0**53
_STEP: Final = 0.1
"""The largest relative radius that a power is taken of; beyond it nothing is certain anyway."""


class DoubleArithmetic(BallArithmetic[DoubleBall]):
    """The arithmetic; two instances serve everybody, since they hold nothing."""

    cost = 1

    def __init__(self, *, real: bool) -> None:
        self.real = real

    # ---- numbers in and out

    def rational(self, value: Fraction | int) -> DoubleBall:
        if value.denominator == 1 and abs(value.numerator) < _EXACT:
            return float(value.numerator), 0.0
        try:
            number = value.numerator / value.denominator
        except OverflowError:
            raise NoValue("a number too large for double precision") from None
        if not 1 / _HUGE < abs(number) < _HUGE:
            raise NoValue("a number beyond double precision")
        return number, abs(number) * _ROUNDOFF

    def constant(self, name: str) -> DoubleBall:
        if name == "i":
            if self.real:
                raise NoValue("i is not real")
            return 1j, 0.0
        if name not in _CONSTANTS:
            raise NoValue(f"{name} is no number")
        return _CONSTANTS[name]

    def whole(self, value: DoubleBall) -> int | None:
        number, radius = value
        if radius or isinstance(number, complex) or not number.is_integer():
            return None
        return int(number)

    def sign(self, value: DoubleBall) -> int:
        number, radius = value
        if isinstance(number, complex):
            return 0
        return 1 if number > radius else -1 if number < -radius else 0

    def is_real(self, value: DoubleBall) -> bool:
        return not isinstance(value[0], complex)

    def apart(self, first: DoubleBall, second: DoubleBall) -> bool:
        return abs(first[0] - second[0]) > (first[1] + second[1]) * (1 + _ROUNDOFF)

    def bounds(self, value: DoubleBall) -> tuple[Fraction, Fraction]:
        number, radius = value
        if isinstance(number, complex):
            raise NoValue("not real")
        return Fraction(number) - Fraction(radius), Fraction(number) + Fraction(radius)

    # ---- operations

    def add(self, first: DoubleBall, second: DoubleBall) -> DoubleBall:
        a, e = first
        b, f = second
        total = a + b
        if not e and not f and _exact(total):
            return total, 0.0
        return total, e + f + (abs(a) + abs(b)) * _ROUNDOFF

    def multiply(self, first: DoubleBall, second: DoubleBall) -> DoubleBall:
        a, e = first
        b, f = second
        result = a * b
        size = abs(result)
        if not e and not f and (_exact(result) or (not size and not (a and b))):
            return result, 0.0
        if size > _HUGE or (size < 1 / _HUGE and a and b):
            raise NoValue("a product beyond double precision")
        return result, abs(a) * f + abs(b) * e + e * f + size * _ROUNDOFF

    def inverse(self, value: DoubleBall) -> DoubleBall:
        number, radius = value
        size = abs(number)
        if size <= 2 * radius or size < 1 / _HUGE:
            raise NoValue("a division by what may be zero")
        result = 1 / number
        return result, radius / (size * (size - radius)) + abs(result) * _ROUNDOFF

    def whole_power(self, value: DoubleBall, exponent: int) -> DoubleBall:
        number, radius = value
        size = abs(number)
        if size <= 2 * radius or not size:
            if exponent <= 0:
                raise NoValue("a power of what may be zero")
            return 0.0, (size + radius) if size + radius < 1 else _HUGE
        if abs(exponent) > _EXACT:  # and it may be too large for a float
            raise NoValue("a power beyond double precision")
        relative = abs(exponent) * (radius / (size - radius) + _ROUNDOFF)
        if relative > _STEP or abs(exponent * math.log(size)) > _EXPONENT:
            raise NoValue("a power beyond double precision")
        result = number**exponent
        if not radius and exponent >= 0 and _exact(result):
            return result, 0.0
        return result, abs(result) * 2 * relative

    def sqrt(self, value: DoubleBall) -> DoubleBall:
        number, radius = value
        size = abs(number)
        if size <= 2 * radius:
            return 0.0, math.sqrt(size + radius)
        if isinstance(number, complex):
            self._beside_the_cut(number, radius)
            root: Number = cmath.sqrt(number)
        elif number > 0:
            root = math.sqrt(number)
            if not radius and _exact(root) and root * root == number:
                return root, 0.0
        else:
            root = self._imaginary(math.sqrt(-number))
        return root, radius / math.sqrt(size) + abs(root) * _LIBRARY

    def exp(self, value: DoubleBall) -> DoubleBall:
        number, radius = value
        if abs(number.real) > _EXPONENT or radius > _STEP:
            raise NoValue("an exponential beyond double precision")
        result: Number
        result = cmath.exp(number) if isinstance(number, complex) else math.exp(number)
        return result, abs(result) * (2 * radius + _LIBRARY)

    def ln(self, value: DoubleBall) -> DoubleBall:
        number, radius = value
        size = abs(number)
        if size <= 2 * radius or not size:
            raise NoValue("a logarithm of what may be zero")
        result: Number
        if isinstance(number, complex):
            self._beside_the_cut(number, radius)
            result = cmath.log(number)
        elif number > 0:
            result = math.log(number)
        else:
            result = math.log(-number) + self._imaginary(math.pi)
        return result, radius / (size - radius) + (abs(result) + 1) * _LIBRARY

    def sin(self, value: DoubleBall) -> DoubleBall:
        return self._wave(value, math.sin, cmath.sin)

    def cos(self, value: DoubleBall) -> DoubleBall:
        return self._wave(value, math.cos, cmath.cos)

    def _wave(self, value: DoubleBall, real: _Real, complex_: _Complex) -> DoubleBall:
        number, radius = value
        if not isinstance(number, complex):
            if abs(number) > _EXACT:
                raise NoValue("an angle beyond double precision")
            return real(number), radius + _LIBRARY
        if abs(number.imag) > _STEP * _EXPONENT or radius > _STEP:
            raise NoValue("an angle far from the real ones")
        steepest = math.cosh(abs(number.imag) + radius)
        return complex_(number), steepest * (radius + _LIBRARY)

    def arctan(self, value: DoubleBall) -> DoubleBall:
        number, radius = value
        if isinstance(number, complex):
            raise NoValue("an inverse tangent of what is not real")
        return math.atan(number), radius + 2 * _LIBRARY

    def floor(self, value: DoubleBall) -> DoubleBall:
        number, radius = value
        if isinstance(number, complex) or math.floor(number - radius) != math.floor(
            number + radius
        ):
            raise NoValue("a floor at a step")
        return float(math.floor(number)), 0.0

    def parts(self, value: DoubleBall) -> tuple[DoubleBall, DoubleBall]:
        number, radius = value
        if isinstance(number, complex):
            return (number.real, radius), (number.imag, radius)
        return value, (0.0, 0.0)

    def magnitude(self, value: DoubleBall) -> DoubleBall:
        number, radius = value
        return abs(number), radius + abs(number) * _ROUNDOFF * isinstance(number, complex)

    # ---- leaving the reals

    def _imaginary(self, size: float) -> complex:
        if self.real:
            raise NoValue("not real")
        return complex(0.0, size)

    def _beside_the_cut(self, number: complex, radius: float) -> None:
        if number.real < 0 and abs(number.imag) <= radius:
            raise NoValue("a value on the branch cut")


def _exact(number: Number) -> bool:
    """Whether a float is an integer that doubles hold exactly, as is then whatever made it."""
    return not isinstance(number, complex) and abs(number) < _EXACT and number.is_integer()


_CONSTANTS: Final[dict[str, DoubleBall]] = {
    "π": (math.pi, math.pi * _ROUNDOFF),
    "e": (math.e, math.e * _ROUNDOFF),
}
REAL: Final = DoubleArithmetic(real=True)
COMPLEX: Final = DoubleArithmetic(real=False)
