"""What the services of a stage may do: functions, judges, training jobs, the custodian.

Every function returns a whole policy document for one idea, with exactly the resources it was
given; `serving.sagemaker` has those of SageMaker alone, and `serving.people` those of people.

Sources: "Access and security for custom model jobs" in the Bedrock user guide; the Service
Authorization Reference for the resources an action knows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reward_functions.serving.catalogue import ROOT, stack_name
from reward_functions.serving.iam import (
    ENCRYPT_MODEL,
    JOBS,
    USE_DATA,
    allow,
    document,
    generations_in,
    invoke,
    only_versions,
    through,
    trust,
    use_bucket,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from reward_functions.judge_runtime.config import JudgeConfig, JudgeModel
    from reward_functions.serving.iam import Document, Place


MANAGED: Final = "BedrockManaged"
OF_JOB: Final = "BedrockModelCustomizationJobArn"
"""What Bedrock tags the network interfaces of a job with."""


def judge_roles(place: Place, stage: str, deployment: str = "") -> str:
    """The path of the roles that judges of a stage run as, or of one deployment's.

    Roles have no region: a stage of this name may stand in several.
    """
    path = f"{ROOT}/{stage}/{place.region}/"
    return f"{path}{deployment}/" if deployment else path


def trust_lambda() -> Document:
    """Lambda runs functions in this role."""
    return trust("lambda.amazonaws.com")


def trust_bedrock(place: Place) -> Document:
    """Bedrock runs this account's customization jobs in this role, and nobody else's.

    Without the conditions, another account's job could name the role (the confused deputy).
    """
    return trust(
        "bedrock.amazonaws.com",
        {
            "StringEquals": {"aws:SourceAccount": place.account},
            "ArnLike": {"aws:SourceArn": place.arn("bedrock", JOBS)},
        },
    )


def write_logs(log_group_arn: str) -> Document:
    """What a verifier may do at all: write to its own log group."""
    actions = ("logs:CreateLogStream", "logs:PutLogEvents")
    return document(allow("WriteLogs", actions, [f"{log_group_arn}:*"]))


def ask_judge(place: Place, config: JudgeConfig, *, emulated: bool = False) -> Document:
    """What a judge may do beside writing its log: ask exactly its models.

    Converse is authorised as `bedrock:InvokeModel`. An inference profile needs two statements: the
    profile, and the model in every region it routes to, there through this profile alone. With them
    go the secret of an API key and the table of verdicts, where there are any.

    Args:
        place: where the function runs.
        config: the judge models.
        emulated: for the local AWS emulator, which checks an action that AWS does not have.
    """
    fallback = [config.fallback] if config.fallback else []
    models = [*config.models, *fallback]
    bedrock = [model for model in models if model.backend == "bedrock"]
    asked = [_model_arn(place, model) for model in bedrock if not model.profile]
    behind: dict[str, list[str]] = {}
    for model in bedrock:
        if model.profile:
            arns = behind.setdefault(_profile_arn(place, model), [])
            arns += [_model_arn(place, model, region) for region in model.destinations]
    keys = [model.key for model in models if model.key.startswith("arn:")]
    table = config.cache_table
    tables = [table if table.startswith("arn:") else place.arn("dynamodb", f"table/{table}")]
    actions = ["bedrock:InvokeModel", *(["bedrock:Converse"] if emulated else [])]
    return document(
        *([allow("AskModels", actions, _distinct(asked))] if asked else []),
        *([allow("AskProfiles", actions, [*behind])] if behind else []),
        *[
            allow(
                f"AskBehindProfile{number}",
                actions,
                _distinct(arns),
                {"StringEquals": {"bedrock:InferenceProfileArn": profile}},
            )
            for number, (profile, arns) in enumerate(behind.items(), 1)
        ],
        *([allow("ReadKeys", ["secretsmanager:GetSecretValue"], _distinct(keys))] if keys else []),
        *(
            [allow("RememberVerdicts", ["dynamodb:GetItem", "dynamodb:PutItem"], tables)]
            if table
            else []
        ),
    )


def _model_arn(place: Place, model: JudgeModel, region: str = "") -> str:
    if model.model.startswith("arn:"):
        return model.model
    where = region or model.region or place.region
    return f"arn:{place.partition}:bedrock:{where}::foundation-model/{model.model}"


def _profile_arn(place: Place, model: JudgeModel) -> str:
    if model.profile.startswith("arn:"):
        return model.profile
    there = place._replace(region=model.region or place.region)
    return there.arn("bedrock", f"inference-profile/{model.profile}")


def _distinct(arns: Iterable[str]) -> list[str]:
    return [*dict.fromkeys(arns)]


def train(rewards: Sequence[str], bucket_arn: str) -> Document:
    """What a training job does: read data, write its output, and ask for rewards.

    Args:
        rewards: what may be invoked, as `versions_of` and `generations_of` name it.
        bucket_arn: where data and output lie.
    """
    return document(invoke(rewards), *use_bucket(bucket_arn))


def use_key(key_arn: str, place: Place) -> Document:
    """Read and write what a key of our own encrypts, through S3 alone."""
    return document(through("s3", place, "UseKey", USE_DATA, key_arn))


def use_model_key(key_arn: str, place: Place) -> Document:
    """Make models that a customer's key encrypts, through Bedrock alone.

    AWS asks for the decryption in the role of a job ("Model customization access and security"),
    and for all four of whoever customises ("Encryption of custom models"); CDK's
    `BedrockCreateModelCustomizationJob` gives the role all four.
    """
    return document(through("bedrock", place, "UseModelKey", ENCRYPT_MODEL, key_arn))


def read_invocation_logs(place: Place, folder: str) -> Document:
    """Read Bedrock's invocation logs as training data; what a key of their own encrypts, not yet.

    Args:
        place: where the stage is.
        folder: `s3://BUCKET/FOLDER`, or `s3://BUCKET` for all of it.
    """
    bucket, _, key = folder.removeprefix("s3://").rstrip("/").partition("/")
    arn = f"arn:{place.partition}:s3:::{bucket}"
    within = {"StringLike": {"s3:prefix": [key, f"{key}/*"]}} if key else None
    return document(
        allow("ReadInvocationLogs", ["s3:GetObject"], [f"{arn}/{key}/*" if key else f"{arn}/*"]),
        allow("ListInvocationLogs", ["s3:ListBucket"], [arn], within),
    )


def join_vpc(place: Place, *, subnets: Sequence[str], security_groups: Sequence[str]) -> Document:
    """Make, and remove, the interfaces by which a job joins a network.

    These are the statements of "Model customization access and security"; where AWS's example has
    every resource, this has the interfaces of the account and region.

    Args:
        place: where the network is.
        subnets: the ids of those in which an interface may stand.
        security_groups: the ids of those that it may have.
    """
    jobs = place.arn("bedrock", JOBS)
    interfaces = [place.arn("ec2", "network-interface/*")]
    within = [place.arn("ec2", f"subnet/{each}") for each in subnets]
    guarded = [place.arn("ec2", f"security-group/{each}") for each in security_groups]
    return document(
        allow(
            "SeeNetwork",
            [
                "ec2:DescribeNetworkInterfaces",
                "ec2:DescribeVpcs",
                "ec2:DescribeDhcpOptions",
                "ec2:DescribeSubnets",
                "ec2:DescribeSecurityGroups",
            ],
            ["*"],
        ),
        allow(
            "MakeInterface",
            ["ec2:CreateNetworkInterface"],
            interfaces,
            {
                "StringEquals": {f"aws:RequestTag/{MANAGED}": "true"},
                "ArnLike": {f"aws:RequestTag/{OF_JOB}": jobs},
            },
        ),
        allow("JoinNetwork", ["ec2:CreateNetworkInterface"], [*within, *guarded]),
        allow(
            "HandInterface",
            [
                "ec2:CreateNetworkInterfacePermission",
                "ec2:DeleteNetworkInterface",
                "ec2:DeleteNetworkInterfacePermission",
            ],
            interfaces,
            {
                "StringEquals": {f"ec2:ResourceTag/{MANAGED}": "true"},
                "ArnLike": {"ec2:Subnet": within, f"ec2:ResourceTag/{OF_JOB}": jobs},
            },
        ),
        allow(
            "TagInterface",
            ["ec2:CreateTags"],
            interfaces,
            {
                "StringEquals": {"ec2:CreateAction": "CreateNetworkInterface"},
                "ForAllValues:StringEquals": {"aws:TagKeys": [MANAGED, OF_JOB]},
            },
        ),
    )


def keep_house(
    place: Place, *, stage: str, rewards: Sequence[str], bucket_arn: str, emulated: bool = False
) -> Document:
    """What the stack's custodian does: try versions, delete generations and roles, empty buckets.

    A deployment that has left the stage is known by the pattern of its functions and roles alone.

    Args:
        place: where the stage is.
        stage: whose functions it deletes.
        rewards: what it tries, as `versions_of` and `generations_of` name it.
        bucket_arn: what it may empty; nothing where empty.
        emulated: for the local AWS emulator, which asks about a role as if it had no path.
    """
    roles = f"arn:{place.partition}:iam::{place.account}:role"
    judges = [f"{roles}{judge_roles(place, stage)}*"]
    judges += [f"{roles}/{stack_name(stage)}-*"] if emulated else []
    return document(
        allow("TryVersion", ["lambda:InvokeFunction"], only_versions(rewards)),
        allow("FindGenerations", ["lambda:ListFunctions"], ["*"]),
        allow(
            "DeleteGenerations",
            ["lambda:DeleteFunction", "lambda:ListTags"],
            [generations_in(place, stage)],
        ),
        allow("FindRoles", ["iam:ListRoles"], ["*"]),
        allow(
            "DeleteRoles",
            ["iam:ListRolePolicies", "iam:DeleteRolePolicy", "iam:DeleteRole"],
            judges,
        ),
        *(
            [
                allow("ListVersions", ["s3:ListBucketVersions"], [bucket_arn]),
                allow(
                    "EmptyBucket",
                    ["s3:DeleteObject", "s3:DeleteObjectVersion"],
                    [f"{bucket_arn}/*"],
                ),
            ]
            if bucket_arn
            else []
        ),
    )


def publish_alarms(place: Place, topic_arn: str) -> Document:
    """A statement of a topic's own policy: CloudWatch publishes this account's alarms to it."""
    return {
        "Sid": "PublishAlarms",
        "Effect": "Allow",
        "Principal": {"Service": "cloudwatch.amazonaws.com"},
        "Action": "sns:Publish",
        "Resource": topic_arn,
        "Condition": {"StringEquals": {"aws:SourceAccount": place.account}},
    }
