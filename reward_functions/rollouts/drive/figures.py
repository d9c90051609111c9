"""The summary of a file of rollouts: its figures, as tables and as JSON.

Rewards are those of rollouts that have one: a rollout that failed or was lost is counted, and is no
0.0. The unbiased estimate of pass@k is of Chen et al., Evaluating Large Language Models Trained on
Code, 2021. It stands where every reward is 0 or 1.

Ids of rows and types of errors come from data: who shows a cell makes it harmless.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import asdict, dataclass, field
from math import comb, fsum, sqrt
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from reward_functions.core.means import mean
from reward_functions.reports.pages.charts.plots import Bin
from reward_functions.reports.sheets import Sheet
from reward_functions.reports.statistics import (
    PAIR,
    Share,
    mean_reward,
    quantile,
    share,
    share_among,
    share_mixed,
)
from reward_functions.rollouts.drive.records import STATUSES, counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from reward_functions.rollouts.drive.records import RolloutRecord, Setup, Status


SHARES: Final = {"median": 0.5, "90 %": 0.9, "99 %": 0.99, "longest": 1.0}
"""The quantiles of seconds."""

BINS: Final = 10
"""Bars of a histogram, where there are more different rewards."""

WORST: Final = 5
"""Groups that are shown, those that earn the least."""


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
        mean: of the rewards; None without one.
        std: standard deviation of the rewards.
        minimum: the least reward.
        maximum: the most.
        at_minimum: the share of rewards that are the least one.
        at_maximum: the share that are the most.
        zero_std: the share of groups with equal rewards, which have zero advantage: TRL's
            `frac_reward_zero_std`. None where no group has two rewards.
        pass_at: by k; empty where a reward is neither 0 nor 1.
        histogram: of the rewards.
        means: of the rows' mean rewards.
        turns: how many rollouts had so many turns.
        idle: how many never called the policy, with any reward: the managed trainer ends a job over
            one that it can sample nothing of.
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
    histogram: Sequence[Bin]
    turns: Mapping[int, int]
    idle: int
    tool_calls: float
    seconds: Mapping[str, float]
    duplicates: int
    errors: Mapping[tuple[str, str], int] = field(default_factory=dict)
    worst: Sequence[Group] = ()
    means: Sequence[Bin] = ()


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
        means=histogram([group.mean for group in rewarded]),
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


def histogram(rewards: Sequence[float]) -> list[Bin]:
    """A bar for each reward, where they are few; else as many of equal width as `BINS`."""
    counts = sorted(Counter(rewards).items())
    if len(counts) <= BINS:
        return [Bin(reward, reward, count) for reward, count in counts]
    low, high = counts[0][0], counts[-1][0]
    width = high / BINS - low / BINS  # in this order: their difference may be infinite
    filled = Counter(
        min(BINS - 1, int((reward / width) - (low / width))) if width else 0 for reward in rewards
    )
    return [Bin(low + at * width, low + (at + 1) * width, filled[at]) for at in range(BINS)]


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


WIDTH: Final = 40
"""Characters of the longest bar."""

BAR: Final = "■"

LISTED: Final = 100
"""Rows of a table at most: each rollout may fail by a message of its own; JSON has all."""


def sheets(figures: Figures) -> Iterator[Sheet]:
    """All tables, the most important first."""
    yield _overview(figures)
    if figures.histogram:
        yield _histogram(figures)
    if figures.errors:
        yield _errors(figures)
    yield _turns(figures)
    if figures.worst:
        yield _worst(figures)


def as_json(figures: Figures) -> dict[str, Any]:
    """The same for programs; a figure with its interval is [value, low, high]."""
    fields = asdict(figures)
    return fields | {
        "pass_at": {str(k): value for k, value in figures.pass_at.items()},
        "turns": {str(turns): count for turns, count in figures.turns.items()},
        "errors": [
            {"status": status, "error": error, "rollouts": count}
            for (status, error), count in figures.errors.items()
        ],
        "histogram": [
            {"low": each.low, "high": each.high, "rollouts": each.count}
            for each in figures.histogram
        ],
        "means": [
            {"low": each.low, "high": each.high, "rows": each.count} for each in figures.means
        ],
        "worst": [each._asdict() | {"mean": each.mean} for each in figures.worst],
    }


MEANINGS: Final[Mapping[str, str]] = {
    "rollouts": "rows of the data, times the rollouts of each",
    "rewarded": "a trainer learns from these alone",
    "failed": "reported as failed, or could not be asked or scored",
    "lost": "the agent answered, and no reward came in time",
    "timeout": "nothing came in time",
    "reward, mean": "of the rewarded",
    "reward, standard deviation": "of the rewarded; 0 teaches nothing",
    "share at the least reward": "of the rewarded",
    "share at the most": "of the rewarded",
    "groups with zero advantage": "rows whose rewards are equal: GRPO learns nothing from them",
    "pass@1": "a row is solved by one rollout; pass@k by one of k",
    "seconds, median": "from the request to the end",
    "never called the policy": "a managed trainer ends a job over one of these",
    "tool calls, mean": "that the policy asked for, of all rollouts",
}
"""What a figure of the overview says, by its name or the part before its last comma."""


def _meaning(name: str) -> str:
    return MEANINGS.get(name, MEANINGS.get(name.rpartition(",")[0], ""))


def _overview(figures: Figures) -> Sheet:
    setup = figures.setup
    rows = [("rollouts", f"{figures.rollouts:,}", f"{figures.groups:,} rows × {setup.n}")]
    for status, count in figures.statuses.items():
        rows.append((status, f"{count:,}", _interval(figures.shares[status], "{:.1%}")))
    if figures.mean is not None:
        rows.append(
            ("reward, mean", f"{figures.mean.value:.4g}", _interval(figures.mean, "{:.4g}"))
        )
    if figures.std is not None:
        rows.append(("reward, standard deviation", f"{figures.std:.4g}", ""))
    ends = {
        f"share at the least reward, {figures.minimum or 0:g}": figures.at_minimum,
        f"share at the most, {figures.maximum or 0:g}": figures.at_maximum,
        "groups with zero advantage": figures.zero_std,
    }
    for name, found in ends.items():
        if found is not None:
            rows.append((name, f"{found.value:.1%}", _interval(found, "{:.1%}")))
    rows += [(f"pass@{k}", f"{value:.1%}", "") for k, value in figures.pass_at.items()]
    rows += [
        (f"seconds, {name}", f"{seconds:.3g}", "") for name, seconds in figures.seconds.items()
    ]
    if figures.idle:
        rows.append(("never called the policy", f"{figures.idle:,}", ""))
    rows.append(("tool calls, mean", f"{figures.tool_calls:.3g}", ""))
    if figures.duplicates:
        rows.append(("reports that came again", f"{figures.duplicates:,}", "counted once"))
    return Sheet(
        title=f"Rollouts of {setup.agent}",
        heads=("figure", "value", "95 % interval", "what it says"),
        rows=[(*row, _meaning(row[0])) for row in rows],
        note=_note(setup.scorer),
        words=("what it says",),
        spare=("what it says",),
    )


def _note(scorer: Mapping[str, Any] | None) -> str:
    if scorer is None:
        return "rewarded by the agent; what failed or was lost has no reward, and counts as none"
    return (
        f"scored by {scorer.get('name')} version {scorer.get('version')}; what failed or was lost "
        "has no reward, and counts as none"
    )


def _histogram(figures: Figures) -> Sheet:
    most = max(each.count for each in figures.histogram)
    return Sheet(
        title="Rewards",
        heads=("reward", "rollouts", "share"),
        rows=[
            (_ends(each), f"{each.count:,}", BAR * round(WIDTH * each.count / most))
            for each in figures.histogram
        ],
        words=("share",),
    )


def _ends(each: Bin) -> str:
    return f"{each.low:.4g}" if each.low == each.high else f"{each.low:.4g} to {each.high:.4g}"


def _errors(figures: Figures) -> Sheet:
    return Sheet(
        title="Without a reward",
        heads=("error", "status", "rollouts"),
        rows=[(error, status, f"{count:,}") for (status, error), count in figures.errors.items()],
        words=("status",),
    ).first(LISTED)


def _turns(figures: Figures) -> Sheet:
    mean = sum(turns * count for turns, count in figures.turns.items()) / figures.rollouts
    most = max(figures.turns.values())
    return Sheet(
        title="Turns",
        heads=("turns", "rollouts", "share"),
        rows=[
            (f"{turns}", f"{count:,}", BAR * round(WIDTH * count / most))
            for turns, count in figures.turns.items()
        ],
        note=f"mean {mean:.2f}",
        words=("share",),
    ).first(LISTED)


def _worst(figures: Figures) -> Sheet:
    return Sheet(
        title="Rows that earn the least",
        heads=("row", "number", "mean", "rewarded", "rewards"),
        rows=[
            (
                group.id,
                f"{group.row}",
                f"{group.mean:.4g}",
                f"{len(group.rewards)}/{group.asked}",
                " ".join(f"{reward:.3g}" for reward in group.rewards),
            )
            for group in figures.worst
        ],
        words=("rewards",),
    )


def _interval(share: Share, form: str) -> str:
    return f"{form.format(share.low)} to {form.format(share.high)}"
