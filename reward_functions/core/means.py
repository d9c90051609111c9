"""The mean, by one function: equal values have that value as their mean, bit for bit.

A sum divided by its length does not promise it: three times 0.1 comes to 0.10000000000000002. A
trainer that divides by the standard deviation of a group turns such a residue into an advantage of
thousands, where nothing was better than anything.
"""

from __future__ import annotations

from decimal import Context, Decimal
from math import copysign, fsum, isfinite
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

EXACT: Final = Context(prec=2000)
"""Digits that hold every sum of products of floats."""

LARGEST_SUMMED: Final = 1e290
"""Values beyond it are divided before they are added, since their sum may be no float."""


def mean(values: Collection[float]) -> float:
    """The mean of at least one value, the same in any order; never outside their range.

    Infinities are means of infinities; of both signs they have none, which is not a number.
    """
    low, high = min(values), max(values)
    if low == high:
        return low or max(values, key=lambda zero: copysign(1.0, zero))
    if not (isfinite(low) and isfinite(high)):
        return low + high
    count = len(values)
    if low > -LARGEST_SUMMED and high < LARGEST_SUMMED:
        middle = fsum(values) / count
    else:
        middle = fsum([value / count for value in values])
    return min(max(middle, low), high)


def weighted_sum(values: Sequence[float], weights: Sequence[float]) -> float:
    """The sum of weight × value; of equal values, their value times the sum of the weights.

    So weights that sum to 1, within their last bit, leave what all parts agree on as it is. Numbers
    are added as they are written in decimals: 0.7 and 0.2 are 0.9, which worked examples say.
    """
    if len(set(values)) == 1:
        return fsum(weights) * mean(values)
    total = Decimal(0)
    for weight, value in zip(weights, values, strict=True):
        total = EXACT.fma(Decimal(repr(float(weight))), Decimal(repr(float(value))), total)
    return float(total)


def weighted_mean(values: Sequence[float], weights: Sequence[float]) -> float:
    """The sum of weight × value over that of the weights, of which one at least is above 0."""
    weighed = [(value, weight) for value, weight in zip(values, weights, strict=True) if weight]
    low, high = min(weighed)[0], max(weighed)[0]
    if low == high:
        return mean([value for value, _ in weighed])
    middle = fsum([value * weight for value, weight in weighed]) / fsum(weights)
    return min(max(middle, low), high)
