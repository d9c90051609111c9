"""The scores of judges, and the three metrics that all judges report.

prefiltered   1 when the prefilter rejected the response and no model was asked
addressed     1 when the judge found that the response speaks to it
confidence    the confidence that the judge reports, 0, 0.5 or 1; the lowest of several verdicts
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reward_functions.core.asking import CANARY, CONFIDENCE
from reward_functions.core.types import Evidence, Metric, Score
from reward_functions.judge_runtime.prompting import ADDRESSED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reward_functions.core.asking import Verdict

METRICS: Final = ("prefiltered", "addressed", "confidence")

VERDICT: Final = "the verdict"
"""The rule of evidence that holds a judge's verdicts."""

CONFIDENCES: Final = {"low": 0.0, "medium": 0.5, "high": 1.0}


def prefiltered(reason: str, *extra: Metric, answer: str | None = None) -> Score:
    """The minimum, without a call of the judge model.

    Args:
        reason: why the response was rejected.
        extra: metrics of this judge alone.
        answer: the extracted answer.
    """
    return Score(0.0, (*_metrics(prefiltered=1, addressed=0, sure=1), *extra), answer, reason)


def without_model(score: Score) -> bool:
    """Whether a judge of this process decided a score by its prefilter or by code.

    Where a score does not have the metrics of all judges, that is not known, and False.
    """
    judge = {metric.name for metric in score.metrics}.issuperset(METRICS)
    return judge and (score.evidence is None or score.evidence.rule != VERDICT)


def computed(value: float, reason: str, *extra: Metric, answer: str | None = None) -> Score:
    """A score that code decides without the judge model.

    Args:
        value: on the judge's scale.
        reason: what decided, in a few words.
        extra: metrics of this judge alone.
        answer: the extracted answer.
    """
    return Score(value, (*_metrics(prefiltered=0, addressed=0, sure=1), *extra), answer, reason)


def judged(
    value: float,
    verdicts: Sequence[Verdict],
    reason: str,
    *extra: Metric,
    answer: str | None = None,
    addressed: bool | None = None,
) -> Score:
    """A score from verdicts; 0 where the response speaks to its judge, or made it refuse.

    Args:
        value: the score otherwise.
        verdicts: on this response, at least one.
        reason: their content, in a few words.
        extra: metrics of this judge alone.
        answer: the extracted answer.
        addressed: whether the response speaks to the judge; None to read it from the verdicts,
            which is wrong where they cover other responses as well.
    """
    if addressed is None:
        addressed = any(verdict[ADDRESSED] == "yes" for verdict in verdicts)
    refused = any(verdict.refused for verdict in verdicts)
    if refused:
        reason = f"the judge refuses to judge this response; {reason}"
    elif addressed:
        reason = f"the response speaks to its judge; {reason}"
    sure = min(CONFIDENCES[verdict[CONFIDENCE]] for verdict in verdicts)
    return Score(
        0.0 if addressed or refused else value,
        (*_metrics(prefiltered=0, addressed=addressed, sure=sure), *extra),
        answer,
        reason,
        Evidence(VERDICT, [_without_canary(verdict) for verdict in verdicts]),
    )


def _without_canary(verdict: Verdict) -> dict[str, str]:
    """What a verdict says; that it repeats the random token was checked, and says nothing."""
    return {name: value for name, value in verdict.values.items() if name != CANARY}


def _metrics(*, prefiltered: float, addressed: float, sure: float) -> tuple[Metric, ...]:
    numbers = (prefiltered, float(addressed), sure)
    return tuple(Metric(name, value) for name, value in zip(METRICS, numbers, strict=True))
