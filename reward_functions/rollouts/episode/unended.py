"""The episodes of a handler that have not ended, and what becomes of them as their process ends.

A process that is asked to end waits for its episodes, but not for ever. What outlasts that is a
failure of ours, and is reported as one at once: the next process may be hours away, or never come
where the disk dies with the machine. What the next process may run again is left to it.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from typing import TYPE_CHECKING, Final
from weakref import WeakSet

if TYPE_CHECKING:
    from reward_functions.rollouts.episode.run import Run

AT_ONCE: Final = 64
"""Reports that are sent at a time: whoever asks a process to end kills it a few seconds later."""


class Unended:
    """Runs that may not have ended; safe to use from many threads. It keeps none alive."""

    def __init__(self) -> None:
        self._runs: WeakSet[Run] = WeakSet()
        self._lock = Lock()
        self._process = os.getpid()

    def add(self, run: Run) -> None:
        """Know a run that has begun."""
        with self._lock:
            self._of_this_process().add(run)

    def interrupt(self) -> None:
        """End all of them, and return behind their reports."""
        with self._lock:
            left = [run for run in self._of_this_process() if not run.ended]
        if left:
            with ThreadPoolExecutor(AT_ONCE, thread_name_prefix="rollout-interrupt") as pool:
                list(pool.map(lambda run: run.interrupt(), left))

    def _of_this_process(self) -> WeakSet[Run]:
        """The runs; those of a parent go on there, whatever becomes of a process it forked."""
        if self._process != os.getpid():
            self._process, self._runs = os.getpid(), WeakSet()
        return self._runs
