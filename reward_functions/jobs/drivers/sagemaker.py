"""Jobs of SageMaker's serverless customization: `CreateTrainingJob` and its relatives.

A job's name is its own in one account and region, and its token: where the name is taken, the job
that has it is compared with what was asked for. Before a job, its reward is registered as an
evaluator, and the group is made for the model packages that come out; both are found again by a
repeat, and cost nothing.

Whether the job that has a name is the one that is asked for.

Names are tokens: who starts a job again meets its name. What counts is what a model is made of;
tags, the app for figures and the limit of time do not.
"""

from __future__ import annotations

import re
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from reward_functions.aws.arn import FunctionArn
from reward_functions.aws.failures import AwsFailed
from reward_functions.jobs.clients import client
from reward_functions.jobs.configuration import BadJob
from reward_functions.jobs.drivers.fields import text, within
from reward_functions.jobs.drivers.objects import address_of, discarded, uploaded_once
from reward_functions.jobs.drivers.sagemaker_job import events_of, job_of, serverless
from reward_functions.jobs.drivers.sagemaker_request import request_of, tags_of
from reward_functions.jobs.evaluators import Registry, name_of
from reward_functions.jobs.failures import answer, pages
from reward_functions.jobs.grader import account_of
from reward_functions.jobs.job import Call, NoSuchJob
from reward_functions.jobs.request_rules import check_request
from reward_functions.jobs.tags import OURS, tag

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from boto3.session import Session

    from reward_functions.aws.catalogue import DeployedStage
    from reward_functions.jobs.job import DriverName, Job, JobEvent, JobRequest, MetricPoint


COMPARED: Final = {
    "the model": ("ServerlessJobConfig", "BaseModelArn"),
    "the technique": ("ServerlessJobConfig", "CustomizationTechnique"),
    "the adapters": ("ServerlessJobConfig", "Peft"),
    "the sequence length": ("ServerlessJobConfig", "SequenceLength"),
    "the evaluator": ("ServerlessJobConfig", "EvaluatorArn"),
    "the output": ("OutputDataConfig", "S3OutputPath"),
}
"""What makes two requests of one name the same job, and where it stands in request and answer."""


def differences(asked: Mapping[str, Any], found: Mapping[str, Any]) -> list[str]:
    """In what a job differs from what is asked for.

    Args:
        asked: the arguments of `CreateTrainingJob`.
        found: what `DescribeTrainingJob` answers.

    Returns:
        the parts, in words; none for the same job.
    """
    different = [
        name
        for name, path in COMPARED.items()
        if _plain(within(asked, *path)) != _plain(within(found, *path))
    ]
    if _data(asked) != _data(found):
        different.append("the data")
    wanted, chosen = asked["HyperParameters"], found.get("HyperParameters")
    if any(within(chosen, name) != value for name, value in wanted.items()):
        different.append("the hyperparameters")
    return different


def _plain(value: Any) -> str:
    """A value to compare: without a slash at its end, or the version that a service added."""
    whole = text(value).rstrip("/")
    return re.sub(r"(:hub-content/SageMakerPublicHub/Model/[a-zA-Z0-9-]+)/[0-9.]+\Z", r"\1", whole)


def _data(request: Mapping[str, Any]) -> list[tuple[str, str]]:
    channels = request.get("InputDataConfig")
    return sorted(
        (
            text(within(each, "ChannelName")),
            text(within(each, "DataSource", "S3DataSource", "S3Uri")),
        )
        for each in (channels if isinstance(channels, list) else ())
    )


NAME: Final = re.compile(r"[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?")
"""A job's name (botocore's `TrainingJobName`, in linear form)."""

ARN: Final = re.compile(
    r"arn:aws[a-z-]*:sagemaker:(?P<region>[a-z0-9-]{1,20}):[0-9]{12}:training-job/"
    r"(?P<name>[a-zA-Z0-9-]{1,63})"
)

PAGE: Final = 100

IN_USE: Final = frozenset({"ResourceInUse", "ConflictException"})

ABSENT: Final = ("not found", "does not exist", "could not find")
"""What a `ValidationException` says of a job or a group that is not there: SageMaker has no code of
its own for it in older operations."""

UNDECIDED: Final = frozenset({"", "InternalServerException", "InternalFailure"})
"""How a call fails that may have started a job all the same; "" is no answer."""

READY: Final = frozenset({"Created", "Updated"})
"""States in which an MLflow app takes figures."""


class SageMakerDriver:
    """Jobs of one account and region.

    Args:
        region: of the jobs, their data and their rewards.
        stage: whose bucket holds the data, and whose role the jobs run as.
        session: boto3's; the caller's own where not given.
    """

    name: DriverName = "sagemaker"

    def __init__(self, region: str, stage: DeployedStage, session: Session | None = None) -> None:
        self.region = region
        self._stage = stage
        self._session = session
        self._tags: dict[str, Mapping[str, str]] = {}

    @cached_property
    def _sagemaker(self) -> Any:
        return client("sagemaker", self.region, self._session)

    @cached_property
    def _s3(self) -> Any:
        return client("s3", self.region, self._session)

    @cached_property
    def _registry(self) -> Registry:
        return Registry(self.region, account_of(self._stage), self._session)

    def upload(self, file: Path, name: str, progress: Callable[[int], object] | None = None) -> str:
        """Put a file into the stage's bucket, unless it is there.

        Returns:
            `s3://BUCKET/rft-data/jobs/NAME.jsonl`.

        Raises:
            BadJob: another content is there under this name.
            AwsFailed: S3 refused it, or could not be reached.
            OSError: the file cannot be read.
        """
        return uploaded_once(self._s3, self._stage.bucket, file, name, progress)

    def address(self, name: str) -> str:
        """Where `upload` puts a file."""
        return address_of(self._stage.bucket, name)

    def discard(self, uploaded: str) -> None:
        """Remove a file that `upload` put there; nothing where it is gone.

        Raises:
            AwsFailed: S3 refused, or could not be reached.
        """
        discarded(self._s3, uploaded)

    def calls(self, request: JobRequest) -> list[Call]:
        """What `start` would send: what registers the reward, makes the group, starts the job.

        Raises:
            BadJob: SageMaker would refuse the request.
            AwsFailed: SageMaker cannot be asked.
        """
        evaluator, calls = self._judged(request), list[Call]()
        if request.grader:
            function = FunctionArn.parse(request.grader)
            found, calls = self._registry.planned(
                name_of(function), "RewardFunction", request.grader
            )
            evaluator = found.arn
        group, made = self._group(request)
        calls += made
        arguments = self._arguments(request, evaluator, group)
        return [*calls, Call("sagemaker", "CreateTrainingJob", arguments)]

    def start(self, request: JobRequest) -> Job:
        """Register its reward and start it; where the same job has the name already, that one.

        Raises:
            BadJob: something else has the name, or SageMaker would refuse the request.
            AwsFailed: SageMaker refused it, or it is not known whether it started.
        """
        for call in self.calls(request):  # before anything is made
            check_request(call.service, call.operation, call.request)
        evaluator = self._judged(request)
        if request.grader:
            function = FunctionArn.parse(request.grader)
            registered = self._registry.register(
                name_of(function), "RewardFunction", request.grader
            )
            evaluator = registered.arn
        arguments = self._arguments(request, evaluator, self._made_group(request))
        what = f"starting {request.name}"
        try:
            answer(what, self._sagemaker.create_training_job, **arguments)
        except AwsFailed as error:
            if error.code in IN_USE:
                return self._same(arguments, str(error))
            if error.code not in UNDECIDED or not self._started(request.name):
                raise
            return self._same(arguments, str(error))
        try:
            return self.get(request.name)
        except (AwsFailed, NoSuchJob) as error:
            raise AwsFailed(
                f"{request.name} is started, and cannot be read yet ({error}); `reward job show "
                f"{request.name}` shows it"
            ) from None

    def find(self, name: str) -> Job | None:
        """The job of this name; None where there is none.

        Raises:
            AwsFailed: SageMaker cannot be asked.
        """
        found = self._asked(name) if NAME.fullmatch(name) else None
        return None if found is None else self._whole(found)

    def get(self, identifier: str) -> Job:
        """One job by its ARN or its name.

        Raises:
            NoSuchJob: there is none here, or it is no serverless one.
            AwsFailed: SageMaker cannot be asked.
        """
        arn = ARN.fullmatch(identifier)
        if arn and arn["region"] != self.region:
            raise NoSuchJob(f"{identifier} is a job of {arn['region']}, and not of {self.region}")
        name = arn["name"] if arn else identifier
        found = self._asked(name) if NAME.fullmatch(name) else None
        if found is None or not serverless(found) or (arn and arn[0] != _arn(found)):
            raise NoSuchJob(f"there is no job {identifier!r} in {self.region}")
        return self._whole(found)

    def jobs(self) -> Iterator[Job]:
        """Jobs of serverless fine-tuning, newest first; each is read for what its list leaves out.

        Raises:
            AwsFailed: SageMaker cannot be asked.
        """
        summaries = pages(
            f"listing the jobs of {self.region}",
            self._sagemaker.list_training_jobs,
            "TrainingJobSummaries",
            marker="NextToken",
            MaxResults=PAGE,
            SortBy="CreationTime",
            SortOrder="Descending",
        )
        for summary in summaries:
            found = self._asked(text(summary.get("TrainingJobName")))
            if found is not None and serverless(found):
                yield job_of(found, {})

    def stop(self, job: Job) -> Job:
        """Ask it to stop; one that is over stays as it is.

        Raises:
            AwsFailed: SageMaker refused, or cannot be asked.
        """
        if not job.over:
            try:
                answer(
                    f"stopping {job.name}",
                    self._sagemaker.stop_training_job,
                    TrainingJobName=job.name,
                )
            except AwsFailed:
                if not self.get(job.id).over:  # else it ended meanwhile
                    raise
        return self.get(job.id)

    def events(self, job: Job) -> Iterator[JobEvent]:
        """The states that it was in, with what the service says of each.

        Raises:
            AwsFailed: SageMaker cannot be asked.
        """
        return events_of(self._asked(job.name) or {})

    def metrics(self, job: Job) -> Iterator[MetricPoint]:
        """The figures of its run in MLflow; none before there is a run.

        Raises:
            AwsFailed: MLflow refused, or could not be reached.
        """
        from reward_functions.jobs.drivers.mlflow import metrics_of  # noqa: PLC0415

        if job.mlflow is not None and job.mlflow.can_be_read:
            yield from metrics_of(job.mlflow, self.region, self._session)

    def _judged(self, request: JobRequest) -> str:
        """The evaluator of a judge's prompt, where that is what grades."""
        prompt = request.sagemaker.judge_prompt if request.sagemaker else None
        return prompt if prompt and prompt.startswith("arn:") else ""

    def _arguments(self, request: JobRequest, evaluator: str, group: str) -> dict[str, Any]:
        return request_of(
            request, evaluator=evaluator, model_packages=group, mlflow=self._mlflow(request)
        )

    def _mlflow(self, request: JobRequest) -> str:
        """The app for the figures: the one that was named, else the account's; "" for none."""
        if request.sagemaker and request.sagemaker.mlflow:
            return request.sagemaker.mlflow
        return self._default_app

    @cached_property
    def _default_app(self) -> str:
        listed = pages(
            "listing the MLflow apps",
            self._sagemaker.list_mlflow_apps,
            "Summaries",
            marker="NextToken",
            AccountDefaultStatus="ENABLED",
        )
        found = (text(each.get("Arn")) for each in listed if each.get("Status") in READY)
        return next(found, "")

    def _group(self, request: JobRequest) -> tuple[str, list[Call]]:
        """The ARN of the group for what is made, and the call that would make it."""
        name = (request.sagemaker and request.sagemaker.model_packages) or request.name
        if name.startswith("arn:"):
            return name, []
        describe = self._sagemaker.describe_model_package_group
        try:
            found = answer(f"reading the group {name}", describe, ModelPackageGroupName=name)
            return text(found.get("ModelPackageGroupArn")), []
        except AwsFailed as error:
            if not _absent(error):
                raise
        account = account_of(self._stage)
        arn = f"arn:aws:sagemaker:{self.region}:{account}:model-package-group/{name}"
        return arn, [Call("sagemaker", "CreateModelPackageGroup", _new_group(request, name))]

    def _made_group(self, request: JobRequest) -> str:
        """The group, made where it is missing.

        Raises:
            AwsFailed: SageMaker refused, or cannot be asked.
        """
        arn, calls = self._group(request)
        for call in calls:
            create = self._sagemaker.create_model_package_group
            try:
                made = answer("making the group of model packages", create, **call.request)
            except AwsFailed as error:
                if error.code not in IN_USE and "already exists" not in str(error):
                    raise
            else:
                arn = text(made.get("ModelPackageGroupArn")) or arn
        return arn

    def _started(self, name: str) -> bool:
        """Whether there is a job although the call that made it failed."""
        with suppress(AwsFailed):
            return self._asked(name) is not None
        return False

    def _same(self, arguments: Mapping[str, Any], refusal: str) -> Job:
        """The job that has the name, where it is the one that is asked for."""
        name = arguments["TrainingJobName"]
        found = self._asked(name)
        if found is None:
            raise BadJob(f"{refusal}; choose another name with --name")
        different = differences(arguments, found)
        if different:
            raise BadJob(
                f"a job {name} is there already, and differs in {', '.join(different)}: choose "
                "another name with --name, or the next run with --again"
            )
        return self._whole(found)

    def _asked(self, name: str) -> Mapping[str, Any] | None:
        describe = self._sagemaker.describe_training_job
        try:
            return answer(f"reading the job {name}", describe, TrainingJobName=name)
        except AwsFailed as error:
            if _absent(error, name):
                return None
            raise

    def _whole(self, found: Mapping[str, Any]) -> Job:
        """The job of an answer, with its tags, which a watch reads once."""
        arn = _arn(found)
        if arn not in self._tags:
            read = self._sagemaker.list_tags
            with suppress(AwsFailed):  # a caller who may not read them sees the job without
                listed = pages(
                    "reading the tags", read, "Tags", marker="NextToken", ResourceArn=arn
                )
                self._tags[arn] = {
                    text(each.get("Key")): text(each.get("Value")) for each in listed
                }
        tags = self._tags.get(arn, {})
        return job_of(found, tags, self._function(found, tags))

    def _function(self, found: Mapping[str, Any], tags: Mapping[str, str]) -> str:
        """The reward function of a job of ours: its tags name the function behind the evaluator."""
        if not within(found, "ServerlessJobConfig", "EvaluatorArn"):
            return ""
        name = tag(tags, "function-version")
        if not name or f"{OURS}deployment" not in tags:
            return ""
        return f"arn:aws:lambda:{self.region}:{account_of(self._stage)}:function:{name}"


def _arn(found: Mapping[str, Any]) -> str:
    return text(found.get("TrainingJobArn"))


def _new_group(request: JobRequest, name: str) -> dict[str, Any]:
    made: dict[str, Any] = {"ModelPackageGroupName": name}
    return made | ({"Tags": tags_of(request)} if request.tags else {})


def _absent(error: AwsFailed, name: str = "") -> bool:
    """Whether what was asked for is not there; the name that was asked for is passed over."""
    if error.missing:
        return True
    words = str(error).replace(name, "").lower() if name else str(error).lower()
    return error.code == "ValidationException" and any(each in words for each in ABSENT)
