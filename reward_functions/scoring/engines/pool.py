"""Threads that do shards side by side, for engines of this machine."""

from __future__ import annotations

from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from math import inf
from threading import Event
from typing import TYPE_CHECKING

from reward_functions.scoring.run import LOOK
from reward_functions.scoring.shard import work

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from reward_functions.scoring.folder import Run
    from reward_functions.scoring.scorers import Scorer
    from reward_functions.scoring.shards import Done, Shard, Task


def side_by_side(
    shards: Sequence[Shard],
    work: Callable[[Shard, Callable[[], float]], Done],
    threads: int,
    broken_off: Callable[[], object] = bool,
) -> Iterator[Done]:
    """The outcome of each shard, as soon as it is known.

    Closing the iterator, as an interrupt does, begins no further shard. Those under way end with
    their batch, and write what they have.

    Args:
        shards: to be done.
        work: does one; it is given what tells how many seconds are left.
        threads: shards at once.
        broken_off: is called before those under way are waited for.
    """
    stop = Event()

    def left() -> float:
        return 0.0 if stop.is_set() else inf

    pool = ThreadPoolExecutor(threads, thread_name_prefix="shard")
    ended = False
    try:
        running = {pool.submit(work, shard, left) for shard in shards}
        while running:
            done, running = wait(running, timeout=LOOK, return_when=FIRST_COMPLETED)
            for future in done:
                yield future.result()
        ended = True
    finally:
        if not ended:
            stop.set()
            broken_off()
        pool.shutdown(wait=True, cancel_futures=True)


def by_threads(
    run: Run, task: Task, shards: Sequence[Shard], scorer: Scorer, threads: int
) -> Iterator[Done]:
    """The outcome of each shard of a run whose rows wait for somebody else.

    Args:
        run: the run.
        task: as of `work`.
        shards: to be done.
        scorer: who scores.
        threads: shards at once.
    """

    def done(shard: Shard, left: Callable[[], float]) -> Done:
        return work(run, task, shard, scorer, left=left)

    yield from side_by_side(shards, done, threads)
