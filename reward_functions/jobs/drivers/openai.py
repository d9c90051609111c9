"""Jobs of Bedrock's OpenAI-compatible API, for open-weight models, through OpenAI's SDK.

This API has neither names nor client tokens. The name of a job is that of its training file:

    NAME.jsonl               the training file of the job NAME
    NAME.validation.jsonl    its validation file

A start looks for a job of such a file first, and again after the creation. So a repeat is the one
job, after any interruption of the first, and of two starts at the same moment one stays.

    of the jobs of one name     the oldest stays; of one second, the one whose id is the smallest
    the younger                 are cancelled by the start that made one of them
    a file of a younger one     is removed by the start that uploaded it

A job whose training file is gone is found by its validation file; without either its name is
forgotten, for no other member of a job that AWS documents holds one.

    a status of the service             ours          shown as the phase
    validating_files                    queued        validating_files
    queued                              queued
    running                             running
    paused                              running       paused
    succeeded, failed, cancelled        succeeded, failed, stopped
    any other word                      running       the word

    answer                    done about it
    401                       one more try with a new key; then a sentence
    429                       again after what `Retry-After` says, within `LONGEST_PAUSE`
    5xx, no answer            again for what is only read: a job must not be started twice
    a redirection             refused: the key is for this address

Source: AWS's guide to Bedrock, "Create and manage fine-tuning jobs for open-weight models using
OpenAI APIs"; the members of a job, an event and a checkpoint, OpenAI's API reference.
"""

from __future__ import annotations

import re
import ssl
from contextlib import suppress
from datetime import datetime
from functools import cached_property
from io import BufferedReader, FileIO
from itertools import count
from math import isfinite
from time import sleep
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeVar
from urllib.parse import quote
from weakref import finalize

from pydantic import BaseModel, BeforeValidator, Field, ValidationError

from reward_functions.aws.calls import FOREIGN, OF_SERVICES
from reward_functions.aws.failures import ENDED, AwsFailed
from reward_functions.core.errors import ConfigurationError
from reward_functions.core.extras import require
from reward_functions.core.loopback import is_loopback
from reward_functions.jobs.clients import (
    ca_bundle,
    key_source,
    openai_base_url,
    require_private,
    without,
)
from reward_functions.jobs.configuration import BadJob
from reward_functions.jobs.job import Call, Job, JobEvent, MetricPoint, NoSuchJob

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
    from pathlib import Path

    from boto3.session import Session
    from openai import APIConnectionError, APIStatusError, OpenAI

    from reward_functions.aws.catalogue import DeployedStage
    from reward_functions.jobs.clients import KeySource
    from reward_functions.jobs.job import DriverName, JobRequest, JobStatus

STATUSES: Final[Mapping[str, JobStatus]] = {
    "validating_files": "queued",
    "queued": "queued",
    "running": "running",
    "paused": "running",
    "succeeded": "succeeded",
    "failed": "failed",
    "cancelled": "stopped",
}

PLAIN: Final = frozenset(STATUSES) - {"validating_files", "paused"}
"""Statuses that say no more than ours do."""

FILES: Final = "/files"
JOBS: Final = "/fine_tuning/jobs"

SUFFIX: Final = ".jsonl"
PAGE: Final = 100

MAX_FILE: Final = 512_000_000
"""Bytes of a file (OpenAI's API reference; AWS names no limit)."""

METRICS: Final = "metrics"
"""The type of events that hold figures."""

VALIDATION: Final = ("val", "full_val", "eval")
"""How the names of figures begin that are of validation data."""

IDENTIFIER: Final = re.compile(r"(?!.*\.\.)(?=.*[A-Za-z0-9])[A-Za-z0-9._:/+-]{1,512}")
"""What may be an id of a job: nothing that leads out of its path."""

SECOND: Final = 1.0
"""The times of jobs are whole seconds: after one, everything that is created is younger."""

ATTEMPTS: Final = 4
FIRST_PAUSE: Final = 1.0
LONGEST_PAUSE: Final = 60.0
"""Seconds between two tries."""

CONNECT: Final = 10.0
READ: Final = 60.0
UPLOAD: Final = 600.0
"""Seconds: for a connection, for an answer, and for a file and its answer."""

UNAUTHORIZED: Final = 401
TOO_MANY: Final = 429
SERVERS_OWN: Final = 500

CODES: Final = {
    400: "ValidationException",
    401: "UnrecognizedClientException",
    403: "AccessDeniedException",
    404: "ResourceNotFoundException",
    409: "ConflictException",
    413: "RequestEntityTooLargeException",
    422: "ValidationException",
    429: "ThrottlingException",
}
"""AWS's names of the same failures, which `AwsFailed` knows."""

WORDS: Final = OF_SERVICES | {
    "AccessDeniedException": (
        "not allowed: {message}; the caller needs the policy of `jobs`, and the right to invoke "
        "the grader"
    ),
    "RequestEntityTooLargeException": "too large for the service: {message}",
}

REFUSED_ID: Final = "ValidationException"
"""How a service may answer to an id that is none of its own."""

ENDED_MEANWHILE: Final = frozenset({"ConflictException", "ValidationException"})
"""How a service refuses to stop what is over."""

UNDECIDED: Final = frozenset({"", "ConflictException", "InternalServerException"})
"""How a call fails that may have started a job all the same; "" is no answer, or no whole one."""

Form = TypeVar("Form", bound=BaseModel)
Answer = TypeVar("Answer", bound="_Answer")


class StartedTwice(ConfigurationError):
    """Two starts at the same moment made two jobs, and the younger cannot be cancelled."""


class _Answer(BaseModel):
    """What every object of the API has."""

    id: str
    created_at: datetime

    @property
    def age(self) -> tuple[datetime, str]:
        """The order in which jobs and files were made, the same for everyone who asks."""
        return self.created_at, self.id


class _Page(BaseModel):
    data: list[Any]
    has_more: bool | None = None


class _File(_Answer):
    filename: str
    bytes: int | None = None


class _Event(_Answer):
    level: str = "info"
    message: str = ""
    type: str | None = None
    data: Any = None


class _Failure(BaseModel):
    code: str | None = None
    message: str | None = None


class _Job(_Answer):
    status: str = Field(min_length=1)
    model: str = ""
    training_file: str | None = None
    validation_file: str | None = None
    method: dict[str, Any] | None = None
    error: _Failure | None = None
    finished_at: datetime | None = None
    fine_tuned_model: str | None = None

    @property
    def reinforcement(self) -> bool:
        """Whether it is one of reinforcement fine-tuning; one that does not say is."""
        return (self.method or {}).get("type") in {None, "reinforcement"}

    @property
    def files(self) -> tuple[str, ...]:
        return tuple(filter(None, (self.training_file, self.validation_file)))

    def described(self, file_name: str) -> Job:
        """The job in everyone's words.

        Args:
            file_name: of its training file, which carries its name; "" where it is gone.
        """
        method = (self.method or {}).get("reinforcement") or {}
        grader = (method.get("grader") or {}).get("lambda") or {}
        hyperparameters = method.get("hyperparameters") or {}
        failure = self.error or _Failure()
        return Job(
            driver="openai",
            id=self.id,
            name=file_name.removesuffix(SUFFIX) or self.id,
            status=STATUSES.get(self.status, "running"),
            phase="" if self.status in PLAIN else self.status,
            model=self.model,
            grader=grader.get("function", ""),
            created=self.created_at,
            ended=self.finished_at,
            failure=failure.message or failure.code or "",
            tuned_model=self.fine_tuned_model or "",
            hyperparameters=hyperparameters,
            files=self.files,
        )


def _figures(data: Any) -> dict[str, float]:
    """What of an object are numbers; an object may hold words too."""
    items: Iterable[tuple[str, Any]] = data.items() if isinstance(data, dict) else ()
    return {
        name: float(each)
        for name, each in items
        if isinstance(each, int | float) and not isinstance(each, bool) and isfinite(each)
    }


class Checkpoint(_Answer):
    """A model of the middle of a job, which can be asked at once."""

    step: int = Field(alias="step_number", description="After which it was kept.")
    model: str = Field(alias="fine_tuned_model_checkpoint", description="The id to ask with.")
    metrics: Annotated[dict[str, float], BeforeValidator(_figures)] = Field(
        default={}, description="Figures of that step, by the service's own names."
    )


class Api:
    """The API at one address, by OpenAI's SDK.

    Args:
        base_url: as `clients.openai_base_url` gives it.
        keys: where keys come from.
        ca_bundle: a file of certificates in place of the system's own; "" for these.
        pause: waits some seconds.

    Raises:
        BadAddress: the address would carry the key unencrypted, or is no address.
        MissingExtra: OpenAI's SDK is not installed.
    """

    def __init__(
        self,
        base_url: str,
        keys: KeySource,
        *,
        ca_bundle: str = "",
        pause: Callable[[float], object] = sleep,
    ) -> None:
        require("openai", by="the OpenAI-compatible API")
        self._base_url, self._ca_bundle = base_url, ca_bundle
        self.keys = keys
        self.host = require_private(base_url)
        self.pause = pause

    @cached_property
    def sdk(self) -> OpenAI:
        """It asks each thing once: `call` knows what may be asked again."""
        import httpx  # noqa: PLC0415 - with the SDK, half a second
        from openai import OpenAI  # noqa: PLC0415

        keys = self.keys

        class Bearer(httpx.Auth):
            """The key of this moment, and another one where it is refused."""

            def auth_flow(
                self, request: httpx.Request
            ) -> Generator[httpx.Request, httpx.Response, None]:
                key = keys()
                request.headers["authorization"] = f"Bearer {key.secret}"
                response = yield request
                if response.status_code == UNAUTHORIZED and (other := keys.renewed(key)) is not key:
                    request.headers["authorization"] = f"Bearer {other.secret}"
                    yield request

        connection = httpx.Client(
            auth=Bearer(),
            verify=ssl.create_default_context(cafile=self._ca_bundle or None),
            trust_env=not is_loopback(self._base_url),
            follow_redirects=False,
            limits=httpx.Limits(max_connections=None),  # who asks says how many
        )
        finalize(self, connection.close)
        sdk = OpenAI(
            api_key=self.host,  # each request gets its own
            base_url=self._base_url,
            http_client=connection,
            timeout=httpx.Timeout(READ, connect=CONNECT),
            max_retries=0,
        )
        sdk.organization = sdk.project = None  # those of OPENAI_ORG_ID are OpenAI's
        return sdk

    def call(
        self,
        what: str,
        operation: Callable[[OpenAI], Any],
        form: type[Form],
        *,
        reads: bool = False,
    ) -> Form:
        """The answer to one operation.

        Args:
            what: is tried, such as "starting NAME".
            operation: of the SDK, with its raw response.
            form: of the answer.
            reads: whether it changes nothing, and may be asked again without an answer.

        Raises:
            AwsFailed: refused, failed, not reached, or answered something else.
        """
        from openai import APIConnectionError, APIStatusError  # noqa: PLC0415 - as `sdk`

        for attempt in count(1):
            try:
                return form.model_validate_json(operation(self.sdk).content)
            except APIStatusError as error:
                failed, pause = self._refused(what, error), wait_of(error.response.headers, attempt)
                again = error.status_code == TOO_MANY or (
                    reads and error.status_code >= SERVERS_OWN
                )
            except APIConnectionError as error:
                failed, pause = self._unreached(what, error), wait_of({}, attempt)
                again = reads
            except ValidationError:
                raise AwsFailed(f"{what}: {FOREIGN}") from None
            if not again or attempt >= ATTEMPTS:
                raise failed from None
            self.pause(pause)
        raise AssertionError  # pragma: no cover - `count` has no end

    def get(self, what: str, path: str, form: type[Form], **parameters: Any) -> Form:
        """The service's answer for a path; see `call`."""
        import httpx  # noqa: PLC0415 - as `sdk`

        asked: Any = {"params": parameters}
        return self.call(
            what, lambda sdk: sdk.get(path, cast_to=httpx.Response, options=asked), form, reads=True
        )

    def listed(
        self, what: str, path: str, form: type[Answer], **parameters: Any
    ) -> Iterator[Answer]:
        """Every object of a list, page after page, in the service's order."""
        while True:
            page = self.get(what, path, _Page, **parameters)
            try:
                found = [form.model_validate(each) for each in page.data]
            except ValidationError:
                raise AwsFailed(f"{what}: {FOREIGN}") from None
            yield from found
            if not (page.has_more and found):
                return
            parameters["after"] = found[-1].id

    def _refused(self, what: str, error: APIStatusError) -> AwsFailed:
        code = CODES.get(error.status_code, f"HTTP {error.status_code}")
        if error.status_code == UNAUTHORIZED:
            return AwsFailed(f"{what}: {self.keys.remedy}", code)
        if error.status_code >= SERVERS_OWN:
            code = "InternalServerException"
        message = self.message_of(error) or f"HTTP {error.status_code}"
        words = WORDS.get(code, "the service answers {message}")
        return AwsFailed(f"{what}: {words.format(message=message)}", code)

    def message_of(self, error: APIStatusError) -> str:
        """The service's own message, without the key; "" where that is nothing."""
        given = error.body.get("message") if isinstance(error.body, dict) else None
        return without(self.keys(), str(given or ""))

    def _unreached(self, what: str, error: APIConnectionError) -> AwsFailed:
        causes: list[BaseException] = [error]
        while cause := causes[-1].__cause__ or causes[-1].__context__:
            causes.append(cause)
        if any(isinstance(each, ssl.SSLError) for each in causes):
            return AwsFailed(f"{what}: the certificate of {self.host} cannot be verified")
        gone = any(isinstance(each, ConnectionRefusedError) for each in causes)
        what_now = ENDED if gone and is_loopback(self._base_url) else "try again"
        reason = type(error.__cause__ or error).__name__
        return AwsFailed(f"{what}: no whole answer from {self.host} ({reason}); {what_now}")


class _Counted(BufferedReader):
    """A file that says how many bytes of it were read."""

    def __init__(self, file: Path, progress: Callable[[int], object]) -> None:
        super().__init__(FileIO(str(file)))
        self._progress = progress

    def read(self, size: int | None = -1, /) -> bytes:
        found = super().read(size)
        if found:
            self._progress(len(found))
        return found


def connected(region: str, session: Session | None = None) -> Api:
    """The API of a region, with the caller's key.

    Raises:
        WrongEndpoint: the shell points to another AWS than the one that is meant.
        AwsFailed: the AWS configuration cannot be read.
    """
    return Api(
        openai_base_url(region, session), key_source(region, session), ca_bundle=ca_bundle(session)
    )


def driver_of(region: str, _: DeployedStage, session: Session | None = None) -> OpenAIDriver:
    """The driver, with the caller's key; no stage is asked, for the service keeps the files."""
    return OpenAIDriver(region, connected(region, session))


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
        size, called = file.stat().st_size, name + SUFFIX
        there = [each for each in self._files() if each.filename == called]
        for each in there:
            if each.bytes == size:
                return each.id
        if there:
            raise BadJob(
                f"a file {called} of another size than {file} is there: remove it, or choose "
                "another name for the job with --name"
            )
        what = f"uploading {called}"
        if size > MAX_FILE:
            raise AwsFailed(f"{what}: {size:,} bytes, and a file may have {MAX_FILE:,}")

        def send(sdk: OpenAI) -> Any:
            with _Counted(file, progress or (lambda _: None)) as stream:
                return sdk.files.with_raw_response.create(
                    file=(called, stream, "application/jsonl"), purpose="fine-tune", timeout=UPLOAD
                )

        return self._api.call(what, send, _Answer).id

    def address(self, name: str) -> str:
        """The service gives a file its id when it has it: until then, the file's name."""
        return f"(the id of the file {name}{SUFFIX})"

    def calls(self, request: JobRequest) -> list[Call]:
        """What `start` would send."""
        return [Call("openai", "POST /fine_tuning/jobs", request_of(request))]

    def discard(self, uploaded: str) -> None:
        """Remove a file; nothing where it is gone.

        Raises:
            AwsFailed: the service refused, or could not be reached.
        """
        try:
            self._api.call(
                f"removing the file {uploaded}",
                lambda sdk: sdk.files.with_raw_response.delete(uploaded),
                _Deleted,
            )
        except AwsFailed as error:
            if not error.missing:
                raise

    def start(self, request: JobRequest) -> Job:
        """Start it; where the same job is there already, that one.

        Raises:
            BadJob: a job of this name differs from what is asked for.
            AwsFailed: the service refused it, or it is not known whether it started.
            StartedTwice: another start made a job at the same moment, and both may run.
        """
        body, name = request_of(request), request.name
        if there := self._of_name(name):
            self._remove_unused(request, there[0])
            return _same(request, there[0])
        try:
            made = self._api.call(
                f"starting {name}",
                lambda sdk: sdk.fine_tuning.jobs.with_raw_response.create(**body),
                _Job,
            )
        except AwsFailed as error:
            if error.code not in UNDECIDED:
                raise
            made = self._after(error, name)
        return _same(request, self._one_of(made, request))

    def find(self, name: str) -> Job | None:
        """The job of this name; None without one.

        Raises:
            AwsFailed: the service cannot be asked.
        """
        found = self._of_name(name)
        return found[0].described(name + SUFFIX) if found else None

    def get(self, identifier: str) -> Job:
        """One job by its id or its name.

        Raises:
            NoSuchJob: the job does not exist.
            AwsFailed: the service cannot be asked.
        """
        if IDENTIFIER.fullmatch(identifier):
            what = f"reading the job {identifier}"
            try:
                found = self._api.get(what, f"{JOBS}/{quote(identifier, safe=':')}", _Job)
            except AwsFailed as error:
                if not error.missing and error.code != REFUSED_ID:
                    raise
            else:
                return found.described(self._file_name(found.training_file))
        job = self.find(identifier)
        if job is None:
            raise NoSuchJob(f"there is no job {identifier!r} in {self.region}")
        return job

    def jobs(self) -> Iterator[Job]:
        """Jobs of reinforcement fine-tuning, newest first.

        Raises:
            AwsFailed: the service cannot be asked.
        """
        names = {each.id: each.filename for each in self._files()}
        found = [each.described(names.get(each.training_file or "", "")) for each in self._listed()]
        yield from sorted(found, key=lambda job: job.created, reverse=True)

    def stop(self, job: Job) -> Job:
        """Ask it to stop, for good: a job of this API cannot be resumed.

        Raises:
            AwsFailed: the service refused, or cannot be asked.
        """
        if not job.over:
            try:
                self._api.call(
                    f"stopping {job.name}",
                    lambda sdk: sdk.fine_tuning.jobs.with_raw_response.cancel(job.id),
                    _Job,
                )
            except AwsFailed as error:
                if error.code not in ENDED_MEANWHILE or not self.get(job.id).over:
                    raise
        return self.get(job.id)

    def events(self, job: Job) -> Iterator[JobEvent]:
        """The reports of the service, without figures, oldest first.

        Raises:
            AwsFailed: the service cannot be asked.
        """
        for each in self._events(job):
            if each.type != METRICS:
                yield JobEvent(each.id, each.created_at, each.level, each.message)

    def metrics(self, job: Job) -> Iterator[MetricPoint]:
        """The figures of the job's events, by step; of two for one step, the later.

        `total_steps` is one of them.

        Raises:
            AwsFailed: the service cannot be asked.
        """
        found: dict[tuple[int, str], MetricPoint] = {}
        for each in self._events(job):
            if each.type == METRICS:
                found |= {(point.step, point.name): point for point in _points(each.data)}
        yield from sorted(found.values(), key=lambda point: point.step)

    def checkpoints(self, job: Job) -> Iterator[Checkpoint]:
        """The models of the middle of a job, in the service's order; none before it trains.

        Raises:
            AwsFailed: the service cannot be asked.
        """
        what = f"listing the checkpoints of {job.name}"
        return self._api.listed(what, f"{JOBS}/{job.id}/checkpoints", Checkpoint)

    def _of_name(self, name: str) -> list[_Job]:
        """The jobs of a name, the oldest first."""
        called = {"training_file": name + SUFFIX, "validation_file": f"{name}.validation{SUFFIX}"}
        named = {
            (member, file.id)
            for file in self._files()
            for member, file_name in called.items()
            if file.filename == file_name
        }
        if not named:
            return []
        jobs = [
            each
            for each in self._listed()
            if named & {(member, getattr(each, member)) for member in called}
        ]
        return sorted(jobs, key=lambda each: each.age)

    def _one_of(self, made: _Job, request: JobRequest) -> _Job:
        """The oldest job of the name; what this start and others made after it is cancelled.

        Raises:
            StartedTwice: a younger one cannot be cancelled, or nobody can say whether there is one.
        """
        self._api.pause(SECOND)
        try:
            found = [each for each in self._of_name(request.name) if each.id != made.id]
        except AwsFailed as error:
            raise StartedTwice(
                f"{request.name} is started as {made.id}; whether another start made a second job "
                f"cannot be seen ({error}): look for one with `reward job list`"
            ) from None
        oldest, *younger = sorted([made, *found], key=lambda each: each.age)
        for each in younger:
            if not _differences(request, each):
                self._cancel(each, oldest, request.name)
        self._remove_unused(request, oldest)
        return oldest

    def _cancel(self, job: _Job, oldest: _Job, name: str) -> None:
        try:
            self.stop(job.described(name + SUFFIX))
        except (AwsFailed, NoSuchJob) as error:
            raise StartedTwice(
                f"{name} was started twice at the same moment, as {oldest.id} and {job.id}, and "
                f"the second cannot be cancelled ({error}): `reward job stop {job.id}`"
            ) from None

    def _remove_unused(self, request: JobRequest, job: _Job) -> None:
        """Remove what this start uploaded, where the job of the name has files of its own."""
        pairs = (request.training, job.training_file), (request.validation, job.validation_file)
        for uploaded, used in pairs:
            if uploaded and used and uploaded != used:
                with suppress(AwsFailed):  # it costs nothing, and no job reads it
                    self.discard(uploaded)

    def _after(self, error: AwsFailed, name: str) -> _Job:
        """The job that was started although no answer came.

        Raises:
            AwsFailed: there is none yet.
        """
        with suppress(AwsFailed):
            if found := self._of_name(name):
                return found[0]
        raise AwsFailed(
            f"{error}; whether the job was started is not known: repeat the command, which "
            "looks for it first",
            error.code,
        )

    def _files(self) -> list[_File]:
        """Files for fine-tuning, the oldest first."""
        found = self._api.listed("listing files", FILES, _File, purpose="fine-tune")
        return sorted(found, key=lambda each: each.age)

    def _file_name(self, file: str | None) -> str:
        """What a file is called, which a watch asks once; "" where it is gone."""
        if not file:
            return ""
        if file not in self._file_names:
            name = ""
            try:
                name = self._api.get(f"reading the file {file}", f"{FILES}/{file}", _File).filename
            except AwsFailed as error:
                if not (error.missing or error.denied or error.code == REFUSED_ID):
                    raise
            self._file_names[file] = name
        return self._file_names[file]

    def _listed(self) -> Iterator[_Job]:
        """Every job of reinforcement fine-tuning."""
        what = f"listing the jobs of {self.region}"
        listed = self._api.listed(what, JOBS, _Job, limit=PAGE)
        return (each for each in listed if each.reinforcement)

    def _events(self, job: Job) -> list[_Event]:
        """By time; within one second in the order of the list, which begins with the newest."""
        what = f"reading the events of {job.name}"
        found = list(self._api.listed(what, f"{JOBS}/{job.id}/events", _Event, limit=PAGE))
        if found and found[0].created_at >= found[-1].created_at:
            found.reverse()
        return sorted(found, key=lambda each: each.created_at)


class _Deleted(BaseModel):
    id: str


def request_of(request: JobRequest) -> dict[str, Any]:
    """The body of `POST /fine_tuning/jobs`; it has no place for a name, a role or tags."""
    grader = {"type": "lambda", "lambda": {"function": request.grader}}
    reinforcement: dict[str, Any] = {"grader": grader}
    if request.hyperparameters:
        reinforcement["hyperparameters"] = dict(request.hyperparameters)
    body: dict[str, Any] = {
        "model": request.model,
        "training_file": request.training,
        "method": {"type": "reinforcement", "reinforcement": reinforcement},
    }
    if request.validation:
        body["validation_file"] = request.validation
    return body


def _same(request: JobRequest, there: _Job) -> Job:
    """The job, where it is the one that is asked for."""
    if different := _differences(request, there):
        raise BadJob(
            f"a job {request.name} is there already, and differs in {', '.join(different)}: choose "
            "another name with --name, or the next run with --again"
        )
    return there.described(request.name + SUFFIX)


def _differences(request: JobRequest, there: _Job) -> list[str]:
    """In what a job differs from what is asked for, as far as the service repeats it."""
    job = there.described(request.name + SUFFIX)
    differs = {
        "the grader": job.grader and job.grader != request.grader,
        "the model": job.model and job.model != request.model,
        "the hyperparameters": any(
            job.hyperparameters.get(each, value) != value
            for each, value in request.hyperparameters.items()
        ),
    }
    return [words for words, differs in differs.items() if differs]


def _points(data: Any) -> Iterator[MetricPoint]:
    figures = _figures(data)
    step = figures.pop("step", None)
    if step is None:
        return
    for name, value in figures.items():
        ours = name.startswith(VALIDATION)
        yield MetricPoint(int(step), name, value, "validation" if ours else "training")


def wish_of(headers: Mapping[str, str]) -> float:
    """Seconds that the service asks to wait; 0 where it does not say."""
    wish = headers.get("retry-after", "")
    return float(wish) if re.fullmatch(r"[0-9]{1,6}(?:\.[0-9]{1,6})?", wish) else 0.0


def wait_of(headers: Mapping[str, str], attempt: int) -> float:
    """Seconds until the next try: the service's own wish, or twice as long each time."""
    return min(LONGEST_PAUSE, wish_of(headers) or FIRST_PAUSE * 2 ** (attempt - 1))
