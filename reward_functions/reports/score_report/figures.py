"""The rows of a scored file, and its figures: exact, with intervals that count prompts.

Samples with their results, and the groups of the prompts: one pass, and no copy of a row. A row
without a prompt is in no group, and counts as a prompt of its own.

Responses to one prompt are alike. A mean has the interval of the cluster-robust standard error of a
ratio (Cochran, Sampling Techniques, 3rd edition, 1977, section 6.3; prompts as clusters). It takes
one pass where a bootstrap takes a thousand. A share has Wilson's with prompts as its number.
Intervals are of 95 %. An unscored row is in no figure but its own count.
"""

from __future__ import annotations

from array import array
from collections import Counter
from dataclasses import dataclass
from math import fsum, isfinite, nan, sqrt
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

from reward_functions.core.means import mean
from reward_functions.core.types import Sample, Scored, Unscored
from reward_functions.reports.statistics import PAIR, Share, share, wilson, z_quantile

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from reward_functions.core.spec import Scale
    from reward_functions.core.types import Message, RewardResult, Score
    from reward_functions.reports.pages.charts.plots import Bin


@dataclass(frozen=True, slots=True)
class Batch:
    """A scored batch: its samples and their results. A row is known by its position, from 0.

    Args:
        samples: in the order of the file.
        results: one for each.
        scale: the reward's.
        rewards: of each row; not a number where it has none.
        scored: the rows that have a score.
        unscored: the others.
        groups: the scored rows of each prompt, in order of appearance. A row without a prompt is a
            list of its own.
        group_of: the position in `groups` of each row; -1 for an unscored one.
        without_prompt: how many scored rows have none.
    """

    samples: Sequence[Sample | Unscored]
    results: Sequence[RewardResult]
    scale: Scale
    rewards: Sequence[float]
    scored: Sequence[int]
    unscored: Sequence[int]
    groups: Sequence[Sequence[int]]
    group_of: Sequence[int]
    without_prompt: int

    @classmethod
    def of(
        cls,
        samples: Sequence[Sample | Unscored],
        results: Sequence[RewardResult],
        scale: Scale,
    ) -> Batch:
        """The batch of a file.

        Raises:
            ValueError: there is not one result for each sample, or one of no valid sample is
                scored.
        """
        rewards: list[float] = []
        scored: list[int] = []
        unscored: list[int] = []
        groups: list[list[int]] = []
        group_of: list[int] = []
        by_prompt: dict[tuple[Message, ...], int] = {}
        without_prompt = 0
        for at, (sample, result) in enumerate(zip(samples, results, strict=True)):
            if not isinstance(result, Scored):
                rewards.append(nan)
                unscored.append(at)
                group_of.append(-1)
                continue
            if isinstance(sample, Unscored):
                message = f"row {at} is not a valid sample, and has a score"
                raise ValueError(message)  # noqa: TRY004 - of a row, not of an argument's type
            rewards.append(result.score.value)
            scored.append(at)
            context = sample.context
            place = by_prompt.get(context, len(groups))
            if place == len(groups):
                groups.append([])
                if any(message.content for message in context):
                    by_prompt[context] = place
                else:
                    without_prompt += 1
            groups[place].append(at)
            group_of.append(place)
        return cls(
            samples, results, scale, rewards, scored, unscored, groups, group_of, without_prompt
        )

    def sample(self, at: int) -> Sample:
        """The sample of a scored row."""
        sample = self.samples[at]
        assert isinstance(sample, Sample)
        return sample

    def score(self, at: int) -> Score:
        """The score of a scored row."""
        result = self.results[at]
        assert isinstance(result, Scored)
        return result.score

    def value(self, at: int) -> float:
        """The reward of a scored row."""
        return self.rewards[at]

    def values(self, rows: Iterable[int]) -> list[float]:
        """The rewards of scored rows."""
        return [self.rewards[at] for at in rows]

    def prompts(self, rows: Iterable[int]) -> int:
        """How many prompts these scored rows have: what an interval counts."""
        return len({self.group_of[at] for at in rows})

    @property
    def at_minimum(self) -> list[int]:
        """The rows whose reward is the scale's minimum."""
        return [at for at, reward in enumerate(self.rewards) if reward == self.scale.minimum]


BINS: Final = 10
"""Steps of a histogram, and groups of rows by length: as many as have room for their counts."""

FEW: Final = 10
"""Different rewards up to which each is counted by itself."""

KINDS: Final = ("all at the minimum", "all at the maximum", "all equal, between", "different")
"""What a group's rewards may be. In all but the last no response has an advantage."""


class Length(NamedTuple):
    """Rows of similar length.

    Args:
        shortest: characters.
        longest: the same.
        rows: of them.
    """

    shortest: int
    longest: int
    rows: Sequence[int]


ROUNDING: Final = 1e-9
"""Of a scale: errors below it are those of adding."""


@dataclass(frozen=True, slots=True)
class GroupFigures:
    """The groups of several responses, by what their rewards are.

    Args:
        by_kind: for each of `KINDS`, the positions of its groups in the batch.
    """

    by_kind: dict[str, list[int]]

    @property
    def count(self) -> int:
        """Groups with several responses."""
        return sum(map(len, self.by_kind.values()))

    @property
    def without_advantage(self) -> int:
        """Groups whose rewards are all equal."""
        return self.count - len(self.by_kind["different"])


def std(values: Sequence[float]) -> float:
    """The standard deviation of at least one value; infinite where it is no float."""
    middle = mean(values)
    squares = array("d", ((value - middle) * (value - middle) for value in values))
    return sqrt(_total(squares) / len(values))


def mean_by_prompt(batch: Batch) -> Share | None:
    """The mean reward with its interval, which never leaves the scale.

    None where nothing is scored. The interval of a single prompt is the whole scale. Where all
    prompts fare alike there is no error to estimate: the mean has Wilson's interval, as a share of
    the scale.
    """
    if not batch.scored:
        return None
    middle = mean(batch.values(batch.scored))
    count = len(batch.groups)
    low, high = batch.scale
    if count < PAIR:
        return Share(middle, low, high)
    apart = [_total([batch.value(at) - middle for at in group]) for group in batch.groups]
    squares = _total([each * each for each in apart])
    error = sqrt(squares * count / (count - 1)) / len(batch.scored)
    half = z_quantile() * error
    if not isfinite(half):
        return Share(middle, low, high)
    if half <= ROUNDING * (high - low):
        alike = wilson(min(1.0, max(0.0, (middle - low) / (high - low))), count)
        ends = [low + (high - low) * end for end in alike[1:]]
        return Share(middle, min(middle, ends[0]), max(middle, ends[1]))
    return Share(middle, max(low, middle - half), min(high, middle + half))


class Rewarded(Protocol):
    """Rows with their rewards: a batch, or the digest of one."""

    @property
    def scale(self) -> Scale:
        """The reward's."""

    @property
    def rewards(self) -> Sequence[float]:
        """Of each row; not a number where it has none."""

    def prompts(self, rows: Iterable[int], /) -> int:
        """How many prompts these rows have."""


def share_of(batch: Rewarded, rows: Sequence[int], among: Sequence[int]) -> Share | None:
    """The share of some scored rows among others, with its interval; None without any."""
    return share(len(rows), len(among), batch.prompts(among)) if among else None


def counts(values: Sequence[float]) -> list[tuple[float, int]]:
    """(value, how often), from the smallest."""
    return sorted(Counter(values).items())


def bins(values: Sequence[float], low: float, high: float) -> list[Bin]:
    """Equal steps from `low` to `high`, which hold all values; the last holds `high` as well."""
    from reward_functions.reports.pages.charts.plots import Bin  # noqa: PLC0415 - of pages alone

    found = [0] * BINS
    width = high / BINS - low / BINS
    for value in values:
        found[bin_of(value, low, high)] += 1
    return [Bin(low + at * width, low + (at + 1) * width, count) for at, count in enumerate(found)]


def bin_of(value: float, low: float, high: float) -> int:
    """The step of `bins` holds a value."""
    width = high / BINS - low / BINS
    return min(BINS - 1, int(value / width - low / width))


def groups(batch: Batch) -> GroupFigures:
    """The groups that have several scored responses."""
    by_kind: dict[str, list[int]] = {kind: [] for kind in KINDS}
    for place, rows in enumerate(batch.groups):
        if len(rows) >= PAIR:
            by_kind[_kind(batch, rows)].append(place)
    return GroupFigures(by_kind)


def by_length(batch: Batch) -> list[Length]:
    """The scored rows by the length of their responses: groups of about equal size.

    Rows of one length are in one group, so that there may be fewer groups, or larger ones.
    """
    ordered = sorted([(len(batch.sample(at).response), at) for at in batch.scored])
    found: list[Length] = []
    start = 0
    for step in range(1, BINS + 1):
        end = len(ordered) * step // BINS
        while start < end < len(ordered) and ordered[end][0] == ordered[end - 1][0]:
            end += 1
        if end > start:
            rows = [at for _, at in ordered[start:end]]
            found.append(Length(ordered[start][0], ordered[end - 1][0], rows))
            start = end
    return found


def metrics(batch: Batch) -> dict[str, list[float]]:
    """The values of each metric beside the reward, in the order of its first report."""
    found: dict[str, list[float]] = {}
    for at in batch.scored:
        for metric in batch.score(at).metrics:
            found.setdefault(metric.name, []).append(metric.value)
    return found


def _kind(batch: Batch, rows: Sequence[int]) -> str:
    first = batch.value(rows[0])
    if any(batch.value(at) != first for at in rows):
        return "different"
    if first == batch.scale.minimum:
        return "all at the minimum"
    return "all at the maximum" if first == batch.scale.maximum else "all equal, between"


def _total(values: Sequence[float]) -> float:
    """The exact sum; infinite, or not a number, where it is no float."""
    try:
        return fsum(values)
    except (OverflowError, ValueError):  # finite values of infinite sum; infinities of both signs
        return sum(values)
