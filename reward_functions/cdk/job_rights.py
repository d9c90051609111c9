"""A stage's `job_rights`: what its jobs may use beside the stage's own bucket and rewards.

    "job_rights": {
      "invocation_logs": "s3://company-logs/bedrock",
      "vpc": {"subnets": ["subnet-0123456789abcdef0"], "security_groups": ["sg-0123456789abcdef0"]},
      "model_key": "arn:aws:kms:us-east-1:123456789012:key/01234567-89ab-cdef-0123-456789abcdef"
    }

The catalogue has them too, so that a job that asks for more is refused before it starts.
"""

from __future__ import annotations

from pydantic import ConfigDict, Field

from reward_functions.cdk.regions import partition_of
from reward_functions.core.errors import ConfigurationError
from reward_functions.serving import catalogue


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


def check_rights(rights: JobRights, region: str) -> None:
    """Whether they can be used in a region: Bedrock takes a key of its own region alone.

    Raises:
        BadRight: they cannot.
    """
    if rights.model_key is None:
        return
    _, partition, _, where, *_ = rights.model_key.split(":")
    if (partition, where) != (partition_of(region), region):
        raise BadRight(
            f"job_rights.model_key: Bedrock takes a key of {region}, not one of {where} in "
            f"the partition {partition}"
        )
