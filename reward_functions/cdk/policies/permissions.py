"""The rights of a stage's services: functions, judges, training jobs, events.

Every function returns a whole policy document for one idea, with exactly the resources it was
given; `sagemaker` has those of SageMaker alone, and `people` those of people.

Sources: "Access and security for custom model jobs" in the Bedrock user guide; the Service
Authorization Reference for the resources an action knows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reward_functions.aws.catalogue import ROOT
from reward_functions.cdk.policies import vpc
from reward_functions.cdk.policies.iam import (
    ENCRYPT_MODEL,
    JOBS,
    LOGS,
    USE_DATA,
    allow,
    document,
    invoke,
    through,
    trust,
    use_bucket,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from reward_functions.aws.catalogue import JobVpc, ReadFolder
    from reward_functions.cdk.policies.iam import Document, Place
    from reward_functions.judge_runtime.config import JudgeConfig, JudgeModel


MANAGED: Final = "BedrockManaged"
OF_JOB: Final = "BedrockModelCustomizationJobArn"
"""What Bedrock tags the network interfaces of a job with."""


def judge_roles(place: Place, stage: str, deployment: str = "", *, below: str | None = None) -> str:
    """The path of the roles that judges of a stage run as, or of one deployment's.

    Roles have no region: a stage of this name may stand in several.

    Args:
        place: where the stage is.
        stage: its name.
        deployment: its name; "" for all of the stage.
        below: the path that a company's roles lie under, with a slash at its end.
    """
    path = f"{(below or '').rstrip('/')}{ROOT}/{stage}/{place.region}/"
    return f"{path}{deployment}/" if deployment else path


def rights_roles(place: Place, stage: str, *, below: str | None = None) -> str:
    """The path of the roles that verifiers with rights of their own run as.

    No deployment can be called so: their names are in lower case. The arguments are those of
    `judge_roles`.
    """
    return f"{judge_roles(place, stage, below=below)}Rights/"


def trust_lambda() -> Document:
    """Lambda runs functions in this role.

    Without a condition: `iam:PassRole` hands no role to a function of another account ("Granting a
    user permissions to pass a role to an AWS service").
    """
    return trust("lambda.amazonaws.com")


def write_logs(place: Place, function: str) -> Document:
    """The one right of a verifier: write to its own log group.

    Args:
        place: where it runs.
        function: its physical name.
    """
    actions = ("logs:CreateLogStream", "logs:PutLogEvents")
    return document(allow("WriteLogs", actions, [place.arn("logs", f"{LOGS}{function}:*")]))


def send_traces() -> Document:
    """Send X-Ray what it shows of an invocation; neither action knows a resource."""
    return document(
        allow("SendTraces", ["xray:PutTraceSegments", "xray:PutTelemetryRecords"], ["*"])
    )


def ask_judge(place: Place, config: JudgeConfig, *, emulated: bool = False) -> Document:
    """The rights of a judge beside writing its log: ask exactly its models.

    Converse is authorised as `bedrock:InvokeModel`. An inference profile needs two statements: the
    profile, and the model in every region it routes to, there through this profile alone. A global
    profile needs three: it routes to no region that a request names. So the second is the model in
    the region that is asked, and the third the model in no region ("Global cross-Region
    inference"). With them go the secret of an API key and the table of verdicts, where there are
    any.

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
    anywhere: dict[str, list[str]] = {}
    for model in bedrock:
        if model.profile:
            profile = _profile_arn(place, model)
            regions = ("",) if is_global(model.profile) else model.destinations
            arns = behind.setdefault(profile, [])
            arns += [_model_arn(place, model, region) for region in regions]
            if is_global(model.profile):
                nowhere = f"arn:{place.partition}:bedrock:::foundation-model/{model.model}"
                anywhere.setdefault(profile, []).append(nowhere)
    keys = [model.key for model in models if model.key.startswith("arn:")]
    table = config.cache_table
    if table and not table.startswith("arn:"):
        table = place.arn("dynamodb", f"table/{table}")
    actions = ["bedrock:InvokeModel", *(["bedrock:Converse"] if emulated else [])]
    return document(
        allow("AskModels", actions, _distinct(asked)),
        allow("AskProfiles", actions, [*behind]),
        *[
            allow(
                f"AskBehindProfile{number}",
                actions,
                _distinct(arns),
                {"StringEquals": {"bedrock:InferenceProfileArn": profile}},
            )
            for number, (profile, arns) in enumerate(behind.items(), 1)
        ],
        *[
            allow(
                f"AskAnywhere{number}",
                actions,
                _distinct(arns),
                {
                    "StringEquals": {
                        "aws:RequestedRegion": "unspecified",
                        "bedrock:InferenceProfileArn": profile,
                    }
                },
            )
            for number, (profile, arns) in enumerate(anywhere.items(), 1)
        ],
        allow("ReadKeys", ["secretsmanager:GetSecretValue"], _distinct(keys)),
        allow("RememberVerdicts", ["dynamodb:GetItem", "dynamodb:PutItem"], [table]),
    )


def is_global(profile: str) -> bool:
    """Whether an inference profile, by its id or ARN, routes to every commercial region."""
    return profile.rpartition("/")[2].startswith("global.")


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
    """The rights of a training job: read data, write its output, and ask for rewards.

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
    and for all four of the caller ("Encryption of custom models"). CDK's
    `BedrockCreateModelCustomizationJob` gives the role all four.
    """
    return document(through("bedrock", place, "UseModelKey", ENCRYPT_MODEL, key_arn))


def read_invocation_logs(place: Place, folder: str) -> Document:
    """Read Bedrock's invocation logs as training data; what a key of their own encrypts, not yet.

    Args:
        place: where the stage is.
        folder: `s3://BUCKET/FOLDER`, or `s3://BUCKET` for all of it.
    """
    return document(*_read_folder(place, folder, "InvocationLogs"))


def read_folders(place: Place, folders: Sequence[ReadFolder]) -> list[Document]:
    """Read data where a company has it, and nothing else there.

    Data that one key encrypts is read through S3 alone; two folders may have one key.

    Args:
        place: where the stage is.
        folders: addresses, and the keys that encrypt what lies there.
    """
    reading = [_read_folder(place, each.folder, "Folder") for each in folders]
    keys = _distinct(each.key for each in folders if each.key)
    via = {"StringEquals": {"kms:ViaService": place.host("s3")}}
    return [
        allow("ReadFolders", ["s3:GetObject"], [read["Resource"][0] for read, _ in reading]),
        *(listed | {"Sid": f"ListFolder{n}"} for n, (_, listed) in enumerate(reading, 1)),
        allow("DecryptFolders", ["kms:Decrypt"], keys, via),
    ]


def _read_folder(place: Place, folder: str, called: str) -> tuple[Document, Document]:
    """To read what lies in a folder, and to list it."""
    bucket, _, key = folder.removeprefix("s3://").rstrip("/").partition("/")
    arn = f"arn:{place.partition}:s3:::{bucket}"
    within = {"StringLike": {"s3:prefix": [key, f"{key}/*"]}} if key else None
    return (
        allow(f"Read{called}", ["s3:GetObject"], [f"{arn}/{key}/*" if key else f"{arn}/*"]),
        allow(f"List{called}", ["s3:ListBucket"], [arn], within),
    )


def join_vpc(place: Place, joined: JobVpc) -> Document:
    """Make, and remove, the interfaces by which a job joins a network; Bedrock tags them."""
    jobs = place.arn("bedrock", JOBS)
    net = vpc.network(place, joined)
    return document(
        vpc.see_network(),
        allow(
            "MakeInterface",
            vpc.MAKE,
            net.interfaces,
            {
                "StringEquals": {f"aws:RequestTag/{MANAGED}": "true"},
                "ArnLike": {f"aws:RequestTag/{OF_JOB}": jobs},
            },
        ),
        allow("JoinNetwork", vpc.MAKE, net.places),
        vpc.hand(
            "HandInterface",
            net,
            {
                "StringEquals": {f"ec2:ResourceTag/{MANAGED}": "true"},
                "ArnLike": {f"ec2:ResourceTag/{OF_JOB}": jobs},
            },
        ),
        vpc.tag(
            "TagInterface",
            net,
            {"ForAllValues:StringEquals": {"aws:TagKeys": [MANAGED, OF_JOB]}},
        ),
    )


def trust_rules(place: Place, rules: Sequence[str]) -> Document:
    """EventBridge acts in this role for exactly these rules of this account.

    Args:
        place: where the rules are.
        rules: their ARNs.
    """
    return trust(
        "events.amazonaws.com",
        {
            "StringEquals": {"aws:SourceAccount": place.account},
            "ArnEquals": {"aws:SourceArn": [*rules]},
        },
    )


def publish_events(topic_arn: str) -> Document:
    """Publish the events of jobs to one topic."""
    return document(allow("PublishEvents", ["sns:Publish"], [topic_arn]))


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
