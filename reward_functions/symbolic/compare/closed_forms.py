r"""Numbers in square roots, π and powers of ten, told apart without the grammar.

`3\sqrt{2}`, `\frac{1-\sqrt{5}}{2}`, `\frac{67\pi}{3}` and `1.96 \times 10^{-10}` are what most
wrong answers to such references are. The roots of different square-free numbers, 1 and π are
independent over the rationals, so two sums with different coefficients have different values.
Whether two numbers are equal is never decided here: a reader then wants to know by which rule.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from math import pi, sqrt
from typing import Final

from reward_functions.core import patterns as re
from reward_functions.quantities.precision import rounding_error
from reward_functions.symbolic.parsing.plain import KEPT, literal
from reward_functions.symbolic.verdict import Finding, differ

LONGEST: Final = 60
"""Characters of a string that is looked at."""

_CLOSE: Final = 1e-9
"""Values nearer to each other than that, by their size, are left to more digits."""

_TEN: Final = 10
_PI: Final = 0
"""Where the coefficient of π stands, beside those of the roots of square-free numbers."""

_ROOT: Final = r"\\sqrt(?:\{([0-9]{1,4})\}|([0-9])(?![0-9]))|(\\pi)(?![a-zA-Z])"
_TERM: Final = re.compile(rf"([+-]?)\s?+(?:([0-9]{{1,15}})\s?+(?:{_ROOT})?|(?:{_ROOT}))\s?+")
_FRACTION: Final = re.compile(
    r"(-?)\s?+\\[dt]?frac\{([^{}]*(?:\{[0-9]+\}[^{}]*+)*)\}\{([0-9]{1,15})\}"
)
_POWER_OF_TEN: Final = re.compile(
    r"(-?)([0-9]{1,15})(?:\.([0-9]{1,15}))?"
    r"(?:\s?+\\(?:times|cdot)\s?+10\^(?:\{(-?[0-9]{1,3})\}|([0-9]))|e([+-]?[0-9]{1,3}))"
).fullmatch

Coefficients = dict[int, Fraction]


def apart(reference: str, candidate: str) -> Finding | None:
    """The finding that two numbers differ; None where they may not, and for anything else."""
    first, second = _number(reference), _number(candidate)
    if first is None or second is None or first == second:
        return None
    unit = _unit(reference)
    whole, other = first.keys() <= {1}, second.keys() <= {1}
    if unit is not None:
        return _unrounded(first.get(1, Fraction(0)), unit, second) if other else None
    if whole and other:
        return differ("exact-value", "the exact values differ")
    if whole or other:
        return differ("exact-algebra", "the canonical forms differ")
    values = _value(first), _value(second)
    if abs(values[0] - values[1]) <= _CLOSE * (abs(values[0]) + abs(values[1])):
        return None
    return differ("values-at-points", "the values differ at a point of the domain")


def _unrounded(value: Fraction, unit: Fraction, candidate: Coefficients) -> Finding | None:
    """Whether a rational number is too far from a decimal to be one that it was rounded from."""
    if abs(candidate.get(1, Fraction(0)) - value) > rounding_error(value, unit):
        return differ("rounded-decimal", "the value does not round to the reference")
    return None


@lru_cache(KEPT)
def _unit(text: str) -> Fraction | None:
    """The worth of the last digit of a decimal; None for a number that is none."""
    number = literal(text)
    if number is not None:
        return Fraction(1, number.below) if number.places else None
    power = _POWER_OF_TEN(_undelimited(text))
    return Fraction(_TEN) ** _raised(power) if power and power[3] else None


def _raised(power: re.Match[str]) -> int:
    """The power of ten that the last digit counts."""
    return int(power[4] or power[5] or power[6]) - len(power[3] or "")


@lru_cache(KEPT)
def _number(text: str) -> Coefficients | None:
    """The coefficients of 1, π and the roots in a number; None for anything else."""
    if len(text) > LONGEST or "," in text:
        return None
    number = literal(text)
    if number is not None:
        return _without_zeros({1: Fraction(number.above, number.below)})
    text = _undelimited(text)
    if power := _POWER_OF_TEN(text):
        digits = int(f"{power[1]}{power[2]}{power[3] or ''}")
        return _without_zeros({1: digits * Fraction(_TEN) ** _raised(power)})
    found = _fraction(text) if "frac" in text else _sum(text)
    return found if found and not found.keys() <= {1} else None


def _undelimited(text: str) -> str:
    return text[1:-1].strip() if text.startswith("$") and text.endswith("$") else text


def _fraction(text: str) -> Coefficients | None:
    r"""A sum above a number, or a plain fraction before a root: \frac{3}{4}\sqrt{2}."""
    fraction = _FRACTION.match(text)
    if fraction is None:
        return None
    above, below, behind = _sum(fraction[2]), int(fraction[3]), text[fraction.end() :].strip()
    if behind and above and above.keys() == {1}:
        root = _sum(behind) if behind.startswith(("\\sqrt", "\\pi")) else None
        one = root is not None and len(root) == 1
        above = {key: above[1] * root[key] for key in root} if root is not None and one else None
    elif behind:
        return None
    if not above or not below:
        return None
    sign = -1 if fraction[1] else 1
    return {key: sign * each / below for key, each in above.items()}


def _sum(text: str) -> Coefficients | None:
    found: Coefficients = {}
    place = 0
    while place < len(text):
        term = _TERM.match(text, place)
        if term is None or (place and not term[1]):
            return None
        sign, factor, *groups = term.groups()
        root = groups[0] or groups[1] or groups[3] or groups[4]
        outside, inside = _square_free(int(root)) if root else (1, 1)
        key = _PI if groups[2] or groups[5] else inside
        worth = int(factor or 1) * outside
        found[key] = found.get(key, Fraction(0)) + (-worth if sign == "-" else worth)
        place = term.end()
    return _without_zeros(found)


def _without_zeros(found: Coefficients) -> Coefficients:
    return {key: each for key, each in found.items() if each}


def _square_free(radicand: int) -> tuple[int, int]:
    """A root as a multiple of the root of a number that no square divides; 0 is 0 times 1."""
    if not radicand:
        return 0, 1
    outside, divisor = 1, 2
    while divisor * divisor <= radicand:
        while radicand % (divisor * divisor) == 0:
            radicand //= divisor * divisor
            outside *= divisor
        divisor += 1
    return outside, radicand


def _value(found: Coefficients) -> float:
    return sum(float(each) * (pi if key == _PI else sqrt(key)) for key, each in found.items())
