"""Progress on standard error, where a person is watching; elsewhere nothing is shown."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

from helpers.cli._console import errors

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from reward_functions import RewardResult, Sample, Score, Unscored
    from reward_functions.core.spec import RewardFunction

Item = TypeVar("Item")


def scored(
    reward: RewardFunction, samples: Sequence[Sample | Unscored], workers: int
) -> list[RewardResult]:
    """The results of a batch."""
    from reward_functions import score_batch

    with _bar("scoring", len(samples)) as advance:
        if advance is None:
            return score_batch(reward, samples, workers=workers)

        def watched(sample: Sample) -> Score:
            try:
                return reward(sample)
            finally:
                advance(1)

        return score_batch(watched, samples, workers=workers)


def watched(items: Iterable[Item], what: str, total: int | None = None) -> Iterator[Item]:
    """The same items, counted while they pass.

    Args:
        items: however many.
        what: is being done, for the bar: "reading".
        total: how many, where that is known.
    """
    with _bar(what, total) as advance:
        for item in items:
            if advance:
                advance(1)
            yield item


@contextmanager
def transfer(what: str, total: int | None = None) -> Iterator[Callable[[int], object]]:
    """Something to tell the bytes that have gone over since it was last told."""
    with _bar(what, total, size=True) as advance:
        yield advance or (lambda _: None)


@contextmanager
def _bar(
    what: str, total: int | None, *, size: bool = False
) -> Iterator[Callable[[int], object] | None]:
    console = errors()
    if not console.is_terminal:
        yield None
        return

    from rich.progress import BarColumn, DownloadColumn, MofNCompleteColumn, Progress, TextColumn

    amount = DownloadColumn() if size else MofNCompleteColumn()
    columns = (TextColumn("{task.description}"), BarColumn(), amount)
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task(what, total=total)
        yield lambda count: progress.advance(task, count)
