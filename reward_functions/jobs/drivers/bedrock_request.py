"""A job as Bedrock's `CreateModelCustomizationJob` takes it.

Source: botocore's model of Bedrock. Hyperparameters have native types there, and the output has an
address alone: AWS's own SDK adds a `kmsKeyId` to it, which botocore refuses.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from reward_functions.jobs.configuration import BadJob

if TYPE_CHECKING:
    from reward_functions.jobs.job import JobRequest
    from reward_functions.jobs.parts import Filter, Filters

CUSTOMIZATION: Final = "REINFORCEMENT_FINE_TUNING"


def request_of(request: JobRequest) -> dict[str, Any]:
    """The arguments of the call.

    Raises:
        BadJob: it has no data, or data of both kinds.
    """
    if bool(request.training) == bool(request.logs):
        raise BadJob("a job is given a training file or invocation logs, and not both")
    tags = [{"key": key, "value": value} for key, value in request.tags.items()]
    made: dict[str, Any] = {
        "jobName": request.name,
        "customModelName": request.name,
        "roleArn": request.role,
        "clientRequestToken": request.token,
        "baseModelIdentifier": request.model,
        "customizationType": CUSTOMIZATION,
        "trainingDataConfig": _training(request),
        "outputDataConfig": {"s3Uri": request.output},
        "customizationConfig": {"rftConfig": _reinforcement(request)},
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
    if tags:
        made["jobTags"] = made["customModelTags"] = tags
    return made


def _reinforcement(request: JobRequest) -> dict[str, Any]:
    grader = {"graderConfig": {"lambdaGrader": {"lambdaArn": request.grader}}}
    chosen = {"hyperParameters": dict(request.hyperparameters)} if request.hyperparameters else {}
    return grader | chosen


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
    conditions = [_condition(each) for each in filters.conditions]
    if len(conditions) == 1:
        return conditions[0]
    return {"andAll" if filters.match == "all" else "orAll": conditions}


def _condition(condition: Filter) -> dict[str, Any]:
    if condition.equals is not None:
        return {"equals": dict(condition.equals)}
    return {"notEquals": dict(condition.not_equals or {})}
