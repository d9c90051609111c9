"""McNemar's test: whether as many prompts turned right as turned wrong.

    exact            two-sided binomial, of the smaller of both counts; never too small
    mid-p            half the probability of what was seen is left out; closer to its level
                     (Fagerland, Lydersen and Laake, BMC Medical Research Methodology 13:91, 2013)
    chi-square       (|b - c| - 1)² / (b + c), with Edwards' continuity correction, one degree

The p-value that is reported is the exact one up to `EXACT` prompts that differ, and the chi-square
one beyond. Prompts on which both models do alike say nothing about a difference.
Source: McNemar, Psychometrika 12, 1947.
"""

from __future__ import annotations

from math import comb, erfc, sqrt
from typing import Final, NamedTuple

EXACT: Final = 1_000
"""Prompts that differ up to which the binomial sum is made."""


class McNemar(NamedTuple):
    """The test of two counts.

    Args:
        gained: prompts that only the tuned model gets right.
        lost: prompts that only the base gets right.
        p_value: of `test`, two-sided, 0 to 1; 1 where no prompt differs.
        mid_p: two-sided; None beyond `EXACT`.
        chi_square: the statistic; 0 where no prompt differs.
        test: "exact" or "chi-square".
    """

    gained: int
    lost: int
    p_value: float
    mid_p: float | None
    chi_square: float
    test: str


def mcnemar(gained: int, lost: int) -> McNemar:
    """Test two counts of prompts, each from 0.

    Raises:
        ValueError: one is below 0.
    """
    if min(gained, lost) < 0:
        raise ValueError(f"counts are from 0, not {gained} and {lost}")
    differ = gained + lost
    statistic = max(0, abs(gained - lost) - 1) ** 2 / differ if differ else 0.0
    if differ > EXACT:
        return McNemar(gained, lost, erfc(sqrt(statistic / 2)), None, statistic, "chi-square")
    exact, middle = _binomial(min(gained, lost), differ)
    return McNemar(gained, lost, exact, middle, statistic, "exact")


def _binomial(fewer: int, differ: int) -> tuple[float, float]:
    """Twice the probability of so few of a fair coin's throws or fewer, and its mid-p.

    In whole numbers: each is a quotient of two, rounded once.
    """
    ways = [comb(differ, count) for count in range(fewer + 1)]
    all_ways = 1 << differ
    exact = min(1.0, 2 * sum(ways) / all_ways)
    return exact, min(1.0, (2 * sum(ways) - ways[-1]) / all_ways)


def holm(p_values: dict[str, float]) -> dict[str, float]:
    """The p-values adjusted for their number, so that one group of many is no finding by chance.

    Source: Holm, A Simple Sequentially Rejective Multiple Test Procedure, Scandinavian Journal of
    Statistics 6, 1979.

    Args:
        p_values: by name, 0 to 1.
    """
    adjusted: dict[str, float] = {}
    largest = 0.0
    for at, name in enumerate(sorted(p_values, key=p_values.__getitem__)):
        largest = max(largest, min(1.0, (len(p_values) - at) * p_values[name]))
        adjusted[name] = largest
    return {name: adjusted[name] for name in p_values}
