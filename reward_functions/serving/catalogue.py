"""The catalogue of a deployment: the names and records by which tools find it.

The deployment (`cdk`) writes one SSM parameter per function and one per stage; the tools of the
laptop (`tools.deployed`) read these parameters alone, and neither the stack nor its template:

    /reward-functions/STAGE/stage                a `DeployedStage`
    /reward-functions/STAGE/deployments/NAME     a `DeployedReward`

Each value is one JSON object.
"""

from __future__ import annotations

import re
from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue, StringConstraints

from reward_functions.serving.contract import ResponseMode

ROOT: Final = "/reward-functions"

ALIAS: Final = "live"
"""The alias trainers are given: it points to the version published last."""

DATA_PREFIX: Final = "rft-data/"
"""Where training and validation files lie in the stage's bucket; jobs read here."""

OUTPUT_PREFIX: Final = "rft-output/"
"""Where training jobs write their metrics and artifacts."""

MAX_FUNCTION_NAME: Final = 64
"""Characters of a Lambda function's name."""

Name = Annotated[
    str, StringConstraints(pattern=re.compile(r"\A[a-z][a-z0-9]*([-_][a-z0-9]+)*\Z"), max_length=40)
]
"""A deployment: lower case and digits, single hyphens or underscores between."""

StageName = Annotated[
    str, StringConstraints(pattern=re.compile(r"\A[a-z][a-z0-9]*(-[a-z0-9]+)*\Z"), max_length=20)
]
"""A stage: lower case and digits, single hyphens between; a stack's name takes no more."""

Architecture = Literal["arm64", "x86_64"]


class DeployedReward(BaseModel):
    """One deployed reward function.

    Trainers differ in what they take: Bedrock a qualified ARN, SageMaker's own client only a plain
    one (`contracts`: its pattern ends behind the name), so that both stand here.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    name: str = Field(description="The deployment.")
    reward: str = Field(description="The reward function, as `reward list` names it.")
    version: int = Field(description="The reward's version: raised when any score can change.")
    parameters: dict[str, JsonValue] = Field(description="The parameters that were set.")
    response_mode: ResponseMode = Field(description="A bare list, or SageMaker's envelope.")
    alias_arn: str = Field(description="The function by its alias; what Bedrock is given.")
    function_arn: str = Field(description="The function without a qualifier; for SageMaker.")
    timeout_seconds: int = Field(description="Lambda's timeout.")
    memory_mb: int = Field(description="Lambda's memory size.")
    architecture: Architecture
    python: str = Field(description="The runtime, as `3.13`.")


class DeployedStage(BaseModel):
    """What the functions of a stage share."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    stage: str
    region: str
    bucket: str = Field(description="The data bucket's name.")
    training_role_arn: str = Field(description="What a Bedrock job runs as.")
    submitter_policy_arn: str = Field(description="For the people and roles who start jobs.")
    sagemaker_role_arn: str | None = Field(
        default=None, description="What a SageMaker job runs as, where the stage asked for one."
    )
    job_events_topic_arn: str = Field(description="Where changes of a job's state are announced.")
    dashboard: str = Field(description="The CloudWatch dashboard's name.")


def stack_name(stage: str) -> str:
    """The CloudFormation stack of a stage."""
    return f"RewardFunctions-{stage}"


def stage_parameter(stage: str) -> str:
    """The SSM parameter that holds a stage's `DeployedStage`."""
    return f"{ROOT}/{stage}/stage"


def deployments_path(stage: str) -> str:
    """The SSM path under which every `DeployedReward` of a stage stands."""
    return f"{ROOT}/{stage}/deployments"


def deployment_parameter(stage: str, name: str) -> str:
    """The SSM parameter that holds one `DeployedReward`."""
    return f"{deployments_path(stage)}/{name}"


def bucket_name(stage: str, account: str, region: str) -> str:
    """The data bucket of a stage: names of buckets are one space for all accounts."""
    return f"reward-functions-{stage}-{account}-{region}"


def function_name(stage: str, name: str) -> str:
    """The physical name of a function.

    HyperPod and SageMaker's stock policies invoke only what carries `SageMaker`, in this case.
    """
    return f"SageMaker-reward-{stage}-{name}"
