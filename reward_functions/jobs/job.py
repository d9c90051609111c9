"""A training job in words that every service has.

    service's own word                                          status
    Bedrock: InProgress                                         running
    Bedrock: Stopping                                           stopping
    Bedrock: Completed, Failed, Stopped                         succeeded, failed, stopped
    OpenAI: validating_files, queued                            queued
    OpenAI: running, paused                                     running
    OpenAI: succeeded, failed, cancelled                        succeeded, failed, stopped
    SageMaker: InProgress, Stopping                             running, stopping
    SageMaker: Completed, Failed, Stopped                       succeeded, failed, stopped

Sources: botocore's model of Bedrock (`GetModelCustomizationJob`); "Fine-tuning" in OpenAI's API
reference, which Bedrock's OpenAI-compatible API follows; botocore's model of SageMaker
(`DescribeTrainingJob`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal, Protocol, runtime_checkable

from reward_functions.core.errors import ConfigurationError
from reward_functions.jobs.services import SERVICES, DriverName, HyperparameterValue, Service

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from datetime import datetime
    from pathlib import Path

    from reward_functions.jobs.configuration import Filters, Serverless, Vpc

__all__ = [
    "ENDED",
    "STATES",
    "Call",
    "Driver",
    "DriverName",
    "Forgets",
    "HyperparameterValue",
    "Job",
    "JobEvent",
    "JobRequest",
    "JobStatus",
    "MetricPoint",
    "MlflowRun",
    "NoSuchJob",
    "Progress",
]

JobStatus = Literal["queued", "running", "stopping", "succeeded", "failed", "stopped"]

STATES: Final[dict[JobStatus, str]] = {
    "queued": "is queued",
    "running": "is running",
    "stopping": "is stopping",
    "succeeded": "has succeeded",
    "failed": "has failed",
    "stopped": "was stopped",
}
"""What is said of a job, by its status."""

ENDED: Final = frozenset({"succeeded", "failed", "stopped"})


class NoSuchJob(ConfigurationError):
    """A service has no job of this id, ARN or name."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a job is, as its service counts; None for what its answer does not say.

    Args:
        epoch: that it is at.
        epochs: of the job.
        step: that it is at, of the job or of the epoch, as the service counts.
        steps: there are.
        rollouts: that ended in this step; multi-turn jobs alone.
        of_rollouts: of this step.
    """

    epoch: int | None = None
    epochs: int | None = None
    step: int | None = None
    steps: int | None = None
    rollouts: int | None = None
    of_rollouts: int | None = None


@dataclass(frozen=True, slots=True)
class MlflowRun:
    """Where a job of SageMaker keeps its figures.

    Args:
        app: ARN of the MLflow app; "" where the service names none.
        run: the run's id; "" likewise.
        experiment: its experiment's id; "" likewise.
    """

    app: str
    run: str
    experiment: str = ""

    @property
    def can_be_read(self) -> bool:
        """Whether its figures can be asked for: that takes the app and the run."""
        return bool(self.app and self.run)


@dataclass(frozen=True, slots=True)
class Job:
    """One job as its service describes it now.

    Args:
        driver: whose job it is.
        id: what the service calls it: an ARN, or `ftjob-…`.
        name: what we called it; a service without names keeps it in the name of the file.
        status: see the module.
        phase: the service's own word for what it is at, such as "Training"; "" where it says none.
        model: the base model that was asked for.
        grader: the ARN of the reward function; "" where the service does not say.
        created: when it was made, with its time zone.
        ended: when it ended; None while it has not.
        failure: the service's own message; "" where it did not fail.
        tuned_model: what it made: an ARN, or the id to ask with; "" until there is one.
        hyperparameters: by the service's own names.
        output: where its files are, `s3://…/`; "" for a service that keeps them.
        tags: of the job, where the service has any.
        files: what it reads: `s3://…`, or ids of files; only `Driver.get` need know them.
        progress: where its service counts steps; None where it does not.
        mlflow: where its figures are; None of a service that keeps them elsewhere.
        tokens: that are billed, by kind such as "train" or "sample"; empty where not said.
        evaluator: ARN of the hub's content by which SageMaker knows the reward; "" for none.
    """

    driver: DriverName
    id: str
    name: str
    status: JobStatus
    model: str
    created: datetime
    phase: str = ""
    grader: str = ""
    ended: datetime | None = None
    failure: str = ""
    tuned_model: str = ""
    hyperparameters: Mapping[str, HyperparameterValue] = field(default_factory=dict)
    output: str = ""
    tags: Mapping[str, str] = field(default_factory=dict)
    files: tuple[str, ...] = ()
    progress: Progress | None = None
    mlflow: MlflowRun | None = None
    tokens: Mapping[str, int] = field(default_factory=dict)
    evaluator: str = ""

    @property
    def service(self) -> Service:
        """Its service's own facts, which others do not share."""
        return SERVICES[self.driver]

    @property
    def state(self) -> str:
        """Its status as the end of a sentence that begins with its name."""
        return STATES[self.status]

    @property
    def has_grader(self) -> bool:
        """Whether a function scores its rollouts, and logs figures: an agent rewards itself."""
        return self.service.graded

    @property
    def over(self) -> bool:
        """Whether its state is its last."""
        return self.status in ENDED


@dataclass(frozen=True, slots=True)
class MetricPoint:
    """One figure of one step. `name` is the service's own; `split` tells validation apart."""

    step: int
    name: str
    value: float
    split: Literal["training", "validation"] = "training"


@dataclass(frozen=True, slots=True)
class JobEvent:
    """A service's report of a moment. `id` tells the events of one job apart."""

    id: str
    at: datetime
    level: str
    message: str


@dataclass(frozen=True, slots=True)
class JobRequest:
    """A job that can be started: everything is checked, uploaded and pinned.

    Args:
        name: of the job, and of the model that it makes.
        token: makes a repeated request one job.
        model: the service's id or ARN of the base, or the ARN of a custom model.
        grader: the ARN of a published version, or of an immutable deployment's function; "" for a
            reward that is the service's own.
        hyperparameters: by the service's own names; those left out are the service's own choice.
        training: what `Driver.upload` returned; "" where invocation logs are the data.
        validation: the same for the validation file; "" for none.
        role: ARN of what a job runs as; "" on the OpenAI-compatible API, which takes none.
        output: `s3://BUCKET/rft-output/JOB/`; "" on the OpenAI-compatible API.
        logs: `s3://…` of invocation logs that are the data; "" where a file is.
        use_prompt_response: whether the logs' responses are kept beside their prompts.
        filters: which of the logs' records are used.
        sagemaker: what a user wrote for SageMaker's jobs, with the recipe's sequence length; None
            on the other services.
        agent: ARN of what rolls a multi-turn job out; "" on the other services.
        model_key: ARN of the KMS key for the tuned model; "" for AWS's own.
        vpc: where the job runs; None for the service's own network.
        tags: of the job and of its model.
    """

    name: str
    token: str
    model: str
    grader: str
    hyperparameters: Mapping[str, HyperparameterValue]
    training: str = ""
    validation: str = ""
    role: str = ""
    output: str = ""
    logs: str = ""
    use_prompt_response: bool = False
    filters: Filters | None = None
    sagemaker: Serverless | None = None
    agent: str = ""
    model_key: str = ""
    vpc: Vpc | None = None
    tags: Mapping[str, str] = field(default_factory=dict)


MAKING: Final = {
    "CreateHub": "making the hub of evaluators",
    "ImportHubContent": "registering the evaluator",
    "CreateModelPackageGroup": "making the group of model packages",
}
"""What is tried, by the operations that make what a job needs."""


@dataclass(frozen=True, slots=True)
class Call:
    """One call that a start would make.

    Args:
        service: as boto3 names it, or the OpenAI-compatible API.
        operation: by the service's own name.
        request: its arguments, for JSON.
    """

    service: str
    operation: str
    request: Mapping[str, Any]

    @property
    def what(self) -> str:
        """The attempt, for a message."""
        return MAKING.get(self.operation, self.operation)


@runtime_checkable
class Forgets(Protocol):
    """A service that removes a job which is over, when it is asked to."""

    def delete(self, job: Job) -> None:
        """Remove it from the service; nothing where it is gone."""


class Driver(Protocol):
    """A service that runs jobs. Every method raises `AwsFailed`, one sentence, where it refuses."""

    name: DriverName
    region: str

    def upload(self, file: Path, name: str, progress: Callable[[int], object] | None = None) -> str:
        """Bring a file to the service, unless the same content is there under this name already.

        Args:
            file: JSONL.
            name: the job's for its training file, and `NAME.validation` for the other.
            progress: called with the bytes sent since its last call.

        Returns:
            what `JobRequest.training` names: `s3://…`, or the id of a file.
        """

    def discard(self, uploaded: str) -> None:
        """Remove what `upload` returned, for a job that was refused; nothing where it is gone."""

    def start(self, request: JobRequest) -> Job:
        """Start it; where a job of this name and token runs or ran, that one and no second.

        Raises:
            ConfigurationError: it is started, and whether it is the only one is not certain.
        """

    def address(self, name: str) -> str:
        """The address that `upload` would return for this name, as far as that is known before."""

    def calls(self, request: JobRequest) -> list[Call]:
        """The calls of `start`, in its order; AWS is read at most, and nothing is made.

        Raises:
            BadJob: the service would refuse the request.
        """

    def find(self, name: str) -> Job | None:
        """The job of this name; None without one."""

    def get(self, identifier: str) -> Job:
        """One job by its id, its ARN or its name.

        Raises:
            NoSuchJob: the job does not exist.
        """

    def jobs(self) -> Iterator[Job]:
        """All of the account and region, newest first; what only `get` knows may be missing."""

    def stop(self, job: Job) -> Job:
        """Ask it to stop; one that is over stays as it is."""

    def events(self, job: Job) -> Iterator[JobEvent]:
        """The service's reports so far, oldest first, except figures: those are `metrics`."""

    def metrics(self, job: Job) -> Iterator[MetricPoint]:
        """Every figure that is there so far, by step."""
