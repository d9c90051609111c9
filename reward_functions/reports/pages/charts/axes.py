"""Where a value lies on an axis, and its ticks at round numbers.

An axis is straight, or logarithmic where sizes of every order are to be told apart. Values are
finite. Those that differ by less than a thousand-millionth of their size are drawn as equal:
doubles have no round numbers between them.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, floor, log10
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

STEPS: Final = (1.0, 2.0, 2.5, 5.0, 10.0)
"""What a step between ticks may be, times a power of ten."""

THOUSAND: Final = 1e3
MILLION: Final = 1e6
"""Whole numbers between them have their thousands apart."""

SMALL: Final = 1e-4
"""Ticks below it, and from a million on, are written with a power of ten."""

LARGEST: Final = 1e100
"""Values beyond it lie at the end of the axis."""

SMALLEST: Final = 1e-100
"""A range below it is none."""

CLOSEST: Final = 1e-9
"""The same, as a share of the values."""


@dataclass(frozen=True, slots=True)
class Axis:
    """A scale from the values to the units of a drawing, straight or logarithmic.

    Args:
        title: what the values are, with their unit.
        low: the value at `start`.
        high: the value at `end`; above `low`.
        start: units of the drawing.
        end: the same; below `start` on an axis that rises.
        whole: whether there is nothing between whole numbers: counts, steps.
        logarithmic: whether equal distances are equal ratios; `low` is then above zero.
    """

    title: str
    low: float
    high: float
    start: float
    end: float
    whole: bool = False
    logarithmic: bool = False

    def place(self, value: float) -> float:
        """Where a value lies; one beyond an end lies at the end."""
        if self.logarithmic:
            share = log10(max(value, self.low) / self.low) / log10(self.high / self.low)
        else:
            share = (value - self.low) / (self.high - self.low)
        return self.start + (self.end - self.start) * min(1.0, max(0.0, share))

    def ticks(self, count: int = 5) -> list[tuple[float, str]]:
        """About so many round values between the ends, each with its label; powers of ten."""
        if self.logarithmic:
            return [(value, power_label(value)) for value in powers(self.low, self.high, count)]
        step = round_step((self.high - self.low) / count, whole=self.whole)
        values = multiples(step, self.low, self.high)
        return list(zip(values, tick_labels(values, step), strict=True))


def axis(
    title: str,
    values: Sequence[float],
    start: float,
    end: float,
    *,
    includes: Sequence[float] = (),
    whole: bool = False,
) -> Axis:
    """An axis that holds all values, and those that a reader expects on it.

    Args:
        title: what they are.
        values: at least one, here or in `includes`.
        start: units of the drawing.
        end: the same.
        includes: values that the axis reaches in any case, such as the ends of a reward's scale.
        whole: whether there is nothing between whole numbers.
    """
    bounded = [min(LARGEST, max(-LARGEST, value)) for value in (*values, *includes)]
    low, high = min(bounded), max(bounded)
    size = max(abs(low), abs(high))
    if high - low <= max(SMALLEST, CLOSEST * size):
        aside = size / 10 if size > SMALLEST else 0.5
        low, high = low - aside, high + aside
    return Axis(title, low, high, start, end, whole)


def logarithmic_axis(title: str, values: Sequence[float], start: float, end: float) -> Axis:
    """An axis from one power of ten to another that holds all values; those below 1 lie at 1.

    Args:
        title: what they are.
        values: at least one.
        start: units of the drawing.
        end: the same.
    """
    bounded = [min(LARGEST, max(1.0, value)) for value in values]
    low = 10.0 ** floor(log10(min(bounded)))
    high = max(10.0 ** ceil(log10(max(bounded))), 10 * low)
    return Axis(title, low, high, start, end, logarithmic=True)


def powers(low: float, high: float, count: int) -> list[float]:
    """Powers of ten from one to another, at most `count` and one more."""
    first, last = round(log10(low)), round(log10(high))
    return [10.0**at for at in range(first, last + 1, ceil((last - first) / count))]


def power_label(value: float) -> str:
    """A power of ten with its thousands apart, from ten million on as a power."""
    return f"{value:,.0f}" if value <= MILLION else f"1e{log10(value):.0f}"


def round_step(least: float, *, whole: bool = False) -> float:
    """The least of `STEPS` times a power of ten that is no smaller."""
    power = 10.0 ** floor(log10(least))
    step = next(each * power for each in STEPS if each * power >= least * (1 - CLOSEST))
    return float(ceil(step)) if whole else step


def multiples(step: float, low: float, high: float) -> list[float]:
    """Those of a step from one value to another."""
    first, last = ceil(low / step - CLOSEST), floor(high / step + CLOSEST)
    return [min(high, max(low, at * step)) for at in range(first, last + 1)]


def tick_labels(values: Sequence[float], step: float) -> list[str]:
    """The values with as many digits as tell them apart, all written alike."""
    size = max(map(abs, values), default=0.0)
    if size >= MILLION or 0 < size < SMALL:
        digits = max(1, ceil(log10(size / step)) + 2)
        return [f"{value:.{digits}g}" for value in values]
    decimals = next(at for at in range(20) if abs(step - round(step, at)) <= step * 1e-6)
    return [f"{value + 0.0:,.{decimals}f}" for value in values]


def number(value: float) -> str:
    """A number as a mark has it: short, thousands apart."""
    if value == round(value) and THOUSAND <= abs(value) < MILLION:
        return f"{value:,.0f}"
    return f"{value:.4g}"
