"""Interpreters on this machine: a thread reads each shard, and interpreters score its rows.

A row that ends an interpreter harms no other: it alone is without a score.
"""

from __future__ import annotations

import os
from contextlib import ExitStack
from typing import TYPE_CHECKING

from reward_functions.scoring.engines.pool import side_by_side
from reward_functions.scoring.shard import Apart, work

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from reward_functions.scoring.folder import Run
    from reward_functions.scoring.shards import Done, Shard, Task


class Processes:
    """Interpreters of this machine.

    Args:
        count: of them; as many as there are processors where not given.
    """

    name = "processes"
    remote = False

    def __init__(self, count: int | None = None) -> None:
        self.count = count or os.cpu_count() or 1

    def run(self, run: Run, task: Task, shards: Sequence[Shard]) -> Iterator[Done]:
        """As `Engine.run` says."""
        with ExitStack() as stack:
            scorer = None
            if task == "score":
                scorer = Apart.of(run, self.count)
                stack.enter_context(scorer.interpreters)

            def done(shard: Shard, left: Callable[[], float]) -> Done:
                return work(run, task, shard, scorer, left=left)

            yield from side_by_side(shards, done, self.count)
