"""What a file of rollouts comes to: how many were rewarded, what they earned, what they teach.

Rewards are those of rollouts that have one: what failed or was lost is counted, and is no 0.0.
pass@k is the unbiased estimate of Chen et al., Evaluating Large Language Models Trained on Code,
2021: 1 − C(n − c, k) / C(n, k) of a row with n rewarded rollouts, c of them solved. It stands where
every reward is 0 or 1.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from math import comb, fsum, sqrt
from typing import TYPE_CHECKING, Final, NamedTuple

from reward_functions.core.means import mean
from reward_functions.reports.group_figures import (
    PAIR,
    Share,
    mean_reward,
    share,
    share_among,
    share_mixed,
)
from reward_functions.reports.resampling import quantile
from reward_functions.rollouts.drive.records import STATUSES, counted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reward_functions.rollouts.drive.records import RolloutRecord, Setup, Status

SHARES: Final = {"median": 0.5, "90 %": 0.9, "99 %": 0.99, "longest": 1.0}
"""The quantiles of seconds."""

BINS: Final = 10
"""Bars of a histogram, where there are more different rewards."""

WORST: Final = 5
"""Groups that are shown, those that earn the least."""


class HistogramBin(NamedTuple):
    """A bar of the histogram.

    Args:
        low: the least reward in it.
        high: the most.
        rollouts: how many.
    """

    low: float
    high: float
    rollouts: int


class Group(NamedTuple):
    """The rollouts of a row.

    Args:
        row: its number, from 1.
        id: of the row.
        rewards: in the order of the samples; those that failed or were lost have none.
        asked: rollouts in all.
    """

    row: int
    id: str
    rewards: tuple[float, ...]
    asked: int

    @property
    def mean(self) -> float:
        """Of its rewards; there is at least one."""
        return mean(self.rewards)


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """Figures of a file of rollouts.

    Args:
        setup: of the run.
        rollouts: that ended.
        groups: rows.
        statuses: how many have each status, every status there.
        shares: the same as shares, with intervals.
        mean: of the rewards; None where there is none.
        std: standard deviation of the rewards.
        minimum: the least reward.
        maximum: the most.
        at_minimum: the share of rewards that are the least one.
        at_maximum: the share that are the most.
        zero_std: the share of groups with equal rewards, which have zero advantage: TRL's
            `frac_reward_zero_std`. None where no group has two rewards.
        pass_at: by k; empty where a reward is neither 0 nor 1.
        histogram: of the rewards.
        turns: how many rollouts had so many turns.
        idle: how many never called the policy, whatever they earned: the managed trainer ends a job
            over one that it can sample nothing of.
        tool_calls: on average.
        seconds: quantiles of all rollouts' durations.
        duplicates: reports that came again.
        errors: why rollouts have no reward, by how often: (status, error).
        worst: the groups that earn the least.
    """

    setup: Setup
    rollouts: int
    groups: int
    statuses: Mapping[Status, int]
    shares: Mapping[Status, Share]
    mean: Share | None
    std: float | None
    minimum: float | None
    maximum: float | None
    at_minimum: Share | None
    at_maximum: Share | None
    zero_std: Share | None
    pass_at: Mapping[int, float]
    histogram: Sequence[HistogramBin]
    turns: Mapping[int, int]
    idle: int
    tool_calls: float
    seconds: Mapping[str, float]
    duplicates: int
    errors: Mapping[tuple[str, str], int] = field(default_factory=dict)
    worst: Sequence[Group] = ()


def figures_of(records: Sequence[RolloutRecord]) -> Figures:
    """The figures of records of one run, at least one."""
    groups = grouped(records)
    several = [group.rewards for group in groups]
    rewarded = [group for group in groups if group.rewards]
    rewards = [reward for group in rewarded for reward in group.rewards]
    least, most = min(rewards, default=None), max(rewards, default=None)
    statuses = counted(records)
    count = len(records)
    different = share_mixed(several)
    return Figures(
        setup=records[0].setup,
        rollouts=count,
        groups=len(groups),
        statuses={status: statuses[status] for status in STATUSES},
        shares={status: share(statuses[status], count, len(groups)) for status in STATUSES},
        mean=mean_reward(several),
        std=_std(rewards),
        minimum=least,
        maximum=most,
        at_minimum=share_among([group.rewards for group in rewarded], lambda each: each == least),
        at_maximum=share_among([group.rewards for group in rewarded], lambda each: each == most),
        zero_std=different and _others(different),
        pass_at=pass_at(several) if set(rewards) <= {0.0, 1.0} else {},
        histogram=histogram(rewards),
        turns=dict(sorted(Counter(record.turns for record in records).items())),
        idle=sum(not record.turns for record in records),
        tool_calls=fsum(record.tool_calls for record in records) / count,
        seconds={
            name: quantile([record.seconds for record in records], at)
            for name, at in SHARES.items()
        },
        duplicates=sum(record.duplicates for record in records),
        errors=dict(
            Counter(
                (record.status, record.error) for record in records if record.status != "rewarded"
            ).most_common()
        ),
        worst=sorted(rewarded, key=lambda group: (group.mean, group.row))[:WORST],
    )


def grouped(records: Sequence[RolloutRecord]) -> list[Group]:
    """The groups, in the order of their rows."""
    rows: dict[int, list[RolloutRecord]] = defaultdict(list)
    for record in sorted(records, key=lambda record: record.attempt):
        rows[record.row].append(record)
    return [
        Group(
            row,
            group[0].id,
            tuple(record.reward for record in group if record.reward is not None),
            len(group),
        )
        for row, group in rows.items()
    ]


def pass_at(groups: Sequence[Sequence[float]]) -> dict[int, float]:
    """pass@k for 1, 2, 4, … and the largest group, over the groups that are large enough.

    Args:
        groups: of rewards of 0 and 1.
    """
    largest = max(map(len, groups), default=0)
    powers = [2**at for at in range(largest.bit_length())] if largest else []
    found = {}
    for k in sorted({*powers, largest} - {0}):
        large = [group for group in groups if len(group) >= k]
        found[k] = mean([_pass(len(group), sum(map(int, group)), k) for group in large])
    return found


def histogram(rewards: Sequence[float]) -> list[HistogramBin]:
    """A bar for each reward, where they are few; else as many of equal width as `BINS`."""
    counts = sorted(Counter(rewards).items())
    if len(counts) <= BINS:
        return [HistogramBin(reward, reward, count) for reward, count in counts]
    low, high = counts[0][0], counts[-1][0]
    width = high / BINS - low / BINS  # in this order: their difference may be infinite
    filled = Counter(
        min(BINS - 1, int((reward / width) - (low / width))) if width else 0 for reward in rewards
    )
    return [
        HistogramBin(low + at * width, low + (at + 1) * width, filled[at]) for at in range(BINS)
    ]


def _pass(rewarded: int, solved: int, k: int) -> float:
    return 1 - comb(rewarded - solved, k) / comb(rewarded, k)


def _std(rewards: Sequence[float]) -> float | None:
    if len(rewards) < PAIR:
        return None
    middle = mean(rewards)
    return sqrt(fsum((reward - middle) ** 2 for reward in rewards) / len(rewards))


def _others(different: Share) -> Share:
    """The share of those that do not."""
    return Share(1 - different.value, 1 - different.high, 1 - different.low)
