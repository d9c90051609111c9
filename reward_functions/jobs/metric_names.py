"""What a figure of a trainer is, by its name: the words that signs, order and charts go by.

Trainers that log by path (`critic/rewards/mean`) use the words of our tables for other things too:
`timing_s/reward` is seconds, `prompt_length/mean` says nothing of the policy. A row of `NAMES` says
what a name is read as; a name without a row is read as it is.

Sources of the rows: AWS's guide to customizing Nova, "Reinforcement fine-tuning", for those of its
recipes; verl's `metric_utils` for all that begin as there; sagemaker-train 1.27.0 and AWS's guide
to SageMaker for those of multi-turn jobs; TRL's GRPOTrainer for `train/…` and `eval/…`.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple


class MetricName(NamedTuple):
    """Names, and what they are read as.

    Args:
        pattern: of whole names, in small letters.
        read_as: words of this project's tables; without any of them, nothing is read from it.
        source: whose names they are.
    """

    pattern: str
    read_as: str
    source: str


NAMES: Final = (
    MetricName(r"critic/rewards/mean", "reward_mean", "Nova recipes, verl"),
    MetricName(r"critic/rewards/(?:max|min|std)", "reward_max_min_std", "Nova recipes, verl"),
    MetricName(r"critic/score/[a-z]+", "score_max_min_std", "verl: before any penalty"),
    MetricName(r"critic/(?:advantages|returns|values)/[a-z]+", "value", "verl"),
    MetricName(r"val[a-z-]*/.*\brewards?/mean(?:@[0-9]+)?", "reward_mean", "Nova recipes, verl"),
    MetricName(r"val/reward/pass_(?:at|hat)_k", "reward_pass", "multi-turn jobs"),
    MetricName(r"rollout/reward/mean", "reward_mean", "multi-turn jobs"),
    MetricName(r"rollout/reward/(?:max|min|std)", "reward_max_min_std", "multi-turn jobs"),
    MetricName(r"actor/entropy(?:_loss)?", "entropy", "Nova recipes, verl"),
    MetricName(r"actor/grad_norm", "grad_norm", "Nova recipes, verl"),
    MetricName(r"actor/pg_loss", "loss", "Nova recipes, verl"),
    MetricName(r"response_length/mean", "response_length_mean", "Nova recipes, verl"),
    MetricName(r"response_length/(?:max|min)", "response_max_min", "Nova recipes, verl"),
    MetricName(r"[a-z_]+/clip_ratio", "share_cut_off", "verl"),
    MetricName(r"prompt_length/[a-z_]+", "prompt", "Nova recipes, verl"),
    MetricName(r"timing[a-z_]*/.*", "seconds", "verl"),
    MetricName(r"(?:perf|system|global_seqlen)/.*", "load", "verl, MLflow"),
    MetricName(r"(?:train|eval)/frac_reward_zero_std", "frac_reward_zero_std", "TRL"),
    MetricName(r"(?:train|eval)/rewards?(?:/mean)?", "reward_mean", "TRL"),
    MetricName(r"(?:train|eval)/completions?/mean_length", "completion_length_mean", "TRL"),
)

ROWS: Final = tuple((re.compile(row.pattern), row.read_as) for row in NAMES)

MAX_NAME: Final = 200
"""Characters of a name that a row is looked for; a longer one is read as it is."""


def read_as(name: str) -> str:
    """The words of a figure's name, in small letters: those of its row, or its own."""
    small = name.lower()
    if len(small) > MAX_NAME:
        return small
    return next((words for pattern, words in ROWS if pattern.fullmatch(small)), small)
