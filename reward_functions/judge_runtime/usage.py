"""The cost of judging a batch: calls, tokens, dollars and failures, counted as they happen.

The prices of `prices.toml` are dated and will age; those of a deployment's settings override them.
A model without a price adds no dollars, and cannot have a limit in dollars: its calls are counted,
so that a sum they are missing from is never read as the cost.
"""

from __future__ import annotations

import tomllib
from collections import Counter
from functools import cache
from math import inf
from pathlib import Path
from threading import Condition
from time import monotonic
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from reward_functions.core.errors import BadJudge, BudgetReached
from reward_functions.core.types import Usage

if TYPE_CHECKING:
    from reward_functions.judge_runtime.config import JudgeConfig, JudgeModel

MILLION: Final = 1_000_000

READ_SHARE: Final = 0.1
WRITE_SHARE: Final = 1.25
"""Price of a token read from or written to a prompt cache, as a share of an input token's, where
none is given: Anthropic's published factors, the highest of any family's on Bedrock."""

COUNTERS: Final = {
    "judge_calls": "calls",
    "judge_answers": "legal verdicts",
    "judge_cache_hits": "verdicts from the cache",
    "judge_shared": "verdicts shared by equal questions of the batch",
    "judge_retries": "retries after an outage",
    "judge_reasks": "retries after an invalid verdict",
    "judge_throttles": "throttled calls",
    "judge_refusals": "calls that the model refused",
    "judge_fallbacks": "questions to the fallback",
    "judge_failures": "questions without a verdict",
    "judge_unpriced_calls": "billed calls without a known price, which `judge_usd` leaves out",
}
"""What is counted, in the order in which it is reported."""

MAX_TOKENS: Final = 100_000_000
"""Tokens one call can have cost. A provider that reports more is mistaken."""


def token_count(counts: Any, name: str) -> int:
    """A number of tokens from a provider's response; 0 where it is missing or not plausible.

    Args:
        counts: the response's object of counts, of any type.
        name: the key of the count.
    """
    count = counts.get(name) if isinstance(counts, dict) else None
    if isinstance(count, int) and not isinstance(count, bool) and 0 <= count <= MAX_TOKENS:
        return count
    return 0


class Ended(BaseException):
    """The batch was interrupted before this call began: its sample has no result of any kind."""


class Price(NamedTuple):
    """Dollars per million tokens."""

    input: float
    output: float
    cache_read: float
    cache_write: float

    def of(self, usage: Usage) -> float:
        """Dollars for these tokens."""
        return sum(map(float.__mul__, self, map(float, _tokens(usage)))) / MILLION


def price_of(model: JudgeModel, config: JudgeConfig) -> Price | None:
    """The price of a model's tokens; None where neither the settings nor the table have one.

    Raises:
        BadJudge: there is a limit in dollars, and the model has no price.
    """
    prices: dict[str, tuple[float, ...]] = dict(config.prices or {})
    listed = prices.get(model.called) or prices.get(model.model) or _listed(model.model)
    if model.backend == "replay":
        listed = listed or (0.0, 0.0)
    if listed is None and config.max_usd:
        raise BadJudge(f"max_usd is set, and {model.model} has no price: give one in prices")
    if listed is None:
        return None
    input_price, output_price, *cached = map(float, listed)
    read, write = cached or (input_price * READ_SHARE, input_price * WRITE_SHARE)
    return Price(input_price, output_price, read, write)


@cache
def _table() -> dict[str, tuple[float, ...]]:
    text = Path(__file__).with_name("prices.toml").read_text(encoding="utf-8")
    return {name: tuple(price) for name, price in tomllib.loads(text)["models"].items()}


def _listed(model: str) -> tuple[float, ...] | None:
    """The price of the longest listed name that the model's id contains."""
    names = sorted((name for name in _table() if name in model), key=len)
    return _table()[names[-1]] if names else None


def prices_as_of() -> str:
    """The date of the table of prices."""
    text = Path(__file__).with_name("prices.toml").read_text(encoding="utf-8")
    return str(tomllib.loads(text)["as_of"])


class Account:
    """Counters of one batch; safe to use from many threads.

    Args:
        max_usd: dollars it may cost; 0 for no limit.

    Attributes:
        stopped: why a model is not asked any more, one sentence for each.
    """

    def __init__(self, max_usd: float = 0.0) -> None:
        self.max_usd = max_usd
        self.usage = Usage()
        self.usd = 0.0
        self.failures: Counter[str] = Counter()
        self.stopped: list[str] = []
        self._reserved = 0.0
        self._in_flight = 0
        self._ended = False
        self._counts: Counter[str] = Counter()
        self._lock = Condition()

    def __getitem__(self, counter: str) -> int:
        return self._counts[counter]

    def count(self, counter: str) -> None:
        """Add one to a counter."""
        with self._lock:
            self._counts[counter] += 1

    def stop(self, reason: str) -> None:
        """Note that a model is not asked any more: when, and why."""
        with self._lock:
            if reason not in self.stopped:
                self.stopped.append(reason)

    @property
    def dollars(self) -> str:
        """The cost of the batch, in words that hold where a price is not known."""
        return dollars(self.usd, self["judge_unpriced_calls"])

    def failed(self, kind: str) -> None:
        """Count a failed call by the kind of its failure."""
        with self._lock:
            self.failures[kind] += 1
            self._counts["judge_throttles"] += kind == "throttled"
            self._counts["judge_refusals"] += kind == "refused"

    @property
    def under_way(self) -> int:
        """Calls that have begun and not ended."""
        return self._in_flight

    def end(self, patience: float) -> None:
        """Begin no further call, and wait for those under way while they come to an end.

        Args:
            patience: seconds without any end after which the others are left.
        """
        with self._lock:
            self._ended = True
            self._lock.notify_all()
            while self._in_flight and self._lock.wait(patience):
                pass

    def reserve(self, usd: float, deadline: float = inf) -> None:
        """Reserve the dollars that a call may cost.

        Calls in flight reserve more than most of them cost, so that their end is waited for.

        Args:
            usd: at most.
            deadline: the reading of `time.monotonic()` until which is waited.

        Raises:
            BudgetReached: with them, the batch could exceed its limit.
            Ended: no further call is to begin.
        """
        with self._lock:
            while (
                not self._ended and self.max_usd and self.usd + self._reserved + usd > self.max_usd
            ):
                left = deadline - monotonic()
                hopeless = self.usd + usd > self.max_usd or not self._in_flight or left <= 0
                if hopeless:
                    raise BudgetReached(f"max_usd is reached: {self.max_usd:g} dollars a batch")
                self._lock.wait(None if left == inf else left)
            if self._ended:
                raise Ended
            self._reserved += usd
            self._in_flight += 1

    def settle(self, reserved: float, usage: Usage, usd: float) -> None:
        """Replace the reservation of a call by its cost."""
        with self._lock:
            self._in_flight -= 1
            self._reserved = self._reserved - reserved if self._in_flight else 0.0
            self.usage += usage
            self.usd += usd
            self._lock.notify_all()

    def metrics(self) -> dict[str, float]:
        """Every counter by its name; the same names for every batch."""
        with self._lock:
            return {
                **{name: float(self._counts[name]) for name in COUNTERS},
                "judge_input_tokens": float(self.usage.input),
                "judge_output_tokens": float(self.usage.output),
                "judge_cache_read_tokens": float(self.usage.cache_read),
                "judge_cache_write_tokens": float(self.usage.cache_write),
                "judge_usd": self.usd,
            }


def dollars(usd: float, unpriced: int, sign: str = "") -> str:
    """A sum in words: "0.0120", "at least 0.0120", or "unknown".

    Args:
        usd: of the calls with a price.
        unpriced: calls that may be billed, of a model whose price is unknown.
        sign: before a number.
    """
    if not unpriced:
        return f"{sign}{usd:.4f}"
    return f"at least {sign}{usd:.4f}" if usd else "unknown"


def _tokens(usage: Usage) -> tuple[int, int, int, int]:
    return usage.input, usage.output, usage.cache_read, usage.cache_write
