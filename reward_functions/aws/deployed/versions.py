"""The state of functions in Lambda: published versions, aliases; and a deployment rolled back.

    step = prepared("gsm8k", "dev")       # which version; nothing is moved
    rolled_back(step, "dev")              # self-test → alias → catalogue

The record of the catalogue is written from the version's own configuration, so that a job started
afterwards is given the version that `live` points to. Jobs that run keep the version they have.

The self-test of a version has its examples scored by itself where it stands:

    {"reward_functions": {"self_test": "recorded"}}  →  {"failures": [...], "unavailable": [...], …}

A judge answers from its recorded examples, so that the test costs nothing and asks no model.
A caller that may not read an alias still sees the catalogue; one that removes anything needs every
answer, and gets the refusal.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, Any, Final

from reward_functions.aws.arn import GENERATION, GENERATION_NAME, FunctionArn
from reward_functions.aws.calls import client
from reward_functions.aws.catalogue import ALIAS
from reward_functions.aws.deployed.catalogue import find, write
from reward_functions.aws.deployed.findings import failed
from reward_functions.aws.deployed.function import DeployedFunction, FunctionError
from reward_functions.aws.failures import OF_FUNCTIONS, AwsFailed, in_words
from reward_functions.core.errors import ConfigurationError
from reward_functions.serving.descriptions import described
from reward_functions.serving.settings import BadSettings, LambdaSettings

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from boto3.session import Session

    from reward_functions.aws.catalogue import DeployedReward


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


def lambda_of(arn: FunctionArn, session: Session | None) -> Any:
    """Lambda's control plane in a function's own region."""
    return client("lambda", arn.region, session)


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
    with in_words(f"reading the alias {name} of {arn.name}", OF_FUNCTIONS):
        return _alias(lambda_of(arn, session).get_alias(FunctionName=arn.name, Name=name))


def aliases_of(client: Any, function: str) -> list[Alias]:
    """All aliases of a function.

    Raises:
        AwsFailed: they cannot be read.
    """
    with in_words(f"reading the aliases of {function}", OF_FUNCTIONS):
        pages = client.get_paginator("list_aliases").paginate(FunctionName=function)
        return [_alias(alias) for page in pages for alias in page["Aliases"]]


def published(client: Any, function: str) -> list[dict[str, Any]]:
    """Lambda's settings of every published version of a function, oldest first.

    Raises:
        AwsFailed: they cannot be read.
    """
    with in_words(f"listing the versions of {function}", OF_FUNCTIONS):
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
    with in_words("listing the functions of this account", OF_FUNCTIONS):
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


EVENT: Final = {"reward_functions": {"self_test": "recorded"}}


class SelfTestFailed(ConfigurationError):
    """A version that does not score its own examples as it declares them."""


def require_self_test(function: DeployedFunction) -> None:
    """Invoke a version's self-test.

    Raises:
        SelfTestFailed: it fails, does not answer, or an example earns something else.
        AwsFailed: it could not be invoked.
    """
    try:
        problem = _problem(function.invoke(EVENT).body)
    except FunctionError as error:
        problem = failed(error)
    if problem is not None:
        raise SelfTestFailed(f"{function.arn} does not pass its self-test: {problem}")


def _problem(body: bytes) -> str | None:
    """The first thing that is wrong, as the version says it; None where all examples pass."""
    try:
        report = json.loads(body)
    except ValueError:
        report = None
    if not isinstance(report, dict) or not isinstance(report.get("failures"), list):
        return "it has none, and answers as to a trainer"
    found = [*report["failures"], *report.get("unavailable", ())]
    return str(found[0]) if found else None


RECORDED: Final = ("name", "parameters", "response_mode")
"""The settings that the catalogue repeats. Others may be of another version of this project."""


class CannotRollBack(ConfigurationError):
    """A rollback that has no version to go to, or that stopped; the message says what has moved."""


@dataclass(frozen=True, slots=True)
class Rollback:
    """A rollback that can be done.

    Args:
        before: the record of the catalogue.
        after: the record that takes its place.
        alias: `live` as it is now.
        version: the version that it will point to.
    """

    before: DeployedReward
    after: DeployedReward
    alias: Alias
    version: str

    @property
    def moves(self) -> bool:
        """Whether the alias moves; if not, only the catalogue is out of date."""
        return self.alias.versions != {self.version}


def prepared(
    name: str, stage: str, to: int | None = None, session: Session | None = None
) -> Rollback:
    """Find the version to go to; nothing is moved.

    Args:
        name: the deployment.
        stage: as `cdk.json` names it.
        to: the version; the highest below the one `live` points to where None.
        session: boto3's; the caller's own where not given.

    Raises:
        NotDeployed: the stage has no such deployment.
        CannotRollBack: there is no such version, `live` points to it already, the deployment is
            immutable, or the version does not say what it serves.
        AwsFailed: Lambda or the catalogue cannot be read.
    """
    record = find(name, stage, session)
    arn = FunctionArn.parse(record.function_arn)
    client = lambda_of(arn, session)
    if record.immutable:
        raise CannotRollBack(_immutable(record, client))
    alias = alias_named(arn, ALIAS, session)
    stored = {each["Version"]: each for each in published(client, arn.name)}
    version = _earlier(record, alias, stored) if to is None else str(to)
    if version not in stored:
        raise CannotRollBack(
            f"{name} has no version {version} any more; Lambda stores {_enumerated(stored)}"
        )
    after = _record(record, stored[version])
    if alias.versions == {version} and record.version_arn == after.version_arn:
        raise CannotRollBack(
            f"`live` of {name} points to version {version} already, and so does the catalogue"
        )
    return Rollback(record, after, alias, version)


def rolled_back(step: Rollback, stage: str, session: Session | None = None) -> None:
    """Do it: the version passes its self-test, the alias moves, the catalogue follows.

    Raises:
        CannotRollBack: a step failed; the message says what has moved and what has not.
    """
    name, version = step.before.name, step.version
    try:
        require_self_test(DeployedFunction(step.after.version_arn, session=session))
        _move(step, session)
    except ConfigurationError as error:
        raise CannotRollBack(f"nothing has moved: {error}") from None
    try:
        write(stage, step.after, session)
    except AwsFailed as error:
        given = FunctionArn.parse(step.before.version_arn).qualifier
        raise CannotRollBack(
            f"`live` points to version {version} now, and the catalogue still gives version "
            f"{given} to jobs: {error}; then run `reward deployed rollback {name} --stage {stage} "
            f"--to {version}`"
        ) from None


def _move(step: Rollback, session: Session | None) -> None:
    arn = FunctionArn.parse(step.before.function_arn)
    client = lambda_of(arn, session)
    with in_words(f"moving {ALIAS} of {arn.name}", OF_FUNCTIONS):
        client.update_alias(
            FunctionName=arn.name,
            Name=ALIAS,
            FunctionVersion=step.version,
            RoutingConfig={"AdditionalVersionWeights": {}},
            RevisionId=step.alias.revision,  # refused where a deployment has moved it meanwhile
        )


def _earlier(record: DeployedReward, alias: Alias, stored: Mapping[str, Any]) -> str:
    """The highest version below the one that `live` points to."""
    at = int(alias.version) if alias.version.isdecimal() else inf  # it may point to $LATEST
    below = [number for number in map(int, stored) if number < at]
    if not below:
        raise CannotRollBack(
            f"{record.name} has no version before {alias.version}, which `live` points to"
        )
    return str(max(below))


def _record(record: DeployedReward, settings: Mapping[str, Any]) -> DeployedReward:
    """The record of a version, from Lambda's own settings of it."""
    version = settings["Version"]
    serves = described(settings.get("Description") or "")
    environment = settings.get("Environment", {}).get("Variables", {})
    recorded = {LambdaSettings.variable(name) for name in RECORDED}
    try:
        own = LambdaSettings.from_env(
            {name: value for name, value in environment.items() if name in recorded}
        )
    except BadSettings as error:
        raise CannotRollBack(
            f"version {version} of {record.name} cannot be used: {error}"
        ) from None
    if serves is None:
        raise CannotRollBack(
            f"version {version} of {record.name} does not say which reward and digest it is: "
            "it was not published by a deployment of this project"
        )
    reward, number, digest = serves
    return record.model_copy(
        update={
            "reward": reward,
            "version": number,
            "digest": digest,
            "parameters": own.parameters,
            "response_mode": own.response_mode,
            "version_arn": f"{record.function_arn}:{version}",
            "timeout_seconds": settings["Timeout"],
            "memory_mb": settings["MemorySize"],
            "architecture": settings.get("Architectures", ["x86_64"])[0],
            "python": str(settings["Runtime"]).removeprefix("python"),
        }
    )


def _immutable(record: DeployedReward, client: Any) -> str:
    """The sentence about a deployment that has no alias to move."""
    prefix = f"{FunctionArn.parse(record.function_arn).name.partition(GENERATION)[0]}{GENERATION}"
    found = [each["FunctionArn"] for each in generations(client, prefix)]
    return (
        f"{record.name} is immutable and has no alias to move: give the job one of its functions, "
        f"{_enumerated(found)}, or deploy the earlier code again"
    )


def _enumerated(found: Sequence[str] | Mapping[str, Any]) -> str:
    return ", ".join(found) or "none"
