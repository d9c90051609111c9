"""Interpreters on this machine: each reads, scores and writes a shard at a time.

One that a row ends leaves a part that is missing; its shard is done once more with the rows apart,
so that the row harms no other: it alone is without a score. Work that only waits, for a judge's
models or for a version of a function, is done by threads of this process.
"""

from __future__ import annotations

import os
from functools import partial
from math import inf
from typing import TYPE_CHECKING, Any

from reward_functions.core.errors import ConfigurationError
from reward_functions.scoring.engines import Engine
from reward_functions.scoring.engines.pool import by_threads, side_by_side
from reward_functions.scoring.interpreters import Interpreters, serve_orders
from reward_functions.scoring.scorers import scorer_of
from reward_functions.scoring.shard import order_apart, order_of, worked
from reward_functions.scoring.shards import Done

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from reward_functions.judge_runtime.verdict_store import VerdictStore
    from reward_functions.scoring.folder import Run
    from reward_functions.scoring.shards import Shard, Task


class Processes(Engine):
    """Interpreters of this machine, which have the credentials of its environment.

    Args:
        concurrency: of them, and shards at once; as many as the machine's processors where not
            given.
        store: verdicts of a judge that are kept on this machine.
    """

    name = "processes"
    remote = False

    def __init__(self, concurrency: int | None = None, store: VerdictStore | None = None) -> None:
        self.concurrency = concurrency or os.cpu_count() or 1
        self._store = store
        self._interpreters: Interpreters | None = None

    def run(self, run: Run, task: Task, shards: Sequence[Shard]) -> Iterator[Done]:
        """As `Engine.run` says."""
        if run.asked.function or run.asked.judge:
            scorer = scorer_of(run, self._store)
            yield from by_threads(run, task, shards, scorer, self.concurrency)
        else:
            mine = self._interpreters or Interpreters(self.concurrency, "engines.processes")
            self._interpreters = mine
            ordered = partial(_ordered, mine, run, task)
            yield from side_by_side(shards, ordered, self.concurrency, mine.hang_up)

    def close(self) -> None:
        """As `Engine.close` says."""
        if self._interpreters:
            self._interpreters.close()
            self._interpreters = None


def _ordered(
    interpreters: Interpreters, run: Run, task: Task, shard: Shard, left: Callable[[], float]
) -> Done:
    order: dict[str, Any] | None = order_of(run, task, shard)
    why = "interrupted"
    while order and left():
        try:
            return Done.of(interpreters.asked(order))
        except EOFError as error:
            why, order = f"the interpreter that did it ended with {error}", order_apart(order)
        except ConfigurationError as error:  # of the reward's code, which ends itself
            run.stop(str(error))
            why, order = str(error), None
    return Done(shard.part, error=why)


def main() -> None:
    """The work of an interpreter: it does shards, as a worker of a cluster does."""
    serve_orders(lambda _, alone: partial(worked, left=lambda: 0.0 if alone.is_set() else inf))
