"""The reward functions of a stage as policies name them: by ARN, known before they exist."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from reward_functions.serving.catalogue import function_name
from reward_functions.serving.iam import generations_of, versions_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from reward_functions.serving.catalogue import JobRights
    from reward_functions.serving.iam import Place


class Granted(Protocol):
    """A deployment, as far as policies go."""

    @property
    def name(self) -> str:
        """The deployment's."""

    @property
    def immutable(self) -> bool:
        """Whether its functions carry digests in their names."""


class GrantingStage(Protocol):
    """A stage, as far as policies go."""

    @property
    def name(self) -> str:
        """Its key in `cdk.json`."""

    @property
    def region(self) -> str:
        """AWS's name of the region."""

    @property
    def emulated(self) -> bool:
        """Whether it is for the local AWS emulator."""

    @property
    def deployments(self) -> Sequence[Granted]:
        """Its functions."""

    @property
    def sagemaker_role(self) -> bool:
        """Whether SageMaker's jobs have a role as well."""

    @property
    def customer_key(self) -> bool:
        """Whether a key of its own encrypts the bucket."""

    @property
    def job_rights(self) -> JobRights:
        """What its jobs may use beside bucket and rewards."""


def arn_of(place: Place, stage: str, deployment: Granted) -> str:
    """The ARN of a deployment's function; of an immutable one, what all its functions share."""
    return place.arn("lambda", f"function:{function_name(stage, deployment.name)}")


def rewards(place: Place, stage: str, deployments: Iterable[Granted]) -> list[str]:
    """Every function of a stage with all its versions, and nothing else."""
    return [
        resource
        for each in deployments
        for resource in (generations_of if each.immutable else versions_of)(
            arn_of(place, stage, each)
        )
    ]


def aliased(place: Place, stage: str, deployments: Iterable[Granted]) -> list[str]:
    """The functions that have an alias, without qualifiers."""
    return [arn_of(place, stage, each) for each in deployments if not each.immutable]
