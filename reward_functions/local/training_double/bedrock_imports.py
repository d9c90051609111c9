"""Bedrock's imported models, and custom models made of model packages.

What SageMaker trained is hosted here: merged weights are imported from their folder, and a Nova
model's package becomes a custom model. The folder of a simulated model holds its policy in
`simulation.json`, which is read with the rights of the import's role. Inferred: that a folder
without weights fails the job, and not the call.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from reward_functions.local.loopback_service.requests import conflict, invalid, missing
from reward_functions.local.training_double.acting import acting
from reward_functions.local.training_double.bedrock_jobs import object_at
from reward_functions.local.training_double.clients import JobFailed
from reward_functions.local.training_double.policy import Policy
from reward_functions.local.training_double.rights import BEDROCK
from reward_functions.local.training_double.sagemaker_packages import POLICY_FILE
from reward_functions.local.training_double.sagemaker_state import Import
from reward_functions.local.training_double.state import Model, fresh_id, now, paged

if TYPE_CHECKING:
    from reward_functions.local.training_double.rights import Policies
    from reward_functions.local.training_double.service import Call

ARCHITECTURE: Final = "simulation"


def create_job(call: Call) -> dict[str, Any]:
    """CreateModelImportJob."""
    given, place = call.parameters, call.place
    job = place.arn("bedrock", f"model-import-job/{fresh_id()}")
    model = place.arn("bedrock", f"imported-model/{fresh_id()}")
    call.require("bedrock:CreateModelImportJob", job)
    tagged = ((job, "jobTags"), (model, "importedModelTags"))
    for arn, member in tagged:
        if given.get(member):
            call.require("bedrock:TagResource", arn)
    call.require("iam:PassRole", given["roleArn"], {"iam:PassedToService": BEDROCK})
    if "s3DataSource" not in given["modelDataSource"]:
        raise invalid("modelDataSource must have an s3DataSource")
    context = {"aws:SourceAccount": place.account, "aws:SourceArn": job}
    call.service.rights.require_trust(given["roleArn"], context)
    with call.state.lock:
        token = given.get("clientRequestToken", "")
        if token and (before := call.state.tokens.get((place, "import", token))):
            return {"jobArn": before}
        _require_free(call)
    rights = call.service.rights.policies(given["roleArn"])
    policy, failure = _read(call, rights, job.rpartition("/")[2])
    made = Import(
        job, given["jobName"], place, model, given["importedModelName"], given, policy, failure
    )
    with call.state.lock:
        _require_free(call)
        call.service.imports[job] = made
        if token:
            call.state.tokens[place, "import", token] = job
        for arn, member in tagged:
            call.state.tags[arn] = {tag["key"]: tag["value"] for tag in given.get(member, [])}
    return {"jobArn": job}


def _require_free(call: Call) -> None:
    given = call.parameters
    here = [each for each in call.service.imports.values() if each.place == call.place]
    if any(each.name == given["jobName"] for each in here):
        raise conflict(f"The provided job name {given['jobName']} is already in use")
    if any(each.model_name == given["importedModelName"] and each.policy for each in here):
        raise conflict(f"The provided model name {given['importedModelName']} is already in use")


def _read(call: Call, rights: Policies, job: str) -> tuple[Policy | None, str]:
    """The policy that lies in the folder, or why there is none."""
    folder = call.parameters["modelDataSource"]["s3DataSource"]["s3Uri"].rstrip("/")
    try:
        with acting(call.service.clients, call.place.account, rights, job) as session:
            found = json.loads(object_at(session, f"{folder}/{POLICY_FILE}"))
        return Policy.from_json(json.dumps(found["policy"])), ""
    except JobFailed as failed:
        return None, f"{failed} (simulation: no merged weights of a simulated job lie there)"
    except (ValueError, TypeError, LookupError, RecursionError):
        return None, f"simulation: {folder}/{POLICY_FILE} holds no simulated policy"


def _done(call: Call, found: Import) -> bool:
    return (now() - found.created).total_seconds() >= call.state.seconds_to_host


def get_job(call: Call) -> dict[str, Any]:
    """GetModelImportJob."""
    wanted = call.parameters["jobIdentifier"]
    found = call.found(
        call.service.imports, "model-import-job", wanted, "bedrock:GetModelImportJob"
    )
    done = _done(call, found)
    ended = "Failed" if found.failure else "Completed"
    return {
        "jobArn": found.arn,
        "jobName": found.name,
        "importedModelName": found.model_name,
        "importedModelArn": found.model if done and found.policy else None,
        "roleArn": found.given["roleArn"],
        "modelDataSource": found.given["modelDataSource"],
        "status": ended if done else "InProgress",
        "failureMessage": (found.failure or None) if done else None,
        "creationTime": found.created,
        "lastModifiedTime": found.created,
        "endTime": found.created if done else None,
    }


def get_model(call: Call) -> dict[str, Any]:
    """GetImportedModel."""
    found = _model(call, call.parameters["modelIdentifier"], "bedrock:GetImportedModel")
    return _summary(found) | {
        "jobName": found.name,
        "jobArn": found.arn,
        "modelDataSource": found.given["modelDataSource"],
    }


def list_models(call: Call) -> dict[str, Any]:
    """ListImportedModels."""
    call.require("bedrock:ListImportedModels", "*")
    asked = call.parameters
    with call.state.lock:
        models = [
            each
            for each in call.service.imports.values()
            if each.place == call.place
            and each.policy
            and _done(call, each)
            and asked.get("nameContains", "") in each.model_name
            and asked.get("creationTimeAfter", each.created) <= each.created
            and asked.get("creationTimeBefore", each.created) >= each.created
        ]
    models.sort(key=lambda each: each.created, reverse=asked.get("sortOrder") != "Ascending")
    shown, token = paged(models, asked)
    return {"modelSummaries": [*map(_summary, shown)], "nextToken": token}


def _summary(found: Import) -> dict[str, Any]:
    return {
        "modelArn": found.model,
        "modelName": found.model_name,
        "creationTime": found.created,
        "modelArchitecture": ARCHITECTURE,
        "instructSupported": True,
    }


def delete_model(call: Call) -> dict[str, Any]:
    """DeleteImportedModel; the job that imported it stays, as jobs do."""
    found = _model(call, call.parameters["modelIdentifier"], "bedrock:DeleteImportedModel")
    with call.state.lock:
        # Its import job stays, with its name and its token.
        found.policy = None
        call.state.tags.pop(found.model, None)
    return {}


def imported(call: Call, arn: str) -> Policy:
    """The policy of an imported model that the caller may ask.

    Raises:
        Refused: there is none, or the caller may not.
    """
    found = _model(call, arn, "bedrock:InvokeModel").policy
    if found is None:
        raise missing(f"The imported model {arn} does not exist")
    return found


def _model(call: Call, wanted: str, action: str) -> Import:
    """The import whose model a request names, by its ARN or its name."""
    with call.state.lock:
        here = [
            each
            for each in call.service.imports.values()
            if each.place == call.place and each.policy and _done(call, each)
        ]
    found = next((each for each in here if wanted in {each.model, each.model_name}), None)
    named = wanted
    if not wanted.startswith("arn:"):
        named = call.place.arn("bedrock", f"imported-model/{wanted}")
    call.require(action, found.model if found else named)
    if found is None:
        raise missing(f"The imported model {wanted} does not exist")
    return found


def create_custom_model(call: Call) -> dict[str, Any]:
    """CreateCustomModel, of a model package."""
    given, place = call.parameters, call.place
    source = given.get("customModelDataSource", {}).get("modelPackageArnDataSource")
    if source is None:
        raise invalid("simulation: a custom model is made of a SageMaker model package alone")
    package = call.sagemaker.packages.get(source["modelPackageArn"])
    if package is None or package.group.place != place:
        raise missing(f"The model package {source['modelPackageArn']} does not exist")
    if package.uri:
        raise invalid(f"{package.model} is no Nova model: import its merged weights")
    arn = place.arn("bedrock", f"custom-model/imported/{fresh_id()}")
    call.require("bedrock:CreateCustomModel", arn)
    if role := given.get("roleArn"):
        call.require("iam:PassRole", role, {"iam:PassedToService": BEDROCK})
        context = {"aws:SourceAccount": place.account, "aws:SourceArn": arn}
        call.service.rights.require_trust(role, context)
    with call.state.lock:
        token = given.get("clientRequestToken", "")
        if token and (before := call.state.tokens.get((place, "model", token))):
            return {"modelArn": before}
        name = given["modelName"]
        if any((each.name, each.place) == (name, place) for each in call.state.models.values()):
            raise conflict(f"The provided custom model name {name} is already in use")
        base = package.job.base
        call.state.models[arn] = Model(arn, name, place, base, package.policy, package.job)
        call.state.tags[arn] = {tag["key"]: tag["value"] for tag in given.get("modelTags", [])}
        if token:
            call.state.tokens[place, "model", token] = arn
    return {"modelArn": arn}
