"""What people may do, by task; a person may have several.

    prepare_data   brings data, reads output
    run_jobs       starts and follows training jobs
    evaluate       asks rewards, hosts and asks tuned models
    operate        rolls back and prunes, beside `evaluate`

Each reads the catalogue, by which everything else is found.

Sources: "Access and security for custom model jobs" and "Access and security for reinforcement
fine-tuning" in the Bedrock user guide, the latter for open-weight models too; "Create and manage
Bedrock jobs with Step Functions" for those who start them; the Service Authorization Reference for
the resources an action knows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reward_functions.serving.catalogue import DATA_PREFIX, OUTPUT_PREFIX, ROOT
from reward_functions.serving.iam import (
    JOBS,
    allow,
    document,
    generations_in,
    invoke,
    list_data,
    only_versions,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reward_functions.serving.iam import Document, Place

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


def prepare_data(place: Place, *, stage: str, bucket_arn: str) -> Document:
    """For people who bring data and read what jobs wrote.

    Args:
        place: where the stage is.
        stage: whose catalogue they read.
        bucket_arn: where they put data and find output.
    """
    return document(
        _read_catalogue(place, stage),
        allow("PutData", ["s3:GetObject", "s3:PutObject"], [f"{bucket_arn}/{DATA_PREFIX}*"]),
        allow("ReadOutput", ["s3:GetObject"], [f"{bucket_arn}/{OUTPUT_PREFIX}*"]),
        list_data(bucket_arn),
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
    return document(
        _read_catalogue(place, stage),
        *[_pass_role(service, role_arn) for service, role_arn in role_arns.items()],
        allow("CreateJob", ["bedrock:CreateModelCustomizationJob"], [*models, jobs]),
        allow(
            "FollowJob",
            ["bedrock:GetModelCustomizationJob", "bedrock:StopModelCustomizationJob"],
            [jobs],
        ),
        allow("TagJob", ["bedrock:TagResource"], [jobs, models[1]]),
        # Listing knows no resource.
        allow("ListJobs", ["bedrock:ListModelCustomizationJobs"], ["*"]),
        allow("BearToken", ["bedrock-mantle:CallWithBearerToken"], ["*"]),
        allow("RunOpenAIJob", OPENAI_JOBS, [place.arn("bedrock-mantle", "project/*")]),
        invoke(rewards),
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
    return document(
        _read_catalogue(place, stage),
        allow(
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
        allow("ReadModel", ["bedrock:GetCustomModel"], [custom]),
        allow(
            "HostModel",
            [
                "bedrock:CreateCustomModelDeployment",
                "bedrock:GetCustomModelDeployment",
                "bedrock:DeleteCustomModelDeployment",
            ],
            [custom, hosted],
        ),
        allow("ListHosted", ["bedrock:ListCustomModelDeployments"], ["*"]),
        allow("AskModel", ["bedrock:InvokeModel"], [_foundation_models(place), hosted]),
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
    return document(
        _read_catalogue(place, stage),
        allow("WriteCatalogue", ["ssm:PutParameter"], [_catalogue(place, stage)[1]]),
        *([allow("MoveAlias", ["lambda:UpdateAlias"], function_arns)] if function_arns else []),
        allow("DeleteVersion", ["lambda:DeleteFunction"], only_versions(rewards)),
        allow("DeleteGenerations", ["lambda:DeleteFunction"], [generations_in(place, stage)]),
        # A generation may be another stage's, whose name begins with the name of this one.
        allow("FindStages", ["ssm:GetParametersByPath"], [place.arn("ssm", f"parameter{ROOT}")]),
        allow("FollowJob", ["bedrock:GetModelCustomizationJob"], [place.arn("bedrock", JOBS)]),
        allow(
            "FollowSageMakerJob",
            ["sagemaker:DescribeTrainingJob", "sagemaker:DescribeHubContent"],
            [place.arn("sagemaker", "training-job/*"), place.arn("sagemaker", "hub-content/*")],
        ),
        # None of these knows a resource.
        allow(
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


def _pass_role(service: str, role_arn: str) -> Document:
    return allow(
        f"PassRoleTo{service.partition('.')[0].capitalize()}",
        ["iam:PassRole"],
        [role_arn],
        {"StringEquals": {"iam:PassedToService": service}},
    )


def _foundation_models(place: Place) -> str:
    return f"arn:{place.partition}:bedrock:{place.region}::foundation-model/*"


def _catalogue(place: Place, stage: str) -> list[str]:
    path = place.arn("ssm", f"parameter{ROOT}/{stage}")
    return [path, f"{path}/*"]


def _read_catalogue(place: Place, stage: str) -> Document:
    actions = ("ssm:GetParameter", "ssm:GetParametersByPath")
    return allow("ReadCatalogue", actions, _catalogue(place, stage))
