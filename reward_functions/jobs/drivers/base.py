"""The base of the jobs of every service of AWS: started once, found, read, followed, stopped.

A subclass says how its service calls things, and turns a request into a call and an answer into a
`Job`. A job's name is its own in one account and region: where it is taken, the job that has it is
compared with what was asked for, fact by fact.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import suppress
from datetime import UTC, datetime
from functools import cached_property
from math import isclose
from typing import TYPE_CHECKING, Any, ClassVar, Final, NamedTuple

from reward_functions.aws.calls import answer, pages, present, reading
from reward_functions.aws.failures import AwsFailed
from reward_functions.aws.request_validation import RefusedRequest, check_request
from reward_functions.jobs.clients import client
from reward_functions.jobs.configuration import BadJob
from reward_functions.jobs.drivers.objects import address_of, discarded, uploaded_once
from reward_functions.jobs.job import Call, Job, JobEvent, JobRequest, JobStatus, NoSuchJob
from reward_functions.jobs.services import SERVICES, DriverName

if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from boto3.session import Session

    from reward_functions.aws.catalogue import DeployedStage

UNDECIDED: Final = frozenset({"", "InternalServerException", "InternalFailure"})
"""How a call fails that may have started a job all the same; "" is no answer."""

SINGLE: Final = 1e-6
"""By how much a hyperparameter may differ that went through a number of single precision."""

PAGE: Final = 100

HYPERPARAMETERS: Final = "the hyperparameters"


STATUSES: Final[Mapping[str, JobStatus]] = {
    "InProgress": "running",
    "Stopping": "stopping",
    "Completed": "succeeded",
    "Failed": "failed",
    "Stopped": "stopped",
}
"""The words of AWS's services; one that is newer leaves a job running."""


class Api(NamedTuple):
    """How a service calls what all of them have.

    Args:
        service: as boto3 names it.
        get: the operation that reads a job, and so for the next two.
        stop: likewise.
        list: likewise.
        id: the member of answers that holds a job's ARN.
        summaries: the member of a list's answer that holds its jobs.
        listed: the arguments of a list, the newest first.
        marker: the member that leads to the next page.
    """

    service: str
    get: str
    stop: str
    list: str
    id: str
    summaries: str
    listed: Mapping[str, Any]
    marker: str = "NextToken"


class AwsJobs(ABC):
    """Jobs of one account and region.

    Args:
        region: of the jobs, their data and their rewards.
        session: boto3's; the caller's own where not given.
    """

    name: DriverName
    api: ClassVar[Api]
    KIND: ClassVar[str] = "job"
    NAME: ClassVar[re.Pattern[str]]
    """Of a job, by botocore's model, in linear form."""

    TAKEN_WORDS: ClassVar[tuple[str, ...]] = ()
    """What a `ValidationException` says of a name that something else has."""

    TAKEN_BY: ClassVar[str] = "choose another name with --name"
    """What a refused name is said to be where no job has it."""

    SHOWN: ClassVar[str] = "`reward job show {name}` shows it"
    AGAIN: ClassVar[str] = "choose another name with --name, or the next run with --again"

    def __init__(self, region: str, session: Session | None = None) -> None:
        self.region = region
        self._session = session
        self._tags: dict[str, Mapping[str, str]] = {}

    @abstractmethod
    def facts(self, job: Mapping[str, Any]) -> Mapping[str, Any]:
        """The facts that make two jobs of one name the same, of a request or an answer."""

    @abstractmethod
    def job_of(self, found: Mapping[str, Any], tags: Mapping[str, str]) -> Job:
        """The job of an answer."""

    @abstractmethod
    def events_of(self, found: Mapping[str, Any]) -> Iterator[JobEvent]:
        """The events that an answer reports, in any order."""

    @abstractmethod
    def tags_of(self, found: Mapping[str, Any], /) -> Mapping[str, str]:
        """The tags of the job of an answer."""

    def named(self, identifier: str) -> dict[str, Any]:
        """The arguments by which the service is asked about a job."""
        return {"jobIdentifier": identifier}

    @abstractmethod
    def ours(self, found: Mapping[str, Any]) -> bool:
        """Whether an answer is of a job of this kind."""

    def find(self, name: str) -> Job | None:
        """The job of this name; None without one.

        Raises:
            AwsFailed: the service cannot be asked.
        """
        found = self._named(name) if self.NAME.fullmatch(name) else None
        return None if found is None else self._whole(found)

    def get(self, identifier: str) -> Job:
        """One job by its ARN or its name.

        Raises:
            NoSuchJob: the job does not exist here.
            AwsFailed: the service cannot be asked.
        """
        arn = SERVICES[self.name].arn(identifier)
        if arn and arn.region != self.region:
            raise NoSuchJob(f"{identifier} is a job of {arn.region}, and not of {self.region}")
        found: Mapping[str, Any] | None = None
        if arn:
            found = self._asked(identifier)
        elif self.NAME.fullmatch(identifier):
            found = self._named(identifier)
        with reading("a job"):
            there = found and self.ours(found) and (not arn or found[self.api.id] == identifier)
        if found is None or not there:
            raise NoSuchJob(f"there is no {self.KIND} {identifier!r} in {self.region}")
        return self._whole(found)

    def jobs(self) -> Iterator[Job]:
        """Jobs of this kind, newest first, without what only `get` knows.

        Raises:
            AwsFailed: the service cannot be asked.
        """
        for summary in self._listed(**self.api.listed):
            with reading("a job"):
                job = self.listed(summary)
            if job is not None:
                yield job

    def listed(self, summary: Mapping[str, Any]) -> Job | None:
        """The job of a list's entry; None for one of another kind."""
        return self.job_of(summary, {}) if self.ours(summary) else None

    def stop(self, job: Job) -> Job:
        """Ask it to stop; one that is over, or stops already, stays as it is.

        Raises:
            AwsFailed: the service refused, or cannot be asked.
        """
        if not job.over:
            try:
                answer(f"stopping {job.name}", self._method(self.api.stop), **self.named(job.id))
            except AwsFailed:
                now = self.get(job.id)
                if not now.over and now.status != "stopping":
                    raise
        return self.get(job.id)

    def events(self, job: Job) -> Iterator[JobEvent]:
        """The events that the service reports, oldest first.

        Raises:
            AwsFailed: the service cannot be asked.
        """
        found = self._asked(job.id) or {}
        return iter(sorted(self.events_of(found), key=lambda event: event.at))

    @cached_property
    def _client(self) -> Any:
        return client(self.api.service, self.region, self._session)

    @cached_property
    def _s3(self) -> Any:
        return client("s3", self.region, self._session)

    def _method(self, operation: str) -> Callable[..., Any]:
        from botocore import xform_name  # noqa: PLC0415 - 100 ms

        found: Callable[..., Any] = getattr(self._client, xform_name(operation))
        return found

    def _run(self, name: str, calls: Sequence[Call]) -> Job:
        """Make what is missing, and start the job."""
        *first, last = calls
        for call in first:
            try:
                answer(call.what, self._method(call.operation), **call.request)
            except AwsFailed as error:  # another start may have been quicker
                if error.kind != "conflict" and "already exist" not in str(error):
                    raise
        what = f"starting {name}"
        try:
            made = answer(what, self._method(last.operation), **last.request)
        except AwsFailed as error:
            reason = str(error).removeprefix(what)  # which may hold one of the words in the name
            stated = error.kind == "invalid" and any(word in reason for word in self.TAKEN_WORDS)
            lost = error.code in UNDECIDED and self._is_there(name)
            if error.kind != "conflict" and not stated and not lost:
                raise
            return self._same(name, last.request, str(error))
        try:
            return self.get(made[self.api.id])
        except (AwsFailed, NoSuchJob) as error:
            raise AwsFailed(
                f"{name} is started as {made[self.api.id]}, and cannot be read yet ({error}); "
                + self.SHOWN.format(name=name)
            ) from None

    def _is_there(self, name: str) -> bool:
        """Whether there is a job although the call that made it failed."""
        with suppress(AwsFailed):
            return self._named(name) is not None
        return False

    def _same(self, name: str, asked: Mapping[str, Any], refusal: str) -> Job:
        """The job that has the name, where it is the one that is asked for."""
        found = self._named(name)
        if found is None:
            raise BadJob(f"{refusal}; {self.TAKEN_BY}")
        there = self.facts(found)
        different = [
            what for what, value in self.facts(asked).items() if not same(value, there.get(what))
        ]
        if different:
            raise BadJob(
                f"a job {name} is there already, and differs in {', '.join(different)}: "
                f"{self.AGAIN}"
            )
        return self._whole(found)

    def _named(self, name: str) -> Mapping[str, Any] | None:
        """The answer about the job of a name."""
        return self._asked(name)

    def _asked(self, identifier: str) -> dict[str, Any] | None:
        what = f"reading the job {identifier}"
        return present(what, self._method(self.api.get), **self.named(identifier))

    def _listed(self, **chosen: Any) -> Iterator[dict[str, Any]]:
        return pages(
            f"listing the jobs of {self.region}",
            self._method(self.api.list),
            self.api.summaries,
            marker=self.api.marker,
            **chosen,
        )

    def _whole(self, found: Mapping[str, Any]) -> Job:
        """The job of an answer, with its tags, which a watch reads once."""
        with reading("a job"):
            arn = found[self.api.id]
            if arn not in self._tags:
                with suppress(AwsFailed):  # a caller who may not read them sees the job without
                    self._tags[arn] = self.tags_of(found)
            return self.job_of(found, self._tags.get(arn, {}))


class StageJobs(AwsJobs):
    """Training jobs of a stage.

    Args:
        region: of the jobs, their data and their rewards.
        stage: whose bucket holds the data, and whose roles the jobs run as.
        session: boto3's; the caller's own where not given.
    """

    def __init__(self, region: str, stage: DeployedStage, session: Session | None = None) -> None:
        super().__init__(region, session)
        self._stage = stage

    @abstractmethod
    def calls(self, request: JobRequest) -> list[Call]:
        """The calls of `start`; the last call starts the job. AWS is read, nothing is made.

        Raises:
            BadJob: the request has what the service cannot do.
            AwsFailed: the service cannot be asked.
        """

    def upload(self, file: Path, name: str, progress: Callable[[int], object] | None = None) -> str:
        """Put a file into the stage's bucket, unless it is there.

        Returns:
            `s3://BUCKET/rft-data/jobs/NAME.jsonl`.

        Raises:
            BadJob: another content is there under this name.
            AwsFailed, UploadFailed: S3 refused it, or could not be reached.
            OSError: the file cannot be read.
        """
        return uploaded_once(self._s3, self._stage.bucket, file, name, progress)

    def address(self, name: str) -> str:
        """Where `upload` puts a file."""
        return address_of(self._stage.bucket, name)

    def discard(self, uploaded: str) -> None:
        """Remove a file that `upload` put there; nothing where it is gone.

        Raises:
            AwsFailed: S3 refused, or could not be reached.
        """
        discarded(self._s3, uploaded)

    def start(self, request: JobRequest) -> Job:
        """Start it; where the same job has the name already, that one.

        Raises:
            BadJob: something else has the name, or the service would refuse the request.
            AwsFailed: the service refused it, or it is not known whether it started.
        """
        return self._run(request.name, checked(self.calls(request)))


def checked(calls: Sequence[Call]) -> Sequence[Call]:
    """The calls, each of which its service's model takes; before anything is made.

    Raises:
        BadJob: a service would refuse one.
    """
    try:
        for call in calls:
            check_request(call.service, call.operation, call.request)
    except RefusedRequest as error:
        raise BadJob(str(error)) from None
    return calls


def same(wanted: Any, found: Any) -> bool:
    """Whether a fact is the one that was asked for.

    Of objects, the members that were asked for count: the rest is the service's own choice.
    """
    if isinstance(wanted, dict):
        return all(same(each, (found or {}).get(name)) for name, each in wanted.items())
    if isinstance(wanted, int | float) and isinstance(found, int | float):
        return isclose(wanted, found, rel_tol=SINGLE)
    return bool(wanted == found) or not (wanted or found)


def within(value: Any, *path: str) -> Any:
    """The value in objects within objects; None where one of them lacks it."""
    for member in path:
        value = (value or {}).get(member)
    return value


def ended(at: datetime | None, status: str, failure: str) -> Iterator[JobEvent]:
    """How a job ended, where it has."""
    if at:
        message = f"{status}: {failure}" if failure else status
        yield JobEvent("ended", at, "error" if failure else "info", message)


def in_utc(at: datetime | None) -> datetime | None:
    """A time of an answer in UTC; None without one."""
    return at and at.astimezone(UTC)
