"""The two scores a verifier gives: nothing comparable was found, or it was compared."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reward_functions.core.types import Evidence, Metric, Score

if TYPE_CHECKING:
    from reward_functions.extraction.answer import Answer

METRICS: Final = ("answered",)
"""`answered` is 1 when there was an answer to compare, and 0 when the response has none."""

_ANSWERED: Final = Metric("answered", 1.0)
_UNANSWERED: Final = Metric("answered", 0.0)


def not_answered(reason: str, answer: str | None = None, *further: Metric) -> Score:
    """The minimum, because the response holds no answer of the kind that was asked for."""
    return Score(0.0, (_UNANSWERED, *further), answer, reason)


def contradicted(found: Answer, *further: Metric) -> Score:
    """The minimum, because the response goes on to state another answer."""
    return not_answered("a later statement of the answer contradicts it", found.text, *further)


def compared(
    found: Answer, evidence: Evidence, *further: Metric, right: bool, reason: str = ""
) -> Score:
    """1 or 0, and what was compared."""
    reason = reason or f"{found.where} {'equals' if right else 'differs from'} the reference"
    return Score(float(right), (_ANSWERED, *further), found.text, reason, evidence)
