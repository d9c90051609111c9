"""The rewards of a batch by group, as a chart.

A group whose marks lie on one point has zero advantage: GRPO takes no gradient from it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from reward_functions import Sample, Scored
from reward_functions.reports.pages.charts.strips import strips

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from reward_functions import RewardResult, Unscored
    from reward_functions.reports.pages.charts.drawing import Chart


def groups(rewards: Mapping[str, Sequence[float]]) -> Chart:
    """The rewards of each group on one line, from the lowest of all to the highest.

    Args:
        rewards: by the group's name, as `rewards_by_prompt` returns them.

    Raises:
        ValueError: there are no rewards.
    """
    if not any(rewards.values()):
        raise ValueError("a plot of groups needs at least one reward")
    return strips(f"Rewards of {len(rewards):,} groups", list(rewards.items()), x="reward")


def rewards_by_prompt(
    samples: Iterable[Sample | Unscored], results: Iterable[RewardResult]
) -> dict[str, list[float]]:
    """The rewards of the scored samples by the prompt they answer."""
    found: dict[str, list[float]] = {}
    for sample, result in zip(samples, results, strict=True):
        if isinstance(sample, Sample) and isinstance(result, Scored):
            found.setdefault(sample.prompt, []).append(result.score.value)
    return found
