"""How a judge's score is put together, and the three metrics all of them report.

gated        1 when no judge was asked, because the response is worth nothing
addressed    1 when the judge found the response speaking to it
confidence   the judge's own, 0, 0.5 or 1; of several verdicts the least
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reward_functions.core.types import Evidence, Metric, Score
from reward_functions.judge_runtime.prompting import ADDRESSED, CONFIDENCE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reward_functions.core.asking import Verdict

METRICS: Final = ("gated", "addressed", "confidence")

SURENESS: Final = {"low": 0.0, "medium": 0.5, "high": 1.0}


def gated(reason: str, *extra: Metric, answer: str | None = None) -> Score:
    """The minimum, without asking anybody.

    Args:
        reason: of the gate.
        extra: the judge's own metrics.
        answer: what was extracted.
    """
    return Score(0.0, (*_metrics(gated=1, addressed=0, sure=1), *extra), answer, reason)


def known(value: float, reason: str, *extra: Metric, answer: str | None = None) -> Score:
    """A score that needs no judge, and no gate closed."""
    return Score(value, (*_metrics(gated=0, addressed=0, sure=1), *extra), answer, reason)


def judged(
    value: float,
    verdicts: Sequence[Verdict],
    reason: str,
    *extra: Metric,
    answer: str | None = None,
    addressed: bool | None = None,
) -> Score:
    """A score by verdicts. A response that spoke to its judge earns the minimum.

    Args:
        value: what it earns otherwise.
        verdicts: all that were asked for.
        reason: what they say, in a few words.
        extra: the judge's own metrics.
        answer: what was extracted.
        addressed: whether it spoke to the judge, where the verdicts are about more than it.
    """
    if addressed is None:
        addressed = any(verdict[ADDRESSED] == "yes" for verdict in verdicts)
    sure = min(SURENESS[verdict[CONFIDENCE]] for verdict in verdicts)
    return Score(
        0.0 if addressed else value,
        (*_metrics(gated=0, addressed=addressed, sure=sure), *extra),
        answer,
        f"the response speaks to its judge; {reason}" if addressed else reason,
        Evidence("the verdict", [dict(verdict.values) for verdict in verdicts]),
    )


def _metrics(*, gated: float, addressed: float, sure: float) -> tuple[Metric, ...]:
    numbers = (gated, float(addressed), sure)
    return tuple(Metric(name, value) for name, value in zip(METRICS, numbers, strict=True))
