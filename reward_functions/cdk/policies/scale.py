"""Files scored on AWS: who may do what with a run's folder, its machine and the rewards.

    shards      the function reads rows, asks numbered versions, writes below `scored/`
    machine     the state machine asks that function, and starts the children of its own map
    score       people begin, watch, stop and fetch runs

Sources: "IAM policies for using Distributed Map states" and "Using CloudWatch Logs to log execution
history" of Step Functions; the Service Authorization Reference for the resources an action knows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from reward_functions.aws.catalogue import DATA_PREFIX, SCORED_PREFIX
from reward_functions.cdk.policies.grants import ask_numbered
from reward_functions.cdk.policies.iam import (
    USE_DATA,
    allow,
    document,
    read_catalogue,
    through,
    trust_own,
)
from reward_functions.cdk.policies.permissions import read_folders

if TYPE_CHECKING:
    from reward_functions.cdk.model.stages import Stage
    from reward_functions.cdk.policies.grants import Made
    from reward_functions.cdk.policies.iam import Document, Place

KEPT_LOGS = (
    *("logs:CreateLogDelivery", "logs:GetLogDelivery", "logs:UpdateLogDelivery"),
    *("logs:DeleteLogDelivery", "logs:ListLogDeliveries", "logs:PutResourcePolicy"),
    *("logs:DescribeResourcePolicies", "logs:DescribeLogGroups"),
)
"""What a state machine does to have its log written; none of these knows a resource."""


def shards(place: Place, stage: Stage, made: Made) -> Document:
    """The rights of the function: read rows, ask versions, write parts, clear what is begun.

    If you may not list a bucket, S3 calls an object that does not exist forbidden.
    """
    bucket = made.bucket_arn
    runs = f"{bucket}/{SCORED_PREFIX}*"
    written = ["s3:GetObject", "s3:PutObject", "s3:AbortMultipartUpload"]
    return document(
        allow("ReadRows", ["s3:GetObject"], [f"{bucket}/{DATA_PREFIX}*"]),
        allow("WriteParts", written, [runs]),
        allow("ClearBegun", ["s3:DeleteObject"], [f"{runs}.begun.*"]),
        allow("SeeWhatIsThere", ["s3:ListBucket"], [bucket]),
        *ask_numbered(place, stage.names, stage.deployments),
        through("s3", place, "UseKey", USE_DATA, made.key_arn),
        *read_folders(place, stage.read_buckets),
    )


def trust_machine(place: Place, stage: Stage) -> Document:
    """The machine's role is taken on for this one machine."""
    return trust_own(place, "states.amazonaws.com", [machine_arn(place, stage)])


def machine_arn(place: Place, stage: Stage) -> str:
    """The ARN of the state machine."""
    return place.arn("states", f"stateMachine:{stage.names.scale}")


def _executions(place: Place, stage: Stage) -> list[str]:
    """Those of the machine, and of the children of its map."""
    name = place.arn("states", f"execution:{stage.names.scale}")
    return [f"{name}:*", f"{name}/*"]


def machine(place: Place, stage: Stage, made: Made) -> Document:
    """The rights of the machine: ask the function, read which shards, start its own children."""
    function = place.arn("lambda", f"function:{stage.names.scale}")
    return document(
        allow("AskShards", ["lambda:InvokeFunction"], [f"{function}:*"]),
        allow("ReadShards", ["s3:GetObject"], [f"{made.bucket_arn}/{SCORED_PREFIX}*"]),
        through("s3", place, "UseKey", ["kms:Decrypt"], made.key_arn),
        allow("StartShards", ["states:StartExecution"], [machine_arn(place, stage)]),
        allow(
            "FollowShards",
            ["states:DescribeExecution", "states:StopExecution"],
            _executions(place, stage),
        ),
        allow("KeepMachineLog", KEPT_LOGS, ["*"]),
    )


def score(place: Place, stage: Stage, made: Made) -> Document:
    """For people who score files on AWS: they begin, watch, stop and fetch runs."""
    bucket = made.bucket_arn
    folder = ["s3:GetObject", "s3:PutObject", "s3:DeleteObject", "s3:AbortMultipartUpload"]
    return document(
        read_catalogue(place, stage.name),
        allow("ReadRows", ["s3:GetObject"], [f"{bucket}/{DATA_PREFIX}*"]),
        allow("KeepRuns", folder, [f"{bucket}/{SCORED_PREFIX}*"]),
        allow("SeeWhatIsThere", ["s3:ListBucket"], [bucket]),
        allow("StartRun", ["states:StartExecution"], [machine_arn(place, stage)]),
        allow(
            "FollowRun",
            ["states:DescribeExecution", "states:StopExecution"],
            _executions(place, stage)[:1],
        ),
        # None of these knows a resource.
        allow(
            "SeeShares",
            [
                "lambda:GetAccountSettings",
                "cloudwatch:GetMetricStatistics",
                "bedrock:ListModelCustomizationJobs",
                "sagemaker:ListTrainingJobs",
            ],
            ["*"],
        ),
        through("s3", place, "UseKey", USE_DATA, made.key_arn),
        *read_folders(place, stage.read_buckets),
    )
