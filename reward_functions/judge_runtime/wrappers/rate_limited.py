"""A model asked within its rate limit; each call is timed, counted and paid for."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, Final

from reward_functions.core.errors import JudgeUnavailable, NoVerdict
from reward_functions.core.types import Usage

if TYPE_CHECKING:
    from reward_functions.core.asking import Ask, Question, Verdict
    from reward_functions.judge_runtime.config import JudgeModel
    from reward_functions.judge_runtime.rate_limit import RateLimit
    from reward_functions.judge_runtime.usage import Account, Price
    from reward_functions.judge_runtime.wrappers.circuit_breaker import Breaker

CHARACTERS_PER_TOKEN: Final = 3.0
"""A low estimate: English has about four, other scripts fewer. Only quotas are planned with it."""


@dataclass(frozen=True, slots=True)
class RateLimited:
    """A model with a rate limit before it.

    Args:
        ask: the model.
        model: its settings.
        rate_limit: of all calls to the model, across batches.
        account: of the batch.
        price: of the model's tokens; None where unknown.
        breaker: checked once more when a call may begin: many have waited for their turn.
    """

    ask: Ask
    model: JudgeModel
    rate_limit: RateLimit
    account: Account
    price: Price | None
    breaker: Breaker

    def __call__(self, question: Question, /, *, deadline: float = inf) -> Verdict:
        """Make one call. The model's own timeout starts when the call may begin.

        It costs what the provider counts. Where the provider counts nothing, though a model may
        have run, it costs what was reserved: a limit in dollars holds on any endpoint.

        Raises:
            JudgeUnavailable: the call failed, the deadline came first, or the budget is spent.
            NoVerdict: the answer is no legal verdict.
        """
        needed = Usage(_tokens(question), self.model.max_tokens)
        with self.rate_limit.slot(needed.total, deadline) as began:
            self.breaker.check()
            reserved = self._dollars(needed)
            self.account.reserve(reserved, deadline)
            used, spent, free = Usage(), reserved, False
            self.account.count("judge_calls")
            try:
                verdict = self.ask(question, deadline=min(deadline, began + self.model.timeout))
                used = verdict.usage
                if used.output and used.total > used.output:
                    spent = self._dollars(used)
            except JudgeUnavailable as error:
                self.account.failed(error.kind)
                if error.unbilled:
                    spent, free = 0.0, True
                if error.kind == "throttled":
                    self.rate_limit.throttled(began)
                raise
            except NoVerdict as error:
                self.account.failed(error.kind)
                used = error.usage or used
                if used.total:
                    spent = self._dollars(used)
                raise
            finally:
                self.account.settle(reserved, used, spent)
                if self.price is None and not free:
                    self.account.count("judge_unpriced_calls")
            self.account.count("judge_answers")
            self.rate_limit.answered(max(0, needed.total - used.total) if used.total else 0)
            return verdict

    def _dollars(self, usage: Usage) -> float:
        return self.price.of(usage) if self.price else 0.0


def _tokens(question: Question) -> int:
    characters = len(question.system) + len(question.shared) + len(question.text)
    return int(characters / CHARACTERS_PER_TOKEN) + 1
