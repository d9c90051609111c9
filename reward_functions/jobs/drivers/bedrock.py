"""Jobs of Bedrock's control plane: `CreateModelCustomizationJob` and its relatives.

    statusDetails             phase
    validationDetails         Validation
    dataProcessingDetails     Data processing
    trainingDetails           Training

A job is sent with a client token, so that a repeat is the same job to the service as well.
Hyperparameters have native types, and the output has an address alone: AWS's own SDK adds a
`kmsKeyId` to it, which botocore refuses. AWS documents the details for distillation alone: where a
job has none, it has no phase, and its events are its own times.

Figures are two CSV files in S3, with any columns. AWS documents their places for every kind of
customization, and their columns (`step_number`, `epoch_number`, a loss, a perplexity) for
fine-tuning alone: those of reinforcement fine-tuning are not verified. Every column of numbers is a
metric; a cell that is no number is skipped.

Sources: botocore's model of Bedrock; AWS's guide to Bedrock, "Analyze the results of a model
customization job".
"""

from __future__ import annotations

import csv
import re
from datetime import UTC
from math import isfinite
from typing import TYPE_CHECKING, Any, Final, Literal

from reward_functions.aws.calls import answer
from reward_functions.aws.s3 import read_object
from reward_functions.jobs.drivers.base import (
    HYPERPARAMETERS,
    PAGE,
    STATUSES,
    Api,
    StageJobs,
    ended,
    in_utc,
    within,
)
from reward_functions.jobs.drivers.objects import objects_below
from reward_functions.jobs.job import Call, DriverName, Job, JobEvent, JobRequest, MetricPoint

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from reward_functions.jobs.configuration import Filters

CUSTOMIZATION: Final = "REINFORCEMENT_FINE_TUNING"

PHASES: Final = {
    "validationDetails": "Validation",
    "dataProcessingDetails": "Data processing",
    "trainingDetails": "Training",
}
"""In the order in which they come."""

AT_WORK: Final = frozenset({"InProgress", "Stopping"})
BROKEN: Final = frozenset({"Failed", "Stopped"})

FILES: Final[tuple[tuple[str, Literal["training", "validation"]], ...]] = (
    ("training_artifacts/step_wise_training_metrics.csv", "training"),
    ("validation_artifacts/post_fine_tuning_validation/validation_metrics.csv", "validation"),
)
"""Below the job's own folder, and what their figures are of."""

STEPS: Final = ("step_number", "step")
"""Columns that count steps; where there is none, a row is a step, from 1."""

PLACES: Final = frozenset({*STEPS, "epoch_number", "epoch"})
"""Columns that say where a figure belongs, and are no figures."""


class BedrockDriver(StageJobs):
    """Jobs of reinforcement fine-tuning."""

    name: DriverName = "bedrock"
    api = Api(
        "bedrock",
        get="GetModelCustomizationJob",
        stop="StopModelCustomizationJob",
        list="ListModelCustomizationJobs",
        id="jobArn",
        summaries="modelCustomizationJobSummaries",
        listed={"maxResults": PAGE, "sortBy": "CreationTime", "sortOrder": "Descending"},
        marker="nextToken",
    )
    NAME = re.compile(r"[a-zA-Z0-9][a-zA-Z0-9+.-]{0,62}")
    TAKEN_WORDS = ("already", "in use", "exists")
    TAKEN_BY = (
        "no job has this name, so a custom model has it: delete the model, or choose another name "
        "with --name"
    )

    def calls(self, request: JobRequest) -> list[Call]:
        """What `start` would send."""
        reinforcement: dict[str, Any] = {
            "graderConfig": {"lambdaGrader": {"lambdaArn": request.grader}}
        }
        if request.hyperparameters:
            reinforcement["hyperParameters"] = dict(request.hyperparameters)
        made: dict[str, Any] = {
            "jobName": request.name,
            "customModelName": request.name,
            "roleArn": request.role,
            "clientRequestToken": request.token,
            "baseModelIdentifier": request.model,
            "customizationType": CUSTOMIZATION,
            "trainingDataConfig": _training(request),
            "outputDataConfig": {"s3Uri": request.output},
            "customizationConfig": {"rftConfig": reinforcement},
        }
        if request.validation:
            made["validationDataConfig"] = {"validators": [{"s3Uri": request.validation}]}
        if request.model_key:
            made["customModelKmsKeyId"] = request.model_key
        if request.vpc:
            made["vpcConfig"] = {
                "subnetIds": list(request.vpc.subnets),
                "securityGroupIds": list(request.vpc.security_groups),
            }
        if request.tags:
            tags = [{"key": key, "value": value} for key, value in request.tags.items()]
            made["jobTags"] = made["customModelTags"] = tags
        return [Call(self.api.service, "CreateModelCustomizationJob", made)]

    def facts(self, job: Mapping[str, Any]) -> Mapping[str, Any]:
        """The facts that make two jobs of one name the same."""
        config = within(job, "customizationConfig", "rftConfig")
        data = job.get("trainingDataConfig")
        return {
            "the grader": within(config, "graderConfig", "lambdaGrader", "lambdaArn"),
            "the training data": within(data, "s3Uri"),
            "the invocation logs": within(
                data, "invocationLogsConfig", "invocationLogSource", "s3Uri"
            ),
            "the validation data": within(job, "validationDataConfig", "validators"),
            HYPERPARAMETERS: within(config, "hyperParameters") or {},
        }

    def job_of(self, found: Mapping[str, Any], tags: Mapping[str, str]) -> Job:
        """The job of an answer, or of a list's entry, which knows less."""
        known, status = self.facts(found), found["status"]
        validators = known["the validation data"] or ()
        files = (known["the training data"], *(each.get("s3Uri") for each in validators))
        return Job(
            driver=self.name,
            id=found["jobArn"],
            name=found["jobName"],
            status=STATUSES.get(status, "running"),  # a word that is newer than the table
            phase=_phase(found.get("statusDetails")) or ("" if status in STATUSES else status),
            model=found.get("baseModelArn", ""),
            grader=known["the grader"] or "",
            created=found["creationTime"].astimezone(UTC),
            ended=in_utc(found.get("endTime")),
            failure=found.get("failureMessage", ""),
            tuned_model=found.get("outputModelArn") or found.get("customModelArn", ""),
            hyperparameters=dict(known[HYPERPARAMETERS]),
            output=within(found, "outputDataConfig", "s3Uri") or "",
            tags=tags,
            files=tuple(filter(None, files)),
        )

    def ours(self, found: Mapping[str, Any]) -> bool:
        """Whether a job is one of reinforcement fine-tuning; one that does not say is."""
        return bool(found.get("customizationType", CUSTOMIZATION) == CUSTOMIZATION)

    def tags_of(self, found: Mapping[str, Any], /) -> Mapping[str, str]:
        """The tags of a job."""
        read = self._method("ListTagsForResource")
        name = found["jobName"]
        tags = answer(f"reading the tags of {name}", read, resourceARN=found["jobArn"])["tags"]
        return {each["key"]: each["value"] for each in tags}

    def events_of(self, found: Mapping[str, Any]) -> Iterator[JobEvent]:
        """The events in the times of a job and of its phases: Bedrock has no log of events."""
        if created := found.get("creationTime"):
            yield JobEvent("created", created, "info", "created")
        for member, phase in PHASES.items():
            details = within(found, "statusDetails", member) or {}
            status = details.get("status", "NotStarted")
            began, changed = details.get("creationTime"), details.get("lastModifiedTime")
            if status == "NotStarted":
                continue
            if began:
                yield JobEvent(f"{member}-began", began, "info", f"{phase} began")
            if changed and status not in AT_WORK:
                level = "error" if status == "Failed" else "info"
                yield JobEvent(f"{member}-{status}", changed, level, f"{phase}: {status}")
        yield from ended(
            found.get("endTime"), found.get("status", ""), found.get("failureMessage", "")
        )

    def metrics(self, job: Job) -> Iterator[MetricPoint]:
        """The figures of the files that Bedrock writes; none before there are files.

        Raises:
            AwsFailed: S3 refused, or could not be reached.
        """
        if not job.output:
            return
        bucket, _, key = job.output.removeprefix("s3://").partition("/")
        number = job.id.rpartition("/")[2]
        folder = f"{key.rstrip('/')}/".lstrip("/") + f"model-customization-job-{number}/"
        what = f"reading the metrics of {job.name}"
        # Who may list some prefixes alone gets 403, and not 404, for an object that is not there.
        there = {each["Key"] for each in objects_below(self._s3, bucket, folder, what)}
        for name, split in FILES:
            if folder + name in there:
                content = read_object(self._s3, bucket, folder + name, what)
                yield from points(content.decode("utf-8-sig", errors="replace"), split)

    def _named(self, name: str) -> Mapping[str, Any] | None:
        """The answer about the job of a name: asked for by it, and else looked for in the list."""
        found = self._asked(name)
        if found is not None:
            return found
        for summary in self._listed(nameContains=name):
            if summary["jobName"] == name:
                return self._asked(summary["jobArn"])
        return None


def points(lines: str, split: Literal["training", "validation"]) -> Iterator[MetricPoint]:
    """The figures of one file; a row that is not written to its end is passed over."""
    header, *rows = [*csv.reader(lines.splitlines())] or [[]]
    names = [name.strip() for name in header]
    for row, cells in enumerate(rows, start=1):
        if len(cells) != len(names):
            continue
        figures = {name: figure(cell) for name, cell in zip(names, cells, strict=True)}
        step = next((figures[name] for name in STEPS if name in figures), row)
        for name, value in figures.items():
            if step is not None and value is not None and name and name not in PLACES:
                yield MetricPoint(int(step), name, value, split)


def figure(cell: str) -> float | None:
    """The number of a cell; None where it holds none."""
    try:
        found = float(cell)
    except ValueError:
        return None
    return found if isfinite(found) else None


def _training(request: JobRequest) -> dict[str, Any]:
    if request.training:
        return {"s3Uri": request.training}
    logs: dict[str, Any] = {
        "usePromptResponse": request.use_prompt_response,
        "invocationLogSource": {"s3Uri": request.logs},
    }
    if request.filters:
        logs["requestMetadataFilters"] = _filters(request.filters)
    return {"invocationLogsConfig": logs}


def _filters(filters: Filters) -> dict[str, Any]:
    """One condition stands alone; several are joined, for the API takes exactly one member."""
    conditions = [each.model_dump(exclude_none=True, by_alias=True) for each in filters.conditions]
    if len(conditions) == 1:
        return conditions[0]
    return {"andAll" if filters.match == "all" else "orAll": conditions}


def _phase(details: Mapping[str, Any] | None) -> str:
    """The last phase that is at work, or that broke; "" where there is none."""
    found = ""
    for member, phase in PHASES.items():
        if within(details, member, "status") in AT_WORK | BROKEN:
            found = phase
    return found
