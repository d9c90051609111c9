"""What people may do, by task; a person may have several.

    prepare_data   brings data, reads what jobs and rewards wrote, clears up after jobs
    run_jobs       starts and follows training jobs
    evaluate       asks rewards and base models, hosts and asks tuned models
    operate        rolls back and prunes, beside `evaluate`; deletes tuned models

Each reads the catalogue, by which everything else is found. Whoever runs `reward job` from its plan
to its end has the first three. What nobody could bring back is deleted with the fourth alone.
SageMaker's jobs have policies of their own, by `cdk.policies.sagemaker_people`.

Sources: "Access and security for custom model jobs" and "Access and security for reinforcement
fine-tuning" in the Bedrock user guide, the latter for open-weight models too; "Encryption of custom
models" and "Prerequisites for inference profiles" there; "Create and manage Bedrock jobs with Step
Functions" for those who start them; the Service Authorization Reference for the resources an action
knows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reward_functions.aws.catalogue import (
    DATA_PREFIX,
    JOB_DATA_PREFIX,
    OUTPUT_PREFIX,
    ROOT,
)
from reward_functions.cdk.policies.deferred import redrive
from reward_functions.cdk.policies.iam import (
    DECRYPT_MODEL,
    ENCRYPT_MODEL,
    JOBS,
    USE_DATA,
    allow,
    catalogue,
    document,
    generations_in,
    list_data,
    logs_of,
    only_versions,
    pass_role,
    read_catalogue,
    through,
)
from reward_functions.cdk.policies.permissions import read_folders
from reward_functions.cdk.policies.sagemaker import foundation_models
from reward_functions.cdk.policies.sagemaker_people import delete, follow, host_models

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reward_functions.aws.catalogue import ReadFolder
    from reward_functions.aws.names import Names
    from reward_functions.cdk.policies.iam import Document, Place

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


def prepare_data(
    place: Place,
    *,
    stage: str,
    bucket_arn: str,
    rewards: Sequence[str],
    key_arn: str = "",
    folders: Sequence[ReadFolder] = (),
) -> Document:
    """For people who bring data, read what jobs and rewards wrote, and clear up after jobs.

    An object that they delete can be had back until its version expires; versions they delete none.
    The logs of the rewards stand here, because `run_jobs` has no room for them in a large stage.

    Args:
        place: where the stage is.
        stage: whose catalogue they read.
        bucket_arn: where they put data and find output.
        rewards: whose logs they read, as `versions_of` and `generations_of` name them.
        key_arn: of the key that encrypts the bucket, where it has one of its own.
        folders: data outside of the bucket that they may read, as jobs may.
    """
    data, output = f"{bucket_arn}/{DATA_PREFIX}*", f"{bucket_arn}/{OUTPUT_PREFIX}*"
    return document(
        read_catalogue(place, stage),
        allow("PutData", ["s3:GetObject", "s3:PutObject", "s3:AbortMultipartUpload"], [data]),
        allow("ReadOutput", ["s3:GetObject"], [output]),
        list_data(bucket_arn),
        allow("ClearJobs", ["s3:DeleteObject"], [f"{bucket_arn}/{JOB_DATA_PREFIX}*", output]),
        *_use_key(place, "s3", USE_DATA, key_arn),
        *read_folders(place, folders),
        allow("ReadLogs", ["logs:FilterLogEvents"], logs_of(place, rewards)),
    )


def run_jobs(
    place: Place,
    *,
    stage: str,
    role_arn: str,
    rewards: Sequence[str],
    model_key: str = "",
    emulated: bool = False,
) -> Document:
    """For people who start, follow and stop training jobs, by Bedrock's API or OpenAI's.

    The OpenAI-compatible path takes no role: it acts, and invokes graders, with the rights of
    whoever asks. Its jobs and files belong to a project, which is all that IAM knows of them.
    Before a start they look whether the role could do the work, and whether a model's name is free.

    Args:
        place: where jobs run.
        stage: whose catalogue they read.
        role_arn: what Bedrock's jobs run as, which they may hand over.
        rewards: the graders, as `versions_of` and `generations_of` name them.
        model_key: ARN of a KMS key that may encrypt the models they make.
        emulated: for the local AWS emulator, which asks about a role as if it had no path, and
            about a simulation as if it had no role.
    """
    jobs, tuned = place.arn("bedrock", JOBS), place.arn("bedrock", CUSTOM_MODELS)
    seen = ["*"] if emulated else [role_arn]
    return document(
        read_catalogue(place, stage),
        pass_role("bedrock.amazonaws.com", role_arn),
        allow("SeeRole", ["iam:GetRole", "iam:SimulatePrincipalPolicy"], seen),
        allow(
            "CreateJob",
            ["bedrock:CreateModelCustomizationJob"],
            [foundation_models(place), tuned, jobs],
        ),
        allow(
            "FollowJob",
            [
                "bedrock:GetModelCustomizationJob",
                "bedrock:StopModelCustomizationJob",
                "bedrock:GetCustomModel",
                "bedrock:TagResource",
                "bedrock:ListTagsForResource",
            ],
            [jobs, tuned],
        ),
        # None of these knows a resource. A bearer token says who asks, and no more.
        allow(
            "SeeAccount",
            [
                "bedrock:ListModelCustomizationJobs",
                "bedrock-mantle:CallWithBearerToken",
                "lambda:GetAccountSettings",
            ],
            ["*"],
        ),
        allow("RunOpenAIJob", OPENAI_JOBS, [place.arn("bedrock-mantle", "project/*")]),
        allow(
            "AskRewards",
            [
                "lambda:InvokeFunction",
                "lambda:GetFunctionConfiguration",
                "lambda:GetFunctionConcurrency",
                "lambda:ListVersionsByFunction",
            ],
            rewards,
        ),
        *_use_key(place, "bedrock", ENCRYPT_MODEL, model_key),
    )


def evaluate(
    place: Place, *, stage: str, rewards: Sequence[str], model_key: str = "", import_role: str = ""
) -> Document:
    """For people who ask rewards and base models, and host and ask the model that a job made.

    A base model may answer through an inference profile alone, in whichever region that routes to.
    What hosts a model is deleted here, as it costs and can be made again; the model is not.

    Args:
        place: where rewards and models are.
        stage: whose catalogue they read.
        rewards: what they may ask, as `versions_of` and `generations_of` name it.
        model_key: ARN of a KMS key that may have encrypted the models they ask.
        import_role: ARN of what Bedrock reads a model of SageMaker's as; "" where there are none.
    """
    custom = place.arn("bedrock", CUSTOM_MODELS)
    hosted = place.arn("bedrock", "custom-model-deployment/*")
    profiles = place.arn("bedrock", "inference-profile/*")
    return document(
        read_catalogue(place, stage),
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
        allow(
            "HostModel",
            [
                "bedrock:GetCustomModel",
                "bedrock:CreateCustomModelDeployment",
                "bedrock:GetCustomModelDeployment",
                "bedrock:DeleteCustomModelDeployment",
                "bedrock:ListTagsForResource",
            ],
            [custom, hosted],
        ),
        allow("TagHosted", ["bedrock:TagResource"], [hosted]),
        # Listing knows no resource.
        allow(
            "ListModels",
            ["bedrock:ListCustomModels", "bedrock:ListCustomModelDeployments"],
            ["*"],
        ),
        allow("AskModel", ["bedrock:InvokeModel"], [foundation_models(place), hosted, profiles]),
        allow(
            "AskBehindProfile",
            ["bedrock:InvokeModel"],
            [foundation_models(place._replace(region="*"))],
            {"ArnLike": {"bedrock:InferenceProfileArn": profiles}},
        ),
        *(host_models(place, import_role) if import_role else []),
        *_use_key(place, "bedrock", DECRYPT_MODEL, model_key),
    )


def operate(
    place: Place,
    *,
    names: Names,
    function_arns: Sequence[str],
    rewards: Sequence[str],
    packages: bool = False,
    feedback: bool = False,
) -> Document:
    """For people who roll a stage back and prune it, beside what `evaluate` lets them see.

    They delete versions, and functions of immutable deployments; no function with its versions.
    They delete tuned models, whose ARNs show no stage: nobody could bring one back.

    Args:
        place: where functions and jobs are.
        names: of the stage whose catalogue they write.
        function_arns: those that have an alias, without qualifiers.
        rewards: all of the stage, as `versions_of` and `generations_of` name them.
        packages: whether models are kept by SageMaker, too.
        feedback: whether there is a path of deferred rewards, whose dead letters they send back.
    """
    return document(
        read_catalogue(place, names.stage),
        allow("WriteCatalogue", ["ssm:PutParameter"], [catalogue(place, names.stage)[1]]),
        *([allow("MoveAlias", ["lambda:UpdateAlias"], function_arns)] if function_arns else []),
        allow("DeleteVersion", ["lambda:DeleteFunction"], only_versions(rewards)),
        allow("DeleteGenerations", ["lambda:DeleteFunction"], [generations_in(place, names)]),
        allow(
            "DeleteModel",
            ["bedrock:GetCustomModel", "bedrock:DeleteCustomModel"],
            [place.arn("bedrock", CUSTOM_MODELS)],
        ),
        # A generation may be another stage's, whose name begins with the name of this one.
        allow("FindStages", ["ssm:GetParametersByPath"], [place.arn("ssm", f"parameter{ROOT}")]),
        allow("FollowJob", ["bedrock:GetModelCustomizationJob"], [place.arn("bedrock", JOBS)]),
        follow(place),
        *([delete(place)] if packages else []),
        *(redrive(place, names) if feedback else []),
        # None of these knows a resource.
        allow(
            "SeeAccount",
            [
                "bedrock:ListModelCustomizationJobs",
                "sagemaker:ListTrainingJobs",
                "sagemaker:ListJobs",
                "lambda:ListFunctions",
                "lambda:GetAccountSettings",
            ],
            ["*"],
        ),
    )


def _use_key(place: Place, service: str, actions: Sequence[str], key_arn: str) -> list[Document]:
    """Nothing where there is no key."""
    return [through(service, place, "UseKey", actions, key_arn)] if key_arn else []
