"""The lines of a grader's log that belong to one job: of exactly its version, and its span.

The name of a log stream carries the version, `YYYY/MM/DD/[VERSION]ID` (docs.aws.amazon.com/lambda/
latest/dg, "monitoring-cloudwatchlogs-view"). The span begins when the job was made, and so after
the invocations of its preflight; it ends some seconds after the job. All times are AWS's. A whole
second is a rounded one, and the next one begins the span. Whoever else asks the same version within
the span cannot be told apart: a trainer's invocations carry no name of a job.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from reward_functions.aws.arn import FunctionArn
from reward_functions.aws.calls import client as control_plane
from reward_functions.aws.deployed.versions import LATEST
from reward_functions.aws.failures import in_words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from boto3.session import Session

    from reward_functions.jobs.job import Job

PAGE: Final = 10_000
"""Lines of an answer at most (botocore's model of logs: `EventsLimit`)."""

MAX_PAGES: Final = 500
"""Answers that are read for one pattern: five million lines."""

SECOND: Final = timedelta(seconds=1)
"""What a service that says whole seconds leaves open: its job may be so much younger."""

LATE: Final = timedelta(seconds=5)
"""After a job: a report is written when its invocation has ended, which the job need not await."""


class LogLine(NamedTuple):
    """One line: when it was written, and its words."""

    at: datetime
    message: str


class JobLines:
    """Reads a grader's log for one job.

    Args:
        job: with its grader.
        now: the end of the span of a job that has not ended.
        session: boto3's; the caller's own where not given.
        progress: called with the number of lines of each answer.
        since: a later begin of the span; the job's own where not given.

    Attributes:
        begin: of the span.
        end: of the span.
        complete: whether everything asked for was read so far.

    Raises:
        BadArn: the job does not say which function it asks.
    """

    def __init__(
        self,
        job: Job,
        now: datetime,
        session: Session | None = None,
        progress: Callable[[int], object] = lambda _: None,
        *,
        since: datetime | None = None,
    ) -> None:
        self.arn = FunctionArn.parse(job.grader)
        begin = job.created if job.created.microsecond else job.created + SECOND
        self.begin = max(begin, since or begin)
        self.end = job.ended + LATE if job.ended else now
        self.complete = True
        self._stream = f"[{self.arn.qualifier or LATEST}]"
        self._client = control_plane("logs", self.arn.region, session)
        self._progress = progress

    def matching(self, *patterns: str) -> Iterator[LogLine]:
        """The lines that fit one of the patterns, each once; by pattern, then by time.

        Args:
            patterns: in the language of filters of CloudWatch Logs; a call for each.

        Raises:
            AwsFailed: there is no log, or it may not be read (`logs:FilterLogEvents`).
        """
        shown: set[int] = set()
        for pattern in patterns:
            for page in self._pages(pattern):
                self._progress(len(page))
                for line in page:
                    key = _key(line)
                    if key not in shown and self._own(str(line.get("logStreamName"))):
                        shown.add(key)
                        yield from _line(line)

    def _own(self, stream: str) -> bool:
        """Whether the version writes a stream: `2026/11/23/[3]1f…`, or with its function's name.

        Lambda puts the name there where the group is not the function's default one ("Configuring
        CloudWatch log groups" in the Lambda developer guide).
        """
        function = stream.rpartition("/")[2].partition("[")[0]
        return self._stream in stream and function in {"", self.arn.name}

    def _pages(self, pattern: str) -> Iterator[list[dict[str, Any]]]:
        """Answers; where one is cut, the next may repeat lines of its last moment."""
        asked = {
            "logGroupName": self.arn.log_group,
            "startTime": _milliseconds(self.begin),
            "endTime": _milliseconds(self.end),
            "filterPattern": pattern,
            "limit": PAGE,
        }
        for _ in range(MAX_PAGES):
            with in_words(f"reading the log of {self.arn.name}"):
                answer = self._client.filter_log_events(**asked)
            lines, token = answer.get("events") or [], answer.get("nextToken")
            yield lines
            if token:
                asked["nextToken"] = token
            elif len(lines) >= PAGE:  # the local emulator cuts a long answer, and names no next one
                last = lines[-1]["timestamp"]
                stuck = lines[0]["timestamp"] == last
                asked["startTime"] = last + stuck
            else:
                return
        self.complete = False


def _milliseconds(moment: datetime) -> int:
    return int(moment.timestamp() * 1000)


def _key(line: dict[str, Any]) -> int:
    """What tells lines apart; the emulator's have no `eventId`."""
    named = ("eventId",) if line.get("eventId") else ("timestamp", "logStreamName", "message")
    return hash(tuple(line.get(name) for name in named))


def _line(line: dict[str, Any]) -> Iterator[LogLine]:
    """The line as far as it is one."""
    try:
        yield LogLine(datetime.fromtimestamp(line["timestamp"] / 1000, UTC), str(line["message"]))
    except (KeyError, ValueError, TypeError, OverflowError, OSError):
        return
