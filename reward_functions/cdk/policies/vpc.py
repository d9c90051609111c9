"""The rights of jobs of either service to join a network: the statements that both policies have.

Bedrock tags the interfaces of its jobs, and SageMaker does not: each adds its own conditions, in
`cdk.policies.permissions` and `cdk.policies.sagemaker`.

Sources: "Model customization access and security" of Bedrock; "Prerequisites" of multi-turn
reinforcement learning and "CreateTrainingJob API: execution role permissions" of SageMaker. Where
AWS's examples have every resource, these have the interfaces of the account and region.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from reward_functions.cdk.policies.iam import allow

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reward_functions.aws.catalogue import JobVpc
    from reward_functions.cdk.policies.iam import Document, Place

SEEN: Final = (
    "ec2:DescribeNetworkInterfaces",
    "ec2:DescribeVpcs",
    "ec2:DescribeDhcpOptions",
    "ec2:DescribeSubnets",
    "ec2:DescribeSecurityGroups",
)

HANDED: Final = (
    "ec2:CreateNetworkInterfacePermission",
    "ec2:DeleteNetworkInterface",
    "ec2:DeleteNetworkInterfacePermission",
)

MAKE: Final = ("ec2:CreateNetworkInterface",)


class Network(NamedTuple):
    """A network as policies name it.

    Args:
        interfaces: the account's, whose ARNs are made with them.
        subnets: those in which an interface may stand.
        security_groups: those that it may have.
    """

    interfaces: list[str]
    subnets: list[str]
    security_groups: list[str]

    @property
    def places(self) -> list[str]:
        """The resources that are asked about when an interface is made, beside the interface."""
        return [*self.subnets, *self.security_groups]


def network(place: Place, of: JobVpc) -> Network:
    """That of a stage's jobs."""
    return Network(
        interfaces=[place.arn("ec2", "network-interface/*")],
        subnets=[place.arn("ec2", f"subnet/{each}") for each in of.subnets],
        security_groups=[place.arn("ec2", f"security-group/{each}") for each in of.security_groups],
    )


def see_network() -> Document:
    """Descriptions, which know no resource."""
    return allow("SeeNetwork", SEEN, ["*"])


def hand(
    sid: str, net: Network, condition: Mapping[str, Mapping[str, Any]] | None = None
) -> Document:
    """Hand an interface over and remove it, in these subnets alone.

    Args:
        sid: of the statement.
        net: where it stands.
        condition: what else must hold, by operator.
    """
    within = {"ArnLike": {"ec2:Subnet": net.subnets}}
    return allow(sid, HANDED, net.interfaces, _both(within, condition or {}))


def tag(
    sid: str, net: Network, condition: Mapping[str, Mapping[str, Any]] | None = None
) -> Document:
    """Tag an interface while it is made alone; the arguments are those of `hand`."""
    made = {"StringEquals": {"ec2:CreateAction": "CreateNetworkInterface"}}
    return allow(sid, ["ec2:CreateTags"], net.interfaces, _both(made, condition or {}))


def _both(
    one: Mapping[str, Mapping[str, Any]], other: Mapping[str, Mapping[str, Any]]
) -> dict[str, dict[str, Any]]:
    """The conditions of two, where both must hold."""
    return {
        operator: {**one.get(operator, {}), **other.get(operator, {})}
        for operator in dict.fromkeys((*other, *one))
    }
