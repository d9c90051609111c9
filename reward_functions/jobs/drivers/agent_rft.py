"""Multi-turn jobs of SageMaker: `CreateJob` of the category AgentRFT, and its relatives.

A job's name is its own in one account, region and category, and there is no client token: where the
name is taken, the job that has it is compared with what was asked for. What the job needs beside
its data is found or made first: the base model's hub content, two groups of model packages, the
MLflow app. Then the document is held to the schema that the service publishes now.

The log of a multi-turn job, as events; a caller who may not read it gets none.

Source: `/aws/sagemaker/Job/AgentRFT`, sagemaker-train 1.27. How its streams are called is
documented nowhere: those that begin with the job's name and a slash are read, as a training job's.
"""

from __future__ import annotations

import re
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

from reward_functions.aws.catalogue import JOB_DATA_PREFIX
from reward_functions.aws.failures import AwsFailed
from reward_functions.jobs.agent_rows import write_cells
from reward_functions.jobs.clients import client
from reward_functions.jobs.configuration import BadJob
from reward_functions.jobs.drivers.agent_rft_document import (
    EvaluationRequest,
    as_text,
    evaluation_document,
    training_document,
)
from reward_functions.jobs.drivers.agent_rft_job import (
    agent_in,
    document_of,
    events_of,
    files_in,
    job_of,
)
from reward_functions.jobs.drivers.agent_rft_resources import looked_up, made_for
from reward_functions.jobs.drivers.agent_rft_schemas import fitting_version
from reward_functions.jobs.drivers.fields import moment, text, within
from reward_functions.jobs.drivers.objects import SUFFIX, discarded, uploaded_once
from reward_functions.jobs.failures import UNREADABLE, answer
from reward_functions.jobs.job import Call, JobEvent, NoSuchJob
from reward_functions.jobs.request_rules import check_request

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from boto3.session import Session

    from reward_functions.aws.catalogue import DeployedStage
    from reward_functions.jobs.job import DriverName, Job, JobRequest, MetricPoint


GROUP: Final = "/aws/sagemaker/Job/{category}"

MOST: Final = 1_000
"""Lines of a log that are read: its first ones."""

MILLISECONDS: Final = 1_000


def log_events(client: Any, name: str, category: str) -> Iterator[JobEvent]:
    """The lines of a job's log; none where there is no log, or the caller may not read it.

    Args:
        client: of CloudWatch Logs.
        name: of the job.
        category: of the job.

    Raises:
        AwsFailed: CloudWatch cannot be reached.
    """
    group = GROUP.format(category=category)
    try:
        found = answer(
            f"reading the log {group}",
            client.filter_log_events,
            logGroupName=group,
            logStreamNamePrefix=f"{name}/",
            limit=MOST,
        )
    except AwsFailed as error:
        if error.missing or error.denied:
            return
        raise
    for each in found.get("events") or []:
        # A service that ignores the prefix would give this job the lines of another.
        if not text(each.get("logStreamName")).startswith(f"{name}/"):
            continue
        at, message = each.get("timestamp"), text(each.get("message")).strip()
        when = moment(at / MILLISECONDS) if isinstance(at, int) else None
        if when and message:
            known = text(each.get("eventId")) or f"log-{at}-{message[:64]}"
            yield JobEvent(known, when, "info", message)


TRAINING: Final = "AgentRFT"
EVALUATION: Final = "AgentRFTEvaluation"

NAME: Final = re.compile(r"[a-zA-Z0-9]+(?:-+[a-zA-Z0-9]+)*")
"""A job's name (botocore's `JobName`, in linear time)."""

MAX_NAME: Final = 63

ARN: Final = re.compile(
    r"arn:aws[a-z-]*:sagemaker:(?P<region>[a-z0-9-]{1,25}):[0-9]{12}:job/"
    r"(?P<category>AgentRFT|AgentRFTEvaluation)/(?P<name>[a-zA-Z0-9-]{1,63})"
)

PAGE: Final = 100
MAX_PAGES: Final = 1_000

TAKEN: Final = frozenset({"ResourceInUse", "ConflictException"})

UNDECIDED: Final = frozenset({"", "InternalServerException", "InternalFailure"})
"""How a call fails that may have started a job all the same; "" is no answer."""


class AgentDriver:
    """Multi-turn jobs of one account and region.

    Args:
        region: of the jobs, their data and their agents.
        stage: whose bucket holds the data, and whose role the jobs run as.
        session: boto3's; the caller's own where not given.
    """

    name: DriverName = "agent-rft"

    def __init__(self, region: str, stage: DeployedStage, session: Session | None = None) -> None:
        self.region = region
        self._stage = stage
        self._session = session

    @cached_property
    def _sagemaker(self) -> Any:
        return client("sagemaker", self.region, self._session)

    @cached_property
    def _s3(self) -> Any:
        return client("s3", self.region, self._session)

    def address(self, name: str) -> str:
        """Where `upload` puts a file of this name."""
        return f"s3://{self._stage.bucket}/{JOB_DATA_PREFIX}{name}{SUFFIX}"

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
            written = Path(folder, "cells.jsonl")
            write_cells(file, written)
            return uploaded_once(self._s3, self._stage.bucket, written, name, progress)

    def discard(self, uploaded: str) -> None:
        """Remove a file that `upload` put there; nothing where it is gone.

        Raises:
            AwsFailed: S3 refused, or could not be reached.
        """
        discarded(self._s3, uploaded)

    def calls(self, request: JobRequest) -> list[Call]:
        """What `start` would send: the groups that are missing, and the job. SageMaker is read.

        Raises:
            BadJob: the service's schema does not take the job, or the base model is unknown.
            AwsFailed: the service cannot be asked.
        """
        made, missing = looked_up(request, self.region, self._sagemaker)
        groups = [
            Call("sagemaker", "CreateModelPackageGroup", {"ModelPackageGroupName": name})
            for name in missing
        ]
        document = training_document(request, made)
        return [*groups, Call("sagemaker", "CreateJob", self._request(request, TRAINING, document))]

    def start(self, request: JobRequest) -> Job:
        """Start it; where the same job has the name already, that one.

        Raises:
            BadJob: something else has the name, or the schema does not take the job.
            AwsFailed: SageMaker refused it, or it is not known whether it started.
        """
        made = made_for(request, self.region, self._sagemaker)
        return self._started(request, TRAINING, training_document(request, made))

    def evaluation_of(self, request: EvaluationRequest, base: str, mlflow: str = "") -> Job:
        """Start an evaluation of a base model, or of the package that a job made.

        Args:
            request: what is asked, by which agent, on what.
            base: ARN or hub name of the base model.
            mlflow: ARN of the MLflow app; else the account's default one.

        Raises:
            BadJob, AwsFailed: as `start`.
        """
        made, _ = looked_up(request, self.region, self._sagemaker, base=base, mlflow=mlflow)
        return self._started(request, EVALUATION, evaluation_document(request, made))

    def find(self, name: str) -> Job | None:
        """The training job of this name; None where there is none.

        Raises:
            AwsFailed: SageMaker cannot be asked.
        """
        found = self._described(name, TRAINING) if _possible(name) else None
        return None if found is None else job_of(found)

    def get(self, identifier: str) -> Job:
        """One job by its ARN, or a training job by its name.

        Raises:
            NoSuchJob: there is none here.
            AwsFailed: SageMaker cannot be asked.
        """
        arn = ARN.fullmatch(identifier)
        if arn and arn["region"] != self.region:
            raise NoSuchJob(f"{identifier} is a job of {arn['region']}, and not of {self.region}")
        name, category = (arn["name"], arn["category"]) if arn else (identifier, TRAINING)
        found = self._described(name, category) if _possible(name) else None
        if found is None or (arn and found.get("JobArn") != identifier):
            raise NoSuchJob(f"there is no multi-turn job {identifier!r} in {self.region}")
        return job_of(found)

    def jobs(self) -> Iterator[Job]:
        """Training jobs, newest first, without what only `get` knows.

        Raises:
            AwsFailed: SageMaker cannot be asked.
        """
        what = f"listing the multi-turn jobs of {self.region}"
        token: dict[str, Any] = {}
        for _ in range(MAX_PAGES):
            page = answer(
                what, self._sagemaker.list_jobs, JobCategory=TRAINING, MaxResults=PAGE,
                SortBy="CreationTime", SortOrder="Descending", **token,
            )  # fmt: skip
            summaries = page.get("JobSummaries")
            if not isinstance(summaries, list):
                raise AwsFailed(f"{what}: {UNREADABLE}")
            yield from (job_of(each) for each in summaries if isinstance(each, dict))
            following = {"NextToken": page.get("NextToken")}
            if not following["NextToken"] or following == token:
                return
            token = following
        raise AwsFailed(f"{what}: the list has over {MAX_PAGES:,} pages")

    def stop(self, job: Job) -> Job:
        """Ask it to stop; one that is over stays as it is.

        Raises:
            AwsFailed: SageMaker refused, or cannot be asked.
        """
        if not job.over:
            what, category = f"stopping {job.name}", _category(job)
            stop = self._sagemaker.stop_job
            try:
                answer(what, stop, JobName=job.name, JobCategory=category)
            except AwsFailed:
                if not self.get(job.id).over:  # it may have ended meanwhile
                    raise
        return self.get(job.id)

    def delete(self, job: Job) -> None:
        """Remove a job that is over from the service; nothing where it is gone.

        Raises:
            BadJob: it runs.
            AwsFailed: SageMaker refused, or cannot be asked.
        """
        if not job.over:
            raise BadJob(f"{job.name} {job.state}: stop it first, with `reward job stop`")
        remove = self._sagemaker.delete_job
        try:
            answer(f"deleting {job.name}", remove, JobName=job.name, JobCategory=_category(job))
        except AwsFailed as error:
            if not error.missing:
                raise

    def events(self, job: Job) -> Iterator[JobEvent]:
        """What the times of a job and of its phases say, and its log where it may be read.

        Raises:
            AwsFailed: SageMaker cannot be asked.
        """
        found = self._described(job.name, _category(job)) or {}
        logged = log_events(client("logs", self.region, self._session), job.name, _category(job))
        return iter(sorted([*events_of(found), *logged], key=lambda event: event.at))

    def metrics(self, job: Job) -> Iterator[MetricPoint]:
        """The figures of the job's MLflow run; none before it has one, or where no app is named.

        Raises:
            AwsFailed: MLflow refused, or could not be reached.
        """
        from reward_functions.jobs.drivers.mlflow import metrics_of  # noqa: PLC0415

        run = job.mlflow or self.get(job.id).mlflow
        return (
            iter(())
            if run is None or not run.can_be_read
            else metrics_of(run, self.region, self._session)
        )

    def _started(
        self, request: JobRequest | EvaluationRequest, category: str, document: dict[str, Any]
    ) -> Job:
        what = f"starting {request.name}"
        asked = self._request(request, category, document)
        try:
            arn = text(answer(what, self._sagemaker.create_job, **asked).get("JobArn"))
        except AwsFailed as error:
            maybe = error.code in UNDECIDED and self._is_there(request.name, category)
            if error.code not in TAKEN and not maybe:
                raise
            return self._same(request.name, category, document, str(error))
        try:
            return self.get(arn)
        except (AwsFailed, NoSuchJob) as error:
            raise AwsFailed(
                f"{request.name} is started as {arn}, and cannot be read yet ({error}); "
                f"`reward job show {request.name}` shows it"
            ) from None

    def _request(
        self, request: JobRequest | EvaluationRequest, category: str, document: dict[str, Any]
    ) -> dict[str, Any]:
        """The call that starts a job, its document held to the live schema."""
        if not _possible(request.name):
            raise BadJob(
                f"name: {request.name[:80]!r} is no name of a job: 1 to {MAX_NAME} letters, digits "
                "and hyphens between them"
            )
        asked: dict[str, Any] = {
            "JobName": request.name,
            "RoleArn": request.role,
            "JobCategory": category,
            "JobConfigSchemaVersion": fitting_version(self._sagemaker, category, document),
            "JobConfigDocument": as_text(document),
        }
        if request.tags:
            tags = [{"Key": key, "Value": value} for key, value in request.tags.items()]
            asked["Tags"] = tags
        check_request("sagemaker", "CreateJob", asked)
        return asked

    def _same(self, name: str, category: str, document: dict[str, Any], refusal: str) -> Job:
        """The job that has the name, where it is the one that is asked for."""
        found = self._described(name, category)
        if found is None:
            raise BadJob(f"{refusal}; no multi-turn job has this name: choose another with --name")
        if different := _differences(document, document_of(found)):
            raise BadJob(
                f"a job {name} is there already, and differs in {', '.join(different)}: choose "
                "another name with --name, or the next run with --again"
            )
        return job_of(found)

    def _is_there(self, name: str, category: str) -> bool:
        """Whether there is a job although the call that made it failed."""
        with suppress(AwsFailed):
            return self._described(name, category) is not None
        return False

    def _described(self, name: str, category: str) -> Mapping[str, Any] | None:
        describe = self._sagemaker.describe_job
        try:
            return answer(f"reading the job {name}", describe, JobName=name, JobCategory=category)
        except AwsFailed as error:
            if error.missing:
                return None
            raise


def _possible(name: str) -> bool:
    return len(name) <= MAX_NAME and NAME.fullmatch(name) is not None


def _category(job: Job) -> str:
    arn = ARN.fullmatch(job.id)
    return arn["category"] if arn else TRAINING


def _differences(asked: Mapping[str, Any], found: Mapping[str, Any]) -> list[str]:
    """In what a job differs from what is asked for; its defaults are the service's own."""
    different = [name for name, part in _COMPARED.items() if part(asked) != part(found)]
    wanted, chosen = (_hyperparameters(each) for each in (asked, found))
    if any(chosen.get(name) != value for name, value in wanted.items()):
        different.append("the hyperparameters")
    return different


def _config(document: Mapping[str, Any]) -> Any:
    return document.get("TrainingConfig") or document.get("EvaluationConfig")


def _base(document: Mapping[str, Any]) -> Any:
    return within(_config(document), "BaseModelArn")


def _hyperparameters(document: Mapping[str, Any]) -> dict[str, Any]:
    found = within(_config(document), "HyperParameters")
    return found if isinstance(found, dict) else {}


_COMPARED: Final[dict[str, Callable[[Mapping[str, Any]], Any]]] = {
    "the agent": agent_in,
    "the data": files_in,
    "the base model": _base,
}
"""The parts of a document in which two jobs may differ, beside their hyperparameters."""
