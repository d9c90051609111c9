"""A simulated training job: rows as trainers send them, the deployed reward's scores, and updates.

    for each epoch: the rows, shuffled
      for each step: batchSize prompts × trainingSamplePerPrompt responses of the policy
        scores      from the reward function, or from the agents, and from nowhere else
        advantages  within each group; a group of equal rewards teaches nothing
        update      of the policy; every evalInterval steps, and at the end, an evaluation

It is deterministic: equal jobs with equal seeds and scores make equal policies. Not simulated:
tokens, `maxPromptLength`, `reasoningEffort`, the time a step takes, clipping, divergence penalties.
No language model is trained.

It is not settled which trainer sends which shape: AWS's pages and samples contradict each other. So
each shape has its turn, row by row, and a reward that reads only one of them is found out here.

| what | shapes |
| --- | --- |
| the generated turn's role | `assistant`, `nova_assistant` |
| content | a string, a list of text blocks, an object with `text` |
| the reference | at the top, in `metadata`, in both; the OpenAI-compatible API wraps strings |
| further fields | at the top, in `metadata` |
| ids | the row's with a number, digits, hexadecimal |
| rows of an invocation | a whole step; 1, 2, 4, … |

Sources: docs.aws.amazon.com/bedrock/latest/userguide/reward-functions-open-weight;
docs.aws.amazon.com/nova/latest/nova2-userguide/nova-implementing-reward-functions; the graders of
aws-samples/amazon-bedrock-samples (85fba9d). The rows of an invocation are documented nowhere: a
group may be torn apart, as a service may tear it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import product
from math import ceil, inf, isfinite
from random import Random
from statistics import stdev
from time import sleep
from typing import TYPE_CHECKING, Any, Final, Generic, Literal, NamedTuple, TypeVar

from reward_functions.core.errors import ConfigurationError
from reward_functions.core.jsons import json_kind
from reward_functions.core.means import mean
from reward_functions.data.lengths import CHARACTERS_PER_TOKEN, tokens
from reward_functions.data.records import text_of
from reward_functions.local.training_double.policy import (
    LEFT_OUT,
    SETTINGS,
    Choice,
    Policy,
    SimulationSettings,
    advantages,
)
from reward_functions.local.training_double.strategies import NoTask, Task, task_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from reward_functions.jobs.job import DriverName, HyperparameterValue

    Answer = Callable[[list[dict[str, Any]]], Any]

MAX_EVENT: Final = 4 * 1024 * 1024
"""Bytes of the rows of an invocation; Lambda takes 6 MB."""

OWN: Final = frozenset({"id", "messages", "reference_answer", "metadata"})
"""Keys of a row of training data that have a meaning; every other is a further field."""

COUNTS: Final = (
    *("batchSize", "epochCount", "evalInterval", "inferenceMaxTokens"),
    "trainingSamplePerPrompt",
)

MAX_FAILURE: Final = 2048
"""Characters of a failure message, as in Bedrock's `failureMessage`."""


class JobFailed(ConfigurationError):
    """A job cannot go on. The message is what its owner reads as the reason."""


class Stopped(Exception):
    """Somebody asked the job to stop."""


class Shape(NamedTuple):
    """One way to send a row; see the module."""

    role: str
    content: str
    reference: str
    further: str


def _shapes(roles: tuple[str, ...], contents: tuple[str, ...]) -> tuple[Shape, ...]:
    places = (("top", "metadata", "both"), ("top", "metadata"))
    return tuple(map(Shape._make, product(roles, contents, *places)))


_EVERY: Final = _shapes(("assistant", "nova_assistant"), ("string", "blocks", "object"))

SHAPES: Final[Mapping[DriverName, tuple[Shape, ...]]] = {
    "bedrock": _EVERY,
    "sagemaker": _EVERY,
    "openai": _shapes(("assistant",), ("string",)),
}


def event_row(
    row: Mapping[str, Any], response: str, number: int, path: DriverName
) -> dict[str, Any]:
    """A rollout as a trainer sends it.

    Args:
        row: of the training data.
        response: the generated turn.
        number: of the rollout in its job, from 0; chooses the shape, and makes the id its own.
        path: whose shapes.
    """
    shape = SHAPES[path][number % len(SHAPES[path])]
    metadata = row.get("metadata")
    metadata = dict(metadata) if isinstance(metadata, dict) else {}
    reference = metadata.pop("reference_answer", None)
    reference = row.get("reference_answer", reference)
    if path == "openai" and isinstance(reference, str):
        reference = {"text": reference}
    further = {key: value for key, value in row.items() if key not in OWN}
    turns = [
        turn | {"content": _content(text_of(turn.get("content")), shape)}
        for turn in row["messages"]
    ]
    sent = {
        "id": _identity(row, number),
        "messages": [*turns, {"role": shape.role, "content": _content(response, shape)}],
        "metadata": metadata,
    }
    if shape.reference != "metadata":
        sent["reference_answer"] = reference
    if shape.reference != "top":
        metadata["reference_answer"] = reference
    (sent if shape.further == "top" else metadata).update(further)
    return sent


def _content(text: str, shape: Shape) -> Any:
    shapes = {"string": text, "blocks": [{"type": "text", "text": text}], "object": {"text": text}}
    return shapes[shape.content]


def _identity(row: Mapping[str, Any], number: int) -> str:
    """An id of the rollout's own, in one of three styles."""
    name = row.get("id")
    styles = (
        f"{name if isinstance(name, str) else 'row'}-{number}",
        str(number),
        blake2b(str(number).encode(), digest_size=16).hexdigest(),
    )
    return styles[number % len(styles)]


def invocations(rows: Sequence[dict[str, Any]], step: int) -> Iterator[list[dict[str, Any]]]:
    """The rows of a step as they are sent: all at once, or by 1, 2, 4, …, in turn.

    Args:
        rows: of the step.
        step: its number; an odd one is sent at once, as far as Lambda takes it.
    """
    most, size = (len(rows), 0) if step % 2 else (1, 0)
    batch: list[dict[str, Any]] = []
    for row in rows:
        length = len(json.dumps(row))
        if batch and (len(batch) == most or size + length > MAX_EVENT):
            yield batch
            batch, size, most = [], 0, 2 * most
        batch.append(row)
        size += length
    if batch:
        yield batch


def rewards_of(sent: Sequence[Mapping[str, Any]], response: Any) -> list[float]:
    """The scores of the rows that were sent, in their order, for any order of the results.

    Raises:
        JobFailed: it is not a bare list with one finite `aggregate_reward_score` for each id.
    """
    if not isinstance(response, list):
        wrapped = isinstance(response, dict) and "statusCode" in response
        hint = ": it was deployed with the response mode `envelope`" if wrapped else ""
        raise JobFailed(
            f"the reward function returned {json_kind(response)} where a list of results is read"
            f"{hint}"
        )
    scores = dict(map(_score, response))
    if len(response) != len(sent) or len(scores) != len(response):
        raise JobFailed(
            f"the reward function returned {len(response):,} results with {len(scores):,} ids for "
            f"{len(sent):,} rows"
        )
    try:
        return [scores[row["id"]] for row in sent]
    except KeyError:
        raise JobFailed("the reward function returned an id that was not sent") from None


def _score(result: Any) -> tuple[str, float]:
    if not isinstance(result, dict):
        raise JobFailed(f"a result of the reward function is {json_kind(result)}, not an object")
    identity, score = result.get("id"), result.get("aggregate_reward_score")
    if not isinstance(identity, str):
        raise JobFailed(f"the id of a result is {json_kind(identity)}, not a string")
    if isinstance(score, bool) or not isinstance(score, int | float) or not isfinite(score):
        raise JobFailed("an aggregate_reward_score is missing, or is not a finite number")
    return identity, float(score)


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingJob:
    """A job, its data read.

    Args:
        rows: of the training file: `messages`, `reference_answer`, and any other fields; of a
            multi-turn job, its prompts.
        hyperparameters: by Bedrock's names; `LEFT_OUT` where left out. `maxSteps` has no default.
        seed: of everything that is drawn.
        path: which trainer's rows the reward function receives.
        policy: what training begins from; it is not changed.
        validation: rows of the validation file; may be empty.
        settings: of the simulation.
    """

    rows: Sequence[Any]
    hyperparameters: Mapping[str, HyperparameterValue] = field(default_factory=dict)
    seed: int = 0
    path: DriverName = "bedrock"
    policy: Policy = field(default_factory=Policy.base)
    validation: Sequence[Any] = ()
    settings: SimulationSettings = SETTINGS

    def check(self) -> None:
        """Whether it can run at all; the ranges of its service are the service's to check.

        Raises:
            ConfigurationError: there are no rows, or a hyperparameter is not above zero.
        """
        if not self.rows:
            raise ConfigurationError("the training file holds no rows")
        for name in COUNTS:
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
    def steps_per_epoch(self) -> int:
        """The last batch of an epoch may be smaller."""
        return ceil(len(self.rows) / self.count("batchSize"))

    @property
    def steps(self) -> int:
        """Of the whole job."""
        every = self.count("epochCount") * self.steps_per_epoch
        return min(every, int(self.hyperparameters.get("maxSteps", every)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One optimiser step.

    Args:
        number: from 1.
        total: steps of the job.
        epoch: from 1.
        metrics: of the training batch: see `_metrics`.
        validation: the figures of rewards of one response to each validation row after the
            update; empty where the step has no evaluation.
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


class Scored(NamedTuple):
    """A response, or a rollout of an agent, with its reward.

    Attributes:
        kind: of the answer; "" where the policy had nothing to write.
        strategy: that it was written by; its place among the strategies.
        reward: the sum over its turns.
        tokens: that were sampled.
        read: tokens of its prompts.
        turns: that the policy was asked for.
    """

    kind: str
    strategy: int
    reward: float
    tokens: int
    read: int = 0
    turns: int = 1


Prompt = TypeVar("Prompt")


class Training(Generic[Prompt]):
    """A job at work: the draws, and the policy as it learns. Jobs differ in `roll_out`.

    Args:
        job: what to run.
    """

    def __init__(self, job: TrainingJob) -> None:
        self.job = job
        self.policy = Policy.from_json(job.policy.to_json())
        self.random = Random(f"training {job.seed}")  # noqa: S311 - the same draws in every run
        self.made = 0

    def prompts(self, rows: Iterable[Any], which: str) -> Iterable[Prompt]:
        """The prompts of some rows; `which` says whose they are, for a sentence."""
        raise NotImplementedError

    def kinds(self, prompts: Iterable[Prompt]) -> Iterable[str]:  # noqa: ARG002
        """The kinds of answers of the training data, as far as they are known before it begins."""
        return ()

    def roll_out(self, prompts: Sequence[Prompt], size: int, number: int) -> list[Scored]:
        """Groups of responses to prompts, one after the other, each with its reward.

        Args:
            prompts: each of which has a group.
            size: of a group.
            number: of the step.
        """
        raise NotImplementedError

    def run(self, publish: Callable[[Step], None]) -> Outcome:
        """Run the job to its end.

        Args:
            publish: takes each step as soon as it is done.

        Returns:
            The outcome; it raises nothing that `roll_out` and `publish` do not raise of another
            kind.
        """
        try:
            self.job.check()
            self._steps(publish)
        except Stopped:
            return Outcome(status="stopped", policy=self.policy)
        except ConfigurationError as error:
            failure = str(error)[:MAX_FAILURE]
            return Outcome(status="failed", policy=self.policy, failure=failure)
        return Outcome(status="succeeded", policy=self.policy)

    def _steps(self, publish: Callable[[Step], None]) -> None:
        """Every step of every epoch."""
        job = self.job
        prompts = list(self.prompts(job.rows, "training"))
        held_out = list(self.prompts(job.validation, "validation"))
        kinds = sorted({*self.kinds(prompts)})
        size, every = job.count("batchSize"), job.count("evalInterval")
        number = 0
        for epoch in range(1, job.count("epochCount") + 1):
            self.random.shuffle(prompts)
            for at in range(0, len(prompts), size):
                if number == job.steps:
                    return
                number += 1
                metrics = self._step(prompts[at : at + size], number)
                evaluated = held_out and (number % every == 0 or number == job.steps)
                validation = self.roll_out(held_out, 1, number) if evaluated else []
                publish(
                    Step(
                        number=number,
                        total=job.steps,
                        epoch=epoch,
                        metrics=metrics,
                        validation=_rewards(validation) if validation else {},
                        shares={kind: self.policy.named_shares(kind) for kind in kinds},
                    )
                )

    def _step(self, prompts: Sequence[Prompt], number: int) -> dict[str, float]:
        """The metrics of a step, whose rewards have changed the policy."""
        size, settings = self.job.count("trainingSamplePerPrompt"), self.job.settings
        scored = self.roll_out(prompts, size, number)
        rewards = [one.reward for one in scored]
        groups = [rewards[at : at + size] for at in range(0, len(rewards), size)]
        gained = [
            each for group in groups for each in advantages(group, settings.advantage_epsilon)
        ]
        choices = [
            Choice(one.kind, one.strategy, advantage)
            for one, advantage in zip(scored, gained, strict=True)
            if one.kind
        ]
        rate = self.job.number("learningRate") * settings.step_per_learning_rate
        update = self.policy.update(choices, rate)
        self.made += len(scored)
        alike = sum(len(set(group)) == 1 for group in groups)
        lengths = [one.tokens for one in scored]
        return {
            **_rewards(scored),
            "groups_zero_std": float(alike),
            "frac_reward_zero_std": alike / len(groups),
            "advantage_mean": mean(gained),
            **update._asdict(),
            "response_length_mean": mean(lengths),
            "response_length_max": float(max(lengths)),
            "turns_mean": mean([one.turns for one in scored]),
            "tokens": float(sum(one.read + one.tokens for one in scored)),
            "rollouts": float(self.made),
        }


def _rewards(scored: Sequence[Scored]) -> dict[str, float]:
    """The figures of rewards. A response that earns 1 has solved its prompt."""
    rewards = [one.reward for one in scored]
    return {
        "reward_mean": mean(rewards),
        "reward_std": stdev(rewards) if len(rewards) > 1 else 0.0,
        "reward_min": min(rewards),
        "reward_max": max(rewards),
        "frac_reward_zero": sum(reward == 0 for reward in rewards) / len(rewards),
        "frac_solved": sum(reward >= 1 for reward in rewards) / len(rewards),
    }


class _Prompt(NamedTuple):
    """A row with its task."""

    row: Mapping[str, Any]
    task: Task


class Responses(Training[_Prompt]):
    """A job whose responses a reward function scores.

    Args:
        job: what to run.
        answer: sends rows to the deployed version and returns its decoded response. Where it raises
            a `ConfigurationError` (`JobFailed`, `AwsFailed`), the batch is sent again, as often
            as the settings say, and then the job fails with that message.
        stopping: whether the job is asked to stop; looked at before each invocation.
        wait: seconds before the next attempt.
    """

    def __init__(
        self,
        job: TrainingJob,
        answer: Answer,
        stopping: Callable[[], bool] = lambda: False,
        wait: Callable[[float], None] = sleep,
    ) -> None:
        super().__init__(job)
        self.answer, self.stopping, self.wait = answer, stopping, wait
        self.sent = 0

    def prompts(self, rows: Iterable[Mapping[str, Any]], which: str) -> Iterator[_Prompt]:
        """The rows with their tasks.

        Raises:
            NoTask: a row has none; the message says where it stands.
        """
        for number, row in enumerate(rows, 1):
            messages = row.get("messages")
            if not isinstance(messages, list) or not all(isinstance(one, dict) for one in messages):
                raise NoTask(f"{which} data, row {number}: messages is not a list of turns")
            metadata = row.get("metadata")
            after = metadata.get("reference_answer") if isinstance(metadata, dict) else None
            try:
                yield _Prompt(row, task_of(messages, row.get("reference_answer", after)))
            except NoTask as error:
                raise NoTask(f"{which} data, row {number}: {error}") from None

    def kinds(self, prompts: Iterable[_Prompt]) -> Iterator[str]:
        """Those of the prompts' tasks."""
        return (prompt.task.kind for prompt in prompts)

    def roll_out(self, prompts: Sequence[_Prompt], size: int, number: int) -> list[Scored]:
        """Responses, cut where they are too long, with what the function says they are worth."""
        most, taken, rows = self.job.count("inferenceMaxTokens"), [], []
        for prompt in prompts:
            for rollout in self.policy.sample_group(prompt.task, size, self.random):
                text, length = rollout.text, tokens(rollout.text)
                if length > most:
                    text, length = text[: CHARACTERS_PER_TOKEN * most], most
                rows.append(event_row(prompt.row, text, self.sent, self.job.path))
                taken.append(Scored(prompt.task.kind, rollout.strategy, 0.0, length))
                self.sent += 1
        scores = [score for batch in invocations(rows, number) for score in self._answered(batch)]
        return [one._replace(reward=score) for one, score in zip(taken, scores, strict=True)]

    def _answered(self, batch: list[dict[str, Any]]) -> list[float]:
        """The scores of an invocation, which is repeated where the function fails."""
        for attempt in range(1, self.job.settings.grader_attempts + 1):
            if self.stopping():
                raise Stopped
            try:
                response = self.answer(batch)
            except ConfigurationError:
                if attempt == self.job.settings.grader_attempts:
                    raise
                waits = self.job.settings.grader_waits
                self.wait(waits[min(attempt, len(waits)) - 1])
            else:
                return rewards_of(batch, response)
        raise JobFailed("the settings allow no attempt")
