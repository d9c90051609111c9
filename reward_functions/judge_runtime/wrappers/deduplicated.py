"""Equal questions of a batch asked once; the others share the verdict or the failure.

A batch may be a file of any size: the last `KEPT` are known. Verdicts of those before are in the
caches after this, and a question that failed is asked once more.
"""

from __future__ import annotations

from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeout
from dataclasses import dataclass, field, replace
from math import inf
from threading import Lock
from time import monotonic
from typing import TYPE_CHECKING, Final

from reward_functions.core.errors import JudgeUnavailable, NoVerdict
from reward_functions.core.types import Usage

if TYPE_CHECKING:
    from reward_functions.core.asking import Ask, Question, Verdict
    from reward_functions.judge_runtime.usage import Account


KEPT: Final = 1 << 14
"""Questions remembered: those of the largest event, of which few ask more than one each."""


@dataclass(frozen=True, slots=True)
class Deduplicated:
    """An `Ask` that passes each question on once.

    Args:
        ask: answers the first of equal questions.
        account: of the batch.
    """

    ask: Ask
    account: Account
    _asked: dict[str, Future[Verdict]] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    def __call__(self, question: Question, /, *, deadline: float = inf) -> Verdict:
        """The verdict on the first question with this key.

        Raises:
            JudgeUnavailable, NoVerdict: as the wrapped one did for that question.
        """
        future, first = self._future_of(question.key)
        if not first:
            return self._shared(future, deadline)
        try:
            verdict = self.ask(question, deadline=deadline)
            future.set_result(verdict)
        except (JudgeUnavailable, NoVerdict) as error:
            self.account.count("judge_failures")
            future.set_exception(error)
            raise
        finally:
            if not future.done():  # a bug propagates here; waiting threads must not wait for ever
                future.set_exception(JudgeUnavailable("the first to ask this failed", "denied"))
        return verdict

    def _future_of(self, key: str) -> tuple[Future[Verdict], bool]:
        """The answer to come to a question, and whether nobody has asked it yet."""
        with self._lock:
            known = self._asked.pop(key, None)
            future = self._asked[key] = known or Future()
            if len(self._asked) > KEPT:
                oldest = next(iter(self._asked))
                left = self._asked.pop(oldest)
                if not left.done():  # somebody may ask it while it is under way
                    self._asked[oldest] = left
        return future, known is None

    def _shared(self, future: Future[Verdict], deadline: float) -> Verdict:
        left = deadline - monotonic()
        try:
            verdict = future.result(None if left == inf else max(0.0, left))
        except FutureTimeout:
            raise JudgeUnavailable("the deadline came before a shared answer", "deadline") from None
        self.account.count("judge_shared")
        return replace(verdict, usage=Usage())
