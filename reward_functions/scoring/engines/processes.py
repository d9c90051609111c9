"""Interpreters on this machine: a thread reads each shard, and interpreters score its rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

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
        self.count = count

    def run(self, run: Run, task: Task, shards: Sequence[Shard]) -> Iterator[Done]:
        """As `Engine.run` says."""
        raise NotImplementedError
