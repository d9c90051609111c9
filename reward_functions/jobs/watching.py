"""A job followed until it ends: one observation whenever the service was asked.

The service's own record is all that a watch knows, so that any number of people can watch one job,
and a watch that was killed begins again where the record is. A service that cannot be asked is
asked again, for as long as the watch's patience lasts. The status rests on the job alone: where
events or figures cannot be read, the watch says so once and goes on.

Bedrock's files of figures come at a job's end; what the grader measures of its own answers is in
its log within seconds, and is shown each minute once it is over. A watch that begins late begins
with the last minutes, and a job that was over when the watch began has none: `reward job metrics`
shows them all.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from math import ceil
from random import random
from typing import TYPE_CHECKING, Final, Literal, TypeVar

from reward_functions.aws.arn import BadArn
from reward_functions.aws.failures import AwsFailed
from reward_functions.jobs.figures import TOTAL
from reward_functions.jobs.grader_log import LATE, MINUTE, JobLines, batches, minutes
from reward_functions.jobs.job import Driver, Job, JobEvent, MetricPoint, NoSuchJob
from reward_functions.jobs.tags import tag

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping

    from boto3.session import Session


SHOWN: Final = 5
"""Minutes with which a watch begins at most."""

SETTLED: Final = 10.0
"""Seconds after a minute until its lines are taken for complete; a log lags behind."""

Graded = tuple[tuple[int, "Mapping[str, float]"], ...]
"""Minutes since the job was made, each with its figures by name (`grader_log`)."""


@dataclass(slots=True)
class GraderWatch:
    """Reads a grader's log for one watch.

    Args:
        session: boto3's; the caller's own where not given.
    """

    session: Session | None = None
    _following: int | None = None
    _asked: datetime | None = None
    _ended: bool = False

    def look(self, job: Job, now: datetime) -> tuple[Graded, str]:
        """The minutes that are over since the last look, and why they could not be read."""
        begins = self._asked is None
        if self._ended or not job.grader or (begins and job.over):
            return (), ""
        if self._asked and not job.over and (now - self._asked).total_seconds() < MINUTE:
            return (), ""
        self._asked = now
        try:
            return self._read(job, now), ""
        except BadArn:
            self._ended = True
        except AwsFailed as error:
            self._ended = error.denied
            if not error.missing:  # a function has no log before it was first invoked
                return (), f"the grader's own figures: {error} (--no-grader leaves them out)"
        return (), ""

    def _read(self, job: Job, now: datetime) -> Graded:
        until = (job.ended or now) - job.created
        over = int((until - timedelta(seconds=SETTLED)).total_seconds() // MINUTE)
        if job.over:
            over = int((until + LATE).total_seconds() // MINUTE) + 1
        first = max(0, over - SHOWN) if self._following is None else self._following
        if first >= over:
            return ()
        since = job.created + timedelta(seconds=first * MINUTE)
        lines = JobLines(job, now, self.session, since=since)
        found = minutes(batches(lines, job))
        self._following = over
        return tuple((minute, found[minute]) for minute in found if first <= minute < over)


Item = TypeVar("Item")

MAX_DIGITS: Final = 9
"""Of a number of prompts in a tag, which anybody may have written."""

Ending = Literal["over", "deleted", "lost"]


@dataclass(frozen=True, slots=True)
class Polling:
    """How often a service is asked.

    Args:
        shortest: seconds after an observation that brought something.
        longest: seconds at most between two questions.
        growth: the factor by which the wait grows while nothing happens.
        jitter: the share by which a wait is longer or shorter by chance, so that many watchers do
            not ask at once.
        patience: seconds without an answer after which the watch gives up.
    """

    shortest: float = 5.0
    longest: float = 60.0
    growth: float = 1.5
    jitter: float = 0.2
    patience: float = 3_600.0

    def wait(self, idle: int) -> float:
        """Seconds to wait after so many observations that brought nothing."""
        grown = min(self.longest, self.shortest * self.growth ** min(idle, 50))
        return grown * (1 + self.jitter * (2 * random() - 1))  # noqa: S311 - no secret


@dataclass(frozen=True, slots=True)
class Observation:
    """The news of one look at a job.

    Args:
        job: as it is now; as it was last seen where `trouble` says that it could not be asked.
        at: when.
        step: the last one that has a figure; None before the first.
        total: steps that there will be; None where nobody says.
        points: figures that were not there before.
        events: events that were not there before, oldest first.
        graded: minutes of the grader's own figures that were not there before.
        trouble: why something could not be read; "" where all could.
        ending: why nothing follows; None where something does.
    """

    job: Job
    at: datetime
    step: int | None = None
    total: int | None = None
    points: tuple[MetricPoint, ...] = ()
    events: tuple[JobEvent, ...] = ()
    graded: Graded = ()
    trouble: str = ""
    ending: Ending | None = None

    @property
    def elapsed(self) -> float:
        """Seconds since the job was made, until it ended."""
        return ((self.job.ended or self.at) - self.job.created).total_seconds()


@dataclass(slots=True)
class _Record:
    """What a watch of one job has shown."""

    driver: Driver
    grader: GraderWatch | None
    points: set[Hashable] = field(default_factory=set)
    events: set[Hashable] = field(default_factory=set)
    troubles: set[str] = field(default_factory=set)
    step: int | None = None
    total: int | None = None

    def look(self, job: Job, at: datetime) -> Observation:
        """Read what is there beside the job; the last look comes after its end, so it sees all."""
        points, cannot = _readable(self.driver.metrics, job)
        events, cannot_either = _readable(self.driver.events, job)
        graded, unread = self.grader.look(job, at) if self.grader else ((), "")
        for point in points:
            if point.name == TOTAL:
                self.total = int(point.value)
            self.step = max(self.step or 0, point.step)
        self.total = self.total or planned_steps(job)
        troubles = [each for each in (cannot, cannot_either) if each not in self.troubles]
        self.troubles = {cannot, cannot_either}
        return Observation(
            job,
            at,
            step=self.step,
            total=self.total,
            points=_new(points, self.points, lambda each: (each.split, each.name, each.step)),
            events=_new(events, self.events, lambda each: each.id),
            graded=graded,
            trouble="; ".join(filter(None, [*troubles, unread])),
            ending="over" if job.over else None,
        )

    def unanswered(
        self, job: Job, at: datetime, trouble: str, ending: Ending | None
    ) -> Observation:
        """The job as it was last seen."""
        return Observation(
            job, at, step=self.step, total=self.total, trouble=trouble, ending=ending
        )


def _now() -> datetime:
    return datetime.now(UTC)


def watch(
    job: Job,
    driver: Driver,
    polling: Polling | None = None,
    *,
    grader: GraderWatch | None = None,
    clock: Callable[[], datetime] = _now,
    sleep: Callable[[float], object] = time.sleep,
) -> Iterator[Observation]:
    """Follow a job.

    Args:
        job: as `Driver.get` gave it.
        driver: of its service.
        polling: how often it is asked.
        grader: reads the grader's own figures; None leaves them out.
        clock: the time, with its zone.
        sleep: waits so many seconds.

    Yields:
        first all that the service's record holds, then all that is new; the last one has an
        `ending`. An observation without anything new is yielded as well, so that a display can show
        the time.

    Raises:
        AwsFailed: the service will never answer this caller: a permission is missing.
    """
    polling = polling or Polling()
    record = _Record(driver, grader)
    answered, idle, status = clock(), 0, (job.status, job.phase)
    while True:
        try:
            job = driver.get(job.id)
        except NoSuchJob:
            yield record.unanswered(job, clock(), "the job was deleted", "deleted")
            return
        except AwsFailed as error:
            if error.denied:
                raise
            now = clock()
            lost = (now - answered).total_seconds() >= polling.patience
            yield record.unanswered(job, now, str(error), "lost" if lost else None)
            if lost:
                return
            idle += 1
        else:
            answered = clock()
            seen = record.look(job, answered)
            yield seen
            if job.over:
                return
            changed = status != (job.status, job.phase)
            idle = 0 if changed or seen.points or seen.events else idle + 1
            status = (job.status, job.phase)
        sleep(polling.wait(idle))


def _readable(read: Callable[[Job], Iterable[Item]], job: Job) -> tuple[list[Item], str]:
    """What can be read, and why the rest cannot."""
    found: list[Item] = []
    try:
        found.extend(read(job))
    except (AwsFailed, NoSuchJob) as error:
        return found, str(error)
    return found, ""


def _new(
    items: Iterable[Item], shown: set[Hashable], key: Callable[[Item], Hashable]
) -> tuple[Item, ...]:
    fresh = {key(each): each for each in items if key(each) not in shown}
    shown.update(fresh)
    return tuple(fresh.values())


def planned_steps(job: Job) -> int | None:
    """Steps of a job by its own settings: its prompts in batches, once for each epoch.

    Returns:
        None where the job does not say its prompts (in our tags), its batch or its epochs.
    """
    prompts = tag(job.tags, "rows")
    batch, epochs = (job.hyperparameters.get(name) for name in ("batchSize", "epochCount"))
    if not (prompts.isdecimal() and isinstance(batch, int | float) and isinstance(epochs, int)):
        return None
    if len(prompts) > MAX_DIGITS or batch < 1:
        return None
    return epochs * ceil(int(prompts) / batch)
