"""What stands in the account already, as far as whoever synthesises may see it.

Three things of it matter to a template: an immutable deployment's function that outlived its
template and must not be made a second time; a reward whose code changed and whose version did not;
and a stack whose names are in the way of its successor's.

Nothing here fails a synthesis. Where nobody says which account it is for, nothing is asked.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from pydantic import ValidationError

from reward_functions.cdk.regions import partition_of
from reward_functions.core.errors import ConfigurationError
from reward_functions.serving.catalogue import DeployedReward, deployments_path, stack_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from reward_functions.cdk.stages import Stage

CONNECT_SECONDS: Final = 2
READ_SECONDS: Final = 5
"""About what a synthesis takes without them: somebody may be offline."""

QUALIFIER: Final = "hnb659fds"
"""Of the bootstrap's roles, where the context names no other (CDK, "Bootstrapping")."""


class InTheWay(ConfigurationError):
    """An older stack has the names that this one needs. The message says what to do."""


@dataclass(frozen=True)
class DeployedBefore:
    """The stack and the catalogue of a stage, before it is deployed again.

    Args:
        records: the catalogue, by deployment.
        owned: physical names of what the stack owns.
        functions: Lambda in the account of the stage; None where nothing can be asked.
    """

    records: Mapping[str, DeployedReward] = field(default_factory=dict)
    owned: frozenset[str] = frozenset()
    functions: Any = None

    def keeps(self, function: str) -> bool:
        """Whether a function is there that no stack owns: one that outlived its template."""
        if self.functions is None or function in self.owned:
            return False
        from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415 - as below

        try:
            self.functions.get_function_configuration(FunctionName=function)
        except (BotoCoreError, ClientError):
            return False
        return True

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


def deployed_before(stage: Stage, *, qualifier: str | None = None) -> DeployedBefore:
    """What stands there, or nothing where it cannot be seen.

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
    from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415 - 80 ms

    try:
        client = _clients(stage, stage.account or account, qualifier or QUALIFIER)
        if client is None:
            return DeployedBefore()
        return DeployedBefore(
            records=dict(_records(stage, client("ssm"))),
            owned=frozenset(_owned(stage, client("cloudformation"))),
            functions=client("lambda"),
        )
    except (BotoCoreError, ClientError):
        return DeployedBefore()


def _records(stage: Stage, ssm: Any) -> Iterator[tuple[str, DeployedReward]]:
    pages = ssm.get_paginator("get_parameters_by_path")
    for page in pages.paginate(Path=deployments_path(stage.name)):
        for value in (each["Value"] for each in page["Parameters"]):
            record = _record(value)
            if record is None:
                raise InTheWay(
                    f"stage {stage.name!r} was deployed by an earlier version, whose functions "
                    "have the names that this one gives: save what you need of its bucket, run "
                    f"cdk destroy -c stage={stage.name}, and deploy again"
                )
            yield record.name, record


def _record(value: str) -> DeployedReward | None:
    """An entry of the catalogue; None where it has another version's fields."""
    try:
        return DeployedReward.model_validate_json(value)
    except ValidationError:
        return None


def _owned(stage: Stage, cloudformation: Any) -> Iterator[str]:
    pages = cloudformation.get_paginator("list_stack_resources")
    for page in pages.paginate(StackName=stack_name(stage.name)):
        for each in page["StackResourceSummaries"]:
            if not each["ResourceStatus"].startswith("DELETE"):
                yield each.get("PhysicalResourceId", "")


def _clients(stage: Stage, account: str, qualifier: str) -> Callable[[str], Any] | None:
    """Clients of who may look: the bootstrap's role for it, else whoever synthesises, if any."""
    from botocore.config import Config  # noqa: PLC0415 - as above
    from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415
    from botocore.session import Session  # noqa: PLC0415

    patience = Config(
        connect_timeout=CONNECT_SECONDS,
        read_timeout=READ_SECONDS,
        retries={"total_max_attempts": 1},
    )
    own = partial(Session().create_client, region_name=stage.region, config=patience)
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
