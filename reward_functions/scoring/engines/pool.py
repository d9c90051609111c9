"""Threads that do shards side by side, for engines of this machine."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from reward_functions.scoring.shards import Done, Shard


def side_by_side(
    shards: Sequence[Shard], work: Callable[[Shard], Done], threads: int
) -> Iterator[Done]:
    """What came of each shard, as soon as it is known.

    Closing the iterator begins no further shard, and waits for those under way.
    """
    pool = ThreadPoolExecutor(threads, thread_name_prefix="shard")
    try:
        for future in as_completed([pool.submit(work, shard) for shard in shards]):
            yield future.result()
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
