"""The records a stage leaves in SSM, read back: what is deployed, and under which ARNs."""

from __future__ import annotations

from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Final, TypeVar

from pydantic import BaseModel, ValidationError

from reward_functions.aws.arn import GENERATION, FunctionArn
from reward_functions.aws.catalogue import (
    ROOT,
    DeployedReward,
    DeployedStage,
    deployment_parameter,
    deployments_path,
    stage_parameter,
)
from reward_functions.aws.failures import AwsFailed, in_words
from reward_functions.aws.names import Names
from reward_functions.aws.shell import aws_session, stage_hint
from reward_functions.core.errors import ConfigurationError
from reward_functions.core.suggest import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from boto3.session import Session

Record = TypeVar("Record", bound=BaseModel)


WORDS: Final[dict[type[BaseModel], str]] = {
    DeployedReward: "deployment",
    DeployedStage: "stage",
}
"""What a record is of, as an error calls it."""


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
    values = _below(deployments_path(stage), session)
    found = [_record(DeployedReward, name, value) for name, value in values.items()]
    return sorted(found, key=lambda reward: reward.name)


def find(name: str, stage: str, session: Session | None = None) -> DeployedReward:
    """One deployment of a stage.

    To read this one record you need no right to list the others.

    Raises:
        NotDeployed: there is none of that name; the message suggests the nearest.
        AwsFailed: SSM cannot be read.
    """
    parameter = deployment_parameter(stage, name)
    try:
        return _record(DeployedReward, parameter, _value(parameter, session))
    except AwsFailed as error:
        if not (error.missing or error.code == "ValidationException"):  # no name of a parameter
            raise
    missing = f"stage {stage!r} has no deployment {name!r}"
    if (meant := _deployment_in(name, stage)) is not None:
        raise NotDeployed(f"{name!r} is the name of a function: its deployment is called {meant!r}")
    try:
        present = [reward.name for reward in deployments(stage, session)]
    except AwsFailed as error:
        if error.denied:
            raise NotDeployed(
                f"{missing}; `reward deployed list --stage {stage}` shows all of them, if "
                "you may list them"
            ) from None
        raise
    if not present:
        raise nothing_deployed(stage)
    raise NotDeployed(f"{missing}{did_you_mean(name, present)}")


def deployment_named(
    asked: str, stage: str, session: Session | None = None
) -> tuple[FunctionArn, DeployedReward | None]:
    """A deployment's version, or a function by its ARN; and what the catalogue says of it.

    Raises:
        NotDeployed: the stage has no such deployment.
        BadArn: it begins as an ARN and is not one of a function.
        AwsFailed: the catalogue cannot be read.
    """
    if asked.startswith("arn:"):
        arn = FunctionArn.parse(asked)
        return arn, deployment_of(arn, stage, session)
    record = find(asked, stage, session)
    return FunctionArn.parse(record.version_arn), record


def deployment_of(
    arn: FunctionArn, stage: str, session: Session | None = None
) -> DeployedReward | None:
    """The deployment whose function this is or was; None where the stage has no such.

    A function's name says it, so you can read records without a right to list them.

    Raises:
        AwsFailed: SSM cannot be read.
    """
    meant = _deployment_in(arn.name, stage)
    if meant is None:
        return None
    try:
        found = find(meant, stage, session)
    except NotDeployed:
        return None
    deployed = FunctionArn.parse(found.function_arn)
    return found if _whose(arn) == _whose(deployed) else None


def _whose(arn: FunctionArn) -> tuple[str, str, str]:
    """A function but for its digest; that of another prefix is another's."""
    return arn.region, arn.account, arn.name.partition(GENERATION)[0]


def _deployment_in(name: str, stage: str) -> str | None:
    """The deployment that a function's name carries, whatever prefix the stage has."""
    prefix, ours, rest = name.partition(Names(stage).function(""))
    if not ours or (prefix and not prefix.endswith("-")):
        return None
    return rest.partition(":")[0].partition(GENERATION)[0]


def stage_record(stage: str, session: Session | None = None) -> DeployedStage:
    """The part that the functions of a stage share.

    Raises:
        NotDeployed: there is no such stage here.
        AwsFailed: SSM cannot be read, or holds something else there.
    """
    name = stage_parameter(stage)
    try:
        value = _value(name, session)
    except AwsFailed as error:
        raise nothing_deployed(stage) if error.missing else error from None
    return _record(DeployedStage, name, value)


def other_stages(stage: str, session: Session | None = None) -> dict[str, list[str]]:
    """The other stages of this account and region, each with its records as they are written.

    Raises:
        AwsFailed: SSM cannot be read.
    """
    others: dict[str, list[str]] = {}
    for name, value in _below(ROOT, session).items():
        other = name.removeprefix(ROOT).split("/")[1]
        if other != stage:
            others.setdefault(other, []).append(value)
    return others


def names_in(stage: str, records: Iterable[str]) -> Names:
    """The names of a stage's functions, by its records as they are written."""
    for record in records:
        with suppress(ValidationError):
            return Names(stage, DeployedStage.model_validate_json(record).name_prefix)
    return Names(stage)


def write(stage: str, reward: DeployedReward, session: Session | None = None) -> None:
    """Write a deployment's record over the one that is there.

    Raises:
        AwsFailed: SSM cannot be written.
    """
    name = deployment_parameter(stage, reward.name)
    with in_words(f"writing the catalogue {name}"):
        _client(name, session).put_parameter(
            Name=name, Value=reward.model_dump_json(), Type="String", Overwrite=True
        )


def nothing_deployed(stage: str) -> NotDeployed:
    """The error of a stage that is not deployed in this account and region."""
    return NotDeployed(
        f"stage {stage!r} has no deployments in this account and region: deploy it, or "
        f"name another with --stage, or another account with AWS_PROFILE{stage_hint(stage)}"
    )


def _value(parameter: str, session: Session | None) -> str:
    """The value of one parameter."""
    with _reading(parameter):
        return str(_client(parameter, session).get_parameter(Name=parameter)["Parameter"]["Value"])


def _below(path: str, session: Session | None) -> dict[str, str]:
    """The values of all parameters under a path, by their names."""
    with _reading(path):
        paginator = _client(path, session).get_paginator("get_parameters_by_path")
        pages = paginator.paginate(Path=path, Recursive=True)
        return {each["Name"]: each["Value"] for page in pages for each in page["Parameters"]}


def _record(kind: type[Record], parameter: str, value: str) -> Record:
    try:
        return kind.model_validate_json(value)
    except ValidationError as error:
        problem = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, problem["loc"])) or "the value"
        raise AwsFailed(
            f"the parameter {parameter} is not a {WORDS[kind]} of this version: "
            f"{where}: {problem['msg']}"
        ) from None


@contextmanager
def _reading(path: str) -> Iterator[None]:
    """Say in words what went wrong; of a stage that nobody typed, also how to name another."""
    try:
        with in_words(f"reading the catalogue {path}"):
            yield
    except AwsFailed as error:
        if not error.denied:
            raise
        raise AwsFailed(f"{error}{stage_hint(_stage_of(path))}", error.code) from None


def _stage_of(path: str) -> str:
    """The stage whose parameters lie there; "" above the stages."""
    return path.removeprefix(ROOT).strip("/").partition("/")[0]


def _client(path: str, session: Session | None) -> Any:
    return (session or aws_session(_stage_of(path))).client("ssm")
