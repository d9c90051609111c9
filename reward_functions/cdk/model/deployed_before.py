"""Look at what exists in the account already, as far as you may see it.

Some of it matters to a template: an immutable deployment's function that outlived its template and
must not be made a second time, and a stack whose names are in the way of its successor's. Other
things matter to who deploys, and are warnings:

    code that changed under a version that did not
    a deployment that leaves the stage, or changes its kind: its function goes with all its versions
    `live` on another version than the stack has it: somebody rolled it back

Nothing here fails a synthesis or keeps it for long. Where nobody says which account it is for,
nothing is asked.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from pydantic import ValidationError

from reward_functions.aws.catalogue import (
    ALIAS,
    DeployedReward,
    deployments_path,
)
from reward_functions.aws.regions import partition_of
from reward_functions.core.errors import ConfigurationError
from reward_functions.core.looking import Looks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from reward_functions.cdk.model.stages import Stage

CONNECT_SECONDS: Final = 2
READ_SECONDS: Final = 5

SECONDS: Final = 8.0
"""For everything together; about what a synthesis takes without: somebody may be offline."""

QUALIFIER: Final = "hnb659fds"
"""Of the bootstrap's roles, where the context names no other (CDK, "Bootstrapping")."""

GOES: Final = "its function goes with all its versions, those that a job uses as well"


class InTheWay(ConfigurationError):
    """An older stack has the names that this one needs. The message says what to do."""


@dataclass(frozen=True)
class DeployedBefore:
    """The stack and the catalogue of a stage, before it is deployed again.

    Args:
        records: the catalogue, by deployment.
        owned: physical names of what the stack owns.
        moved: ARNs of `live`'s version and of the stack's, by deployment, where they differ.
        functions: Lambda in the account of the stage; None where nothing can be asked.
        looks: how it is asked.
    """

    records: Mapping[str, DeployedReward] = field(default_factory=dict)
    owned: frozenset[str] = frozenset()
    moved: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    functions: Any = None
    looks: Looks = field(default_factory=partial(Looks, SECONDS), compare=False)

    def keeps(self, function: str) -> bool:
        """Whether a function is there that no stack owns: one that outlived its template."""
        if self.functions is None or function in self.owned:
            return False

        def found() -> bool:
            self.functions.get_function_configuration(FunctionName=function)
            return True

        return self.looks.at(found, otherwise=False)

    def warnings(self, now: Sequence[DeployedReward]) -> Iterator[tuple[str, str]]:
        """The warnings before a deployment: the name of each, and a sentence.

        Args:
            now: the catalogue as this template has it.
        """
        stay = {each.name: each for each in now}
        for name in sorted({*self.records, *stay}):
            reasons = {
                "unannounced": self.unannounced(stay[name]) if name in stay else None,
                "goes": self._going(name, stay.get(name)),
                "rolled-back": self._rolled_back(name) if name in stay else None,
            }
            yield from ((f"{kind}:{name}", each) for kind, each in reasons.items() if each)

    def unannounced(self, now: DeployedReward) -> str | None:
        """A sentence, where the code of a reward changed and its version did not."""
        then = self.records.get(now.name)
        if then is None or then.digest == now.digest:
            return None
        if (then.reward, then.version) != (now.reward, now.version):
            return None
        return (
            f"deployment {now.name!r}: the code has changed ({then.digest} is deployed, this is "
            f"{now.digest}) and {now.reward} is version {now.version} as before: raise its version "
            "if any score can change, so that runs before and after can be told apart"
        )

    def _going(self, name: str, now: DeployedReward | None) -> str | None:
        """A sentence, where nothing that stands of a deployment stays."""
        then = self.records.get(name)
        if then is None:
            return None
        if now is None:
            return (
                f"deployment {name!r} is deployed and no longer in the stage: {GOES}; "
                "deploy without it when no job needs it"
            )
        if then.immutable == now.immutable:
            return None
        return (
            f"deployment {name!r} is deployed with immutable {str(then.immutable).lower()}, and "
            f"this turns it: {GOES}; add a deployment of another name while a job needs it"
        )

    def _rolled_back(self, name: str) -> str | None:
        """A sentence, where `live` is not where the stack has put it."""
        if name not in self.moved:
            return None
        live, ours = (arn.rpartition(":")[2] for arn in self.moved[name])
        return (
            f"deployment {name!r}: `live` was moved to version {live}, and the stack's is {ours}: "
            "a deployment of changed code moves it to the new version, so make sure that this has "
            "what the rollback was for"
        )


def deployed_before(stage: Stage, *, qualifier: str | None = None) -> DeployedBefore:
    """The state of the account before, or nothing where it cannot be seen.

    Args:
        stage: the stage.
        qualifier: of the bootstrap's roles, where it is not the usual one.

    Raises:
        InTheWay: the stack is of an earlier version, whose names are those of this one.
    """
    # The CDK command line says so where it has credentials, and nobody else does.
    account = os.environ.get("CDK_DEFAULT_ACCOUNT")
    if account is None:
        return DeployedBefore()
    looks = Looks(SECONDS)
    look = partial(_seen, stage, stage.account or account, qualifier or QUALIFIER, looks)
    return looks.at(look, otherwise=DeployedBefore())


def _seen(stage: Stage, account: str, qualifier: str, looks: Looks) -> DeployedBefore:
    client = _clients(stage, account, qualifier)
    if client is None:
        return DeployedBefore()
    functions, cloudformation = client("lambda"), client("cloudformation")
    records = dict(_records(stage, client("ssm")))
    owned = frozenset(_owned(stage, cloudformation))
    moved = dict(_moved(stage, records, cloudformation, functions))
    return DeployedBefore(records, owned, moved, functions, looks)


def _records(stage: Stage, ssm: Any) -> Iterator[tuple[str, DeployedReward]]:
    pages = ssm.get_paginator("get_parameters_by_path")
    for page in pages.paginate(Path=deployments_path(stage.name)):
        for value in (each["Value"] for each in page["Parameters"]):
            if _of_the_day_before(value):
                raise InTheWay(
                    f"stage {stage.name!r} was deployed by an earlier version, whose functions "
                    "have the names that this one gives: save what you need of its bucket, run "
                    f"cdk destroy -c stage={stage.name}, and deploy again"
                )
            try:
                record = DeployedReward.model_validate_json(value)
            except ValidationError:
                continue  # somebody's note
            yield record.name, record


def _of_the_day_before(value: str) -> bool:
    """Whether an entry of the catalogue was written when no version outlived the next."""
    try:
        record = json.loads(value)
    except ValueError:
        return False
    return isinstance(record, dict) and "alias_arn" in record and "digest" not in record


def _owned(stage: Stage, cloudformation: Any) -> Iterator[str]:
    pages = cloudformation.get_paginator("list_stack_resources")
    for page in pages.paginate(StackName=stage.names.stack):
        for each in page["StackResourceSummaries"]:
            if not each["ResourceStatus"].startswith("DELETE"):
                yield each.get("PhysicalResourceId", "")


def _moved(
    stage: Stage, records: Mapping[str, DeployedReward], cloudformation: Any, functions: Any
) -> Iterator[tuple[str, tuple[str, str]]]:
    """Where `live` is not what the stack says; the catalogue follows a rollback, outputs do not."""
    (stack,) = cloudformation.describe_stacks(StackName=stage.names.stack)["Stacks"]
    outputs = {each["OutputValue"] for each in stack.get("Outputs", ())}
    aliased = {each.function_arn: each.name for each in records.values() if not each.immutable}
    for arn in sorted(outputs):
        function, _, version = arn.rpartition(":")
        if function in aliased and version.isdecimal():
            alias = functions.get_alias(FunctionName=function, Name=ALIAS)
            if alias["FunctionVersion"] != version:
                yield aliased[function], (f"{function}:{alias['FunctionVersion']}", arn)


def _clients(stage: Stage, account: str, qualifier: str) -> Callable[[str], Any] | None:
    """Clients of who may look: the bootstrap's role for it, else whoever synthesises, if any."""
    from botocore.config import Config  # noqa: PLC0415 - 80 ms
    from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415
    from botocore.session import Session  # noqa: PLC0415

    patience = Config(
        connect_timeout=CONNECT_SECONDS,
        read_timeout=READ_SECONDS,
        retries={"total_max_attempts": 1},
    )
    session = Session()
    if _asks_for_a_code(session):
        return None
    own = partial(session.create_client, region_name=stage.region, config=patience)
    sts = own("sts")
    role = f"role/cdk-{qualifier}-lookup-role-{account}-{stage.region}"
    arn = f"arn:{partition_of(stage.region)}:iam::{account}:{role}"
    try:
        keys = sts.assume_role(RoleArn=arn, RoleSessionName="reward-functions")["Credentials"]
    except (BotoCoreError, ClientError):
        return own if sts.get_caller_identity()["Account"] == account else None
    return partial(
        own,
        aws_access_key_id=keys["AccessKeyId"],
        aws_secret_access_key=keys["SecretAccessKey"],
        aws_session_token=keys["SessionToken"],
    )


def _asks_for_a_code(session: Any) -> bool:
    """Whether the profile, or one that it builds on, has somebody type a code each time."""
    profiles = session.full_config["profiles"]
    name, seen = session.profile or "default", set[str]()
    while name in profiles and name not in seen:
        seen.add(name)
        if "mfa_serial" in profiles[name]:
            return True
        name = profiles[name].get("source_profile", "")
    return False
