"""From a model's settings to an `Ask` that limits, retries, caches, falls back and deduplicates.

    Refusals       a refusal that the response caused is the worst verdict on it
    Deduplicated   equal questions of a batch are asked once
    WithFallback   the fallback model answers where a panel member failed
    Cached         a verdict that was given before is not asked for again: the store on disk first,
                   where there is one, then the caches
    Retrying       an outage is retried with growing pauses, an invalid verdict once
    CircuitBreaker a model that cannot answer is not asked the others
    RateLimited    a call waits until the rate limit lets it through

Each wraps the one below it. No other layer retries: botocore's own retries are off. All of them
return by the deadline.

A model, asked only after the verdicts given before: a cache, or a store on disk.

A judge model, and the fallback that answers where the model failed.

Whose fault a refusal is: the response's, where the model judges a neutral one in its place.

A refusal that counts as ours is imputed, and so earns what the others earn on average. A policy
learns to be refused, then, rather than to be wrong. So the same question is asked once more, about
a response that says nothing. Where that is judged, the refusal is the response's own doing, and its
verdict is the worst, of low confidence: a panel that escalates asks its other members. Where it is
refused as well, the prompt or the reference caused it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from math import inf
from time import monotonic
from typing import TYPE_CHECKING, Final, Protocol

from reward_functions.core.asking import CONFIDENCE, Verdict
from reward_functions.core.errors import JudgeUnavailable, NoVerdict
from reward_functions.judge_runtime.backends import open_model
from reward_functions.judge_runtime.rate_limit import RateLimit
from reward_functions.judge_runtime.usage import price_of
from reward_functions.judge_runtime.wrappers.circuit_breaker import Breaker, CircuitBreaker
from reward_functions.judge_runtime.wrappers.deduplicated import Deduplicated
from reward_functions.judge_runtime.wrappers.rate_limited import RateLimited
from reward_functions.judge_runtime.wrappers.retrying import Retrying

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reward_functions.core.asking import Ask, Question
    from reward_functions.judge_runtime.cache import TieredCache
    from reward_functions.judge_runtime.config import JudgeConfig, JudgeModel
    from reward_functions.judge_runtime.usage import Account, Price
    from reward_functions.judge_runtime.verdict_store import VerdictStore


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


FALLBACK_SHARE: Final = 0.3
"""The share of the time left that is reserved for the fallback model."""


@dataclass(frozen=True, slots=True)
class WithFallback:
    """An `Ask` that asks a second one where it fails.

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


class GivenVerdicts(Protocol):
    """Verdicts by question, model and occurrence."""

    def get(self, question: Question, model: JudgeModel, occurrence: int) -> dict[str, str] | None:
        """A legal verdict given before; None without one."""

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


@dataclass(frozen=True, slots=True)
class PanelMember:
    """A model, with the state that outlives a batch.

    Args:
        model: its settings.
        ask: the model, asked through its API.
        rate_limit: of all calls to it.
        price: of its tokens; None where unknown.
        retries: after transient failures, at most.
        occurrence: how many equal models come before it on the panel.
    """

    model: JudgeModel
    ask: Ask
    rate_limit: RateLimit
    price: Price | None
    retries: int
    occurrence: int = 0

    @classmethod
    def opened(
        cls, model: JudgeModel, config: JudgeConfig, asks: Mapping[str, Ask], occurrence: int = 0
    ) -> PanelMember:
        """The model, ready to be asked.

        Args:
            model: its settings.
            config: the limits and prices it shares with the others.
            asks: used in place of the models' own APIs, by model id.
            occurrence: how many equal models come before it on the panel.

        Raises:
            BadJudge: it has no key, no file, no region, or no price under a limit in dollars.
        """
        return cls(
            model=model,
            ask=asks.get(model.model) or open_model(model, config.max_concurrency),
            rate_limit=RateLimit(config.concurrency, config.max_concurrency, model.rpm, model.tpm),
            price=price_of(model, config),
            retries=config.retries,
            occurrence=occurrence,
        )


def ask_of(
    member: PanelMember,
    fallback: PanelMember | None,
    *,
    cache: TieredCache,
    store: VerdictStore | None,
    account: Account,
    deadline: float,
) -> Ask:
    """The questions of a judge function in one batch.

    Args:
        member: asked first.
        fallback: asked where the member failed; None for none.
        cache: of verdicts, across batches.
        store: of verdicts on disk; None for none.
        account: of the batch.
        deadline: the reading of `time.monotonic()` by which every call returns.
    """
    ask = _cached(member, cache, store, account)
    if fallback:
        ask = WithFallback(ask, _cached(fallback, cache, store, account), account)
    return partial(Refusals(Deduplicated(ask, account)), deadline=deadline)


def _cached(
    member: PanelMember, cache: TieredCache, store: VerdictStore | None, account: Account
) -> Ask:
    model, occurrence = member.model, member.occurrence
    breaker = Breaker(account)
    limited = RateLimited(member.ask, model, member.rate_limit, account, member.price, breaker)
    recorded = model.backend == "replay"  # a file without an answer to one row has that to another
    asked = limited if recorded else CircuitBreaker(limited, breaker)
    cached = Cached(Retrying(asked, member.retries, account), model, cache, account, occurrence)
    return Cached(cached, model, store, account, occurrence) if store and not recorded else cached
