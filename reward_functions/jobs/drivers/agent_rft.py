"""Multi-turn jobs of SageMaker: `CreateJob` of the category AgentRFT, and its relatives.

A job is one JSON document, held to the schema that the service publishes now:

    member                what it has                                  read as
    AgentConfig           a forwarder, or an AgentCore runtime         the grader
    InputDataConfig       channels `train` and `validation`            files
    OutputDataConfig      S3OutputPath, KmsKeyArn                      output
    ModelPackageConfig    a group for the result, another for          -
                          checkpoints
    TrainingConfig        BaseModelArn, AcceptEula, MlflowConfig,      model, the MLflow app,
                          HyperParameters                              hyperparameters
    VpcConfig             where it runs, if anywhere                   -
    ServiceOutput         the service's own                            progress, run, tokens, and
                                                                       the model package

Hyperparameters are strings, and only those that were set. There is no client token. The resources
that a job needs beside its data are found or made first: the base model's hub content, two groups
of model packages, the MLflow app. Groups stay: one without packages costs nothing, and the next run
of the same job takes it.

Sources: botocore's model of SageMaker; sagemaker-train 1.27's builder of the document (version
1.0.0), the members of `ServiceOutput` that it reads, and its log group. How the streams of the log
are called is documented nowhere: those that begin with the job's name and a slash are read, as a
training job's.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

from reward_functions.aws.calls import answer, pages, present
from reward_functions.aws.failures import AwsFailed
from reward_functions.jobs.clients import client
from reward_functions.jobs.configuration import BadJob
from reward_functions.jobs.data import write_cells
from reward_functions.jobs.drivers.base import HYPERPARAMETERS, Api, ended, within
from reward_functions.jobs.drivers.sagemaker import (
    LISTED,
    InAccount,
    channels,
    counted,
    files_of,
    network,
    run_of,
    tag_list,
)
from reward_functions.jobs.hyperparameters import written
from reward_functions.jobs.job import Call, Job, JobEvent, JobRequest, Progress
from reward_functions.jobs.options import agent_of
from reward_functions.jobs.services import SERVICES, DriverName

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping


CATEGORY: Final = "AgentRFT"

LINES: Final = 1_000
"""Of a log that are read: its first ones."""

MILLISECONDS: Final = 1_000

MAX_NAME: Final = 63

CHECKPOINTS: Final = "-checkpoints"

TOKENS: Final = {
    "TrainTokenCount": "train",
    "PrefillTokenCount": "prefill",
    "SampleTokenCount": "sample",
}

TRIED: Final = 5
"""Versions of the schema that are read: the newest."""

SHOWN: Final = 3
"""Problems that a refusal names."""


class AgentDriver(InAccount):
    """Multi-turn training jobs of one account and region."""

    name: DriverName = "agent-rft"
    KIND = "multi-turn job"
    api = Api(
        "sagemaker",
        get="DescribeJob",
        stop="StopJob",
        list="ListJobs",
        id="JobArn",
        summaries="JobSummaries",
        listed={"JobCategory": CATEGORY, **LISTED},
    )
    CALLED = "JobName"
    STATUS = "JobStatus"
    ENDED = "EndTime"
    TAKEN_BY = "no multi-turn job has this name: choose another with --name"

    def named(self, identifier: str) -> dict[str, Any]:
        """The arguments by which SageMaker is asked about a job."""
        return super().named(identifier) | {"JobCategory": CATEGORY}

    def ours(self, found: Mapping[str, Any]) -> bool:
        """Whether it is a training job."""
        return bool(found.get("JobCategory", CATEGORY) == CATEGORY)

    def upload(self, file: Path, name: str, progress: Callable[[int], object] | None = None) -> str:
        """Put a file's cells into the stage's bucket, unless they are there.

        Returns:
            `s3://BUCKET/rft-data/jobs/NAME.jsonl`, a line `{"prompt": …}` for each row.

        Raises:
            BadJob: a row has no prompt, or another content is there under this name.
            AwsFailed: S3 refused it, or could not be reached.
            OSError: the file cannot be read.
        """
        with TemporaryDirectory(prefix="reward-job-") as folder:
            cells = Path(folder, "cells.jsonl")
            write_cells(file, cells)
            return super().upload(cells, name, progress)

    def calls(self, request: JobRequest) -> list[Call]:
        """The calls of `start`: the groups that are missing, and the job. SageMaker is read.

        Raises:
            BadJob: the service's schema does not take the job.
            AwsFailed: the service cannot be asked.
        """
        chosen = request.sagemaker
        groups = [
            self._group(name)
            for name in package_groups(request.name, chosen.model_packages if chosen else None)
        ]
        document = self._document(request, [arn for arn, _ in groups])
        made: dict[str, Any] = {
            "JobName": request.name,
            "RoleArn": request.role,
            "JobCategory": CATEGORY,
            "JobConfigSchemaVersion": fitting_version(self._client, document),
            "JobConfigDocument": json.dumps(document, separators=(",", ":"), allow_nan=False),
        }
        if request.tags:
            made["Tags"] = tag_list(request.tags)
        missing = [call for _, calls in groups for call in calls]
        return [*missing, Call(self.api.service, "CreateJob", made)]

    def delete(self, job: Job) -> None:
        """Remove a job that is over from the service; nothing where it is gone.

        Raises:
            BadJob: it runs.
            AwsFailed: SageMaker refused, or cannot be asked.
        """
        if not job.over:
            raise BadJob(f"{job.name} {job.state}: stop it first, with `reward job stop`")
        present(f"deleting {job.name}", self._client.delete_job, **self.named(job.id))

    def events(self, job: Job) -> Iterator[JobEvent]:
        """The events in the times of a job and of its phases, and its log where it may be read.

        Raises:
            AwsFailed: SageMaker cannot be asked.
        """
        logged = log_events(client("logs", self.region, self._session), job.name)
        return iter(sorted([*super().events(job), *logged], key=lambda event: event.at))

    def events_of(self, found: Mapping[str, Any]) -> Iterator[JobEvent]:
        """The events in the times of a job and of its phases."""
        status, over = found.get(self.STATUS, ""), found.get(self.ENDED)
        for event in super().events_of(found):
            # The last phase has the name of how the job ended, which is said with its reason.
            if not (over and event.id.startswith(f"{status}-")):
                yield event
        yield from ended(over, status, found.get("FailureReason", ""))

    def facts(self, job: Mapping[str, Any]) -> Mapping[str, Any]:
        """The facts that make two jobs of one name the same."""
        document = json.loads(job.get("JobConfigDocument", "{}"))
        agent = document.get("AgentConfig")
        training = document.get("TrainingConfig")
        return {
            "the agent": within(agent, "CustomAgentLambdaConfig", "LambdaArn")
            or within(agent, "BedrockAgentCoreConfig", "AgentRuntimeArn"),
            "the data": files_of(document.get("InputDataConfig")),
            "the base model": within(training, "BaseModelArn"),
            HYPERPARAMETERS: within(training, "HyperParameters") or {},
        }

    def job_of(self, found: Mapping[str, Any], tags: Mapping[str, str]) -> Job:
        """The job of an answer, or of a list's entry, which knows less."""
        document = json.loads(found.get("JobConfigDocument", "{}"))
        known, made = self.facts(found), document.get("ServiceOutput") or {}
        steps, rollouts = made.get("ProgressInfo") or {}, made.get("RolloutInfo") or {}
        usage = made.get("BillableTokenUsage") or {}
        return self._job(
            found,
            tags,
            model=known["the base model"] or "",
            grader=known["the agent"] or "",
            tuned_model=made.get("OutputModelPackageArn", ""),
            hyperparameters=dict(known[HYPERPARAMETERS]),
            output=within(document, "OutputDataConfig", "S3OutputPath") or "",
            files=tuple(uri for _, uri in known["the data"]),
            progress=counted(
                Progress(
                    epoch=steps.get("CurrentEpoch"),
                    epochs=steps.get("MaxEpoch"),
                    step=steps.get("CurrentStep"),
                    steps=steps.get("MaxSteps") or steps.get("StepsPerEpoch"),
                    rollouts=rollouts.get("Completed"),
                    of_rollouts=rollouts.get("Total"),
                )
            ),
            mlflow=run_of(
                within(document, "TrainingConfig", "MlflowConfig", "MlflowResourceArn"),
                within(made, "MlflowDetails", "RunId"),
                within(made, "MlflowDetails", "ExperimentId"),
            ),
            tokens={kind: usage[name] for name, kind in TOKENS.items() if name in usage},
        )

    def tags_of(self, found: Mapping[str, Any], /) -> Mapping[str, str]:
        """The tags of a job, which its answer has."""
        return {each["Key"]: each["Value"] for each in found.get("Tags") or ()}

    def _document(self, request: JobRequest, groups: list[str]) -> dict[str, Any]:
        """What the job consists of.

        Raises:
            BadJob: a hyperparameter is wrong, or the agent is none.
        """
        chosen = request.sagemaker
        training: dict[str, Any] = {
            "BaseModelArn": request.model,
            "AcceptEula": bool(chosen and chosen.accept_eula),
        }
        if app := self._mlflow(request):
            training["MlflowConfig"] = {
                "MlflowResourceArn": app,
                "MlflowExperimentName": request.name,
                "MlflowRunName": request.name,
            }
        if parameters := written(request.hyperparameters):
            training["HyperParameters"] = parameters
        output = {"S3OutputPath": request.output}
        if request.model_key:
            output["KmsKeyArn"] = request.model_key
        packages, checkpoints = groups
        return {
            "AgentConfig": agent_of(request.agent).config(),
            "InputDataConfig": channels(
                {"train": request.training, "validation": request.validation}
            ),
            "OutputDataConfig": output,
            "ModelPackageConfig": {
                "OutputModelPackageGroupArn": packages,
                "IntermediateCheckpointModelPackageGroupArn": checkpoints,
            },
            "TrainingConfig": training,
        } | network(request.vpc)


def log_events(logs: Any, name: str) -> Iterator[JobEvent]:
    """The lines of a job's log; none where there is no log, or the caller may not read it.

    Args:
        logs: a client of CloudWatch Logs.
        name: of the job.

    Raises:
        AwsFailed: CloudWatch cannot be reached.
    """
    group = SERVICES["agent-rft"].log_group
    try:
        found = present(
            f"reading the log {group}",
            logs.filter_log_events,
            logGroupName=group,
            logStreamNamePrefix=f"{name}/",
            limit=LINES,
        )
    except AwsFailed as error:
        if error.denied:
            return
        raise
    for each in (found or {}).get("events", []):
        # A service that ignores the prefix would give this job the lines of another.
        if (each.get("logStreamName") or "").startswith(f"{name}/"):
            at, message = each["timestamp"], each["message"].strip()
            when = datetime.fromtimestamp(at / MILLISECONDS, UTC)
            known = each.get("eventId") or f"log-{at}-{message[:64]}"
            yield JobEvent(known, when, "info", message)


def package_groups(job: str, given: str | None) -> tuple[str, str]:
    """The names of the group of results, and of that of checkpoints, which has to be another one.

    Args:
        job: the job's name, for a group that nobody names.
        given: the configuration's `model_packages`: a name, or an ARN.
    """
    name = (given or job).rpartition("/")[2]
    return name, name[: MAX_NAME - len(CHECKPOINTS)].rstrip("-") + CHECKPOINTS


def fitting_version(sagemaker: Any, document: Mapping[str, Any]) -> str:
    """The newest version of the service's schema that a document fits: it ships in no package.

    An older one is tried where ours lacks what the newest requires.

    Raises:
        BadJob: it fits none of the newest; the message says where the very newest objects.
        AwsFailed: the service cannot be asked, or has no version.
    """
    what = f"listing the schemas of {CATEGORY}"
    listed = pages(
        what,
        sagemaker.list_job_schema_versions,
        "JobConfigSchemas",
        marker="NextToken",
        JobCategory=CATEGORY,
    )
    versions = [each["JobConfigSchemaVersion"] for each in listed]
    if not versions:
        raise AwsFailed(f"{what}: the service has none in this region")
    refused = ""
    for version in sorted(versions, key=_numbers, reverse=True)[:TRIED]:
        found = answer(
            f"reading the schema {version} of {CATEGORY}",
            sagemaker.describe_job_schema_version,
            JobCategory=CATEGORY,
            JobConfigSchemaVersion=version,
        )
        problems = schema_problems(json.loads(found["JobConfigSchema"]), document)
        if not problems:
            return str(version)
        more = f"; and {len(problems) - SHOWN} more" if len(problems) > SHOWN else ""
        refused = refused or (
            f"the service's schema {version} of {CATEGORY} does not take this job: "
            f"{'; '.join(problems[:SHOWN])}{more}"
        )
    raise BadJob(refused)


def _numbers(version: str) -> list[int]:
    return [int(part) for part in version.split(".")]


def schema_problems(schema: Any, document: Mapping[str, Any]) -> list[str]:
    """The breaches of a schema in a document: a sentence a place and rule; empty without any."""
    from jsonschema_rs import validator_for  # noqa: PLC0415 - an extra

    checks = validator_for(schema, offline=True)
    return [
        f"{_place(each.instance_path) or 'the document'}: {each.message}"
        for each in checks.iter_errors(document)
    ]


def _place(path: Iterable[str | int]) -> str:
    steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return "".join(steps).lstrip(".")
