"""A model behind the verdicts given before: a cache, or a store on disk."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, Protocol

from reward_functions.core.asking import Verdict

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reward_functions.core.asking import Ask, Question
    from reward_functions.judge_runtime.config import JudgeModel
    from reward_functions.judge_runtime.usage import Account


class GivenVerdicts(Protocol):
    """Verdicts by question, model and occurrence."""

    def get(self, question: Question, model: JudgeModel, occurrence: int) -> dict[str, str] | None:
        """A legal verdict given before; None where there is none."""

    def put(
        self, question: Question, model: JudgeModel, values: Mapping[str, str], occurrence: int
    ) -> None:
        """Store a verdict."""


@dataclass(frozen=True, slots=True)
class Cached:
    """An `Ask` that looks into a cache first, and fills it.

    Args:
        ask: gives the verdicts the cache does not hold.
        model: a part of the cache key.
        cache: of verdicts, across batches.
        account: of the batch.
        occurrence: how many equal models come before it: each gives a verdict of its own.
    """

    ask: Ask
    model: JudgeModel
    cache: GivenVerdicts
    account: Account
    occurrence: int = 0

    def __call__(self, question: Question, /, *, deadline: float = inf) -> Verdict:
        """The cached verdict, at no cost, else a new one.

        Raises:
            JudgeUnavailable, NoVerdict: as the wrapped one does. Failures are not cached.
        """
        values = self.cache.get(question, self.model, self.occurrence)
        if values is not None:
            self.account.count("judge_cache_hits")
            return Verdict(values, model=self.model.model)
        verdict = self.ask(question, deadline=deadline)
        self.cache.put(question, self.model, verdict.values, self.occurrence)
        return verdict
