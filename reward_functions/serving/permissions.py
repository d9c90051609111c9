"""Who may do what, as IAM policy documents: plain data, for the deployment and for its readers.

Every function returns a whole document for one idea, with exactly the resources it was given. A
reward function is granted twice, by its alias and by its plain ARN: to IAM they are two resources,
and a trainer may send either.

Sources: "Access and security for custom model jobs" and "Access and security for reinforcement
fine-tuning" in the Bedrock user guide; "Create and manage Bedrock jobs with Step Functions" for
those who start them; the Service Authorization Reference for the resources an action knows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from reward_functions.serving.catalogue import ALIAS, DATA_PREFIX, OUTPUT_PREFIX, ROOT

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from reward_functions.judge_runtime.config import JudgeConfig, JudgeModel

Document = dict[str, Any]
"""A policy document, as IAM's JSON has it."""

JOBS: Final = "model-customization-job/*"


class Place(NamedTuple):
    """Where ARNs point: `Place("aws", "us-east-1", "123456789012")`."""

    partition: str
    region: str
    account: str

    def arn(self, service: str, resource: str) -> str:
        """Something of this account, in this region."""
        return f"arn:{self.partition}:{service}:{self.region}:{self.account}:{resource}"


def trust_lambda() -> Document:
    """Lambda runs functions in this role."""
    return _trust("lambda.amazonaws.com")


def trust_bedrock(place: Place) -> Document:
    """Bedrock runs this account's customization jobs in this role, and nobody else's.

    Without the conditions, another account's job could name the role (the confused deputy).
    """
    return _trust(
        "bedrock.amazonaws.com",
        {
            "StringEquals": {"aws:SourceAccount": place.account},
            "ArnLike": {"aws:SourceArn": place.arn("bedrock", JOBS)},
        },
    )


def trust_sagemaker(place: Place) -> Document:
    """SageMaker runs this account's training jobs in this role."""
    return _trust("sagemaker.amazonaws.com", {"StringEquals": {"aws:SourceAccount": place.account}})


def write_logs(log_group_arn: str) -> Document:
    """What a verifier may do at all: write to its own log group."""
    actions = ("logs:CreateLogStream", "logs:PutLogEvents")
    return _document(_allow("WriteLogs", actions, [f"{log_group_arn}:*"]))


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
    return _document(
        *([_allow("AskModels", actions, _distinct(asked))] if asked else []),
        *([_allow("AskProfiles", actions, [*behind])] if behind else []),
        *[
            _allow(
                f"AskBehindProfile{number}",
                actions,
                _distinct(arns),
                {"StringEquals": {"bedrock:InferenceProfileArn": profile}},
            )
            for number, (profile, arns) in enumerate(behind.items(), 1)
        ],
        *([_allow("ReadKeys", ["secretsmanager:GetSecretValue"], _distinct(keys))] if keys else []),
        *(
            [_allow("RememberVerdicts", ["dynamodb:GetItem", "dynamodb:PutItem"], tables)]
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


def invoke(function_arns: Iterable[str]) -> Document:
    """Invoke these reward functions, each by its plain ARN and by its alias.

    Args:
        function_arns: without qualifiers.
    """
    return _document(_invoke(function_arns))


def train(function_arns: Iterable[str], bucket_arn: str) -> Document:
    """What a training job does: read data, write its output, and ask for rewards."""
    return _document(
        _invoke(function_arns),
        _allow("ReadData", ["s3:GetObject"], [f"{bucket_arn}/{DATA_PREFIX}*"]),
        _allow("WriteOutput", ["s3:GetObject", "s3:PutObject"], [f"{bucket_arn}/{OUTPUT_PREFIX}*"]),
        _list(bucket_arn),
    )


def use_key(key_arn: str, place: Place) -> Document:
    """Read and write what a key of our own encrypts, through S3 alone."""
    actions = ("kms:Decrypt", "kms:GenerateDataKey")
    through = {"StringEquals": {"kms:ViaService": f"s3.{place.region}.amazonaws.com"}}
    return _document(_allow("UseKey", actions, [key_arn], through))


def submit_jobs(
    place: Place,
    *,
    stage: str,
    role_arns: Mapping[str, str],
    function_arns: Iterable[str],
    bucket_arn: str,
) -> Document:
    """What people who start training jobs need, and no more.

    Args:
        place: where jobs run.
        stage: whose catalogue they read.
        role_arns: the roles they may hand over, by the service that receives them.
        function_arns: the graders, which the OpenAI-compatible path invokes as whoever asks.
        bucket_arn: where they put data and find output.
    """
    jobs = place.arn("bedrock", JOBS)
    models = [
        f"arn:{place.partition}:bedrock:{place.region}::foundation-model/*",
        place.arn("bedrock", "custom-model/*"),
    ]
    return _document(
        *[_pass_role(service, role_arn) for service, role_arn in role_arns.items()],
        _allow("CreateJob", ["bedrock:CreateModelCustomizationJob"], [*models, jobs]),
        _allow(
            "FollowJob",
            ["bedrock:GetModelCustomizationJob", "bedrock:StopModelCustomizationJob"],
            [jobs],
        ),
        _allow("TagJob", ["bedrock:TagResource"], [jobs, models[1]]),
        # Listing knows no resource.
        _allow("ListJobs", ["bedrock:ListModelCustomizationJobs"], ["*"]),
        _invoke(function_arns),
        _allow(
            "ReadCatalogue",
            ["ssm:GetParameter", "ssm:GetParametersByPath"],
            [
                place.arn("ssm", f"parameter{ROOT}/{stage}"),
                place.arn("ssm", f"parameter{ROOT}/{stage}/*"),
            ],
        ),
        _allow("PutData", ["s3:GetObject", "s3:PutObject"], [f"{bucket_arn}/{DATA_PREFIX}*"]),
        _allow("ReadOutput", ["s3:GetObject"], [f"{bucket_arn}/{OUTPUT_PREFIX}*"]),
        _list(bucket_arn),
    )


def _pass_role(service: str, role_arn: str) -> Document:
    return _allow(
        f"PassRoleTo{service.partition('.')[0].capitalize()}",
        ["iam:PassRole"],
        [role_arn],
        {"StringEquals": {"iam:PassedToService": service}},
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


def _invoke(function_arns: Iterable[str]) -> Document:
    arns = [arn for plain in function_arns for arn in (plain, f"{plain}:{ALIAS}")]
    return _allow("InvokeRewards", ["lambda:InvokeFunction"], arns)


def _list(bucket_arn: str) -> Document:
    prefixes = {"StringLike": {"s3:prefix": [f"{DATA_PREFIX}*", f"{OUTPUT_PREFIX}*"]}}
    return _allow("ListData", ["s3:ListBucket"], [bucket_arn], prefixes)


def _trust(service: str, condition: Mapping[str, Any] | None = None) -> Document:
    statement = {
        "Effect": "Allow",
        "Principal": {"Service": service},
        "Action": "sts:AssumeRole",
    }
    return _document(statement | ({"Condition": dict(condition)} if condition else {}))


def _allow(
    sid: str,
    actions: Sequence[str],
    resources: Sequence[str],
    condition: Mapping[str, Any] | None = None,
) -> Document:
    statement = {"Sid": sid, "Effect": "Allow", "Action": [*actions], "Resource": [*resources]}
    return statement | ({"Condition": dict(condition)} if condition else {})


def _document(*statements: Document) -> Document:
    return {"Version": "2012-10-17", "Statement": [*statements]}
