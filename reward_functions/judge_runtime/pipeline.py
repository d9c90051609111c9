"""From a model's settings to an `Ask` that limits, retries, caches, falls back and deduplicates.

    Refusals       a refusal that the response caused is the worst verdict on it
    Deduplicated   equal questions of a batch are asked once
    WithFallback   the fallback model answers where a panel member failed
    Cached         a verdict that was given before is not asked for again
    Retrying       an outage is retried with growing pauses, an invalid verdict once
    Denials        a model that denies the first questions of a batch is not asked the others
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
from reward_functions.judge_runtime.wrappers.deduplicated import Deduplicated
from reward_functions.judge_runtime.wrappers.denials import Denials
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


@dataclass(frozen=True, slots=True)
class PanelMember:
    """A model, with the state that outlives a batch.

    Args:
        model: its settings.
        ask: the model behind its API.
        rate_limit: of all calls to it.
        price: of its tokens; None where unknown.
        retries: after transient failures, at most.
    """

    model: JudgeModel
    ask: Ask
    rate_limit: RateLimit
    price: Price | None
    retries: int

    @classmethod
    def opened(cls, model: JudgeModel, config: JudgeConfig, asks: Mapping[str, Ask]) -> PanelMember:
        """The model, ready to be asked.

        Args:
            model: its settings.
            config: the limits and prices it shares with the others.
            asks: used in place of the models' own APIs, by model id.

        Raises:
            BadJudge: it has no key, no file, no region, or no price under a limit in dollars.
        """
        return cls(
            model=model,
            ask=asks.get(model.model) or open_model(model, config.max_concurrency),
            rate_limit=RateLimit(config.concurrency, config.max_concurrency, model.rpm, model.tpm),
            price=price_of(model, config),
            retries=config.retries,
        )


def ask_of(
    member: PanelMember,
    fallback: PanelMember | None,
    *,
    cache: TieredCache,
    account: Account,
    deadline: float,
) -> Ask:
    """What a judge function asks in one batch.

    Args:
        member: asked first.
        fallback: asked where the member failed; None for none.
        cache: of verdicts, across batches.
        account: of the batch.
        deadline: the reading of `time.monotonic()` by which every call returns.
    """
    ask = _cached(member, cache, account)
    if fallback:
        ask = WithFallback(ask, _cached(fallback, cache, account), account)
    return partial(Refusals(Deduplicated(ask, account)), deadline=deadline)


def _cached(member: PanelMember, cache: TieredCache, account: Account) -> Ask:
    limited = RateLimited(member.ask, member.model, member.rate_limit, account, member.price)
    asked = Retrying(Denials(limited), member.retries, account)
    return Cached(asked, member.model, cache, account)
