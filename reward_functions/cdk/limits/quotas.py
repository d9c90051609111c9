"""AWS's own limits on names, policies and functions, met before anything is built.

Each would be an error at AWS, minutes into a deployment. Names are measured as they will be, with
an account of twelve digits and in the stage's own region.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from reward_functions.aws.arn import GENERATION_DIGITS
from reward_functions.aws.catalogue import MAX_FUNCTION_NAME, MOST_AGENTS
from reward_functions.aws.regions import partition_of
from reward_functions.cdk.policies import custodian, deferred, scale
from reward_functions.cdk.policies.documents import (
    KINDS,
    SERVICE_ROLES,
    kinds,
    of_agent,
    of_function,
)
from reward_functions.cdk.policies.grants import Made, pinnable_arns
from reward_functions.cdk.policies.iam import Place
from reward_functions.cdk.policies.people import of_people
from reward_functions.cdk.policies.sagemaker import train_on_hyperpod
from reward_functions.core.errors import ConfigurationError
from reward_functions.feedback.settings import FeedbackSettings
from reward_functions.serving.settings import MAX_WORKERS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from reward_functions.aws.names import Names
    from reward_functions.cdk.model.deployment import Deployment
    from reward_functions.cdk.model.stages import Stage
    from reward_functions.cdk.policies.iam import Document
    from reward_functions.serving.settings import LambdaSettings

MAX_ENVIRONMENT_BYTES: Final = 4096
"""All variables of a function together ("Lambda quotas")."""

MAX_ENDPOINT: Final = 512
"""Characters of a job runtime's address, as `feedback.Feedback` has them."""

MAX_COMPOSITE_BYTES: Final = 3000
"""Of a composite's declaration, which travels in the environment and in the catalogue's entry, a
parameter of SSM of 4096 characters."""

MAX_MANAGED_POLICY: Final = 6144
"""Characters without white space ("IAM and AWS STS quotas")."""

MAX_INLINE_POLICIES: Final = 10_240
"""Characters of all inline policies of a role together, counted the same way."""

MAX_BUCKET_NAME: Final = 63

MAX_ROLE_NAME: Final = 64

LONGEST_ROLE: Final = "SageMakerForBedrock-reward-{stage}-{region}"
"""Of the names that `training.ROLES` gives; CloudFormation cuts those that it makes itself."""

MAX_ROLE_PATH: Final = 512

KEY_CHARACTERS: Final = 36
"""Of the id of a KMS key."""

MAX_RESOURCES: Final = 500
"""Of one stack ("CloudFormation quotas")."""

RESOURCES_OF_A_STAGE: Final = 46
RESOURCES_OF_A_DEPLOYMENT: Final = 14
RESOURCES_OF_A_CALLER: Final = 2
RESOURCES_OF_A_FORWARDER: Final = 13
RESOURCES_OF_FEEDBACK: Final = 18
RESOURCES_OF_SCALE: Final = 8
"""At most, beside one where environments are kept ready; a test counts those of templates."""

ACCOUNT: Final = "1" * 12


class OverLimit(ConfigurationError):
    """Something is longer, larger or more than AWS takes. The message says what to change."""


def check_function(
    names: Names,
    deployed: Deployment,
    settings: LambdaSettings,
    *,
    timeout: int,
    workers: int,
    variables: Mapping[str, str],
) -> None:
    """Whether Lambda takes a deployment's function.

    Args:
        names: of the stage.
        deployed: the deployment.
        settings: of the function, all of which travel in its environment.
        timeout: Lambda's, in seconds.
        workers: threads that the reward needs.
        variables: in its environment beside its settings.

    Raises:
        OverLimit: it does not.
    """
    declared = len(json.dumps(settings.composite).encode()) if settings.composite else 0
    if declared > MAX_COMPOSITE_BYTES:
        raise OverLimit(
            f"its composite takes {declared} bytes, and {MAX_COMPOSITE_BYTES} are the most: "
            "shorten its examples, or register it in a package of the stage"
        )
    environment = (settings.to_env() | {**variables}).items()
    size = sum(len(key.encode()) + len(value.encode()) for key, value in environment)
    if size > MAX_ENVIRONMENT_BYTES:
        raise OverLimit(
            f"its settings{' and variables' if variables else ''} take {size} bytes of "
            f"environment; Lambda allows {MAX_ENVIRONMENT_BYTES}"
        )
    margin = settings.deadline_margin_ms
    if margin >= 1000 * timeout:
        raise OverLimit(
            f"a timeout of {timeout} s leaves no time to score, "
            f"{margin} ms of it being kept for the response"
        )
    if workers > MAX_WORKERS:
        raise OverLimit(f"its reward needs {workers} threads; the most is {MAX_WORKERS}")
    name = names.function(deployed.name)
    if deployed.immutable:
        name = names.immutable(deployed.name, "0" * GENERATION_DIGITS)
    if len(name) > MAX_FUNCTION_NAME:
        raise OverLimit(
            f"its function's name {name!r} is longer than Lambda's {MAX_FUNCTION_NAME} characters"
        )


def check_role(stage: Stage, deployment: Deployment) -> None:
    """Whether IAM takes the role of a deployment's function.

    Raises:
        OverLimit: its policies are longer than a role's may be.
    """
    place = Place(partition_of(stage.region), stage.region, ACCOUNT)
    size = _characters(of_function(place, stage, deployment).values())
    if size > MAX_INLINE_POLICIES:
        raise OverLimit(
            f"allow: the policies of its role take {size} characters, and IAM's most is "
            f"{MAX_INLINE_POLICIES}: put actions of the same resources into one statement, or name "
            "a common beginning of the resources with its reason"
        )


def check_stage(stage: Stage) -> None:
    """Whether a stage's names, its policies and its stack are within AWS's limits.

    Raises:
        OverLimit: they are not.
    """
    _check_names(stage)
    _check_feedback(stage)
    agents = len(stage.job_rights.agents) + len(stage.forwarders) + len(stage.agents)
    if agents > MOST_AGENTS:
        raise OverLimit(
            f"it names and deploys {agents} agents, and {MOST_AGENTS} are the most: make two "
            "stages of them"
        )
    named = {"read_buckets": len(stage.read_buckets), "agents": agents}
    for size, limit in policy_sizes(stage).values():
        if size > limit:
            raise OverLimit(
                f"{_and(stage, named)} are more than one IAM policy of {limit} characters can "
                "name; make two stages of them"
            )
    made = {"forwarders": len(stage.forwarders), "callers": len(stage.principals)}
    if most_resources(stage) > MAX_RESOURCES:
        raise OverLimit(
            f"{_and(stage, made)} are more than a stack of {MAX_RESOURCES} resources can hold; "
            "make two stages of them"
        )


def _and(stage: Stage, others: Mapping[str, int]) -> str:
    """The deployments of a stage, and what else there is of these."""
    counted = {"deployments": len(stage.deployments), **others}
    shown = [
        f"{count} {things if count > 1 else things[:-1]}"
        for things, count in counted.items()
        if count
    ]
    *most, last = shown
    return f"{', '.join(most)} and {last}" if most else last


def most_resources(stage: Stage) -> int:
    """How many resources a stage's stack has, at most."""
    ready = sum(1 for each in stage.deployments if each.provisioned_concurrency)
    around = RESOURCES_OF_A_STAGE + len(stage.forwarders) * RESOURCES_OF_A_FORWARDER
    around += RESOURCES_OF_FEEDBACK if stage.feedback is not None else 0
    around += RESOURCES_OF_SCALE if stage.scale is not None else 0
    each = RESOURCES_OF_A_DEPLOYMENT + RESOURCES_OF_A_CALLER * len(stage.principals)
    return around + len(stage.deployments) * each + ready


def _check_names(stage: Stage) -> None:
    """Whether S3 and IAM take the names that the stage's own name and prefix lead to."""
    bucket = stage.bucket or stage.names.bucket(ACCOUNT, stage.region)
    results = stage.names.results(ACCOUNT, stage.region) if stage.feedback is not None else ""
    role = stage.names.of(LONGEST_ROLE.format(stage=stage.name, region=stage.region))
    for what, name, most, whose in (
        ("bucket", bucket, MAX_BUCKET_NAME, "S3"),
        ("bucket of deferred rewards", results, MAX_BUCKET_NAME, "S3"),
        ("roles", role, MAX_ROLE_NAME, "IAM"),
    ):
        if (over := len(name) - most) > 0:
            prefix = " and name_prefix" if stage.names.prefix else ""
            raise OverLimit(
                f"the name of its {what} in {stage.region} would be {over} characters longer than "
                f"{whose}'s {most}; the stage's name{prefix} may have "
                f"{len(stage.name) + len(stage.names.prefix) - over}"
            )


def _check_feedback(stage: Stage) -> None:
    """Whether Lambda takes the settings of the path of deferred rewards, which name all rewards."""
    if stage.feedback is None:
        return
    place = Place(partition_of(stage.region), stage.region, ACCOUNT)
    queues = f"https://sqs.{stage.region}.amazonaws.com.cn/{ACCOUNT}/"
    settings = FeedbackSettings(
        stage=stage.name,
        functions=pinnable_arns(place, stage),
        buckets=(stage.names.results(ACCOUNT, stage.region),),
        queue=queues + stage.names.rollouts(deferred.FEEDBACK),
        dead_letters=queues + stage.names.rollouts(deferred.DEAD_LETTERS),
        outbox=f"dynamodb://{stage.names.rollouts(deferred.OUTBOX)}?region={stage.region}",
        endpoint="e" * MAX_ENDPOINT,
    )
    size = sum(len(name) + len(text) for name, text in settings.to_env().items())
    if size > MAX_ENVIRONMENT_BYTES:
        raise OverLimit(
            f"{len(stage.deployments)} deployments are more than the function of deferred rewards "
            f"can name in its {MAX_ENVIRONMENT_BYTES} bytes of environment; make two stages of them"
        )


def policy_sizes(stage: Stage) -> dict[str, tuple[int, int]]:
    """Every policy that names functions: its characters, as many as they can be, and IAM's most.

    Policies of people are named by their task; what one role has is counted together.
    """
    return {name: (_characters(documents), limit) for name, documents, limit in _documents(stage)}


def _characters(documents: Iterable[Document]) -> int:
    """As IAM counts them, without white space."""
    return sum(len(json.dumps(each, separators=(",", ":"))) for each in documents)


def _documents(stage: Stage) -> Iterator[tuple[str, list[Document], int]]:
    """The documents of each policy or role, with names as long as they can be."""
    place = Place(partition_of(stage.region), stage.region, ACCOUNT)
    bucket = stage.bucket or stage.names.bucket(ACCOUNT, stage.region)
    bucket = f"arn:{place.partition}:s3:::{bucket}"
    path = stage.role_path or SERVICE_ROLES
    role = f"arn:{place.partition}:iam::{ACCOUNT}:role{path}{'r' * MAX_ROLE_NAME}"
    roles = dict.fromkeys(kinds(stage), role)
    made_key = place.arn("kms", f"key/{'k' * KEY_CHARACTERS}") if stage.customer_key else ""
    key = stage.key_arn or made_key
    made = Made(bucket, key)
    for task, document in of_people(place, stage, made, roles).items():
        yield task, [document], MAX_MANAGED_POLICY
    if agent := of_agent(place, stage, made):
        yield "agent", [agent], MAX_MANAGED_POLICY
    if stage.hyperpod:
        yield "cluster", [train_on_hyperpod(place, stage, made)], MAX_MANAGED_POLICY
    for kind in roles:
        work = KINDS[kind].work(place, stage, made)
        yield f"role of {kind}", [*work.values()], MAX_INLINE_POLICIES
    yield "custodian", [custodian.keep_house(place, stage)], MAX_INLINE_POLICIES
    if stage.feedback is not None:
        yield "role of feedback", [deferred.report(place, stage, key)], MAX_INLINE_POLICIES
    if stage.scale is not None:
        yield "role of scale", [scale.shards(place, stage, made)], MAX_INLINE_POLICIES
