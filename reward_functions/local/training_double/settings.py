"""The settings of every simulated run, published here and the same for each seed, data and reward.

None of them describes a language model. They are chosen so that a rehearsal of some fifty steps
shows the whole curve: a base policy that is right about a third of the time, and an update that is
neither over at once nor unfinished. `python -m tests.benchmarks rehearsal` runs them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reward_functions.jobs.job import HyperparameterValue

BASE_SHARES: Final = {
    "correct": 0.20,
    "correct and verbose": 0.14,
    "near miss": 0.26,
    "format only": 0.05,
    "hedged": 0.09,
    "list of guesses": 0.05,
    "injection": 0.04,
    "truncated": 0.12,
    "empty": 0.05,
}
"""How often the base policy takes each strategy. Every way of gaming a reward is there from the
start, since a policy can only be paid for what it tries."""

LEFT_OUT: Final[Mapping[str, HyperparameterValue]] = {
    "epochCount": 1,
    "batchSize": 128,
    "learningRate": 1e-5,
    "trainingSamplePerPrompt": 4,
    "maxPromptLength": 8192,
    "inferenceMaxTokens": 2048,
    "reasoningEffort": "medium",
    "evalInterval": 10,
}
"""What a job leaves out. AWS documents a service's default of `trainingSamplePerPrompt` alone, with
which a plan counts as well; the others are of AWS's SDK
(`recipe/templates/bedrock/override/rft_lora.json` of aws/nova-forge-sdk, a4d5b3d)."""

REHEARSAL: Final[Mapping[str, HyperparameterValue]] = {
    "epochCount": 4,
    "batchSize": 16,
    "learningRate": 1e-4,
    "trainingSamplePerPrompt": 8,
    "inferenceMaxTokens": 2048,
    "evalInterval": 10,
}
"""A job that shows the whole curve on 200 prompts: 52 steps, 6,400 rollouts. Tests and the
benchmark `rehearsal` run it."""

MULTIPLIED: Final = 1e-4
"""The learning rate that `learning_rate_multiplier` 1 of the OpenAI-compatible API stands for here.
What it stands for there is not documented."""


@dataclass(frozen=True, slots=True)
class SimulationSettings:
    """What a simulated run does beside its hyperparameters.

    Args:
        base_shares: how often the base policy takes each strategy, by its name; they sum to 1.
        step_per_learning_rate: the step on the logits is the job's `learningRate` times this.
        advantage_epsilon: added to the standard deviation of a group, as TRL's `GRPOTrainer` does.
        grader_attempts: how often a batch is sent before the job fails.
        grader_waits: seconds before the second attempt and each one after it.
    """

    base_shares: Mapping[str, float] = field(default_factory=lambda: BASE_SHARES)
    step_per_learning_rate: float = 10_000.0
    advantage_epsilon: float = 1e-4
    grader_attempts: int = 3
    grader_waits: tuple[float, ...] = (1.0, 2.0)


SETTINGS: Final = SimulationSettings()
