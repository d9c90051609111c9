"""AWS's own limits on names, policies and functions, met before anything is built.

Each would be an error at AWS, minutes into a deployment. Names are measured as they will be, with
an account of twelve digits and in the stage's own region.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from reward_functions.cdk.documents import KINDS, Made, kinds, of_agent, of_people
from reward_functions.cdk.grants import rewards
from reward_functions.cdk.regions import partition_of
from reward_functions.core.errors import ConfigurationError
from reward_functions.serving import permissions
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
    from collections.abc import Iterator

    from reward_functions.cdk.grants import Granted, GrantingStage
    from reward_functions.serving.iam import Document
    from reward_functions.serving.settings import LambdaSettings

MAX_ENVIRONMENT_BYTES: Final = 4096
"""All variables of a function together ("Lambda quotas")."""

MAX_COMPOSITE_BYTES: Final = 3000
"""Of a composite's declaration, which travels in the environment and in the catalogue's entry, a
parameter of SSM of 4096 characters."""

MAX_MANAGED_POLICY: Final = 6144
"""Characters without white space ("IAM and AWS STS quotas")."""

MAX_INLINE_POLICIES: Final = 10_240
"""Characters of all inline policies of a role together, counted the same way."""

MAX_BUCKET_NAME: Final = 63

MAX_ROLE_NAME: Final = 64

KEY_CHARACTERS: Final = 36
"""Of the id of a KMS key."""

MAX_RESOURCES: Final = 500
"""Of one stack ("CloudFormation quotas")."""

RESOURCES_OF_A_STAGE: Final = 32
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
    declared = len(json.dumps(settings.composite).encode()) if settings.composite else 0
    if declared > MAX_COMPOSITE_BYTES:
        raise OverLimit(
            f"its composite takes {declared} bytes, and {MAX_COMPOSITE_BYTES} are the most: "
            "shorten its examples, or register it in a package of the stage"
        )
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


def check_stage(stage: GrantingStage) -> None:
    """Whether a stage's names, its policies and its stack are within AWS's limits.

    Raises:
        OverLimit: they are not.
    """
    bucket = bucket_name(stage.name, ACCOUNT, stage.region)
    if (over := len(bucket) - MAX_BUCKET_NAME) > 0:
        raise OverLimit(
            f"its bucket's name in {stage.region} would be {over} characters longer than S3's "
            f"{MAX_BUCKET_NAME}; the stage's name may have {len(stage.name) - over}"
        )
    count = len(stage.deployments)
    for size, limit in policy_sizes(stage).values():
        if size > limit:
            raise OverLimit(
                f"{count} deployments are more than one IAM policy of {limit} characters can "
                "name; make two stages of them"
            )
    if RESOURCES_OF_A_STAGE + count * RESOURCES_OF_A_DEPLOYMENT > MAX_RESOURCES:
        raise OverLimit(
            f"{count} deployments are more than a stack of {MAX_RESOURCES} resources can hold; "
            "make two stages of them"
        )


def policy_sizes(stage: GrantingStage) -> dict[str, tuple[int, int]]:
    """Every policy that names functions: its characters, as many as they can be, and IAM's most.

    Policies of people are named by their task; what one role has is counted together.
    """
    return {
        name: (sum(len(json.dumps(each, separators=(",", ":"))) for each in documents), limit)
        for name, documents, limit in _documents(stage)
    }


def _documents(stage: GrantingStage) -> Iterator[tuple[str, list[Document], int]]:
    """The documents of each policy or role, with names as long as they can be."""
    place = Place(partition_of(stage.region), stage.region, ACCOUNT)
    bucket = f"arn:{place.partition}:s3:::{bucket_name(stage.name, ACCOUNT, stage.region)}"
    role = f"arn:{place.partition}:iam::{ACCOUNT}:role/service-role/{'r' * MAX_ROLE_NAME}"
    roles = dict.fromkeys(kinds(stage), role)
    key = place.arn("kms", f"key/{'k' * KEY_CHARACTERS}") if stage.customer_key else ""
    made = Made(bucket, key)
    for task, document in of_people(place, stage, made, roles).items():
        yield task, [document], MAX_MANAGED_POLICY
    if agent := of_agent(place, stage):
        yield "agent", [agent], MAX_MANAGED_POLICY
    for kind in roles:
        work = KINDS[kind].work(place, stage, made)
        yield f"role of {kind}", [*work.values()], MAX_INLINE_POLICIES
    asked = rewards(place, stage.name, stage.deployments)
    house = permissions.keep_house(
        place, stage=stage.name, rewards=asked, bucket_arn=bucket, emulated=stage.emulated
    )
    yield "custodian", [house], MAX_INLINE_POLICIES
