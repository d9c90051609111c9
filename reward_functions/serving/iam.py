"""IAM policy documents as plain data: their statements, and how a grant names a reward function.

A reward function is granted twice, by its plain ARN and by every version and alias of it: to IAM a
qualifier makes another resource, and a trainer may send either.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from reward_functions.serving.catalogue import (
    DATA_PREFIX,
    GENERATION,
    OUTPUT_PREFIX,
    function_name,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Document = dict[str, Any]
"""A policy document, as IAM's JSON has it."""

JOBS: Final = "model-customization-job/*"
"""This account's customization jobs, as an ARN ends."""


class Place(NamedTuple):
    """Where ARNs point: `Place("aws", "us-east-1", "123456789012")`."""

    partition: str
    region: str
    account: str

    def arn(self, service: str, resource: str) -> str:
        """Something of this account, in this region."""
        return f"arn:{self.partition}:{service}:{self.region}:{self.account}:{resource}"


def versions_of(function_arn: str) -> list[str]:
    """One reward function as a grant names it: by its plain ARN, and by every version and alias.

    Args:
        function_arn: without a qualifier.
    """
    return [function_arn, f"{function_arn}:*"]


def generations_of(function_arn: str) -> list[str]:
    """An immutable deployment as a grant names it: every function that it has been, qualified too.

    Args:
        function_arn: up to the deployment's name; the digest of each is left open.
    """
    return [f"{function_arn}{GENERATION}*"]


def only_versions(rewards: Sequence[str]) -> list[str]:
    """Those of some grants that name versions and generations, and no plain function."""
    return [each for each in rewards if each.endswith("*")]


def generations_in(place: Place, stage: str) -> str:
    """The functions of a stage's immutable deployments, also of those that left the stage."""
    return place.arn("lambda", f"function:{function_name(stage, '*')}{GENERATION}*")


def document(*statements: Document) -> Document:
    """A whole policy of these statements."""
    return {"Version": "2012-10-17", "Statement": [*statements]}


def allow(
    sid: str,
    actions: Sequence[str],
    resources: Sequence[str],
    condition: Mapping[str, Any] | None = None,
) -> Document:
    """A statement that allows; it has a condition where one is given."""
    statement = {"Sid": sid, "Effect": "Allow", "Action": [*actions], "Resource": [*resources]}
    return statement | ({"Condition": dict(condition)} if condition else {})


def trust(service: str, condition: Mapping[str, Any] | None = None) -> Document:
    """A service acts in a role, under a condition where there is one."""
    statement = {
        "Effect": "Allow",
        "Principal": {"Service": service},
        "Action": "sts:AssumeRole",
    }
    return document(statement | ({"Condition": dict(condition)} if condition else {}))


def invoke(rewards: Sequence[str]) -> Document:
    """Invoke these functions.

    Args:
        rewards: as `versions_of` and `generations_of` name them.
    """
    return allow("InvokeRewards", ["lambda:InvokeFunction"], rewards)


def list_data(bucket_arn: str) -> Document:
    """List what lies under the prefixes of data and output."""
    prefixes = {"StringLike": {"s3:prefix": [f"{DATA_PREFIX}*", f"{OUTPUT_PREFIX}*"]}}
    return allow("ListData", ["s3:ListBucket"], [bucket_arn], prefixes)
