"""A company's own parts of a stage: a bucket, a key, names, a boundary, data, callers, rights.

"bucket": "acme-sagemaker-data",
"key_arn": "arn:aws:kms:us-east-1:123456789012:key/01234567-89ab-cdef-0123-456789abcdef",
"name_prefix": "acme",
"role_path": "/acme/",
"permissions_boundary": "acme-boundary",
"read_buckets": ["s3://acme-data/rft"],
"callers": {"accounts": ["210987654321"], "organization": "o-a1b2c3d4e5"},
"job_rights": {
  "invocation_logs": "s3://company-logs/bedrock",
  "vpc": {"subnets": ["subnet-0123456789abcdef0"], "security_groups": ["sg-0123456789abcdef0"]},
  "model_key": "arn:aws:kms:us-east-1:123456789012:key/01234567-89ab-cdef-0123-456789abcdef",
  "agents": ["arn:aws:lambda:us-east-1:123456789012:function:SageMaker-agent"]
}

The last is what jobs may use beside the stage's own bucket and rewards. The catalogue has it too,
so that a job that asks for more is refused before it starts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Final, Self

from pydantic import ConfigDict, Field, model_validator

from reward_functions.aws import catalogue
from reward_functions.aws.arn import Arn, arn_form
from reward_functions.aws.catalogue import written_as
from reward_functions.aws.regions import partition_of
from reward_functions.cdk.model.deployment import Settings
from reward_functions.core.errors import ConfigurationError

if TYPE_CHECKING:
    from reward_functions.cdk.model.stages import Stage

ANYBODY: Final = "*"
"""Of an organization alone, whose id is a condition."""

MOST_CALLERS: Final = 10
"""Of either kind: all that may invoke a version stand in one policy of at most 20 KB."""

MOST_FOLDERS: Final = 10

Account = Annotated[str, written_as(r"[0-9]{12}", "an account's twelve digits")]

RoleArn = Annotated[
    str,
    written_as(
        arn_form("iam", "role/[A-Za-z0-9_+=,.@/-]{1,576}", region=""),
        "a role's ARN, arn:aws:iam::ACCOUNT:role/NAME, in which nothing stands for several",
    ),
]

Organization = Annotated[
    str, written_as(r"o-[a-z0-9]{10,32}", "an organization's id, o- and ten characters or more")
]

Bucket = Annotated[
    str,
    written_as(
        r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]", "a bucket's name, without s3:// and without a folder"
    ),
]

RolePath = Annotated[
    str,
    written_as(
        r"/(?:[A-Za-z0-9_+=,.@-]{1,128}/){1,3}",
        "a path of one to three parts, with a slash at either end",
    ),
]

Boundary = Annotated[
    str,
    written_as(
        arn_form("iam", "policy/[A-Za-z0-9_+=,.@/-]{1,512}", region="", account="(?:[0-9]{12}|aws)")
        + "|[A-Za-z0-9_+=,.@-]{1,128}",
        "a managed policy's ARN, or the name of one in the stage's account",
    ),
]


class Foreign(ConfigurationError):
    """A company's part that its stage cannot use. The message names the field."""


class ReadFolder(catalogue.ReadFolder):
    """Data of a company's own, where nothing else may stand; a string is its address."""

    model_config = ConfigDict(extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def _address(cls, given: Any) -> Any:
        return {"address": given} if isinstance(given, str) else given


class Callers(Settings):
    """The callers of other accounts that may invoke the functions."""

    accounts: tuple[Account, ...] = Field(
        default=(), max_length=MOST_CALLERS, description="Whole accounts, by their digits."
    )
    roles: tuple[RoleArn, ...] = Field(
        default=(), max_length=MOST_CALLERS, description="Single roles, by their ARNs."
    )
    organization: Organization | None = Field(
        default=None,
        description="The organization of all callers; without accounts and roles, everybody in it.",
    )

    @property
    def principals(self) -> tuple[str, ...]:
        """Whom a permission names, as Lambda has it."""
        named = (*self.accounts, *self.roles)
        return named or ((ANYBODY,) if self.organization else ())

    @model_validator(mode="after")
    def _each_once(self) -> Self:
        if len({*self.principals}) < len(self.principals):
            raise ValueError("a caller stands there twice")
        return self


def check_brought(stage: Stage) -> None:
    """Whether a stage can use what its company brings.

    Raises:
        Foreign: it cannot.
    """
    if stage.customer_key and stage.key_arn:
        raise Foreign("customer_key makes a key and key_arn names one: leave one of them out")
    if stage.customer_key and stage.bucket:
        raise Foreign(
            f"customer_key makes a key for a bucket of the stage's own: name the key of "
            f"{stage.bucket} as key_arn, or leave customer_key out"
        )
    keys = {"key_arn": stage.key_arn} | {
        f"read_buckets.{number}.key": each.key for number, each in enumerate(stage.read_buckets)
    }
    here = (partition_of(stage.region), stage.region)
    for field, key in keys.items():
        arn = Arn.read(key)
        if arn is not None and (arn.partition, arn.region) != here:
            raise Foreign(
                f"{field}: a bucket of {stage.region} is encrypted by a key of its own region, "
                f"and {key} is another's"
            )
    arns = {"permissions_boundary": stage.permissions_boundary or ""} | {
        f"callers.roles.{number}": each for number, each in enumerate(stage.callers.roles)
    }
    for field, given in arns.items():
        arn = Arn.read(given)
        if arn is not None and arn.partition != here[0]:
            raise Foreign(f"{field}: {arn} is of another partition than {stage.region}")


class BadRight(ConfigurationError):
    """A right that could not be used where the stage is. The message names the field."""


class JobVpc(catalogue.JobVpc):
    """The network that a stage's jobs may join, where nothing else may stand."""

    model_config = ConfigDict(extra="forbid")


class JobRights(catalogue.JobRights):
    """The resources that jobs may use, where nothing else may stand."""

    model_config = ConfigDict(extra="forbid")

    vpc: JobVpc | None = Field(
        default=None, description=catalogue.JobRights.model_fields["vpc"].description
    )


def check_rights(rights: JobRights, region: str, account: str | None = None) -> None:
    """Whether they can be used where a stage is: by a key and by agents of its own region alone.

    Args:
        rights: what the stage grants.
        region: the stage's.
        account: the stage's, whose agents must be, too; None where only who deploys knows it.

    Raises:
        BadRight: they cannot.
    """
    if rights.model_key is not None:
        key = Arn.of(rights.model_key)
        if (key.partition, key.region) != (partition_of(region), region):
            raise BadRight(
                f"job_rights.model_key: Bedrock takes a key of {region}, not one of {key.region} "
                f"in the partition {key.partition}"
            )
    for agent in map(Arn.of, rights.agents):
        if (agent.partition, agent.region) != (partition_of(region), region):
            raise BadRight(
                f"job_rights.agents: a multi-turn job asks agents of its own region {region}, and "
                f"{agent} is of {agent.region} in the partition {agent.partition}"
            )
        if account not in (None, agent.account):
            raise BadRight(
                f"job_rights.agents: the stage is of the account {account}, and {agent} of "
                f"another: a role asks agents of its own account alone"
            )
    if len({*rights.agents}) < len(rights.agents):
        raise BadRight("job_rights.agents: an ARN stands there twice")
