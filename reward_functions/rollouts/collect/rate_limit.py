"""Calls spaced evenly: AgentCore counts the invocations and the stops of a runtime together.

A caller reserves the next free moment and waits for it, so that threads queue without holding a
lock. Several processes share one budget by a file: the next free moment stands in it, under a lock.
"""

from __future__ import annotations

import asyncio
import os
import time
from contextlib import contextmanager
from math import isfinite
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Final

from reward_functions.core.errors import ConfigurationError
from reward_functions.rollouts.request.file_locks import locked

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

LONGEST: Final = 3600.0
"""Seconds ahead that a moment of a file may lie; further on, the clock was set back."""


class RateLimiter:
    """At most so many calls a second.

    Args:
        tps_limit: calls a second.
        shared: a file that other processes of this machine name, too; None for this process alone.
        clock: seconds; the same for all processes where the file is shared.

    Raises:
        ConfigurationError: the limit is not a positive number.
        OSError: when it waits, and the file cannot be written.
    """

    def __init__(
        self,
        tps_limit: float = 25,
        *,
        shared: str | Path | None = None,
        clock: Callable[[], float] | None = None,
    ) -> None:
        if isinstance(tps_limit, bool) or not (isfinite(tps_limit) and tps_limit > 0):
            raise ConfigurationError("tps_limit is the calls a second: a positive number")
        self.tps_limit = tps_limit
        self._interval = 1.0 / tps_limit
        self._shared = None if shared is None else Path(shared)
        self._clock = clock or (time.monotonic if shared is None else time.time)
        self._lock = Lock()
        self._free = 0.0

    def reserve(self) -> float:
        """Take the next free moment, and return how many seconds from now it is."""
        with self._lock:
            if self._shared is not None:
                with _held(self._shared) as file:
                    now = self._clock()
                    moment = self._next(_read(file), now)
                    os.pwrite(file, f"{moment + self._interval:020.6f}".encode(), 0)
                    return moment - now
            now = self._clock()
            moment = self._next(self._free, now)
            self._free = moment + self._interval
            return moment - now

    def wait_sync(self) -> None:
        """Block until the next call is allowed."""
        if (seconds := self.reserve()) > 0:
            time.sleep(seconds)

    async def wait_async(self) -> None:
        """Wait until the next call is allowed, and let the event loop go on."""
        if (seconds := self.reserve()) > 0:
            await asyncio.sleep(seconds)

    @staticmethod
    def _next(free: float, now: float) -> float:
        return now if free > now + LONGEST else max(free, now)


LocalRateLimiter = RateLimiter
"""The name of agentcore-rl-toolkit 0.2."""

ACRRateLimiter = RateLimiter
"""The name of agentcore-rl-toolkit 0.1."""


@contextmanager
def _held(path: Path) -> Iterator[int]:
    """A file under a lock; where the system has no such locks, a file."""
    file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        with locked(file):
            yield file
    finally:
        os.close(file)


def _read(file: int) -> float:
    try:
        moment = float(os.pread(file, 32, 0) or b"0")
    except ValueError:
        return 0.0
    return moment if isfinite(moment) else 0.0
