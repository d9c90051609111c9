"""The rights of people, by task; a person may have several.

    prepare_data         brings data, reads what jobs and rewards wrote, clears up after jobs
    run_jobs             starts and follows training jobs
    evaluate             asks rewards and base models, hosts and asks tuned models
    operate              rolls back and prunes, beside `evaluate`; deletes tuned models
    run_customization    starts and follows jobs of serverless customization, registers evaluators
    run_multi_turn       starts and follows multi-turn jobs, and tries their agents
    run_training_jobs    starts, follows and stops training jobs on instances
    score                scores files with the stage's state machine
    submit_to_hyperpod   submits to a cluster, as far as IAM decides it

Each reads the catalogue, by which everything else is found. To run `reward job` from its plan to
its end, you need the first three. Only the fourth deletes things that nobody could bring back. The
others are in stages that have such jobs: with them the policy for Bedrock's jobs would be longer
than IAM takes. The cluster's own access entries decide who may submit to which namespace of a
cluster; IAM does not see them.

Sources: Sources: "Access and security for custom model jobs" and "Access and security for
    reinforcement fine-tuning" in the Bedrock user guide, the latter for open-weight models too.
    Further there: "Encryption of custom models" and "Prerequisites for inference profiles". For
    starters of jobs: "Create and manage Bedrock jobs with Step Functions". For resources of an
    action: the Service Authorization Reference; for the caller: the pages of
    `cdk.policies.sagemaker`. The buckets of recipes are named `jumpstart…` in them, such as
    `jumpstart-cache-prod-REGION`. Recipes that AWS serves through an access point, those of some
    subscriptions, are not granted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reward_functions.aws.catalogue import (
    DATA_PREFIX,
    JOB_DATA_PREFIX,
    OUTPUT_PREFIX,
    ROOT,
)
from reward_functions.cdk.policies.deferred import FEEDBACK, redrive
from reward_functions.cdk.policies.documents import (
    AGENTS,
    BEDROCK,
    IMPORT,
    SAGEMAKER,
    TRAINING,
    has_packages,
)
from reward_functions.cdk.policies.grants import agents, aliased, rewards
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
from reward_functions.cdk.policies.sagemaker import (
    CUSTOM_MODELS,
    IMPORT_JOBS,
    MULTI_TURN_JOBS,
    MULTI_TURN_LOGS,
    TRAINING_JOBS,
    TRAINING_LOGS,
    ask_agents,
    foundation_models,
    job_logs,
    mlflow_apps,
    packages,
    public_hub,
)
from reward_functions.cdk.policies.scale import score

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from reward_functions.cdk.model.stages import Stage
    from reward_functions.cdk.policies.grants import Made
    from reward_functions.cdk.policies.iam import Document, Place

CLUSTER_LOGS: Final = "Clusters/*"
"""Log groups below `/aws/sagemaker/`; a cluster's is `Clusters/NAME/ID`."""

CLUSTERS: Final = "cluster/*"

LIST_PACKAGES: Final = "sagemaker:ListModelPackages"
"""A list, which knows no resource by the developer guide and packages by IAM's reference: granted
as the wider of the two."""

SEE_ALARMS: Final = (
    *("cloudwatch:DescribeAlarms", "cloudwatch:GetDashboard", "cloudwatch:GetMetricData"),
    "logs:DescribeQueryDefinitions",
)
"""See alarms, dashboards with their figures, and saved queries, of all stages of an account: alarms
are listed, and ARNs would leave no room for as many deployments as `run_jobs` has."""

READ_LOGS: Final = ("logs:FilterLogEvents", "logs:StartQuery", "logs:GetQueryResults")
"""Search a log, and query it."""

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


def of_people(
    place: Place, stage: Stage, made: Made, role_arns: Mapping[str, str]
) -> dict[str, Document]:
    """The rights of people, by task; the tasks of SageMaker's jobs where the stage has such jobs.

    Args:
        place: where the stage is.
        stage: what it grants.
        made: its bucket, and that bucket's key.
        role_arns: of the stage's roles, by their kinds.
    """
    documents = {
        "data": prepare_data(place, stage, made),
        "jobs": run_jobs(place, stage, role_arns[BEDROCK]),
        "evaluate": evaluate(place, stage, role_arns.get(IMPORT, "")),
        "operate": operate(place, stage),
    }
    for kind, run in (
        (SAGEMAKER, run_customization),
        (AGENTS, run_multi_turn),
        (TRAINING, run_training_jobs),
    ):
        if kind in role_arns:
            documents[kind] = run(place, stage, role_arns[kind])
    if stage.scale is not None:
        documents["score"] = score(place, stage, made)
    if stage.hyperpod:
        documents["hyperpod"] = submit_to_hyperpod(place, stage)
    return documents


def prepare_data(place: Place, stage: Stage, made: Made) -> Document:
    """For people who bring data, read what jobs and rewards wrote, and clear up after jobs.

    An object that they delete can be had back until its version expires; versions they delete none.
    The logs of the rewards stand here, because neither `run_jobs` nor `operate` has room for them
    in a large stage.
    """
    bucket = made.bucket_arn
    data, output = f"{bucket}/{DATA_PREFIX}*", f"{bucket}/{OUTPUT_PREFIX}*"
    logs = logs_of(place, [*rewards(place, stage.names, stage.deployments), *_others(place, stage)])
    return document(
        read_catalogue(place, stage.name),
        allow("PutData", ["s3:GetObject", "s3:PutObject", "s3:AbortMultipartUpload"], [data]),
        allow("ReadOutput", ["s3:GetObject"], [output]),
        list_data(bucket),
        allow("ClearJobs", ["s3:DeleteObject"], [f"{bucket}/{JOB_DATA_PREFIX}*", output]),
        through("s3", place, "UseKey", USE_DATA, made.key_arn),
        *read_folders(place, stage.read_buckets),
        allow("ReadLogs", READ_LOGS, logs),
    )


def _others(place: Place, stage: Stage) -> Iterator[str]:
    """The functions of a stage that serve no reward, whose logs a runbook reads."""
    names = stage.names
    yield from (each.function_arn(place, names) for each in stage.forwarders)
    if stage.feedback is not None:
        yield place.arn("lambda", f"function:{names.rollouts(FEEDBACK)}")
    if stage.scale is not None:
        yield place.arn("lambda", f"function:{names.scale}")


def run_jobs(place: Place, stage: Stage, role_arn: str) -> Document:
    """For people who start, follow and stop training jobs, by Bedrock's API or OpenAI's.

    The OpenAI-compatible path takes no role: it acts, and invokes graders, with the caller's
    rights. Its jobs and files belong to a project, which is all that IAM knows of them. Before a
    start they look whether the role could do the work, and whether a model's name is free.
    """
    jobs, tuned = place.arn("bedrock", JOBS), place.arn("bedrock", CUSTOM_MODELS)
    return document(
        read_catalogue(place, stage.name),
        pass_role("bedrock.amazonaws.com", role_arn),
        _see_role(stage, role_arn),
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
            rewards(place, stage.names, stage.deployments),
        ),
        through("bedrock", place, "UseKey", ENCRYPT_MODEL, stage.job_rights.model_key or ""),
    )


def evaluate(place: Place, stage: Stage, import_role: str = "") -> Document:
    """For people who ask rewards and base models, and host and ask the model that a job made.

    A base model may answer through an inference profile alone, in whichever region that routes to.
    The host of a model is deleted here, as it costs and can be made again; the model is not.

    Args:
        place: where rewards and models are.
        stage: what it grants.
        import_role: ARN of what Bedrock reads a model of SageMaker's as; "" without any.
    """
    custom = place.arn("bedrock", CUSTOM_MODELS)
    hosted = place.arn("bedrock", "custom-model-deployment/*")
    profiles = place.arn("bedrock", "inference-profile/*")
    return document(
        read_catalogue(place, stage.name),
        allow(
            "AskRewards",
            [
                "lambda:InvokeFunction",
                "lambda:GetFunctionConfiguration",
                "lambda:ListVersionsByFunction",
                "lambda:GetAlias",
                "lambda:ListAliases",
            ],
            rewards(place, stage.names, stage.deployments),
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
        *(_host_imported(place, import_role) if import_role else []),
        through("bedrock", place, "UseKey", DECRYPT_MODEL, stage.job_rights.model_key or ""),
    )


def _host_imported(place: Place, import_role: str) -> list[Document]:
    """Bring to Bedrock what a job of SageMaker's made, and ask it."""
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


def operate(place: Place, stage: Stage) -> Document:
    """For people who roll a stage back and prune it, beside what `evaluate` lets them see.

    They delete versions, and functions of immutable deployments; no function with its versions.
    They delete tuned models, whose ARNs show no stage: nobody could bring one back. They see
    alarms and the dashboard; `prepare_data` runs the queries of a runbook.
    """
    names = stage.names
    granted = rewards(place, names, stage.deployments)
    kept_by_sagemaker = packages(place)[1:] if has_packages(stage) else []
    return document(
        read_catalogue(place, stage.name),
        allow("WriteCatalogue", ["ssm:PutParameter"], [catalogue(place, stage.name)[1]]),
        allow("MoveAlias", ["lambda:UpdateAlias"], aliased(place, names, stage.deployments)),
        allow("DeleteVersion", ["lambda:DeleteFunction"], only_versions(granted)),
        allow("DeleteGenerations", ["lambda:DeleteFunction"], [generations_in(place, names)]),
        allow(
            "DeleteModel",
            ["bedrock:GetCustomModel", "bedrock:DeleteCustomModel"],
            [place.arn("bedrock", CUSTOM_MODELS)],
        ),
        # A generation may be another stage's, whose name begins with the name of this one.
        allow("FindStages", ["ssm:GetParametersByPath"], [place.arn("ssm", f"parameter{ROOT}")]),
        allow("FollowJob", ["bedrock:GetModelCustomizationJob"], [place.arn("bedrock", JOBS)]),
        allow(
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
        ),
        allow(
            "DeletePackage",
            ["sagemaker:DescribeModelPackage", "sagemaker:DeleteModelPackage"],
            kept_by_sagemaker,
        ),
        *(redrive(place, names) if stage.feedback is not None else []),
        # None of these knows a resource, but alarms and dashboards: see there.
        allow(
            "SeeAccount",
            [
                "bedrock:ListModelCustomizationJobs",
                "sagemaker:ListTrainingJobs",
                "sagemaker:ListJobs",
                "lambda:ListFunctions",
                "lambda:GetAccountSettings",
                *SEE_ALARMS,
            ],
            ["*"],
        ),
    )


def run_customization(place: Place, stage: Stage, role_arn: str) -> Document:
    """For people who start, follow and stop jobs of serverless customization."""
    evaluators = place.arn("sagemaker", "hub-content/*/JsonDoc/*")
    return document(
        *_run_training(place, stage, role_arn),
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
        _read_public_hub(place),
        _read_recipes(place),
        _keep_groups(place),
        _read_figures(place),
        allow(
            "SeeAccount",
            ["sagemaker:ListTrainingJobs", "sagemaker:ListMlflowApps", LIST_PACKAGES],
            ["*"],
        ),
        _follow_logs(place, TRAINING_LOGS),
    )


def run_multi_turn(place: Place, stage: Stage, role_arn: str) -> Document:
    """For people who start, follow, stop and delete multi-turn jobs, and try their agents."""
    keys = ["kms:CreateGrant", "kms:DescribeKey"]
    return document(
        read_catalogue(place, stage.name),
        pass_role("job.sagemaker.amazonaws.com", role_arn),
        _see_role(stage, role_arn),
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
            agents(place, stage),
            [
                "lambda:InvokeFunction",
                "lambda:GetFunctionConfiguration",
                "lambda:GetFunctionConcurrency",
            ],
            ["bedrock-agentcore:InvokeAgentRuntime", "bedrock-agentcore:GetAgentRuntime"],
        ),
        _read_public_hub(place),
        _keep_groups(place),
        _read_figures(place),
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
        _follow_logs(place, MULTI_TURN_LOGS),
        through("sagemaker", place, "UseModelKey", keys, stage.job_rights.model_key or ""),
    )


def run_training_jobs(place: Place, stage: Stage, role_arn: str) -> Document:
    """For people who start, follow and stop training jobs on instances."""
    return document(
        *_run_training(place, stage, role_arn),
        _read_public_hub(place),
        _read_recipes(place),
        _read_figures(place),
        allow("SeeAccount", ["sagemaker:ListTrainingJobs", "sagemaker:ListMlflowApps"], ["*"]),
        _follow_logs(place, TRAINING_LOGS),
    )


def submit_to_hyperpod(place: Place, stage: Stage) -> Document:
    """For people who connect to a cluster, and follow what they submitted there."""
    return document(
        read_catalogue(place, stage.name),
        allow(
            "SeeClusters",
            ["sagemaker:DescribeCluster", "eks:DescribeCluster", "eks:ListAddons"],
            [place.arn("sagemaker", CLUSTERS), place.arn("eks", CLUSTERS)],
        ),
        allow("SeeAccount", ["sagemaker:ListClusters", "sagemaker:ListMlflowApps"], ["*"]),
        _read_public_hub(place),
        _read_recipes(place),
        _read_figures(place),
        _follow_logs(place, CLUSTER_LOGS),
    )


def _run_training(place: Place, stage: Stage, role_arn: str) -> list[Document]:
    """The statements of who starts, follows and stops training jobs, serverless or on instances."""
    return [
        read_catalogue(place, stage.name),
        pass_role("sagemaker.amazonaws.com", role_arn),
        _see_role(stage, role_arn),
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


def _see_role(stage: Stage, role_arn: str) -> Document:
    """Look whether a role could do the work.

    The local AWS emulator asks about a role as if it had no path, and about a simulation without
    it.
    """
    actions = ["iam:GetRole", "iam:SimulatePrincipalPolicy"]
    return allow("SeeRole", actions, ["*"] if stage.emulated else [role_arn])


def _read_recipes(place: Place) -> Document:
    """Read SageMaker's recipes."""
    return allow("ReadRecipes", ["s3:GetObject"], [f"arn:{place.partition}:s3:::jumpstart*"])


def _read_public_hub(place: Place) -> Document:
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


def _read_figures(place: Place) -> Document:
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


def _follow_logs(place: Place, group: str) -> Document:
    """Read a log group of SageMaker's jobs, named below `/aws/sagemaker/`."""
    actions = ["logs:DescribeLogStreams", "logs:FilterLogEvents", "logs:GetLogEvents"]
    return allow("FollowLogs", actions, job_logs(place, group))
