"""The two scores a verifier gives: nothing comparable was found, or it was compared."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from reward_functions.core.types import Evidence, Metric, Score
from reward_functions.extraction.answer import UNCLOSED_BOX
from reward_functions.extraction.truncation import cut_off

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reward_functions.extraction.answer import Answer

METRICS: Final = ("answered", "truncated")
"""`answered` is 1 when there was an answer to compare, and 0 when the response has none.
`truncated` is 1 when its text shows that it was cut off: reasoning, a box or a code fence is never
closed. What a host says of the end, such as a token limit, is not read."""

_ANSWERED: Final = Metric("answered", 1.0)
_UNANSWERED: Final = Metric("answered", 0.0)
_WHOLE: Final = Metric("truncated", 0.0)
_TRUNCATED: Final = Metric("truncated", 1.0)


def not_answered(
    reason: str, rule: str, answer: str | None = None, *, further: Sequence[Metric] = ()
) -> Score:
    """The minimum, because the response holds no answer of the kind that was asked for.

    Args:
        reason: one clause.
        rule: the id of the rule that says so.
        answer: what was found instead.
        further: metrics of the verifier.
    """
    return Score(0.0, (_UNANSWERED, _WHOLE, *further), answer, reason, Evidence(rule))


def contradicted(found: Answer, *, further: Sequence[Metric] = ()) -> Score:
    """The minimum, because the response goes on to state another answer."""
    reason = "a later statement of the answer contradicts it"
    return not_answered(reason, "contradicted", found.text, further=further)


def compared(
    found: Answer, evidence: Evidence, *further: Metric, right: bool, reason: str = ""
) -> Score:
    """1 or 0, and what was compared."""
    reason = reason or f"{found.where} {'equals' if right else 'differs from'} the reference"
    return Score(float(right), (_ANSWERED, _WHOLE, *further), found.text, reason, evidence)


def partly(value: float, answer: str, evidence: Evidence, *further: Metric, reason: str) -> Score:
    """A share of the maximum, and what was compared."""
    return Score(value, (_ANSWERED, _WHOLE, *further), answer, reason, evidence)


def with_truncation(score: Score, response: str) -> Score:
    """A score of this module, which says so where its text shows that it was cut off."""
    answered, _, *further = score.metrics
    unclosed = score.reason == UNCLOSED_BOX
    cut = "" if unclosed else cut_off(response, answered=bool(answered.value))
    if not cut and not unclosed:
        return score
    cut = f"{cut}: the response is cut off" if cut else "the response is cut off"
    return replace(score, metrics=(answered, _TRUNCATED, *further), reason=f"{score.reason}; {cut}")
