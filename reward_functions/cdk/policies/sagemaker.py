"""The rights of SageMaker's jobs, and of what acts beside them.

    customize            a job of serverless customization, beside its data and its rewards
    roll_out             a multi-turn job: data, the agents that it asks, what it keeps
    run_agent            an agent, while a job asks it: attached to the role that the agent runs as
    run_container        a training job on instances, such as Nova's recipes
    train_on_hyperpod    a cluster's jobs: attached to the role of its nodes or of its pods
    import_model         Bedrock, where it takes over what one of these jobs made

A cluster exists before the stage, and so does the role it runs as: what it lacks is a policy.
`cdk.policies.people` has people.

Sources, all of AWS's documentation: For agents and their jobs "Prerequisites" of multi-turn
reinforcement learning, `AmazonSageMakerJobFullAccess` and `AmazonSageMakerJobRuntimeAccess`. For
serverless jobs the execution role of "Open weight model customization" and
`AmazonSageMakerModelCustomizationCoreAccess`. For Bedrock "Create a service role for importing
pre-trained models". For training jobs "CreateTrainingJob API: execution role permissions". For
clusters "AWS Identity and Access Management for SageMaker HyperPod", the EKS policies for
scientists among it. For the invocation "Custom reward functions in your AWS environment". For the
place of Nova's weights "Setting up IAM" of the Nova Forge SDK, and its `customer-escrow-ACCOUNT…`.
The containers of Nova's recipes are in repositories called `nova-…` of accounts of AWS's. Inferred:
that an import is asked for `AccessModelPackage`; the namespace of the metrics that a training job
puts. Not granted: sessions on a cluster's nodes, changes of a cluster, keys of volumes, recipes
that AWS serves through an access point, weights in the escrow to the job itself. None of it has
been used on AWS.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from reward_functions.aws.catalogue import OUTPUT_PREFIX
from reward_functions.cdk.policies import vpc
from reward_functions.cdk.policies.deferred import put_results
from reward_functions.cdk.policies.grants import rewards
from reward_functions.cdk.policies.iam import (
    USE_DATA,
    allow,
    document,
    invoke,
    through,
    use_bucket,
    versions_of,
)
from reward_functions.cdk.policies.permissions import read_folders

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from reward_functions.aws.catalogue import JobVpc
    from reward_functions.cdk.model.stages import Stage
    from reward_functions.cdk.policies.grants import Made
    from reward_functions.cdk.policies.iam import Document, Place

TRAINING_JOBS: Final = "training-job/*"
MULTI_TURN_JOBS: Final = "job/*"
IMPORT_JOBS: Final = "model-import-job/*"
CUSTOM_MODELS: Final = "custom-model/*"

TRAINING_LOGS: Final = "TrainingJobs"
MULTI_TURN_LOGS: Final = "Job/AgentRFT*"
"""Log groups below `/aws/sagemaker/`; the name of an evaluation's is inferred."""

RUN_FIGURES: Final = ("GetRun", "GetMetricHistory", "GetExperimentByName", "ListArtifacts")

CUSTOMIZED_FIGURES: Final = (
    *RUN_FIGURES,
    *("GetExperiment", "SearchExperiments", "SearchRuns"),
    *("CreateExperiment", "CreateRun", "UpdateRun"),
    *("LogBatch", "LogMetric", "LogParam", "LogModel", "LogInputs", "SetTag"),
)
"""What a job of serverless customization does in MLflow."""

ROLLED_OUT_FIGURES: Final = (
    *RUN_FIGURES,
    *("CreateExperiment", "CreateRun", "UpdateRun", "LogBatch"),
    *("StartTrace", "EndTrace", "SearchTraces"),
)
"""What a multi-turn job does there."""

CONTAINERS: Final = "repository/nova-*"

TRAINING_METRICS: Final = "/aws/sagemaker/TrainingJobs"
"""The namespace of the metrics of training jobs."""

RUNTIME: Final = re.compile(r"arn:[^:]+:bedrock-agentcore:")


def customize(place: Place) -> Document:
    """The rights of a job of serverless customization beside `permissions.train`."""
    return document(
        allow("ReadHub", ["sagemaker:DescribeHub", "sagemaker:DescribeHubContent"], hubs(place)),
        allow(
            "KeepPackages",
            [
                "sagemaker:CreateModelPackageGroup",
                "sagemaker:DescribeModelPackageGroup",
                "sagemaker:CreateModelPackage",
                "sagemaker:DescribeModelPackage",
                "sagemaker:UpdateModelPackage",
                "sagemaker:ListModelPackages",
                "sagemaker:AddTags",
            ],
            packages(place),
        ),
        keep_figures(place, CUSTOMIZED_FIGURES),
        write_logs(place, TRAINING_LOGS),
        # An RLAIF job asks its judge; a stage does not know which.
        allow("AskJudge", ["bedrock:InvokeModel"], [foundation_models(place)]),
    )


def roll_out(place: Place, *, agents: Sequence[str], bucket_arn: str) -> Document:
    """The rights of a multi-turn job: read data, ask exactly these agents, write what it made.

    Args:
        place: where the stage is.
        agents: the ARNs of forwarders and of AgentCore runtimes.
        bucket_arn: where data and output lie.
    """
    return document(
        *use_bucket(bucket_arn),
        *ask_agents(
            agents,
            ["lambda:InvokeFunction"],
            [
                "bedrock-agentcore:InvokeAgentRuntime",
                "bedrock-agentcore:StopRuntimeSession",
                "bedrock-agentcore:GetAgentRuntime",
            ],
        ),
        allow("ReadHub", ["sagemaker:DescribeHubContent"], hubs(place)),
        allow(
            "KeepPackages",
            [
                "sagemaker:AccessModelPackage",
                "sagemaker:CreateModelPackage",
                "sagemaker:DescribeModelPackage",
                "sagemaker:DescribeModelPackageGroup",
            ],
            packages(place),
        ),
        keep_figures(place, ROLLED_OUT_FIGURES),
        write_logs(place, MULTI_TURN_LOGS),
    )


def run_agent(place: Place, stage: Stage, key_arn: str = "") -> Document:
    """The rights of an agent while a job asks it.

    Args:
        place: where its jobs run.
        stage: what it grants: the key that encrypts what jobs make, and the path of results.
        key_arn: of the key that encrypts results; "" where S3's own does.
    """
    return document(
        allow(
            "AnswerJob",
            [
                "sagemaker:Sample",
                "sagemaker:SampleWithResponseStream",
                "sagemaker:CompleteRollout",
                "sagemaker:UpdateReward",
            ],
            [place.arn("sagemaker", MULTI_TURN_JOBS)],
        ),
        # It knows no resource: a bearer token says who asks, and no more.
        allow("BearToken", ["sagemaker:CallWithBearerToken"], ["*"]),
        through("sagemaker", place, "UseKey", USE_DATA, stage.job_rights.model_key or ""),
        *(put_results(place, stage.names, key_arn) if stage.feedback is not None else []),
    )


def run_container(place: Place) -> Document:
    """The rights of a training job beside `train`: pull its container, log, put metrics."""
    images = [place._replace(account="*").arn("ecr", CONTAINERS)]
    return document(
        # A token of the registry says who asks, and knows no resource.
        allow("LogInToRegistry", ["ecr:GetAuthorizationToken"], ["*"]),
        allow(
            "PullContainer",
            [
                "ecr:BatchCheckLayerAvailability",
                "ecr:GetDownloadUrlForLayer",
                "ecr:BatchGetImage",
            ],
            images,
        ),
        allow(
            "PutMetrics",
            ["cloudwatch:PutMetricData"],
            ["*"],
            {"StringEquals": {"cloudwatch:namespace": TRAINING_METRICS}},
        ),
        keep_figures(place, CUSTOMIZED_FIGURES),
        write_logs(place, TRAINING_LOGS),
    )


def train_on_hyperpod(place: Place, stage: Stage, made: Made) -> Document:
    """The rights of a cluster's jobs: ask for rewards, read data, write output, keep figures.

    A cluster's own policy, `AmazonSageMakerClusterInstanceRolePolicy`, has its logs.
    """
    return document(
        invoke(rewards(place, stage.names, stage.deployments)),
        *use_bucket(made.bucket_arn),
        keep_figures(place, CUSTOMIZED_FIGURES),
        *(
            through("s3", place, f"UseKey{number}", USE_DATA, key)
            for number, key in enumerate(made.keys(stage), 1)
        ),
        *read_folders(place, stage.read_buckets),
    )


def import_model(place: Place, bucket_arn: str, escrow: Iterable[Document] = ()) -> Document:
    """The rights of Bedrock to take over what a job made: read it.

    Args:
        place: where the stage is.
        bucket_arn: where output lies.
        escrow: the statements of `read_escrow`, where jobs leave weights there.
    """
    prefix = {"StringLike": {"s3:prefix": [f"{OUTPUT_PREFIX}*"]}}
    return document(
        allow("ReadOutput", ["s3:GetObject"], [f"{bucket_arn}/{OUTPUT_PREFIX}*"]),
        allow("ListOutput", ["s3:ListBucket"], [bucket_arn], prefix),
        allow(
            "ReadPackages",
            ["sagemaker:DescribeModelPackage", "sagemaker:AccessModelPackage"],
            packages(place)[1:],
        ),
        *escrow,
    )


def read_escrow(place: Place) -> list[Document]:
    """Read the weights that such jobs leave in the account's escrow, a bucket of SageMaker's."""
    bucket = f"arn:{place.partition}:s3:::customer-escrow-{place.account}-*"
    return [
        allow("ReadEscrow", ["s3:GetObject"], [f"{bucket}/*"]),
        allow("ListEscrow", ["s3:ListBucket"], [bucket]),
    ]


def join_vpc(place: Place, joined: JobVpc) -> Document:
    """Make, and remove, the interfaces by which SageMaker's jobs join a network."""
    net = vpc.network(place, joined)
    return document(
        vpc.see_network(),
        # It is asked of the interface, of its subnet and of each of its groups.
        allow("JoinWithin", vpc.MAKE, [*net.interfaces, *net.places]),
        vpc.hand("HandInterfaceWithin", net),
        vpc.tag("TagNewInterface", net),
    )


def describe_key(key_arn: str) -> Document:
    """See that a key is there: a multi-turn job looks before it uses one."""
    return document(allow("SeeKey", ["kms:DescribeKey"], [key_arn]))


def ask_agents(
    agents: Iterable[str], of_forwarders: Sequence[str], of_runtimes: Sequence[str]
) -> list[Document]:
    """The statements that allow something with these agents, one for each kind.

    Args:
        agents: their ARNs.
        of_forwarders: what is allowed with those that are Lambda functions.
        of_runtimes: what is allowed with AgentCore runtimes.
    """
    named = [*agents]
    forwarders = [arn for each in named if not RUNTIME.match(each) for arn in forwarder(each)]
    runtimes = [
        arn for each in named if RUNTIME.match(each) for arn in (each, f"{each}/runtime-endpoint/*")
    ]
    return [
        allow("AskForwarders", of_forwarders, forwarders),
        allow("AskRuntimes", of_runtimes, runtimes),
    ]


def forwarder(arn: str) -> list[str]:
    """A forwarder as a grant names it: the plain ARN with all its versions, or the one named."""
    return versions_of(arn) if arn.count(":") == PLAIN_COLONS else [arn]


PLAIN_COLONS: Final = 6
"""Colons of a function's ARN without a qualifier."""


def hubs(place: Place) -> list[str]:
    """The account's hubs, one of which has our evaluators, and the public hub's models.

    The evaluators' hub has a digest of region and account for a name, which a template without an
    account cannot know.
    """
    return [
        place.arn("sagemaker", "hub/*"),
        place.arn("sagemaker", "hub-content/*"),
        *public_hub(place),
    ]


def public_hub(place: Place) -> list[str]:
    """SageMaker's own hub, and the models in it."""
    own = f"arn:{place.partition}:sagemaker:{place.region}:aws"
    return [f"{own}:hub/SageMakerPublicHub", f"{own}:hub-content/SageMakerPublicHub/Model/*"]


def packages(place: Place) -> list[str]:
    """The account's groups of model packages, and the packages."""
    return [
        place.arn("sagemaker", f"{each}/*") for each in ("model-package-group", "model-package")
    ]


def mlflow_apps(place: Place) -> list[str]:
    """The account's MLflow apps, whose ARNs are made with them."""
    return [place.arn("sagemaker", "mlflow-app/*")]


def job_logs(place: Place, group: str) -> list[str]:
    """A log group of SageMaker's jobs, in both forms that AWS gives its ARN."""
    arn = place.arn("logs", f"log-group:/aws/sagemaker/{group}")
    return [arn] if arn.endswith("*") else [arn, f"{arn}:*"]


def foundation_models(place: Place) -> str:
    """Every base model of Bedrock in the region."""
    return f"arn:{place.partition}:bedrock:{place.region}::foundation-model/*"


def keep_figures(place: Place, figures: Sequence[str]) -> Document:
    """Keep figures in MLflow, by these operations of its API."""
    actions = ["sagemaker:DescribeMlflowApp", "sagemaker:CallMlflowAppApi"]
    actions += [f"sagemaker-mlflow:{each}" for each in figures]
    return allow("KeepFigures", actions, mlflow_apps(place))


def write_logs(place: Place, group: str) -> Document:
    """Write a log group of SageMaker's jobs, named below `/aws/sagemaker/`."""
    actions = ["logs:CreateLogGroup", "logs:CreateLogStream", "logs:PutLogEvents"]
    return allow("WriteJobLogs", [*actions, "logs:DescribeLogStreams"], job_logs(place, group))
