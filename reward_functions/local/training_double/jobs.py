"""A job of any API, from its start to its end, in a thread of its own: one state, one course.

The services differ in the words for a state (`WORDS`), in where the data lies and what is written
(`work`), and in whose rights the job has. They differ in who scores: the very version of a function
that was named, or an agent. The owner of a job reads what the function says when it fails.
"""

from __future__ import annotations

import json
from collections import Counter
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import blake2b, sha256
from secrets import token_hex
from threading import Condition, RLock, Thread
from time import monotonic
from typing import TYPE_CHECKING, Any, Final, TypeVar
from urllib.parse import urlsplit
from uuid import uuid4

from reward_functions.aws.arn import FunctionArn
from reward_functions.local.loopback_service.server import Refused
from reward_functions.local.training_double.policy import SETTINGS
from reward_functions.local.training_double.prompts import LONGEST
from reward_functions.local.training_double.rights import acting
from reward_functions.local.training_double.training import (
    JobFailed,
    Outcome,
    Responses,
    Stopped,
    TrainingJob,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from boto3.session import Session

    from reward_functions.cdk.policies.iam import Place
    from reward_functions.jobs.job import DriverName, JobStatus
    from reward_functions.local.training_double.policy import Policy, SimulationSettings
    from reward_functions.local.training_double.prompts import Prompts, Row
    from reward_functions.local.training_double.rights import Clients, Policies
    from reward_functions.local.training_double.training import Answer, Step, Training

    Figures = Callable[[Step], dict[str, Any]]
    Work = Callable[[Session], Outcome]

PHASES: Final = ("validation", "dataProcessing", "training")
"""In their order; Bedrock's `statusDetails` has a member for each."""

_AWS: Final[dict[JobStatus, str]] = {
    "queued": "InProgress",
    "running": "InProgress",
    "stopping": "Stopping",
    "succeeded": "Completed",
    "failed": "Failed",
    "stopped": "Stopped",
}

WORDS: Final[dict[str, dict[JobStatus, str]]] = {
    "bedrock": _AWS,
    "sagemaker": _AWS,
    "agent-rft": _AWS,
    "openai": dict.fromkeys(_AWS, "running")
    | {"queued": "queued", "succeeded": "succeeded", "failed": "failed", "stopped": "cancelled"},
    "mlflow": dict.fromkeys(_AWS, "RUNNING")
    | {"succeeded": "FINISHED", "failed": "FAILED", "stopped": "KILLED"},
}
"""The status of a job in the words of each service."""

PATIENCE: Final = 910
"""Seconds: a function runs 900 at most."""

ATTEMPTS: Final = 3
"""How often a call that AWS throttles is made."""

SHOWN: Final = 1_000
"""Characters of an error that a failure quotes."""

LONGEST_MESSAGE: Final = 2048
"""Characters of a failure message: botocore's model of `GetModelCustomizationJob`."""

UNEXPECTED: Final = "simulation: the training double itself failed; its log has the traceback"


def now() -> datetime:
    """The time, in UTC."""
    return datetime.now(UTC)


def fresh_id() -> str:
    """Twelve letters and digits, as the ARNs of jobs and models end; these say what they are."""
    return f"sim{token_hex(8)[:9]}"


def seed_of(text: str) -> int:
    """The same for the same text: curves of equal jobs can be compared."""
    return int.from_bytes(sha256(text.encode()).digest()[:4])


@dataclass
class Phase:
    """A part of a job: its status, and when that began and changed."""

    status: JobStatus
    created: datetime
    modified: datetime


@dataclass
class Event:
    """A message about a job at a moment.

    Args:
        at: when.
        level: "info", "warn" or "error".
        message: one sentence.
        data: the figures of a step; None for a mere message.
    """

    at: datetime
    level: str
    message: str
    data: dict[str, float] | None = None
    id: str = field(default_factory=lambda: f"ftevent-{uuid4().hex}")


@dataclass(kw_only=True)
class Made:
    """Something that a request has made.

    Args:
        id: its ARN; another id where its service has no ARNs.
        name: its own; the id by default.
        place: its partition, region and account.
        request: its parameters, as they were given.
    """

    id: str
    name: str
    place: Place
    request: dict[str, Any] = field(default_factory=dict)
    created: datetime = field(default_factory=now)


@dataclass(kw_only=True)
class Job(Made):
    """A training job of any API.

    Args:
        path: which API it came by.
        base: the id of the foundation model below it.
        grader: ARN of the reward function, or of the agent.
        hyperparameters: by Bedrock's names.
        seed: decides what is drawn.
        policy: what it begins with.
        model: what it makes; "" as long as that has no name.
    """

    path: DriverName
    base: str
    grader: str
    hyperparameters: dict[str, Any]
    seed: int
    policy: Policy
    model: str = ""
    status: JobStatus = "queued"
    modified: datetime = field(default_factory=now)
    ended: datetime | None = None
    failure: str = ""
    phases: dict[str, Phase] = field(default_factory=dict)
    steps: list[Step] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    counted: Counter[str] = field(default_factory=Counter)
    injected: str = ""
    stopping: bool = False

    @property
    def short(self) -> str:
        """The last part of its id."""
        return self.id.rpartition("/")[2].rpartition("-")[2]

    @property
    def word(self) -> str:
        """Its status in the words of its API."""
        return WORDS[self.path][self.status]

    @property
    def run(self) -> str:
        """The id of its MLflow run: 32 hexadecimal digits; "" where it has none."""
        digest = blake2b(self.id.encode(), digest_size=16).hexdigest()
        return digest if "MlflowConfig" in self.request else ""

    def enter(self, phase: str) -> None:
        """Begin a phase, and end the one before."""
        moment = now()
        self.close("succeeded")
        self.phases[phase] = Phase("running", moment, moment)
        self.modified = moment
        if self.status == "queued" and phase == PHASES[-1]:
            self.status = "running"

    def close(self, status: JobStatus) -> None:
        """End what it is at."""
        for phase in self.phases.values():
            if phase.status == "running":
                phase.status, phase.modified = status, now()

    def note(self, message: str, level: str = "info", data: dict[str, Any] | None = None) -> None:
        """Add an event: a message, or figures where there is data."""
        self.events.append(Event(now(), level, message, data))


@dataclass(kw_only=True)
class Model(Made):
    """A model: an ARN, or the id that chat completions take.

    Args:
        base: the id of the foundation model below it.
        policy: what it answers with.
        job: that made it, or imported it.
        artifacts: the folder of its weights; "" where the service keeps them to itself.
    """

    base: str
    policy: Policy
    job: Any
    artifacts: str = ""


MadeKind = TypeVar("MadeKind", bound=Made)


class State:
    """Everything that was made, by id. A reader or writer holds `lock`."""

    def __init__(self) -> None:
        self.lock = RLock()
        self.changed = Condition(self.lock)
        self.seconds_per_step = 0.0
        self.seconds_to_host = 0.2
        self.clear()

    def clear(self) -> None:
        """Forget everything that was made."""
        with self.lock:
            self.made: dict[str, Any] = {}
            self.tags: dict[str, dict[str, str]] = {}
            self.tokens: dict[tuple[str, str], str] = {}
            self.throttled: Counter[str] = Counter()
            self.responses: Counter[str] = Counter()
            self.versions: Counter[str] = Counter()

    def of(self, kind: type[MadeKind]) -> list[MadeKind]:
        """The resources of a class."""
        with self.lock:
            return [each for each in self.made.values() if isinstance(each, kind)]

    def throttle(self, operation: str) -> None:
        """Refuse an operation as often as was asked for.

        Raises:
            Refused: it is to be throttled.
        """
        with self.lock:
            if self.throttled[operation] > 0:
                self.throttled[operation] -= 1
                raise Refused(
                    "ThrottlingException", "Too many requests, please wait before trying again."
                )

    def settled(self, since: datetime) -> bool:
        """Whether what was asked of a model at a moment is done: minutes on AWS."""
        return (now() - since).total_seconds() >= self.seconds_to_host


class Runs:
    """Starts jobs and follows them.

    Args:
        state: where they are kept.
        clients: of the emulator.
        prompts: which learn the rows of each job.
        settings: of the simulation.
    """

    def __init__(
        self,
        state: State,
        clients: Clients,
        prompts: Prompts,
        settings: SimulationSettings = SETTINGS,
    ) -> None:
        self.state, self.clients, self.prompts = state, clients, prompts
        self.settings = settings
        self._threads: list[Thread] = []

    def start(
        self,
        job: Job,
        rights: Policies | None,
        work: Work,
        say: Callable[[Session, str], None] | None = None,
    ) -> None:
        """Run a job that is in the state already.

        Args:
            job: that begins.
            rights: that it has; None for those of the account's root.
            work: reads, trains and writes; raises `JobFailed` or `Stopped`.
            say: writes what happened where its owner looks for it, given how it ended.
        """

        def course() -> None:
            outcome = Outcome(status="failed", policy=job.policy, failure=UNEXPECTED)
            try:
                outcome = self._outcome(job, rights, work, say)
            finally:
                self._end(job, outcome)

        thread = Thread(target=course, name=job.name, daemon=True)
        with self.state.lock:
            self._threads = [*filter(Thread.is_alive, self._threads), thread]
            thread.start()

    def stop(self, job: Job) -> None:
        """Ask a job to stop."""
        with self.state.changed:
            if job.status in {"queued", "running"}:
                job.status, job.stopping, job.modified = "stopping", True, now()
            self.state.changed.notify_all()

    def fail(self, job: Job, reason: str) -> None:
        """Let a job fail after its next step, as if the service had."""
        with self.state.changed:
            job.injected = reason
            self.state.changed.notify_all()

    def close(self) -> None:
        """Stop every job, and return once none runs: nothing that they made to act in is left."""
        with self.state.lock:
            jobs, threads = self.state.of(Job), [*self._threads]
        for job in jobs:
            self.stop(job)
        for thread in threads:
            thread.join()

    def enter(self, job: Job, phase: str) -> None:
        """Let a job begin a phase."""
        with self.state.lock:
            job.enter(phase)

    def train(
        self,
        job: Job,
        rows: Sequence[Row],
        validation: Sequence[Row],
        answer: Answer,
        figures: Figures | None = None,
    ) -> Outcome:
        """Train a job whose responses a reward function scores.

        Args:
            job: that is at work.
            rows: of its training file.
            validation: of the other; may be empty.
            answer: scores rows.
            figures: of a step, as an event has them; None where there are no such events.
        """
        self.enter(job, "dataProcessing")
        self.prompts.add(rows)
        self.prompts.add(validation)
        asked = TrainingJob(
            rows=rows,
            hyperparameters=job.hyperparameters,
            seed=job.seed,
            path=job.path,
            policy=job.policy,
            validation=validation,
            settings=self.settings,
        )
        return self.run(job, Responses(asked, answer, lambda: job.stopping), figures)

    def run(self, job: Job, training: Training[Any], figures: Figures | None) -> Outcome:
        """Run the steps of a job."""
        self.enter(job, "training")

        def publish(step: Step) -> None:
            data = None if figures is None else figures(step)
            with self.state.lock:
                job.steps.append(step)
                job.modified = now()
                if data is not None:
                    job.note(f"simulation: step {step.number} of {step.total}", data=data)
            self._pass_step(job)
            require_going(job)

        return training.run(publish)

    def _pass_step(self, job: Job) -> None:
        """Wait as long as a step takes here, unless the job stops or fails meanwhile."""
        begun = monotonic()
        with self.state.changed:
            while not job.stopping and not job.injected:
                left = begun + self.state.seconds_per_step - monotonic()
                if left <= 0:
                    return
                self.state.changed.wait(left)

    def _outcome(
        self,
        job: Job,
        rights: Policies | None,
        work: Work,
        say: Callable[[Session, str], None] | None,
    ) -> Outcome:
        digest = sha256(job.id.encode()).hexdigest()[:12]
        with acting(self.clients, job.place.account, rights, digest) as session:
            try:
                self.enter(job, PHASES[0])
                outcome = work(session)
            except Stopped:
                outcome = Outcome(status="stopped", policy=job.policy)
            except JobFailed as failed:
                outcome = Outcome(status="failed", policy=job.policy, failure=str(failed))
            if say is not None:
                say(session, outcome.failure or f"simulation: the job has {outcome.status}")
            return outcome

    def _end(self, job: Job, outcome: Outcome) -> None:
        level = "error" if outcome.status == "failed" else "info"
        with self.state.lock:
            job.close(outcome.status)
            if outcome.status == "succeeded" and job.model:
                name = job.request.get("customModelName", job.model)
                self.state.made.setdefault(
                    job.model, model_of(job, job.model, name, outcome.policy)
                )
            job.failure = outcome.failure[:LONGEST_MESSAGE]
            job.status = outcome.status
            job.ended = job.modified = now()
            message = outcome.failure or f"simulation: the job has {outcome.status}"
            job.note(message, level)


def model_of(job: Job, id: str, name: str, policy: Policy) -> Model:  # noqa: A002
    """A model that a job has made."""
    return Model(id=id, name=name, place=job.place, base=job.base, policy=policy, job=job)


def require_going(job: Job) -> None:
    """Go on, unless somebody wants otherwise.

    Raises:
        Stopped, JobFailed: the job is to stop, or to fail.
    """
    if job.injected:
        raise JobFailed(job.injected)
    if job.stopping:
        raise Stopped


@contextmanager
def failing(what: str) -> Iterator[None]:
    """Let a call that AWS refuses be the failure of the job, in AWS's words.

    Args:
        what: was tried, such as "Reading s3://bucket/key".

    Raises:
        JobFailed: in the place of the SDK's exceptions.
    """
    from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415

    try:
        yield
    except (BotoCoreError, ClientError) as error:
        raise JobFailed(f"{what}: {str(error)[:SHOWN]}") from None


def object_at(session: Session, uri: str) -> bytes:
    """The object at an S3 URI, read with a job's own rights.

    Raises:
        JobFailed: it cannot be read, or is too long.
    """
    parts = urlsplit(uri)
    with failing(f"Reading {uri}"):
        found = session.client("s3").get_object(Bucket=parts.netloc, Key=parts.path.lstrip("/"))
        if found["ContentLength"] > LONGEST:
            raise JobFailed(f"{uri} has {found['ContentLength']} bytes, more than {LONGEST}.")
        content: bytes = found["Body"].read()
    return content


def put_objects(session: Session, folder: str, files: dict[str, str]) -> None:
    """Write files below an S3 URI, with a job's own rights.

    Raises:
        JobFailed: one cannot be written.
    """
    parts = urlsplit(folder)
    s3, prefix = session.client("s3"), f"{parts.path.strip('/')}/".lstrip("/")
    for name, content in files.items():
        with failing(f"Writing s3://{parts.netloc}/{prefix}{name}"):
            s3.put_object(Bucket=parts.netloc, Key=f"{prefix}{name}", Body=content.encode())


def write_log(
    session: Session, group: str, stream: str, lines: Iterable[tuple[datetime, str]]
) -> None:
    """Write lines to a log stream; a role without that right writes none."""
    from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415

    logs = session.client("logs")
    place = {"logGroupName": group, "logStreamName": stream}
    events = [
        {"timestamp": round(moment.timestamp() * 1000), "message": text} for moment, text in lines
    ]
    with suppress(BotoCoreError, ClientError):
        with suppress(ClientError):  # they are there already
            logs.create_log_group(logGroupName=group)
        with suppress(ClientError):
            logs.create_log_stream(**place)
        logs.put_log_events(**place, logEvents=events)


def lambda_client(session: Session, region: str, **options: Any) -> Any:
    """A client that waits as long as a function may run; `options` are botocore's."""
    from botocore.config import Config  # noqa: PLC0415 - a tenth of a second

    config = Config(read_timeout=PATIENCE, **options)
    return session.client("lambda", region_name=region, config=config)


class Grader:
    """A deployed reward function.

    Args:
        session: whose rights it is invoked with.
        arn: of the version.
    """

    def __init__(self, session: Session, arn: str) -> None:
        self._arn = arn
        retries = {"mode": "standard", "total_max_attempts": ATTEMPTS}
        self._client = lambda_client(session, FunctionArn.parse(arn).region, retries=retries)

    def __call__(self, rows: list[Row]) -> Any:
        """What the function returned for one batch, decoded.

        Raises:
            JobFailed: it did not run, or failed.
        """
        with failing(f"Invoking the reward function {self._arn}"):
            answer = self._client.invoke(FunctionName=self._arn, Payload=json.dumps(rows).encode())
            payload = answer["Payload"].read()
        returned = decoded(payload)
        if "FunctionError" in answer:
            raise JobFailed(f"The reward function {self._arn} failed: {_words(returned)}")
        return returned


def decoded(payload: bytes) -> Any:
    """The value that a function returned; text that is no JSON stays text."""
    try:
        return json.loads(payload)
    except (ValueError, RecursionError):
        return payload.decode(errors="replace")


def _words(error: Any) -> str:
    """The function's own words: Lambda reports an exception as its type and its message."""
    if isinstance(error, dict):
        kind, message = error.get("errorType", ""), error.get("errorMessage", "")
        return f"{kind}: {message}"[:SHOWN] if kind else str(message)[:SHOWN]
    return str(error)[:SHOWN]
