"""Bedrock's custom models, their deployments, and tags."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reward_functions.local.loopback_service.requests import conflict, missing
from reward_functions.local.training_double.bases import foundation_arn
from reward_functions.local.training_double.state import Deployment, Model, fresh_id, now, paged

if TYPE_CHECKING:
    from reward_functions.local.training_double.service import Call

REPEATED = (
    "trainingDataConfig",
    "validationDataConfig",
    "outputDataConfig",
    "customizationType",
    "customizationConfig",
)
"""Members of its job's request that `GetCustomModel` repeats."""


def get_model(call: Call) -> dict[str, Any]:
    """GetCustomModel."""
    model = _model(call, "bedrock:GetCustomModel")
    return {member: model.job.request.get(member) for member in REPEATED} | {
        "modelArn": model.id,
        "modelName": model.name,
        "jobName": model.job.name if model.job.path == "bedrock" else None,
        "jobArn": model.job.id if model.job.path == "bedrock" else None,
        "baseModelArn": foundation_arn(model.place, model.base),
        "modelKmsKeyArn": model.job.request.get("customModelKmsKeyId"),
        "creationTime": model.created,
        "modelStatus": "Active",
    }


def list_models(call: Call) -> dict[str, Any]:
    """ListCustomModels."""
    call.require("bedrock:ListCustomModels", "*")
    asked = call.parameters
    with call.state.lock:
        models = [
            model
            for model in call.state.models.values()
            if model.place == call.place
            and ":custom-model/" in model.id
            and asked.get("nameContains", "") in model.name
            and _based_on(model, asked)
            and asked.get("creationTimeAfter", model.created) <= model.created
            and asked.get("creationTimeBefore", model.created) >= model.created
            and asked.get("isOwned", True)
            and asked.get("modelStatus", "Active") == "Active"
        ]
    models.sort(key=lambda model: model.created, reverse=asked.get("sortOrder") != "Ascending")
    shown, token = paged(models, asked)
    return {"modelSummaries": [*map(_summary, shown)], "nextToken": token}


def _based_on(model: Model, asked: dict[str, Any]) -> bool:
    base = foundation_arn(model.place, model.base)
    wanted = {asked.get("baseModelArnEquals", base), asked.get("foundationModelArnEquals", base)}
    return wanted == {base}


def _summary(model: Model) -> dict[str, Any]:
    return {
        "modelArn": model.id,
        "modelName": model.name,
        "creationTime": model.created,
        "baseModelArn": foundation_arn(model.place, model.base),
        "baseModelName": model.base.partition(":")[0],
        "customizationType": model.job.request.get("customizationType", "IMPORTED"),
        "ownerAccountId": model.place.account,
        "modelStatus": "Active",
    }


def delete_model(call: Call) -> dict[str, Any]:
    """DeleteCustomModel. That a hosted one is refused is inferred from its ConflictException."""
    model = _model(call, "bedrock:DeleteCustomModel")
    with call.state.lock:
        hosted = [each.name for each in call.state.deployments.values() if each.model == model.id]
        if hosted:
            raise conflict(f"The custom model {model.name} is deployed as {', '.join(hosted)}")
        call.state.models.pop(model.id, None)
        call.state.tags.pop(model.id, None)
    return {}


def _model(call: Call, action: str) -> Model:
    wanted = call.parameters["modelIdentifier"]
    return call.found(call.state.models, "custom-model", wanted, action)


def create_deployment(call: Call) -> dict[str, Any]:
    """CreateCustomModelDeployment."""
    given, place = call.parameters, call.place
    model = given["modelArn"]
    arn = place.arn("bedrock", f"custom-model-deployment/{fresh_id()}")
    for each in (model, arn):
        call.require("bedrock:CreateCustomModelDeployment", each)
    if given.get("tags"):
        call.require("bedrock:TagResource", arn)
    with call.state.lock:
        token = given.get("clientRequestToken", "")
        if before := call.state.tokens.get((place, "deployment", token)):
            return {"customModelDeploymentArn": before}
        _require_model(call, model)
        name = given["modelDeploymentName"]
        if any(
            (each.name, each.place) == (name, place) for each in call.state.deployments.values()
        ):
            raise conflict(f"A custom model deployment of the name {name} exists already")
        call.state.deployments[arn] = Deployment(
            arn, name, place, model, given.get("description", "")
        )
        call.state.tags[arn] = {tag["key"]: tag["value"] for tag in given.get("tags", [])}
        if token:
            call.state.tokens[place, "deployment", token] = arn
    return {"customModelDeploymentArn": arn}


def _require_model(call: Call, arn: str) -> None:
    if arn not in call.state.models:
        raise missing(f"The custom model {arn} does not exist")


def get_deployment(call: Call) -> dict[str, Any]:
    """GetCustomModelDeployment."""
    found = _deployment(call, "bedrock:GetCustomModelDeployment")
    settled = call.state.settled(found)
    update = {
        "modelArn": found.model,
        "updateStatus": "UpdateCompleted" if settled else "Updating",
    }
    return {
        "customModelDeploymentArn": found.arn,
        "modelDeploymentName": found.name,
        "modelArn": found.model if settled or not found.before else found.before,
        "createdAt": found.created,
        "status": _status(call, found),
        "description": found.description or None,
        "updateDetails": update if found.before else None,
        "lastUpdatedAt": found.updated,
    }


def _status(call: Call, deployment: Deployment) -> str:
    there = deployment.before or call.state.settled(deployment)
    return "Active" if there else "Creating"


def list_deployments(call: Call) -> dict[str, Any]:
    """ListCustomModelDeployments."""
    call.require("bedrock:ListCustomModelDeployments", "*")
    asked = call.parameters
    with call.state.lock:
        there = [
            each
            for each in call.state.deployments.values()
            if each.place == call.place
            and asked.get("nameContains", "") in each.name
            and asked.get("modelArnEquals", each.model) == each.model
            and asked.get("statusEquals", _status(call, each)) == _status(call, each)
            and asked.get("createdAfter", each.created) <= each.created
            and asked.get("createdBefore", each.created) >= each.created
        ]
    there.sort(key=lambda each: each.created, reverse=asked.get("sortOrder") != "Ascending")
    shown, token = paged(there, asked)
    summaries = [
        {
            "customModelDeploymentArn": each.arn,
            "customModelDeploymentName": each.name,
            "modelArn": each.model,
            "createdAt": each.created,
            "status": _status(call, each),
            "lastUpdatedAt": each.updated,
        }
        for each in shown
    ]
    return {"modelDeploymentSummaries": summaries, "nextToken": token}


def update_deployment(call: Call) -> dict[str, Any]:
    """UpdateCustomModelDeployment."""
    found = _deployment(call, "bedrock:UpdateCustomModelDeployment")
    with call.state.lock:
        _require_model(call, call.parameters["modelArn"])
        found.before, found.model = found.model, call.parameters["modelArn"]
        found.updated = now()
    return {"customModelDeploymentArn": found.arn}


def delete_deployment(call: Call) -> dict[str, Any]:
    """DeleteCustomModelDeployment."""
    found = _deployment(call, "bedrock:DeleteCustomModelDeployment")
    with call.state.lock:
        call.state.deployments.pop(found.arn, None)
        call.state.tags.pop(found.arn, None)
    return {}


def _deployment(call: Call, action: str) -> Deployment:
    wanted = call.parameters["customModelDeploymentIdentifier"]
    return call.found(call.state.deployments, "custom-model-deployment", wanted, action)


def tag(call: Call) -> dict[str, Any]:
    """TagResource."""
    tags = _tags(call, "bedrock:TagResource")
    with call.state.lock:
        tags.update((each["key"], each["value"]) for each in call.parameters["tags"])
    return {}


def untag(call: Call) -> dict[str, Any]:
    """UntagResource."""
    tags = _tags(call, "bedrock:UntagResource")
    with call.state.lock:
        for key in call.parameters["tagKeys"]:
            tags.pop(key, None)
    return {}


def list_tags(call: Call) -> dict[str, Any]:
    """ListTagsForResource."""
    tags = _tags(call, "bedrock:ListTagsForResource")
    with call.state.lock:
        return {"tags": [{"key": key, "value": value} for key, value in tags.items()]}


def _tags(call: Call, action: str) -> dict[str, str]:
    arn = call.parameters["resourceARN"]
    call.require(action, arn)
    if arn not in call.state.tags:
        raise missing(f"The resource {arn} does not exist")
    return call.state.tags[arn]
