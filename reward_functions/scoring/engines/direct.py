"""A pool of calls from this machine: each shard's rows go to the pinned version of the function."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reward_functions.core.errors import ConfigurationError
from reward_functions.scoring.engines import Engine
from reward_functions.scoring.engines.pool import by_threads
from reward_functions.scoring.scorers import scorer_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from reward_functions.scoring.folder import Run
    from reward_functions.scoring.scorers import Scorer
    from reward_functions.scoring.shards import Done, Shard, Task

CONCURRENCY: Final = 8


class Direct(Engine):
    """Threads that invoke.

    Args:
        concurrency: shards, and calls, at once.
        scorer: makes who scores a run's rows; its pinned version where not given.
    """

    name = "direct"
    remote = False

    def __init__(
        self, concurrency: int = CONCURRENCY, scorer: Callable[[Run], Scorer] = scorer_of
    ) -> None:
        self.concurrency = concurrency
        self._scorer = scorer

    def require(self, run: Run, shards: Sequence[Shard]) -> None:  # noqa: ARG002 - of any
        """As `Engine.require` says."""
        if not run.asked.function:
            raise ConfigurationError(
                "--on direct calls a deployed version: add --stage, or name another engine"
            )

    def run(self, run: Run, task: Task, shards: Sequence[Shard]) -> Iterator[Done]:
        """As `Engine.run` says."""
        yield from by_threads(run, task, shards, self._scorer(run), self.concurrency)
