"""Bedrock: customization jobs, custom and imported models, deployments, Converse.

The base models are those of `reward job`'s own table, `jobs/models.toml`, with all their ids; only
the region is not looked at, for a stage on the emulator has one alone. Each is answered for by the
same simulated policy.

As documented: a token that was used before makes no second job and no error; names of jobs and of
models are one of a kind in their account and region. Inferred, since no page says it: the codes of
those conflicts, that a hosted model is not deleted, and that a role and a grader's region are
looked at when the job is created, its data when it runs.

What SageMaker trained is hosted here: merged weights are imported from their folder, and a Nova
model's package becomes a custom model. The folder of a simulated model holds its policy in
`simulation.json`, which is read with the rights of the import's role. Inferred: that a folder
without weights fails the job, and not the call.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from functools import partial
from random import Random
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final

from reward_functions.data.lengths import CHARACTERS_PER_TOKEN, prompt_tokens, tokens
from reward_functions.jobs.models import models
from reward_functions.local.loopback_service.server import conflict, invalid, missing
from reward_functions.local.training_double.hub import MODELS
from reward_functions.local.training_double.jobs import (
    PHASES,
    WORDS,
    Grader,
    Job,
    Model,
    fresh_id,
    now,
    object_at,
    put_objects,
    seed_of,
)
from reward_functions.local.training_double.metric_files import (
    PAGE_FILE,
    TRAINING_FILE,
    VALIDATION_FILE,
    training_csv,
    validation_csv,
)
from reward_functions.local.training_double.page import page_of
from reward_functions.local.training_double.policy import GREEDY, Policy
from reward_functions.local.training_double.prompts import point, prompts, training_rows
from reward_functions.local.training_double.rights import acting
from reward_functions.local.training_double.strategies import NoTask
from reward_functions.local.training_double.training import JobFailed

if TYPE_CHECKING:
    from datetime import datetime

    from boto3.session import Session

    from reward_functions.cdk.policies.iam import Place
    from reward_functions.jobs.job import DriverName
    from reward_functions.local.training_double.rights import Policies
    from reward_functions.local.training_double.service import Call, Serve
    from reward_functions.local.training_double.training import Outcome

BEDROCK: Final = "bedrock.amazonaws.com"


def ids(driver: DriverName) -> tuple[str, ...]:
    """Every id of the models that an API trains."""
    rows = [model for model in models() if model.driver == driver]
    return tuple(each for model in rows for each in (model.id, *model.aliases))


BASES: Final = ids("bedrock")
"""Tuned by Bedrock's control plane."""

_ARN: Final = re.compile(r"arn:aws[a-z-]*:bedrock:([a-z0-9-]{1,20})::foundation-model/(.{1,200})")
_PROFILE: Final = re.compile(
    r"(?:arn:aws[a-z-]*:bedrock:[a-z0-9-]{1,20}:[0-9]{12}:inference-profile/)?"
    r"(us|eu|apac|global)\.(.{1,200})"
)

ASKED: Final = frozenset(
    {*BASES, *ids("openai"), *(model.asked for model in MODELS.values() if model.asked)}
    | {_PROFILE.sub(r"\2", model.inference_id) for model in models()}
)
"""What Converse takes: a model's own ids, and the one that its inference profiles end with."""

DEFAULT_TOKENS: Final = 4_096
"""What a response may have where nobody limits it; the service's own limit is each model's."""

POLICY_FILE: Final = "simulation.json"
"""Of merged weights: what was learnt."""


@dataclass
class Deployment:
    """A custom model that is hosted.

    Args:
        arn: its own; Converse takes it as a model id.
        name: its own.
        place: its partition, region and account.
        model: ARN of what it hosts.
        description: "" for none.
    """

    arn: str
    name: str
    place: Place
    model: str
    description: str = ""
    created: datetime = field(default_factory=now)


@dataclass
class Import:
    """An import job.

    Args:
        id: its ARN.
        name: its own.
        place: where it is.
        model: ARN of the imported model.
        request: as it was given.
        failure: why it failed; "" where it did not.
    """

    id: str
    name: str
    place: Place
    model: str
    request: dict[str, Any]
    failure: str
    path: str = "import"
    created: datetime = field(default_factory=now)


def foundation_arn(place: Place, base: str) -> str:
    """The ARN of a base model."""
    return f"arn:{place.partition}:bedrock:{place.region}::foundation-model/{base}"


def asked(identifier: str, place: Place) -> tuple[str, list[str]]:
    """The base model that Converse is asked for, and the resources that must be allowed.

    Args:
        identifier: an id, an ARN, or an inference profile of one.
        place: where it is asked.

    Raises:
        Refused: there is no such model here.
    """
    profile = _PROFILE.fullmatch(identifier)
    found = _ARN.fullmatch(identifier)
    base = profile[2] if profile else found[2] if found else identifier
    if base not in ASKED:
        raise missing(
            f"The provided model identifier is invalid: {identifier} (simulation: "
            f"{', '.join(sorted(ASKED))} answer)"
        )
    resources = [foundation_arn(place, base)]
    if profile:
        resources.append(place.arn("bedrock", f"inference-profile/{profile[1]}.{base}"))
    return base, resources


def create_job(call: Call) -> dict[str, Any]:
    """CreateModelCustomizationJob."""
    given, place = call.parameters, call.place
    base, resource, policy = _base(call, given["baseModelIdentifier"])
    arn = place.arn("bedrock", f"model-customization-job/{base}/{fresh_id()}")
    model = place.arn("bedrock", f"custom-model/{base}/{fresh_id()}")
    action = "bedrock:CreateModelCustomizationJob"
    tags = call.require_making(action, resource, arn, member="jobTags")
    model_tags = call.require_tagging(model, "customModelTags")
    grader = _grader(call)
    rights = call.hand_over(given["roleArn"], arn, BEDROCK)
    job = Job(
        id=arn, path="bedrock", name=given["jobName"], place=place, base=base, grader=grader,
        request=given | {"baseModelArn": resource}, policy=policy, model=model,
        hyperparameters=given["customizationConfig"]["rftConfig"].get("hyperParameters", {}),
        seed=seed_of(given["jobName"]),
    )  # fmt: skip
    with call.state.lock:
        if before := call.made_before("job"):
            return {"jobArn": before}
        _require_free(call)
        call.state.jobs[arn] = job
        call.keep_token("job", arn)
        call.state.tags |= {arn: tags, model: model_tags}
    call.service.runs.start(job, rights, partial(_train, call, job), announce=partial(_event, job))
    return {"jobArn": arn}


def _base(call: Call, identifier: str) -> tuple[str, str, Policy]:
    """The foundation model, the ARN of what is tuned, and the policy to begin with."""
    model, place = call.state.models.get(identifier), call.place
    if model is not None:
        return model.base, model.id, model.policy
    if ":custom-model/" in identifier:
        raise missing(f"The custom model {identifier} does not exist")
    found = _ARN.fullmatch(identifier)
    region, base = found.groups() if found else (place.region, identifier)
    if base not in BASES or region != place.region:
        raise invalid(
            f"The provided model identifier is invalid: {identifier} cannot be customized by "
            f"reinforcement fine-tuning in {place.region} (simulation: {', '.join(BASES)} can)"
        )
    return base, foundation_arn(place, base), Policy.base()


def _grader(call: Call) -> str:
    """The ARN of the grader of a job that the double can run."""
    given = call.parameters
    if given.get("customizationType") != "REINFORCEMENT_FINE_TUNING":
        raise invalid("simulation: only customizationType REINFORCEMENT_FINE_TUNING is run here")
    config = given.get("customizationConfig", {}).get("rftConfig", {})
    arn = config.get("graderConfig", {}).get("lambdaGrader", {}).get("lambdaArn")
    if arn is None:
        raise invalid("customizationConfig.rftConfig.graderConfig must name a Lambda function")
    return call.local_function("grader", arn)


def _require_free(call: Call) -> None:
    name, model = call.parameters["jobName"], call.parameters["customModelName"]
    jobs = call.here(_jobs(call))
    if any(job.name == name for job in jobs):
        raise conflict(f"The provided job name {name} is already in use")
    coming = [job.request["customModelName"] for job in jobs if job.ended is None]
    if model in (*coming, *(each.name for each in call.here(_models(call, "custom-model")))):
        raise conflict(f"The provided custom model name {model} is already in use")


def _jobs(call: Call) -> dict[str, Job]:
    """The jobs of this API, by ARN: SageMaker's may have the same names."""
    with call.state.lock:
        return {arn: job for arn, job in call.state.jobs.items() if job.path == "bedrock"}


def _train(call: Call, job: Job, session: Session) -> Outcome:
    """Train, and write the metric files of the job and its page."""
    training = job.request["trainingDataConfig"]
    if "s3Uri" not in training:
        raise JobFailed(
            "simulation: invocation logs hold no reference answers, and the simulated policy "
            "writes right answers from them; name a file as trainingDataConfig.s3Uri"
        )
    validators = job.request.get("validationDataConfig", {}).get("validators", [])
    rows = training_rows(object_at(session, training["s3Uri"]), training["s3Uri"])
    validation = [
        row
        for each in validators
        for row in prompts(object_at(session, each["s3Uri"]), each["s3Uri"])
    ]
    outcome = call.service.runs.train(job, rows, validation, Grader(session, job.grader))
    if outcome.status == "succeeded":
        files = {TRAINING_FILE: training_csv(job.steps), PAGE_FILE: page_of(job, "succeeded")}
        if any(step.validation for step in job.steps):
            files[VALIDATION_FILE] = validation_csv(job.steps)
        named = {name.format(job=job.short): content for name, content in files.items()}
        put_objects(session, job.request["outputDataConfig"]["s3Uri"], named)
    return outcome


REPEATED: Final = (
    "trainingDataConfig",
    "outputDataConfig",
    "customizationType",
    "customizationConfig",
)
"""Members of the request that a job and its model repeat."""

KEPT: Final = (*REPEATED, "clientRequestToken", "roleArn", "vpcConfig")
"""Members of the request that `GetModelCustomizationJob` repeats."""


def get_job(call: Call) -> dict[str, Any]:
    """GetModelCustomizationJob."""
    job = _job(call, "bedrock:GetModelCustomizationJob")
    with call.state.lock:
        return {**{member: job.request.get(member) for member in KEPT}, **_described(job)} | {
            "outputModelName": job.request["customModelName"],
            "outputModelArn": job.model if job.status == "succeeded" else None,
            "failureMessage": job.failure or None,
            # Only of a list's summaries can it be a custom model: botocore's model of the two.
            "baseModelArn": foundation_arn(job.place, job.base),
            "hyperParameters": job.request.get("hyperParameters", {}),
            "validationDataConfig": job.request.get("validationDataConfig", {"validators": []}),
            "outputModelKmsKeyArn": job.request.get("customModelKmsKeyId"),
        }


def _job(call: Call, action: str) -> Job:
    wanted = call.parameters["jobIdentifier"]
    job: Job = call.found(_jobs(call), "model-customization-job", wanted, action)
    return job


def _details(job: Job) -> dict[str, Any]:
    """`statusDetails`: what the job has begun, and what it has not."""
    details: dict[str, Any] = {f"{name}Details": {"status": "NotStarted"} for name in PHASES}
    for name, phase in job.phases.items():
        details[f"{name}Details"] = {
            "status": WORDS["bedrock"][phase.status],
            "creationTime": phase.created,
            "lastModifiedTime": phase.modified,
        }
    return details


def list_jobs(call: Call) -> dict[str, Any]:
    """ListModelCustomizationJobs."""
    call.require("bedrock:ListModelCustomizationJobs", "*")
    return call.page(call.here(_jobs(call)), "modelCustomizationJobSummaries", _job_summary)


def _described(job: Job) -> dict[str, Any]:
    """What the description and the summary of a job have in common."""
    return {
        "jobArn": job.id,
        "jobName": job.name,
        "status": job.word,
        "statusDetails": _details(job),
        "creationTime": job.created,
        "lastModifiedTime": job.modified,
        "endTime": job.ended,
    }


def _job_summary(job: Job) -> dict[str, Any]:
    done = job.status == "succeeded"
    return _described(job) | {
        "baseModelArn": job.request["baseModelArn"],
        "customModelArn": job.model if done else None,
        "customModelName": job.request["customModelName"] if done else None,
        "customizationType": job.request["customizationType"],
    }


def stop_job(call: Call) -> dict[str, Any]:
    """StopModelCustomizationJob."""
    job = _job(call, "bedrock:StopModelCustomizationJob")
    if job.ended is not None:
        raise conflict(f"The job {job.name} is {job.word} and cannot be stopped")
    call.service.runs.stop(job)
    return {}


def _event(job: Job) -> dict[str, Any]:
    """The detail of an event, as "Monitor Amazon Bedrock job state changes" has it."""
    given = job.request
    return {
        "version": "0.0",
        "jobName": job.name,
        "jobArn": job.id,
        "outputModelName": given["customModelName"],
        "outputModelArn": job.model if job.status == "succeeded" else "",
        "roleArn": given["roleArn"],
        "jobStatus": job.word,
        "failureMessage": job.failure,
        "creationTime": f"{job.created:%Y-%m-%dT%H:%M:%SZ}",
        "lastModifiedTime": f"{job.modified:%Y-%m-%dT%H:%M:%SZ}",
        "endTime": f"{job.ended:%Y-%m-%dT%H:%M:%SZ}" if job.ended else "",
        "baseModelArn": given["baseModelArn"],
        "hyperParameters": given.get("hyperParameters", {}),
        "trainingDataConfig": given["trainingDataConfig"],
        "validationDataConfig": given.get("validationDataConfig", {"validators": []}),
        "outputDataConfig": given["outputDataConfig"],
    }


def _models(call: Call, kind: str) -> dict[str, Model]:
    """The models of a kind that are there, by ARN: an import takes its time."""
    with call.state.lock:
        return {
            arn: model
            for arn, model in call.state.models.items()
            if f":{kind}/" in arn and (kind == "custom-model" or call.state.settled(model.created))
        }


def _model(call: Call, kind: str, action: str, wanted: str = "") -> Model:
    named = wanted or call.parameters["modelIdentifier"]
    model: Model = call.found(_models(call, kind), kind, named, action)
    return model


def get_model(call: Call) -> dict[str, Any]:
    """GetCustomModel."""
    model = _model(call, "custom-model", "bedrock:GetCustomModel")
    job, members = model.job, (*REPEATED, "validationDataConfig")
    return {member: job.request.get(member) for member in members} | {
        **_described_model(model),
        "jobName": job.name if job.path == "bedrock" else None,
        "jobArn": job.id if job.path == "bedrock" else None,
        "modelKmsKeyArn": job.request.get("customModelKmsKeyId"),
    }


def list_models(call: Call) -> dict[str, Any]:
    """ListCustomModels."""
    call.require("bedrock:ListCustomModels", "*")
    given = call.parameters
    models = [
        model
        for model in call.here(_models(call, "custom-model"))
        for base in [foundation_arn(model.place, model.base)]
        if given.get("baseModelArnEquals", base) == base
        and given.get("foundationModelArnEquals", base) == base
        and given.get("isOwned", True)
        and given.get("modelStatus", "Active") == "Active"
    ]
    return call.page(models, "modelSummaries", _model_summary)


def _described_model(model: Model) -> dict[str, Any]:
    """What the description and the summary of a model have in common."""
    return {
        "modelArn": model.id,
        "modelName": model.name,
        "creationTime": model.created,
        "baseModelArn": foundation_arn(model.place, model.base),
        "modelStatus": "Active",
    }


def _model_summary(model: Model) -> dict[str, Any]:
    return _described_model(model) | {
        "baseModelName": model.base.partition(":")[0],
        "customizationType": model.job.request.get("customizationType", "IMPORTED"),
        "ownerAccountId": model.place.account,
    }


def delete_model(call: Call) -> dict[str, Any]:
    """DeleteCustomModel. That a hosted one is refused is inferred from its ConflictException."""
    model = _model(call, "custom-model", "bedrock:DeleteCustomModel")
    with call.state.lock:
        hosted = [each.name for each in call.state.deployments.values() if each.model == model.id]
        if hosted:
            raise conflict(f"The custom model {model.name} is deployed as {', '.join(hosted)}")
        return call.forget(model.id, call.state.models)


def create_deployment(call: Call) -> dict[str, Any]:
    """CreateCustomModelDeployment."""
    given, place, model = call.parameters, call.place, call.parameters["modelArn"]
    arn = place.arn("bedrock", f"custom-model-deployment/{fresh_id()}")
    action = "bedrock:CreateCustomModelDeployment"
    tags = call.require_making(action, model, arn, member="tags")
    with call.state.lock:
        if before := call.made_before("deployment"):
            return {"customModelDeploymentArn": before}
        if model not in call.state.models:
            raise missing(f"The custom model {model} does not exist")
        name = given["modelDeploymentName"]
        if any(each.name == name for each in call.here(call.state.deployments)):
            raise conflict(f"A custom model deployment of the name {name} exists already")
        made = Deployment(arn, name, place, model, given.get("description", ""))
        call.state.deployments[arn] = made
        call.state.tags[arn] = tags
        call.keep_token("deployment", arn)
    return {"customModelDeploymentArn": arn}


def _deployment(call: Call, action: str) -> Deployment:
    wanted = call.parameters["customModelDeploymentIdentifier"]
    found: Deployment = call.found(
        call.state.deployments, "custom-model-deployment", wanted, action
    )
    return found


def _hosting(call: Call, deployment: Deployment) -> str:
    return "Active" if call.state.settled(deployment.created) else "Creating"


def get_deployment(call: Call) -> dict[str, Any]:
    """GetCustomModelDeployment."""
    found = _deployment(call, "bedrock:GetCustomModelDeployment")
    return {
        "customModelDeploymentArn": found.arn,
        "modelDeploymentName": found.name,
        "modelArn": found.model,
        "createdAt": found.created,
        "status": _hosting(call, found),
        "description": found.description or None,
        "lastUpdatedAt": found.created,
    }


def list_deployments(call: Call) -> dict[str, Any]:
    """ListCustomModelDeployments."""
    call.require("bedrock:ListCustomModelDeployments", "*")
    wanted = call.parameters.get("modelArnEquals")
    return call.page(
        [each for each in call.here(call.state.deployments) if wanted in {None, each.model}],
        "modelDeploymentSummaries",
        lambda each: {
            "customModelDeploymentArn": each.arn,
            "customModelDeploymentName": each.name,
            "modelArn": each.model,
            "createdAt": each.created,
            "status": _hosting(call, each),
            "lastUpdatedAt": each.created,
        },
        partial(_hosting, call),
    )


def delete_deployment(call: Call) -> dict[str, Any]:
    """DeleteCustomModelDeployment."""
    found = _deployment(call, "bedrock:DeleteCustomModelDeployment")
    return call.forget(found.arn, call.state.deployments)


def list_tags(call: Call) -> dict[str, Any]:
    """ListTagsForResource."""
    tags = call.tags("bedrock:ListTagsForResource", call.parameters["resourceARN"], missing)
    return {"tags": [{"key": key, "value": value} for key, value in tags.items()]}


def create_import(call: Call) -> dict[str, Any]:
    """CreateModelImportJob."""
    given, place = call.parameters, call.place
    arn = place.arn("bedrock", f"model-import-job/{fresh_id()}")
    model = place.arn("bedrock", f"imported-model/{fresh_id()}")
    tags = call.require_making("bedrock:CreateModelImportJob", arn, member="jobTags")
    model_tags = call.require_tagging(model, "importedModelTags")
    if "s3DataSource" not in given["modelDataSource"]:
        raise invalid("modelDataSource must have an s3DataSource")
    rights = call.hand_over(given["roleArn"], arn, BEDROCK)
    policy, failure = _imported(call, rights, arn.rpartition("/")[2])
    made = Import(arn, given["jobName"], place, model, given, failure)
    with call.state.lock:
        if before := call.made_before("import"):
            return {"jobArn": before}
        if any(each.name == made.name for each in call.here(call.state.imports)):
            raise conflict(f"The provided job name {made.name} is already in use")
        name = given["importedModelName"]
        there = [each for each in call.here(call.state.models) if ":imported-model/" in each.id]
        if any(each.name == name for each in there):
            raise conflict(f"The provided model name {name} is already in use")
        call.state.imports[arn] = made
        if policy is not None:
            call.state.models[model] = Model(model, name, place, "", policy, made)
        call.keep_token("import", arn)
        call.state.tags |= {arn: tags, model: model_tags}
    return {"jobArn": arn}


def _imported(call: Call, rights: Policies, job: str) -> tuple[Policy | None, str]:
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


def get_import(call: Call) -> dict[str, Any]:
    """GetModelImportJob."""
    wanted, action = call.parameters["jobIdentifier"], "bedrock:GetModelImportJob"
    found: Import = call.found(call.state.imports, "model-import-job", wanted, action)
    done = call.state.settled(found.created)
    ended = "Failed" if found.failure else "Completed"
    return {
        "jobArn": found.id,
        "jobName": found.name,
        "importedModelName": found.request["importedModelName"],
        "importedModelArn": found.model if done and found.model in call.state.models else None,
        "roleArn": found.request["roleArn"],
        "modelDataSource": found.request["modelDataSource"],
        "status": ended if done else "InProgress",
        "failureMessage": (found.failure or None) if done else None,
        "creationTime": found.created,
        "lastModifiedTime": found.created,
        "endTime": found.created if done else None,
    }


def get_imported(call: Call) -> dict[str, Any]:
    """GetImportedModel."""
    found = _model(call, "imported-model", "bedrock:GetImportedModel")
    return _imported_summary(found) | {
        "jobName": found.job.name,
        "jobArn": found.job.id,
        "modelDataSource": found.job.request["modelDataSource"],
    }


def list_imported(call: Call) -> dict[str, Any]:
    """ListImportedModels."""
    call.require("bedrock:ListImportedModels", "*")
    there = call.here(_models(call, "imported-model"))
    return call.page(there, "modelSummaries", _imported_summary)


def _imported_summary(found: Model) -> dict[str, Any]:
    return {
        "modelArn": found.id,
        "modelName": found.name,
        "creationTime": found.created,
        "modelArchitecture": "simulation",
        "instructSupported": True,
    }


def delete_imported(call: Call) -> dict[str, Any]:
    """DeleteImportedModel; the job that imported it stays, with its name and its token."""
    found = _model(call, "imported-model", "bedrock:DeleteImportedModel")
    return call.forget(found.id, call.state.models)


def create_model(call: Call) -> dict[str, Any]:
    """CreateCustomModel, of a model package."""
    given, place = call.parameters, call.place
    source = given.get("customModelDataSource", {}).get("modelPackageArnDataSource")
    if source is None:
        raise invalid("simulation: a custom model is made of a SageMaker model package alone")
    package = call.state.packages.get(source["modelPackageArn"])
    if package is None or package.place != place:
        raise missing(f"The model package {source['modelPackageArn']} does not exist")
    if package.uri:
        raise invalid(f"{package.base.name} is no Nova model: import its merged weights")
    arn = place.arn("bedrock", f"custom-model/imported/{fresh_id()}")
    tags = call.require_making("bedrock:CreateCustomModel", arn, member="modelTags")
    if role := given.get("roleArn"):
        call.hand_over(role, arn, BEDROCK)
    with call.state.lock:
        if before := call.made_before("model"):
            return {"modelArn": before}
        name = given["modelName"]
        if any(each.name == name for each in call.here(_models(call, "custom-model"))):
            raise conflict(f"The provided custom model name {name} is already in use")
        job = package.job
        call.state.models[arn] = Model(arn, name, place, job.base, package.policy, job)
        call.state.tags[arn] = tags
        call.keep_token("model", arn)
    return {"modelArn": arn}


def converse(call: Call) -> dict[str, Any]:
    """Converse: a base by its model's id, a tuned model by an ARN of its deployment or its own."""
    begun, given = perf_counter(), call.parameters
    policy = _policy(call, given["modelId"])
    messages = [
        *({"role": "system", "content": _text([block])} for block in given.get("system", [])),
        *(
            {"role": turn["role"], "content": _text(turn["content"])}
            for turn in given.get("messages", [])
        ),
    ]
    wanted = given.get("inferenceConfig", {})
    text, whole = respond(
        call,
        policy,
        messages,
        temperature=wanted.get("temperature", 1.0),
        most=wanted.get("maxTokens", DEFAULT_TOKENS),
    )
    read, written = prompt_tokens(messages), tokens(text)
    return {
        # A block of text has one character at least.
        "output": {"message": {"role": "assistant", "content": [{"text": text}] if text else []}},
        "stopReason": "end_turn" if whole else "max_tokens",
        "usage": {"inputTokens": read, "outputTokens": written, "totalTokens": read + written},
        "metrics": {"latencyMs": round((perf_counter() - begun) * 1000)},
    }


def respond(
    call: Call, policy: Policy, messages: list[dict[str, str]], *, temperature: float, most: int
) -> tuple[str, bool]:
    """A policy's response to a prompt, and whether it is whole.

    Args:
        call: whose prompt it is.
        policy: what answers.
        messages: with the text of each turn.
        temperature: of the sampling.
        most: tokens of the response, estimated; what is over is cut.

    Raises:
        Refused: no row has this prompt.
    """
    row, place = call.service.prompts.row_of(messages)
    metadata = row.get("metadata")
    further = metadata if isinstance(metadata, dict) else {}
    reference = row.get("reference_answer", further.get("reference_answer"))
    asked_for = json.dumps(messages)
    with call.state.lock:
        call.state.responses[asked_for] += 1
        number = call.state.responses[asked_for]
    # The nth response to a prompt is the same in every run, whatever else is asked meanwhile.
    draws = Random(f"response {number} to {asked_for}")  # noqa: S311
    try:
        where = point(place, number, greedy=temperature < GREEDY)
        text = policy.answer(row["messages"], reference, draws, temperature, where)
    except NoTask as error:
        raise invalid(f"simulation: {error}") from None
    if tokens(text) <= most:
        return text, True
    return text[: most * CHARACTERS_PER_TOKEN], False


def _policy(call: Call, identifier: str) -> Policy:
    if ":imported-model/" in identifier:
        return _model(call, "imported-model", "bedrock:InvokeModel", identifier).policy
    if ":custom-model-deployment/" not in identifier:
        _, resources = asked(identifier, call.place)
        for each in resources:
            call.require("bedrock:InvokeModel", each)
        return Policy.base()
    call.require("bedrock:InvokeModel", identifier)
    deployment = call.state.deployments.get(identifier)
    if deployment is None:
        raise missing(f"The custom model deployment {identifier} does not exist")
    if not call.state.settled(deployment.created):
        raise invalid(f"The custom model deployment {deployment.name} is not Active yet")
    model = call.state.models.get(deployment.model)
    if model is None:
        raise missing(f"The custom model {deployment.model} does not exist")
    return model.policy


def _text(blocks: list[dict[str, Any]]) -> str:
    """The text of a turn.

    Raises:
        Refused: it holds something else.
    """
    if any("text" not in block for block in blocks):
        raise invalid("simulation: only content of text is answered")
    return "\n".join(block["text"] for block in blocks)


OPERATIONS: Final[dict[str, Serve]] = {
    "CreateModelCustomizationJob": create_job,
    "GetModelCustomizationJob": get_job,
    "ListModelCustomizationJobs": list_jobs,
    "StopModelCustomizationJob": stop_job,
    "GetCustomModel": get_model,
    "ListCustomModels": list_models,
    "DeleteCustomModel": delete_model,
    "CreateCustomModelDeployment": create_deployment,
    "GetCustomModelDeployment": get_deployment,
    "ListCustomModelDeployments": list_deployments,
    "DeleteCustomModelDeployment": delete_deployment,
    "CreateModelImportJob": create_import,
    "GetModelImportJob": get_import,
    "GetImportedModel": get_imported,
    "ListImportedModels": list_imported,
    "DeleteImportedModel": delete_imported,
    "CreateCustomModel": create_model,
    "ListTagsForResource": list_tags,
}
"""By botocore's names."""
