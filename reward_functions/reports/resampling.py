"""Confidence intervals by the cluster bootstrap, with prompts as clusters.

Cases of one prompt are alike. A draw therefore takes whole prompts with replacement, as many as
there are; the interval lies between two percentiles of the figures of many draws. The draws are
seeded: the same cases give the same interval. Source: Efron and Tibshirani, An Introduction to
the Bootstrap, 1993, chapter 13; Cameron, Gelbach and Miller, Bootstrap-Based Improvements for
Inference with Clustered Errors, 2008, for the clusters.

The quantiles that lengths and times are reported in.
"""

from __future__ import annotations

from math import ceil, floor
from random import Random
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence


Cluster = TypeVar("Cluster")

LEVEL: Final = 0.95
DRAWS: Final = 1_000
"""Enough for the second digit of a 95 % interval; more draws hardly move it."""


class Interval(NamedTuple):
    """The percentile interval of a figure."""

    low: float
    high: float


def draws(clusters: Sequence[Cluster], times: int, seed: int) -> Iterator[list[Cluster]]:
    """Bootstrap samples of the clusters, each as large as all of them.

    Args:
        clusters: to draw from.
        times: the number of samples.
        seed: of the draws.
    """
    random = Random(seed)  # noqa: S311 - the same draws in every run
    for _ in range(times):
        yield random.choices(clusters, k=len(clusters))


def intervals(
    clusters: Sequence[Cluster],
    figures: Callable[[Sequence[Cluster]], Mapping[str, float | None]],
    *,
    times: int = DRAWS,
    seed: int = 0,
) -> dict[str, Interval | None]:
    """The interval of every figure; None where no draw has it.

    Args:
        clusters: to draw from.
        figures: of the clusters of one draw; the same names for every draw.
        times: how many draws.
        seed: of the draws.
    """
    seen: dict[str, list[float]] = {}
    for drawn in draws(clusters, times, seed):
        for name, value in figures(drawn).items():
            kept = seen.setdefault(name, [])
            if value is not None:  # a draw without a class has no figure of it
                kept.append(value)
    return {name: _interval(values) for name, values in seen.items()}


def percentile(ordered: Sequence[float], share: float) -> float:
    """The value below which a share of them lies, between neighbours in proportion.

    Args:
        ordered: at least one value, smallest first.
        share: 0 to 1.
    """
    place = share * (len(ordered) - 1)
    below, above = ordered[floor(place)], ordered[ceil(place)]
    return below + (above - below) * (place - floor(place))


def _interval(values: Sequence[float]) -> Interval | None:
    if not values:
        return None
    ordered, outside = sorted(values), (1 - LEVEL) / 2
    return Interval(percentile(ordered, outside), percentile(ordered, 1 - outside))


Number = TypeVar("Number", int, float)


def quantile(values: Sequence[Number], share: float) -> Number:
    """The smallest value that at least this share of the values does not exceed.

    Args:
        values: at least one.
        share: above 0, at most 1.
    """
    return sorted(values)[ceil(share * len(values)) - 1]
