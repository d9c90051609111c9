"""Who may do what, as IAM policy documents: plain data, for the deployment and for its readers.

Every function returns a whole document for one idea, with exactly the resources it was given. A
reward function is granted twice, by its plain ARN and by every version and alias of it: to IAM a
qualifier makes another resource, and a trainer may send either.

People are granted by task, and a person may have several: `prepare_data`, `run_jobs`, `evaluate`,
`operate`. Each reads the catalogue, by which everything else is found.

Sources: "Access and security for custom model jobs" and "Access and security for reinforcement
fine-tuning" in the Bedrock user guide, the latter for open-weight models too; "Create and manage
Bedrock jobs with Step Functions" for those who start them; the Service Authorization Reference for
the resources an action knows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from reward_functions.serving.catalogue import (
    DATA_PREFIX,
    GENERATION,
    OUTPUT_PREFIX,
    ROOT,
    function_name,
    stack_name,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from reward_functions.judge_runtime.config import JudgeConfig, JudgeModel

Document = dict[str, Any]
"""A policy document, as IAM's JSON has it."""

JOBS: Final = "model-customization-job/*"

CUSTOM_MODELS: Final = "custom-model/*"

OPENAI_JOBS: Final = tuple(
    f"bedrock-mantle:{operation}"
    for operation in (
        *("CreateFile", "GetFile", "ListFiles", "DeleteFile"),
        *("CreateFineTuningJob", "GetFineTuningJob", "ListFineTuningJobs", "CancelFineTuningJob"),
        *("CreateInference", "GetInference", "GetModel", "ListModels"),
        *("GetProject", "ListProjects"),
    )
)
"""Files, jobs and the models they made, as the OpenAI-compatible API has them on Bedrock."""


class Place(NamedTuple):
    """Where ARNs point: `Place("aws", "us-east-1", "123456789012")`."""

    partition: str
    region: str
    account: str

    def arn(self, service: str, resource: str) -> str:
        """Something of this account, in this region."""
        return f"arn:{self.partition}:{service}:{self.region}:{self.account}:{resource}"


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


def judge_roles(place: Place, stage: str, deployment: str = "") -> str:
    """The path of the roles that judges of a stage run as, or of one deployment's.

    Roles have no region: a stage of this name may stand in several.
    """
    path = f"{ROOT}/{stage}/{place.region}/"
    return f"{path}{deployment}/" if deployment else path


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


def train(rewards: Sequence[str], bucket_arn: str) -> Document:
    """What a training job does: read data, write its output, and ask for rewards.

    Args:
        rewards: what may be invoked, as `versions_of` and `generations_of` name it.
        bucket_arn: where data and output lie.
    """
    return _document(
        _invoke(rewards),
        _allow("ReadData", ["s3:GetObject"], [f"{bucket_arn}/{DATA_PREFIX}*"]),
        _allow("WriteOutput", ["s3:GetObject", "s3:PutObject"], [f"{bucket_arn}/{OUTPUT_PREFIX}*"]),
        _list(bucket_arn),
    )


def use_key(key_arn: str, place: Place) -> Document:
    """Read and write what a key of our own encrypts, through S3 alone."""
    actions = ("kms:Decrypt", "kms:GenerateDataKey")
    through = {"StringEquals": {"kms:ViaService": f"s3.{place.region}.amazonaws.com"}}
    return _document(_allow("UseKey", actions, [key_arn], through))


def prepare_data(place: Place, *, stage: str, bucket_arn: str) -> Document:
    """For people who bring data and read what jobs wrote.

    Args:
        place: where the stage is.
        stage: whose catalogue they read.
        bucket_arn: where they put data and find output.
    """
    return _document(
        _read_catalogue(place, stage),
        _allow("PutData", ["s3:GetObject", "s3:PutObject"], [f"{bucket_arn}/{DATA_PREFIX}*"]),
        _allow("ReadOutput", ["s3:GetObject"], [f"{bucket_arn}/{OUTPUT_PREFIX}*"]),
        _list(bucket_arn),
    )


def run_jobs(
    place: Place, *, stage: str, role_arns: Mapping[str, str], rewards: Sequence[str]
) -> Document:
    """For people who start, follow and stop training jobs, by Bedrock's API or OpenAI's.

    The OpenAI-compatible path takes no role: it acts, and invokes graders, with the rights of
    whoever asks. Its jobs and files belong to a project, which is all that IAM knows of them.

    Args:
        place: where jobs run.
        stage: whose catalogue they read.
        role_arns: the roles they may hand over, by the service that receives them.
        rewards: the graders, as `versions_of` and `generations_of` name them.
    """
    jobs = place.arn("bedrock", JOBS)
    models = [_foundation_models(place), place.arn("bedrock", CUSTOM_MODELS)]
    return _document(
        _read_catalogue(place, stage),
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
        _allow("BearToken", ["bedrock-mantle:CallWithBearerToken"], ["*"]),
        _allow("RunOpenAIJob", OPENAI_JOBS, [place.arn("bedrock-mantle", "project/*")]),
        _invoke(rewards),
    )


def evaluate(place: Place, *, stage: str, rewards: Sequence[str]) -> Document:
    """For people who ask rewards, and host and ask the model that a job made.

    Args:
        place: where rewards and models are.
        stage: whose catalogue they read.
        rewards: what they may ask, as `versions_of` and `generations_of` name it.
    """
    custom = place.arn("bedrock", CUSTOM_MODELS)
    hosted = place.arn("bedrock", "custom-model-deployment/*")
    return _document(
        _read_catalogue(place, stage),
        _allow(
            "AskRewards",
            [
                "lambda:InvokeFunction",
                "lambda:GetFunctionConfiguration",
                "lambda:ListVersionsByFunction",
                "lambda:GetAlias",
                "lambda:ListAliases",
            ],
            rewards,
        ),
        _allow("ReadModel", ["bedrock:GetCustomModel"], [custom]),
        _allow(
            "HostModel",
            [
                "bedrock:CreateCustomModelDeployment",
                "bedrock:GetCustomModelDeployment",
                "bedrock:DeleteCustomModelDeployment",
            ],
            [custom, hosted],
        ),
        _allow("ListHosted", ["bedrock:ListCustomModelDeployments"], ["*"]),
        _allow("AskModel", ["bedrock:InvokeModel"], [_foundation_models(place), hosted]),
    )


def operate(
    place: Place, *, stage: str, function_arns: Sequence[str], rewards: Sequence[str]
) -> Document:
    """For people who roll a stage back and prune it, beside what `evaluate` lets them see.

    They delete versions, and functions of immutable deployments; no function with its versions.

    Args:
        place: where functions and jobs are.
        stage: whose catalogue they write.
        function_arns: those that have an alias, without qualifiers.
        rewards: all of the stage, as `versions_of` and `generations_of` name them.
    """
    return _document(
        _read_catalogue(place, stage),
        _allow("WriteCatalogue", ["ssm:PutParameter"], [_catalogue(place, stage)[1]]),
        *([_allow("MoveAlias", ["lambda:UpdateAlias"], function_arns)] if function_arns else []),
        _allow("DeleteVersion", ["lambda:DeleteFunction"], _only_versions(rewards)),
        _allow("DeleteGenerations", ["lambda:DeleteFunction"], [_generations(place, stage)]),
        # A generation may be another stage's, whose name begins with the name of this one.
        _allow("FindStages", ["ssm:GetParametersByPath"], [place.arn("ssm", f"parameter{ROOT}")]),
        _allow("FollowJob", ["bedrock:GetModelCustomizationJob"], [place.arn("bedrock", JOBS)]),
        _allow(
            "FollowSageMakerJob",
            ["sagemaker:DescribeTrainingJob", "sagemaker:DescribeHubContent"],
            [place.arn("sagemaker", "training-job/*"), place.arn("sagemaker", "hub-content/*")],
        ),
        # None of these knows a resource.
        _allow(
            "SeeAccount",
            [
                "bedrock:ListModelCustomizationJobs",
                "sagemaker:ListTrainingJobs",
                "lambda:ListFunctions",
                "lambda:GetAccountSettings",
            ],
            ["*"],
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
    return _document(
        _allow("TryVersion", ["lambda:InvokeFunction"], _only_versions(rewards)),
        _allow("FindGenerations", ["lambda:ListFunctions"], ["*"]),
        _allow(
            "DeleteGenerations",
            ["lambda:DeleteFunction", "lambda:ListTags"],
            [_generations(place, stage)],
        ),
        _allow("FindRoles", ["iam:ListRoles"], ["*"]),
        _allow(
            "DeleteRoles",
            ["iam:ListRolePolicies", "iam:DeleteRolePolicy", "iam:DeleteRole"],
            judges,
        ),
        *(
            [
                _allow("ListVersions", ["s3:ListBucketVersions"], [bucket_arn]),
                _allow(
                    "EmptyBucket",
                    ["s3:DeleteObject", "s3:DeleteObjectVersion"],
                    [f"{bucket_arn}/*"],
                ),
            ]
            if bucket_arn
            else []
        ),
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


def _invoke(rewards: Sequence[str]) -> Document:
    return _allow("InvokeRewards", ["lambda:InvokeFunction"], rewards)


def _only_versions(rewards: Sequence[str]) -> list[str]:
    return [each for each in rewards if each.endswith("*")]


def _generations(place: Place, stage: str) -> str:
    """The functions of a stage's immutable deployments, also of those that left the stage."""
    return place.arn("lambda", f"function:{function_name(stage, '*')}{GENERATION}*")


def _foundation_models(place: Place) -> str:
    return f"arn:{place.partition}:bedrock:{place.region}::foundation-model/*"


def _catalogue(place: Place, stage: str) -> list[str]:
    path = place.arn("ssm", f"parameter{ROOT}/{stage}")
    return [path, f"{path}/*"]


def _read_catalogue(place: Place, stage: str) -> Document:
    actions = ("ssm:GetParameter", "ssm:GetParametersByPath")
    return _allow("ReadCatalogue", actions, _catalogue(place, stage))


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
