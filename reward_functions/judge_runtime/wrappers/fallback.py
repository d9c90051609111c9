"""A judge model, and the fallback that answers where the model failed."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from time import monotonic
from typing import TYPE_CHECKING, Final

from reward_functions.core.errors import JudgeUnavailable, NoVerdict

if TYPE_CHECKING:
    from reward_functions.core.asking import Ask, Question, Verdict
    from reward_functions.judge_runtime.usage import Account

FALLBACK_SHARE: Final = 0.3
"""The share of the time left that is reserved for the fallback model."""


@dataclass(frozen=True, slots=True)
class WithFallback:
    """An `Ask` with a second one behind it.

    Args:
        ask: asked first.
        fallback: asked where the first failed.
        account: of the batch.
    """

    ask: Ask
    fallback: Ask
    account: Account

    def __call__(self, question: Question, /, *, deadline: float = inf) -> Verdict:
        """The first one's verdict, else the fallback's.

        Raises:
            JudgeUnavailable, NoVerdict: as the fallback does.
        """
        left = max(0.0, deadline - monotonic())
        reserved = 0.0 if left == inf else left * FALLBACK_SHARE
        try:
            return self.ask(question, deadline=deadline - reserved)
        except (JudgeUnavailable, NoVerdict):
            self.account.count("judge_fallbacks")
            return self.fallback(question, deadline=deadline)
