"""Work after an answer: begun at once or a little later, in a context of its own, never lost.

A trainer waits seconds for an agent's answer and minutes for its reward, so an agent answers first
and acts after the answer. Two bounds keep a burst from ending the process: so much work runs at a
time, and so much more waits. Work beyond both is refused in a type that a server answers with 503,
so that the trainer gets to know.

| work | runs |
| --- | --- |
| a function | on a daemon thread of a pool |
| a coroutine function | on one event loop, in a thread of its own: async clients can be shared |

Either runs in a copy of its caller's context, and is referred to until it ends: the event loop
alone would let a task be collected as garbage while it waits. Its exception is logged by its type,
and is in its future for the waiting caller.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from concurrent.futures import Future
from contextlib import contextmanager
from contextvars import Context, ContextVar, copy_context
from dataclasses import dataclass, field
from functools import partial
from inspect import iscoroutinefunction
from queue import SimpleQueue
from threading import Condition, Event, Thread
from typing import TYPE_CHECKING, Any, Final

from reward_functions.rollouts.request.clock import steady
from reward_functions.rollouts.request.errors import TooBusy

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterator

WORKERS: Final = 64
"""Episodes that run at a time; they wait for the policy most of it."""

WAITING: Final = 4096
"""Episodes that wait behind them: a step of the managed trainer at its limits, 128 prompts with 32
rollouts each ("MTRL hyperparameters" of the SageMaker developer guide)."""

handed_in: ContextVar[float | None] = ContextVar("rollout_handed_in", default=None)
"""When the work that runs here was handed in, in seconds since the epoch: its window runs since
then. None outside any `Background`."""

_log = logging.getLogger(__name__)


def is_async(work: Callable[..., Any]) -> bool:
    """Whether a call of it gives a coroutine: a coroutine function, or an object that calls one."""
    return iscoroutinefunction(work) or iscoroutinefunction(getattr(work, "__call__", None))  # noqa: B004


@dataclass(eq=False, slots=True)
class _Job:
    call: Callable[[], Any]
    context: Context
    future: Future[Any] = field(default_factory=Future)

    @property
    def is_async(self) -> bool:
        function = self.call.func if isinstance(self.call, partial) else self.call
        return is_async(function)


class Place:
    """A place for one piece of work, which nobody else gets meanwhile.

    Attributes:
        used: whether work runs in it.
    """

    def __init__(self, accept: Callable[[_Job], None], taken: float) -> None:
        self._accept = accept
        self._taken = taken
        self.used = False

    def run(self, work: Callable[..., Any], /, *arguments: Any, **named: Any) -> Future[Any]:
        """Run work in the background; its future is cancelled where the process ends."""
        job = _Job(partial(work, *arguments, **named), copy_context())
        job.context.run(handed_in.set, self._taken)
        self.used = True
        self._accept(job)
        return job.future


class Background:
    """Runs work after an answer; shared by threads.

    Args:
        workers: that run at a time.
        waiting: that may wait to run.
        clock: seconds since the epoch.
    """

    def __init__(
        self,
        workers: int = WORKERS,
        *,
        waiting: int = WAITING,
        clock: Callable[[], float] = steady,
    ) -> None:
        if workers < 1 or waiting < 0:
            raise ValueError("a background has one worker or more, and 0 places to wait or more")
        self._limit = workers
        self._places = waiting
        self._clock = clock
        self._changed = Condition()
        self._waiting: deque[_Job] = deque()
        self._running: set[_Job] = set()
        self._ready: SimpleQueue[_Job | None] = SimpleQueue()
        self._held = 0
        self._threads = 0
        self._idle = 0
        self._loop: _Loop | None = None
        self._closed = False
        self._since = clock()

    def run(self, work: Callable[..., Any], /, *arguments: Any, **named: Any) -> Future[Any]:
        """Run work in the background; its result or exception is in the future.

        Raises:
            TooBusy: as much runs and waits as may, or it is closed.
        """
        with self.place() as place:
            return place.run(work, *arguments, **named)

    @contextmanager
    def place(self) -> Iterator[Place]:
        """A place for work, for a block that makes something durable before it runs the work.

        Raises:
            TooBusy: as `run` does.
        """
        with self._changed:
            if self._closed:
                raise TooBusy("the agent is ending: it takes no new work")
            if self.busy >= self._limit + self._places:
                raise TooBusy(f"{len(self._running)} episodes run and {len(self._waiting)} wait")
            if not self.busy:
                self._since = self._clock()
            self._held += 1
        place = Place(self._accept, self._clock())
        try:
            yield place
        finally:
            if not place.used:
                with self._changed:
                    self._held -= 1
                    self._settle()

    def _accept(self, job: _Job) -> None:
        """Turn a place into work that waits."""
        with self._changed:
            self._held -= 1
            self._waiting.append(job)
            if self._closed:
                self._drop()
            self._begin()

    @property
    def busy(self) -> int:
        """How much work runs or waits."""
        return len(self._running) + len(self._waiting) + self._held

    @property
    def free(self) -> int:
        """How much more would run at once, and not wait."""
        return max(0, self._limit - self.busy)

    @property
    def since(self) -> float:
        """When it became busy, or idle, in seconds since the epoch."""
        return self._since

    def join(self, timeout: float | None = None) -> bool:
        """Wait until nothing runs and nothing waits, so many seconds at most, and say whether."""
        with self._changed:
            return self._changed.wait_for(lambda: not self.busy, timeout)

    def close(self) -> None:
        """Take no more work: drop what waits, cancel coroutines, leave threads to themselves."""
        with self._changed:
            self._closed = True
            for _ in range(self._threads):
                self._ready.put(None)
            self._drop()
        if self._loop is not None:
            self._loop.close()

    def _drop(self) -> None:
        """Give up what waits; the lock is held."""
        dropped, self._waiting = self._waiting, deque()
        for job in dropped:
            job.future.cancel()
        if dropped:
            _log.warning("%d accepted episodes did not begin", len(dropped))
        self._settle()

    def _settle(self) -> None:
        """Let whoever waits know that something has ended; the lock is held."""
        if not self.busy:
            self._since = self._clock()
        self._changed.notify_all()

    def _begin(self) -> None:
        """Begin what may; the lock is held."""
        while self._waiting and len(self._running) < self._limit:
            job = self._waiting.popleft()
            if not job.future.set_running_or_notify_cancel():
                continue
            self._running.add(job)
            if job.is_async:
                self._loop = self._loop or _Loop()
                self._loop.start(self._awaited(job), job.context)
                continue
            if self._idle:
                self._idle -= 1
            else:
                self._threads += 1
                Thread(target=self._work, name="rollout-background", daemon=True).start()
            self._ready.put(job)

    def _work(self) -> None:
        """The life of a thread."""
        while job := self._ready.get():
            with self._ending(job, idle=1):
                job.future.set_result(job.context.run(job.call))

    async def _awaited(self, job: _Job) -> None:
        """The life of a task, in its job's context."""
        with self._ending(job):
            job.future.set_result(await job.call())

    @contextmanager
    def _ending(self, job: _Job, idle: int = 0) -> Iterator[None]:
        """A job, to its end, whatever that is; the next one begins behind it."""
        try:
            yield
        except BaseException as error:  # noqa: BLE001 - an agent's code, which may even call sys.exit
            job.future.set_exception(error)
            _log.error("work after an answer ended by %s", type(error).__name__)
        finally:
            with self._changed:
                self._running.discard(job)
                self._idle += idle
                self._begin()
                self._settle()


class _Loop:
    """An event loop in a thread; its tasks are referred to until they end."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._tasks: set[asyncio.Task[None]] = set()
        self._ended = Event()
        self._thread = Thread(target=self._run, name="rollout-event-loop", daemon=True)
        self._thread.start()

    def start(self, work: Coroutine[Any, Any, None], context: Context) -> None:
        """Begin a coroutine in a context."""

        def begin() -> None:
            task = self._loop.create_task(work, context=context)
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

        self._loop.call_soon_threadsafe(begin)

    def close(self, seconds: float = 5.0) -> None:
        """Cancel what runs, and end behind it; a task that will not end is left to the process."""
        if self._ended.is_set():
            return
        asyncio.run_coroutine_threadsafe(self._stop(), self._loop)
        self._thread.join(seconds)

    async def _stop(self) -> None:
        # A task's own first step comes before this one: none is cancelled that has not begun.
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._loop.stop()

    def _run(self) -> None:
        self._loop.run_forever()
        self._ended.set()
        self._loop.run_until_complete(self._loop.shutdown_asyncgens())
        self._loop.close()
