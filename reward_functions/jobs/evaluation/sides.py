"""One model's answers, scored: what they earn, and what stands beside the mean.

A score is a share of the reward's scale, 0 to 1. An answer without a score is no 0: it is counted
apart. A latency is one call's, from its start to its last byte, without the pauses of a busy model.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from reward_functions.core.errors import ConfigurationError
from reward_functions.core.means import mean
from reward_functions.core.types import Scored
from reward_functions.jobs.asking import MILLION
from reward_functions.jobs.evaluation.evaluation_record import Beside
from reward_functions.reports.resampling import quantile

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reward_functions.core.types import RewardResult
    from reward_functions.jobs.asking import AnswerAttempt, ModelAnswer
    from reward_functions.jobs.evaluation.evaluation_record import Mode, Side

CLOSE: Final = 1e-9
"""Shares of a scale that are one: rewards are decimals, and their quotients are rounded."""

Price = tuple[float, float]


class NothingAnswered(ConfigurationError):
    """A model of which no answer says anything. One sentence: which, and what to look at."""


@dataclass(frozen=True, slots=True)
class Answers:
    """One model's answers of one way to draw them.

    Args:
        side: "base" or "tuned".
        mode: "greedy" or "sampled".
        given: by attempt.
        results: of the reward, by attempt.
        minimum: of the scale.
        maximum: of the scale.
    """

    side: Side
    mode: Mode
    given: Mapping[AnswerAttempt, ModelAnswer]
    results: Mapping[AnswerAttempt, RewardResult]
    minimum: float
    maximum: float

    def share(self, attempt: AnswerAttempt) -> float | None:
        """What an answer earns, 0 to 1; None where it has no score."""
        result = self.results[attempt]
        if not isinstance(result, Scored):
            return None
        return (result.score.value - self.minimum) / (self.maximum - self.minimum)

    def by_prompt(self) -> dict[str, list[float]]:
        """The shares of each prompt's scored answers, by the prompt's digest."""
        groups: dict[str, list[float]] = {}
        for attempt in self.given:
            share = self.share(attempt)
            if share is not None:
                groups.setdefault(attempt.prompt, []).append(share)
        return groups


def is_right(share: float, success: float) -> bool:
    """Whether a share of the scale counts as right: from `success` on."""
    return share >= success - CLOSE


def require_answers(side: Side, model: str, given: Sequence[ModelAnswer]) -> None:
    """Refuse answers of which none holds a character: no statistics are made of them.

    Raises:
        NothingAnswered: all are empty.
    """
    if any(answer.text.strip() for answer in given):
        return
    ended = [answer.ended for answer in given]
    if ended.count("length") * 2 >= len(ended):
        cause = "they end at the limit of tokens before the answer begins: raise --max-tokens"
    elif ended.count("filtered") * 2 >= len(ended):
        cause = "a filter withholds them: look at the model's guardrail and content filter"
    else:
        cause = (
            "look at one with `reward job baseline --ask MODEL -n 1 -k 1 --out FILE`, and at the "
            "job's response length with `reward job metrics`"
        )
    raise NothingAnswered(
        f"the {side} model {model} answered nothing to {len(given):,} of {len(given):,} prompts, "
        f"so that nothing is compared; {cause}"
    )


def beside(answers: Answers, price: Price | None, *, timed: bool) -> Beside:
    """What stands beside the mean.

    Args:
        answers: at least one.
        price: dollars per million tokens, read and written; None where it is not known.
        timed: whether latencies say anything; those of a simulation do not.
    """
    given = list(answers.given.values())
    written = [answer.usage.output for answer in given]
    read = sum(answer.usage.input for answer in given)
    times = [answer.seconds for answer in given if answer.seconds is not None] if timed else []
    usd = None if price is None else (read * price[0] + sum(written) * price[1]) / MILLION
    unscored = sum(answers.share(attempt) is None for attempt in answers.given)
    return Beside(
        side=answers.side,
        mode=answers.mode,
        answers=len(given),
        unscored=unscored,
        empty=sum(not answer.text.strip() for answer in given),
        filtered=sum(answer.ended == "filtered" for answer in given),
        cut=sum(answer.ended == "length" for answer in given),
        tokens_read=read,
        tokens_written=sum(written),
        tokens_mean=mean(written),
        tokens_p50=quantile(written, 0.5),
        tokens_p95=quantile(written, 0.95),
        seconds_p50=quantile(times, 0.5) if times else None,
        seconds_p95=quantile(times, 0.95) if times else None,
        usd=usd,
    )
