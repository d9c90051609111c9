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
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from reward_functions.judge_runtime.backends import open_model
from reward_functions.judge_runtime.rate_limit import RateLimit
from reward_functions.judge_runtime.usage import price_of
from reward_functions.judge_runtime.wrappers.cached import Cached
from reward_functions.judge_runtime.wrappers.circuit_breaker import Breaker, CircuitBreaker
from reward_functions.judge_runtime.wrappers.deduplicated import Deduplicated
from reward_functions.judge_runtime.wrappers.fallback import WithFallback
from reward_functions.judge_runtime.wrappers.rate_limited import RateLimited
from reward_functions.judge_runtime.wrappers.refusals import Refusals
from reward_functions.judge_runtime.wrappers.retrying import Retrying

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reward_functions.core.asking import Ask
    from reward_functions.judge_runtime.cache import TieredCache
    from reward_functions.judge_runtime.config import JudgeConfig, JudgeModel
    from reward_functions.judge_runtime.usage import Account, Price
    from reward_functions.judge_runtime.verdict_store import VerdictStore


@dataclass(frozen=True, slots=True)
class PanelMember:
    """A model, with the state that outlives a batch.

    Args:
        model: its settings.
        ask: the model behind its API.
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
    """What a judge function asks in one batch.

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
