"""Figures of groups of rewards, each with its 95 % interval: what a GRPO trainer would see.

A group is the rewards of the responses to one prompt. They are alike, so that the prompts are what
an interval counts: a share has Wilson's (Journal of the American Statistical Association 22, 1927)
with prompts as its number, and a mean that of the bootstrap by prompt.
"""

from __future__ import annotations

from math import fsum, inf, sqrt
from statistics import NormalDist
from typing import TYPE_CHECKING, Final, NamedTuple

from reward_functions.core.means import LARGEST_SUMMED, mean
from reward_functions.reports.resampling import LEVEL, Interval, intervals

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

PAIR: Final = 2
"""Rewards of the smallest group that has a standard deviation."""


class Share(NamedTuple):
    """A share of something, or a mean, with its interval.

    Args:
        value: 0 to 1 for a share.
        low: the lower end of the 95 % interval.
        high: the upper end.
    """

    value: float
    low: float
    high: float


def share(count: int, of: int, independent: int) -> Share:
    """A share with Wilson's interval.

    Args:
        count: that have it.
        of: all, at least one.
        independent: how many of them say something of their own, for the interval.
    """
    return wilson(count / of, independent)


def wilson(value: float, independent: int) -> Share:
    """Wilson's interval around a share.

    Args:
        value: 0 to 1.
        independent: how many things it is a share of, for the interval.
    """
    number = max(1, independent)
    z = NormalDist().inv_cdf((1 + LEVEL) / 2)
    middle = (value + z * z / (2 * number)) / (1 + z * z / number)
    half = z * sqrt(value * (1 - value) / number + z * z / (4 * number**2)) / (1 + z * z / number)
    return Share(value, max(0.0, middle - half), min(1.0, middle + half))


def mean_reward(groups: Sequence[Sequence[float]]) -> Share | None:
    """The mean of all rewards; None where there is none."""
    values = [value for group in groups for value in group]
    if not values:
        return None

    summed = _Summed(groups)
    interval = intervals(range(len(groups)), lambda drawn: {"mean": summed.mean(drawn)})["mean"]
    return Share(mean(values), *(interval or Interval(0.0, 1.0)))


class _Summed:
    """Groups, as the mean of a draw needs them: 1,000 draws look at each group 1,000 times."""

    def __init__(self, groups: Sequence[Sequence[float]]) -> None:
        values = [value for group in groups for value in group]
        # Values whose sum would overflow are divided before, by as many as a draw can have.
        most = float(len(groups) * max(map(len, groups)))
        self._unit = 1.0 if max(map(abs, values)) < LARGEST_SUMMED else most
        self._totals = [fsum(value / self._unit for value in group) for group in groups]
        self._counts = [len(group) for group in groups]
        self._lows = [min(group, default=inf) for group in groups]
        self._highs = [max(group, default=-inf) for group in groups]

    def mean(self, drawn: Sequence[int]) -> float | None:
        """The mean of the values of groups, as `core.means` has it: never outside their range."""
        count = sum(map(self._counts.__getitem__, drawn))
        if not count:
            return None
        middle = fsum(map(self._totals.__getitem__, drawn)) / count * self._unit
        low = min(map(self._lows.__getitem__, drawn))
        return min(max(middle, low), max(map(self._highs.__getitem__, drawn)))


def share_among(groups: Collection[Sequence[float]], has: Callable[[float], bool]) -> Share | None:
    """The share of all rewards that have something; None where there is no reward."""
    values = [value for group in groups for value in group]
    return share(sum(map(has, values)), len(values), len(groups)) if values else None


def share_mixed(groups: Collection[Sequence[float]]) -> Share | None:
    """The share of groups whose rewards differ; the others have zero advantage.

    None where no group has two rewards.
    """
    several = [group for group in groups if len(group) >= PAIR]
    if not several:
        return None
    return share(sum(max(group) > min(group) for group in several), len(several), len(several))
