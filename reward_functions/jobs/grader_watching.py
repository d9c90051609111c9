"""The grader's own figures while a job runs: each minute of its log, once, when it is over.

Bedrock's files of figures come at a job's end; what the grader measures of its own answers is in
its log within seconds. A watch that begins late begins with the last minutes, and a job that was
over when the watch began has none: `reward job metrics` shows them all.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from reward_functions.aws.arn import BadArn
from reward_functions.aws.failures import AwsFailed
from reward_functions.jobs.grader_figures import MINUTE, batches, minutes
from reward_functions.jobs.grader_lines import LATE, JobLines

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from boto3.session import Session

    from reward_functions.jobs.job import Job

SHOWN: Final = 5
"""Minutes with which a watch begins at most."""

SETTLED: Final = 10.0
"""Seconds after a minute until its lines are taken for complete; a log lags behind."""

Graded = tuple[tuple[int, "Mapping[str, float]"], ...]
"""Minutes since the job was made, each with its figures by name (`grader_figures`)."""


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
