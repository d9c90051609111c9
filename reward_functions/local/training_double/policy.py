"""A policy small enough to watch: for each kind of answer, a softmax over the nine strategies.

It learns as a language model under GRPO does, from rewards within groups and nothing else: which
strategies are correct it is never shown. Kinds share nothing: what it learns on percentages leaves
formulas as they were.

    advantage    (reward − mean of the group) / (standard deviation of the group + ε)
    gradient     of a kind: the mean over its rollouts of advantage × (strategy taken − shares)
    update       logits + step × gradient

Source: Shao et al., DeepSeekMath, 2024 (arXiv 2402.03300), section 4.1; the standard deviation is
the sample's, and ε is added to it, as in TRL's `GRPOTrainer`. There is no clipping, since each
rollout is used once, and no penalty on the divergence from the base.

The settings of every simulated run are published here, the same for each seed, data and reward.
None of them describes a language model. They are chosen so that a rehearsal of some fifty steps
shows the whole curve. The base policy is right about a third of the time, and an update is neither
over at once nor unfinished. `python -m tests.benchmarks rehearsal` runs them.

**Samples of an agent.** For each rollout a strategy is drawn once, by the shares that its job's
policy has at that step, and the final answer is written by it. Where the agent offers a calculator
and the prompt holds a sum, the policy calls that first, as `runtime_double.CalculatorPolicy` does.
Its text is right because it is given the reference: of the cell, where that is JSON, or else the
value of the prompt's own sum. A prompt with neither is answered by a sentence that teaches nothing.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from itertools import accumulate
from math import exp, fsum, isfinite, log, sqrt
from random import Random
from statistics import stdev
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Self

from reward_functions.core.errors import ConfigurationError
from reward_functions.core.means import mean
from reward_functions.local.loopback_service.server import missing
from reward_functions.local.runtime_double.chat import Answer, text_of
from reward_functions.local.runtime_double.policies import (
    CalculatorPolicy,
    evaluated,
    expression_in,
    written,
)
from reward_functions.local.training_double.strategies import KINDS, STRATEGIES, NoTask, task_of
from reward_functions.rollouts.episode.samples import sample_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from reward_functions.jobs.job import HyperparameterValue
    from reward_functions.local.runtime_double.chat import ChatRequest
    from reward_functions.local.training_double.strategies import Task

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

MULTIPLIED: Final = 1e-4
"""The learning rate that `learning_rate_multiplier` 1 of the OpenAI-compatible API stands for here.
What it stands for there is not documented."""


@dataclass(frozen=True, slots=True)
class SimulationSettings:
    """The settings of a simulated run beside its hyperparameters.

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

NAMES: Final = tuple(one.name for one in STRATEGIES)

GREEDY: Final = 1e-3
"""A temperature below it draws nothing: a prompt has one answer."""

FORMAT: Final = 1
"""Of the JSON."""


class BadPolicy(ConfigurationError):
    """A saved policy that cannot be read. The message names what is wrong."""


class Rollout(NamedTuple):
    """A response, and the strategy that it was written by: its place in `STRATEGIES`."""

    strategy: int
    text: str


class Choice(NamedTuple):
    """The lesson of an update: a strategy that was taken, and its advantage in its group."""

    kind: str
    strategy: int
    advantage: float


class UpdateFigures(NamedTuple):
    """What an update was.

    Attributes:
        pg_loss: the mean of −advantage × log of the share, before the update.
        grad_norm: the Euclidean norm of the gradient over all kinds.
        entropy: of the shares before the update, in nats: the mean over the rollouts' kinds.
    """

    pg_loss: float
    grad_norm: float
    entropy: float


@dataclass(slots=True)
class Policy:
    """Logits of the strategies, in their order, for each kind of answer."""

    logits: dict[str, list[float]]

    @classmethod
    def base(cls, settings: SimulationSettings = SETTINGS) -> Self:
        """The policy before any training: the same for every kind."""
        logits = [log(settings.base_shares[name]) for name in NAMES]
        return cls({kind: list(logits) for kind in KINDS})

    def shares(self, kind: str, temperature: float = 1.0) -> list[float]:
        """How often each strategy is taken for a kind of answer; they sum to 1.

        Args:
            kind: of `KINDS`.
            temperature: at least `GREEDY`.
        """
        logits = self.logits[kind]
        most = max(logits)
        powers = [exp((logit - most) / temperature) for logit in logits]
        total = fsum(powers)
        return [power / total for power in powers]

    def named_shares(self, kind: str) -> dict[str, float]:
        """The shares by the strategies' names."""
        return dict(zip(NAMES, self.shares(kind), strict=True))

    def sample_group(
        self, task: Task, size: int, random: Random, temperature: float = 1.0
    ) -> list[Rollout]:
        """So many responses to one prompt, each drawn by itself; greedy ones are all the same.

        Below `GREEDY` the prompt alone decides, and each strategy answers the share of prompts
        that it has of the samples. The likeliest strategy would answer all: a base that is right in
        60 % of its samples would be wrong at every prompt, and training would seem to gain 100
        points.
        """
        if temperature < GREEDY:
            random = _own_random(task)
            (only,) = random.choices(range(len(STRATEGIES)), weights=self.shares(task.kind))
            return [Rollout(only, STRATEGIES[only].write(task, random))] * size
        weights = list(accumulate(self.shares(task.kind, temperature)))
        taken = random.choices(range(len(STRATEGIES)), cum_weights=weights, k=size)
        return [Rollout(at, STRATEGIES[at].write(task, random)) for at in taken]

    def answer(
        self,
        messages: Sequence[Mapping[str, Any]],
        reference: Any,
        random: Random,
        temperature: float = 1.0,
        point: float | None = None,
    ) -> str:
        """One response to a prompt.

        Args:
            messages: the prompt: turns with `role` and `content`.
            reference: the prompt's; a policy of this kind writes nothing right without it.
            random: draws.
            temperature: of the softmax.
            point: where the response falls among the strategies, from 0 to 1; None for a draw.

        Raises:
            NoTask: no answer can be read from the reference.
        """
        task = task_of(messages, reference)
        if point is None:
            (rollout,) = self.sample_group(task, 1, random, temperature)
            return rollout.text
        if temperature < GREEDY:
            random, temperature = _own_random(task), 1.0
        shares = accumulate(self.shares(task.kind, temperature))
        taken = sum(share <= point for share in shares)
        return STRATEGIES[min(taken, len(STRATEGIES) - 1)].write(task, random)

    def update(self, choices: Iterable[Choice], step: float) -> UpdateFigures:
        """Learn from the advantages of one optimiser step.

        Args:
            choices: of all groups of the step; a group of equal rewards has advantages of zero.
            step: of the logits along the gradient.
        """
        by_kind: dict[str, list[Choice]] = {}
        for choice in choices:
            by_kind.setdefault(choice.kind, []).append(choice)
        losses: list[float] = []
        entropies: list[float] = []
        squares: list[float] = []
        for kind, taken in by_kind.items():
            shares = self.shares(kind)
            losses += [-one.advantage * log(shares[one.strategy]) for one in taken]
            entropies += [-fsum(p * log(p) for p in shares if p > 0)] * len(taken)
            gradient = _gradient(taken, shares)
            squares += [part * part for part in gradient]
            self.logits[kind] = [
                logit + step * part for logit, part in zip(self.logits[kind], gradient, strict=True)
            ]
        count = max(1, len(losses))
        return UpdateFigures(fsum(losses) / count, sqrt(fsum(squares)), fsum(entropies) / count)

    def to_json(self) -> str:
        """The policy as a file holds it."""
        named = {
            kind: dict(zip(NAMES, logits, strict=True)) for kind, logits in self.logits.items()
        }
        return json.dumps({"simulation": True, "format": FORMAT, "logits": named})

    @classmethod
    def from_json(cls, text: str) -> Self:
        """The policy that `to_json` wrote.

        Raises:
            BadPolicy: it is something else.
        """
        try:
            content = json.loads(text)
            if content["format"] != FORMAT:
                raise BadPolicy(f"a policy of format {FORMAT} is read, and this is another")
            logits = {
                kind: [float(content["logits"][kind][name]) for name in NAMES] for kind in KINDS
            }
        except (ValueError, LookupError, TypeError, RecursionError):
            raise BadPolicy("this is not a policy of the simulation") from None
        if not all(isfinite(logit) for row in logits.values() for logit in row):
            raise BadPolicy("a logit of the policy is not finite")
        return cls(logits)


def advantages(
    rewards: Sequence[float], epsilon: float = SETTINGS.advantage_epsilon
) -> list[float]:
    """How far each reward of a group lies above its mean, in standard deviations.

    Args:
        rewards: of one group, at least one.
        epsilon: added to the standard deviation, which is the sample's.

    Returns:
        Zeros where all rewards are equal: such a group teaches nothing.
    """
    if len(set(rewards)) == 1:
        return [0.0] * len(rewards)
    middle = mean(rewards)
    scale = stdev(rewards) + epsilon
    return [(reward - middle) / scale for reward in rewards]


def _own_random(task: Task) -> Random:
    """What the words of a greedy answer are drawn by: the prompt alone."""
    prompt = (task.kind, task.answer, task.numbers, task.names)
    return Random(f"greedy {prompt}")  # noqa: S311 - the same in every run


def _gradient(taken: Sequence[Choice], shares: Sequence[float]) -> list[float]:
    """The mean of advantage × (strategy taken − shares) over the choices of a kind."""
    sums = [0.0] * len(shares)
    for one in taken:
        sums[one.strategy] += one.advantage
    total = fsum(sums)
    return [(mine - share * total) / len(taken) for mine, share in zip(sums, shares, strict=True)]


NOTHING: Final = (
    "Simulation: this prompt has neither a sum nor a reference to write an answer from."
)


@dataclass(slots=True)
class Drawn:
    """The ingredients of a rollout's answers.

    Args:
        policy: as it was when the rollout began.
        cell: what the agent was sent as its prompt.
        seed: of what is drawn.
        temperature: of the softmax.
        kind: of the answer, once one was written; "" before, and where nothing could be.
        strategy: its place among the strategies, likewise; -1 before.
    """

    policy: Policy
    cell: str
    seed: str
    temperature: float = 1.0
    kind: str = field(default="", init=False)
    strategy: int = field(default=-1, init=False)


class AgentPolicy:
    """Answers the agents of all jobs; called from many threads at once."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._drawn: dict[str, Drawn] = {}

    def begin(self, rollout: str, drawn: Drawn) -> None:
        """Know a rollout from now on."""
        with self._lock:
            self._drawn[rollout] = drawn

    def end(self, rollout: str) -> None:
        """Forget it."""
        with self._lock:
            self._drawn.pop(rollout, None)

    def answer(self, request: ChatRequest, trajectory_id: str) -> Answer:
        """The next turn of a conversation: a call of the calculator, or the answer.

        Raises:
            Refused: the rollout has ended.
        """
        with self._lock:
            drawn = self._drawn.get(trajectory_id)
        if drawn is None:
            raise missing("The trajectory has ended")
        sums = CalculatorPolicy().answer(request, trajectory_id)
        if sums.tool_calls:
            return sums
        task = _task(drawn.cell, request)
        if task is None:
            return Answer(NOTHING)
        random = Random(f"{drawn.seed} {trajectory_id}")  # noqa: S311 - the same in every run
        (taken,) = drawn.policy.sample_group(task, 1, random, drawn.temperature)
        drawn.kind, drawn.strategy = task.kind, taken.strategy
        return Answer(taken.text)


def _task(cell: str, request: ChatRequest) -> Task | None:
    """What is asked, and the right answer; None where nothing says one."""
    turns = [
        {"role": each["role"], "content": text_of(each)}
        for each in request.messages
        if each["role"] in {"system", "user"}
    ]
    try:
        return task_of(turns, reference_in(cell, request))
    except NoTask:
        return None


def reference_in(cell: str, request: ChatRequest) -> Any:
    """The reference of a cell that is JSON, or the value of the last question's sum."""
    reference = sample_of({"prompt": cell}, "").reference
    if reference is not None:
        return reference
    expression = expression_in(request.questions[-1]) if request.questions else ""
    value = evaluated(expression) if expression else None
    return None if value is None else written(value)
