"""What Bedrock answers about a job, as a `Job` and its events.

    statusDetails             phase
    validationDetails         Validation
    dataProcessingDetails     Data processing
    trainingDetails           Training

Source: botocore's model of Bedrock (`GetModelCustomizationJob`). AWS documents the details for
distillation alone: where a job has none, it has no phase, and its events are its own times.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from reward_functions.aws.failures import AwsFailed
from reward_functions.jobs.drivers.bedrock_request import CUSTOMIZATION
from reward_functions.jobs.drivers.fields import hyperparameters, moment, text, within
from reward_functions.jobs.failures import UNREADABLE
from reward_functions.jobs.job import Job, JobEvent

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from reward_functions.jobs.job import JobStatus

STATUSES: Final[Mapping[str, JobStatus]] = {
    "InProgress": "running",
    "Stopping": "stopping",
    "Completed": "succeeded",
    "Failed": "failed",
    "Stopped": "stopped",
}

PHASES: Final = {
    "validationDetails": "Validation",
    "dataProcessingDetails": "Data processing",
    "trainingDetails": "Training",
}
"""In the order in which they come."""

AT_WORK: Final = frozenset({"InProgress", "Stopping"})
BROKEN: Final = frozenset({"Failed", "Stopped"})
NOT_BEGUN: Final = "NotStarted"


def job_of(answer: Mapping[str, Any], tags: Mapping[str, str]) -> Job:
    """The job of `GetModelCustomizationJob`'s answer.

    Raises:
        AwsFailed: the answer lacks what every job has.
    """
    grader, chosen = grading(answer)
    status = text(answer.get("status"))
    created = moment(answer.get("creationTime"))
    arn, name = text(answer.get("jobArn")), text(answer.get("jobName"))
    if not (arn and name and status and created):
        raise AwsFailed(f"reading a job: {UNREADABLE}")
    return Job(
        driver="bedrock",
        id=arn,
        name=name,
        status=_status(status),
        phase=_phase(answer.get("statusDetails")) or ("" if status in STATUSES else status),
        model=text(answer.get("baseModelArn")),
        grader=grader,
        created=created,
        ended=moment(answer.get("endTime")),
        failure=text(answer.get("failureMessage")),
        tuned_model=text(answer.get("outputModelArn")),
        hyperparameters=hyperparameters(chosen),
        output=text(within(answer, "outputDataConfig", "s3Uri")),
        tags=tags,
        files=tuple(_files(answer)),
    )


def _files(answer: Mapping[str, Any]) -> Iterator[str]:
    """The addresses of the training file and the validation files."""
    if training := text(within(answer, "trainingDataConfig", "s3Uri")):
        yield training
    validators = within(answer, "validationDataConfig", "validators")
    for each in validators if isinstance(validators, list) else ():
        if validation := text(within(each, "s3Uri")):
            yield validation


def listed(summary: Mapping[str, Any]) -> Job | None:
    """The job of a list's summary; None for one that is not reinforcement fine-tuning."""
    kind = summary.get("customizationType", CUSTOMIZATION)
    if kind != CUSTOMIZATION:
        return None
    model = {"outputModelArn": summary.get("customModelArn")}
    return job_of({**summary, **model}, {})


def grading(answer: Mapping[str, Any]) -> tuple[str, Any]:
    """The ARN of a job's grader, "" where it has none, and its hyperparameters as they come."""
    config = within(answer, "customizationConfig", "rftConfig")
    grader = within(config, "graderConfig", "lambdaGrader", "lambdaArn")
    return text(grader), within(config, "hyperParameters")


def events_of(answer: Mapping[str, Any]) -> Iterator[JobEvent]:
    """What the times of a job and of its phases say, oldest first.

    Bedrock keeps no log: a phase shows when it began, and how it ended.
    """
    yield from sorted(_events(answer), key=lambda event: event.at)


def _events(answer: Mapping[str, Any]) -> Iterator[JobEvent]:
    created, ended = moment(answer.get("creationTime")), moment(answer.get("endTime"))
    if created:
        yield JobEvent("created", created, "info", "created")
    for member, phase in PHASES.items():
        details = within(answer, "statusDetails", member)
        status = text(within(details, "status"))
        if not status or status == NOT_BEGUN:
            continue
        began = moment(within(details, "creationTime"))
        changed = moment(within(details, "lastModifiedTime"))
        if began:
            yield JobEvent(f"{member}-began", began, "info", f"{phase} began")
        if changed and status not in AT_WORK:
            level = "error" if status == "Failed" else "info"
            yield JobEvent(f"{member}-{status}", changed, level, f"{phase}: {status}")
    if ended:
        status, failure = text(answer.get("status")), text(answer.get("failureMessage"))
        message = f"{status}: {failure}" if failure else status
        yield JobEvent("ended", ended, "error" if failure else "info", message)


def _status(status: str) -> JobStatus:
    """Ours for the service's; a word that is newer than this table leaves the job running."""
    return STATUSES.get(status, "running")


def _phase(details: Any) -> str:
    """The last phase that is at work, or that broke; "" where there is none."""
    found = ""
    for member, phase in PHASES.items():
        if text(within(details, member, "status")) in AT_WORK | BROKEN:
            found = phase
    return found
