"""Sessions of a double: which run, and how often each was invoked and stopped."""

from __future__ import annotations

from collections import Counter
from threading import Condition


class Sessions:
    """All sessions that a double has seen."""

    def __init__(self) -> None:
        self._changed = Condition()
        self.invoked: Counter[str] = Counter()
        self.stopped: Counter[str] = Counter()
        self._running: set[str] = set()
        self.most_running = 0

    @property
    def running(self) -> set[str]:
        """Those that were invoked and not stopped since."""
        with self._changed:
            return set(self._running)

    def invoke(self, session: str) -> None:
        """It runs from now on."""
        with self._changed:
            self.invoked[session] += 1
            self._running.add(session)
            self.most_running = max(self.most_running, len(self._running))
            self._changed.notify_all()

    def stop(self, session: str) -> bool:
        """It runs no more; whether it was ever invoked."""
        with self._changed:
            known = session in self.invoked
            if known:
                self.stopped[session] += 1
            self._running.discard(session)
            self._changed.notify_all()
            return known

    def wait_idle(self, timeout: float) -> bool:
        """Wait until none runs; whether that came to pass."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._running, timeout)

    def wait_running(self, count: int, timeout: float) -> bool:
        """Wait until so many run; whether that came to pass."""
        with self._changed:
            return self._changed.wait_for(lambda: len(self._running) >= count, timeout)
