"""What SageMaker answers about a multi-turn job, as a `Job` and its events.

    in the answer                                  in ours
    JobStatus                                      status; SecondaryStatus is the phase
    JobConfigDocument.TrainingConfig               model, hyperparameters, the MLflow app
    JobConfigDocument.AgentConfig                  grader: the agent, who reports the rewards
    JobConfigDocument.ServiceOutput                progress, run, tokens, the model package

Sources: botocore's model of SageMaker (`DescribeJob`, `ListJobs`); the members of `ServiceOutput`
are those that sagemaker-train 1.27 reads. A document that is no JSON leaves those fields empty.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from reward_functions.aws.failures import AwsFailed
from reward_functions.jobs.drivers.agent_rft_document import MAX_DOCUMENT
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
    "DeleteFailed": "failed",
}

WAITING: Final = frozenset({"Starting", "Pending", "Preparing"})
"""Phases of a job in progress that has not begun."""

TOKENS: Final = {
    "TrainTokenCount": "train",
    "PrefillTokenCount": "prefill",
    "SampleTokenCount": "sample",
}

MAX_TRANSITIONS: Final = 100


def job_of(answer: Mapping[str, Any]) -> Job:
    """The job of `DescribeJob`'s answer, or of a summary of `ListJobs`, which knows less.

    Raises:
        AwsFailed: the answer lacks what every job has.
    """
    arn, name = text(answer.get("JobArn")), text(answer.get("JobName"))
    status, created = text(answer.get("JobStatus")), moment(answer.get("CreationTime"))
    if not (arn and name and status and created):
        raise AwsFailed(f"reading a job: {UNREADABLE}")
    document = document_of(answer)
    config = within(document, "TrainingConfig") or within(document, "EvaluationConfig")
    made = within(document, "ServiceOutput")
    phase = text(answer.get("SecondaryStatus") or answer.get("JobSecondaryStatus"))
    return Job(
        driver="agent-rft",
        id=arn,
        name=name,
        status=_status(status, phase),
        phase=phase if phase != status else "" if status in STATUSES else status,
        model=text(within(config, "BaseModelArn")),
        grader=agent_in(document),
        created=created,
        ended=moment(answer.get("EndTime")),
        failure=text(answer.get("FailureReason")),
        tuned_model=text(within(made, "OutputModelPackageArn")),
        hyperparameters=hyperparameters(within(config, "HyperParameters")),
        output=text(within(document, "OutputDataConfig", "S3OutputPath")),
        tags=_tags(answer.get("Tags")),
        files=tuple(files_in(document).values()),
        progress=_progress(made),
        mlflow=_run(document, config, made),
        tokens=_tokens(within(made, "BillableTokenUsage")),
    )


def document_of(answer: Mapping[str, Any]) -> dict[str, Any]:
    """The document of an answer; empty where it has none, or one that is no JSON object."""
    given = answer.get("JobConfigDocument")
    try:
        found = json.loads(given) if isinstance(given, str) and len(given) <= MAX_DOCUMENT else None
    except (ValueError, RecursionError):
        found = None
    return found if isinstance(found, dict) else {}


def agent_in(document: Mapping[str, Any]) -> str:
    """The ARN of the agent that a document names; "" for none."""
    config = document.get("AgentConfig")
    return text(within(config, "CustomAgentLambdaConfig", "LambdaArn")) or text(
        within(config, "BedrockAgentCoreConfig", "AgentRuntimeArn")
    )


def files_in(document: Mapping[str, Any]) -> dict[str, str]:
    """The addresses of a document's data, by their channels."""
    channels = document.get("InputDataConfig")
    found = {
        text(within(each, "ChannelName")): text(within(each, "DataSource", "S3DataSource", "S3Uri"))
        for each in (channels if isinstance(channels, list) else [])
    }
    return {name: address for name, address in found.items() if name and address}


def events_of(answer: Mapping[str, Any]) -> Iterator[JobEvent]:
    """What the times of a job and of its phases say, oldest first."""
    yield from sorted(_events(answer), key=lambda event: event.at)


def _events(answer: Mapping[str, Any]) -> Iterator[JobEvent]:
    if created := moment(answer.get("CreationTime")):
        yield JobEvent("created", created, "info", "created")
    over = moment(answer.get("EndTime"))
    transitions = answer.get("SecondaryStatusTransitions")
    known = transitions[:MAX_TRANSITIONS] if isinstance(transitions, list) else []
    for at, each in enumerate(known):
        status, began = text(within(each, "Status")), moment(within(each, "StartTime"))
        # The last phase has the name of how the job ended, which is said below with its reason.
        if status and began and not (over and status == text(answer.get("JobStatus"))):
            message = text(within(each, "StatusMessage"))
            message = f"{status}: {message}" if message else status
            level = "error" if status in {"Failed", "DeleteFailed"} else "info"
            yield JobEvent(f"transition-{at}-{status}", began, level, message)
    if over:
        status, failure = text(answer.get("JobStatus")), text(answer.get("FailureReason"))
        message = f"{status}: {failure}" if failure else status
        yield JobEvent("ended", over, "error" if failure else "info", message)


def _status(status: str, phase: str) -> JobStatus:
    """Ours for the service's; a word that is newer than this table leaves the job running."""
    if status == "InProgress" and phase in WAITING:
        return "queued"
    return STATUSES.get(status, "running")


def _progress(made: Any) -> Progress | None:
    steps, rollouts = within(made, "ProgressInfo"), within(made, "RolloutInfo")
    counted = Progress(
        epoch=_count(steps, "CurrentEpoch"),
        epochs=_count(steps, "MaxEpoch"),
        step=_count(steps, "CurrentStep"),
        steps=_count(steps, "MaxSteps") or _count(steps, "StepsPerEpoch"),
        rollouts=_count(rollouts, "Completed"),
        of_rollouts=_count(rollouts, "Total"),
    )
    return None if counted == Progress() else counted


def _count(value: Any, name: str) -> int | None:
    return count_or_none(within(value, name))


def _run(document: Any, config: Any, made: Any) -> MlflowRun | None:
    """Where the figures are: a trainer's app stands in its config, an evaluator's in its output."""
    app = text(within(config, "MlflowConfig", "MlflowResourceArn")) or text(
        within(document, "OutputDataConfig", "MlflowConfig", "MlflowResourceArn")
    )
    run = text(within(made, "MlflowDetails", "RunId"))
    experiment = text(within(made, "MlflowDetails", "ExperimentId"))
    return MlflowRun(app, run, experiment) if run or experiment else None


def _tokens(usage: Any) -> dict[str, int]:
    return {
        kind: count(within(usage, name))
        for name, kind in TOKENS.items()
        if number(within(usage, name)) is not None
    }


def _tags(tags: Any) -> dict[str, str]:
    found = [each for each in tags if isinstance(each, dict)] if isinstance(tags, list) else []
    return {text(each.get("Key")): text(each.get("Value")) for each in found}
