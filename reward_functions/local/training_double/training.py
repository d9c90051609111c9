"""A simulated training job: groups of responses, the deployed reward's scores, and updates.

    for each epoch: the rows, shuffled
      for each step: batchSize prompts × trainingSamplePerPrompt responses of the policy
        scores      from the reward function, and from nowhere else
        advantages  within each group; a group of equal rewards teaches nothing
        update      of the policy; every evalInterval steps, and at the end, an evaluation

It is deterministic: equal jobs with equal seeds and scores make equal policies. Not simulated:
tokens, `maxPromptLength`, `reasoningEffort`, the time a step takes, clipping, divergence penalties.
No language model is trained.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import ceil, inf
from random import Random
from statistics import stdev
from time import sleep
from typing import TYPE_CHECKING, Any, Final, Literal

from reward_functions.core.errors import ConfigurationError
from reward_functions.core.means import mean
from reward_functions.data.lengths import CHARACTERS_PER_TOKEN, tokens
from reward_functions.local.training_double.batches import (
    GraderFailed,
    event_row,
    invocations,
    rewards_of,
)
from reward_functions.local.training_double.policy import Choice, Policy, advantages
from reward_functions.local.training_double.settings import LEFT_OUT, MULTIPLIED, SETTINGS
from reward_functions.local.training_double.tasks import NoTask, Task, task_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from reward_functions.jobs.job import DriverName, HyperparameterValue
    from reward_functions.local.training_double.policy import UpdateFigures
    from reward_functions.local.training_double.settings import SimulationSettings

    Answer = Callable[[list[dict[str, Any]]], Any]

COUNTS: Final = frozenset(
    {"epochCount", "batchSize", "trainingSamplePerPrompt", "inferenceMaxTokens", "evalInterval"}
)

AUTO: Final = "auto"
"""What OpenAI's API takes for a hyperparameter that the service is to choose."""

MAX_FAILURE: Final = 2048
"""Characters of a failure message, as in Bedrock's `failureMessage`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingJob:
    """A job, its data read.

    Args:
        rows: of the training file: `messages`, `reference_answer`, and whatever else.
        hyperparameters: by Bedrock's names (see `bedrock_names`); `LEFT_OUT` where left out.
        seed: of everything that is drawn.
        path: which trainer's rows the reward function receives.
        policy: what training begins from; it is not changed.
        validation: rows of the validation file; may be empty.
        settings: of the simulation.
    """

    rows: Sequence[Mapping[str, Any]]
    hyperparameters: Mapping[str, HyperparameterValue] = field(default_factory=dict)
    seed: int = 0
    path: DriverName = "bedrock"
    policy: Policy = field(default_factory=Policy.base)
    validation: Sequence[Mapping[str, Any]] = ()
    settings: SimulationSettings = SETTINGS

    def check(self) -> None:
        """Whether it can run at all; the ranges of its service are the service's to check.

        Raises:
            ConfigurationError: there are no rows, or a hyperparameter is not above zero.
        """
        if not self.rows:
            raise ConfigurationError("the training file holds no rows")
        for name in sorted(COUNTS):
            if self.count(name) < 1:
                raise ConfigurationError(f"{name} is {self.count(name)}: 1 or more")
        rate = self.number("learningRate")
        if not 0 < rate < inf:
            raise ConfigurationError(f"learningRate is {rate:g}: a finite number above zero")

    def number(self, name: str) -> float:
        """A hyperparameter that is a number."""
        return float(self.hyperparameters.get(name, LEFT_OUT[name]))

    def count(self, name: str) -> int:
        """A hyperparameter that is a whole number."""
        return int(self.number(name))

    @property
    def steps(self) -> int:
        """Of the whole job: the last batch of an epoch may be smaller."""
        return self.count("epochCount") * ceil(len(self.rows) / self.count("batchSize"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One optimiser step.

    Args:
        number: from 1.
        total: steps of the job.
        epoch: from 1.
        metrics: of the training batch: see `_metrics`.
        validation: reward_mean, reward_std, reward_min and reward_max of one response to each
            validation row after the update; empty where the step has no evaluation.
        shares: after the update, of each strategy, for each kind of answer that the data has.
    """

    number: int
    total: int
    epoch: int
    metrics: Mapping[str, float]
    validation: Mapping[str, float]
    shares: Mapping[str, Mapping[str, float]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How a job ended.

    Args:
        status: the skeleton's word.
        policy: as far as it came.
        failure: why it failed; the reward function's own words where it did. "" otherwise.
    """

    status: Literal["succeeded", "stopped", "failed"]
    policy: Policy
    failure: str = ""


class _Stopped(Exception):
    """Somebody asked the job to stop."""


def run(
    job: TrainingJob,
    *,
    answer: Answer,
    publish: Callable[[Step], None],
    stopping: Callable[[], bool] = lambda: False,
    wait: Callable[[float], None] = sleep,
) -> Outcome:
    """Run a job to its end.

    Args:
        job: what to run.
        answer: sends rows to the deployed version and returns its decoded response. Where it raises
            a `ConfigurationError` (`GraderFailed`, `AwsFailed`), the batch is sent again, as often
            as the settings say, and then the job fails with that message.
        publish: takes each step as soon as it is done.
        stopping: whether the job is asked to stop; looked at before each invocation.
        wait: seconds before the next attempt.

    Returns:
        The outcome; it raises nothing that `answer` and `publish` do not raise of another kind.
    """
    policy = Policy.from_json(job.policy.to_json())
    try:
        job.check()
        _Run(job, policy, answer, stopping, wait).all(publish)
    except _Stopped:
        return Outcome(status="stopped", policy=policy)
    except ConfigurationError as error:
        return Outcome(status="failed", policy=policy, failure=str(error)[:MAX_FAILURE])
    return Outcome(status="succeeded", policy=policy)


def bedrock_names(
    hyperparameters: Mapping[str, HyperparameterValue],
) -> dict[str, HyperparameterValue]:
    """Hyperparameters of the OpenAI-compatible API by Bedrock's names.

    Args:
        hyperparameters: any of `n_epochs`, `batch_size` and `learning_rate_multiplier`; "auto"
            counts as left out.
    """
    given = {name: value for name, value in hyperparameters.items() if value != AUTO}
    named = {"n_epochs": "epochCount", "batch_size": "batchSize"}
    found = {name: given[theirs] for theirs, name in named.items() if theirs in given}
    multiplier = float(given.get("learning_rate_multiplier", 1.0))
    return {**found, "learningRate": multiplier * MULTIPLIED}


@dataclass(frozen=True, slots=True)
class _Prompt:
    """A row with its task."""

    row: Mapping[str, Any]
    task: Task


@dataclass(frozen=True, slots=True)
class _Taken:
    """A response in its group, with what the metrics need of it."""

    prompt: _Prompt
    strategy: int
    text: str
    tokens: int


class _Run:
    """The state of a run: the draws, and how many rollouts there were."""

    def __init__(
        self,
        job: TrainingJob,
        policy: Policy,
        answer: Answer,
        stopping: Callable[[], bool],
        wait: Callable[[float], None],
    ) -> None:
        self.job, self.policy = job, policy
        self.answer, self.stopping, self.wait = answer, stopping, wait
        self.random = Random(f"training {job.seed}")  # noqa: S311 - the same draws in every run
        self.sent = 0

    def all(self, publish: Callable[[Step], None]) -> None:
        """Every step of every epoch."""
        job = self.job
        prompts = list(_prompts(job.rows, "training"))
        held_out = list(_prompts(job.validation, "validation"))
        kinds = sorted({prompt.task.kind for prompt in prompts})
        size, every = job.count("batchSize"), job.count("evalInterval")
        number = 0
        for epoch in range(1, job.count("epochCount") + 1):
            self.random.shuffle(prompts)
            for at in range(0, len(prompts), size):
                number += 1
                metrics = self._step(prompts[at : at + size], number)
                evaluated = number % every == 0 or number == job.steps
                publish(
                    Step(
                        number=number,
                        total=job.steps,
                        epoch=epoch,
                        metrics=metrics,
                        validation=self._evaluated(held_out, number) if evaluated else {},
                        shares={kind: self.policy.named_shares(kind) for kind in kinds},
                    )
                )

    def _step(self, prompts: Sequence[_Prompt], number: int) -> dict[str, float]:
        size = self.job.count("trainingSamplePerPrompt")
        taken = [one for prompt in prompts for one in self._responses(prompt, size)]
        rewards = self._scores(taken, number)
        epsilon = self.job.settings.advantage_epsilon
        groups = [rewards[at : at + size] for at in range(0, len(rewards), size)]
        gained = [advantage for group in groups for advantage in advantages(group, epsilon)]
        choices = [
            Choice(one.prompt.task.kind, one.strategy, advantage)
            for one, advantage in zip(taken, gained, strict=True)
        ]
        step = self.job.number("learningRate") * self.job.settings.step_per_learning_rate
        update = self.policy.update(choices, step)
        return _metrics(groups, gained, [one.tokens for one in taken], update)

    def _evaluated(self, prompts: Sequence[_Prompt], number: int) -> dict[str, float]:
        """The rewards of one response to each prompt; nothing without prompts."""
        taken = [one for prompt in prompts for one in self._responses(prompt, 1)]
        return _reward_metrics(self._scores(taken, number)) if taken else {}

    def _responses(self, prompt: _Prompt, size: int) -> Iterator[_Taken]:
        most = self.job.count("inferenceMaxTokens")
        for rollout in self.policy.sample_group(prompt.task, size, self.random):
            text, length = rollout.text, tokens(rollout.text)
            if length > most:
                text, length = text[: CHARACTERS_PER_TOKEN * most], most
            yield _Taken(prompt, rollout.strategy, text, length)

    def _scores(self, taken: Sequence[_Taken], number: int) -> list[float]:
        rows = [
            event_row(one.prompt.row, one.text, at, self.job.path)
            for at, one in enumerate(taken, self.sent)
        ]
        self.sent += len(rows)
        return [score for batch in invocations(rows, number) for score in self._answered(batch)]

    def _answered(self, batch: list[dict[str, Any]]) -> list[float]:
        """The scores of an invocation, which is repeated where the function fails."""
        for attempt in range(1, self.job.settings.grader_attempts + 1):
            if self.stopping():
                raise _Stopped
            try:
                response = self.answer(batch)
            except ConfigurationError:
                if attempt == self.job.settings.grader_attempts:
                    raise
                waits = self.job.settings.grader_waits
                self.wait(waits[min(attempt, len(waits)) - 1])
            else:
                return rewards_of(batch, response)
        raise GraderFailed("the settings allow no attempt")


def _prompts(rows: Iterable[Mapping[str, Any]], which: str) -> Iterator[_Prompt]:
    """The rows with their tasks.

    Raises:
        NoTask: a row has none; the message says where it stands.
    """
    for number, row in enumerate(rows, 1):
        messages = row.get("messages")
        if not isinstance(messages, list) or not all(isinstance(turn, dict) for turn in messages):
            raise NoTask(f"{which} data, row {number}: messages is not a list of turns")
        metadata = row.get("metadata")
        behind = metadata.get("reference_answer") if isinstance(metadata, dict) else None
        try:
            yield _Prompt(row, task_of(messages, row.get("reference_answer", behind)))
        except NoTask as error:
            raise NoTask(f"{which} data, row {number}: {error}") from None


def _metrics(
    groups: Sequence[Sequence[float]],
    gained: Sequence[float],
    lengths: Sequence[int],
    update: UpdateFigures,
) -> dict[str, float]:
    """The metrics of a step: of rewards, of groups, of the update, of responses in tokens."""
    rewards = [reward for group in groups for reward in group]
    return {
        **_reward_metrics(rewards),
        "frac_reward_zero_std": sum(len(set(group)) == 1 for group in groups) / len(groups),
        "advantage_mean": mean(gained),
        "pg_loss": update.pg_loss,
        "entropy": update.entropy,
        "grad_norm": update.grad_norm,
        "response_length_mean": mean(lengths),
        "response_length_max": float(max(lengths)),
    }


def _reward_metrics(rewards: Sequence[float]) -> dict[str, float]:
    return {
        "reward_mean": mean(rewards),
        "reward_std": stdev(rewards) if len(rewards) > 1 else 0.0,
        "reward_min": min(rewards),
        "reward_max": max(rewards),
    }
