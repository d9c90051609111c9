"""What is tried before a question counts as unanswered: each step an `Ask` around the one below.

    Once        equal questions of a batch are asked once, and share the answer or the failure
    WithStandIn what a juror did not answer, the fallback judge is asked
    Remembered  verdicts given before
    Patient     asks again: after an outage with growing, random pauses, after a malformed answer
                once; never after a refusal
    Paced       waits for its turn, then gives the call its own time, and counts what it costs

Nothing below retries: these are the only retries there are. All of them end at the deadline.
"""

from __future__ import annotations

from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeout
from dataclasses import dataclass, field, replace
from math import inf
from random import uniform
from threading import Lock
from time import monotonic, sleep
from typing import TYPE_CHECKING, Final

from reward_functions.core.asking import Verdict
from reward_functions.core.errors import JudgeUnavailable, NoVerdict
from reward_functions.core.types import Usage

if TYPE_CHECKING:
    from reward_functions.core.asking import Ask, Question
    from reward_functions.judge_runtime.cache import Memory
    from reward_functions.judge_runtime.config import JudgeModel
    from reward_functions.judge_runtime.rate_limit import Pace
    from reward_functions.judge_runtime.usage import Account, Price

FIRST_PAUSE: Final = 0.5
LONGEST_PAUSE: Final = 20.0
"""Seconds. A pause is drawn between none and the first, doubled with every retry up to the longest:
full jitter, so that throttled callers do not come back together."""

KEPT_FOR_STAND_IN: Final = 0.3
"""The share of the time left that a juror leaves to the fallback judge."""

CHARACTERS_PER_TOKEN: Final = 3.0
"""A low estimate: English has about four, other scripts fewer. Only quotas are planned with it."""

REMINDER: Final = (
    "\n\nYour previous answer was not of the form that was asked for. Answer again: every field, "
    "only the values offered, nothing before or after."
)


@dataclass(slots=True)
class Paced:
    """A model asked at its pace.

    Args:
        ask: the model.
        model: its settings.
        pace: of all calls to it.
        account: of the batch.
        price: of its tokens; None where unknown.
    """

    ask: Ask
    model: JudgeModel
    pace: Pace
    account: Account
    price: Price | None

    def __call__(self, question: Question, /, *, deadline: float = inf) -> Verdict:
        """One call. The time it waits for its turn is not the call's."""
        needed = Usage(_tokens(question), self.model.max_tokens)
        with self.pace.turn(needed.total, deadline) as began:
            reserved = self._dollars(needed)
            self.account.reserve(reserved)
            used = Usage()
            self.account.count("judge_calls")
            try:
                verdict = self.ask(question, deadline=min(deadline, began + self.model.timeout))
                used = verdict.usage
            except JudgeUnavailable as error:
                self.account.failed(error.kind)
                if error.kind == "throttled":
                    self.pace.throttled(began)
                raise
            except NoVerdict as error:
                self.account.failed(error.kind)
                used = error.usage or Usage()
                raise
            finally:
                self.account.settle(reserved, used, self._dollars(used))
            self.account.count("judge_answers")
            self.pace.answered(max(0, needed.total - used.total) if used.total else 0)
            return verdict

    def _dollars(self, usage: Usage) -> float:
        return self.price.of(usage) if self.price else 0.0


@dataclass(slots=True)
class Patient:
    """Asks again where that can help.

    Args:
        ask: who is asked.
        retries: after failures that may pass.
        account: of the batch.
    """

    ask: Ask
    retries: int
    account: Account

    def __call__(self, question: Question, /, *, deadline: float = inf) -> Verdict:
        """An answer, or the last failure."""
        retried, reasked = 0, False
        while True:
            try:
                return self.ask(question, deadline=deadline)
            except JudgeUnavailable as error:
                pause = _pause(retried, error.retry_after)
                over = retried == self.retries or monotonic() + pause >= deadline
                if over or not error.transient:
                    raise
                retried += 1
                self.account.count("judge_retries")
            except NoVerdict as error:
                if error.kind == "refused" or reasked:
                    raise
                reasked, pause = True, 0.0
                question = replace(question, text=question.text + REMINDER)
                self.account.count("judge_reasks")
            sleep(pause)


@dataclass(slots=True)
class Remembered:
    """Verdicts given before, else new ones.

    Args:
        ask: who gives new ones.
        model: whose they are.
        memory: where they are kept.
        account: of the batch.
    """

    ask: Ask
    model: JudgeModel
    memory: Memory
    account: Account

    def __call__(self, question: Question, /, *, deadline: float = inf) -> Verdict:
        """The verdict remembered, at no cost, or the one that will be."""
        values = self.memory.recall(question, self.model)
        if values is not None:
            self.account.count("judge_cache_hits")
            return Verdict(values, model=self.model.model)
        verdict = self.ask(question, deadline=deadline)
        self.memory.keep(question, self.model, verdict.values)
        return verdict


@dataclass(slots=True)
class WithStandIn:
    """A judge, and who is asked when it fails.

    Args:
        ask: the judge.
        stand_in: the fallback judge.
        account: of the batch.
    """

    ask: Ask
    stand_in: Ask
    account: Account

    def __call__(self, question: Question, /, *, deadline: float = inf) -> Verdict:
        """The judge's answer, else the fallback's."""
        left = max(0.0, deadline - monotonic())
        kept = 0.0 if left == inf else left * KEPT_FOR_STAND_IN
        try:
            return self.ask(question, deadline=deadline - kept)
        except (JudgeUnavailable, NoVerdict):
            self.account.count("judge_fallbacks")
            return self.stand_in(question, deadline=deadline)


@dataclass(slots=True)
class Once:
    """Equal questions of a batch asked once.

    Args:
        ask: who is asked.
        account: of the batch.
    """

    ask: Ask
    account: Account
    _asked: dict[str, Future[Verdict]] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    def __call__(self, question: Question, /, *, deadline: float = inf) -> Verdict:
        """The answer to the first question of its kind."""
        with self._lock:
            future = self._asked.get(question.key)
            first = future is None
            if future is None:
                future = self._asked[question.key] = Future()
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
            if not future.done():  # a bug is on its way up; those who wait must not wait for ever
                future.set_exception(JudgeUnavailable("the first to ask this failed", "denied"))
        return verdict

    def _shared(self, future: Future[Verdict], deadline: float) -> Verdict:
        left = deadline - monotonic()
        try:
            verdict = future.result(None if left == inf else max(0.0, left))
        except FutureTimeout:
            raise JudgeUnavailable("the deadline came before a shared answer", "deadline") from None
        self.account.count("judge_shared")
        return replace(verdict, usage=Usage())


def _pause(retried: int, asked_for: float) -> float:
    longest = min(LONGEST_PAUSE, FIRST_PAUSE * 2**retried)
    return max(asked_for, uniform(0, longest))  # noqa: S311 - no secret


def _tokens(question: Question) -> int:
    characters = len(question.system) + len(question.shared) + len(question.text)
    return int(characters / CHARACTERS_PER_TOKEN) + 1
