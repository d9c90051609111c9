"""Base and tuned model asked one prompt by turns: an answer of each, and how fast they came.

A tuned model may be served slower than its base, or write longer answers: the tokens a second tell
the first, the tokens the second. Whole answers are timed; nothing is streamed.
"""

from __future__ import annotations

from statistics import median
from time import monotonic
from typing import TYPE_CHECKING, Final

from helpers.here import require_agreement
from helpers.shown import Shown
from reward_functions.jobs.asking import ask, chosen, endpoint_of, sampling_of
from reward_functions.jobs.preflight import readable
from reward_functions.reports.sheets import Sheet

if TYPE_CHECKING:
    from collections.abc import Sequence

    from helpers.training import Training
    from reward_functions.core.types import Message
    from reward_functions.jobs.asking import Endpoint, ModelAnswer

TIMES: Final = 5
"""Answers of each model."""

NOT_RUN: Final = (
    "not run: there is no real model here. The training double fills in sentences, and its speed "
    "says nothing about a model's"
)


class Timed:
    """A model, and the seconds of each of its answers.

    Args:
        endpoint: the model.
    """

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint, self.model = endpoint, endpoint.model
        self.seconds: list[float] = []
        self.answers: list[ModelAnswer] = []

    def __call__(self, prompt: Sequence[Message], /) -> ModelAnswer:
        """One answer; what raises was no answer, and is not timed."""
        begun = monotonic()
        answer = self.endpoint(prompt)
        self.seconds.append(monotonic() - begun)
        self.answers.append(answer)
        return answer

    def row(self) -> list[str]:
        """Its name, seconds of an answer, tokens, tokens a second, and its last answer."""
        tokens = median(answer.usage.output for answer in self.answers)
        seconds = median(self.seconds)
        rate = f"{tokens / seconds:.1f}" if seconds else "-"
        return [self.model, f"{seconds:.2f}", f"{tokens:g}", rate, self.answers[-1].text]


def answers(job: Training, times: int = TIMES, *, agree: bool = False) -> Shown:
    """Ask both models the same prompt by turns; "not run" where no real model answers.

    Args:
        job: that has succeeded, on the OpenAI-compatible API.
        times: that each is asked, one call at a time.
        agree: to what that costs, in an account.

    Raises:
        Stopped: nobody agreed to the cost; nothing was asked.
        AwsFailed: a model cannot be asked, or stays busy.
    """
    if job.here.place.simulated:
        return Shown(notes=[NOT_RUN])
    cost = f"{times:,} calls to each of base and tuned model; dollars unknown"
    require_agreement(job.here, "answers", lambda: [cost], agree=agree)
    sampling, where = sampling_of(job.asked), job.here.place
    tuned = job.started.tuned_model
    both = [Timed(endpoint_of(job.base, sampling, where, ask=name)) for name in (None, tuned)]
    return side_by_side(job, both, times)


def side_by_side(job: Training, models: Sequence[Timed], times: int = TIMES) -> Shown:
    """The table of several models that are asked the first prompt that the baseline asks."""
    prompts = chosen(*readable([job.data.path]), 1, 0)
    for _ in range(times):
        for model in models:
            ask(model, prompts, 1, concurrency=1)
    heads = ("model", "seconds", "tokens", "tokens a second", "its last answer")
    sheet = Sheet(
        f"One prompt, {times} answers of each, medians",
        heads,
        [model.row() for model in models],
        words=("model", heads[-1]),
    )
    return Shown([sheet])
