"""The items of a batch, in the order in which they end.

    for item in client.run_batch(payloads, max_concurrent_sessions=10):
        if item.success:
            train(item.index, item.result["rewards"])

Each `iter` runs the batch anew. Whoever leaves the loop, by `break` or an exception, leaves no
session behind: an iterator that nobody holds stops what runs. An iterator that is kept is closed by
`with`, or by `close`.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Protocol, Self
from weakref import finalize

from reward_functions.rollouts.collect.collecting import Collection
from reward_functions.rollouts.collect.futures import BatchItem, BatchLimits

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from reward_functions.rollouts.collect.collecting import Starter
    from reward_functions.rollouts.collect.futures import Progress

__all__ = ["AsyncBatchResult", "BatchItem", "BatchResult"]


class Client(Protocol):
    """What a batch needs of `RolloutClient`."""

    max_pool_connections: int

    def starter(self, initial: float, longest: float, factor: float) -> Starter:
        """What starts and stops sessions, and how often their results are looked for."""


class Batch:
    """What both forms have; arguments as `RolloutClient.run_batch` has them."""

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
        self.client, self.payloads = client, payloads
        self.max_concurrent, self.timeout, self.log_interval = max_concurrent, timeout, log_interval
        self.initial_interval, self.max_interval = initial_interval, max_interval
        self.backoff_factor = backoff_factor
        self._progress = progress
        self._last: Collection | None = None

    def _begun(self) -> Collection:
        starter = self.client.starter(self.initial_interval, self.max_interval, self.backoff_factor)
        limits = BatchLimits(
            at_once=self.max_concurrent,
            threads=self.client.max_pool_connections,
            timeout=self.timeout,
            log_interval=self.log_interval,
            progress=self._progress,
        )
        self._last = Collection(starter, iter(self.payloads), limits)
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
