"""The questions a judge would ask, recorded without a call, and the cost of judging a training run.

    responses = prompts × epochs × samples of a prompt
    calls     = responses × calls of a response, for every panel member; with `rotate` the members
                share them

An upper bound: the prefilter, deduplication and caches avoid calls, and a prompt cache makes tokens
cheaper. Retries come on top. A provider reserves the input and `max_tokens` of a call when it
begins: quotas count the reservation, dollars count the tokens of the answer.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from hashlib import sha256
from math import ceil, inf
from typing import TYPE_CHECKING, Any, Final

from reward_functions.core.asking import Verdict
from reward_functions.core.errors import ConfigurationError, RewardError
from reward_functions.core.types import Usage
from reward_functions.data.lengths import tokens
from reward_functions.judge_runtime.usage import price_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from reward_functions.core.asking import Question
    from reward_functions.core.spec import Example, RewardSpec
    from reward_functions.core.types import Sample
    from reward_functions.judge_runtime.config import JudgeConfig, JudgeModel


@dataclass(slots=True)
class QuestionRecorder:
    """An `Ask` that records its questions and answers with the default of every field.

    Args:
        questions: recorded so far.
    """

    questions: list[Question] = field(default_factory=list)

    def __call__(self, question: Question, /, *, deadline: float = inf) -> Verdict:  # noqa: ARG002
        """The default verdict; the worst choice, which needs no quotation."""
        self.questions.append(question)
        return Verdict(question.read(question.filled({})), model="recorder")


def recorded_questions(
    spec: RewardSpec, parameters: Mapping[str, Any], samples: Iterable[Sample]
) -> Iterator[list[Question]]:
    """The judge's questions about each sample; none where the prefilter rejects the response.

    A sample that the judge cannot score has no questions, or only those before its error. Each is
    recorded as it is asked for: a question holds its sample's texts once more.

    Raises:
        BadParameter: it has no such parameter, or one of another type.
        BadJudge: its prompt or its rubric cannot be used.
    """
    for sample in samples:
        recorder = QuestionRecorder()
        try:
            spec.bind(parameters, ask=recorder)(sample)
        except ConfigurationError:
            raise
        except RewardError:
            pass  # calibration itself reports what the judge cannot score
        yield recorder.questions


def examples_with(spec: RewardSpec, parameters: Mapping[str, Any]) -> list[Example]:
    """The judge's worked examples with these parameters, and the defaults of the others.

    Raises:
        ConfigurationError: the parameters cannot be used.
    """
    spec.bind(parameters)
    defaults = {name: parameter.default for name, parameter in spec.parameters.items()}
    bound = defaults | dict(parameters)
    return [each for each in spec.examples if defaults | dict(each.parameters) == bound]


def instructions_digest(asked: Iterable[Sequence[Question]]) -> str:
    """A hash of a judge's instructions and of the fields of its verdicts.

    It changes with the prompt file, the rubric, and the fields, and not with the samples.
    """
    parts = {
        json.dumps([each.system, [[one.name, one.about, one.choices] for one in each.fields]])
        for questions in asked
        for each in questions
    }
    return sha256("\n".join(sorted(parts)).encode("utf-8", "replace")).hexdigest()


OUTPUT: Final = 300
"""Tokens of a verdict with its reasons, without reasoning tokens; those can be thousands."""

LATENCY: Final = 3.0
"""Seconds of a call: some hundred tokens of a medium-sized model. Measure yours."""

INVOCATION: Final = 900
"""Seconds a Lambda function may take (docs.aws.amazon.com/lambda, "Lambda quotas")."""

MINUTE: Final = 60

_MARK: Final = re.compile("[0-9a-f]{32}")
"""The random mark of a fence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingRun:
    """A training run.

    Args:
        prompts: rows of training data.
        batch_size: prompts of an optimiser step.
        samples: responses to a prompt.
        epochs: passes over the data.
    """

    prompts: int
    batch_size: int
    samples: int
    epochs: int

    @property
    def steps(self) -> int:
        """Optimiser steps."""
        return self.epochs * ceil(self.prompts / self.batch_size)

    @property
    def responses(self) -> int:
        """Responses to judge."""
        return self.prompts * self.epochs * self.samples

    @property
    def per_step(self) -> int:
        """Responses of a full step."""
        return min(self.batch_size, self.prompts) * self.samples


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponseCost:
    """The cost of judging one response by one model.

    Args:
        calls: on average.
        input: tokens of a call.
        output: tokens of an answer.
        latency: seconds of a call.
    """

    calls: float
    input: int
    output: int = OUTPUT
    latency: float = LATENCY


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelEstimate:
    """The cost of the run on one model.

    Args:
        model: the id in the request.
        calls: of the run.
        usage: tokens.
        usd: dollars; None where the price is unknown.
        rpm: requests per minute at the speed of the run.
        tpm: reserved tokens per minute at that speed.
        seconds: the shortest run that its quotas allow; 0 without quotas.
        step_seconds: the same for a step.
    """

    model: str
    calls: int
    usage: Usage
    usd: float | None
    rpm: float
    tpm: float
    seconds: float
    step_seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """The cost of a run.

    Args:
        run: the training run.
        cost: of a response.
        models: one entry for each.
        concurrency: concurrent calls.
        seconds: of all judging.
        step_seconds: of judging a full step.
    """

    run: TrainingRun
    cost: ResponseCost
    models: Sequence[ModelEstimate]
    concurrency: int
    seconds: float
    step_seconds: float

    @property
    def usd(self) -> float | None:
        """Dollars; None where the price of a model is unknown."""
        known = [model.usd for model in self.models if model.usd is not None]
        return sum(known) if len(known) == len(self.models) else None

    @property
    def calls(self) -> int:
        """Calls to all models."""
        return sum(model.calls for model in self.models)

    @property
    def warnings(self) -> list[str]:
        """Sentences about what is unknown or will not work."""
        warnings = [
            f"the price of {model.model} is not known: give --price {model.model}=INPUT,OUTPUT"
            for model in self.models
            if model.usd is None
        ]
        if self.step_seconds > INVOCATION:
            warnings.append(
                f"judging a step takes {self.step_seconds:,.0f} s, and a function has at most "
                f"{INVOCATION} s: it fits where the trainer sends a step in "
                f"{ceil(self.step_seconds / INVOCATION)} batches or more, else raise concurrency "
                "and quotas"
            )
        return warnings


def measured(asked: Iterable[Sequence[Question]]) -> tuple[float, int]:
    """Calls of a response, and input tokens of a call, measured on questions.

    Args:
        asked: the questions about each response; a response without questions does not count.
    """
    responses = calls = total = 0
    for questions in asked:
        responses += bool(questions)
        calls += len(questions)
        total += sum(tokens(_unmarked(question)) for question in questions)
    return (calls / responses, ceil(total / calls)) if calls else (0.0, 0)


def _unmarked(question: Question) -> str:
    """The text of a question without its random parts, so that every run counts alike."""
    text = question.system + question.shared + question.text.replace(question.canary, "0" * 12)
    return _MARK.sub("0" * 32, text)


def estimate(
    config: JudgeConfig, run: TrainingRun, cost: ResponseCost, concurrency: int
) -> Estimate:
    """The cost of a run.

    Args:
        config: the judge models, with their prices and quotas.
        run: the training run.
        cost: of a response.
        concurrency: concurrent calls.

    Raises:
        BadJudge: there is a limit in dollars, and a model has no price.
    """
    rotating = config.aggregate == "rotate"
    share = 1 / len(config.models) if rotating else 1.0
    calls = cost.calls * share
    total = run.responses * calls * len(config.models)
    free = total * cost.latency / concurrency
    speed = total / free if free else 0.0
    whole, members = ceil(run.responses * cost.calls), len(config.models)
    each = _dealt(whole, members) if rotating else [whole] * members
    models = [
        _model_estimate(
            model, config, cost, total=own, step=run.per_step * calls, speed=speed / members
        )
        for model, own in zip(config.models, each, strict=True)
    ]
    steps = run.per_step * calls * len(config.models)
    rounds = ceil(steps / concurrency) * cost.latency
    return Estimate(
        run=run,
        cost=cost,
        models=models,
        concurrency=concurrency,
        seconds=max(free, *(model.seconds for model in models)),
        step_seconds=max(rounds, *(model.step_seconds for model in models)),
    )


def _dealt(whole: int, members: int) -> list[int]:
    """Whole numbers, as equal as can be, that add up to a whole."""
    share, over = divmod(whole, members)
    return [share + (at < over) for at in range(members)]


def _model_estimate(
    model: JudgeModel,
    config: JudgeConfig,
    cost: ResponseCost,
    *,
    total: int,
    step: float,
    speed: float,
) -> ModelEstimate:
    usage = Usage(total * cost.input, total * cost.output)
    price = price_of(model, config)
    reserved = cost.input + model.max_tokens
    by_requests = MINUTE / model.rpm if model.rpm else 0.0
    by_tokens = MINUTE * reserved / model.tpm if model.tpm else 0.0
    slowest = max(by_requests, by_tokens)  # seconds of a call under the tightest quota
    return ModelEstimate(
        model=model.called,
        calls=total,
        usage=usage,
        usd=price.of(usage) if price else None,
        rpm=speed * MINUTE,
        tpm=speed * MINUTE * reserved,
        seconds=total * slowest,
        step_seconds=step * slowest,
    )
