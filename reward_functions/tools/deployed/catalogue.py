"""The records a stage leaves in SSM, read back: what is deployed, and under which ARNs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from reward_functions.core.errors import ConfigurationError
from reward_functions.core.suggest import did_you_mean
from reward_functions.serving.catalogue import DeployedReward, deployments_path
from reward_functions.tools.deployed.failures import AwsFailed, in_words

if TYPE_CHECKING:
    from boto3.session import Session


class NotDeployed(ConfigurationError):
    """The stage has no such deployment, or has none at all."""


def deployments(stage: str, session: Session | None = None) -> list[DeployedReward]:
    """Everything a stage has deployed, by name.

    Args:
        stage: as `cdk.json` names it.
        session: boto3's; the caller's own where not given.

    Raises:
        AwsFailed: SSM cannot be read, or holds something else there.
    """
    path = deployments_path(stage)
    with in_words(f"reading the catalogue {path}"):
        pages = _client(session).get_paginator("get_parameters_by_path").paginate(Path=path)
        parameters = [parameter for page in pages for parameter in page["Parameters"]]
    found = [_record(parameter["Name"], parameter["Value"]) for parameter in parameters]
    return sorted(found, key=lambda reward: reward.name)


def find(name: str, stage: str, session: Session | None = None) -> DeployedReward:
    """One deployment of a stage.

    Raises:
        NotDeployed: there is none of that name; the message suggests the nearest.
        AwsFailed: SSM cannot be read.
    """
    present = {reward.name: reward for reward in deployments(stage, session)}
    if name in present:
        return present[name]
    if not present:
        raise nothing_deployed(stage)
    raise NotDeployed(f"stage {stage!r} has no deployment {name!r}{did_you_mean(name, present)}")


def nothing_deployed(stage: str) -> NotDeployed:
    """The error of a stage that is not deployed in this account and region."""
    return NotDeployed(
        f"stage {stage!r} has no deployments in this account and region: deploy it, or "
        "name another with --stage, or another account with AWS_PROFILE"
    )


def _record(parameter: str, value: str) -> DeployedReward:
    try:
        return DeployedReward.model_validate_json(value)
    except ValidationError as error:
        problem = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, problem["loc"])) or "the value"
        raise AwsFailed(
            f"the parameter {parameter} is not a deployment of this version: "
            f"{where}: {problem['msg']}"
        ) from None


def _client(session: Session | None) -> Any:
    import boto3  # noqa: PLC0415 - half a second

    return (session or boto3.Session()).client("ssm")
