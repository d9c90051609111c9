"""A batch scored by other processes, so that a sample which blocks costs its own score alone.

    this process            a child, forked before the reward has ever run
    the samples        →    one after another, or in the threads that the reward needs
    what has begun     ←
    what it earned     ←

The child serves batch after batch: what the reward keeps between them lives there. This process
runs none of the reward's code, so nothing the reward does keeps it from answering in time, be it a
sleep, a loop, or C code that holds the interpreter's lock.

| file | holds |
|---|---|
| `forked.py` | a child process, and the messages to and from it |
| `service.py` | what the child does |
| `run.py` | which child scores what, and when a sample counts as blocked |
| `carried_errors.py` | exceptions that were raised in the child |
"""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING, Any

from reward_functions.core.batch import threads_of
from reward_functions.core.errors import DeadlineReached, ProcessEnded
from reward_functions.serving.isolation.forked import ChildEnded, Forked, waited
from reward_functions.serving.isolation.run import SENDING, Run
from reward_functions.serving.isolation.service import Finished, service

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from reward_functions.core.spec import RewardFunction
    from reward_functions.core.types import RewardResult, Sample, Unscored


class Isolation:
    """Scores the batches of one deployment in children.

    Args:
        reward: bound to its parameters.
        calls: functions without arguments that a child can be asked to run, by name. They return
            what can be pickled, and raise a `RewardError`.
        begin: what a child does before its first request.
    """

    def __init__(
        self,
        reward: RewardFunction,
        *,
        calls: Mapping[str, Callable[[], Any]] | None = None,
        begin: Callable[[], object] | None = None,
    ) -> None:
        self._reward = reward
        self._service = service(reward, calls or {}, begin)
        self._idle: Forked | None = None
        self._startup = 0.0

    def score(
        self,
        samples: Sequence[Sample | Unscored],
        *,
        deadline: float,
        workers: int | None = None,
    ) -> list[RewardResult]:
        """As `score_batch` does, by the deadline whatever a sample does.

        Args:
            samples: see `score_batch`.
            deadline: the reading of `time.monotonic()` at which this returns.
            workers: threads; what the reward declares where None.

        Raises:
            OSError: no process can be started; nothing was scored.
        """
        threads = threads_of(self._reward, len(samples), workers)
        run = Run(self._fresh, samples, deadline, threads, self._startup)
        child = self._taken()
        try:
            return run.results(child)
        finally:
            self._startup = run.startup
            self._keep(run.end())

    def call(self, name: str, *, deadline: float | None = None) -> Any:
        """What a function of `calls` returns in the child that scores the next batch.

        Args:
            name: of the function.
            deadline: the reading of `time.monotonic()` at which this returns; None for none.

        Raises:
            DeadlineReached: it did not return in time.
            ProcessEnded: the child ended.
            RewardError: as the function does.
            OSError: no process can be started.
        """
        child = self._taken() or self._fresh()
        began = monotonic()
        try:
            child.ask(name, seconds=SENDING)
            finished = _finished(child, deadline)
        except ChildEnded as ended:
            raise ProcessEnded(f"the process of the reward ended: {ended}") from None
        if finished is None:
            child.end()
            raise DeadlineReached("the reward did not return before the deadline")
        self._startup = self._startup or monotonic() - began
        self._keep(child)
        if finished.error is not None:
            raise finished.error.error()
        return finished.returned

    def end(self) -> None:
        """End the child that waits for a batch, if there is one; the next batch makes another."""
        child, self._idle = self._idle, None
        if child is not None:
            child.end()

    def _fresh(self) -> Forked:
        return Forked(self._service)

    def _taken(self) -> Forked | None:
        """The child that waits, which nobody else has until it is kept again."""
        child, self._idle = self._idle, None
        try:
            if child is not None:
                child.messages()
        except ChildEnded:
            return None
        return child

    def _keep(self, child: Forked | None) -> None:
        """Have an idle child wait for the next batch."""
        if child is not None and self._idle is not None:
            child.end()
        elif child is not None:
            self._idle = child


def _finished(child: Forked, deadline: float | None) -> Finished | None:
    """The end of a call; None where it does not come in time."""
    while True:
        left = None if deadline is None else deadline - monotonic()
        if left is not None and left <= 0:
            return None
        waited([child], left)
        for message in child.messages():
            if isinstance(message, Finished):
                return message
