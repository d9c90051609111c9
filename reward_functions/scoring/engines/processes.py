"""Interpreters on this machine: a thread reads each shard, and interpreters score its rows.

A row that ends an interpreter harms no other: it alone is without a score. A judge's rows wait for
its models in threads; those of a run that pins a version of a function are scored by that.
"""

from __future__ import annotations

import os
from contextlib import ExitStack
from typing import TYPE_CHECKING

from reward_functions.scoring.engines.pool import side_by_side
from reward_functions.scoring.scorers import Apart, scorer_of
from reward_functions.scoring.shard import work

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from reward_functions.judge_runtime.verdict_store import VerdictStore
    from reward_functions.scoring.folder import Run
    from reward_functions.scoring.scorers import Scorer
    from reward_functions.scoring.shards import Done, Shard, Task


class Processes:
    """Interpreters of this machine.

    Args:
        concurrency: of them, and shards at once; as many as there are processors where not given.
        store: verdicts of a judge that are kept on this machine.
    """

    name = "processes"
    remote = False

    def __init__(self, concurrency: int | None = None, store: VerdictStore | None = None) -> None:
        self.concurrency = concurrency or os.cpu_count() or 1
        self._store = store

    def run(self, run: Run, task: Task, shards: Sequence[Shard]) -> Iterator[Done]:
        """As `Engine.run` says."""
        with ExitStack() as stack:
            scorer: Scorer | None = None
            if task == "score":
                if run.asked.function or run.asked.judge:
                    scorer = scorer_of(run, self._store)
                else:
                    scorer = apart = Apart.of(run, self.concurrency)
                    stack.enter_context(apart.interpreters)

            def done(shard: Shard, left: Callable[[], float]) -> Done:
                return work(run, task, shard, scorer, left=left)

            yield from side_by_side(shards, done, self.concurrency)
