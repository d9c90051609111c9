"""Samples with their results, and the groups of the prompts: one pass, and no copy of a row.

A row without a prompt is in no group, and counts as a prompt of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import nan
from typing import TYPE_CHECKING

from reward_functions.core.types import Sample, Scored, Unscored

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from reward_functions.core.spec import Scale
    from reward_functions.core.types import Message, RewardResult, Score


@dataclass(frozen=True, slots=True)
class Batch:
    """What was scored and what came of it. A row is known by its position, from 0.

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
