"""Jobs of SageMaker's serverless customization, and what all jobs of SageMaker have alike.

A job has no container and no instances: `ServerlessJobConfig` is in their place. All fields of a
recipe go out, each value a string. `Peft` left out means that every weight is trained: it is left
out for "FULL" alone. Before a job, its reward is registered as an evaluator, and the group is made
for the model packages that come out; both are found again by a repeat, and cost nothing.

Names are tokens: who starts a job again meets its name. The fields that a model is made of count;
tags, the app for figures and the limit of time do not.

Sources: botocore's model of SageMaker; sagemaker-train 1.27.0, `finetune_utils.py`.
"""

from __future__ import annotations

import re
from abc import abstractmethod
from datetime import UTC
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Final

from reward_functions.aws.arn import Arn, FunctionArn
from reward_functions.aws.calls import pages, present
from reward_functions.aws.failures import AwsFailed
from reward_functions.jobs.configuration import BadJob, Serverless, Vpc
from reward_functions.jobs.drivers.base import (
    HYPERPARAMETERS,
    PAGE,
    STATUSES,
    Api,
    AwsJobs,
    StageJobs,
    checked,
    in_utc,
    within,
)
from reward_functions.jobs.evaluators import Registry, name_of
from reward_functions.jobs.job import Call, Job, JobEvent, MlflowRun, Progress
from reward_functions.jobs.services import SERVICES, DriverName
from reward_functions.jobs.tags import OURS, tag

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from reward_functions.jobs.job import JobRequest, JobStatus, MetricPoint

GONE: Final[Mapping[str, JobStatus]] = {"Deleting": "stopped", "DeleteFailed": "failed"}
"""Words that only SageMaker has."""

LISTED: Final = {"MaxResults": PAGE, "SortBy": "CreationTime", "SortOrder": "Descending"}
"""The arguments of a list, the newest first."""

WAITING: Final = frozenset({"Starting", "Pending", "Preparing"})
"""Secondary states in which a job that is in progress has not begun."""

BROKEN: Final = frozenset(
    {"Failed", "MaxRuntimeExceeded", "MaxWaitTimeExceeded", "Interrupted", "DeleteFailed"}
)

READY: Final = frozenset({"Created", "Updated"})
"""States in which an MLflow app takes figures."""

VERSION: Final = re.compile(r"(?P<model>[^/]*/[^/]*/Model/[^/]*)/(?P<version>[0-9.]+)")
"""The ARN of a base model that names its version."""


class SageMakerJobs(AwsJobs):
    """The base of SageMaker's jobs, for every operation that starts them."""

    name: DriverName = "sagemaker"
    NAME = re.compile(r"(?=.{1,63}\Z)[a-zA-Z0-9]+(?:-+[a-zA-Z0-9]+)*")
    CALLED: ClassVar[str]
    STATUS: ClassVar[str]
    ENDED: ClassVar[str]
    """Members of answers."""

    def named(self, identifier: str) -> dict[str, Any]:
        """The arguments by which SageMaker is asked about a job."""
        return {self.CALLED: identifier.rpartition("/")[2]}

    def events_of(self, found: Mapping[str, Any]) -> Iterator[JobEvent]:
        """Each secondary state that a job was in, with what the service says of it."""
        if created := found.get("CreationTime"):
            yield JobEvent("created", created, "info", "created")
        for each in found.get("SecondaryStatusTransitions") or ():
            state, began, message = each["Status"], each["StartTime"], each.get("StatusMessage")
            level = "error" if state in BROKEN else "info"
            # A message grows while its state lasts: the state's own event stays the same.
            known = f"{state}-{began:%Y%m%dT%H%M%S}"
            yield JobEvent(known, began, level, f"{state}: {message}" if message else state)

    def metrics(self, job: Job) -> Iterator[MetricPoint]:
        """The figures of a job's run in MLflow; none before there is a run.

        Raises:
            AwsFailed: MLflow refused, or could not be reached.
        """
        from reward_functions.jobs.drivers.mlflow import metrics_of  # noqa: PLC0415

        if job.mlflow is not None and job.mlflow.can_be_read:
            yield from metrics_of(job.mlflow, self.region, self._session)

    def _job(self, found: Mapping[str, Any], tags: Mapping[str, str], **more: Any) -> Job:
        status, known = found[self.STATUS], {**STATUSES, **GONE}
        phase = found.get("SecondaryStatus") or found.get("JobSecondaryStatus") or ""
        waits = status == "InProgress" and phase in WAITING
        return Job(
            driver=self.name,
            id=found[self.api.id],
            name=found[self.CALLED],
            status="queued" if waits else known.get(status, "running"),
            phase="" if status in known and phase in {status, ""} else phase or status,
            created=found["CreationTime"].astimezone(UTC),
            ended=in_utc(found.get(self.ENDED)),
            failure=found.get("FailureReason", ""),
            tags=tags,
            **more,
        )


class TrainingJobs(SageMakerJobs):
    """Serverless jobs, of one type."""

    api = Api(
        "sagemaker",
        get="DescribeTrainingJob",
        stop="StopTrainingJob",
        list="ListTrainingJobs",
        id="TrainingJobArn",
        summaries="TrainingJobSummaries",
        listed=LISTED,
    )
    CALLED = "TrainingJobName"
    STATUS = "TrainingJobStatus"
    ENDED = "TrainingEndTime"
    JOB_TYPE: ClassVar[str] = "FineTuning"
    DATA: ClassVar[str] = "the data"

    def ours(self, found: Mapping[str, Any]) -> bool:
        """Whether it is serverless and of this type, and not of a container."""
        return bool(within(found, "ServerlessJobConfig", "JobType") == self.JOB_TYPE)

    def facts(self, job: Mapping[str, Any]) -> Mapping[str, Any]:
        """The facts that make two jobs of one name the same."""
        config = job.get("ServerlessJobConfig")
        return {
            "the model": model_and_version(within(config, "BaseModelArn") or ""),
            "the tuned model": within(job, "ModelPackageConfig", "SourceModelPackageArn"),
            "the technique": within(config, "CustomizationTechnique"),
            "the adapters": within(config, "Peft"),
            "the sequence length": within(config, "SequenceLength"),
            "the evaluator": within(config, "EvaluatorArn"),
            "the output": (within(job, "OutputDataConfig", "S3OutputPath") or "").rstrip("/"),
            self.DATA: sorted(files_of(job.get("InputDataConfig"))),
            HYPERPARAMETERS: job.get("HyperParameters") or {},
        }

    def job_of(self, found: Mapping[str, Any], tags: Mapping[str, str]) -> Job:
        """The job of an answer."""
        config = found.get("ServerlessJobConfig")
        evaluator = within(config, "EvaluatorArn") or ""
        tokens = found.get("BillableTokenCount")
        progress = found.get("ProgressInfo") or {}
        members = ("CurrentEpoch", "MaxEpoch", "CurrentStep", "TotalStepCountPerEpoch")
        return self._job(
            found,
            tags,
            model=within(config, "BaseModelArn") or "",
            grader=self.function_of(found, tags) or evaluator,
            tuned_model=found.get("OutputModelPackageArn", ""),
            hyperparameters=dict(found.get("HyperParameters") or {}),
            output=within(found, "OutputDataConfig", "S3OutputPath") or "",
            files=tuple(uri for _, uri in files_of(found.get("InputDataConfig"))),
            progress=counted(Progress(*map(progress.get, members))),
            mlflow=run_of(
                within(found, "MlflowConfig", "MlflowResourceArn"),
                within(found, "MlflowDetails", "MlflowRunId"),
                within(found, "MlflowDetails", "MlflowExperimentId"),
            ),
            tokens={} if tokens is None else {"train": tokens},
            evaluator=evaluator,
        )

    @abstractmethod
    def function_of(self, found: Mapping[str, Any], tags: Mapping[str, str], /) -> str:
        """The ARN of the function that scores; "" where that is not known."""

    def tags_of(self, found: Mapping[str, Any], /) -> Mapping[str, str]:
        """The tags of a job."""
        read = self._client.list_tags
        arn = found[self.api.id]
        listed = pages("reading the tags", read, "Tags", marker="NextToken", ResourceArn=arn)
        return {each["Key"]: each["Value"] for each in listed}


class InAccount(SageMakerJobs, StageJobs):
    """Training jobs, and what they need of an account beside their data."""

    @cached_property
    def _place(self) -> Arn:
        """Of what the jobs run as: in the partition and the account of all that they use."""
        role = SERVICES[self.name].role
        found = Arn.read((role and role.of(self._stage)) or self._stage.training_role_arn)
        if found is None:
            raise BadJob(f"the stage {self._stage.stage} has no role for jobs: deploy it again")
        return found

    def _arn(self, service: str, resource: str) -> str:
        """The ARN of something of the jobs' own place."""
        place = self._place
        return str(Arn(place.partition, service, self.region, place.account, resource))

    @cached_property
    def _default_app(self) -> str:
        """The ARN of the account's default MLflow app; "" for none, or none to see."""
        listed = pages(
            "listing the MLflow apps",
            self._client.list_mlflow_apps,
            "Summaries",
            marker="NextToken",
            AccountDefaultStatus="ENABLED",
        )
        try:
            return next((each["Arn"] for each in listed if each.get("Status") in READY), "")
        except AwsFailed as error:
            if error.denied:
                return ""
            raise

    def _mlflow(self, request: JobRequest) -> str:
        """The app for the figures: the one that was named, else the account's; "" for none."""
        return (request.sagemaker and request.sagemaker.mlflow) or self._default_app

    def _group(self, name: str, **more: Any) -> tuple[str, list[Call]]:
        """The ARN of a group of model packages, and the call that would make it."""
        if name.startswith("arn:"):
            return name, []
        describe = self._client.describe_model_package_group
        found = present(f"reading the group {name}", describe, ModelPackageGroupName=name)
        if found is not None:
            return found["ModelPackageGroupArn"], []
        made = {"ModelPackageGroupName": name, **more}
        call = Call(self.api.service, "CreateModelPackageGroup", made)
        return self._arn(self.api.service, f"model-package-group/{name}"), [call]


class SageMakerDriver(TrainingJobs, InAccount):
    """Jobs of serverless fine-tuning."""

    @cached_property
    def _registry(self) -> Registry:
        return Registry(self.region, self._place.account, self._session)

    def calls(self, request: JobRequest) -> list[Call]:
        """The calls of `start`: register the reward, make the group, start the job.

        Raises:
            AwsFailed: SageMaker cannot be asked.
        """
        prompt = request.sagemaker.judge_prompt if request.sagemaker else None
        evaluator, registered = prompt if prompt and prompt.startswith("arn:") else "", list[Call]()
        if request.grader:
            name = name_of(FunctionArn.parse(request.grader))
            found, registered = self._registry.planned(name, "RewardFunction", request.grader)
            evaluator = found.arn
        tags = {"Tags": tag_list(request.tags)} if request.tags else {}
        name = (request.sagemaker and request.sagemaker.model_packages) or request.name
        group, made = self._group(name, **tags)
        job = self._request(request, evaluator, group) | tags
        return [*registered, *made, Call(self.api.service, "CreateTrainingJob", job)]

    def start(self, request: JobRequest) -> Job:
        """Register its reward and start it; where the same job has the name already, that one.

        Raises:
            BadJob: something else has the name, or SageMaker would refuse the request.
            AwsFailed: SageMaker refused it, or it is not known whether it started.
        """
        calls = checked(self.calls(request))
        if request.grader:
            name = name_of(FunctionArn.parse(request.grader))
            self._registry.register(name, "RewardFunction", request.grader)
            calls = self.calls(request)
        return self._run(request.name, calls)

    def listed(self, summary: Mapping[str, Any]) -> Job | None:
        """The job of a list's entry, which is read for what the list leaves out."""
        found = self._asked(summary[self.CALLED])
        return self.job_of(found, {}) if found and self.ours(found) else None

    def function_of(self, found: Mapping[str, Any], tags: Mapping[str, str], /) -> str:
        """The reward function of a job of ours: its tags name the function of the evaluator."""
        name = tag(tags, "function-version")
        evaluator = within(found, "ServerlessJobConfig", "EvaluatorArn")
        if not (name and evaluator and f"{OURS}deployment" in tags):
            return ""
        return self._arn("lambda", f"function:{name}")

    def _request(self, request: JobRequest, evaluator: str, group: str) -> dict[str, Any]:
        chosen = request.sagemaker or Serverless()
        files = {"train": request.training, "validation": request.validation}
        config: dict[str, Any] = {
            "BaseModelArn": request.model,
            "JobType": self.JOB_TYPE,
            "CustomizationTechnique": chosen.technique,
            "AcceptEula": chosen.accept_eula,
        }
        if chosen.peft == "LORA":
            config["Peft"] = chosen.peft
        if chosen.sequence_length:
            config["SequenceLength"] = chosen.sequence_length
        if evaluator:
            config["EvaluatorArn"] = evaluator
        parameters = {name: str(value) for name, value in request.hyperparameters.items()}
        made: dict[str, Any] = {
            "TrainingJobName": request.name,
            "RoleArn": request.role,
            "InputDataConfig": channels(files),
            "OutputDataConfig": {"S3OutputPath": request.output.rstrip("/")},
            "ServerlessJobConfig": config,
            "HyperParameters": parameters,
            "ModelPackageConfig": {"ModelPackageGroupArn": group},
        }
        if request.model_key:
            made["OutputDataConfig"]["KmsKeyId"] = request.model_key
        if app := self._mlflow(request):
            made["MlflowConfig"] = {"MlflowResourceArn": app, "MlflowRunName": request.name}
        return made | network(request.vpc)


def network(vpc: Vpc | None) -> dict[str, Any]:
    """Where a job runs; nothing for the service's own network."""
    if vpc is None:
        return {}
    return {
        "VpcConfig": {
            "Subnets": list(vpc.subnets),
            "SecurityGroupIds": list(vpc.security_groups),
        }
    }


def tag_list(tags: Mapping[str, str]) -> list[dict[str, str]]:
    """Tags as SageMaker takes them."""
    return [{"Key": key, "Value": value} for key, value in tags.items()]


def channels(files: Mapping[str, str]) -> list[dict[str, Any]]:
    """The data of a job: addresses by the names of channels; "" for a channel that it has not."""
    return [
        {
            "ChannelName": name,
            "DataSource": {
                "S3DataSource": {
                    "S3DataType": "S3Prefix",
                    "S3Uri": uri,
                    "S3DataDistributionType": "FullyReplicated",
                }
            },
        }
        for name, uri in files.items()
        if uri
    ]


def files_of(found: Iterable[Mapping[str, Any]] | None) -> list[tuple[str, str]]:
    """The channels of a job, and the addresses of their data."""
    return [
        (each["ChannelName"], within(each, "DataSource", "S3DataSource", "S3Uri"))
        for each in found or ()
    ]


def model_and_version(arn: str) -> dict[str, str]:
    """A base model and its version, which the service adds where none was asked for."""
    found = VERSION.fullmatch(arn)
    return found.groupdict() if found else {"model": arn}


def counted(progress: Progress) -> Progress | None:
    """A progress; None where the service counts nothing."""
    return None if progress == Progress() else progress


def run_of(app: str | None, run: str | None, experiment: str | None) -> MlflowRun | None:
    """Where a job's figures are; None before it has a run or an experiment."""
    return MlflowRun(app or "", run or "", experiment or "") if run or experiment else None
