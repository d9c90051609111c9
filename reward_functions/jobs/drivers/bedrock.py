"""Jobs of Bedrock's control plane: `CreateModelCustomizationJob` and its relatives.

A job's name is its own, in one account and region. `start` sends it with a client token, so that a
repeat is the same job to the service as well; where the name is taken, the job that has it is
compared with what was asked for.
"""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from math import isclose
from typing import TYPE_CHECKING, Any, Final

from reward_functions.aws.failures import AwsFailed
from reward_functions.jobs.clients import client
from reward_functions.jobs.configuration import BadJob
from reward_functions.jobs.drivers.bedrock_job import events_of, grading, job_of, listed
from reward_functions.jobs.drivers.bedrock_metrics import metrics_of
from reward_functions.jobs.drivers.bedrock_request import request_of
from reward_functions.jobs.drivers.fields import number, text, within
from reward_functions.jobs.drivers.objects import address_of, discarded, uploaded_once
from reward_functions.jobs.failures import answer, pages
from reward_functions.jobs.job import Call, NoSuchJob
from reward_functions.jobs.request_rules import check_request

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from boto3.session import Session

    from reward_functions.jobs.job import DriverName, Job, JobEvent, JobRequest, MetricPoint

NAME: Final = re.compile(r"[a-zA-Z0-9][a-zA-Z0-9+.-]{0,62}")
"""A job's name (botocore's `JobName`, whose own pattern takes exponential time for the same)."""

ARN: Final = re.compile(
    r"arn:aws[a-z-]*:bedrock:(?P<region>[a-z0-9-]{1,20}):[0-9]{12}:model-customization-job/\S+"
)

MAX_IDENTIFIER: Final = 1_011
"""Characters (botocore's `ModelCustomizationJobIdentifier`)."""

PAGE: Final = 100

TAKEN: Final = ("already", "in use", "exists")
"""What a refusal says of a name that something else has."""

UNDECIDED: Final = frozenset({"", "InternalServerException"})
"""How a call fails that may have started a job all the same; "" is no answer."""

SINGLE: Final = 1e-6
"""By how much a hyperparameter may differ that went through a number of single precision."""

COMPARED: Final = {
    "the grader": (
        "customizationConfig",
        "rftConfig",
        "graderConfig",
        "lambdaGrader",
        "lambdaArn",
    ),
    "the training data": ("trainingDataConfig", "s3Uri"),
    "the invocation logs": (
        "trainingDataConfig",
        "invocationLogsConfig",
        "invocationLogSource",
        "s3Uri",
    ),
    "the validation data": ("validationDataConfig", "validators"),
}
"""What makes two requests of one name the same job, and where it stands in request and answer."""


class BedrockDriver:
    """Jobs of one account and region.

    Args:
        region: of the jobs, their data and their graders.
        bucket: the stage's, where files are put.
        session: boto3's; the caller's own where not given.
    """

    name: DriverName = "bedrock"

    def __init__(self, region: str, bucket: str, session: Session | None = None) -> None:
        self.region = region
        self._bucket = bucket
        self._session = session
        self._tags: dict[str, Mapping[str, str]] = {}

    @cached_property
    def _bedrock(self) -> Any:
        return client("bedrock", self.region, self._session)

    @cached_property
    def _s3(self) -> Any:
        return client("s3", self.region, self._session)

    def upload(self, file: Path, name: str, progress: Callable[[int], object] | None = None) -> str:
        """Put a file into the stage's bucket, unless it is there.

        Returns:
            `s3://BUCKET/rft-data/jobs/NAME.jsonl`.

        Raises:
            BadJob: another content is there under this name.
            AwsFailed: S3 refused it, or could not be reached.
            OSError: the file cannot be read.
        """
        return uploaded_once(self._s3, self._bucket, file, name, progress)

    def address(self, name: str) -> str:
        """Where `upload` puts a file."""
        return address_of(self._bucket, name)

    def calls(self, request: JobRequest) -> list[Call]:
        """What `start` would send.

        Raises:
            BadJob: it has no data, data of both kinds, or breaks a rule of the service's model.
        """
        arguments = request_of(request)
        check_request("bedrock", "CreateModelCustomizationJob", arguments)
        return [Call("bedrock", "CreateModelCustomizationJob", arguments)]

    def discard(self, uploaded: str) -> None:
        """Remove a file that `upload` put there; nothing where it is gone.

        Raises:
            AwsFailed: S3 refused, or could not be reached.
        """
        discarded(self._s3, uploaded)

    def start(self, request: JobRequest) -> Job:
        """Start it; where the same job has the name already, that one.

        Raises:
            BadJob: something else has the name.
            AwsFailed: Bedrock refused it, or it is not known whether it started.
        """
        what = f"starting {request.name}"
        create = self._bedrock.create_model_customization_job
        try:
            arn = text(answer(what, create, **request_of(request)).get("jobArn"))
        except AwsFailed as error:
            if _name_taken(error, what):
                return self._same(request, str(error))
            if error.code not in UNDECIDED or not self._started(request.name):
                raise
            return self._same(request, str(error))
        try:
            return self.get(arn)
        except (AwsFailed, NoSuchJob) as error:
            raise AwsFailed(
                f"{request.name} is started as {arn}, and cannot be read yet ({error}); "
                f"`reward job show {request.name}` shows it"
            ) from None

    def find(self, name: str) -> Job | None:
        """The job of this name; None where there is none.

        Raises:
            AwsFailed: Bedrock cannot be asked.
        """
        found = self._named(name)
        return None if found is None else self._whole(found)

    def get(self, identifier: str) -> Job:
        """One job by its ARN or its name.

        Raises:
            NoSuchJob: there is none here.
            AwsFailed: Bedrock cannot be asked.
        """
        arn = ARN.fullmatch(identifier) if len(identifier) <= MAX_IDENTIFIER else None
        if arn and arn["region"] != self.region:
            raise NoSuchJob(f"{identifier} is a job of {arn['region']}, and not of {self.region}")
        if arn:
            found = self._asked(identifier)
        else:
            found = self._named(identifier) if NAME.fullmatch(identifier) else None
        if found is None:
            raise NoSuchJob(f"there is no job {identifier!r} in {self.region}")
        return self._whole(found)

    def jobs(self) -> Iterator[Job]:
        """Jobs of reinforcement fine-tuning, newest first, without grader, output and tags.

        Raises:
            AwsFailed: Bedrock cannot be asked.
        """
        for summary in self._listed(sortBy="CreationTime", sortOrder="Descending"):
            job = listed(summary)
            if job is not None:
                yield job

    def stop(self, job: Job) -> Job:
        """Ask it to stop; one that is over stays as it is.

        Raises:
            AwsFailed: Bedrock refused, or cannot be asked.
        """
        if not job.over:
            stop = self._bedrock.stop_model_customization_job
            try:
                answer(f"stopping {job.name}", stop, jobIdentifier=job.id)
            except AwsFailed as error:
                if error.code != "ConflictException":  # it ended meanwhile, or stops already
                    raise
        return self.get(job.id)

    def events(self, job: Job) -> Iterator[JobEvent]:
        """What the times of a job and of its phases say: Bedrock has no log of events.

        Raises:
            AwsFailed: Bedrock cannot be asked.
        """
        found = self._asked(job.id)
        return events_of(found or {})

    def metrics(self, job: Job) -> Iterator[MetricPoint]:
        """The figures of the files that Bedrock writes; none before there are files.

        Raises:
            AwsFailed: S3 refused, or could not be reached.
        """
        return metrics_of(job, self._s3)

    def _started(self, name: str) -> bool:
        """Whether there is a job although the call that made it failed."""
        with suppress(AwsFailed):
            return self._named(name) is not None
        return False

    def _same(self, request: JobRequest, refusal: str) -> Job:
        """The job that has the name, where it is the one that is asked for."""
        found = self._named(request.name)
        if found is None:
            raise BadJob(
                f"{refusal}; no job has this name, so a custom model has it: delete the model, or "
                "choose another name with --name"
            )
        different = _differences(request_of(request), found)
        if different:
            raise BadJob(
                f"a job {request.name} is there already, and differs in {', '.join(different)}: "
                "choose another name with --name, or the next run with --again"
            )
        return self._whole(found)

    def _named(self, name: str) -> Mapping[str, Any] | None:
        """The answer about the job of a name: asked for by it, and else looked for in the list."""
        found = self._asked(name)
        if found is not None:
            return found
        for summary in self._listed(nameContains=name[:63]):
            if summary.get("jobName") == name:
                return self._asked(text(summary.get("jobArn")))
        return None

    def _asked(self, identifier: str) -> Mapping[str, Any] | None:
        get = self._bedrock.get_model_customization_job
        try:
            return answer(f"reading the job {identifier}", get, jobIdentifier=identifier)
        except AwsFailed as error:
            if error.missing:
                return None
            raise

    def _listed(self, **chosen: Any) -> Iterator[dict[str, Any]]:
        return pages(
            f"listing the jobs of {self.region}",
            self._bedrock.list_model_customization_jobs,
            "modelCustomizationJobSummaries",
            maxResults=PAGE,
            **chosen,
        )

    def _whole(self, found: Mapping[str, Any]) -> Job:
        """The job of an answer, with its tags, which a watch reads once."""
        job = job_of(found, {})
        if job.id not in self._tags:
            read = self._bedrock.list_tags_for_resource
            with suppress(AwsFailed):  # a caller who may not read them sees the job without
                tags = answer(f"reading the tags of {job.name}", read, resourceARN=job.id)
                self._tags[job.id] = {
                    text(tag.get("key")): text(tag.get("value"))
                    for tag in tags.get("tags") or []
                    if isinstance(tag, dict)
                }
        return replace(job, tags=self._tags.get(job.id, {}))


def _name_taken(error: AwsFailed, what: str) -> bool:
    """Whether the refusal is of the name; what was tried holds the name, and is passed over."""
    if error.code == "ConflictException":
        return True
    reason = str(error).removeprefix(what)
    return error.code == "ValidationException" and any(word in reason for word in TAKEN)


def _differences(asked: Mapping[str, Any], found: Mapping[str, Any]) -> list[str]:
    """In what a job differs from what is asked for; its defaults are the service's own."""
    different = [
        name
        for name, path in COMPARED.items()
        if (within(asked, *path) or None) != (within(found, *path) or None)
    ]
    _, wanted = grading(asked)
    _, chosen = grading(found)
    if not all(_equal(value, within(chosen, name)) for name, value in (wanted or {}).items()):
        different.append("the hyperparameters")
    return different


def _equal(wanted: Any, chosen: Any) -> bool:
    first, second = number(wanted), number(chosen)
    if first is None or second is None:
        return bool(wanted == chosen)
    return isclose(first, second, rel_tol=SINGLE)
