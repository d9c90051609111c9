"""What a policy earns that gives one answer to everything: the cheapest way to game a reward."""

from __future__ import annotations

from math import fsum
from typing import TYPE_CHECKING

from helpers.shown import Shown
from reward_functions import Sample, Scored, score_batch
from reward_functions.reports.sheets import Sheet
from reward_functions.serving.contract import decode_row

if TYPE_CHECKING:
    from collections.abc import Sequence

    from helpers.training_rows import TrainingRows
    from reward_functions import RewardSpec


def constants_earn(
    rewards: Sequence[RewardSpec], rows: TrainingRows, responses: Sequence[str]
) -> Shown:
    """The mean reward of each response, given to every row.

    Args:
        rewards: to compare, none of them a judge.
        rows: their prompts and references.
        responses: each written whole, with the marker that the prompt asks for.
    """
    decoded = [decode_row(row, at) for at, row in enumerate(rows.rows)]
    samples = [each for each in decoded if isinstance(each, Sample)]
    lines = [
        [response, *(f"{_mean(reward, samples, response):.3f}" for reward in rewards)]
        for response in responses
    ]
    heads = ("to every question", *(reward.name for reward in rewards))
    return Shown([Sheet(f"The mean over {len(samples):,} rows", heads, lines)])


def _mean(reward: RewardSpec, samples: Sequence[Sample], response: str) -> float:
    given = [sample.answered(response) for sample in samples]
    scores = [
        one.score.value for one in score_batch(reward.bind({}), given) if isinstance(one, Scored)
    ]
    return fsum(scores) / len(scores) if scores else 0.0
