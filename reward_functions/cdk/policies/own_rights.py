"""What a reward of one's own may do beside writing its log: what its deployment states, and no more.

    stated          the statements of `allow`, as they were written
    read_secrets    the values of `secrets`, and nothing else of these services
    join_network    Lambda's own work on the interfaces of a function in a VPC

Sources: "Giving Lambda functions access to resources in an Amazon VPC" in the Lambda developer
guide, whose statements those of the network are; "Secret encryption and decryption in AWS Secrets
Manager"; "How AWS Systems Manager Parameter Store uses AWS KMS".
"""  # noqa: E501

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from reward_functions.cdk.policies.iam import allow, document

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from reward_functions.cdk.policies.iam import Document, Place

STATED: Final = "Stated"
"""How the Sids of `stated` begin; a number follows."""

INTERFACES: Final = (
    "ec2:CreateNetworkInterface",
    "ec2:DeleteNetworkInterface",
    "ec2:AssignPrivateIpAddresses",
    "ec2:UnassignPrivateIpAddresses",
)

NETWORK: Final = ("ec2:DescribeNetworkInterfaces", "ec2:DescribeSubnets")


class Store(NamedTuple):
    """A service that keeps secrets.

    Args:
        action: that reads one.
        context: the key of its encryption's context that holds the secret's ARN.
    """

    action: str
    context: str


STORES: Final = {
    "secretsmanager": Store("secretsmanager:GetSecretValue", "SecretARN"),
    "ssm": Store("ssm:GetParameter", "PARAMETER_ARN"),
}
"""By the service in a secret's ARN."""


class Stated(NamedTuple):
    """A statement of `allow`.

    Args:
        actions: as IAM writes them.
        resources: ARNs, or `*`.
        condition: of the statement; None without one.
    """

    actions: Sequence[str]
    resources: Sequence[str]
    condition: Mapping[str, Any] | None = None


def stated(statements: Iterable[Stated]) -> Document:
    """What a deployment's `allow` says, statement by statement."""
    return document(
        *(
            allow(f"{STATED}{number}", each.actions, each.resources, each.condition)
            for number, each in enumerate(statements, 1)
        )
    )


def read_secrets(place: Place, secrets: Sequence[tuple[str, str]]) -> Document:
    """Read exactly these secrets, and decrypt them through their own service alone.

    Args:
        place: where the function runs.
        secrets: their ARNs, each with the ARN of the key that encrypts it, or "" where that is
            the account's own (`aws/secretsmanager`, `aws/ssm`), which needs no right.
    """
    read: dict[str, list[str]] = {}
    for arn, _ in secrets:
        read.setdefault(_service(arn), []).append(arn)
    reading = [
        allow(f"Read{service.capitalize()}", [STORES[service].action], list(dict.fromkeys(arns)))
        for service, arns in read.items()
    ]
    encrypted = [(arn, key) for arn, key in dict.fromkeys(secrets) if key]
    decrypting = [
        allow(f"DecryptSecret{number}", ["kms:Decrypt"], [key], _of_secret(place, arn))
        for number, (arn, key) in enumerate(encrypted, 1)
    ]
    return document(*reading, *decrypting)


def _of_secret(place: Place, arn: str) -> Document:
    service = _service(arn)
    return {
        "StringEquals": {
            "kms:ViaService": place.host(service),
            f"kms:EncryptionContext:{STORES[service].context}": arn,
        }
    }


def _service(arn: str) -> str:
    return arn.split(":")[2]


def join_network(place: Place, functions: Sequence[str]) -> Document:
    """Let Lambda make and remove a function's interfaces, and deny the function's code the same.

    Lambda asks without `lambda:SourceFunctionArn`, and what runs in a function always with it.
    IAM cannot say which interfaces these will be: AWS asks for all of the account and region.

    Args:
        place: where the function runs.
        functions: its ARN without a qualifier; a pattern, where generations share the role.
    """
    everything = [place.arn("ec2", "*/*")]
    own = {"ArnLike": {"lambda:SourceFunctionArn": [*functions]}}
    denied = allow("NeverFromTheCode", [*NETWORK, *INTERFACES], ["*"], own)
    return document(
        allow("SeeInterfaces", NETWORK, ["*"]),
        allow("KeepInterfaces", INTERFACES, everything),
        denied | {"Effect": "Deny"},
    )
