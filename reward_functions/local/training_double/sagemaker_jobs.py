"""SageMaker's serverless training jobs: create, describe, list, stop.

As documented: a name is used once in its account and region; the role is passed and trusted. The
phases of a simulated job stand for `SecondaryStatus`; there is no wait for a machine. Inferred:
`BillableTokenCount`, which is estimated from the responses alone.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

from reward_functions.local.loopback_service.requests import invalid
from reward_functions.local.training_double.rights import SAGEMAKER
from reward_functions.local.training_double.runs import Errand, seed_of
from reward_functions.local.training_double.sagemaker_calls import page, require_making, tags_of
from reward_functions.local.training_double.sagemaker_evaluation import evaluation
from reward_functions.local.training_double.sagemaker_mlflow import require_app
from reward_functions.local.training_double.sagemaker_plans import Plan, planned
from reward_functions.local.training_double.sagemaker_state import absent, in_use, run_id
from reward_functions.local.training_double.sagemaker_training import (
    BEDROCK_NAMES,
    folder_of,
    log_to,
    metrics_of,
    pay_of,
    read,
    write,
)
from reward_functions.local.training_double.state import Job

if TYPE_CHECKING:
    from reward_functions.local.training_double.service import Call

WORDS: Final = {
    "queued": "InProgress",
    "running": "InProgress",
    "stopping": "Stopping",
    "succeeded": "Completed",
    "failed": "Failed",
    "stopped": "Stopped",
}
"""The status of a job in SageMaker's words."""

PHASE_WORDS: Final = {
    "validation": "Starting",
    "dataProcessing": "Downloading",
    "training": "Training",
}
"""`SecondaryStatus` of each phase."""

KEPT: Final = (
    "HyperParameters",
    "RoleArn",
    "InputDataConfig",
    "OutputDataConfig",
    "ServerlessJobConfig",
    "MlflowConfig",
    "ModelPackageConfig",
    "VpcConfig",
    "Environment",
)
"""Members of the request that descriptions repeat."""

DAY: Final = 24 * 3600

LONGEST: Final = 1024
"""Characters of a `FailureReason`."""


def create(call: Call) -> dict[str, Any]:
    """CreateTrainingJob."""
    given, place = call.parameters, call.place
    arn = place.arn("sagemaker", f"training-job/{given['TrainingJobName']}")
    require_making(call, "sagemaker:CreateTrainingJob", arn)
    call.require("iam:PassRole", given["RoleArn"], {"iam:PassedToService": SAGEMAKER})
    plan = planned(call)
    if mlflow := given.get("MlflowConfig"):
        require_app(call, mlflow["MlflowResourceArn"])
    context = {"aws:SourceAccount": place.account, "aws:SourceArn": arn}
    call.service.rights.require_trust(given["RoleArn"], context, SAGEMAKER)
    job = Job(
        id=arn, path="sagemaker", name=given["TrainingJobName"], place=place,
        base=plan.model.asked, grader=plan.function, request=given, policy=plan.policy,
        hyperparameters={
            ours: plan.hyperparameters[theirs]
            for theirs, ours in BEDROCK_NAMES.items() if theirs in plan.hyperparameters
        },
        seed=seed_of(given["TrainingJobName"]),
    )  # fmt: skip
    with call.state.lock:
        if arn in call.state.jobs:
            raise in_use("Training job names must be unique within an AWS account and region")
        call.state.jobs[arn] = job
        call.state.tags[arn] = tags_of(given)
    call.service.runs.note(job, "simulation: the job was created; no language model is trained")
    call.service.runs.start(job, _errand(call, job, plan))
    return {"TrainingJobArn": arn}


def _errand(call: Call, job: Job, plan: Plan) -> Errand:
    rights = call.service.rights.policies(job.request["RoleArn"])
    evaluated = plan.technique == "Evaluation"
    return Errand(
        rights,
        read=partial(read, call, job, plan, rights),
        write=partial(write, call, job, plan),
        step=metrics_of,
        pay=partial(pay_of, call, job, plan),
        work=partial(evaluation, call, job, plan, rights) if evaluated else None,
        log=partial(log_to, job),
    )


def _found(call: Call, action: str) -> Job:
    name = call.parameters["TrainingJobName"]
    arn = call.place.arn("sagemaker", f"training-job/{name}")
    call.require(action, arn)
    job = call.state.jobs.get(arn)
    if job is None:
        raise absent("Requested resource not found.")
    return job


def describe(call: Call) -> dict[str, Any]:
    """DescribeTrainingJob."""
    job = _found(call, "sagemaker:DescribeTrainingJob")
    with call.state.lock:
        done = job.status == "succeeded"
        started = job.phases.get("training")
        return {member: job.request.get(member) for member in KEPT} | {
            "TrainingJobName": job.name,
            "TrainingJobArn": job.id,
            "ModelArtifacts": {"S3ModelArtifacts": folder_of(job)},
            "TrainingJobStatus": WORDS[job.status],
            "SecondaryStatus": _transitions(job)[-1]["Status"],
            "SecondaryStatusTransitions": _transitions(job),
            "FailureReason": job.failure[:LONGEST] or None,
            "StoppingCondition": job.request.get("StoppingCondition", {"MaxRuntimeInSeconds": DAY}),
            "CreationTime": job.created,
            "LastModifiedTime": job.modified,
            "TrainingStartTime": started.created if started else None,
            "TrainingEndTime": job.ended,
            "ProgressInfo": _progress(job),
            "MlflowDetails": _mlflow(job),
            "OutputModelPackageArn": (job.model or None) if done else None,
            "BillableTokenCount": _tokens(job) if job.ended else None,
        }


def _transitions(job: Job) -> list[dict[str, Any]]:
    """Each phase in SageMaker's words, and how the job ended."""
    found = [
        {"Status": PHASE_WORDS[name], "StartTime": phase.created, "EndTime": phase.modified}
        for name, phase in job.phases.items()
    ] or [{"Status": "Starting", "StartTime": job.created}]
    if job.ended:
        end = {"Status": WORDS[job.status], "StartTime": job.ended, "EndTime": job.ended}
        return [*found, end]
    found[-1].pop("EndTime", None)
    return found


def _progress(job: Job) -> dict[str, int] | None:
    if not job.steps:
        return None
    last, epochs = job.steps[-1], int(job.hyperparameters.get("epochCount", 1))
    each = last.total // epochs
    return {
        "TotalStepCountPerEpoch": each,
        "CurrentStep": last.number - (last.epoch - 1) * each,
        "CurrentEpoch": last.epoch,
        "MaxEpoch": epochs,
    }


def _mlflow(job: Job) -> dict[str, str] | None:
    if "MlflowConfig" not in job.request:
        return None
    return {"MlflowExperimentId": "1", "MlflowRunId": run_id(job)}


def _tokens(job: Job) -> int:
    size = int(job.hyperparameters.get("batchSize", 1))
    group = int(job.hyperparameters.get("trainingSamplePerPrompt", 1))
    return round(sum(step.metrics["response_length_mean"] for step in job.steps) * size * group)


def list_(call: Call) -> dict[str, Any]:
    """ListTrainingJobs."""
    call.require("sagemaker:ListTrainingJobs", "*")
    asked = call.parameters
    with call.state.lock:
        jobs = [
            job
            for job in call.state.jobs.values()
            if job.path == "sagemaker"
            and job.id.startswith("arn:")
            and ":training-job/" in job.id
            and job.place == call.place
            and asked.get("StatusEquals", WORDS[job.status]) == WORDS[job.status]
        ]
    return page(call, jobs, "TrainingJobSummaries", _summary, lambda job: job.name)


def _summary(job: Job) -> dict[str, Any]:
    return {
        "TrainingJobName": job.name,
        "TrainingJobArn": job.id,
        "CreationTime": job.created,
        "TrainingEndTime": job.ended,
        "LastModifiedTime": job.modified,
        "TrainingJobStatus": WORDS[job.status],
        "SecondaryStatus": _transitions(job)[-1]["Status"],
    }


def stop(call: Call) -> dict[str, Any]:
    """StopTrainingJob."""
    job = _found(call, "sagemaker:StopTrainingJob")
    if job.ended is not None:
        raise invalid(f"The request was rejected because the training job is {WORDS[job.status]}")
    call.service.runs.stop(job)
    return {}
