"""How fast a model is asked: calls at once by its own reaction, calls and tokens a minute by quota.

Calls at once start at a setting, are halved when the model throttles, and grow by one with every
`GROWTH` answers: additive increase, multiplicative decrease. Several calls throttled together were
begun at one speed, and halve it once. A minute's quotas are buckets that fill steadily and may run
into debt by one call, so that no call is too large for them.

One pace outlives the batches of a warm function: what it learned about a quota is still true.
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
"""Answers until one more call may be made at once."""

BURST: Final = 1 / 6
"""Of a minute's quota, what may be used at once: providers refuse a minute's worth in a second."""


class Bucket:
    """A quota per minute.

    Args:
        per_minute: how much; 0 for no limit.
    """

    def __init__(self, per_minute: float) -> None:
        self.rate = per_minute / 60
        self.full = per_minute * BURST
        self.level = self.full
        self.at = monotonic()

    def wait(self, now: float) -> float:
        """Seconds until something may be taken."""
        if not self.rate:
            return 0.0
        self.level = min(self.full, self.level + (now - self.at) * self.rate)
        self.at = now
        return 0.0 if self.level > 0 else -self.level / self.rate + 0.001

    def take(self, amount: float) -> None:
        """Take it, into debt if need be."""
        self.level -= amount


class Pace:
    """Who may call now. Safe to use from many threads.

    Args:
        start: calls at once to begin with.
        most: calls at once at most.
        rpm: calls per minute; 0 for no limit.
        tpm: tokens per minute; 0 for no limit.
    """

    def __init__(self, start: int, most: int, rpm: float = 0, tpm: float = 0) -> None:
        self.allowed = start
        self.most = most
        self.running = 0
        self._answers = 0
        self._slowed_at = 0.0
        self._calls = Bucket(rpm)
        self._tokens = Bucket(tpm)
        self._changed = Condition()

    @contextmanager
    def turn(self, tokens: int, deadline: float) -> Iterator[float]:
        """Wait for a turn, and hold it while the call lasts.

        Args:
            tokens: that the call takes from the quota at most.
            deadline: by which the turn must have come.

        Yields:
            The reading of `time.monotonic()` when it came.

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
                    self._changed.notify()  # the turn it was woken for, if it was, is another's
                    raise JudgeUnavailable("the deadline came before a turn to ask", "deadline")
                quota = max(self._calls.wait(now), self._tokens.wait(now))
                if self.running < self.allowed and not quota:
                    break
                patience = min(quota or deadline - now, deadline - now)
                self._changed.wait(None if patience == float("inf") else patience)
            self._calls.take(1)
            self._tokens.take(tokens)
            self.running += 1
            return now

    def throttled(self, began: float) -> None:
        """A call begun then was refused for the quota's sake: ask half as many at once."""
        with self._changed:
            if began >= self._slowed_at:
                self.allowed = max(1, self.allowed // 2)
                self._slowed_at = monotonic()
            self._answers = 0

    def answered(self, unused: int) -> None:
        """A call was answered, and left so many of its tokens unused."""
        with self._changed:
            self._tokens.take(-unused)
            self._answers += 1
            if self._answers >= GROWTH and self.allowed < self.most:
                self.allowed += 1
                self._answers = 0
                self._changed.notify()
