"""The reward functions of a stage as policies name them: by ARN, known before they exist."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from reward_functions.aws.catalogue import ALIAS
from reward_functions.cdk.policies.iam import allow, generations_of, only_versions, versions_of
from reward_functions.feedback.settings import GENERATIONS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from reward_functions.aws.names import Names
    from reward_functions.cdk.model.deployment import Deployment
    from reward_functions.cdk.model.stages import Stage
    from reward_functions.cdk.policies.iam import Document, Place

MOVING: Final = (ALIAS, "$LATEST")
"""Qualifiers whose code changes: what a run must not ask, and `:*` would let it."""


class Made(NamedTuple):
    """The parts that the documents name and deployment makes.

    Args:
        bucket_arn: where data and output lie.
        key_arn: of the key that encrypts the bucket; "" where S3's own does.
    """

    bucket_arn: str
    key_arn: str = ""

    def keys(self, stage: Stage) -> list[str]:
        """Those of the bucket and of tuned models, where there are any."""
        return [key for key in (self.key_arn, stage.job_rights.model_key) if key]


def arn_of(place: Place, names: Names, deployment: Deployment) -> str:
    """The ARN of a deployment's function; of an immutable one, what all its functions share."""
    return place.arn("lambda", f"function:{names.function(deployment.name)}")


def pinnable(stage: Stage) -> list[Deployment]:
    """The rewards that a record may pin: a batch of the feedback path is no group."""
    return [each for each in stage.deployments if not each.compares]


def pinnable_arns(place: Place, stage: Stage) -> tuple[str, ...]:
    """The same as the settings of the path name it, in order."""
    return tuple(
        arn_of(place, stage.names, each) + (GENERATIONS if each.immutable else "")
        for each in pinnable(stage)
    )


def rewards(place: Place, names: Names, deployments: Iterable[Deployment]) -> list[str]:
    """Every function of a stage with all its versions, and nothing else."""
    return [
        resource
        for each in deployments
        for resource in (generations_of if each.immutable else versions_of)(
            arn_of(place, names, each)
        )
    ]


def ask_numbered(
    place: Place,
    names: Names,
    deployments: Iterable[Deployment],
    beside: Sequence[str] = (),
) -> list[Document]:
    """Invoke numbered versions and generations, and nothing that moves.

    Args:
        place: where they are.
        names: of the stage.
        deployments: whose.
        beside: what else may be done to them.
    """
    asked = only_versions(rewards(place, names, deployments))
    numbered = [each.removesuffix("*") for each in asked if each.endswith(":*")]
    moving = [f"{each}{qualifier}" for each in numbered for qualifier in MOVING]
    return [
        allow("AskVersions", ["lambda:InvokeFunction", *beside], asked),
        allow("AskNothingThatMoves", ["lambda:InvokeFunction"], moving) | {"Effect": "Deny"},
    ]


def provided(place: Place, names: Names, deployments: Iterable[Deployment]) -> list[str]:
    """The versions of which some environments are kept ready."""
    ready = [each for each in deployments if each.provisioned_concurrency]
    return [f"{arn_of(place, names, each)}:*" for each in ready]


def agents(place: Place, stage: Stage) -> list[str]:
    """Whom multi-turn jobs ask: the agents that the stage names, and those that it deploys."""
    forwarders = [each.function_arn(place, stage.names) for each in stage.forwarders]
    runtimes = [each.runtime_arn(place, stage.names) for each in stage.agents]
    return [*stage.job_rights.agents, *forwarders, *runtimes]


def aliased(place: Place, names: Names, deployments: Iterable[Deployment]) -> list[str]:
    """The functions that have an alias, without qualifiers."""
    return [arn_of(place, names, each) for each in deployments if not each.immutable]
