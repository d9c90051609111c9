"""Balls of many digits, computed by mpmath, which show two expressions equal.

A ball is a number of mpmath and the binary exponent of the radius around it, None when it is exact.
Exponents are cheap and lose at most two bits an operation, of the hundreds that there are.

A term that drowns in another one (1 + e^-300) would make different expressions equal. So the
arithmetic notes the widest gap it has bridged; a caller asks for that many bits more.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import Any, Final

from reward_functions.symbolic.numeric.ball import BallArithmetic, NoValue

MpmathBall = tuple[Any, int | None]
"""A number of mpmath, real or complex, and the exponent of its radius."""

_LARGEST: Final = 1 << 16
"""The largest binary exponent of a value, and of its inverse: 2004! has 19,000. A tower of powers
passes it before anything is computed."""

_BITS_PER_STEP: Final = 64
"""Bits of precision that cost as much again as an operation in double precision."""

_TWO: Final = Fraction(2)
_LIBRARY: Final = 4
"""Bits of a result that a library function may get wrong; mpmath states one."""


@lru_cache(maxsize=8)
def _context(bits: int) -> Any:
    """The functions of mpmath at one precision, which is never changed, so threads can share it."""
    from mpmath import MPContext  # type: ignore[import-untyped]  # noqa: PLC0415 - 30 ms

    context = MPContext()
    context.prec = bits
    return context


class MpmathArithmetic(BallArithmetic[MpmathBall]):
    """The arithmetic at one precision.

    Attributes:
        gap: the widest distance of binary exponents between two terms that were added.
    """

    def __init__(self, bits: int, *, real: bool) -> None:
        self.bits = bits
        self.real = real
        self.cost = 6 + bits // _BITS_PER_STEP
        self.gap = 0
        self.mp = _context(bits)

    # ---- numbers in and out

    def rational(self, value: Fraction | int) -> MpmathBall:
        above = self.mp.mpf(value.numerator)
        if value.denominator == 1:
            exact = value.numerator.bit_length() < self.bits
            return above, None if exact else self._exponent(above) - self.bits + 1
        return self._rounded(above / value.denominator)

    def constant(self, name: str) -> MpmathBall:
        if name == "i":
            if self.real:
                raise NoValue("i is not real")
            return self.mp.mpc(0, 1), None
        if name not in ("π", "e"):
            raise NoValue(f"{name} is no number")
        return self._rounded(+(self.mp.pi if name == "π" else self.mp.e))

    def whole(self, value: MpmathBall) -> int | None:
        number, radius = value
        if radius is not None or not self.is_real(value) or not self.mp.isint(number):
            return None
        return int(number)

    def sign(self, value: MpmathBall) -> int:
        if not self.is_real(value) or self._may_be_zero(value):
            return 0
        return 1 if value[0] > 0 else -1

    def is_real(self, value: MpmathBall) -> bool:
        return isinstance(value[0], self.mp.mpf)

    def apart(self, first: MpmathBall, second: MpmathBall) -> bool:
        difference = first[0] - second[0]
        radius = _sum(first[1], second[1], self._rounding(difference))
        return bool(difference) and (radius is None or self._exponent(difference) - 3 > radius)

    def close(self, first: MpmathBall, second: MpmathBall, bits: int) -> bool:
        """Whether two values that are not apart are known so well that they count as equal.

        Their radii must be 2^-bits of them; where both may be zero, 2^-bits.
        """
        radius = _sum(first[1], second[1])
        if radius is None:
            return True
        if self._may_be_zero(first) and self._may_be_zero(second):
            return radius < -bits
        return radius < max(self._exponent(first[0]), self._exponent(second[0])) - bits

    def bounds(self, value: MpmathBall) -> tuple[Fraction, Fraction]:
        number, radius = value
        if not self.is_real(value):
            raise NoValue("not real")
        self._refuse(self._exponent(number))
        mantissa, exponent = map(int, abs(number).man_exp)
        middle = (-mantissa if number < 0 else mantissa) * _TWO**exponent
        error = Fraction(0) if radius is None else _TWO**radius
        return middle - error, middle + error

    # ---- operations

    def add(self, first: MpmathBall, second: MpmathBall) -> MpmathBall:
        if not (self._may_be_zero(first) or self._may_be_zero(second)):
            self._notice(abs(self._exponent(first[0]) - self._exponent(second[0])))
        total = first[0] + second[0]
        if first[1] is second[1] is None and self._integers(first[0], second[0]):
            return total, None
        larger = max(first[0], second[0], key=self._exponent)
        return total, _sum(first[1], second[1], self._rounding(larger))

    def multiply(self, first: MpmathBall, second: MpmathBall) -> MpmathBall:
        a, b = self._exponent(first[0]), self._exponent(second[0])
        self._refuse(a + b)
        result = first[0] * second[0]
        if first[1] is second[1] is None and self._integers(first[0], second[0]):
            return result, None
        return result, _sum(
            _product(a, second[1]),
            _product(b, first[1]),
            None if first[1] is None else _product(first[1], second[1]),
            self._rounding(result),
        )

    def inverse(self, value: MpmathBall) -> MpmathBall:
        if self._may_be_zero(value):
            raise NoValue("a division by what may be zero")
        size = self._exponent(value[0])
        self._refuse(size)
        result = 1 / value[0]
        return result, _sum(_product(3 - 2 * size, value[1]), self._rounding(result))

    def whole_power(self, value: MpmathBall, exponent: int) -> MpmathBall:
        number, radius = value
        if self._may_be_zero(value):
            if exponent <= 0 or (radius is not None and radius > 0):
                raise NoValue("a power of what may be zero")
            return (self.mp.zero if radius is None else number), radius
        size = abs(self._exponent(number))
        self._refuse((size + 1) * exponent)
        result = number**exponent
        if radius is None and exponent >= 0 and self._integers(number) and self._fits(result):
            return result, None
        lost = max(self._relative(value), 1 - self.bits) + exponent.bit_length() + 2
        if lost > -_LIBRARY:
            raise NoValue("a power of a value that is not known well enough")
        return result, self._exponent(result) + lost

    def sqrt(self, value: MpmathBall) -> MpmathBall:
        number, radius = value
        if self._may_be_zero(value):
            return self.mp.zero, None if radius is None else radius // 2 + 2
        self._stay(value)
        root = self.mp.sqrt(number)
        if radius is None and self.is_real(value) and self.mp.isint(root) and root**2 == number:
            return root, None
        return root, _sum(_product(self._exponent(root), self._relative(value)), self._near(root))

    def exp(self, value: MpmathBall) -> MpmathBall:
        number, radius = value
        if abs(self._exponent(number)) > _LARGEST or abs(self.mp.re(number)) > _LARGEST // 2:
            raise NoValue(f"a power of e beyond 2^{_LARGEST}")
        if radius is not None and radius > -_LIBRARY:
            raise NoValue("a power of e with an unknown exponent")
        self._notice_small(value)
        result = self.mp.exp(number)
        return result, _sum(_product(self._exponent(result) + 1, radius), self._near(result))

    def ln(self, value: MpmathBall) -> MpmathBall:
        if self._may_be_zero(value):
            raise NoValue("a logarithm of what may be zero")
        self._stay(value)
        result = self.mp.ln(value[0])
        return result, _sum(self._relative(value) + 2, self._near(result), 2 - self.bits)

    def sin(self, value: MpmathBall) -> MpmathBall:
        return self._wave(value, self.mp.sin)

    def cos(self, value: MpmathBall) -> MpmathBall:
        return self._wave(value, self.mp.cos)

    def _wave(self, value: MpmathBall, function: Any) -> MpmathBall:
        number, radius = value
        if self._exponent(number) > self.bits or (radius is not None and radius > -_LIBRARY):
            raise NoValue("an angle that is not known well enough")
        height = abs(self.mp.im(number))
        if height > _LARGEST // 2:
            raise NoValue("an angle far from the real ones")
        self._notice_small(value)
        steepest = 2 * int(height) + 2
        return function(number), _sum(_product(steepest, radius), steepest + _LIBRARY - self.bits)

    def arctan(self, value: MpmathBall) -> MpmathBall:
        number, radius = value
        if not self.is_real(value):
            raise NoValue("an inverse tangent of what is not real")
        self._notice_small(value)
        self._notice(2 * self._exponent(number))
        result = self.mp.atan(number)
        return result, _sum(radius, self._near(result))

    def floor(self, value: MpmathBall) -> MpmathBall:
        number, radius = value
        if not self.is_real(value):
            raise NoValue("a floor of what is not real")
        if radius is None:
            return self.mp.floor(number), None
        nearest = self.mp.nint(number)
        if radius < -self.bits // 2 and self._exponent(number - nearest) <= radius + 1:
            return nearest, None  # an integer as far as anybody can see
        if radius > -_LIBRARY or self._exponent(number - nearest) <= radius + 1:
            raise NoValue("a floor at a step")
        return self.mp.floor(number), None

    def parts(self, value: MpmathBall) -> tuple[MpmathBall, MpmathBall]:
        number, radius = value
        if self.is_real(value):
            return value, (self.mp.zero, None)
        return (number.real, radius), (number.imag, radius)

    def magnitude(self, value: MpmathBall) -> MpmathBall:
        number, radius = value
        if self.is_real(value):
            return abs(number), radius
        size = abs(number)
        return size, _sum(radius, self._near(size))

    # ---- radii

    def _exponent(self, number: Any) -> int:
        """The exponent of the next power of two above a number; of zero, that of the precision."""
        return int(self.mp.mag(number)) if number else -4 * self.bits

    def _relative(self, value: MpmathBall) -> int:
        radius = value[1]
        return -2 * self.bits if radius is None else radius - self._exponent(value[0]) + 1

    def _rounding(self, result: Any) -> int:
        return self._exponent(result) - self.bits + 1

    def _near(self, result: Any) -> int:
        return self._exponent(result) - self.bits + _LIBRARY

    def _rounded(self, result: Any) -> MpmathBall:
        return result, self._rounding(result)

    def _may_be_zero(self, value: MpmathBall) -> bool:
        number, radius = value
        return not number or (radius is not None and self._exponent(number) <= radius + 3)

    def _integers(self, *numbers: Any) -> bool:
        return all(self._fits(number) and self.mp.isint(number) for number in numbers)

    def _fits(self, number: Any) -> bool:
        """Whether an integer is so small that products of two of them are exact."""
        return isinstance(number, self.mp.mpf) and self._exponent(number) < self.bits // 2

    def _notice(self, gap: int) -> None:
        self.gap = max(self.gap, gap)

    def _notice_small(self, value: MpmathBall) -> None:
        """The gap between a function's value and the first terms of its series."""
        if not self._may_be_zero(value):
            self._notice(-2 * self._exponent(value[0]))

    def _refuse(self, exponent: int) -> None:
        if abs(exponent) > _LARGEST:
            raise NoValue(f"a value beyond 2^{_LARGEST}")

    def _stay(self, value: MpmathBall) -> None:
        """Refuse to leave the reals, or to stand on the branch cut."""
        number, radius = value
        if self.is_real(value):
            if self.real and number < 0:
                raise NoValue("not real")
        elif number.real < 0 and radius is not None and self._exponent(number.imag) <= radius + 1:
            raise NoValue("a value on the branch cut")


def _product(exponent: int, radius: int | None) -> int | None:
    return None if radius is None else exponent + radius


def _sum(*radii: int | None) -> int | None:
    """The exponent of a bound on the sum of at most four radii."""
    known = [radius for radius in radii if radius is not None]
    return max(known) + (2 if len(known) > 1 else 0) if known else None
