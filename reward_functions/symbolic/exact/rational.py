"""Rational arithmetic that looks before it leaps.

Powers, factorials and binomials of numbers are computed only after an estimate of the bits of the
result: 9^9^9 costs a comparison. Roots of numbers are taken exactly through their prime factors.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import comb, factorial, gcd, isqrt, log2, prod
from typing import Final

from reward_functions.symbolic.budget import BITS, FACTOR, OverBudget, Unreadable
from reward_functions.symbolic.expr.nodes import Apply, Node, Number, Percent, Power, Product, Sum

ONE: Final = Fraction(1)
ZERO: Final = Fraction(0)
_FEW: Final = 8
"""Terms or factors among which long numbers may cancel; each such step takes a millisecond."""

Operation = Callable[[Fraction, Fraction], Fraction]


def bits(value: int | Fraction) -> int:
    """The size of a rational number: the bits above and below its bar."""
    return value.numerator.bit_length() + value.denominator.bit_length()


def times(first: Fraction, second: Fraction) -> Fraction:
    """The product. Raises `OverBudget` when it has more than `BITS` bits."""
    return _afforded(first, second, first.__mul__)


def plus(first: Fraction, second: Fraction) -> Fraction:
    """The sum, with the same limit."""
    return _afforded(first, second, first.__add__)


def _afforded(
    first: Fraction, second: Fraction, operation: Callable[[Fraction], Fraction]
) -> Fraction:
    """What is made of two numbers. Much may cancel: 2001!/1999! is made of long numbers, and short.

    So twice the bits are allowed before, and the limit holds for what comes out.
    """
    before = bits(first) + bits(second)
    if before > 2 * BITS:
        raise OverBudget(f"a number of more than {BITS} bits")
    made = operation(second)
    if before > BITS < max(made.numerator.bit_length(), made.denominator.bit_length()):
        raise OverBudget(f"a number of more than {BITS} bits")
    return made


def power(base: Fraction, exponent: int) -> Fraction:
    """An integer power.

    Raises:
        Unreadable: 0^0 or a negative power of 0, which denote nothing.
        OverBudget: the result would have more than `BITS` bits.
    """
    if not base:
        if exponent <= 0:
            raise Unreadable("0 to a power that is not positive")
        return ZERO
    if abs(base) == 1:
        return base if exponent % 2 else ONE
    if bits(base) * abs(exponent) > 2 * BITS:
        raise OverBudget(f"a power of more than {BITS} bits")
    return base**exponent


def factorial_of(value: Fraction) -> Fraction | None:
    """n!, or None when the argument is no natural number.

    Raises `OverBudget` when the result would have more than `BITS` bits.
    """
    if value.denominator != 1 or value < 0:
        return None
    count = value.numerator
    if count * count.bit_length() > BITS:
        raise OverBudget(f"a factorial of more than {BITS} bits")
    return Fraction(factorial(count))


def double_factorial_of(value: Fraction) -> Fraction | None:
    """n(n-2)(n-4)…, down to 1 or 2; None and raises as `factorial_of`."""
    if value.denominator != 1 or value < 0:
        return None
    count = value.numerator
    if count * count.bit_length() > 2 * BITS:
        raise OverBudget(f"a double factorial of more than {BITS} bits")
    return Fraction(prod(range(count, 0, -2)))


def binomial(upper: Fraction, lower: Fraction) -> Fraction | None:
    """N over k, or None when one of them is no natural number; raises as `factorial_of`."""
    if upper.denominator != 1 or lower.denominator != 1 or upper < 0 or lower < 0:
        return None
    smaller = min(lower.numerator, upper.numerator - lower.numerator)
    if smaller > 0 and smaller * upper.numerator.bit_length() > BITS:
        raise OverBudget(f"a binomial coefficient of more than {BITS} bits")
    return Fraction(comb(upper.numerator, lower.numerator))


_DIVISORS: Final = (2, *range(3, FACTOR + 1, 2))


def multiplicity(number: int, divisor: int) -> tuple[int, int]:
    """How often a positive integer can be divided by another, and what remains."""
    if number % divisor:
        return 0, number
    times, rest = multiplicity(number, divisor * divisor)  # a few divisions for any power
    return (2 * times, rest) if rest % divisor else (2 * times + 1, rest // divisor)


def prime_factors(number: int) -> tuple[dict[int, int], int]:
    """The small prime factors of a positive integer with their powers, and what remains.

    The remainder is 1, or has no divisor up to `FACTOR`; under the square of that it is a prime and
    is counted among the factors.
    """
    found: dict[int, int] = {}
    for divisor in _DIVISORS:
        if divisor * divisor > number:
            break
        if number % divisor == 0:
            found[divisor], number = multiplicity(number, divisor)
    if 1 < number <= FACTOR * FACTOR:
        found[number] = found.get(number, 0) + 1
        number = 1
    return found, number


_SURE: Final = 32
"""Binary digits of a root that are sure where a float has said them."""


def exact_root(number: int, index: int) -> int | None:
    """The integer whose power of the index is the number, or None. Both are positive."""
    if index == 2:  # noqa: PLR2004 - the square root has its own fast function
        root = isqrt(number)
        return root if root * root == number else None
    if index >= number.bit_length():  # 2 to that power is larger; and it might not fit in memory
        return 1 if number == 1 else None
    digits = log2(number) / index
    shift = max(0, int(digits) - _SURE)
    root = int(2 ** (digits - shift)) + 1 << shift  # above the root, from where Newton's steps fall
    while (nearer := ((index - 1) * root + number // root ** (index - 1)) // index) < root:
        root = nearer
    return root if root**index == number else None


def content(values: list[Fraction]) -> Fraction:
    """The greatest positive rational that divides all of them to integers; they are not zero."""
    above = gcd(*(value.numerator for value in values))
    below = 1
    for value in values:
        below = below * value.denominator // gcd(below, value.denominator)
    return Fraction(above, below)


def rational(node: Node) -> Fraction | None:
    """The value of a tree in which only numbers are computed with, or None for any other tree.

    Raises:
        Unreadable: a division by zero or 0^0.
        OverBudget: a number would get too big.
    """
    match node:
        case Number(value, _):
            return value
        case Sum(terms):
            return _folded(terms, ZERO, plus)
        case Product(over, under):
            above, below = _folded(over, ONE, times), _folded(under, ONE, times)
            return None if above is None or below is None else quotient(above, below)
        case Percent(body):
            value_of_body = rational(body)
            return None if value_of_body is None else value_of_body / 100
        case Power(base, exponent):
            return _rational_power(base, exponent)
        case Apply(name, arguments):
            return _applied(name, arguments)
    return None


def quotient(above: Fraction, below: Fraction) -> Fraction:
    """A division. Raises `Unreadable` for one by zero."""
    if not below:
        raise Unreadable("a division by zero")
    return times(above, 1 / below)


def _folded(nodes: tuple[Node, ...], start: Fraction, operation: Operation) -> Fraction | None:
    result = start
    if len(nodes) > _FEW and sum(isinstance(node, Product | Apply) for node in nodes) > _FEW:
        operation = _strictly(operation)
    for node in nodes:
        value = rational(node)
        if value is None:
            return None
        result = operation(result, value)
    return result


def _strictly(operation: Operation) -> Operation:
    """An operation that makes nothing of numbers of more than `BITS` bits, whatever cancels."""

    def limited(first: Fraction, second: Fraction) -> Fraction:
        if bits(first) + bits(second) > BITS:
            raise OverBudget(f"a number of more than {BITS} bits")
        return operation(first, second)

    return limited


def _rational_power(base: Node, exponent: Node) -> Fraction | None:
    raised = rational(exponent)
    if raised is None or raised.denominator != 1:
        return None
    below = rational(base)
    return None if below is None else power(below, raised.numerator)


def _applied(name: str, arguments: tuple[Node, ...]) -> Fraction | None:
    values = [rational(argument) for argument in arguments]
    known = [value for value in values if value is not None]
    match name, values:
        case "max" | "min", [_, *_] if len(known) == len(values):
            return max(known) if name == "max" else min(known)
        case "factorial", [Fraction() as value]:
            return factorial_of(value)
        case "doublefactorial", [Fraction() as value]:
            return double_factorial_of(value)
        case "binom", [Fraction() as upper, Fraction() as lower]:
            return binomial(upper, lower)
        case "abs", [Fraction() as value]:
            return abs(value)
        case "floor", [Fraction() as value]:
            return Fraction(value.numerator // value.denominator)
        case "ceil", [Fraction() as value]:
            return Fraction(-(-value.numerator // value.denominator))
    return None
