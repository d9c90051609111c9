"""Progress on standard error, where a person is watching; elsewhere nothing is shown."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Self, TypeVar

from rich import progress as columns

from reward_functions import RewardResult, Sample, Score, Unscored, score_batch
from reward_functions.cli._console import errors
from reward_functions.core.spec import RewardFunction, RewardSpec, spec_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence


Item = TypeVar("Item")

FAST: Final = 10
"""Things a second from which their number has no decimals."""


def scored(
    reward: RewardFunction, samples: Sequence[Sample | Unscored], workers: int
) -> list[RewardResult]:
    """The results of a batch."""
    with _bar("scoring", len(samples)) as advance:
        if advance is None:
            return score_batch(reward, samples, workers=workers)

        return score_batch(_Watched(reward, spec_of(reward), advance), samples, workers=workers)


@dataclass(frozen=True, slots=True)
class _Watched:
    """A reward that advances the bar after each sample; `score_batch` reads its spec."""

    reward: Callable[..., Score]
    spec: RewardSpec | None
    advance: Callable[[int], object]

    def __call__(self, sample: Sample, /, **group: Any) -> Score:
        try:
            return self.reward(sample, **group)
        finally:
            self.advance(1)


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
def counted(
    what: str, total: int | None = None, *, size: bool = False
) -> Iterator[Callable[[int], object]]:
    """A function to call with the number of things, or bytes, done since its last call."""
    with _bar(what, total, size=size) as advance:
        yield advance or (lambda _: None)


class Bars:
    """A bar for each step of a run over a file; what it hears is `scoring.run.Progress`."""

    def __init__(self) -> None:
        self._shown = ExitStack()
        self._what, self._done = "", 0
        self._advance: Callable[[int], object] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._shown.close()

    def __call__(self, what: str, done: int, total: int | None) -> None:
        """Show that so many rows are done."""
        if what != self._what:
            self._shown.close()
            self._what, self._done = what, 0
            shown = what != "writing"  # which is over at once, and other lines come then
            self._advance = self._shown.enter_context(_bar(what, total)) if shown else None
        if self._advance:
            self._advance(done - self._done)
        self._done = done


@contextmanager
def _bar(
    what: str, total: int | None, *, size: bool = False
) -> Iterator[Callable[[int], object] | None]:
    console = errors()
    if not console.is_terminal:
        yield None
        return

    named = columns.TextColumn("{task.description}"), columns.BarColumn()
    amount = columns.DownloadColumn() if size else columns.MofNCompleteColumn()
    left = (columns.TextColumn("{task.fields[rate]}"), columns.TimeRemainingColumn())
    ends = left if total and not size else ()
    with columns.Progress(*named, amount, *ends, console=console, transient=True) as shown:
        task = shown.add_task(what, total=total, rate="")

        def advance(count: int) -> None:
            speed = shown.tasks[0].speed or 0.0
            rate = f"{speed:,.0f}/s" if speed >= FAST else f"{speed:.1f}/s"
            shown.update(task, advance=count, rate=rate if speed else "")

        yield advance
