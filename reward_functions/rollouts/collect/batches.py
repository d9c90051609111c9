"""The items of a batch, in the order in which they end.

    for item in client.run_batch(payloads, max_concurrent_sessions=10):
        if item.success:
            train(item.index, item.result["rewards"])

Each `iter` runs the batch anew. A caller who leaves the loop, by `break` or an exception, leaves no
session: an iterator that nobody holds stops what runs. An iterator that is kept is closed by
`with`, or by `close`.

Some threads start sessions, others look for results and stop sessions:

    payloads → start → look … look → stop → item → the loop

A start may wait for a container, and a look may not wait for a start: they have threads of their
own. A session is stopped before its item is handed on. A rollout over its time is an item at once,
also while its invocation is still under way. Its session is stopped a second time then.

Exceptions of one row's calls are that row's failed item. Exceptions of the payloads or of
`progress` end the batch, and so does an interrupt. However a batch ends, by its last item, by
`break`, by an exception or an interrupt, `close` has the threads stop what still runs. As many
results wait to be taken as sessions may run, and no more.
"""

from __future__ import annotations

import asyncio
import atexit
import logging
import time
from collections import deque
from contextlib import suppress
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import count
from threading import Condition, Lock, Thread, get_ident
from traceback import format_exception
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol, Self
from weakref import finalize

from reward_functions.core.errors import ConfigurationError
from reward_functions.rollouts.collect.calls import attempted
from reward_functions.rollouts.collect.payloads import session_of
from reward_functions.rollouts.request.errors import (
    AgentFailed,
    BadRequest,
    BadResult,
    RolloutError,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from reward_functions.rollouts.collect.calls import AgentRuntime
    from reward_functions.rollouts.collect.futures import RolloutFuture

__all__ = ["AsyncBatchResult", "BatchItem", "BatchResult"]

log = logging.getLogger("reward_functions.rollouts")

CLOSING: Final = 120.0
"""Seconds that `close` waits for stops: 1,000 sessions at 25 calls a second take 40."""

KINDS: Final = ((AgentFailed, "agent"), (BadResult, "result"), (BadRequest, "payload"))
"""Whose a failure is; any other is the service's."""

FRAMES, LONGEST = 20, 8_000
"""Of a traceback in an item: innermost frames, and characters."""


@dataclass(frozen=True, slots=True)
class BatchItem:
    """The outcome of one payload.

    Args:
        success: whether there is a whole result of an agent that did not fail.
        result: what the agent stored; None where there is no success.
        error: one sentence; a traceback for an exception that this package does not raise itself;
            None where there is success.
        index: of the payload.
        elapsed: seconds from the start of its invocation.
        kind: whose a failure is: "agent", "timeout", "result", "payload" or "service"; "" for none.
        session_id: of its session; None where none was begun.
    """

    success: bool
    result: dict[str, Any] | None = None
    error: str | None = None
    index: int | None = None
    elapsed: float | None = None
    kind: str = ""
    session_id: str | None = None


class Progress(NamedTuple):
    """How far a batch is.

    Args:
        succeeded: items with a result.
        failed: items without.
        active: sessions that run.
        elapsed: seconds since the first was begun.
        oldest: seconds since the oldest that runs was begun; 0 where none runs.
    """

    succeeded: int
    failed: int
    active: int
    elapsed: float
    oldest: float


@dataclass(eq=False, slots=True)
class BatchSession:
    """A payload under way."""

    index: int
    session_id: str
    began: float
    late: float
    future: RolloutFuture | None = None
    begun: bool = False
    looking: bool = False
    settled: bool = False


class Client(Protocol):
    """The methods of `RolloutClient` that a batch needs."""

    max_pool_connections: int
    runtime: AgentRuntime

    def begin(
        self,
        payload: Mapping[str, Any],
        session_id: str,
        *,
        intervals: tuple[float, float, float],
        abandoned: Callable[[], bool],
    ) -> RolloutFuture:
        """Start a rollout; the rate limit was waited for."""


def require_whole(name: str, value: Any, least: int) -> None:
    """Refuse an argument that is no whole number, or too small.

    Raises:
        ConfigurationError: the message names it.
    """
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise ConfigurationError(f"{name} is a whole number from {least} on")


class Batch:
    """The base of both forms; arguments as `RolloutClient.run_batch` has them."""

    def __init__(  # noqa: PLR0917 - theirs
        self,
        client: Client,
        payloads: Iterable[Mapping[str, Any]],
        max_concurrent: int,
        timeout: float = 900.0,
        initial_interval: float = 0.5,
        max_interval: float = 30.0,
        backoff_factor: float = 1.5,
        log_interval: float = 30.0,
        *,
        progress: Callable[[Progress], object] | None = None,
    ) -> None:
        require_whole("max_concurrent_sessions", max_concurrent, 1)
        self.client, self.payloads = client, payloads
        self.max_concurrent, self.timeout, self.log_interval = max_concurrent, timeout, log_interval
        self.initial_interval, self.max_interval = initial_interval, max_interval
        self.backoff_factor = backoff_factor
        self.progress = progress
        self._last: Collection | None = None

    @property
    def intervals(self) -> tuple[float, float, float]:
        """Seconds between looks at a result: before the first, the most, and how they grow."""
        return self.initial_interval, self.max_interval, self.backoff_factor

    def _begun(self) -> Collection:
        self._last = Collection(self)
        return self._last

    def close(self) -> None:
        """Stop what runs, and wait for it."""
        if self._last is not None:
            self._last.close()


class BatchResult(Batch):
    """The items of a batch; also a context manager."""

    def __iter__(self) -> Items:
        return Items(self._begun())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


class AsyncBatchResult(Batch):
    """The same for `async for`; the threads are those of `BatchResult`."""

    def __aiter__(self) -> AsyncItems:
        return AsyncItems(self._begun())

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Stop what runs, and wait for it without holding the event loop."""
        if self._last is not None:
            await asyncio.shield(asyncio.to_thread(self._last.close))


class Items:
    """An iterator over a batch that runs."""

    def __init__(self, collection: Collection) -> None:
        self._collection = collection
        finalize(self, collection.close).atexit = False  # the collection has its own

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> BatchItem:
        taken = False
        try:
            item = self._collection.wait()
            taken = True
        finally:
            if not taken:  # the end, or an interrupt of the wait
                self._collection.close()
        return item

    def close(self) -> None:
        """Stop what runs, and wait for it."""
        self._collection.close()


class AsyncItems:
    """An asynchronous iterator over a batch that runs: threads wake the event loop."""

    def __init__(self, collection: Collection) -> None:
        self._collection = collection
        loop, self._changed = asyncio.get_running_loop(), asyncio.Event()
        changed = self._changed.set

        def notify() -> None:
            with suppress(RuntimeError):  # the loop is closed: nobody waits
                loop.call_soon_threadsafe(changed)

        collection.notify = notify
        # Without waiting: whoever lets go of it is on the event loop.
        finalize(self, collection.close, wait=False).atexit = False

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> BatchItem:
        while True:
            self._changed.clear()
            try:
                item = self._collection.take()
            except StopIteration:
                raise StopAsyncIteration from None
            if item is not None:
                return item
            await self._changed.wait()

    async def aclose(self) -> None:
        """Stop what runs, and wait for it without holding the event loop."""
        await asyncio.shield(asyncio.to_thread(self._collection.close))


class Collection:
    """A batch that runs.

    Args:
        batch: whose payloads are read one at a time.
    """

    def __init__(self, batch: Batch) -> None:
        self._batch, self._client = batch, batch.client
        self._payloads = enumerate(batch.payloads)
        self._reading = Lock()  # its own: rows may wait for results, and so for whoever takes them
        self._changed = Condition()
        self._due: list[tuple[float, int, BatchSession]] = []
        self._order = count()
        self._threads: set[int] = set()
        self._active: set[BatchSession] = set()
        self._ready: deque[BatchItem] = deque()
        self._vacant = batch.max_concurrent
        self._waiting = 0  # threads that wait for a row, and have no session
        self._exhausted = self._closing = False
        self._error: BaseException | None = None
        self._counts = {True: 0, False: 0}
        self._began = self._logged = time.monotonic()
        self.notify: Callable[[], object] = lambda: None
        whole = False
        threads = max(1, min(batch.max_concurrent, batch.client.max_pool_connections))
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
            StopIteration: no item is left.
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
                    # A signal that comes just before an endless wait does not wake it.
                    self._changed.wait(1.0)
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
            refused = attempted(self._client.runtime.admit)
            if (taken := self._begun()) is None:
                return
            if refused is None:
                self._start(*taken)
            else:
                self._settle(taken[0], failed_item(taken[0], refused))

    def _place_taken(self) -> bool:
        """Wait until a session may run; whether one may."""
        with self._changed:
            while not self._closing and not self._exhausted:
                if self._vacant and len(self._ready) < self._batch.max_concurrent:
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
            session = BatchSession(index, session_of(None), now, now + self._batch.timeout)
            self._active.add(session)
            self._later(session, session.late)
            return session, payload

    def _start(self, session: BatchSession, payload: Mapping[str, Any]) -> None:
        if self._batch.timeout <= 0:
            return  # its time is over: nothing is started
        session.begun = True
        future = attempted(
            lambda: self._client.begin(
                payload,
                session.session_id,
                intervals=self._batch.intervals,
                abandoned=lambda: self._closing or session.settled,
            )
        )
        if isinstance(future, Exception):
            session.begun = False  # what did not start was stopped by whoever tried
            self._settle(session, failed_item(session, future))
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
                return failed_item(session, result)
            return _item(session, result=result)
        if time.monotonic() < session.late:
            return None
        return _item(session, error=f"Timeout after {self._batch.timeout}s", kind="timeout")

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
            self._client.runtime.stop(session.session_id)

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
            if now - self._logged < self._batch.log_interval:
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
        log.info("collected %d, failed %d, active %d, oldest %.0f s", *found[:3], found.oldest)
        if self._batch.progress is not None:
            self._batch.progress(found)


def _item(
    session: BatchSession, *, result: Any = None, error: str | None = None, kind: str = ""
) -> BatchItem:
    return BatchItem(
        success=not kind,
        result=result,
        error=error,
        index=session.index,
        elapsed=time.monotonic() - session.began,
        kind=kind,
        session_id=session.session_id,
    )


def failed_item(session: BatchSession, error: Exception) -> BatchItem:
    """The item of a row whose calls raised."""
    kind = next((name for cls, name in KINDS if isinstance(error, cls)), "service")
    message = str(error) if isinstance(error, RolloutError) else _traced(error)
    return _item(session, error=message, kind=kind)


def _traced(error: Exception) -> str:
    """The traceback of an exception that nobody foresaw, which its caller has to understand."""
    return "".join(format_exception(error, limit=-FRAMES, chain=False))[:LONGEST]
