"""What a training run asks of a judge: calls, tokens, dollars, quota, time.

    responses = prompts × epochs × samples of a prompt
    calls     = responses × calls of a response, for every juror; jurors who rotate share them

An upper bound: what gates turn away, what is shared and what is remembered costs nothing, and a
prompt cache makes tokens cheaper. Failed calls that are repeated come on top. A provider reserves
input and `max_tokens` of a call when it begins, whatever the answer takes: quotas are used up by
that, and dollars by what the answer takes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING, Final

from reward_functions.core.types import Usage
from reward_functions.judge_runtime.usage import price_of
from reward_functions.tools.datasets.lengths import tokens

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reward_functions.core.asking import Question
    from reward_functions.judge_runtime.config import JudgeModel, Judging

OUTPUT: Final = 300
"""Tokens of a verdict with its reasons, of a model that does not think aloud; those that do take
some thousands."""

LATENCY: Final = 3.0
"""Seconds of a call: some hundred tokens at the speed of a middling model. Measure yours."""

INVOCATION: Final = 900
"""Seconds a Lambda function may take (docs.aws.amazon.com/lambda, "Lambda quotas")."""

MINUTE: Final = 60

_MARK: Final = re.compile("[0-9a-f]{32}")
"""The random mark of a fence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
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
class Cost:
    """What judging one response takes, of one juror.

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
class Juror:
    """What the run asks of one model.

    Args:
        model: as it is called.
        calls: of the run.
        usage: tokens.
        usd: dollars; None where nobody knows the price.
        rpm: requests per minute at the speed of the run.
        tpm: tokens per minute that are reserved then.
        seconds: its own quotas stretch the run to; 0 without any.
        step_seconds: the same of a step.
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
    """What the run takes.

    Args:
        run: which.
        cost: of a response.
        jurors: by model.
        concurrency: calls at once.
        seconds: of all its judging.
        step_seconds: of a full step's.
    """

    run: Run
    cost: Cost
    jurors: Sequence[Juror]
    concurrency: int
    seconds: float
    step_seconds: float

    @property
    def usd(self) -> float | None:
        """Dollars; None where the price of a juror is not known."""
        known = [juror.usd for juror in self.jurors if juror.usd is not None]
        return sum(known) if len(known) == len(self.jurors) else None

    @property
    def calls(self) -> int:
        """Of all jurors."""
        return sum(juror.calls for juror in self.jurors)

    @property
    def warnings(self) -> list[str]:
        """What will not work, or is not known."""
        told = [
            f"the price of {juror.model} is not known: give --price {juror.model}=INPUT,OUTPUT"
            for juror in self.jurors
            if juror.usd is None
        ]
        if self.step_seconds > INVOCATION:
            told.append(
                f"judging a step takes {self.step_seconds:,.0f} s, and a function has at most "
                f"{INVOCATION} s: it fits where the trainer sends a step in "
                f"{ceil(self.step_seconds / INVOCATION)} batches or more, else raise concurrency "
                "and quotas"
            )
        return told


def measured(asked: Sequence[Sequence[Question]]) -> tuple[float, int]:
    """Calls of a response, and input tokens of a call, by the questions about some responses.

    Responses that are turned away without a question are left aside.
    """
    heard = [questions for questions in asked if questions]
    each = [question for questions in heard for question in questions]
    if not each:
        return 0.0, 0
    total = sum(tokens(_unmarked(question)) for question in each)
    return len(each) / len(heard), ceil(total / len(each))


def _unmarked(question: Question) -> str:
    """What is asked, without what is random in it: the count is the same in every run."""
    told = question.system + question.shared + question.text.replace(question.canary, "0" * 12)
    return _MARK.sub("0" * 32, told)


def estimate(judging: Judging, run: Run, cost: Cost, concurrency: int) -> Estimate:
    """What the run takes.

    Args:
        judging: who judges; their prices and quotas count.
        run: what is judged.
        cost: of a response.
        concurrency: calls at once.

    Raises:
        BadJudge: there is a limit in dollars, and a model has no price.
    """
    rotating = judging.aggregate == "rotate"
    share = 1 / len(judging.models) if rotating else 1.0
    calls = cost.calls * share
    total = run.responses * calls * len(judging.models)
    free = total * cost.latency / concurrency
    speed = total / free if free else 0.0
    jurors = [
        _juror(model, judging, run, cost, calls=calls, pace=speed / len(judging.models))
        for model in judging.models
    ]
    steps = run.per_step * calls * len(judging.models)
    rounds = ceil(steps / concurrency) * cost.latency
    return Estimate(
        run=run,
        cost=cost,
        jurors=jurors,
        concurrency=concurrency,
        seconds=max(free, *(juror.seconds for juror in jurors)),
        step_seconds=max(rounds, *(juror.step_seconds for juror in jurors)),
    )


def _juror(
    model: JudgeModel, judging: Judging, run: Run, cost: Cost, *, calls: float, pace: float
) -> Juror:
    total = ceil(run.responses * calls)
    usage = Usage(total * cost.input, total * cost.output)
    price = price_of(model, judging)
    reserved = cost.input + model.max_tokens
    by_requests = MINUTE / model.rpm if model.rpm else 0.0
    by_tokens = MINUTE * reserved / model.tpm if model.tpm else 0.0
    slowest = max(by_requests, by_tokens)  # seconds of a call, where a quota sets the pace
    return Juror(
        model=model.called,
        calls=total,
        usage=usage,
        usd=price.of(usage) if price else None,
        rpm=pace * MINUTE,
        tpm=pace * MINUTE * reserved,
        seconds=total * slowest,
        step_seconds=run.per_step * calls * slowest,
    )
