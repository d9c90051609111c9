"""The rate limit of one model: concurrent calls, and calls and tokens per minute.

Concurrency starts at a setting, is halved when the model throttles, and grows by one with every
`GROWTH` answers: additive increase, multiplicative decrease. Calls that were throttled together
halve it once. The quotas per minute are token buckets; a bucket may go into debt by one call, so
that no call is too large for it.

A rate limit outlives the batches of a warm function: what it learned about a quota stays true.
"""

from __future__ import annotations

from contextlib import contextmanager
from threading import Condition
from time import monotonic
from typing import TYPE_CHECKING, Final

from reward_functions.core.errors import JudgeUnavailable

if TYPE_CHECKING:
    from collections.abc import Iterator

GROWTH: Final = 20
"""Answers until the concurrency grows by one."""

BURST: Final = 1 / 6
"""The share of a minute's quota that may be used at once: providers refuse a whole one."""


class TokenBucket:
    """A quota per minute.

    Args:
        per_minute: how much; 0 for no limit.
    """

    def __init__(self, per_minute: float) -> None:
        self.rate = per_minute / 60
        self.capacity = per_minute * BURST
        self.level = self.capacity
        self.refilled_at = monotonic()

    def wait(self, now: float) -> float:
        """Refill the bucket; seconds until something may be taken."""
        if not self.rate:
            return 0.0
        self.level = min(self.capacity, self.level + (now - self.refilled_at) * self.rate)
        self.refilled_at = now
        return 0.0 if self.level > 0 else -self.level / self.rate + 0.001

    def take(self, amount: float) -> None:
        """Take an amount, into debt where it exceeds the level."""
        self.level -= amount


class RateLimit:
    """Admit calls at a rate; safe to use from many threads.

    Args:
        start: concurrent calls at first.
        maximum: concurrent calls at most.
        rpm: calls per minute; 0 for no limit.
        tpm: tokens per minute; 0 for no limit.
    """

    def __init__(self, start: int, maximum: int, rpm: float = 0, tpm: float = 0) -> None:
        self.allowed = start
        self.maximum = maximum
        self.running = 0
        self._answers = 0
        self._slowed_at = 0.0
        self._calls = TokenBucket(rpm)
        self._tokens = TokenBucket(tpm)
        self._changed = Condition()

    @contextmanager
    def slot(self, tokens: int, deadline: float) -> Iterator[float]:
        """Wait for a slot, and hold it while the call lasts.

        Args:
            tokens: that the call takes from the quota at most.
            deadline: the reading of `time.monotonic()` by which the slot must be free.

        Yields:
            The reading of `time.monotonic()` when the slot was taken.

        Raises:
            JudgeUnavailable: the deadline came first.
        """
        began = self._take(tokens, deadline)
        try:
            yield began
        finally:
            with self._changed:
                self.running -= 1
                self._changed.notify()

    def _take(self, tokens: int, deadline: float) -> float:
        with self._changed:
            while True:
                now = monotonic()
                if now >= deadline:
                    self._changed.notify()  # this thread may have consumed another's wake-up
                    raise JudgeUnavailable("the deadline came before a turn to ask", "deadline")
                quota = max(self._calls.wait(now), self._tokens.wait(now))
                if self.running < self.allowed and not quota:
                    break
                pause = min(quota or deadline - now, deadline - now)
                self._changed.wait(None if pause == float("inf") else pause)
            self._calls.take(1)
            self._tokens.take(tokens)
            self.running += 1
            return now

    def throttled(self, began: float) -> None:
        """Halve the concurrency, unless that happened after this call began.

        Args:
            began: when the throttled call took its slot.
        """
        with self._changed:
            if began >= self._slowed_at:
                self.allowed = max(1, self.allowed // 2)
                self._slowed_at = monotonic()
            self._answers = 0

    def answered(self, unused: int) -> None:
        """Count an answer, and return the tokens it left unused to the quota."""
        with self._changed:
            self._tokens.take(-unused)
            self._answers += 1
            if self._answers >= GROWTH and self.allowed < self.maximum:
                self.allowed += 1
                self._answers = 0
                self._changed.notify()
