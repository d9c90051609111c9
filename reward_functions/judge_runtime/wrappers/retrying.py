"""Retries: after an outage with growing, random pauses, after an invalid verdict once.

A refusal is not retried, and neither is a request the model will never take.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf
from random import uniform
from time import monotonic, sleep
from typing import TYPE_CHECKING, Final

from reward_functions.core.errors import JudgeUnavailable, NoVerdict

if TYPE_CHECKING:
    from reward_functions.core.asking import Ask, Question, Verdict
    from reward_functions.judge_runtime.usage import Account

FIRST_PAUSE: Final = 0.5
LONGEST_PAUSE: Final = 20.0
"""Seconds. A pause is drawn between none and the first, doubled with every retry up to the longest:
full jitter, so that throttled callers do not come back together."""

LONGEST_WAIT: Final = 60.0
"""Seconds: a model that asks for a longer pause is not waited for. Its quota is not a minute's."""

REMINDER: Final = (
    "\n\nYour previous answer was not of the form that was asked for. Answer again: every field, "
    "only the values offered, nothing before or after."
)


@dataclass(frozen=True, slots=True)
class Retrying:
    """An `Ask` that retries the one it wraps.

    Args:
        ask: the one to retry.
        retries: after transient failures, at most.
        account: of the batch.
    """

    ask: Ask
    retries: int
    account: Account

    def __call__(self, question: Question, /, *, deadline: float = inf) -> Verdict:
        """The first verdict.

        Raises:
            JudgeUnavailable: the last failure, where it is one of availability.
            NoVerdict: the last failure, where an answer came.
        """
        retried, asked_again = 0, False
        while True:
            try:
                return self.ask(question, deadline=deadline)
            except JudgeUnavailable as error:
                pause = _pause(retried, error.retry_after)
                over = retried == self.retries or monotonic() + pause >= deadline
                if over or not error.transient or error.retry_after > LONGEST_WAIT:
                    raise
                retried += 1
                self.account.count("judge_retries")
            except NoVerdict as error:
                if error.kind == "refused" or asked_again:
                    raise
                asked_again, pause = True, 0.0
                question = replace(question, text=question.text + REMINDER)
                self.account.count("judge_reasks")
            sleep(pause)


def _pause(retried: int, retry_after: float) -> float:
    longest = min(LONGEST_PAUSE, FIRST_PAUSE * 2**retried)
    return max(retry_after, uniform(0, longest))  # noqa: S311 - no secret
