"""Jobs of Bedrock's OpenAI-compatible API, for open-weight models.

This API has neither names nor client tokens. The name of a job is that of its training file:

    NAME.jsonl               the training file of the job NAME
    NAME.validation.jsonl    its validation file

A start looks for a job of such a file first, and again behind the creation: so that a repeat is the
one job, wherever the first was interrupted, and of two starts at the same moment one stays.

    of the jobs of one name     the oldest stays; of one second, the one whose id is the smallest
    the younger                 are cancelled by the start that made one of them
    a file of a younger one     is removed by the start that uploaded it

A job whose training file is gone is found by its validation file; without either its name is
forgotten, for no other member of a job that AWS documents holds one.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Final

from reward_functions.aws.failures import AwsFailed
from reward_functions.core.errors import ConfigurationError
from reward_functions.jobs.configuration import BadJob
from reward_functions.jobs.drivers.fields import number, text
from reward_functions.jobs.drivers.openai_api import IDENTIFIER, Api, identifier
from reward_functions.jobs.drivers.openai_job import (
    SUFFIX,
    checkpoint_of,
    events_of,
    job_of,
    points_of,
    reinforcement,
    request_of,
)
from reward_functions.jobs.job import Call, NoSuchJob

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path
    from typing import Any

    from boto3.session import Session

    from reward_functions.aws.catalogue import DeployedStage
    from reward_functions.jobs.drivers.openai_job import Checkpoint
    from reward_functions.jobs.job import DriverName, Job, JobEvent, JobRequest, MetricPoint

JOBS: Final = ("fine_tuning", "jobs")
FILES: Final = "files"
PAGE: Final = 100

REFUSED_ID: Final = "ValidationException"
"""How a service may answer to an id that is none of its own."""

ENDED_MEANWHILE: Final = frozenset({"ConflictException", "ValidationException"})
"""How a service refuses to stop what is over."""

SECOND: Final = 1.0
"""The times of jobs are whole seconds: behind one, whatever is created is younger."""

UNDECIDED: Final = frozenset({"", "ConflictException", "InternalServerException"})
"""How a call fails that may have started a job all the same; "" is no answer, or no whole one."""


class StartedTwice(ConfigurationError):
    """Two starts at the same moment made two jobs, and the younger cannot be cancelled."""


def connected(region: str, _: DeployedStage, session: Session | None = None) -> OpenAIDriver:
    """The driver, with the caller's key; no stage is asked, for the service keeps the files.

    Raises:
        WrongEndpoint: the shell points to another AWS than the one that is meant.
        AwsFailed: the AWS configuration cannot be read.
    """
    from reward_functions.jobs.clients import ca_bundle, openai_base_url  # noqa: PLC0415
    from reward_functions.jobs.token import key_source  # noqa: PLC0415

    api = Api(
        openai_base_url(region, session), key_source(region, session), ca_bundle=ca_bundle(session)
    )
    return OpenAIDriver(region, api)


class OpenAIDriver:
    """Jobs of one account and region.

    Args:
        region: of the jobs and their graders.
        api: at its address.
    """

    name: DriverName = "openai"

    def __init__(self, region: str, api: Api) -> None:
        self.region = region
        self._api = api
        self._file_names: dict[str, str] = {}

    def upload(self, file: Path, name: str, progress: Callable[[int], object] | None = None) -> str:
        """Upload a file, unless one of this name and size is there.

        Contents cannot be compared, for the service gives none back: the name holds their digest.

        Returns:
            the file's id.

        Raises:
            BadJob: a file of this name has another size.
            AwsFailed: the service refused it, or could not be reached.
            OSError: the file cannot be read.
        """
        size = file.stat().st_size
        there = self._files(name + SUFFIX)
        for each in there:
            if number(each.get("bytes")) == size:
                return identifier(text(each.get("id")), "listing files")
        if there:
            raise BadJob(
                f"a file {name}{SUFFIX} of another size than {file} is there: remove it, or choose "
                "another name for the job with --name"
            )
        sent = self._api.send_file(file, name + SUFFIX, progress)
        return identifier(text(sent.get("id")), f"uploading {name}{SUFFIX}")

    def address(self, name: str) -> str:
        """The service gives a file its id when it has it: until then, the file's name."""
        return f"(the id of the file {name}{SUFFIX})"

    def calls(self, request: JobRequest) -> list[Call]:
        """What `start` would send.

        Raises:
            BadJob: the request has what this API cannot do.
        """
        return [Call("openai", "POST /fine_tuning/jobs", request_of(request))]

    def discard(self, uploaded: str) -> None:
        """Remove a file; nothing where it is gone.

        Raises:
            AwsFailed: the service refused, or could not be reached.
        """
        try:
            self._api.delete(f"removing the file {uploaded}", FILES, uploaded)
        except AwsFailed as error:
            if not error.missing:
                raise

    def start(self, request: JobRequest) -> Job:
        """Start it; where the same job is there already, that one.

        Raises:
            BadJob: a job of this name differs from what is asked for, or asks for what this API
                cannot do.
            AwsFailed: the service refused it, or it is not known whether it started.
            StartedTwice: another start made a job at the same moment, and both may run.
        """
        body = request_of(request)
        if there := self._of_name(request.name):
            self._remove_unused(request, there[0])
            return self._same(body, there[0], request.name)
        try:
            made: Mapping[str, Any] = self._api.post(f"starting {request.name}", *JOBS, body=body)
            job_of(made, request.name + SUFFIX)
        except AwsFailed as error:
            if error.code not in UNDECIDED:
                raise
            made = self._after(error, request.name)
        oldest = self._one_of(made, body, request)
        return self._same(body, oldest, request.name)

    def find(self, name: str) -> Job | None:
        """The job of this name; None where there is none.

        Raises:
            AwsFailed: the service cannot be asked.
        """
        found = self._of_name(name)
        return job_of(found[0], name + SUFFIX) if found else None

    def get(self, identifier: str) -> Job:
        """One job by its id or its name.

        Raises:
            NoSuchJob: there is none.
            AwsFailed: the service cannot be asked.
        """
        if IDENTIFIER.fullmatch(identifier):
            try:
                found = self._api.get(f"reading the job {identifier}", *JOBS, identifier)
            except AwsFailed as error:
                if not error.missing and error.code != REFUSED_ID:
                    raise
            else:
                return job_of(found, self._file_name(text(found.get("training_file"))))
        job = self.find(identifier)
        if job is None:
            raise NoSuchJob(f"there is no job {identifier!r} in {self.region}")
        return job

    def jobs(self) -> Iterator[Job]:
        """Jobs of reinforcement fine-tuning, newest first.

        Raises:
            AwsFailed: the service cannot be asked.
        """
        names = {text(each.get("id")): text(each.get("filename")) for each in self._files()}
        found = [
            job_of(each, names.get(text(each.get("training_file")), ""))
            for each in self._listed()
            if reinforcement(each)
        ]
        yield from sorted(found, key=lambda job: job.created, reverse=True)

    def stop(self, job: Job) -> Job:
        """Ask it to stop, for good: a job of this API cannot be resumed.

        Raises:
            AwsFailed: the service refused, or cannot be asked.
        """
        if not job.over:
            try:
                self._api.post(f"stopping {job.name}", *JOBS, job.id, "cancel")
            except AwsFailed as error:
                if error.code not in ENDED_MEANWHILE or not self.get(job.id).over:
                    raise
        return self.get(job.id)

    def events(self, job: Job) -> Iterator[JobEvent]:
        """What the service reports, without figures, oldest first.

        Raises:
            AwsFailed: the service cannot be asked.
        """
        return events_of(self._events(job))

    def metrics(self, job: Job) -> Iterator[MetricPoint]:
        """The figures of the job's events; `total_steps` is one of them.

        Raises:
            AwsFailed: the service cannot be asked.
        """
        return points_of(self._events(job))

    def checkpoints(self, job: Job) -> Iterator[Checkpoint]:
        """The models of the middle of a job, in the service's order; none before it trains.

        Raises:
            AwsFailed: the service cannot be asked.
        """
        what = f"listing the checkpoints of {job.name}"
        return map(checkpoint_of, self._api.listed(what, *JOBS, job.id, "checkpoints"))

    def _of_name(self, name: str) -> list[Mapping[str, Any]]:
        """The answers about the jobs of a name, the oldest first."""
        called = {"training_file": name + SUFFIX, "validation_file": f"{name}.validation{SUFFIX}"}
        named = [
            (member, text(file.get("id")))
            for file in self._files()
            for member, file_name in called.items()
            if file.get("filename") == file_name
        ]
        if not named:
            return []
        jobs = [
            each
            for each in self._listed()
            if reinforcement(each) and any(text(each.get(key)) == file for key, file in named)
        ]
        return sorted(jobs, key=_age)

    def _one_of(
        self, made: Mapping[str, Any], body: Mapping[str, Any], request: JobRequest
    ) -> Mapping[str, Any]:
        """The oldest job of the name; what this start and others made behind it is cancelled.

        Raises:
            StartedTwice: a younger one cannot be cancelled, or nobody can say whether there is one.
        """
        self._api.pause(SECOND)
        name, own = request.name, text(made.get("id"))
        try:
            found = [each for each in self._of_name(name) if text(each.get("id")) != own]
        except AwsFailed as error:
            raise StartedTwice(
                f"{name} is started as {own}; whether another start made a second job cannot be "
                f"seen ({error}): look for one with `reward job list`"
            ) from None
        oldest, *younger = sorted([made, *found], key=_age)
        for each in younger:
            if not self._differences(body, each, name):
                self._cancel(each, oldest, name)
        self._remove_unused(request, oldest)
        return oldest

    def _cancel(self, job: Mapping[str, Any], oldest: Mapping[str, Any], name: str) -> None:
        second = job_of(job, name + SUFFIX)
        try:
            self.stop(second)
        except (AwsFailed, NoSuchJob) as error:
            raise StartedTwice(
                f"{name} was started twice at the same moment, as {text(oldest.get('id'))} and "
                f"{second.id}, and the second cannot be cancelled ({error}): `reward job stop "
                f"{second.id}`"
            ) from None

    def _remove_unused(self, request: JobRequest, job: Mapping[str, Any]) -> None:
        """Remove what this start uploaded, where the job of the name has files of its own."""
        uploaded = {"training_file": request.training, "validation_file": request.validation}
        for member, file in uploaded.items():
            used = text(job.get(member))
            if file and used and file != used:
                with suppress(AwsFailed):  # it costs nothing, and no job reads it
                    self.discard(file)

    def _after(self, error: AwsFailed, name: str) -> Mapping[str, Any]:
        """The job that was started although no answer came.

        Raises:
            AwsFailed: there is none yet.
        """
        found = None
        with suppress(AwsFailed):
            found = next(iter(self._of_name(name)), None)
        if found is None:
            raise AwsFailed(
                f"{error}; whether the job was started is not known: repeat the command, which "
                "looks for it first",
                error.code,
            )
        return found

    def _same(self, asked: Mapping[str, Any], there: Mapping[str, Any], name: str) -> Job:
        """The job, where it is the one that is asked for."""
        different = self._differences(asked, there, name)
        if different:
            raise BadJob(
                f"a job {name} is there already, and differs in {', '.join(different)}: choose "
                "another name with --name, or the next run with --again"
            )
        return job_of(there, name + SUFFIX)

    @staticmethod
    def _differences(asked: Mapping[str, Any], there: Mapping[str, Any], name: str) -> list[str]:
        """In what a job differs from what is asked for, as far as the service repeats it."""
        job = job_of(there, name + SUFFIX)
        wanted = job_of({**there, **asked}, name + SUFFIX)
        return [
            words
            for words, differs in {
                "the grader": job.grader and job.grader != wanted.grader,
                "the model": job.model and job.model != wanted.model,
                "the hyperparameters": any(
                    job.hyperparameters.get(each, value) != value
                    for each, value in wanted.hyperparameters.items()
                ),
            }.items()
            if differs
        ]

    def _files(self, name: str = "") -> list[dict[str, Any]]:
        """Files for fine-tuning, of one name where it is given, the oldest first."""
        found = self._api.listed("listing files", FILES, purpose="fine-tune")
        named = [each for each in found if not name or each.get("filename") == name]
        return sorted(named, key=_age)

    def _file_name(self, file: str) -> str:
        """What a file is called, which a watch asks once; "" where it is gone."""
        if file not in self._file_names and IDENTIFIER.fullmatch(file):
            try:
                found = self._api.get(f"reading the file {file}", FILES, file)
            except AwsFailed as error:
                if not (error.missing or error.denied or error.code == REFUSED_ID):
                    raise
                found = {}
            self._file_names[file] = text(found.get("filename"))
        return self._file_names.get(file, "")

    def _listed(self) -> Iterator[dict[str, Any]]:
        return self._api.listed(f"listing the jobs of {self.region}", *JOBS, limit=PAGE)

    def _events(self, job: Job) -> list[dict[str, Any]]:
        what = f"reading the events of {job.name}"
        return list(self._api.listed(what, *JOBS, job.id, "events", limit=PAGE))


def _age(each: Mapping[str, Any]) -> tuple[float, str]:
    """The order in which jobs and files were made, the same for whoever asks."""
    return number(each.get("created_at")) or 0.0, text(each.get("id"))
