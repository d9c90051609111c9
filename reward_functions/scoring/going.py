"""A run while an engine does it: counted, scored, and finished; from its beginning or gone on with.

run = go_on(run, engine, hear=print)
"""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, cast

from reward_functions.core.errors import ConfigurationError
from reward_functions.scoring.folder import Run, RunIncomplete, RunNotUsable
from reward_functions.scoring.part import begin_again, done_of
from reward_functions.scoring.prices import bill_of
from reward_functions.scoring.ranges import Counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from reward_functions.scoring.engines import Detachable, Engine
    from reward_functions.scoring.shards import Done, Shard, Task

ATTEMPTS: Final = 3
"""How often a shard is given to an engine that has failed; one whose time was short does not
count."""

ENOUGH: Final = 1_000
"""Rows after which a run ends that has too many without a score."""


class Event(NamedTuple):
    """Something that happened to a run.

    Args:
        kind: "counting" and "scoring" begin a task; "done", "short" and "failed" are of a shard;
            "again" says how many rows are asked again that our failure left without a score.
        task: under way.
        done: of the shard; None where a task begins.
        finished: shards of the task by now.
        shards: of the task in all.
        rows: scored by this start; those that are asked again.
        unscored: of them.
    """

    kind: Literal["counting", "scoring", "done", "short", "failed", "again"]
    task: Task
    done: Done | None
    finished: int
    shards: int
    rows: int
    unscored: int


def unheard(_event: Event) -> None:
    """Nobody listens."""


def go_on(
    run: Run,
    engine: Engine,
    hear: Callable[[Event], object] = unheard,
    *,
    max_usd: float | None = None,
    detach: bool = False,
) -> Run:
    """Score what is missing of a run, on any engine, and write the summary.

    Args:
        run: that has begun.
        engine: as of `Plan.start`.
        hear: as of `Plan.start`.
        max_usd: as of `Plan.start`.
        detach: as of `Plan.start`.

    Raises:
        RunNotUsable, RunIncomplete, ConfigurationError, AwsFailed, OSError: as of `Plan.start`.
    """
    shards = run.shards()
    engine.require(run, shards)
    run.let_go_on()
    if again := begin_again(run):
        hear(Event("again", "score", None, 0, len(shards), again, 0))
    require_affordable(run, shards, max_usd, engine)
    if detach:
        cast("Detachable", engine).detach(run)
        return run
    with closing(engine):
        started = _Started(run, engine, hear)
        started.score(started.numbered(shards))
    run.finish()
    return run


def require_affordable(
    run: Run, shards: Sequence[Shard], max_usd: float | None, engine: Engine
) -> None:
    """Refuse a run that would take more for the rows that are not scored yet.

    Args:
        run: that may not have begun.
        shards: of the run.
        max_usd: dollars; None for any number.
        engine: that would do it.

    Raises:
        ConfigurationError: it would, or nobody knows.
    """
    if max_usd is None:
        return
    missing = run.missing(shards)
    rows = round(run.asked.about * len(missing) / max(1, len(shards))) - done_of(run, missing)
    found = bill_of(run.asked, missing, max(0, rows), machine=engine.name == "aws")
    if found.unpriced:
        raise ConfigurationError(f"--max-usd holds what has a price alone: {found.unpriced}")
    if found.dollars > max_usd:
        raise ConfigurationError(
            f"about {found.dollars:,.2f} dollars for the rows that are not scored, more than "
            f"{max_usd:g}: nothing is begun"
        )


class _Started:
    """A run while an engine does it.

    Args:
        run: the run.
        engine: what does its shards.
        hear: hears what happens.
    """

    def __init__(self, run: Run, engine: Engine, hear: Callable[[Event], object]) -> None:
        self._run, self._engine, self._hear = run, engine, hear
        self.rows = self.unscored = 0

    def numbered(self, shards: Sequence[Shard]) -> Sequence[Shard]:
        """The shards with what stands before each, which is counted where nobody has."""
        if all(shard.row is not None for shard in shards):
            return shards
        counts: dict[int, Counted] = {}
        for done in self._done("count", shards):
            counts[done.part] = Counted(done.lines, done.rows)
        return self._run.number(counts)

    def score(self, shards: Sequence[Shard]) -> None:
        """Score what is missing."""
        for done in self._done("score", self._run.missing(shards)):
            self.rows += done.rows
            self.unscored += done.unscored
            if self.rows >= ENOUGH:
                self._run.require_scored(self.rows, self.unscored)

    def _done(self, task: Task, shards: Sequence[Shard]) -> Iterator[Done]:
        """What came of each shard, once it is done; one that is not is given again.

        Raises:
            RunNotUsable: a line is no row.
            RunIncomplete: shards failed.
        """
        left = {shard.part: shard for shard in shards}
        failures: dict[int, int] = {}
        errors: dict[int, str] = {}
        self._say(task, None, 0, len(shards))
        while left:
            ran: Any = self._engine.run(self._run, task, list(left.values()))
            with closing(ran):  # an error, or an interrupt, ends what is under way
                for done in ran:
                    if done.unusable:
                        raise RunNotUsable(done.unusable)
                    if done.complete:
                        left.pop(done.part, None)
                        errors.pop(done.part, None)
                        yield done
                    elif done.error:
                        self._run.require_open()
                        failures[done.part] = failures.get(done.part, 0) + 1
                        errors[done.part] = done.error
                    self._say(task, done, len(shards) - len(left), len(shards))
            for part, count in failures.items():
                if count >= ATTEMPTS:
                    left.pop(part, None)
        if errors:
            part = min(errors)
            raise RunIncomplete(
                f"{len(errors):,} of {len(shards):,} parts are missing, part {part} since: "
                f"{errors[part]}"
            )

    def _say(self, task: Task, done: Done | None, finished: int, shards: int) -> None:
        if done is None:
            kind: Any = "counting" if task == "count" else "scoring"
        else:
            kind = "failed" if done.error else "done" if done.complete else "short"
        self._hear(Event(kind, task, done, finished, shards, self.rows, self.unscored))
