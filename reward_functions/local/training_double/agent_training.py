"""A simulated multi-turn job: groups of rollouts, the rewards that agents report, and updates.

    for each epoch: the prompts, shuffled
      for each step: global_batch_size prompts × group_size rollouts
        rewards     the sum of what each agent reports, and nothing else
        advantages  within each group; a group of equal rewards teaches nothing
        update      of the policy; every val_every steps, and at the end, the validation prompts

What a field report has: a rollout that never samples, one that fails and one whose reward is late
each end the job. Which strategies are correct the policy is never shown. Equal jobs with equal
rewards make equal policies. No language model is trained.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import ceil
from random import Random
from statistics import pstdev
from typing import TYPE_CHECKING, Final, NamedTuple

from reward_functions.core.means import mean
from reward_functions.local.training_double.policy import Choice, Policy, advantages
from reward_functions.local.training_double.settings import SETTINGS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

DEFAULTS: Final[Mapping[str, float]] = {
    "global_batch_size": 128,
    "group_size": 8,
    "max_epochs": 1,
    "max_steps": 50,
    "val_every": 10,
    "learning_rate": 4e-5,
    "rollout_timeout": 600,
    "temperature": 1.0,
    "sampling_top_p": 1.0,
    "sampling_max_tokens": 4096,
    "success_threshold": 1.0,
    "eval_group_size": 1,
}
"""Recipe defaults of the developer guide's page of hyperparameters; `rollout_timeout` and
`eval_group_size` are no page's."""

MULTIPLIED: Final = 2.5
"""A learning rate of multi-turn jobs times this is one of the other simulated jobs: the default of
4e-5 then learns as theirs of 1e-4."""


class Ended(NamedTuple):
    """A rollout that was rewarded.

    Attributes:
        reward: the sum over its turns.
        kind: of the answer; "" where the policy had nothing to write.
        strategy: it was written by; -1 likewise.
        turns: that the policy was asked for.
        prompt_tokens: of all turns.
        sampled_tokens: likewise.
    """

    reward: float
    kind: str
    strategy: int
    turns: int
    prompt_tokens: int
    sampled_tokens: int


class Asked(NamedTuple):
    """A rollout that is to be made.

    Attributes:
        cell: of the prompt.
        name: of the rollout, within its job.
        policy: that answers.
    """

    cell: str
    name: str
    policy: Policy


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentTraining:
    """A job, its data read.

    Args:
        cells: of the training file.
        validation: of the other; may be empty.
        hyperparameters: as the document has them.
        seed: of what is drawn.
        policy: what training begins from; it is not changed.
    """

    cells: Sequence[str]
    validation: Sequence[str] = ()
    hyperparameters: Mapping[str, str] = field(default_factory=dict)
    seed: int = 0
    policy: Policy = field(default_factory=Policy.base)

    def number(self, name: str) -> float:
        """A hyperparameter; the recipe's default where it is left out or no number."""
        try:
            return float(self.hyperparameters.get(name, DEFAULTS[name]))
        except ValueError:
            return DEFAULTS[name]

    def count(self, name: str) -> int:
        """One that is a whole number, from 1."""
        return max(1, int(self.number(name)))

    @property
    def steps_per_epoch(self) -> int:
        """The last batch of an epoch may be smaller."""
        return ceil(len(self.cells) / self.count("global_batch_size"))

    @property
    def steps(self) -> int:
        """Of the whole job."""
        return min(self.count("max_steps"), self.count("max_epochs") * self.steps_per_epoch)


class AgentStep(NamedTuple):
    """One optimiser step.

    Attributes:
        number: from 1.
        epoch: from 1.
        metrics: by the names of the developer guide.
        ended: its rollouts.
    """

    number: int
    epoch: int
    metrics: dict[str, float]
    ended: list[Ended]


def train(
    job: AgentTraining,
    roll_out: Callable[[Sequence[Asked]], list[Ended]],
    publish: Callable[[AgentStep], None],
) -> Policy:
    """Run a job to its end.

    Args:
        job: what to run.
        roll_out: makes rollouts, all of which end; raises what ends the job.
        publish: takes each step as soon as it is done; raises what ends the job.

    Returns:
        the policy as it is then.
    """
    policy = Policy.from_json(job.policy.to_json())
    size, seen = job.count("group_size"), 0
    for number, epoch, cells in _batches(job):
        asked = [
            Asked(cell, f"{number}-{at}-{each}", policy)
            for at, cell in enumerate(cells)
            for each in range(size)
        ]
        ended = roll_out(asked)
        groups = [ended[at : at + size] for at in range(0, len(ended), size)]
        metrics = _learned(policy, groups, job)
        seen += len(ended)
        metrics["training/num_trajectories"] = float(seen)
        if number % max(1, int(job.number("val_every"))) == 0 or number == job.steps:
            metrics |= validated(job, policy, roll_out, number)
        publish(AgentStep(number, epoch, metrics, ended))
    return policy


def validated(
    job: AgentTraining,
    policy: Policy,
    roll_out: Callable[[Sequence[Asked]], list[Ended]],
    number: int,
    size: int = 1,
) -> dict[str, float]:
    """What the validation prompts earn, `size` rollouts of each; nothing without prompts."""
    if not job.validation:
        return {}
    ended = roll_out(
        [
            Asked(cell, f"{number}-validation-{at}-{each}", policy)
            for at, cell in enumerate(job.validation)
            for each in range(size)
        ]
    )
    rewards = [each.reward for each in ended]
    groups = [rewards[at : at + size] for at in range(0, len(rewards), size)]
    least = job.number("success_threshold")
    solved = [sum(reward >= least for reward in group) for group in groups]
    powers = [k for k in (1, 2, 4, 8, 16, 32) if k <= size]
    found = {f"val/reward/pass_at_{k}": mean([pass_at(k, size, n) for n in solved]) for k in powers}
    return found | {"val/reward/mean": mean(rewards)}


def pass_at(k: int, of: int, solved: int) -> float:
    """The chance that one of k rollouts solves a prompt, without bias.

    Source: Chen et al., "Evaluating Large Language Models Trained on Code", 2021, equation 1.
    """
    missed = 1.0
    for at in range(k):
        missed *= max(0, of - solved - at) / (of - at)
    return 1.0 - missed


def _batches(job: AgentTraining) -> Iterator[tuple[int, int, list[str]]]:
    """The number and the epoch of each step, and its prompts."""
    random = Random(f"multi-turn {job.seed}")  # noqa: S311 - the same draws in every run
    size, number, cells = job.count("global_batch_size"), 0, list(job.cells)
    for epoch in range(1, job.count("max_epochs") + 1):
        random.shuffle(cells)
        for at in range(0, len(cells), size):
            if number == job.steps:
                return
            number += 1
            yield number, epoch, cells[at : at + size]


def _learned(
    policy: Policy, groups: Sequence[Sequence[Ended]], job: AgentTraining
) -> dict[str, float]:
    """The metrics of a step, whose rewards have changed the policy."""
    gained = [advantages([each.reward for each in group]) for group in groups]
    choices = [
        Choice(one.kind, one.strategy, advantage)
        for group, values in zip(groups, gained, strict=True)
        for one, advantage in zip(group, values, strict=True)
        if one.kind
    ]
    rate = job.number("learning_rate") * MULTIPLIED
    update = policy.update(choices, rate * SETTINGS.step_per_learning_rate)
    ended = [one for group in groups for one in group]
    rewards = [one.reward for one in ended]
    return {
        "rollout/reward/mean": mean(rewards),
        "rollout/reward/valid_mean": mean(rewards),
        "rollout/reward/std": pstdev(rewards),
        "rollout/reward/min": min(rewards),
        "rollout/reward/max": max(rewards),
        "rollout/reward/zero_frac": sum(reward == 0 for reward in rewards) / len(rewards),
        "rollout/turns/mean": mean([float(one.turns) for one in ended]),
        "rollout/tokens/mean": mean([float(one.sampled_tokens) for one in ended]),
        "analysis/zero_adv_groups": float(sum(not any(values) for values in gained)),
        "training/total_tokens": float(
            sum(one.prompt_tokens + one.sampled_tokens for one in ended)
        ),
        "training/pg_loss": update.pg_loss,
        "training/grad_norm": update.grad_norm,
    }
