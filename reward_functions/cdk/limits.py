"""AWS's own limits on names, policies and functions, met before anything is built.

Each would be an error at AWS, minutes into a deployment. Names are measured as they will be, with
an account of twelve digits and in the stage's own region.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from reward_functions.cdk.grants import aliased, rewards
from reward_functions.cdk.regions import partition_of
from reward_functions.core.errors import ConfigurationError
from reward_functions.serving import people, permissions
from reward_functions.serving.catalogue import (
    GENERATION_DIGITS,
    MAX_FUNCTION_NAME,
    bucket_name,
    function_name,
    immutable_name,
)
from reward_functions.serving.iam import Place
from reward_functions.serving.settings import MAX_WORKERS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reward_functions.cdk.grants import Granted
    from reward_functions.serving.iam import Document
    from reward_functions.serving.settings import LambdaSettings

MAX_ENVIRONMENT_BYTES: Final = 4096
"""All variables of a function together ("Lambda quotas")."""

MAX_MANAGED_POLICY: Final = 6144
"""Characters without white space ("IAM and AWS STS quotas")."""

MAX_INLINE_POLICIES: Final = 10_240
"""Characters of all inline policies of a role together, counted the same way."""

MAX_BUCKET_NAME: Final = 63

MAX_ROLE_NAME: Final = 64

MAX_RESOURCES: Final = 500
"""Of one stack ("CloudFormation quotas")."""

RESOURCES_OF_A_STAGE: Final = 27
RESOURCES_OF_A_DEPLOYMENT: Final = 13
"""At most; a test counts those of templates."""

ACCOUNT: Final = "1" * 12


class OverLimit(ConfigurationError):
    """Something is longer, larger or more than AWS takes. The message says what to change."""


def check_function(
    stage: str, deployed: Granted, settings: LambdaSettings, *, timeout: int, workers: int
) -> None:
    """Whether Lambda takes a deployment's function.

    Args:
        stage: the stage's name.
        deployed: the deployment.
        settings: of the function, all of which travel in its environment.
        timeout: Lambda's, in seconds.
        workers: threads that the reward needs.

    Raises:
        OverLimit: it does not.
    """
    environment = settings.to_env().items()
    size = sum(len(key.encode()) + len(value.encode()) for key, value in environment)
    if size > MAX_ENVIRONMENT_BYTES:
        raise OverLimit(
            f"its settings take {size} bytes of environment; Lambda allows {MAX_ENVIRONMENT_BYTES}"
        )
    margin = settings.deadline_margin_ms
    if margin >= 1000 * timeout:
        raise OverLimit(
            f"a timeout of {timeout} s leaves no time to score, "
            f"{margin} ms of it being kept for the response"
        )
    if workers > MAX_WORKERS:
        raise OverLimit(f"its reward needs {workers} threads; the most is {MAX_WORKERS}")
    name = function_name(stage, deployed.name)
    if deployed.immutable:
        name = immutable_name(stage, deployed.name, "0" * GENERATION_DIGITS)
    if len(name) > MAX_FUNCTION_NAME:
        raise OverLimit(
            f"its function's name {name!r} is longer than Lambda's {MAX_FUNCTION_NAME} characters"
        )


def check_stage(stage: str, region: str, deployed: Sequence[Granted]) -> None:
    """Whether a stage's names, its policies and its stack are within AWS's limits.

    Args:
        stage: its name.
        region: AWS's name of the region.
        deployed: its deployments.

    Raises:
        OverLimit: they are not.
    """
    bucket = bucket_name(stage, ACCOUNT, region)
    if (over := len(bucket) - MAX_BUCKET_NAME) > 0:
        raise OverLimit(
            f"its bucket's name in {region} would be {over} characters longer than S3's "
            f"{MAX_BUCKET_NAME}; the stage's name may have {len(stage) - over}"
        )
    count = len(deployed)
    for document, limit in _documents(stage, region, deployed):
        if len(json.dumps(document, separators=(",", ":"))) > limit:
            raise OverLimit(
                f"{count} deployments are more than one IAM policy of {limit} characters can "
                "name; make two stages of them"
            )
    if RESOURCES_OF_A_STAGE + count * RESOURCES_OF_A_DEPLOYMENT > MAX_RESOURCES:
        raise OverLimit(
            f"{count} deployments are more than a stack of {MAX_RESOURCES} resources can hold; "
            "make two stages of them"
        )


def _documents(
    stage: str, region: str, deployed: Sequence[Granted]
) -> Iterator[tuple[Document, int]]:
    """Every policy that names functions, as long as it can be, and what IAM allows it."""
    place = Place(partition_of(region), region, ACCOUNT)
    bucket = f"arn:{place.partition}:s3:::{bucket_name(stage, ACCOUNT, region)}"
    role = f"arn:{place.partition}:iam::{ACCOUNT}:role/service-role/{'r' * MAX_ROLE_NAME}"
    roles = {"bedrock.amazonaws.com": role, "sagemaker.amazonaws.com": role}
    asked, moved = rewards(place, stage, deployed), aliased(place, stage, deployed)
    for document in (
        people.run_jobs(place, stage=stage, role_arns=roles, rewards=asked),
        people.evaluate(place, stage=stage, rewards=asked),
        people.operate(place, stage=stage, function_arns=moved, rewards=asked),
    ):
        yield document, MAX_MANAGED_POLICY
    house = permissions.keep_house(place, stage=stage, rewards=asked, bucket_arn=bucket)
    yield house, MAX_INLINE_POLICIES
