"""A stage's `job_rights`: what its jobs may use beside the stage's own bucket and rewards.

    "job_rights": {
      "invocation_logs": "s3://company-logs/bedrock",
      "vpc": {"subnets": ["subnet-0123456789abcdef0"], "security_groups": ["sg-0123456789abcdef0"]},
      "model_key": "arn:aws:kms:us-east-1:123456789012:key/01234567-89ab-cdef-0123-456789abcdef",
      "agents": ["arn:aws:lambda:us-east-1:123456789012:function:SageMaker-agent"]
    }

The catalogue has them too, so that a job that asks for more is refused before it starts.
"""

from __future__ import annotations

from pydantic import ConfigDict, Field

from reward_functions.aws import catalogue
from reward_functions.aws.arn import Arn
from reward_functions.aws.regions import partition_of
from reward_functions.core.errors import ConfigurationError


class BadRight(ConfigurationError):
    """A right that could not be used where the stage is. The message names the field."""


class JobVpc(catalogue.JobVpc):
    """The network that a stage's jobs may join, where nothing else may stand."""

    model_config = ConfigDict(extra="forbid")


class JobRights(catalogue.JobRights):
    """What jobs may use, where nothing else may stand."""

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
