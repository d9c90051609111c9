"""Bedrock's customization jobs: create, get, list, stop.

As documented: a token that was used before makes no second job and no error; names of jobs and of
models are one of a kind in their account and region. Inferred, since no page says it: the codes of
those conflicts, and that a role and a grader's region are looked at when the job is created, its
data when it runs.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from reward_functions.aws.arn import BadArn, FunctionArn
from reward_functions.local.loopback_service.requests import conflict, invalid, missing
from reward_functions.local.training_double.bases import foundation_arn, tunable
from reward_functions.local.training_double.clients import JobFailed
from reward_functions.local.training_double.datafiles import LONGEST, prompts, training_rows
from reward_functions.local.training_double.grading import failing
from reward_functions.local.training_double.metric_files import (
    PAGE_FILE,
    TRAINING_FILE,
    VALIDATION_FILE,
    training_csv,
    validation_csv,
)
from reward_functions.local.training_double.page import page_of
from reward_functions.local.training_double.policy import Policy
from reward_functions.local.training_double.rights import BEDROCK
from reward_functions.local.training_double.runs import Errand, seed_of
from reward_functions.local.training_double.state import PHASES, Job, fresh_id, paged

if TYPE_CHECKING:
    from boto3.session import Session

    from reward_functions.local.training_double.datafiles import Row
    from reward_functions.local.training_double.service import Call

WORDS: Final = {
    "queued": "InProgress",
    "running": "InProgress",
    "stopping": "Stopping",
    "succeeded": "Completed",
    "failed": "Failed",
    "stopped": "Stopped",
}
"""The status of a job in Bedrock's words."""

KEPT: Final = (
    "clientRequestToken",
    "roleArn",
    "trainingDataConfig",
    "outputDataConfig",
    "customizationType",
    "customizationConfig",
    "vpcConfig",
)
"""Members of the request that `GetModelCustomizationJob` repeats."""


def create(call: Call) -> dict[str, Any]:
    """CreateModelCustomizationJob."""
    given, place = call.parameters, call.place
    base, resource, policy = _base(call, given["baseModelIdentifier"])
    job_arn = place.arn("bedrock", f"model-customization-job/{base}/{fresh_id()}")
    model_arn = place.arn("bedrock", f"custom-model/{base}/{fresh_id()}")
    for each in (resource, job_arn):
        call.require("bedrock:CreateModelCustomizationJob", each, _tag_context(given, "jobTags"))
    for arn, member in ((job_arn, "jobTags"), (model_arn, "customModelTags")):
        if given.get(member):
            call.require("bedrock:TagResource", arn, _tag_context(given, member))
    call.require("iam:PassRole", given["roleArn"], {"iam:PassedToService": BEDROCK})
    grader = _grader(call)
    with call.state.lock:
        repeated = _repeated(call)
        if repeated:
            return {"jobArn": repeated}
    call.service.rights.require_trust(
        given["roleArn"], {"aws:SourceAccount": place.account, "aws:SourceArn": job_arn}
    )
    job = Job(
        id=job_arn, path="bedrock", name=given["jobName"], place=place, base=base, grader=grader,
        request=given | {"baseModelArn": resource}, policy=policy, model=model_arn,
        hyperparameters=given["customizationConfig"]["rftConfig"].get("hyperParameters", {}),
        seed=seed_of(given["jobName"]),
    )  # fmt: skip
    with call.state.lock:
        if repeated := _repeated(call):
            return {"jobArn": repeated}
        _require_free(call)
        call.state.jobs[job.id] = job
        if token := given.get("clientRequestToken"):
            call.state.tokens[place, "job", token] = job.id
        call.state.tags[job_arn] = _tags(given, "jobTags")
        call.state.tags[model_arn] = _tags(given, "customModelTags")
    rights = call.service.rights.policies(given["roleArn"])
    errand = Errand(rights, partial(_read, given), partial(_write, job), None, partial(_event, job))
    call.service.runs.start(job, errand)
    return {"jobArn": job.id}


def _base(call: Call, identifier: str) -> tuple[str, str, Policy]:
    """The foundation model, the ARN of what is tuned, and the policy to begin with."""
    model = call.state.models.get(identifier)
    if model is not None:
        return model.base, model.id, model.policy
    if ":custom-model/" in identifier:
        raise missing(f"The custom model {identifier} does not exist")
    base = tunable(identifier, call.place)
    return base, foundation_arn(call.place, base), Policy.base()


def _grader(call: Call) -> str:
    """The ARN of the grader of a job that the double can run."""
    given = call.parameters
    if given.get("customizationType") != "REINFORCEMENT_FINE_TUNING":
        raise invalid("simulation: only customizationType REINFORCEMENT_FINE_TUNING is run here")
    config = given.get("customizationConfig", {}).get("rftConfig", {})
    arn = config.get("graderConfig", {}).get("lambdaGrader", {}).get("lambdaArn")
    if arn is None:
        raise invalid("customizationConfig.rftConfig.graderConfig must name a Lambda function")
    return local_grader(call, arn)


def local_grader(call: Call, arn: str, parameter: str = "") -> str:
    """The ARN of a grader of the caller's region and account.

    Raises:
        Refused: it is another's. That Bedrock refuses it too is inferred: it reads nothing from
            other regions.
    """
    try:
        grader = FunctionArn.parse(arn)
    except BadArn as error:
        raise invalid(str(error), parameter) from None
    if (grader.region, grader.account) != (call.place.region, call.place.account):
        raise invalid(
            f"The grader {arn} must be a function of {call.place.region} in account "
            f"{call.place.account}",
            parameter,
        )
    return arn


def _repeated(call: Call) -> str:
    """The job that this token made before; "" where it made none."""
    token = call.parameters.get("clientRequestToken", "")
    return call.state.tokens.get((call.place, "job", token), "")


def _require_free(call: Call) -> None:
    name, model = call.parameters["jobName"], call.parameters["customModelName"]
    jobs = [each for each in _own(call).values() if each.place == call.place]
    if any(job.name == name for job in jobs):
        raise conflict(f"The provided job name {name} is already in use")
    coming = [job.request["customModelName"] for job in jobs if _running(job)]
    there = [each.name for each in call.state.models.values() if each.place == call.place]
    if model in (*coming, *there):
        raise conflict(f"The provided custom model name {model} is already in use")


def _running(job: Job) -> bool:
    return job.path == "bedrock" and job.ended is None


def _tags(given: dict[str, Any], member: str) -> dict[str, str]:
    return {tag["key"]: tag["value"] for tag in given.get(member, [])}


def _tag_context(given: dict[str, Any], member: str) -> dict[str, str]:
    return {f"aws:RequestTag/{key}": value for key, value in _tags(given, member).items()}


def _read(given: dict[str, Any], session: Session) -> tuple[list[Row], list[Row]]:
    """The rows of a job, read with its own rights."""
    training = given["trainingDataConfig"]
    if "s3Uri" not in training:
        raise JobFailed(
            "simulation: invocation logs hold no reference answers, and the simulated policy "
            "writes right answers from them; name a file as trainingDataConfig.s3Uri"
        )
    validators = given.get("validationDataConfig", {}).get("validators", [])
    rows = training_rows(object_at(session, training["s3Uri"]), training["s3Uri"])
    validation = [
        row
        for each in validators
        for row in prompts(object_at(session, each["s3Uri"]), each["s3Uri"])
    ]
    return rows, validation


def object_at(session: Session, uri: str) -> bytes:
    """What lies at an S3 URI, read with a job's own rights.

    Raises:
        JobFailed: it cannot be read, or is too long.
    """
    parts = urlsplit(uri)
    with failing(f"Reading {uri}"):
        found = session.client("s3").get_object(Bucket=parts.netloc, Key=parts.path.lstrip("/"))
        if found["ContentLength"] > LONGEST:
            raise JobFailed(f"{uri} has {found['ContentLength']} bytes, more than {LONGEST}.")
        content: bytes = found["Body"].read()
    return content


def _write(job: Job, session: Session, _: Policy) -> None:
    """The metric files of a job and its page, written with its own rights."""
    parts = urlsplit(job.request["outputDataConfig"]["s3Uri"])
    folder = f"{parts.path.strip('/')}/".lstrip("/")
    files = {TRAINING_FILE: training_csv(job.steps), PAGE_FILE: page_of(job, "succeeded")}
    if any(step.validation for step in job.steps):
        files[VALIDATION_FILE] = validation_csv(job.steps)
    s3 = session.client("s3")
    for name, content in files.items():
        key = folder + name.format(job=job.short)
        with failing(f"Writing s3://{parts.netloc}/{key}"):
            s3.put_object(Bucket=parts.netloc, Key=key, Body=content.encode())


def found(call: Call, action: str) -> Job:
    """The job that a request names, by its ARN or its name, if the caller may do this to it."""
    wanted = call.parameters["jobIdentifier"]
    return call.found(_own(call), "model-customization-job", wanted, action)


def _own(call: Call) -> dict[str, Job]:
    """The jobs of this API, by ARN: SageMaker's may have the same names."""
    with call.state.lock:
        return {arn: job for arn, job in call.state.jobs.items() if job.path == "bedrock"}


def get(call: Call) -> dict[str, Any]:
    """GetModelCustomizationJob."""
    job = found(call, "bedrock:GetModelCustomizationJob")
    with call.state.lock:
        return {member: job.request.get(member) for member in KEPT} | {
            "jobArn": job.id,
            "jobName": job.name,
            "outputModelName": job.request["customModelName"],
            "outputModelArn": job.model if job.status == "succeeded" else None,
            "status": WORDS[job.status],
            "statusDetails": _details(job),
            "failureMessage": job.failure or None,
            "creationTime": job.created,
            "lastModifiedTime": job.modified,
            "endTime": job.ended,
            # Only of a list's summaries can it be a custom model: botocore's model of the two.
            "baseModelArn": foundation_arn(job.place, job.base),
            "hyperParameters": job.request.get("hyperParameters", {}),
            "validationDataConfig": job.request.get("validationDataConfig", {"validators": []}),
            "outputModelKmsKeyArn": job.request.get("customModelKmsKeyId"),
        }


def _details(job: Job) -> dict[str, Any]:
    """`statusDetails`: what the job has begun, and what it has not."""
    details: dict[str, Any] = {}
    for name in PHASES:
        phase = job.phases.get(name)
        details[f"{name}Details"] = (
            {
                "status": phase.status,
                "creationTime": phase.created,
                "lastModifiedTime": phase.modified,
            }
            if phase
            else {"status": "NotStarted"}
        )
    return details


def list_(call: Call) -> dict[str, Any]:
    """ListModelCustomizationJobs."""
    call.require("bedrock:ListModelCustomizationJobs", "*")
    asked = call.parameters
    with call.state.lock:
        jobs = [
            job
            for job in call.state.jobs.values()
            if job.path == "bedrock"
            and job.place == call.place
            and asked.get("statusEquals", WORDS[job.status]) == WORDS[job.status]
            and asked.get("nameContains", "") in job.name
            and asked.get("creationTimeAfter", job.created) <= job.created
            and asked.get("creationTimeBefore", job.created) >= job.created
        ]
        jobs.sort(key=lambda job: job.created, reverse=asked.get("sortOrder") != "Ascending")
        shown, token = paged(jobs, asked)
        return {"modelCustomizationJobSummaries": [*map(_summary, shown)], "nextToken": token}


def _summary(job: Job) -> dict[str, Any]:
    done = job.status == "succeeded"
    return {
        "jobArn": job.id,
        "baseModelArn": job.request["baseModelArn"],
        "jobName": job.name,
        "status": WORDS[job.status],
        "statusDetails": _details(job),
        "lastModifiedTime": job.modified,
        "creationTime": job.created,
        "endTime": job.ended,
        "customModelArn": job.model if done else None,
        "customModelName": job.request["customModelName"] if done else None,
        "customizationType": job.request["customizationType"],
    }


def stop(call: Call) -> dict[str, Any]:
    """StopModelCustomizationJob."""
    job = found(call, "bedrock:StopModelCustomizationJob")
    if job.ended is not None:
        raise conflict(f"The job {job.name} is {WORDS[job.status]} and cannot be stopped")
    call.service.runs.stop(job)
    return {}


def _event(job: Job) -> dict[str, Any]:
    """The detail of an event, as "Monitor Amazon Bedrock job state changes" has it."""
    asked = job.request
    return {
        "version": "0.0",
        "jobName": job.name,
        "jobArn": job.id,
        "outputModelName": asked["customModelName"],
        "outputModelArn": job.model if job.status == "succeeded" else "",
        "roleArn": asked["roleArn"],
        "jobStatus": WORDS[job.status],
        "failureMessage": job.failure,
        "creationTime": f"{job.created:%Y-%m-%dT%H:%M:%SZ}",
        "lastModifiedTime": f"{job.modified:%Y-%m-%dT%H:%M:%SZ}",
        "endTime": f"{job.ended:%Y-%m-%dT%H:%M:%SZ}" if job.ended else "",
        "baseModelArn": asked["baseModelArn"],
        "hyperParameters": asked.get("hyperParameters", {}),
        "trainingDataConfig": asked["trainingDataConfig"],
        "validationDataConfig": asked.get("validationDataConfig", {"validators": []}),
        "outputDataConfig": asked["outputDataConfig"],
    }
