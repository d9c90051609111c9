"""IAM policy documents as plain data: their statements, and how a grant names a reward function.

A reward function is granted twice, by its plain ARN and by every version and alias of it: to IAM a
qualifier makes another resource, and a trainer may send either.

Sources: "Encryption of custom models" in the Bedrock user guide for keys; `LogGroup` in the API
reference of CloudWatch Logs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from reward_functions.aws.arn import GENERATION
from reward_functions.aws.catalogue import DATA_PREFIX, OUTPUT_PREFIX, ROOT

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reward_functions.aws.names import Names

Document = dict[str, Any]
"""A policy document, as IAM's JSON has it."""

JOBS: Final = "model-customization-job/*"
"""This account's customization jobs, as an ARN ends."""

LOGS: Final = "log-group:/aws/lambda/"
"""What precedes a function's name in the ARN of its log group."""

USE_DATA: Final = ("kms:Decrypt", "kms:GenerateDataKey")
"""What reading and writing an encrypted object takes; a part of an upload is read again."""

ENCRYPT_MODEL: Final = (*USE_DATA, "kms:DescribeKey", "kms:CreateGrant")
"""What making a model takes that a customer's key encrypts. Bedrock keeps the grant."""

DECRYPT_MODEL: Final = ("kms:Decrypt",)
"""What asking such a model takes."""


class Place(NamedTuple):
    """Where ARNs point: `Place("aws", "us-east-1", "123456789012")`."""

    partition: str
    region: str
    account: str

    def arn(self, service: str, resource: str) -> str:
        """Something of this account, in this region."""
        return f"arn:{self.partition}:{service}:{self.region}:{self.account}:{resource}"

    def host(self, service: str) -> str:
        """A service's name here, as `kms:ViaService` has it.

        China's ending is inferred from its endpoints: KMS documents no example of there.
        """
        china = ".cn" if self.region.startswith("cn-") else ""
        return f"{service}.{self.region}.amazonaws.com{china}"


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


def logs_of(place: Place, rewards: Sequence[str]) -> list[str]:
    """The log groups of some reward functions, each in both forms that AWS gives its ARN.

    The Service Authorization Reference ends it at the name. The API appends `:*`, and asks that
    policies have it, too. The functions of an immutable deployment share the deployment's group.

    Args:
        place: where the functions are.
        rewards: as `versions_of` and `generations_of` name them.
    """
    names = [
        each.rpartition(":function:")[2].removesuffix(f"{GENERATION}*")
        for each in rewards
        if not each.endswith(":*")
    ]
    groups = [place.arn("logs", f"{LOGS}{name}") for name in names]
    return [
        form for each in groups for form in ([each] if each.endswith("*") else [each, f"{each}:*"])
    ]


def generations_in(place: Place, names: Names) -> str:
    """The functions of a stage's immutable deployments, also of those that left the stage."""
    return place.arn("lambda", f"function:{names.function('*')}{GENERATION}*")


def document(*statements: Document) -> Document:
    """A whole policy of these statements, without those that name nothing."""
    named = [each for each in statements if each.get("Resource") != []]
    return {"Version": "2012-10-17", "Statement": named}


def allow(
    sid: str,
    actions: Sequence[str],
    resources: Sequence[str],
    condition: Mapping[str, Any] | None = None,
) -> Document:
    """A statement that allows; it has a condition where one is given.

    An empty ARN is of what a stage does not have. A statement of such ARNs alone is in no document.
    """
    named = [each for each in resources if each]
    statement = {"Sid": sid, "Effect": "Allow", "Action": [*actions], "Resource": named}
    return statement | ({"Condition": dict(condition)} if condition else {})


def trust(
    service: str,
    condition: Mapping[str, Any] | None = None,
    actions: Sequence[str] = ("sts:AssumeRole",),
) -> Document:
    """A service acts in a role, under a condition where there is one.

    Args:
        service: its name as a principal.
        condition: of a statement.
        actions: of `sts`, by which the service takes the role on.
    """
    statement = {
        "Effect": "Allow",
        "Principal": {"Service": service},
        "Action": [*actions] if len(actions) > 1 else actions[0],
    }
    return document(statement | ({"Condition": dict(condition)} if condition else {}))


def trust_own(
    place: Place, service: str, made: Sequence[str], actions: Sequence[str] = ("sts:AssumeRole",)
) -> Document:
    """A service acts in a role for what this account made, and for nobody else.

    Without the conditions, another account's job could name the role (the confused deputy).

    Args:
        place: where the account is.
        service: its name as a principal.
        made: ARNs that the service acts for.
        actions: as `trust` takes them.
    """
    condition = {
        "StringEquals": {"aws:SourceAccount": place.account},
        "ArnLike": {"aws:SourceArn": [*made] if len(made) > 1 else made[0]},
    }
    return trust(service, condition, actions)


def invoke(rewards: Sequence[str]) -> Document:
    """Invoke these functions.

    Args:
        rewards: as `versions_of` and `generations_of` name them.
    """
    return allow("InvokeRewards", ["lambda:InvokeFunction"], rewards)


def pass_role(service: str, role_arn: str) -> Document:
    """Hand a role over, to one service alone."""
    return allow(
        f"PassRoleTo{service.partition('.')[0].capitalize()}",
        ["iam:PassRole"],
        [role_arn],
        {"StringEquals": {"iam:PassedToService": service}},
    )


def catalogue(place: Place, stage: str) -> list[str]:
    """The parameters of a stage: their path, and those below it."""
    path = place.arn("ssm", f"parameter{ROOT}/{stage}")
    return [path, f"{path}/*"]


def read_catalogue(place: Place, stage: str) -> Document:
    """Find what a stage has."""
    actions = ("ssm:GetParameter", "ssm:GetParametersByPath")
    return allow("ReadCatalogue", actions, catalogue(place, stage))


def through(service: str, place: Place, sid: str, actions: Sequence[str], key_arn: str) -> Document:
    """Use a KMS key through one service alone, such as `s3`; "" where there is no key."""
    via = {"StringEquals": {"kms:ViaService": place.host(service)}}
    return allow(sid, actions, [key_arn], via)


def use_bucket(bucket_arn: str) -> list[Document]:
    """The rights of every job to the bucket: read data, and write its output."""
    return [
        allow("ReadData", ["s3:GetObject"], [f"{bucket_arn}/{DATA_PREFIX}*"]),
        allow("WriteOutput", ["s3:GetObject", "s3:PutObject"], [f"{bucket_arn}/{OUTPUT_PREFIX}*"]),
        list_data(bucket_arn),
    ]


def list_data(bucket_arn: str) -> Document:
    """List what lies under the prefixes of data and output."""
    prefixes = {"StringLike": {"s3:prefix": [f"{DATA_PREFIX}*", f"{OUTPUT_PREFIX}*"]}}
    return allow("ListData", ["s3:ListBucket"], [bucket_arn], prefixes)
