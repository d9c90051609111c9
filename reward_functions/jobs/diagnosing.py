"""Why a job failed, or taught nothing.

Read are its service's message and figures, its grader's log, and the function as it is now. A
source that may not be read is named, and does not end the diagnosis. Where nothing of the table of
causes fits, that is what the diagnosis says.

Of the log of a SageMaker job's trainer only the beginning of a line that names an error is kept:
what follows may quote a response. Its streams are NAME/… in the group of `services`.
Sources: sagemaker-train 1.27.0 (`job_wait.py`); AWS's guide to SageMaker, "CloudWatch Logs".
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from typing import TYPE_CHECKING, Final

from reward_functions.aws.arn import BadArn
from reward_functions.aws.calls import client as control_plane
from reward_functions.aws.calls import pages
from reward_functions.aws.deployed.checking import configuration
from reward_functions.aws.deployed.function import DeployedFunction
from reward_functions.aws.failures import AwsFailed
from reward_functions.jobs.causes import LikelyCause, Symptom, likely
from reward_functions.jobs.figures import Series, series
from reward_functions.jobs.figures import signs as signs_of
from reward_functions.jobs.grader import account_limits
from reward_functions.jobs.grader_log import GraderLog, JobLines, batches, by_minute, endings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from boto3.session import Session

    from reward_functions.jobs.job import Job, MetricPoint

FULL: Final = 0.98
"""Share of a function's memory that counts as all of it."""

LIMITS: Final = ("MaxRuntimeExceeded", "MaxWaitTimeExceeded")
"""Phases in which SageMaker's jobs end that ran out of time."""

MESSAGE: Final = 2_048
"""Characters of a service's message; Bedrock's have no more."""

PATTERN: Final = "?Error ?ERROR ?Exception"
"""In the language of filters of CloudWatch Logs: lines with one of these."""

NAMED: Final = re.compile(r"\b[A-Za-z_.]{0,80}(?:Error|Exception)\b")
"""The error's own name."""

NAME: Final = re.compile(r"[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,62})")

MOST: Final = 200_000
"""Lines of a trainer's log that are read."""

KEPT: Final = 5
"""Errors of a trainer, the most frequent ones."""

LONGEST: Final = 10_000
"""Characters of a line that are read."""

SHOWN: Final = 200
"""Characters of an error, from its name on."""


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The facts about a job's end.

    Args:
        job: as its service describes it.
        signs: all that was seen, in words.
        causes: the likely ones, the most specific first; empty where nothing fits.
        log: the grader's; None where it could not be read.
        unread: what could not be read, in sentences.
    """

    job: Job
    signs: tuple[Symptom, ...]
    causes: tuple[LikelyCause, ...]
    log: GraderLog | None
    unread: tuple[str, ...]


def diagnose(
    job: Job,
    session: Session | None = None,
    now: datetime | None = None,
    progress: Callable[[int], object] = lambda _: None,
    points: Iterable[MetricPoint] = (),
    *,
    region: str = "",
) -> Diagnosis:
    """Look for the cause.

    Args:
        job: any; of one that has not failed, the signs are warnings.
        session: boto3's; the caller's own where not given.
        now: the moment; the clock's where not given.
        progress: called with the number of lines of each page of the log.
        points: the service's figures; what raises `AwsFailed` on the way is not read.
        region: of the job, for its trainer's log; "" reads none.
    """
    unread: list[str] = []
    measured: list[Series] = []
    log: GraderLog | None = None
    try:
        measured += series(points)
    except AwsFailed as error:
        unread.append(f"the service's figures: {error}")
    if job.has_grader and not job.grader:
        unread.append("the service does not say which function graded the job")
    elif job.has_grader:
        try:
            lines = JobLines(job, now or datetime.now(UTC), session, progress)
            log = endings(lines)
            measured += by_minute(batches(lines, job))
            log.complete = lines.complete
        except (AwsFailed, BadArn) as error:
            unread.append(f"the grader's log: {_unread(error)}")
    signs = [
        *_of_service(job),
        *_of_figures(measured),
        *_of_log(log),
        *_of_trainer(job, region, session, unread),
    ]
    if job.has_grader:
        signs += _of_function(job.grader, session, unread)
    return Diagnosis(job, tuple(signs), tuple(likely(signs)), log, tuple(unread))


def _of_service(job: Job) -> Iterator[Symptom]:
    if job.status == "stopped":
        yield Symptom("status", "the job was stopped")
    if job.phase and job.over:
        yield from (Symptom("status", job.phase) for word in LIMITS if word in job.phase)
    if job.failure:
        yield Symptom("failure", job.failure[:MESSAGE])


def _of_figures(measured: Sequence[Series]) -> Iterator[Symptom]:
    """What teaches nothing, however well a job ended."""
    for each in signs_of(measured):
        if each.state == "seen" and each.sign.nothing_learned:
            yield Symptom("figures", f"{each.sign.name} ({each.figure})")


def _of_log(log: GraderLog | None) -> Iterator[Symptom]:
    if log is None:
        return
    for line, count in log.errors.most_common():
        yield Symptom("log", f"{line} ({count:,} times)" if count > 1 else line)
    for ending, count in log.endings.most_common():
        yield Symptom(
            "ending",
            f"{ending}: {count:,} of {log.invocations:,} invocations; the longest took "
            f"{log.seconds:,.1f} s",
        )
    if log.memory_size and log.memory_used >= FULL * log.memory_size:
        yield Symptom(
            "ending", f"memory used up: {log.memory_used:,.0f} of {log.memory_size:,.0f} MB"
        )


def _of_trainer(
    job: Job, region: str, session: Session | None, unread: list[str]
) -> Iterator[Symptom]:
    """The errors that the trainer of a job of SageMaker logged, where that did not succeed."""
    failed = region and job.status in {"failed", "stopped"}
    if not (failed and job.service.log_group and NAME.fullmatch(job.name)):
        return
    lines = pages(
        f"reading the log of {job.name}",
        control_plane("logs", region, session).filter_log_events,
        "events",
        logGroupName=job.service.log_group,
        logStreamNamePrefix=f"{job.name}/",
        filterPattern=PATTERN,
    )
    try:
        found = Counter(filter(None, (_error(each["message"]) for each in islice(lines, MOST))))
    except AwsFailed as error:
        reason = "it does not exist yet, or it is gone" if error.missing else _unread(error)
        unread.append(f"the trainer's log: {reason}")
        return
    for named, count in found.most_common(KEPT):
        yield Symptom("log", f"{named} ({count:,} times)" if count > 1 else named)


def _error(message: str) -> str:
    """A line from its error's name on, in one line; "" where it names none."""
    line = " ".join(message[:LONGEST].split())
    named = NAMED.search(line)
    return line[named.start() :][:SHOWN] if named else ""


def _of_function(grader: str, session: Session | None, unread: list[str]) -> Iterator[Symptom]:
    """What Lambda says of the version now."""
    try:
        function = DeployedFunction(grader, session=session)
        settings = configuration(function)
        if settings is None:
            unread.append("the function: lambda:GetFunctionConfiguration is not allowed here")
        else:
            state = settings.get("State", "Active")
            if state not in ("Active", "Inactive"):
                why = str(settings.get("StateReason", ""))[:MESSAGE]
                yield Symptom("function", f"the function is {state}: {why}".rstrip(": "))
        limits = account_limits(function)
    except BadArn:
        return
    except AwsFailed as error:
        if error.missing:
            yield Symptom("function", f"there is no such function or version any more: {grader}")
        else:
            unread.append(f"the function: {error}")
        return
    unread += limits.unmeasured
    if limits.reserved == 0:
        yield Symptom("function", f"{function.arn.name} has a reserved concurrency of 0")


def _unread(error: AwsFailed | BadArn) -> str:
    if isinstance(error, AwsFailed) and error.denied:
        return "logs:FilterLogEvents is not allowed here"
    if isinstance(error, AwsFailed) and error.missing:
        return "it does not exist; the function was never invoked, or its log group is gone"
    return str(error)
