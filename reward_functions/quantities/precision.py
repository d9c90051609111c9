"""How exactly a number is printed: "12.50" to hundredths, "2.6e2" to tens, "5 million" to millions.

A printed decimal stands for every number that rounds to it, and so does a whole number in words; a
fraction is exact.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import Final, NamedTuple

from reward_functions.core import patterns as re

_NUMERAL: Final = re.compile(r"\.?\d(?:[\d,.]|[ ](?=\d{3}(?!\d)))*")
_GROUPED_BY_POINTS: Final = re.compile(r"\d{1,3}(?:\.\d{3}){2,}\.?")


@lru_cache(maxsize=64)
def place(decimals: int) -> Fraction:
    """One unit in a decimal place."""
    return Fraction(1, 10**decimals)


ONE_DIGIT: Final = Fraction(1, 200)
"""The share of its value by which a decimal of one significant digit may be off. It is hardly ever
a rounded value: half a unit would take 0.51 for 0.5."""

_TEN: Final = 10


def rounding_error(value: Fraction, step: Fraction) -> Fraction:
    """How far a value may lie from a printed decimal that it rounds to.

    Args:
        value: that of the decimal.
        step: one unit in its last printed place.
    """
    half = step / 2
    return min(half, abs(value) * ONE_DIGIT) if abs(value) < _TEN * step else half


class Precision(NamedTuple):
    """The precision that the digits of a number show.

    Args:
        step: one unit in the last printed place; 0 for a number that is exact.
        digits: significant digits. Zeros at the end count: "260" has three, "2.6e2" has two.
    """

    step: Fraction
    digits: int


EXACT: Final = Precision(Fraction(0), 10**6)
"""Of fractions."""

_THOUSAND: Final = 1000


def precision(text: str, value: Fraction) -> Precision:
    """How exactly a string prints its number.

    Args:
        text: the number in digits, with or without what stands around it; or a fraction, or words.
        value: what it was read as, powers of ten and scale words multiplied in.
    """
    numeral = _NUMERAL.search(text)
    if "/" in text or (numeral is None and value.denominator > 1):
        return EXACT
    if numeral is None:
        return _worded(abs(value.numerator))
    digits = numeral[0].replace(",", "").replace(" ", "")
    if _GROUPED_BY_POINTS.fullmatch(digits):
        digits = digits.replace(".", "")
    whole, _, fraction = digits.rstrip(".").partition(".")
    mantissa = Fraction(int(whole + fraction or 0), 10 ** len(fraction))
    step = place(len(fraction))
    if mantissa:
        step *= abs(value) / mantissa
    return Precision(step, len((whole + fraction).lstrip("0")))


def _worded(value: int) -> Precision:
    """Of a number in words: "twelve" to ones, "twelve million" to millions."""
    step = 1
    while value and value % _THOUSAND == 0:
        value, step = value // _THOUSAND, step * _THOUSAND
    return Precision(Fraction(step), len(str(value)) if value else 0)
