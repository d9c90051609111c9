"""SageMaker's jobs of the categories AgentRFT and AgentRFTEvaluation.

Held to botocore's model by the wire, and to the published schema here. Inferred, since no page says
it: that a role, an agent's region and the groups are looked at when the job is created, its data
when it runs; that a job in progress is not deleted; and that deleting is done at once.
"""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING, Any, Final, cast

from reward_functions.aws.arn import BadArn, FunctionArn
from reward_functions.jobs.json_schema import schema_problems
from reward_functions.local.loopback_service.requests import Refused, invalid
from reward_functions.local.training_double.agent_schemas import (
    describe_version,
    list_versions,
    schema_of,
)
from reward_functions.local.training_double.agent_state import ENDS, AgentJob
from reward_functions.local.training_double.policy import Policy
from reward_functions.local.training_double.rights import SAGEMAKER_JOBS
from reward_functions.local.training_double.sagemaker_mlflow import EXPERIMENT
from reward_functions.local.training_double.sagemaker_packages import (
    group_at,
    package_at,
    write_artifacts,
)
from reward_functions.local.training_double.sagemaker_public_hub import MODELS
from reward_functions.local.training_double.sagemaker_state import Package, absent
from reward_functions.local.training_double.state import paged

if TYPE_CHECKING:
    from collections.abc import Callable

    from boto3.session import Session

    from reward_functions.local.training_double.agent_state import Transition
    from reward_functions.local.training_double.sagemaker_public_hub import HubModel
    from reward_functions.local.training_double.sagemaker_state import Group
    from reward_functions.local.training_double.service import Call
    from reward_functions.local.training_double.state import Job

TRUSTED: Final = ("sts:AssumeRole", "sts:TagSession")
"""What a role has to let the service do: without the second no session carries the job's tags."""

SHOWN: Final = 5


def create(call: Call) -> dict[str, Any]:
    """CreateJob."""
    given, place = call.parameters, call.place
    category, name = given["JobCategory"], given["JobName"]
    arn = place.arn("sagemaker", f"job/{category}/{name}")
    tags = {tag["Key"]: tag["Value"] for tag in given.get("Tags", [])}
    context = {f"aws:RequestTag/{key}": value for key, value in tags.items()}
    call.require("sagemaker:CreateJob", arn, context)
    if tags:
        call.require("sagemaker:AddTags", arn, context)
    call.require("iam:PassRole", given["RoleArn"], {"iam:PassedToService": SAGEMAKER_JOBS})
    document = _document(call)
    _require_agent(call, document["AgentConfig"])
    model = _base(document)
    group = _group(call, document)
    call.service.rights.require_trust(
        given["RoleArn"],
        {"aws:SourceAccount": place.account, "aws:SourceArn": arn},
        SAGEMAKER_JOBS,
        TRUSTED,
    )
    job = AgentJob(
        arn, name, category, place, given["RoleArn"], given["JobConfigSchemaVersion"], document,
        tags, _policy(call, document), model.asked,
    )  # fmt: skip
    rights = call.service.rights.policies(job.role)
    with call.state.lock:
        if arn in call.service.agents.jobs:
            raise Refused("ResourceInUse", f"A job named {name} of {category} exists already")
        job.enter("Starting")
        call.service.agents.jobs[arn] = job
    call.service.agents.start(job, rights, partial(_kept, call, model, group))
    return {"JobArn": arn}


def describe(call: Call) -> dict[str, Any]:
    """DescribeJob."""
    job = _found(call, "sagemaker:DescribeJob")
    with call.state.lock:
        return {
            **_summary(job, "SecondaryStatus"),
            "RoleArn": job.role,
            "JobConfigSchemaVersion": job.version,
            "JobConfigDocument": json.dumps(job.document | {"ServiceOutput": _output(job)}),
            "SecondaryStatusTransitions": [*map(_transition, job.transitions)],
            "FailureReason": job.failure or None,
            "Tags": [{"Key": key, "Value": value} for key, value in job.tags.items()],
        }


def stop(call: Call) -> dict[str, Any]:
    """StopJob."""
    job = _found(call, "sagemaker:StopJob")
    if job.status in ENDS:
        raise invalid(f"The job {job.name} is {job.status} and cannot be stopped")
    call.service.agents.stop(job)
    return {}


def delete(call: Call) -> dict[str, Any]:
    """DeleteJob."""
    job = _found(call, "sagemaker:DeleteJob")
    with call.state.lock:
        if job.status not in ENDS:
            raise Refused("ResourceInUse", f"The job {job.name} is {job.status}: stop it first")
        call.service.agents.jobs.pop(job.id, None)
    return {}


def list_(call: Call) -> dict[str, Any]:
    """ListJobs."""
    call.require("sagemaker:ListJobs", "*")
    asked = call.parameters
    with call.state.lock:
        jobs = [
            job
            for job in call.service.agents.jobs.values()
            if job.category == asked["JobCategory"]
            and job.place == call.place
            and asked.get("NameContains", "") in job.name
            and asked.get("StatusEquals", job.status) == job.status
            and asked.get("CreationTimeAfter", job.created) <= job.created
            and asked.get("CreationTimeBefore", job.created) >= job.created
        ]
        order = SORTS[asked.get("SortBy", "CreationTime")]
        jobs.sort(key=order, reverse=asked.get("SortOrder", "Descending") == "Descending")
        pages = {
            name: asked[member]
            for member, name in (("NextToken", "nextToken"), ("MaxResults", "maxResults"))
            if member in asked
        }
        shown, token = paged(jobs, pages)
        summaries = [_summary(job, "JobSecondaryStatus") for job in shown]
        return {"JobSummaries": summaries, "NextToken": token}


SORTS: Final[dict[str, Callable[[AgentJob], Any]]] = {
    "CreationTime": lambda job: job.created,
    "Name": lambda job: job.name,
    "Status": lambda job: job.status,
}

OPERATIONS: Final[dict[str, Callable[[Call], dict[str, Any]]]] = {
    "CreateJob": create,
    "DescribeJob": describe,
    "StopJob": stop,
    "DeleteJob": delete,
    "ListJobs": list_,
    "ListJobSchemaVersions": list_versions,
    "DescribeJobSchemaVersion": describe_version,
}


def _document(call: Call) -> dict[str, Any]:
    """The document of a request, which fits the schema that it names."""
    given = call.parameters
    schema = schema_of(given["JobCategory"], given["JobConfigSchemaVersion"])
    try:
        document = json.loads(given["JobConfigDocument"])
    except (ValueError, RecursionError):
        raise invalid("JobConfigDocument is not JSON") from None
    if problems := schema_problems(schema, document):
        raise invalid(f"JobConfigDocument does not fit: {'; '.join(problems[:SHOWN])}")
    checked: dict[str, Any] = document
    return checked


def _require_agent(call: Call, config: dict[str, Any]) -> None:
    """Nothing, where the double can ask the agent."""
    if "BedrockAgentCoreConfig" in config:
        raise invalid(
            "simulation: there is no AgentCore here; serve the agent on this machine, and name a "
            "Lambda forwarder"
        )
    arn = config["CustomAgentLambdaConfig"]["LambdaArn"]
    try:
        agent = FunctionArn.parse(arn)
    except BadArn as error:
        raise invalid(str(error)) from None
    if (agent.region, agent.account) != (call.place.region, call.place.account):
        raise invalid(
            f"The agent {arn} must be a function of {call.place.region} in account "
            f"{call.place.account}"
        )


def _base(document: dict[str, Any]) -> HubModel:
    """The base model of a document, whose licence is accepted where it has to be."""
    config = document.get("TrainingConfig") or document["EvaluationConfig"]
    name = config["BaseModelArn"].partition("/Model/")[2].partition("/")[0]
    model = MODELS.get(name)
    if model is None:
        raise absent(f"The hub content {config['BaseModelArn']} does not exist")
    if model.gated and not config.get("AcceptEula"):
        raise invalid(f"The end user licence agreement of {name} must be accepted: AcceptEula")
    return model


def _group(call: Call, document: dict[str, Any]) -> Group | None:
    """The group of the result; None for an evaluation."""
    groups = document.get("ModelPackageConfig", {})
    result = groups.get("OutputModelPackageGroupArn")
    if result is None:
        return None
    checkpoints = groups["IntermediateCheckpointModelPackageGroupArn"]
    if result == checkpoints:
        raise invalid("The model package group of checkpoints must not be that of the result")
    group_at(call, checkpoints)
    return group_at(call, result)


def _kept(call: Call, model: HubModel, group: Group | None, job: AgentJob, session: Session) -> str:
    """The ARN of the package of a job that has trained.

    Raises:
        JobFailed: its artifacts cannot be written.
    """
    if group is None:
        return ""
    output = job.document["OutputDataConfig"]["S3OutputPath"]
    uri = "" if model.nova else f"{output.rstrip('/')}/{job.name}/output/model/"
    if uri:
        write_artifacts(session, uri, model.name, job.policy)
    registry = call.sagemaker
    with call.state.lock:
        version = registry.versions.get(group.arn, 0) + 1
        registry.versions[group.arn] = version
        # What is read of a package's job, jobs of both kinds have.
        by = cast("Job", job)
        package = Package(group, version, by, model.name, model.version, "", uri, job.policy)
        registry.packages[package.arn] = package
        call.state.tags[package.arn] = {}
    return package.arn


def _policy(call: Call, document: dict[str, Any]) -> Policy:
    """What the job begins with: the base's, or that of the package which an evaluation asks."""
    package = document.get("ModelPackageConfig", {}).get("InputModelPackageArn")
    if package is None:
        return Policy.base()
    return package_at(call, package).policy


def _found(call: Call, action: str) -> AgentJob:
    """The job that a request names, if the caller may do this to it."""
    category, name = call.parameters["JobCategory"], call.parameters["JobName"]
    arn = call.place.arn("sagemaker", f"job/{category}/{name}")
    call.require(action, arn)
    with call.state.lock:
        job = call.service.agents.jobs.get(arn)
    if job is None:
        raise Refused("ResourceNotFound", f"The job {name} of {category} does not exist")
    return job


def _summary(job: AgentJob, secondary: str) -> dict[str, Any]:
    return {
        "JobArn": job.id,
        "JobName": job.name,
        "JobCategory": job.category,
        "JobStatus": job.status,
        secondary: job.transitions[-1].status,
        "CreationTime": job.created,
        "LastModifiedTime": job.modified,
        "EndTime": job.ended,
    }


def _transition(phase: Transition) -> dict[str, Any]:
    return {"Status": phase.status, "StartTime": phase.began, "EndTime": phase.ended}


def _output(job: AgentJob) -> dict[str, Any]:
    """What the service adds to a document: members of which nothing is known are left out."""
    names = job.name if job.run else ""
    found: dict[str, Any] = {
        "OutputModelPackageArn": job.package,
        "MlflowDetails": {
            "ExperimentName": names, "RunName": names, "ExperimentId": EXPERIMENT,
            "RunId": job.run,
        } if job.run else {},
        "ProgressInfo": job.progress,
        "RolloutInfo": job.rollouts,
        "BillableTokenUsage": job.tokens,
    }  # fmt: skip
    return {name: value for name, value in found.items() if value}
