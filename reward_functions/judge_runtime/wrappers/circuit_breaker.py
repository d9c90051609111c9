"""A model that cannot answer is found out, and not asked the others of the batch.

    refusals  ten in a row: nobody listens, the key is not accepted, there is no such model, the
              endpoint is none of this protocol's, or asks for a pause longer than anybody waits
    silence   half a minute of nothing but server errors, timeouts and broken connections

A batch of ten thousand would learn it ten thousand times. Throttling (429) is neither: a quota of a
minute comes back. One question can be refused for its own sake, by a firewall that reads it: after
the first answer only refusals that any question would meet are counted.

The breaker belongs to one batch and stays open until its end. A Lambda's next batch asks again, and
so does the same command typed again, which has the verdicts it paid for.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf
from threading import Lock
from time import monotonic
from typing import TYPE_CHECKING, Final

from reward_functions.core.errors import JudgeUnavailable, NoVerdict
from reward_functions.judge_runtime.wrappers.retrying import LONGEST_WAIT

if TYPE_CHECKING:
    from reward_functions.core.asking import Ask, Question, Verdict
    from reward_functions.judge_runtime.usage import Account

ENOUGH: Final = 10
"""Refusals in a row after which a model is not asked again."""

SILENCE: Final = 30.0
"""Seconds from a first failure on, with nothing but failures, after which it is not asked again."""

FAILURES: Final = 20
"""Failures that a silence has at least: one slow question is no outage."""

SILENT: Final = frozenset({"busy", "timeout", "unreachable"})
"""Kinds of failures that a silence consists of."""


@dataclass(slots=True)
class Breaker:
    """Whether the model of one batch is still asked; safe to use from many threads.

    Args:
        account: of the batch; is told once that the model is given up, and why.
    """

    account: Account
    _refusals: int = 0
    _failures: int = 0
    _silent_since: float = 0.0
    _answered: bool = False
    _cause: JudgeUnavailable | None = None
    _lock: Lock = field(default_factory=Lock)

    def check(self) -> None:
        """Nothing while the model is asked.

        Raises:
            JudgeUnavailable: it is given up; with the cause.
        """
        if cause := self._cause:
            raise JudgeUnavailable(str(cause), cause.kind, unbilled=True, lasting=True, final=True)

    def failed(self, error: JudgeUnavailable) -> None:
        """Count a call without an answer."""
        with self._lock:
            if error.kind in SILENT:
                self._silent_since = self._silent_since if self._failures else monotonic()
                self._failures += 1
            unwilling = error.kind == "denied" and not self._answered
            self._refusals += error.lasting or unwilling or error.retry_after > LONGEST_WAIT
            if self._refusals >= ENOUGH:
                self._give_up(error, f"after {ENOUGH} refusals in a row")
            elif self._failures >= FAILURES and monotonic() - self._silent_since >= SILENCE:
                self._give_up(error, f"after {SILENCE:.0f} s without an answer")

    def _give_up(self, cause: JudgeUnavailable, when: str) -> None:
        if self._cause is None:
            self._cause = cause
            self.account.stop(f"{when}: {cause}")

    def answered(self) -> None:
        """Count an answer, legal or not: it shows that the model is there."""
        with self._lock:
            self._refusals, self._failures, self._answered = 0, 0, True


@dataclass(frozen=True, slots=True)
class CircuitBreaker:
    """An `Ask` with a breaker before it.

    Args:
        ask: the model.
        breaker: of the batch.
    """

    ask: Ask
    breaker: Breaker

    def __call__(self, question: Question, /, *, deadline: float = inf) -> Verdict:
        """The verdict.

        Raises:
            JudgeUnavailable: as the wrapped one does; without a call, with the last cause, where
                the model is given up.
            NoVerdict: as the wrapped one does.
        """
        self.breaker.check()
        try:
            verdict = self.ask(question, deadline=deadline)
        except JudgeUnavailable as error:
            self.breaker.failed(error)
            raise
        except NoVerdict:
            self.breaker.answered()
            raise
        self.breaker.answered()
        return verdict
