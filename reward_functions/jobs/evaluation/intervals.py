"""The statistics of a comparison: an interval, McNemar's test, pass@k, and sizes of samples.

The interval of a mean difference is the bootstrap over prompts, which are what is independent.

Each prompt contributes one number, the mean of what the tuned model's answers to it earn less that
of the base's. Prompts are drawn with replacement, and the interval lies between two percentiles of
the means of many draws. The percentiles are those of Hesterberg's expanded interval (What Teachers
Should Know About the Bootstrap, The American Statistician 69, 2015, section 5.3): plain ones are
too narrow for few prompts, by sqrt((n - 1) / n) and by the normal quantile in the place of t's.
Two prompts are added to the draws, of the largest difference over the square root of 2, one of each
sign: a leap that few prompts make may be missing in the split altogether. It is half of what Bonett
and Price add to each side for paired proportions (Adjusted Wald Confidence Interval for a
Difference of Binomial Proportions Based on Paired Data, J. Educ. Behav. Stat. 37, 2012).

Where no prompt differs at all there is nothing to draw from, and the interval is that of the share
of prompts that may differ by the whole scale, of which none was seen (Clopper and Pearson, The Use
of Confidence or Fiducial Limits, Biometrika 26, 1934): nothing seen in 30 prompts is no certainty.

Percentiles were chosen by their coverage, which `python -m tests.benchmarks coverage` measures:
where few prompts differ, BCa covered 89 % and the studentized interval 85 % in place of 95 %.

McNemar's test: whether as many prompts turned right as turned wrong.

    exact            two-sided binomial, of the smaller of both counts; never too small
    mid-p            half the probability of what was seen is left out; closer to its level
                     (Fagerland, Lydersen and Laake, BMC Medical Research Methodology 13:91, 2013)
    chi-square       (|b - c| - 1)² / (b + c), with Edwards' continuity correction, one degree

The p-value that is reported is the exact one up to `EXACT` prompts that differ, and the chi-square
one beyond. Prompts on which both models do alike say nothing about a difference.
Source: McNemar, Psychometrika 12, 1947.

pass@k: how often one of k answers is right, without bias from n answers of which c are.

    1 - C(n - c, k) / C(n, k)

1 - (1 - c/n)^k, the plain estimate, is too low. Source: Chen et al., Evaluating Large Language
Models Trained on Code, 2021, arXiv 2107.03374, section 2.1.

How many prompts a difference takes to be shown, and what a split of this size can show.

    prompts = ((z_0.975 sqrt(m) + z_0.8 sqrt(m - d²)) / d)²

m is the mean square of the differences that were seen, and d the difference that one cares about.
Where answers are right or wrong, m is the share of prompts on which the models differ, and this is
Connor's formula for McNemar's test (Sample Size for Testing Differences in Proportions for the
Paired-Sample Design, Biometrics 43, 1987). Power is 80 %, the level 5 %, two-sided.
"""

from __future__ import annotations

from math import ceil, comb, erfc, fsum, sqrt
from statistics import NormalDist
from typing import TYPE_CHECKING, Final, NamedTuple

from reward_functions.core.means import mean
from reward_functions.reports.resampling import LEVEL, draws, percentile

if TYPE_CHECKING:
    from collections.abc import Sequence


DRAWS: Final = 2_000
"""Draws of an interval: each percentile is then known to within a half percent of the draws."""

MOST: Final = 4_000_000
"""Prompts drawn in all, so that a large split takes seconds; never under `FEWEST` draws."""

FEWEST: Final = 400

PAIR: Final = 2
"""Prompts of which an interval can be made."""

NORMAL: Final = NormalDist()


class Difference(NamedTuple):
    """A mean difference with its 95 % interval.

    Args:
        value: mean of the differences, as a share of the scale, from -1 to 1.
        low: the lower end of the interval.
        high: the upper end.
        prompts: how many.
    """

    value: float
    low: float
    high: float
    prompts: int

    @property
    def width(self) -> float:
        """From the lower end to the upper."""
        return self.high - self.low


def mean_difference(differences: Sequence[float], seed: int = 0) -> Difference | None:
    """The mean with its interval; None where there is no prompt.

    Args:
        differences: one for each prompt, from -1 to 1.
        seed: of the draws: equal differences in equal order have equal intervals.

    Returns:
        an interval from -1 to 1 where one prompt is all there is.
    """
    count = len(differences)
    if not count:
        return None
    middle = mean(differences)
    if count < PAIR:
        return Difference(middle, -1.0, 1.0, count)
    if not any(differences):
        unseen = 1 - ((1 - LEVEL) / 2) ** (1 / count)
        return Difference(middle, -unseen, unseen, count)
    times = min(DRAWS, max(FEWEST, MOST // count))
    smoothed = [*differences, *_pseudo(differences)]
    moved = middle - sum(smoothed) / len(smoothed)
    means = sorted(moved + sum(drawn) / len(smoothed) for drawn in draws(smoothed, times, seed))
    outside = _outside(count)
    low, high = percentile(means, outside), percentile(means, 1 - outside)
    # The sum of a draw may miss the mean by its last bit, where all differences are equal.
    return Difference(middle, max(-1.0, min(low, middle)), min(1.0, max(high, middle)), count)


def _pseudo(differences: Sequence[float]) -> tuple[float, float]:
    """Two prompts beside those that were asked, of opposite differences."""
    largest = max(map(abs, differences)) * sqrt(0.5)
    return largest, -largest


def _outside(count: int) -> float:
    """The share of the draws below the lower end: less than 2.5 %, and that of very many."""
    return NORMAL.cdf(-sqrt(count / (count - 1)) * t_quantile(count - 1))


def t_quantile(freedom: int) -> float:
    """The 97.5 % quantile of Student's t.

    By the expansion of Cornish and Fisher in four terms (Abramowitz and Stegun, 26.7.5): right to
    0.1 % from 5 degrees of freedom on, and narrower below, where nothing should rest on it.

    Args:
        freedom: degrees, at least 1.
    """
    z = NORMAL.inv_cdf((1 + LEVEL) / 2)
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    return z + fsum(term / float(freedom) ** power for power, term in enumerate(terms, 1))


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


def pass_at_k(answers: int, right: int, k: int) -> float:
    """The estimate for one prompt, 0 to 1.

    Args:
        answers: to the prompt, at least k.
        right: of them.
        k: at least 1.

    Raises:
        ValueError: there are fewer answers than k, or more right ones than answers.
    """
    if not (1 <= k <= answers and 0 <= right <= answers):
        raise ValueError(f"{right} right ones of {answers} answers have no pass@{k}")
    return 1.0 - comb(answers - right, k) / comb(answers, k)


def sizes(answers: int) -> list[int]:
    """The k that are reported of so many answers: 1, 2, 4 and so on, and all of them."""
    doubled = [1 << power for power in range(answers.bit_length()) if 1 << power <= answers]
    return sorted({*doubled, answers}) if answers else []


POWER: Final = 0.8

HALVINGS: Final = 60


def mean_square(differences: Sequence[float]) -> float:
    """How much prompts differ, 0 to 1.

    Args:
        differences: one for each prompt, at least one.
    """
    return mean([each * each for each in differences])


def prompts_needed(square: float, difference: float) -> int | None:
    """How many prompts show a difference four times in five.

    Args:
        square: the mean square of what was seen, 0 to 1.
        difference: above 0, at most 1, as a share of the scale.

    Returns:
        at least 1; None where nothing was seen to differ, so that nothing says how many.
    """
    if square <= 0:
        return None
    return max(1, ceil(_needed(square, difference)))


def smallest_shown(square: float, prompts: int) -> float | None:
    """The difference that so many prompts show four times in five, at most 1.

    Args:
        square: the mean square of what was seen, 0 to 1.
        prompts: at least one.

    Returns:
        None where nothing was seen to differ.
    """
    if square <= 0:
        return None
    low, high = 0.0, 1.0
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        if _needed(square, middle) > prompts:
            low = middle
        else:
            high = middle
    return high


def _needed(square: float, difference: float) -> float:
    normal = NormalDist()
    level, power = normal.inv_cdf((1 + LEVEL) / 2), normal.inv_cdf(POWER)
    # A difference d has a mean square of d² at least, whatever was seen.
    square = max(square, difference * difference)
    half = level * sqrt(square) + power * sqrt(square - difference * difference)
    return (half / difference) ** 2
