"""The deadlines of all episodes of a process, on one thread: a heap, and a wait for its first.

An action runs after the thread, so that one slow report holds no other deadline up.
"""

from __future__ import annotations

import heapq
import os
from functools import cache
from itertools import count
from threading import Condition, Thread
from typing import TYPE_CHECKING, Final

from reward_functions.rollouts.request.clock import steady
from reward_functions.rollouts.request.threads import behind

if TYPE_CHECKING:
    from collections.abc import Callable

LONGEST_WAIT: Final = 30.0
"""Seconds after which the clock is read again: somebody may have set it."""

PRUNED: Final = 256
"""Entries from which on the heap is cleared of ended ones, when they are more than half of it."""


class Watch:
    """One deadline.

    Args:
        when: in seconds since the epoch.
        action: what happens then; None once it has ended.
    """

    __slots__ = ("action", "when")

    def __init__(self, when: float, action: Callable[[], object]) -> None:
        self.when = when
        self.action: Callable[[], object] | None = action


class Watchdog:
    """Runs actions at their deadlines.

    Args:
        run: runs an action without waiting for it.
        clock: seconds since the epoch.
    """

    def __init__(
        self,
        *,
        run: Callable[[Callable[[], object]], object] = behind,
        clock: Callable[[], float] = steady,
    ) -> None:
        self._run = run
        self._clock = clock
        self._numbers = count()
        self._heap: list[tuple[float, int, Watch]] = []
        self._ended = 0
        self._changed = Condition()
        self._thread: Thread | None = None
        self._closed = False

    def watch(self, when: float, action: Callable[[], object]) -> Watch:
        """Run an action at a time, unless its watch is ended before."""
        watch = Watch(when, action)
        with self._changed:
            heapq.heappush(self._heap, (when, next(self._numbers), watch))
            if self._thread is None and not self._closed:
                self._thread = Thread(target=self._work, name="rollout-watchdog", daemon=True)
                self._thread.start()
            if self._heap[0][2] is watch:
                self._changed.notify()
        return watch

    def end(self, watch: Watch) -> None:
        """Forget a watch, and what its action refers to."""
        with self._changed:
            if watch.action is None:
                return
            watch.action = None
            self._ended += 1
            if len(self._heap) > PRUNED and 2 * self._ended > len(self._heap):
                self._heap = [entry for entry in self._heap if entry[2].action is not None]
                heapq.heapify(self._heap)
                self._ended = 0

    def __len__(self) -> int:
        """Watches that have not ended."""
        with self._changed:
            return sum(entry[2].action is not None for entry in self._heap)

    def run_due(self) -> None:
        """Run what is due."""
        with self._changed:
            now = self._clock()
            due = []
            while self._heap and self._heap[0][0] <= now:
                watch = heapq.heappop(self._heap)[2]
                if watch.action is None:
                    self._ended -= 1
                else:
                    due.append(watch.action)
                    watch.action = None
        for action in due:
            self._run(action)

    def close(self) -> None:
        """End the thread; nothing is run any more."""
        with self._changed:
            self._closed = True
            self._heap.clear()
            self._changed.notify()

    def _work(self) -> None:
        while True:
            with self._changed:
                if self._closed:
                    return
                first = self._heap[0][0] - self._clock() if self._heap else LONGEST_WAIT
                if first > 0:
                    self._changed.wait(min(first, LONGEST_WAIT))
            self.run_due()


@cache
def watchdog() -> Watchdog:
    """The process's own."""
    return Watchdog()


os.register_at_fork(after_in_child=watchdog.cache_clear)
