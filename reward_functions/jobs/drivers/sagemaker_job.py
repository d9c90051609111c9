"""What SageMaker answers about a training job, as a `Job` and its events.

Source: botocore's model of SageMaker (`DescribeTrainingJob`, `ListTrainingJobs`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from reward_functions.aws.failures import AwsFailed
from reward_functions.jobs.drivers.fields import (
    count,
    count_or_none,
    hyperparameters,
    moment,
    number,
    text,
    within,
)
from reward_functions.jobs.failures import UNREADABLE
from reward_functions.jobs.job import Job, JobEvent, MlflowRun, Progress

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from reward_functions.jobs.job import JobStatus

STATUSES: Final[Mapping[str, JobStatus]] = {
    "InProgress": "running",
    "Stopping": "stopping",
    "Completed": "succeeded",
    "Failed": "failed",
    "Stopped": "stopped",
    "Deleting": "stopped",
}

WAITING: Final = frozenset({"Starting", "Pending"})
"""Secondary states in which a job that is in progress has not begun."""

BROKEN: Final = frozenset({"Failed", "MaxRuntimeExceeded", "MaxWaitTimeExceeded", "Interrupted"})

MAX_TRANSITIONS: Final = 1_000


def job_of(answer: Mapping[str, Any], tags: Mapping[str, str], grader: str = "") -> Job:
    """The job of `DescribeTrainingJob`'s answer.

    Args:
        answer: of the service.
        tags: of the job.
        grader: the function behind its evaluator; "" where that is not known.

    Raises:
        AwsFailed: the answer lacks what every job has.
    """
    arn, name = text(answer.get("TrainingJobArn")), text(answer.get("TrainingJobName"))
    status, created = text(answer.get("TrainingJobStatus")), moment(answer.get("CreationTime"))
    if not (arn and name and status and created):
        raise AwsFailed(f"reading a job: {UNREADABLE}")
    secondary = text(answer.get("SecondaryStatus"))
    return Job(
        driver="sagemaker",
        id=arn,
        name=name,
        status=_status(status, secondary),
        phase="" if status in STATUSES and secondary in {status, ""} else secondary or status,
        model=text(within(answer, "ServerlessJobConfig", "BaseModelArn")),
        grader=grader or text(within(answer, "ServerlessJobConfig", "EvaluatorArn")),
        created=created,
        ended=moment(answer.get("TrainingEndTime")),
        failure=text(answer.get("FailureReason")),
        tuned_model=text(answer.get("OutputModelPackageArn")),
        hyperparameters=hyperparameters(answer.get("HyperParameters")),
        output=text(within(answer, "OutputDataConfig", "S3OutputPath")),
        tags=tags,
        files=tuple(_files(answer)),
        progress=_progress(answer.get("ProgressInfo")),
        mlflow=_run(answer),
        tokens=_tokens(answer.get("BillableTokenCount")),
        evaluator=text(within(answer, "ServerlessJobConfig", "EvaluatorArn")),
    )


def serverless(answer: Mapping[str, Any]) -> bool:
    """Whether it is a job of serverless fine-tuning, and not of a container or an evaluation."""
    return text(within(answer, "ServerlessJobConfig", "JobType")) == "FineTuning"


def events_of(answer: Mapping[str, Any]) -> Iterator[JobEvent]:
    """Each secondary state that it was in, oldest first."""
    yield from sorted(_events(answer), key=lambda event: event.at)


def _events(answer: Mapping[str, Any]) -> Iterator[JobEvent]:
    created = moment(answer.get("CreationTime"))
    if created:
        yield JobEvent("created", created, "info", "created")
    found = answer.get("SecondaryStatusTransitions")
    for each in found[:MAX_TRANSITIONS] if isinstance(found, list) else ():
        state, began = text(within(each, "Status")), moment(within(each, "StartTime"))
        if not state or not began:
            continue
        message = text(within(each, "StatusMessage"))
        level = "error" if state in BROKEN else "info"
        # A message grows while its state lasts: the state's own event stays the same.
        yield JobEvent(f"{state}-{began:%Y%m%dT%H%M%S}", began, level, _worded(state, message))


def _worded(state: str, message: str) -> str:
    return f"{state}: {message}" if message else state


def _status(status: str, secondary: str) -> JobStatus:
    if status == "InProgress" and secondary in WAITING:
        return "queued"
    return STATUSES.get(status, "running")


def _files(answer: Mapping[str, Any]) -> Iterator[str]:
    channels = answer.get("InputDataConfig")
    for each in channels if isinstance(channels, list) else ():
        uri = text(within(each, "DataSource", "S3DataSource", "S3Uri"))
        if uri:
            yield uri


def _progress(found: Any) -> Progress | None:
    if not isinstance(found, dict) or not found:
        return None
    members = ("CurrentEpoch", "MaxEpoch", "CurrentStep", "TotalStepCountPerEpoch")
    epoch, epochs, step, steps = (count_or_none(found.get(each)) for each in members)
    counted = Progress(epoch=epoch, epochs=epochs, step=step, steps=steps)
    return None if counted == Progress() else counted


def _run(answer: Mapping[str, Any]) -> MlflowRun | None:
    app = text(within(answer, "MlflowConfig", "MlflowResourceArn"))
    run = text(within(answer, "MlflowDetails", "MlflowRunId"))
    experiment = text(within(answer, "MlflowDetails", "MlflowExperimentId"))
    return MlflowRun(app, run, experiment) if run or experiment else None


def _tokens(found: Any) -> dict[str, int]:
    return {} if number(found) is None else {"train": count(found)}
