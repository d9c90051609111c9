"""Whose fault a refusal is: the response's, where the model judges a neutral one in its place.

A refusal that counts as ours is imputed, and so earns what the others earn on average. A policy
learns to be refused, then, rather than to be wrong. So the same question is asked once more, about
a response that says nothing. Where that is judged, the refusal is the response's own doing, and its
verdict is the worst, of low confidence: a panel that escalates asks its other members. Where it is
refused as well, the prompt or the reference caused it.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING

from reward_functions.core.asking import CONFIDENCE, Verdict
from reward_functions.core.errors import JudgeUnavailable, NoVerdict

if TYPE_CHECKING:
    from reward_functions.core.asking import Ask, Question


@dataclass(frozen=True, slots=True)
class Refusals:
    """An `Ask` that attributes refusals.

    Args:
        ask: answers equal questions once: all responses to a prompt share the neutral question.
    """

    ask: Ask

    def __call__(self, question: Question, /, *, deadline: float = inf) -> Verdict:
        """The verdict; the worst, marked as refused, where the response caused a refusal.

        Raises:
            JudgeUnavailable: as the wrapped one does.
            NoVerdict: likewise; the refusal itself where a neutral response is not judged either.
        """
        try:
            return self.ask(question, deadline=deadline)
        except NoVerdict as error:
            if error.kind != "refused" or question.blank is None:
                raise
            try:
                self.ask(question.blank(), deadline=deadline)
            except (JudgeUnavailable, NoVerdict):
                raise error from None
            return Verdict(question.filled({CONFIDENCE: "low"}), refused=True)
