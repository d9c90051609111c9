"""What a multi-turn job needs of SageMaker beside its data: found, and made where it is missing.

    base model     a hub content's ARN; a name is looked up in SageMaker's public hub
    two groups     of model packages: the result's, and another for checkpoints
    MLflow app     the one that is named; else the first that the account has by default; else none

Looking makes nothing. Groups are made by `made_for` alone, and stay: a group without packages costs
nothing, and the next run of the same job takes it.

Sources: botocore's model of SageMaker; that checkpoints need a group of their own, sagemaker-train
1.27's document.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from reward_functions.aws.failures import AwsFailed
from reward_functions.jobs.configuration import BadJob
from reward_functions.jobs.drivers.agent_rft_document import Resources
from reward_functions.jobs.drivers.fields import text, within
from reward_functions.jobs.failures import answer

if TYPE_CHECKING:
    from reward_functions.jobs.drivers.agent_rft_document import EvaluationRequest
    from reward_functions.jobs.job import JobRequest

HUB: Final = "SageMakerPublicHub"

HUB_CONTENT: Final = re.compile(
    r"arn:aws[a-z-]*:sagemaker:(?P<region>[a-z0-9-]{1,25}):(?:aws|[0-9]{12}):hub-content/"
    r"[A-Za-z0-9-]{1,63}/Model/[A-Za-z0-9.-]{1,256}(?:/[0-9]{1,4}\.[0-9]{1,4}\.[0-9]{1,4})?"
)

HUB_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]{0,62}")

GROUP: Final = re.compile(
    r"arn:aws[a-z-]*:sagemaker:[a-z0-9-]{1,25}:[0-9]{12}:model-package-group/[a-zA-Z0-9-]{1,63}"
)

GROUP_NAME: Final = re.compile(r"[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?")

MAX_NAME: Final = 63

CHECKPOINTS: Final = "-checkpoints"

READY: Final = frozenset({"Created", "Updated"})
"""States of an MLflow app that takes runs."""


def looked_up(
    request: JobRequest | EvaluationRequest,
    region: str,
    client: Any,
    *,
    base: str = "",
    mlflow: str = "",
) -> tuple[Resources, list[str]]:
    """What a job needs, and the names of the groups that are missing; nothing is made.

    Args:
        request: of a job; an evaluation makes no package, and so needs no group.
        region: of the job.
        client: of SageMaker.
        base: the base model, where the request names none.
        mlflow: ARN of the MLflow app, where the request names none.

    Raises:
        BadJob: the base model or a group cannot be what is named.
        AwsFailed: SageMaker cannot be asked.
    """
    chosen = getattr(request, "sagemaker", None)
    model = base or getattr(request, "model", "")
    app = mlflow or (chosen.mlflow if chosen and chosen.mlflow else _default_app(client))
    found = base_model(model, region, client)
    if base:
        return Resources(found, mlflow=app), []
    names = group_names(request.name, chosen.model_packages if chosen else None)
    arns = [_group(name, client) for name in names]
    missing = [name for name, arn in zip(names, arns, strict=True) if not arn]
    prefix = _place(request.role, region)
    packages, checkpoints = (
        arn or f"{prefix}:model-package-group/{name}" for name, arn in zip(names, arns, strict=True)
    )
    return Resources(found, packages, checkpoints, app), missing


def made_for(request: JobRequest, region: str, client: Any) -> Resources:
    """What a job needs; groups that are missing are made.

    Raises:
        BadJob, AwsFailed: as `looked_up`.
    """
    made, missing = looked_up(request, region, client)
    for name in missing:
        create = client.create_model_package_group
        try:
            answer(f"making the group {name}", create, ModelPackageGroupName=name)
        except AwsFailed as error:
            if "already exist" not in str(error):  # another start was quicker
                raise
    return made


def base_model(model: str, region: str, client: Any) -> str:
    """The ARN of a base model's hub content.

    Raises:
        BadJob: it is neither an ARN nor a name of the public hub, or of another region.
        AwsFailed: SageMaker cannot be asked.
    """
    arn = HUB_CONTENT.fullmatch(model)
    if arn:
        if arn["region"] != region:
            raise BadJob(f"model: {model} is of {arn['region']}, and the job runs in {region}")
        return model
    if not HUB_NAME.fullmatch(model):
        raise BadJob(
            f"model: {model[:200]!r} is no model of SageMaker's hub: write its name there, such as "
            "openai-reasoning-gpt-oss-20b, or the ARN of its hub content"
        )
    try:
        found = answer(
            f"looking for {model} in {HUB}",
            client.describe_hub_content,
            HubName=HUB,
            HubContentType="Model",
            HubContentName=model,
        )
    except AwsFailed as error:
        if error.missing:
            raise BadJob(
                f"model: {HUB} has no model {model!r} in {region}: `aws sagemaker "
                f"list-hub-contents --hub-name {HUB} --hub-content-type Model` lists them"
            ) from None
        raise
    return text(found.get("HubContentArn"))


def group_names(job: str, given: str | None) -> tuple[str, str]:
    """The names of the group of results, and of that of checkpoints.

    Args:
        job: the job's name, for a group that nobody names.
        given: the configuration's `model_packages`: a name, or an ARN.

    Raises:
        BadJob: it is neither.
    """
    name = (given or job).rpartition("/")[2]
    possible = GROUP_NAME.fullmatch(name) and (
        given is None or GROUP.fullmatch(given) or "/" not in given
    )
    if not possible:
        raise BadJob(
            f"sagemaker.model_packages: {str(given)[:200]!r} is no name of a group: 1 to "
            f"{MAX_NAME} letters, digits and hyphens between them"
        )
    return name, name[: MAX_NAME - len(CHECKPOINTS)].rstrip("-") + CHECKPOINTS


def _group(name: str, client: Any) -> str:
    """The ARN of a group; "" where there is none."""
    describe = client.describe_model_package_group
    try:
        found = answer(f"looking for the group {name}", describe, ModelPackageGroupName=name)
    except AwsFailed as error:
        # SageMaker's own code for it is ValidationException: "… does not exist".
        if error.missing or "does not exist" in str(error):
            return ""
        raise
    return text(found.get("ModelPackageGroupArn"))


def _default_app(client: Any) -> str:
    """The ARN of the MLflow app that the account has by default; "" for none, or none to see."""
    list_apps = client.list_mlflow_apps
    try:
        found = answer("listing the MLflow apps", list_apps, AccountDefaultStatus="ENABLED")
    except AwsFailed as error:
        if error.denied:
            return ""
        raise
    apps = found.get("Summaries")
    ready = [
        text(within(each, "Arn"))
        for each in (apps if isinstance(apps, list) else [])
        if within(each, "Status") in READY
    ]
    return next(filter(None, ready), "")


def _place(role: str, region: str) -> str:
    """How the ARNs of SageMaker begin in the account of a role."""
    parts = role.split(":")
    partition, account = (parts[1], parts[4]) if role.count(":") >= 5 else ("aws", "")  # noqa: PLR2004 - parts of an ARN
    return f"arn:{partition}:sagemaker:{region}:{account}"
