"""What a request for a serverless job asks for, and what the service refuses of it.

Botocore's model takes more than the service: the table of `REFUSALS` in the tests says what else is
refused. Known of the service: "Invalid HubContentArn format" for a Lambda in the place of an
evaluator (awslabs/agent-plugins). Inferred: the other sentences, and that hyperparameters are
held to the recipe when the job is created.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from reward_functions.local.loopback_service.requests import invalid
from reward_functions.local.training_double import sagemaker_public_hub as public
from reward_functions.local.training_double.bedrock_jobs import local_grader
from reward_functions.local.training_double.policy import Policy
from reward_functions.local.training_double.sagemaker_packages import group_at, package_at
from reward_functions.local.training_double.sagemaker_rows import channel
from reward_functions.local.training_double.sagemaker_state import absent

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reward_functions.local.training_double.sagemaker_public_hub import HubModel, Specification
    from reward_functions.local.training_double.sagemaker_state import Content, Group
    from reward_functions.local.training_double.service import Call

TECHNIQUES: Final = ("RLVR", "RLAIF")
SCORER: Final = "CustomScorerEvaluation"

_BASE: Final = re.compile(
    r"arn:aws[a-z-]*:sagemaker:([a-z0-9-]{1,20}):(aws|[0-9]{12}):hub-content/([A-Za-z0-9-]{1,63})/"
    r"Model/([A-Za-z0-9-]{1,63})(?:/([0-9.]{5,14}))?"
)
_EVALUATOR: Final = re.compile(
    r"arn:aws[a-z-]*:sagemaker:([a-z0-9-]{1,20}):([0-9]{12}):hub-content/([A-Za-z0-9-]{1,63})/"
    r"JsonDoc/([A-Za-z0-9-]{1,63})/([0-9.]{5,14})"
)
_NUMBER: Final = re.compile(r"-?[0-9]{1,20}(?:\.[0-9]{1,20})?(?:[eE][-+]?[0-9]{1,3})?")


class Plan(NamedTuple):
    """A request that the service takes.

    Args:
        model: the base, of the public hub.
        technique: "RLVR", "RLAIF", or "Evaluation".
        evaluator: version of the hub content that pays; None for a preset or a judge.
        function: ARN of the Lambda that pays; "" for none.
        group: that the model goes to; None for an evaluation without one.
        policy: to begin with.
        hyperparameters: of the recipe, with its values where the request has none.
    """

    model: HubModel
    technique: str
    evaluator: Content | None
    function: str
    group: Group | None
    policy: Policy
    hyperparameters: dict[str, Any]


def planned(call: Call) -> Plan:
    """What a request asks for.

    Raises:
        Refused: the service would not take it.
    """
    given = call.parameters
    job = given.get("ServerlessJobConfig")
    if job is None:
        raise invalid("simulation: only jobs with a ServerlessJobConfig are run here")
    model = _model(call, job["BaseModelArn"])
    technique = _technique(job, model)
    if model.gated and not job.get("AcceptEula"):
        raise invalid(f"{model.name} is gated: read its licence, and set AcceptEula to true")
    if not channel(given, "train"):
        raise invalid("InputDataConfig must have the channel `train` with an S3DataSource")
    if technique != "Evaluation" and "SequenceLength" in job:
        _require_sequence(job["SequenceLength"])
    hyperparameters = _hyperparameters(given.get("HyperParameters", {}), model, technique)
    evaluator, function = _paying(call, job, hyperparameters, technique)
    group, policy = _packages(call, technique)
    return Plan(model, technique, evaluator, function, group, policy, hyperparameters)


def _model(call: Call, arn: str) -> HubModel:
    found = _BASE.fullmatch(arn)
    if found is None or found[3] != public.HUB or found[1] != call.place.region:
        raise invalid(f"BaseModelArn {arn} is no model of {public.HUB} in {call.place.region}")
    model = public.MODELS.get(found[4])
    if model is None:
        raise absent(
            f"Hub content {found[4]} does not exist in {public.HUB} (simulation: it has "
            f"{', '.join(public.MODELS)})"
        )
    return model


def _technique(job: Mapping[str, Any], model: HubModel) -> str:
    """What is to be done, which the model has a recipe for."""
    if job["JobType"] == "Evaluation":
        if job.get("EvaluationType") != SCORER:
            raise invalid(f"simulation: of evaluations only {SCORER} is run here")
        wanted = "Evaluation"
    else:
        wanted = job.get("CustomizationTechnique", "")
        if wanted not in TECHNIQUES:
            raise invalid(f"simulation: only {' and '.join(TECHNIQUES)} are run here")
    there = (*model.techniques, *(["Evaluation"] if model.techniques else []))
    if wanted not in there:
        raise invalid(f"No recipe found: {model.name} cannot be customized by {wanted}")
    return wanted


def _require_sequence(length: str) -> None:
    if length != public.SEQUENCE:
        raise invalid(f"No recipe found for SequenceLength {length}: {public.SEQUENCE} has one")


def _hyperparameters(given: Mapping[str, str], model: HubModel, technique: str) -> dict[str, Any]:
    """The values of a recipe, those of the request among them."""
    specification = public.specification(model, technique)
    values = {name: each["default"] for name, each in specification.items()}
    for name, text in given.items():
        if name not in specification:
            raise invalid(f"Hyperparameter {name} is not supported by the recipe")
        values[name] = _value(name, text, specification[name])
    return values


def _value(name: str, text: str, wanted: Specification) -> Any:
    kind = wanted["type"]
    if kind == "string":
        if text not in wanted.get("enum", [text]):
            raise invalid(f"Hyperparameter {name} is none of {', '.join(wanted['enum'])}")
        return text
    if kind == "boolean":
        if text.lower() not in {"true", "false"}:
            raise invalid(f"Hyperparameter {name} is neither true nor false")
        return text.lower() == "true"
    if not _NUMBER.fullmatch(text) or (kind == "integer" and not float(text).is_integer()):
        raise invalid(f"Hyperparameter {name} is no {kind}")
    number = float(text)
    if not wanted["min"] <= number <= wanted["max"]:
        raise invalid(f"Hyperparameter {name} is not from {wanted['min']} to {wanted['max']}")
    return int(number) if kind == "integer" else number


def _paying(
    call: Call, job: Mapping[str, Any], values: Mapping[str, Any], technique: str
) -> tuple[Content | None, str]:
    """The evaluator of a job, and the function below it."""
    arn, preset = job.get("EvaluatorArn", ""), values.get("preset_reward_function")
    if arn:
        evaluator = _evaluator(call, arn)
        kind, reference = _referred(evaluator)
        if technique == "RLAIF":
            if kind != "RewardPrompt":
                raise invalid(f"The evaluator {arn} is no RewardPrompt, which RLAIF takes")
            return evaluator, ""
        if kind != "RewardFunction":
            raise invalid(f"The evaluator {arn} is no RewardFunction")
        return evaluator, local_grader(call, reference)
    if technique == "Evaluation" and values["lambda_arn"]:
        return None, local_grader(call, values["lambda_arn"])
    if technique != "RLAIF" and not preset:
        raise invalid("Either EvaluatorArn or the hyperparameter preset_reward_function is needed")
    return None, ""


def _evaluator(call: Call, arn: str) -> Content:
    found = _EVALUATOR.fullmatch(arn)
    if found is None:
        raise invalid(f"Invalid HubContentArn format: {arn}")
    if (found[1], found[2]) != (call.place.region, call.place.account):
        raise invalid(f"The evaluator {arn} is not of this account and region")
    content = call.sagemaker.contents.get(arn)
    if content is None:
        raise absent(f"Hub content {arn} does not exist")
    return content


def _referred(evaluator: Content) -> tuple[str, str]:
    """The kind of an evaluator, and what it refers to."""
    inner = evaluator.inner()
    kind, reference = inner.get("EvaluatorType"), inner.get("Reference")
    if not isinstance(kind, str) or not isinstance(reference, str):
        raise invalid(f"The document of {evaluator.arn} has no EvaluatorType or no Reference")
    return kind, reference


def _packages(call: Call, technique: str) -> tuple[Group | None, Policy]:
    """The group that a model goes to, and the policy to begin with."""
    config = call.parameters.get("ModelPackageConfig")
    if config is None:
        if technique != "Evaluation":
            raise invalid("ModelPackageConfig with a ModelPackageGroupArn is needed")
        return None, Policy.base()
    group = group_at(call, config["ModelPackageGroupArn"])
    source = config.get("SourceModelPackageArn")
    return group, package_at(call, source).policy if source else Policy.base()
