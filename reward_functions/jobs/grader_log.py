"""Read the log of a grader for one job: its figures by minute, its errors, its endings.

The lines are those of exactly the job's version and its span. The name of a log stream carries the
version, `YYYY/MM/DD/[VERSION]ID` (docs.aws.amazon.com/lambda/latest/dg,
"monitoring-cloudwatchlogs-view"). The span begins when the job was made, and so after the
invocations of its preflight; it ends some seconds after the job. All times are AWS's. A whole
second is a rounded one, and the next one begins the span. Another caller of the same version within
the span cannot be told apart: a trainer's invocations carry no name of a job.

A function of this project writes one set of metrics a batch in CloudWatch's embedded format
(`serving.observability`). Means, shares and standard deviations of several batches are those of
all their samples. Lambda itself writes in two formats how an invocation ended:

    text   REPORT RequestId: … Duration: 3000.00 ms … Max Memory Used: 84 MB  Status: timeout
           [ERROR] ValueError: …          RequestId: … Error: Task timed out after 3.00 seconds
    JSON   {"type": "platform.report", "record": {"status": "timeout", "metrics": {…}}}
           {"level": "ERROR", "message": …, "errorType": …, "errorMessage": …}

Sources: "Log and monitor Python Lambda functions" and the "Telemetry API event schema" in the
Lambda developer guide; "Filter pattern syntax" in the CloudWatch Logs user guide.
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from math import fsum, sqrt
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from reward_functions.aws.arn import FunctionArn
from reward_functions.aws.calls import NO_ANSWER, OF_SERVICES
from reward_functions.aws.calls import client as control_plane
from reward_functions.aws.deployed.versions import LATEST
from reward_functions.aws.failures import in_words
from reward_functions.core.means import mean, weighted_mean
from reward_functions.jobs.figures import LARGEST, Series

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

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
                    if key not in shown and self._own(line["logStreamName"]):
                        shown.add(key)
                        at = datetime.fromtimestamp(line["timestamp"] / 1000, UTC)
                        yield LogLine(at, line["message"])

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
            with in_words(f"reading the log of {self.arn.name}", OF_SERVICES):
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


EMBEDDED: Final = "{ $._aws.Timestamp > 0 }"
"""Lines in the embedded format, in the language of filters of CloudWatch Logs."""

MINUTE: Final = 60.0


@dataclass(frozen=True, slots=True)
class Batch:
    """One invocation, as the function measured it.

    Args:
        at: seconds since the job was made.
        samples: in the batch.
        unscored: that the function could not score; by its default they get their group's mean.
        bad_references: whose row or reference nobody can use; they get the minimum.
        milliseconds: from the event to the response.
        mean: of the rewards; None where nothing was scored.
        at_minimum: the share of the rewards that are the scale's minimum.
        std: the standard deviation of the rewards; 0 of a single one.
    """

    at: float
    samples: float
    unscored: float
    bad_references: float
    milliseconds: float
    mean: float | None
    at_minimum: float
    std: float

    @property
    def scored(self) -> float:
        """Samples with a reward of their own."""
        return max(0.0, self.samples - self.unscored - self.bad_references)


@dataclass(frozen=True, slots=True)
class GraderFigures:
    """What was read.

    Args:
        batches: in the order of the log.
        complete: whether all lines were read.
    """

    batches: tuple[Batch, ...]
    complete: bool = True


def read(
    job: Job,
    now: datetime,
    session: Session | None = None,
    progress: Callable[[int], object] = lambda _: None,
) -> GraderFigures:
    """Read the metrics that the grader wrote while the job ran.

    Args:
        job: with its grader.
        now: where the job has not ended.
        session: boto3's; the caller's own where not given.
        progress: called with the number of lines of each answer.

    Raises:
        AwsFailed: the log cannot be read: it does not exist yet, or `logs:FilterLogEvents` is
            missing.
        BadArn: the job does not say which function it asks.
    """
    log = JobLines(job, now, session, progress)
    return GraderFigures(tuple(batches(log, job)), log.complete)


def batches(log: JobLines, job: Job) -> Iterator[Batch]:
    """The batches of a log, in its order; lines that are none of ours are passed over.

    Raises:
        AwsFailed: the log cannot be read.
    """
    return filter(None, (_batch(line, job.created) for line in log.matching(EMBEDDED)))


def _batch(line: LogLine, created: datetime) -> Batch | None:
    """One line of the log; None of a line that is broken, or not ours."""
    try:
        written = json.loads(line.message)
    except (ValueError, RecursionError):
        return None
    if (
        not isinstance(written, dict)
        or "_aws" not in written
        or _figure(written, "samples") is None
    ):
        return None
    return Batch(
        at=(line.at - created).total_seconds(),
        samples=_figure(written, "samples") or 0.0,
        unscored=_figure(written, "unscored") or 0.0,
        bad_references=_figure(written, "bad_references") or 0.0,
        milliseconds=_figure(written, "milliseconds") or 0.0,
        mean=_figure(written, "reward_mean"),
        at_minimum=_figure(written, "frac_reward_min") or 0.0,
        std=_figure(written, "reward_std") or 0.0,
    )


def _figure(written: dict[str, Any], name: str) -> float | None:
    """A metric of a line: Powertools writes a list of one value, others the value."""
    value = written.get(name)
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if abs(value) <= LARGEST else None


def minutes(found: Iterable[Batch]) -> dict[int, dict[str, float]]:
    """The figures of each minute since the job was made, in order; batches of one are pooled."""
    grouped: dict[int, list[Batch]] = defaultdict(list)
    for batch in found:
        grouped[int(batch.at // MINUTE)].append(batch)
    return {minute: _pooled(some) for minute, some in sorted(grouped.items())}


def by_minute(found: Iterable[Batch]) -> list[Series]:
    """The grader's series, at the minutes since the job was made."""
    rows = minutes(found)
    names = list(dict.fromkeys(name for row in rows.values() for name in row))
    return [
        Series(
            name,
            "grader",
            "minute",
            tuple((minute, row[name]) for minute, row in rows.items() if name in row),
        )
        for name in names
    ]


def _pooled(found: list[Batch]) -> dict[str, float]:
    """The figures of several batches taken as one."""
    scored = [(each, each.mean) for each in found if each.mean is not None and each.scored]
    rewards = fsum(each.scored for each, _ in scored)
    figures: dict[str, float] = {}
    if rewards:
        middle = weighted_mean([of for _, of in scored], [each.scored for each, _ in scored])
        square = fsum(each.scored * (each.std**2 + (of - middle) ** 2) for each, of in scored)
        figures = {
            "reward_mean": middle,
            "reward_std": sqrt(square / rewards),
            "frac_reward_min": fsum(each.scored * each.at_minimum for each, _ in scored) / rewards,
        }
    samples = fsum(each.samples for each in found)
    unscored = fsum(each.unscored for each in found)
    return figures | {
        "samples": samples,
        "batches": float(len(found)),
        "unscored": unscored,
        "unscored_share": unscored / samples if samples else 0.0,
        "bad_references": fsum(each.bad_references for each in found),
        "milliseconds": mean([each.milliseconds for each in found]),
    }


QUERIES: Final = ("ERROR", '"Task timed out"', '"Runtime exited"', "REPORT", '"platform.report"')
"""Filter patterns, one call each: a term, or a phrase in quotes."""

ERRORS: Final = 5
"""Different errors that are kept."""

SHOWN: Final = 300
"""Characters of an error that are kept; what follows is a stack trace."""

NUMBERS: Final = (
    re.compile(r"(?<!Billed )(?<!Init )\bDuration: ([0-9]{1,9}(?:\.[0-9]{1,9})?) ms"),
    re.compile(r"\bMax Memory Used: ([0-9]{1,6}) MB"),
    re.compile(r"\bMemory Size: ([0-9]{1,6}) MB"),
)
"""Of a REPORT line: milliseconds, megabytes used, megabytes there are."""

STATUS: Final = re.compile(r"\bStatus: ([a-z]{1,20})")
ERROR_TYPE: Final = re.compile(r"\bError Type: ([A-Za-z0-9_.]{1,80})")
REQUEST: Final = re.compile(r"(?:RequestId: )?[0-9a-f]{8}-[0-9a-f-]{27}[:\s]*")
STAMP: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]{8,15}Z\s*")


@dataclass(slots=True)
class GraderLog:
    """The log's facts about a job's invocations.

    Args:
        invocations: that ended, as far as they are reported.
        endings: how often each ended otherwise than well: "timeout", or an error's type.
        errors: the first lines of errors, by how often.
        seconds: the longest invocation.
        memory_used: megabytes at most.
        memory_size: megabytes that the function has; 0 where nothing was reported.
        complete: whether every line was read.
    """

    invocations: int = 0
    endings: Counter[str] = field(default_factory=Counter)
    errors: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0
    memory_used: float = 0.0
    memory_size: float = 0.0
    complete: bool = True

    def report(self, ending: str, numbers: Sequence[float]) -> None:
        """Count one invocation that ended: milliseconds, megabytes used, megabytes there are."""
        milliseconds, used, size = numbers
        self.invocations += 1
        if ending:
            self.endings[ending] += 1
        self.seconds = max(self.seconds, milliseconds / 1000)
        self.memory_used = max(self.memory_used, used)
        self.memory_size = max(self.memory_size, size)


def endings(lines: JobLines) -> GraderLog:
    """Read how the invocations of a job ended, and what errors they wrote.

    Raises:
        AwsFailed: there is no log, or it may not be read (`logs:FilterLogEvents`).
    """
    found = GraderLog()
    for line in lines.matching(*QUERIES):
        _note(found, line.message)
    found.complete = lines.complete
    return found


def _note(found: GraderLog, message: str) -> None:
    """Count one line: a report of an invocation, or an error."""
    try:
        written = json.loads(message)
    except (ValueError, RecursionError):
        written = None
    if not isinstance(written, dict):
        if message.startswith("REPORT"):
            found.report(*_reported(message))
        else:
            _note_error(found, message)
    elif written.get("type") == "platform.report":
        with suppress(*NO_ANSWER):  # a line that the function printed, and no report
            found.report(*_recorded(written["record"]))
    elif "errorType" in written:
        _note_error(found, f"{written['errorType']}: {written.get('errorMessage', '')}")
    elif written.get("level") == "ERROR":
        _note_error(found, str(written.get("message", "")))


def _note_error(found: GraderLog, message: str) -> None:
    line = STAMP.sub("", REQUEST.sub("", message.strip()[: 2 * SHOWN])).partition("\n")[0].strip()
    if line and (line in found.errors or len(found.errors) < ERRORS):
        found.errors[line[:SHOWN]] += 1


def _reported(line: str) -> tuple[str, list[float]]:
    """What a REPORT line says."""
    status, error = STATUS.search(line), ERROR_TYPE.search(line)
    ending = str((error or status or [None, ""])[1])
    numbers = [float(found[1]) if (found := each.search(line)) else 0.0 for each in NUMBERS]
    return "" if ending == "success" else ending, numbers


def _recorded(record: Mapping[str, Any]) -> tuple[str, list[float]]:
    """What a record of `platform.report` says."""
    metrics, status = record.get("metrics", {}), record.get("status", "success")
    ending = "" if status == "success" else str(record.get("errorType") or status)[:SHOWN]
    named = ("durationMs", "maxMemoryUsedMB", "memorySizeMB")
    return ending, [float(metrics.get(name, 0)) for name in named]
