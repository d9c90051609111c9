"""What Lambda keeps of functions: published versions, aliases, functions of one deployment.

Every function here asks Lambda's control plane and invokes nothing. A caller that may not read an
alias still sees the catalogue; one that removes anything needs every answer, and gets the refusal.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from reward_functions.aws.arn import GENERATION_NAME, FunctionArn
from reward_functions.aws.catalogue import ALIAS
from reward_functions.aws.failures import AwsFailed, in_words
from reward_functions.aws.shell import aws_session

if TYPE_CHECKING:
    from collections.abc import Iterator

    from boto3.session import Session

    from reward_functions.aws.catalogue import DeployedReward

ATTEMPTS: Final = 8
"""How often a call is made that AWS throttles: control planes answer few calls a second, and a
prune makes one for every job in progress."""

LATEST: Final = "$LATEST"


@dataclass(frozen=True, slots=True)
class Alias:
    """An alias, with every version that it sends invocations to.

    Args:
        name: such as `live`.
        version: the one it points to.
        versions: that one and those it shares invocations with.
        revision: changes whenever somebody moves it.
    """

    name: str
    version: str
    versions: frozenset[str]
    revision: str


def control_plane(service: str, region: str, session: Session | None) -> Any:
    """The boto3 client of a service that answers about functions and jobs."""
    from botocore.config import Config  # noqa: PLC0415

    patience = Config(retries={"mode": "standard", "total_max_attempts": ATTEMPTS})
    with in_words(f"connecting to {service}"):
        return (session or aws_session()).client(service, region_name=region, config=patience)


def lambda_of(arn: FunctionArn, session: Session | None) -> Any:
    """Lambda's control plane in a function's own region."""
    return control_plane("lambda", arn.region, session)


def live_version(reward: DeployedReward, session: Session | None = None) -> str | None:
    """The version that a deployment's `live` points to.

    Returns:
        its number; None of an immutable deployment, where the alias is gone, and where the caller
        may not ask.

    Raises:
        AwsFailed: Lambda cannot be reached.
    """
    if reward.immutable:
        return None
    try:
        return alias_named(FunctionArn.parse(reward.function_arn), ALIAS, session).version
    except AwsFailed as error:
        if error.denied or error.missing:
            return None
        raise


def alias_named(arn: FunctionArn, name: str, session: Session | None = None) -> Alias:
    """One alias of a function.

    Raises:
        AwsFailed: there is none of that name, or it cannot be read.
    """
    with in_words(f"reading the alias {name} of {arn.name}"):
        return _alias(lambda_of(arn, session).get_alias(FunctionName=arn.name, Name=name))


def aliases_of(client: Any, function: str) -> list[Alias]:
    """All aliases of a function.

    Raises:
        AwsFailed: they cannot be read.
    """
    with in_words(f"reading the aliases of {function}"):
        pages = client.get_paginator("list_aliases").paginate(FunctionName=function)
        return [_alias(alias) for page in pages for alias in page["Aliases"]]


def published(client: Any, function: str) -> list[dict[str, Any]]:
    """Lambda's settings of every published version of a function, oldest first.

    Raises:
        AwsFailed: they cannot be read.
    """
    with in_words(f"listing the versions of {function}"):
        pages = client.get_paginator("list_versions_by_function").paginate(FunctionName=function)
        found = [each for page in pages for each in page["Versions"] if each["Version"] != LATEST]
    return sorted(found, key=lambda each: int(each["Version"]))


def generations(client: Any, prefix: str) -> Iterator[dict[str, Any]]:
    """Lambda's settings of the functions of immutable deployments, by name.

    Args:
        client: Lambda's.
        prefix: how their names begin.

    Raises:
        AwsFailed: they cannot be read.
    """
    with in_words("listing the functions of this account"):
        pages = client.get_paginator("list_functions").paginate()
        found = [each for page in pages for each in page["Functions"]]
    for each in sorted(found, key=lambda each: str(each["FunctionName"])):
        name = each["FunctionName"]
        if name.startswith(prefix) and GENERATION_NAME.fullmatch(name):
            yield each


def _alias(answer: dict[str, Any]) -> Alias:
    weights = (answer.get("RoutingConfig") or {}).get("AdditionalVersionWeights") or {}
    version = answer["FunctionVersion"]
    return Alias(
        answer["Name"], version, frozenset({version, *weights}), answer.get("RevisionId", "")
    )
