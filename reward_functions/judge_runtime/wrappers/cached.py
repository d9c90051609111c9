"""A model behind the cache of verdicts."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING

from reward_functions.core.asking import Verdict

if TYPE_CHECKING:
    from reward_functions.core.asking import Ask, Question
    from reward_functions.judge_runtime.cache import TieredCache
    from reward_functions.judge_runtime.config import JudgeModel
    from reward_functions.judge_runtime.usage import Account


@dataclass(frozen=True, slots=True)
class Cached:
    """An `Ask` that looks into a cache first, and fills it.

    Args:
        ask: gives the verdicts the cache does not hold.
        model: a part of the cache key.
        cache: of verdicts, across batches.
        account: of the batch.
    """

    ask: Ask
    model: JudgeModel
    cache: TieredCache
    account: Account

    def __call__(self, question: Question, /, *, deadline: float = inf) -> Verdict:
        """The cached verdict, at no cost, else a new one.

        Raises:
            JudgeUnavailable, NoVerdict: as the wrapped one does. Failures are not cached.
        """
        values = self.cache.get(question, self.model)
        if values is not None:
            self.account.count("judge_cache_hits")
            return Verdict(values, model=self.model.model)
        verdict = self.ask(question, deadline=deadline)
        self.cache.put(question, self.model, verdict.values)
        return verdict
