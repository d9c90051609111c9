"""The reward functions of a stage as policies name them: by ARN, known before they exist."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from reward_functions.cdk.policies.iam import generations_of, versions_of
from reward_functions.feedback.settings import GENERATIONS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from reward_functions.aws.catalogue import JobRights, ReadFolder
    from reward_functions.aws.names import Names
    from reward_functions.cdk.policies.iam import Place


class Granted(Protocol):
    """A deployment, as far as policies go."""

    @property
    def name(self) -> str:
        """The deployment's."""

    @property
    def immutable(self) -> bool:
        """Whether its functions carry digests in their names."""

    @property
    def provisioned_concurrency(self) -> int | None:
        """Environments of its version that are kept ready; None for none."""

    @property
    def compares(self) -> bool:
        """Whether a response's score depends on the other responses of its group."""


class GrantedForwarder(Protocol):
    """A forwarder, as far as policies go."""

    @property
    def owns_queue(self) -> bool:
        """Whether the stage makes its queue."""

    @property
    def key(self) -> str | None:
        """ARN of the KMS key that encrypts its queue or its secret."""

    def function_arn(self, place: Place, names: Names) -> str:
        """The function without a qualifier."""

    def queue_arn(self, place: Place, names: Names) -> str:
        """Its queue's; "" without one."""


class GrantedAgent(Protocol):
    """An agent on AgentCore, as far as policies go."""

    def runtime_arn(self, place: Place, names: Names) -> str:
        """Its runtime as a grant names it."""


class GrantingStage(Protocol):
    """A stage, as far as policies go."""

    @property
    def name(self) -> str:
        """Its key in `cdk.json`."""

    @property
    def names(self) -> Names:
        """What its resources are called."""

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
        """Whether SageMaker's serverless jobs have a role as well."""

    @property
    def training_job_role(self) -> bool:
        """Whether SageMaker's training jobs on instances have a role."""

    @property
    def hyperpod(self) -> bool:
        """Whether a HyperPod cluster's jobs have a policy."""

    @property
    def customer_key(self) -> bool:
        """Whether a key of its own encrypts the bucket."""

    @property
    def bucket(self) -> str | None:
        """The bucket that was there before it; None where it makes one."""

    @property
    def key_arn(self) -> str | None:
        """The KMS key that was there before it and encrypts the bucket."""

    @property
    def role_path(self) -> str | None:
        """The path of its roles; None for those that AWS's stock policies look for."""

    @property
    def read_buckets(self) -> Sequence[ReadFolder]:
        """What its jobs may read outside of the bucket."""

    @property
    def principals(self) -> Sequence[str]:
        """Whom of other accounts its functions answer."""

    @property
    def feedback(self) -> object:
        """The path of deferred rewards; None where there is none."""

    @property
    def job_rights(self) -> JobRights:
        """What its jobs may use beside bucket and rewards."""

    @property
    def forwarders(self) -> Sequence[GrantedForwarder]:
        """The functions between trainers and agents."""

    @property
    def agents(self) -> Sequence[GrantedAgent]:
        """What runs on AgentCore."""


def arn_of(place: Place, names: Names, deployment: Granted) -> str:
    """The ARN of a deployment's function; of an immutable one, what all its functions share."""
    return place.arn("lambda", f"function:{names.function(deployment.name)}")


def pinnable(stage: GrantingStage) -> list[Granted]:
    """What a record may pin: a batch of the feedback path is no group, and ranks nobody."""
    return [each for each in stage.deployments if not each.compares]


def pinnable_arns(place: Place, stage: GrantingStage) -> tuple[str, ...]:
    """The same as the settings of the path name it, in order."""
    return tuple(
        arn_of(place, stage.names, each) + (GENERATIONS if each.immutable else "")
        for each in pinnable(stage)
    )


def rewards(place: Place, names: Names, deployments: Iterable[Granted]) -> list[str]:
    """Every function of a stage with all its versions, and nothing else."""
    return [
        resource
        for each in deployments
        for resource in (generations_of if each.immutable else versions_of)(
            arn_of(place, names, each)
        )
    ]


def provided(place: Place, names: Names, deployments: Iterable[Granted]) -> list[str]:
    """The versions of which some environments are kept ready."""
    ready = [each for each in deployments if each.provisioned_concurrency]
    return [f"{arn_of(place, names, each)}:*" for each in ready]


def agents(place: Place, stage: GrantingStage) -> list[str]:
    """Whom multi-turn jobs ask: the agents that the stage names, and those that it deploys."""
    forwarders = [each.function_arn(place, stage.names) for each in stage.forwarders]
    runtimes = [each.runtime_arn(place, stage.names) for each in stage.agents]
    return [*stage.job_rights.agents, *forwarders, *runtimes]


def aliased(place: Place, names: Names, deployments: Iterable[Granted]) -> list[str]:
    """The functions that have an alias, without qualifiers."""
    return [arn_of(place, names, each) for each in deployments if not each.immutable]
