"""The statistics of all reports: each figure is computed here, once.

Confidence intervals by the cluster bootstrap, with prompts as clusters.

Cases of one prompt are alike. A draw therefore takes whole prompts with replacement, as many as the
file has. The interval lies between two percentiles of the figures of many draws. The draws are
seeded: the same cases give the same interval. Source: Efron and Tibshirani, An Introduction to the
Bootstrap, 1993, chapter 13; Cameron, Gelbach and Miller, Bootstrap-Based Improvements for Inference
with Clustered Errors, 2008, for the clusters.

The quantiles that lengths and times are reported in.

Figures of groups of rewards, each with its 95 % interval: what a GRPO trainer would see.

A group is the rewards of the responses to one prompt. They are alike, so that the prompts are what
an interval counts. A share has Wilson's (Journal of the American Statistical Association 22, 1927)
with prompts as its number, and a mean that of the bootstrap by prompt.

A rate is a mean over prompts, each of which counts once. Where each has one response that has
something or has it not, the interval is Wilson's. Else it is that of a mean difference, below, and
fewer than `RESAMPLED` prompts have none: their draws say too little. Where fewer than `SEEN`
prompts have anything of it, or lack any, it is Wilson's again, as if the responses to a prompt were
all alike. With 20 prompts of which 5 % have it, draws covered 86 % in place of 95 %.

The statistics of a comparison: an interval, McNemar's test, pass@k, and sizes of samples.

The interval of a mean difference is the bootstrap over prompts, which are what is independent.

Each prompt contributes one number, the mean of what the tuned model's answers to it earn less that
of the base's. Prompts are drawn with replacement, and the interval lies between two percentiles of
the means of many draws. The percentiles are those of Hesterberg's expanded interval (What Teachers
Should Know About the Bootstrap, The American Statistician 69, 2015, section 5.3). Plain ones are
too narrow for few prompts, by sqrt((n - 1) / n) and by the normal quantile in the place of t's. Two
prompts are added to the draws, of the largest difference over the square root of 2, one of each
sign: a leap that few prompts make may be missing in the split altogether. It is half of what Bonett
and Price add to each side for paired proportions (Adjusted Wald Confidence Interval for a
Difference of Binomial Proportions Based on Paired Data, J. Educ. Behav. Stat. 37, 2012).

Where no prompt differs at all there is nothing to draw from. The interval is then that of the share
of prompts that may differ by the whole scale, of which none was seen (Clopper and Pearson, The Use
of Confidence or Fiducial Limits, Biometrika 26, 1934). So nothing seen in 30 prompts is no
certainty.

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

The sign-flip test: the same for several answers to a prompt, of each one's net gain.

Under no difference each prompt's net is as likely of the other sign. The p-value is the share of
all choices of signs whose total is as far from 0 as what was seen. It tries all of them up to
`ALL_SIGNS` prompts that differ, else draws of which the observed one is one more (Phipson and
Smyth, Permutation P-values Should Never Be Zero, Stat. Appl. Genet. Mol. Biol. 9, 2010). With one
answer a prompt it is McNemar's exact test.

Kendall's tau-b: how far two numbers of the same things put them in the same order, ties apart.

    (C - D) / sqrt((all pairs - those tied in one) (all pairs - those tied in the other))

C pairs stand in the same order and D in opposite ones. Source: Kendall, The Treatment of Ties in
Ranking Problems, Biometrika 33, 1945; counted by merging, after Knight, A Computer Method for
Calculating Kendall's Tau with Ungrouped Data, J. Am. Stat. Assoc. 61, 1966.

pass@k: how often one of k answers is right, without bias from n answers of which c are.

    1 - C(n - c, k) / C(n, k)

1 - (1 - c/n)^k, the plain estimate, is too low. Source: Chen et al., Evaluating Large Language
Models Trained on Code, 2021, arXiv 2107.03374, section 2.1.

How many prompts a difference takes to be shown, and what a split of this size can show.

    prompts = ((z_0.975 sqrt(m) + z_0.8 sqrt(m - d²)) / d)²

m is the mean square of the differences that were seen, and d the difference that one cares about.
Where answers are right or wrong, m is the share of prompts on which the models differ. This is
Connor's formula for McNemar's test (Sample Size for Testing Differences in Proportions for the
Paired-Sample Design, Biometrics 43, 1987). Power is 80 %, the level 5 %, two-sided.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from math import ceil, comb, erfc, floor, fsum, inf, sqrt
from random import Random
from statistics import NormalDist
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar

from reward_functions.core.means import LARGEST_SUMMED, mean

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

Cluster = TypeVar("Cluster")

LEVEL: Final = 0.95
DRAWS: Final = 1_000
"""Enough for the second digit of a 95 % interval; more draws hardly move it."""


NORMAL: Final = NormalDist()


def z_quantile() -> float:
    """The 97.5 % quantile of the normal distribution."""
    return NORMAL.inv_cdf((1 + LEVEL) / 2)


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


PAIR: Final = 2
"""Rewards of the smallest group that has a standard deviation; prompts that have an interval."""


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
    z = z_quantile()
    middle = (value + z * z / (2 * number)) / (1 + z * z / number)
    half = z * sqrt(value * (1 - value) / number + z * z / (4 * number**2)) / (1 + z * z / number)
    return Share(value, max(0.0, middle - half), min(1.0, middle + half))


def mean_reward(groups: Sequence[Sequence[float]]) -> Share | None:
    """The mean of all rewards; None without one."""
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


PAIRED_DRAWS: Final = 2_000
"""Draws of an interval: each percentile is then known to within a half percent of the draws."""

MOST: Final = 4_000_000
"""Prompts drawn in all, so that a large split takes seconds; never under `FEWEST` draws."""

FEWEST: Final = 400


@dataclass(frozen=True, slots=True)
class Difference:
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

    @property
    def holds_zero(self) -> bool:
        """Whether no difference may be what there is."""
        return self.low <= 0 <= self.high


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
    times = min(PAIRED_DRAWS, max(FEWEST, MOST // count))
    added = max(map(abs, differences)) * sqrt(0.5)
    smoothed = [*differences, added, -added]
    moved = middle - sum(smoothed) / len(smoothed)
    means = sorted(moved + sum(drawn) / len(smoothed) for drawn in draws(smoothed, times, seed))
    # Less than 2.5 % of the draws, and that of very many.
    outside = NORMAL.cdf(-sqrt(count / (count - 1)) * t_quantile(count - 1))
    low, high = percentile(means, outside), percentile(means, 1 - outside)
    # The sum of a draw may miss the mean by its last bit, where all differences are equal.
    return Difference(middle, max(-1.0, min(low, middle)), min(1.0, max(high, middle)), count)


RESAMPLED: Final = 20
"""Prompts from which on a mean has an interval by drawing them."""


SEEN: Final = 5
"""Prompts that have something, or that lack it, from which on their draws show how rare it is."""


class Rate(NamedTuple):
    """A mean over prompts.

    Args:
        value: of all of them.
        interval: of 95 %; None where they are too few.
        prompts: how many.
    """

    value: float
    interval: Interval | None
    prompts: int


def rate(groups: Collection[Sequence[float]]) -> Rate | None:
    """How much of something there is, by prompt; None where there is no prompt.

    Args:
        groups: for each prompt at least one number from 0 to 1: whether a response has it, say.
    """
    values = [float(mean(group)) for group in groups]  # of truths it may be one
    if not values:
        return None
    alone = max(map(len, groups)) == 1 and {0, 1}.issuperset(values)
    seldom = min(sum(value > 0 for value in values), sum(value < 1 for value in values)) < SEEN
    if not alone and not (seldom and len(values) >= RESAMPLED):
        return mean_rate(values, 0.0, 1.0)
    found = wilson(mean(values), len(values))
    return Rate(found.value, Interval(found.low, found.high), len(values))


def mean_rate(values: Sequence[float], low: float, high: float) -> Rate | None:
    """The mean of one number for each prompt; None without one.

    Args:
        values: from `low` to `high`.
        low: from -1 on.
        high: up to 1.
    """
    if not values:
        return None
    # What nearly all prompts have is as rare as what nearly none has, looked at from above.
    turned = low + high if mean(values) > (low + high) / 2 else None
    near = values if turned is None else [turned - value for value in values]
    found = mean_difference(near)
    if found is None or len(values) < RESAMPLED:
        return Rate(mean(values), None, len(values))
    ends = (found.low, found.high) if turned is None else (turned - found.high, turned - found.low)
    return Rate(mean(values), Interval(max(low, ends[0]), min(high, ends[1])), len(values))


def t_quantile(freedom: int) -> float:
    """The 97.5 % quantile of Student's t.

    By the expansion of Cornish and Fisher in four terms (Abramowitz and Stegun, 26.7.5): right to
    0.1 % from 5 degrees of freedom on, and narrower below, where nothing should rest on it.

    Args:
        freedom: degrees, at least 1.
    """
    z = z_quantile()
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    return z + fsum(term / float(freedom) ** power for power, term in enumerate(terms, 1))


EXACT: Final = 1_000
"""Prompts that differ up to which the binomial sum is made."""


@dataclass(frozen=True, slots=True)
class McNemar:
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


ALL_SIGNS: Final = 20
"""Prompts that differ up to which all choices of signs are counted."""

SIGN_DRAWS: Final = 10_000


class SignFlip(NamedTuple):
    """The test of the nets of prompts.

    Args:
        p_value: two-sided, above 0, at most 1; 1 where no prompt differs.
        draws: how many were drawn; 0 where all choices of signs were counted.
    """

    p_value: float
    draws: int


def sign_flip(nets: Sequence[int], seed: int = 0) -> SignFlip:
    """Test whether prompts gained as much as they lost.

    Args:
        nets: for each prompt, how many of its answers turned right less those that turned wrong.
        seed: of the draws.
    """
    sizes_of = Counter(abs(net) for net in nets if net)
    differ, seen = sizes_of.total(), abs(sum(nets))
    if differ <= ALL_SIGNS:
        ways = Counter({0: 1})
        for size in sizes_of.elements():
            ways = Counter({at + size: count for at, count in ways.items()}) + Counter(
                {at - size: count for at, count in ways.items()}
            )
        return SignFlip(sum(ways[at] for at in ways if abs(at) >= seen) / 2**differ, 0)
    random = Random(seed)  # noqa: S311 - the same draws in every run
    hits = 0
    for _ in range(SIGN_DRAWS):
        # A bit for each prompt says whether its sign is a plus.
        total = sum(
            size * (2 * random.getrandbits(count).bit_count() - count)
            for size, count in sizes_of.items()
        )
        hits += abs(total) >= seen
    return SignFlip((hits + 1) / (SIGN_DRAWS + 1), SIGN_DRAWS)


def tau_b(ones: Sequence[float], others: Sequence[float]) -> float | None:
    """Kendall's tau-b of two numbers of the same things; None where either does not differ.

    Args:
        ones: finite.
        others: as many.

    Raises:
        ValueError: there are more of one.
    """
    pairs = sorted(zip(ones, others, strict=True))
    every = comb(len(pairs), 2)
    one, other, both = (_tied(column) for column in (ones, others, pairs))
    if every in (one, other):
        return None
    against = _inversions([each for _, each in pairs])
    ordered = every - one - other + both - 2 * against
    return max(-1.0, min(1.0, ordered / sqrt((every - one) * (every - other))))


def _tied(values: Sequence[object]) -> int:
    """Pairs of equal values."""
    return sum(comb(count, 2) for count in Counter(values).values())


def _inversions(values: list[float]) -> int:
    """Pairs of which the larger stands first. The values are sorted when it returns."""
    if len(values) < PAIR:
        return 0
    first, second = values[: len(values) // 2], values[len(values) // 2 :]
    found = _inversions(first) + _inversions(second)
    smaller = 0
    for each in second:
        while smaller < len(first) and first[smaller] <= each:
            smaller += 1
        found += len(first) - smaller
    values[:] = sorted(first + second)  # two runs: linear
    return found


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
    level, power = z_quantile(), NORMAL.inv_cdf(POWER)
    # A difference d has a mean square of d² at least, whatever was seen.
    square = max(square, difference * difference)
    half = level * sqrt(square) + power * sqrt(square - difference * difference)
    return (half / difference) ** 2
