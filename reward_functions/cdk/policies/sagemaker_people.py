"""What people may do with SageMaker's jobs, beside the tasks of `cdk.policies.people`.

    run_customization    starts and follows jobs of serverless customization, registers evaluators
    run_multi_turn       starts and follows multi-turn jobs, and tries their agents
    host_models          statements of `evaluate`: what such a job made, imported into Bedrock
    follow, delete       statements of `operate`

The first two are policies of their own, in the stages that have such jobs: with them the policy for
Bedrock's jobs would be longer than IAM takes.

Sources: those of `cdk.policies.sagemaker`; of the pages named there, what the caller needs. The buckets of
recipes are named `jumpstart…` in them, such as `jumpstart-cache-prod-REGION`; recipes behind an access
point of AWS's, those of some subscriptions, are not granted.
"""  # noqa: E501

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reward_functions.cdk.policies.iam import allow, document, pass_role, read_catalogue, through
from reward_functions.cdk.policies.sagemaker import (
    IMPORT_JOBS,
    MULTI_TURN_JOBS,
    MULTI_TURN_LOGS,
    TRAINING_JOBS,
    TRAINING_LOGS,
    ask_agents,
    job_logs,
    mlflow_apps,
    packages,
    public_hub,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reward_functions.cdk.policies.iam import Document, Place


LIST_PACKAGES: Final = "sagemaker:ListModelPackages"
"""A list, which knows no resource by the developer guide and packages by IAM's reference: granted
as the wider of the two."""


def run_customization(
    place: Place, *, stage: str, role_arn: str, emulated: bool = False
) -> Document:
    """For people who start, follow and stop jobs of serverless customization.

    Args:
        place: where jobs run.
        stage: whose catalogue they read.
        role_arn: what the jobs run as.
        emulated: for the local AWS emulator, which asks about a simulation as if it had no role.
    """
    evaluators = place.arn("sagemaker", "hub-content/*/JsonDoc/*")
    return document(
        *run_training(place, stage=stage, role_arn=role_arn, emulated=emulated),
        allow(
            "RegisterEvaluators",
            [
                "sagemaker:CreateHub",
                "sagemaker:DescribeHub",
                "sagemaker:ImportHubContent",
                "sagemaker:DescribeHubContent",
                "sagemaker:ListHubContents",
                "sagemaker:ListHubContentVersions",
            ],
            [place.arn("sagemaker", "hub/*"), evaluators],
        ),
        read_public_hub(place),
        read_recipes(place),
        _keep_groups(place),
        read_figures(place),
        allow(
            "SeeAccount",
            ["sagemaker:ListTrainingJobs", "sagemaker:ListMlflowApps", LIST_PACKAGES],
            ["*"],
        ),
        follow_logs(place, TRAINING_LOGS),
    )


def run_training(place: Place, *, stage: str, role_arn: str, emulated: bool) -> list[Document]:
    """The statements of who starts, follows and stops training jobs, serverless or on instances."""
    return [
        read_catalogue(place, stage),
        pass_role("sagemaker.amazonaws.com", role_arn),
        see_role(role_arn, emulated=emulated),
        allow(
            "RunTraining",
            [
                "sagemaker:CreateTrainingJob",
                "sagemaker:DescribeTrainingJob",
                "sagemaker:StopTrainingJob",
                "sagemaker:AddTags",
                "sagemaker:ListTags",
            ],
            [place.arn("sagemaker", TRAINING_JOBS)],
        ),
    ]


def run_multi_turn(
    place: Place,
    *,
    stage: str,
    role_arn: str,
    agents: Sequence[str],
    model_key: str = "",
    emulated: bool = False,
) -> Document:
    """For people who start, follow, stop and delete multi-turn jobs, and try their agents before.

    Args:
        place: where jobs run.
        stage: whose catalogue they read.
        role_arn: what the jobs run as.
        agents: the ARNs of those that they may try.
        model_key: ARN of the KMS key that may encrypt what jobs make; "" for AWS's own.
        emulated: for the local AWS emulator, which asks about a simulation as if it had no role.
    """
    keys = ["kms:CreateGrant", "kms:DescribeKey"]
    return document(
        read_catalogue(place, stage),
        pass_role("job.sagemaker.amazonaws.com", role_arn),
        see_role(role_arn, emulated=emulated),
        allow(
            "RunMultiTurn",
            [
                "sagemaker:CreateJob",
                "sagemaker:DescribeJob",
                "sagemaker:StopJob",
                "sagemaker:DeleteJob",
                "sagemaker:AddTags",
                "sagemaker:ListTags",
            ],
            [place.arn("sagemaker", MULTI_TURN_JOBS)],
        ),
        *ask_agents(
            agents,
            [
                "lambda:InvokeFunction",
                "lambda:GetFunctionConfiguration",
                "lambda:GetFunctionConcurrency",
            ],
            ["bedrock-agentcore:InvokeAgentRuntime", "bedrock-agentcore:GetAgentRuntime"],
        ),
        read_public_hub(place),
        _keep_groups(place),
        read_figures(place),
        allow(
            "SeeAccount",
            [
                "sagemaker:ListJobs",
                "sagemaker:ListJobSchemaVersions",
                "sagemaker:DescribeJobSchemaVersion",
                "sagemaker:ListMlflowApps",
                LIST_PACKAGES,
                "lambda:GetAccountSettings",
            ],
            ["*"],
        ),
        follow_logs(place, MULTI_TURN_LOGS),
        *([through("sagemaker", place, "UseModelKey", keys, model_key)] if model_key else []),
    )


def host_models(place: Place, import_role: str) -> list[Document]:
    """What `evaluate` may beside: bring to Bedrock what a job of SageMaker's made, and ask it.

    Args:
        place: where models are hosted.
        import_role: ARN of what Bedrock reads the model as.
    """
    imported = place.arn("bedrock", "imported-model/*")
    importing = place.arn("bedrock", IMPORT_JOBS)
    return [
        pass_role("bedrock.amazonaws.com", import_role),
        # None of these knows a resource; what they read is what the role may.
        allow(
            "ImportModel",
            [
                "bedrock:CreateModelImportJob",
                "bedrock:CreateCustomModel",
                "bedrock:ListModelImportJobs",
                "bedrock:ListImportedModels",
            ],
            ["*"],
        ),
        allow(
            "HostImported",
            [
                "bedrock:GetModelImportJob",
                "bedrock:GetImportedModel",
                "bedrock:DeleteImportedModel",
                "bedrock:InvokeModel",
                "bedrock:TagResource",
                "bedrock:ListTagsForResource",
            ],
            [imported, importing],
        ),
        allow("ReadPackages", ["sagemaker:DescribeModelPackage"], packages(place)[1:]),
        allow("ListPackages", [LIST_PACKAGES], ["*"]),
    ]


def follow(place: Place) -> Document:
    """See which jobs run, and the evaluators that they name."""
    return allow(
        "FollowSageMakerJob",
        [
            "sagemaker:DescribeTrainingJob",
            "sagemaker:DescribeHubContent",
            "sagemaker:DescribeJob",
        ],
        [
            place.arn("sagemaker", each)
            for each in (TRAINING_JOBS, "hub-content/*", MULTI_TURN_JOBS)
        ],
    )


def delete(place: Place) -> Document:
    """Delete what a job made; nobody could bring it back."""
    actions = ["sagemaker:DescribeModelPackage", "sagemaker:DeleteModelPackage"]
    return allow("DeletePackage", actions, packages(place)[1:])


def see_role(role_arn: str, *, emulated: bool) -> Document:
    """Look whether a role could do the work; the emulator asks about a simulation without it."""
    actions = ["iam:GetRole", "iam:SimulatePrincipalPolicy"]
    return allow("SeeRole", actions, ["*"] if emulated else [role_arn])


def read_recipes(place: Place) -> Document:
    """Read SageMaker's recipes."""
    return allow("ReadRecipes", ["s3:GetObject"], [f"arn:{place.partition}:s3:::jumpstart*"])


def read_public_hub(place: Place) -> Document:
    """Find SageMaker's models, and the recipes that each has."""
    actions = [
        "sagemaker:DescribeHubContent",
        "sagemaker:ListHubContents",
        "sagemaker:ListHubContentVersions",
    ]
    return allow("ReadPublicHub", actions, public_hub(place))


def _keep_groups(place: Place) -> Document:
    """Groups of packages are made before a job that fills them."""
    return allow(
        "KeepGroups",
        [
            "sagemaker:CreateModelPackageGroup",
            "sagemaker:DescribeModelPackageGroup",
            "sagemaker:DescribeModelPackage",
            "sagemaker:AddTags",
        ],
        packages(place),
    )


def read_figures(place: Place) -> Document:
    """MLflow's figures, by its API or by an address that is signed for somebody."""
    return allow(
        "ReadFigures",
        [
            "sagemaker:DescribeMlflowApp",
            "sagemaker:CallMlflowAppApi",
            "sagemaker:CreatePresignedMlflowAppUrl",
            "sagemaker-mlflow:AccessUI",
            "sagemaker-mlflow:GetRun",
            "sagemaker-mlflow:GetMetricHistory",
            "sagemaker-mlflow:GetExperiment",
            "sagemaker-mlflow:SearchRuns",
        ],
        mlflow_apps(place),
    )


def follow_logs(place: Place, group: str) -> Document:
    """Read a log group of SageMaker's jobs, named below `/aws/sagemaker/`."""
    actions = ["logs:DescribeLogStreams", "logs:FilterLogEvents", "logs:GetLogEvents"]
    return allow("FollowLogs", actions, job_logs(place, group))
