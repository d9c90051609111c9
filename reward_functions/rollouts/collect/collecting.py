"""The threads of a batch: some start sessions, others look for results and stop sessions.

    payloads → start → look … look → stop → item → whoever iterates

A start may wait for a container, and a look may not wait for a start: they have threads of their
own. A session is stopped before its item is handed on. What is over its time is an item at once,
also while its invocation is still under way, whose session is stopped a second time then.

What the calls of one row raise is that row's failed item. What the payloads or `progress` raise
ends the batch, and so does an interrupt. However a batch ends, by its last item, by `break`, by an
exception or an interrupt, `close` has the threads stop what still runs. As many results wait to be
taken as sessions may run, and no more.
"""

from __future__ import annotations

import atexit
import logging
import time
from collections import deque
from heapq import heappop, heappush
from itertools import count
from threading import Condition, Lock, Thread, get_ident
from traceback import format_exception
from typing import TYPE_CHECKING, Any, Final, Protocol

from reward_functions.rollouts.collect.calls import attempted
from reward_functions.rollouts.collect.futures import (
    BatchItem,
    BatchLimits,
    BatchSession,
    Progress,
)
from reward_functions.rollouts.request.errors import (
    AgentFailed,
    BadRequest,
    BadResult,
    RolloutError,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from reward_functions.rollouts.collect.futures import RolloutFuture

log = logging.getLogger("reward_functions.rollouts")

CLOSING: Final = 120.0
"""Seconds that `close` waits for stops: 1,000 sessions at 25 calls a second take 40."""

KINDS: Final = ((AgentFailed, "agent"), (BadResult, "result"), (BadRequest, "payload"))
"""Whose a failure is; any other is the service's."""

FRAMES, LONGEST = 20, 8_000
"""Of a traceback in an item: innermost frames, and characters."""


class Starter(Protocol):
    """What a batch needs of a client."""

    def admit(self) -> None:
        """Wait for the rate limit."""

    def begin(
        self, payload: Mapping[str, Any], session_id: str, abandoned: Callable[[], bool]
    ) -> RolloutFuture:
        """Start a session. The rate limit was waited for."""

    def stop(self, session_id: str) -> None:
        """Stop a session."""

    def new_session(self) -> str:
        """The id of a session that nobody has."""


class Collection:
    """A batch that runs.

    Args:
        starter: starts and stops sessions.
        payloads: read one at a time.
        limits: of the batch.
    """

    def __init__(
        self, starter: Starter, payloads: Iterator[Mapping[str, Any]], limits: BatchLimits
    ) -> None:
        self._starter, self._limits = starter, limits
        self._payloads = enumerate(payloads)
        self._reading = Lock()  # its own: rows may wait for results, and so for whoever takes them
        self._changed = Condition()
        self._due: list[tuple[float, int, BatchSession]] = []
        self._order = count()
        self._threads: set[int] = set()
        self._active: set[BatchSession] = set()
        self._ready: deque[BatchItem] = deque()
        self._vacant = limits.at_once
        self._waiting = 0  # threads that wait for a row, and have no session
        self._exhausted = self._closing = False
        self._error: BaseException | None = None
        self._counts = {True: 0, False: 0}
        self._began = self._logged = time.monotonic()
        self.notify: Callable[[], object] = lambda: None
        whole = False
        threads = max(1, min(limits.at_once, limits.threads))
        self._running, self._unborn = 0, 2 * threads
        atexit.register(self.close)
        try:
            for work in (self._start_all, self._settle_all) * threads:
                Thread(target=self._worked, args=(work,), daemon=True).start()
            whole = True
        finally:
            if not whole:  # no more threads, or an interrupt: nobody gets it to close it
                self._unborn = 0
                self.close()

    def take(self) -> BatchItem | None:
        """An item that is ready; None where none is yet.

        Raises:
            StopIteration: there is none any more.
            BaseException: what the payloads or the callback raised.
        """
        with self._changed:
            if self._ready:
                self._changed.notify_all()
                return self._ready.popleft()
            if not self._ended():
                return None
            if self._error is not None:
                error, self._error = self._error, None
                raise error
            raise StopIteration

    def wait(self) -> BatchItem:
        """The next item, waited for; raises as `take` does."""
        while (item := self.take()) is None:
            with self._changed:
                if not self._ready and not self._ended():
                    self._changed.wait()
        return item

    def close(self, *, wait: bool = True) -> None:
        """Stop every session that still runs; once, and then nothing."""
        with self._changed:
            self._closing = True
            self._ready.clear()
            self._changed.notify_all()
            if wait and get_ident() not in self._threads:  # the collector of garbage runs anywhere
                self._changed.wait_for(self._ended, CLOSING)

    def _ended(self) -> bool:
        """Whether no thread has a session; rows that never come hold up nobody who closes."""
        return self._running + self._unborn <= (self._waiting if self._closing else 0)

    def _worked(self, work: Callable[[], None]) -> None:
        """A thread, to its end; what it raises ends the batch, and is raised where it is read."""
        with self._changed:
            self._threads.add(get_ident())
            self._running += 1
            self._unborn = max(0, self._unborn - 1)
        try:
            work()
        except BaseException as error:  # noqa: BLE001 - whoever iterates raises it
            with self._changed:
                self._error = self._error or error
                self._closing = True
        if self._closing:
            self._stop_the_rest()
        with self._changed:
            self._running -= 1
            self._threads.discard(get_ident())
            self._changed.notify_all()
            ended = self._ended()
        if ended:
            atexit.unregister(self.close)
            self.notify()

    def _start_all(self) -> None:
        while self._place_taken():
            refused = attempted(self._starter.admit)
            if (taken := self._begun()) is None:
                return
            if refused is None:
                self._start(*taken)
            else:
                self._settle(taken[0], self._failure(taken[0], refused))

    def _place_taken(self) -> bool:
        """Wait until a session may run; whether one may."""
        with self._changed:
            while not self._closing and not self._exhausted:
                if self._vacant and len(self._ready) < self._limits.at_once:
                    self._vacant -= 1
                    return True
                self._changed.wait()
            return False

    def _begun(self) -> tuple[BatchSession, Mapping[str, Any]] | None:
        """The next payload and its session; None where there is no more."""
        with self._changed:
            self._waiting += 1
        try:
            with self._reading:
                over = self._closing or self._exhausted
                following = None if over else next(self._payloads, None)
                return self._entered(following)
        finally:
            with self._changed:
                self._waiting -= 1
                self._changed.notify_all()

    def _entered(
        self, following: tuple[int, Mapping[str, Any]] | None
    ) -> tuple[BatchSession, Mapping[str, Any]] | None:
        """A row as a session that is due, before anybody can find that there are no more rows."""
        with self._changed:
            if following is None or self._closing:
                self._exhausted = True
                self._vacant += 1
                return None
            index, payload = following
            now = time.monotonic()
            session = BatchSession(
                index, self._starter.new_session(), now, now + self._limits.timeout
            )
            self._active.add(session)
            self._later(session, session.late)
            return session, payload

    def _start(self, session: BatchSession, payload: Mapping[str, Any]) -> None:
        if self._limits.timeout <= 0:
            return  # its time is over: nothing is started
        session.begun = True
        future = attempted(
            lambda: self._starter.begin(
                payload, session.session_id, lambda: self._closing or session.settled
            )
        )
        if isinstance(future, Exception):
            session.begun = False  # what did not start was stopped by whoever tried
            self._settle(session, self._failure(session, future))
            return
        with self._changed:
            session.future = future
            if not session.settled and not self._closing:
                self._later(session, time.monotonic() + future.time_until_next_poll())
                return
        future.cancel()

    def _settle_all(self) -> None:
        while (session := self._next_due()) is not None:
            item = self._looked(session)
            if item is None:
                with self._changed:
                    session.looking = False
                    future = session.future
                    wait = 0.0 if future is None else future.time_until_next_poll()
                    self._later(session, min(session.late, time.monotonic() + wait))
            else:
                self._settle(session, item)
            self._report()

    def _next_due(self) -> BatchSession | None:
        """The next session whose moment has come; None where there is nothing more to do."""
        with self._changed:
            while not self._closing:
                while self._due and (self._due[0][2].settled or self._due[0][2].looking):
                    heappop(self._due)
                now = time.monotonic()
                if self._due and self._due[0][0] <= now:
                    session = heappop(self._due)[2]
                    session.looking = True
                    return session
                if self._exhausted and not self._active:
                    return None
                self._changed.wait(self._due[0][0] - now if self._due else None)
            return None

    def _looked(self, session: BatchSession) -> BatchItem | None:
        """What a look at a session finds; None where its result is not there yet."""
        future = session.future
        if future is not None and future.advanced():
            result = attempted(future.outcome)
            if isinstance(result, Exception):
                return self._failure(session, result)
            return BatchItem(
                success=True,
                result=result,
                index=session.index,
                elapsed=time.monotonic() - session.began,
                session_id=session.session_id,
            )
        if time.monotonic() < session.late:
            return None
        return BatchItem(
            success=False,
            error=f"Timeout after {self._limits.timeout}s",
            index=session.index,
            elapsed=time.monotonic() - session.began,
            kind="timeout",
            session_id=session.session_id,
        )

    def _settle(self, session: BatchSession, item: BatchItem) -> None:
        """Stop a session and hand its item on, once."""
        with self._changed:
            if session.settled:
                return
            session.settled = True
        self._stopped(session)
        session.future = None  # its result is the item's: what is due later does not keep it
        with self._changed:
            self._active.discard(session)
            self._vacant += 1
            self._counts[item.success] += 1
            if not self._closing:
                self._ready.append(item)
            self._changed.notify_all()
        self.notify()

    def _stopped(self, session: BatchSession) -> None:
        if session.future is not None:
            session.future.cancel()
        elif session.begun:
            self._starter.stop(session.session_id)

    def _stop_the_rest(self) -> None:
        while True:
            with self._changed:
                self._changed.notify_all()
                left = next((each for each in self._active if not each.settled), None)
                if left is None:
                    return
                left.settled = True
                self._active.discard(left)
            self._stopped(left)

    def _later(self, session: BatchSession, moment: float) -> None:
        heappush(self._due, (moment, next(self._order), session))
        self._changed.notify_all()

    def _report(self) -> None:
        """How far the batch is, every so often."""
        now = time.monotonic()
        with self._changed:
            if now - self._logged < self._limits.log_interval:
                return
            self._logged = now
            oldest = min((each.began for each in self._active), default=now)
            found = Progress(
                self._counts[True],
                self._counts[False],
                len(self._active),
                now - self._began,
                now - oldest,
            )
        log.info(
            "collected %d, failed %d, active %d, oldest %.0f s",
            found.succeeded,
            found.failed,
            found.active,
            found.oldest,
        )
        if self._limits.progress is not None:
            self._limits.progress(found)

    def _failure(self, session: BatchSession, error: Exception) -> BatchItem:
        kind = next((name for cls, name in KINDS if isinstance(error, cls)), "service")
        return BatchItem(
            success=False,
            error=str(error) if isinstance(error, RolloutError) else _traced(error),
            index=session.index,
            elapsed=time.monotonic() - session.began,
            kind=kind,
            session_id=session.session_id,
        )


def _traced(error: Exception) -> str:
    """The traceback of an exception that nobody foresaw, which its caller has to understand."""
    return "".join(format_exception(error, limit=-FRAMES, chain=False))[:LONGEST]
