"""SageMaker's jobs on instances of one's own: Nova's recipes as training jobs, and HyperPod.

    run_container          what a training job does beside `permissions.train`
    train_on_hyperpod      what a cluster's jobs do: attached to the role of its nodes or of its pods
    run_training_jobs      for people who start, follow and stop training jobs
    submit_to_hyperpod     for people who submit to a cluster, as far as IAM decides it
    read_escrow            statements of an import: what such jobs trained

A cluster exists before the stage, and so does the role it runs as: what it lacks is a policy. Who may
submit to which namespace is decided by the cluster's own access entries, which IAM does not see.

Sources, of AWS's documentation: "CreateTrainingJob API: execution role permissions"; "AWS Identity and
Access Management for SageMaker HyperPod", the EKS policies for scientists among it; "Custom reward
functions in your AWS environment" for the invocation; "Setting up IAM" of the Nova Forge SDK for what
callers need, and its `customer-escrow-ACCOUNT…` for where Nova's weights lie. The containers of Nova's
recipes are in repositories called `nova-…` of accounts of AWS's. Inferred: the namespace of the
metrics that a training job puts. Not granted: sessions on a cluster's nodes, changes of a cluster, keys
of volumes, recipes behind an access point of AWS's, weights in the escrow to the job itself. None of it
has been used on AWS.
"""  # noqa: E501

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reward_functions.cdk.policies.iam import (
    USE_DATA,
    allow,
    document,
    invoke,
    read_catalogue,
    through,
    use_bucket,
)
from reward_functions.cdk.policies.permissions import read_folders
from reward_functions.cdk.policies.sagemaker import (
    CUSTOMIZED_FIGURES,
    TRAINING_LOGS,
    keep_figures,
    write_logs,
)
from reward_functions.cdk.policies.sagemaker_people import (
    follow_logs,
    read_figures,
    read_public_hub,
    read_recipes,
    run_training,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reward_functions.aws.catalogue import ReadFolder
    from reward_functions.cdk.policies.iam import Document, Place

CONTAINERS: Final = "repository/nova-*"

TRAINING_METRICS: Final = "/aws/sagemaker/TrainingJobs"
"""The namespace of the metrics of training jobs."""

CLUSTER_LOGS: Final = "Clusters/*"
"""Log groups below `/aws/sagemaker/`; a cluster's is `Clusters/NAME/ID`."""

CLUSTERS: Final = "cluster/*"


def run_container(place: Place) -> Document:
    """What a training job does beside `permissions.train`: pull its container, log, put metrics."""
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


def train_on_hyperpod(
    place: Place,
    *,
    rewards: Sequence[str],
    bucket_arn: str,
    keys: Sequence[str] = (),
    folders: Sequence[ReadFolder] = (),
) -> Document:
    """What the jobs of a cluster do: ask for rewards, read data, write output, keep figures.

    A cluster's own policy, `AmazonSageMakerClusterInstanceRolePolicy`, has its logs.

    Args:
        place: where the stage is.
        rewards: what may be invoked, as `versions_of` and `generations_of` name it.
        bucket_arn: where data and output lie.
        keys: ARNs of those that encrypt them.
        folders: data outside of the bucket that they may read.
    """
    return document(
        invoke(rewards),
        *use_bucket(bucket_arn),
        keep_figures(place, CUSTOMIZED_FIGURES),
        *(
            through("s3", place, f"UseKey{number}", USE_DATA, key)
            for number, key in enumerate(keys, 1)
        ),
        *read_folders(place, folders),
    )


def run_training_jobs(
    place: Place, *, stage: str, role_arn: str, emulated: bool = False
) -> Document:
    """For people who start, follow and stop training jobs on instances.

    Args:
        place: where jobs run.
        stage: whose catalogue they read.
        role_arn: what the jobs run as.
        emulated: for the local AWS emulator, which asks about a simulation as if it had no role.
    """
    return document(
        *run_training(place, stage=stage, role_arn=role_arn, emulated=emulated),
        read_public_hub(place),
        read_recipes(place),
        read_figures(place),
        allow("SeeAccount", ["sagemaker:ListTrainingJobs", "sagemaker:ListMlflowApps"], ["*"]),
        follow_logs(place, TRAINING_LOGS),
    )


def submit_to_hyperpod(place: Place, *, stage: str) -> Document:
    """For people who connect to a cluster, and follow what they submitted there.

    Args:
        place: where the cluster is.
        stage: whose catalogue they read.
    """
    return document(
        read_catalogue(place, stage),
        allow(
            "SeeClusters",
            ["sagemaker:DescribeCluster", "eks:DescribeCluster", "eks:ListAddons"],
            [place.arn("sagemaker", CLUSTERS), place.arn("eks", CLUSTERS)],
        ),
        allow("SeeAccount", ["sagemaker:ListClusters", "sagemaker:ListMlflowApps"], ["*"]),
        read_public_hub(place),
        read_recipes(place),
        read_figures(place),
        follow_logs(place, CLUSTER_LOGS),
    )


def read_escrow(place: Place) -> list[Document]:
    """Read the weights that such jobs leave in the account's escrow, a bucket of SageMaker's."""
    bucket = f"arn:{place.partition}:s3:::customer-escrow-{place.account}-*"
    return [
        allow("ReadEscrow", ["s3:GetObject"], [f"{bucket}/*"]),
        allow("ListEscrow", ["s3:ListBucket"], [bucket]),
    ]
