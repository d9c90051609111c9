"""A pool of calls from this machine: each shard's rows go to the pinned version of the function."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from reward_functions.scoring.folder import Run
    from reward_functions.scoring.scorers import Scorer
    from reward_functions.scoring.shards import Done, Shard, Task

CONCURRENCY: Final = 8


class Direct:
    """Threads that invoke.

    Args:
        concurrency: shards, and calls, at once.
        scorer: who scores a run's rows; its pinned version where not given.
    """

    name = "direct"
    remote = False

    def __init__(
        self, concurrency: int = CONCURRENCY, scorer: Callable[[Run], Scorer] | None = None
    ) -> None:
        self.concurrency = concurrency
        self._scorer = scorer

    def run(self, run: Run, task: Task, shards: Sequence[Shard]) -> Iterator[Done]:
        """As `Engine.run` says."""
        raise NotImplementedError
