"""The progress of a run: done and to do, how fast, what they earn, what went wrong, time left."""

from __future__ import annotations

from collections import Counter
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from reward_functions.cli._console import errors
from reward_functions.core.means import mean

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from reward_functions.rollouts.drive.records import RolloutRecord


class Course:
    """What a run has come to so far.

    Args:
        clock: seconds.
    """

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock, self._began = clock, clock()
        self._rewards: list[float] = []
        self.statuses: Counter[str] = Counter()

    def add(self, record: RolloutRecord) -> None:
        """Count one that has ended."""
        self.statuses[record.status] += 1
        if record.reward is not None:
            self._rewards.append(record.reward)

    @property
    def words(self) -> str:
        """It in a few words."""
        done = self.statuses.total()
        seconds = max(self._clock() - self._began, 1e-9)
        parts = [f"{done / seconds:.1f}/s"]
        if self._rewards:
            parts.append(f"mean reward {mean(self._rewards):.3f}")
        parts += [
            f"{status} {count:,}"
            for status, count in self.statuses.items()
            if status != "rewarded" and count
        ]
        return " · ".join(parts)


@contextmanager
def watching(total: int) -> Iterator[Callable[[RolloutRecord], object]]:
    """A function to call with each record; a person at a terminal sees a bar."""
    course, console = Course(), errors()
    if not console.is_terminal:
        yield course.add
        return

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[words]}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("rollouts", total=total, words="")

        def show(record: RolloutRecord) -> None:
            course.add(record)
            progress.update(task, advance=1, words=course.words)

        yield show
