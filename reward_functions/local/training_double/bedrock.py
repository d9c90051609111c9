"""Bedrock: customization jobs, custom and imported models, deployments, Converse.

The base models are those of `reward job`'s own table, `jobs/models.toml`, with all their ids; only
the region is not looked at, for a stage on the emulator has one alone. Each is answered for by the
same simulated policy.

As documented: a token that was used before makes no second job and no error; names of jobs and of
models are one of a kind in their account and region. Inferred, since no page says it: the codes of
those conflicts, and that a hosted model is not deleted. A role and a grader's region are looked at
when the job is created, its data when it runs.

Models that SageMaker trained are hosted here: merged weights are imported from their folder, and a
Nova model's package becomes a custom model. The folder of a simulated model holds its policy in
`simulation.json`, which is read with the rights of the import's role. Inferred: that a folder
without weights fails the job, and not the call.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from functools import partial
from random import Random
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final

from reward_functions.data.lengths import CHARACTERS_PER_TOKEN, prompt_tokens, tokens
from reward_functions.jobs.models import models
from reward_functions.local.loopback_service.server import conflict, invalid, missing
from reward_functions.local.training_double.hub import MODELS as HUB_MODELS
from reward_functions.local.training_double.jobs import (
    PHASES,
    WORDS,
    Grader,
    Job,
    Made,
    Model,
    fresh_id,
    model_of,
    object_at,
    put_objects,
    seed_of,
)
from reward_functions.local.training_double.page import (
    PAGE_FILE,
    TRAINING_FILE,
    VALIDATION_FILE,
    page_of,
    training_csv,
    validation_csv,
)
from reward_functions.local.training_double.policy import GREEDY, Policy
from reward_functions.local.training_double.prompts import point, prompts, training_rows
from reward_functions.local.training_double.rights import acting
from reward_functions.local.training_double.service import Kind, forget, tags_at
from reward_functions.local.training_double.strategies import NoTask
from reward_functions.local.training_double.training import JobFailed

if TYPE_CHECKING:
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
    {*BASES, *ids("openai"), *(model.asked for model in HUB_MODELS.values() if model.asked)}
    | {_PROFILE.sub(r"\2", model.inference_id) for model in models()}
)
"""What Converse takes: a model's own ids, and the one that its inference profiles end with."""

INVOKING: Final = "bedrock:InvokeModel"

DEFAULT_TOKENS: Final = 4_096
"""What a response may have where nobody limits it; the service's own limit is each model's."""

POLICY_FILE: Final = "simulation.json"
"""Of merged weights: what was learnt."""


@dataclass(kw_only=True)
class Import(Made):
    """An import job.

    Args:
        model: ARN of the imported model.
        failure: why it failed; "" where it did not.
    """

    model: str
    failure: str
    path: str = "import"


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
    arn = JOBS.arn(call, f"{base}/{fresh_id()}")
    model = MODELS.arn(call, f"{base}/{fresh_id()}")
    tags = call.require_making(resource, arn, member="jobTags")
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
        if before := JOBS.made_before(call):
            return {"jobArn": before}
        going = [each for each in JOBS.here(call) if not each.ended]
        coming = [each.request["customModelName"] for each in going]
        MODELS.require_free(call, given["customModelName"], coming)
        JOBS.keep(call, job, tags)
        call.state.tags[model] = model_tags
    call.service.runs.start(job, rights, partial(_train, call, job))
    return {"jobArn": arn}


def _base(call: Call, identifier: str) -> tuple[str, str, Policy]:
    """The foundation model, the ARN of what is tuned, and the policy to begin with."""
    model, place = call.state.made.get(identifier), call.place
    if isinstance(model, Model):
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


def _job(_: Call, job: Job) -> dict[str, Any]:
    """What is said of a job: what it has begun, and what it has not."""
    details: dict[str, Any] = {f"{name}Details": {"status": "NotStarted"} for name in PHASES}
    for name, phase in job.phases.items():
        details[f"{name}Details"] = {
            "status": WORDS["bedrock"][phase.status],
            "creationTime": phase.created,
            "lastModifiedTime": phase.modified,
        }
    done, given = job.status == "succeeded", job.request
    return {
        "jobArn": job.id,
        "status": job.word,
        "statusDetails": details,
        "creationTime": job.created,
        "lastModifiedTime": job.modified,
        "endTime": job.ended,
        "outputModelName": given["customModelName"],
        "outputModelArn": job.model if done else None,
        "customModelArn": job.model if done else None,
        "customModelName": given["customModelName"] if done else None,
        "failureMessage": job.failure or None,
        # Only of a list's summaries can it be a custom model: botocore's model of the two.
        "baseModelArn": foundation_arn(job.place, job.base),
        "hyperParameters": given.get("hyperParameters", {}),
        "validationDataConfig": given.get("validationDataConfig", {"validators": []}),
        "outputModelKmsKeyArn": given.get("customModelKmsKeyId"),
    }


def _model(_: Call, model: Model) -> dict[str, Any]:
    job, base = model.job, foundation_arn(model.place, model.base)
    return {
        "customizationType": "IMPORTED",
        **job.request,
        "modelArn": model.id,
        "modelName": model.name,
        "creationTime": model.created,
        "baseModelArn": base,
        "foundationModelArn": base,
        "baseModelName": model.base.partition(":")[0],
        "modelStatus": "Active",
        "isOwned": True,
        "ownerAccountId": model.place.account,
        "jobName": job.name if job.path == "bedrock" else None,
        "jobArn": job.id if job.path == "bedrock" else None,
        "modelKmsKeyArn": job.request.get("customModelKmsKeyId"),
    }


def _deployment(call: Call, made: Made) -> dict[str, Any]:
    return {
        "customModelDeploymentArn": made.id,
        "customModelDeploymentName": made.name,
        "createdAt": made.created,
        "status": "Active" if call.state.settled(made.created) else "Creating",
        "lastUpdatedAt": made.created,
    }


def _import(call: Call, made: Import) -> dict[str, Any]:
    done = call.state.settled(made.created)
    model = made.model if done and made.model in call.state.made else None
    ended = "Failed" if made.failure else "Completed"
    return {
        "jobArn": made.id,
        "importedModelArn": model,
        "status": ended if done else "InProgress",
        "failureMessage": (made.failure or None) if done else None,
        "creationTime": made.created,
        "lastModifiedTime": made.created,
        "endTime": made.created if done else None,
    }


def _imported_model(_: Call, model: Model) -> dict[str, Any]:
    return {
        **model.job.request,
        "modelArn": model.id,
        "modelName": model.name,
        "creationTime": model.created,
        "modelArchitecture": "simulation",
        "instructSupported": True,
        "jobArn": model.job.id,
    }


GONE: Final = "ResourceNotFoundException"
TAKEN: Final = "ConflictException"

JOBS: Final = Kind(
    service="bedrock",
    path="model-customization-job",
    named="jobIdentifier",
    listed="modelCustomizationJobSummaries",
    shown=_job,
    gone=(GONE, "The model customization job {} does not exist"),
    taken=(TAKEN, "The provided job name {} is already in use"),
)
JOB_SUMMARIES: Final = replace(
    JOBS, shown=lambda call, job: _job(call, job) | {"baseModelArn": job.request["baseModelArn"]}
)
MODELS: Final = Kind(
    service="bedrock",
    path="custom-model",
    named="modelIdentifier",
    listed="modelSummaries",
    shown=_model,
    equal=("baseModelArnEquals", "foundationModelArnEquals", "isOwned", "modelStatus"),
    gone=(GONE, "The custom model {} does not exist"),
    taken=(TAKEN, "The provided custom model name {} is already in use"),
)
DEPLOYMENTS: Final = Kind(
    service="bedrock",
    path="custom-model-deployment",
    named="customModelDeploymentIdentifier",
    listed="modelDeploymentSummaries",
    shown=_deployment,
    equal=("modelArnEquals",),
    gone=(GONE, "The custom model deployment {} does not exist"),
    taken=(TAKEN, "A custom model deployment of the name {} exists already"),
)
IMPORTS: Final = Kind(
    service="bedrock",
    path="model-import-job",
    named="jobIdentifier",
    shown=_import,
    gone=(GONE, "The model import job {} does not exist"),
    taken=(TAKEN, "The provided job name {} is already in use"),
)
IMPORTED: Final = Kind(
    service="bedrock",
    path="imported-model",
    named="modelIdentifier",
    listed="modelSummaries",
    shown=_imported_model,
    there=lambda call, model: call.state.settled(model.created),
    gone=(GONE, "The imported model {} does not exist"),
    taken=(TAKEN, "The provided model name {} is already in use"),
)


def delete_model(call: Call) -> dict[str, Any]:
    """DeleteCustomModel. That a hosted one is refused is inferred from its ConflictException."""
    model: Model = MODELS.find(call)
    with call.state.lock:
        there = DEPLOYMENTS.here(call)
        hosted = [each.name for each in there if each.request["modelArn"] == model.id]
        if hosted:
            raise conflict(f"The custom model {model.name} is deployed as {', '.join(hosted)}")
        return forget(call, model)


def create_deployment(call: Call) -> dict[str, Any]:
    """CreateCustomModelDeployment."""
    given, model, arn = (
        call.parameters,
        call.parameters["modelArn"],
        DEPLOYMENTS.arn(call, fresh_id()),
    )
    tags = call.require_making(model, arn, member="tags")
    with call.state.lock:
        if not DEPLOYMENTS.made_before(call) and model not in call.state.made:
            raise missing(f"The custom model {model} does not exist")
        name = given["modelDeploymentName"]
        made = Made(id=arn, name=name, place=call.place, request=given)
        return {"customModelDeploymentArn": DEPLOYMENTS.keep(call, made, tags)}


def list_tags(call: Call) -> dict[str, Any]:
    """ListTagsForResource."""
    tags = tags_at(call, call.parameters["resourceARN"], GONE)
    return {"tags": [{"key": key, "value": value} for key, value in tags.items()]}


def create_import(call: Call) -> dict[str, Any]:
    """CreateModelImportJob."""
    given, name = call.parameters, call.parameters["importedModelName"]
    arn, model = IMPORTS.arn(call, fresh_id()), IMPORTED.arn(call, fresh_id())
    tags = call.require_making(arn, member="jobTags")
    model_tags = call.require_tagging(model, "importedModelTags")
    if "s3DataSource" not in given["modelDataSource"]:
        raise invalid("modelDataSource must have an s3DataSource")
    rights = call.hand_over(given["roleArn"], arn, BEDROCK)
    policy, failure = _imported(call, rights, arn.rpartition("/")[2])
    made = Import(
        id=arn, name=given["jobName"], place=call.place, request=given, model=model, failure=failure
    )
    with call.state.lock:
        if before := IMPORTS.made_before(call):
            return {"jobArn": before}
        IMPORTS.require_free(call, made.name)
        IMPORTED.require_free(call, name)
        IMPORTS.keep(call, made, tags)
        if policy is not None:
            call.state.made[model] = Model(
                id=model, name=name, place=call.place, base="", policy=policy, job=made
            )
        call.state.tags[model] = model_tags
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


def create_model(call: Call) -> dict[str, Any]:
    """CreateCustomModel, of a model package."""
    given, place = call.parameters, call.place
    source = given.get("customModelDataSource", {}).get("modelPackageArnDataSource")
    if source is None:
        raise invalid("simulation: a custom model is made of a SageMaker model package alone")
    package = call.state.made.get(source["modelPackageArn"])
    if not isinstance(package, Model) or package.place != place:
        raise missing(f"The model package {source['modelPackageArn']} does not exist")
    if package.artifacts:
        raise invalid(f"{package.base} is no Nova model: import its merged weights")
    arn = MODELS.arn(call, f"imported/{fresh_id()}")
    tags = call.require_making(arn, member="modelTags")
    if role := given.get("roleArn"):
        call.hand_over(role, arn, BEDROCK)
    made = model_of(package.job, arn, given["modelName"], package.policy)
    return {"modelArn": MODELS.keep(call, made, tags)}


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
        imported: Model = IMPORTED.find(call, identifier, INVOKING)
        return imported.policy
    if ":custom-model-deployment/" not in identifier:
        _, resources = asked(identifier, call.place)
        for each in resources:
            call.require(each, action=INVOKING)
        return Policy.base()
    call.require(identifier, action=INVOKING)
    deployment: Made = DEPLOYMENTS.at(call, identifier)
    if not call.state.settled(deployment.created):
        raise invalid(f"The custom model deployment {deployment.name} is not Active yet")
    model: Model = MODELS.at(call, deployment.request["modelArn"])
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
    "GetModelCustomizationJob": JOBS.describe,
    "ListModelCustomizationJobs": JOB_SUMMARIES.list,
    "StopModelCustomizationJob": JOBS.stop,
    "GetCustomModel": MODELS.describe,
    "ListCustomModels": MODELS.list,
    "DeleteCustomModel": delete_model,
    "CreateCustomModelDeployment": create_deployment,
    "GetCustomModelDeployment": DEPLOYMENTS.describe,
    "ListCustomModelDeployments": DEPLOYMENTS.list,
    "DeleteCustomModelDeployment": DEPLOYMENTS.delete,
    "CreateModelImportJob": create_import,
    "GetModelImportJob": IMPORTS.describe,
    "GetImportedModel": IMPORTED.describe,
    "ListImportedModels": IMPORTED.list,
    # The job that imported it stays, with its name.
    "DeleteImportedModel": IMPORTED.delete,
    "CreateCustomModel": create_model,
    "ListTagsForResource": list_tags,
}
"""By botocore's names."""
