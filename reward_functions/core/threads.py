"""Threads that nobody waits for: a call that is given up does not hold the process back.

`ThreadPoolExecutor` waits for its threads, at the end of its block and again as the process ends. A
judge that never answers would keep you waiting after Ctrl-C.
"""

from __future__ import annotations

from concurrent.futures import Future, wait
from queue import SimpleQueue
from threading import Thread
from time import monotonic
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

T = TypeVar("T")
R = TypeVar("R")


class Threads(Generic[T, R]):
    """A function called from several threads.

    Args:
        function: of one argument.
        count: threads.
    """

    def __init__(self, function: Callable[[T], R], count: int) -> None:
        self._function = function
        self._count = count
        self._queue: SimpleQueue[tuple[T, Future[R]] | None] = SimpleQueue()
        for _ in range(count):
            Thread(target=self._work, daemon=True).start()

    def submit(self, argument: T, future: Future[R] | None = None) -> Future[R]:
        """Call the function when a thread is free.

        Args:
            argument: of the function.
            future: takes the result, for a caller who has to know of it before an interrupt.
        """
        future = future or Future()
        self._queue.put((argument, future))
        return future

    def close(self) -> None:
        """Let each thread end after what it is doing."""
        for _ in range(self._count):
            self._queue.put(None)

    def _work(self) -> None:
        while task := self._queue.get():
            argument, future = task
            if future.set_running_or_notify_cancel():
                try:
                    future.set_result(self._function(argument))
                except BaseException as error:  # noqa: BLE001 - whoever waits for it raises it
                    future.set_exception(error)


def mapped(
    function: Callable[[T], R],
    arguments: Iterable[T],
    count: int,
    *,
    until: float | None = None,
    late: Callable[[T, bool], R] | None = None,
) -> list[R]:
    """The function of each argument, in order.

    Args:
        function: of one argument.
        arguments: one for each call.
        count: threads.
        until: the reading of `time.monotonic()` at which no call is waited for any longer. Its
            thread is left to itself. C code that keeps the interpreter's lock delays this.
        late: answers for a call that has not returned by then; its second argument says whether a
            thread had begun the call.

    Raises:
        BaseException: what a call raised, or an interrupt of the thread that waits; calls that have
            not begun are left out, and the others are not waited for.
    """

    def result(argument: T, future: Future[R]) -> R:
        if until is None or late is None:
            return future.result()
        wait([future], timeout=max(0.0, until - monotonic()))
        if future.cancel():
            return late(argument, False)
        return future.result() if future.done() else late(argument, True)

    given = list(arguments)
    threads = Threads(function, count)
    futures = [threads.submit(each) for each in given]
    try:
        return [result(*each) for each in zip(given, futures, strict=True)]
    finally:
        for future in futures:
            future.cancel()
        threads.close()
