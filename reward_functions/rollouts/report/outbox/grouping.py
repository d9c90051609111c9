"""Writes of many threads, committed together: one wait for the disk for all that came meanwhile.

    thread ──→ queue ──┐                        ┌──→ each thread: its result, or its error
    thread ──→ queue ──┼──→ the first one leads ┤
    thread ──→ queue ──┘      one commit        └──→ who came meanwhile: the next group

There is no thread for it, and nothing to end: of those that wait, one commits for all.
"""

from __future__ import annotations

from threading import Event, Lock
from typing import TYPE_CHECKING, Any

from reward_functions.rollouts.request.errors import OutboxUnavailable, RolloutError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


class Write:
    """One thread's part of a group.

    Args:
        work: does it, and returns its result. It raises before it has written anything.
        durable: whether it has to survive a power cut.

    Attributes:
        result: of `work`.
        error: what its thread gets in place of the result.
    """

    def __init__(self, work: Callable[[Any], Any], *, durable: bool) -> None:
        self.work = work
        self.durable = durable
        self.result: Any = None
        self.error: Exception | None = OutboxUnavailable("the write was interrupted")
        self.leads = False
        self.woken = Event()

    def do(self, database: Any) -> None:
        """Work; what an outbox promises to raise is this thread's, and nothing to the others."""
        self.error = None
        try:
            self.result = self.work(database)
        except RolloutError as error:
            self.error = error


class Grouping:
    """What lets threads write together.

    Args:
        commit: writes a group, in its order, and sets the result or the error of each. What it
            raises goes to the thread that led; the others get their `error`.
    """

    def __init__(self, commit: Callable[[Sequence[Write]], None]) -> None:
        self._commit = commit
        self._queue: list[Write] = []
        self._led = False
        self._lock = Lock()

    def write(self, write: Write) -> Any:
        """Write, with all that others ask for until then; what became of it.

        Raises:
            Exception: the `error` of this write.
        """
        with self._lock:
            self._queue.append(write)
            write.leads, self._led = not self._led, True
        if not write.leads:
            self._wait(write)
        if write.leads:
            self._lead()
        if write.error is not None:
            raise write.error
        return write.result

    def _wait(self, write: Write) -> None:
        woken = False
        try:
            woken = write.woken.wait()
        finally:
            if not woken:  # Ctrl-C: somebody else has to lead
                self._leave(write)

    def _leave(self, write: Write) -> None:
        with self._lock:
            if write in self._queue:
                self._queue.remove(write)
            if write.leads:
                self._hand_over()

    def _lead(self) -> None:
        with self._lock:
            group, self._queue = self._queue, []
        try:
            self._commit(group)
        finally:
            with self._lock:
                self._hand_over()
            for each in group:
                each.woken.set()

    def _hand_over(self) -> None:
        """Have the next one lead, if anybody waits; the lock is held."""
        self._led = bool(self._queue)
        for following in self._queue[:1]:
            following.leads = True
            following.woken.set()
