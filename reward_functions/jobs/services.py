"""The services that run jobs, a row each: what differs between them and is no call.

A new service takes a row here, a driver in `drivers/`, and its name in `DriverName`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from reward_functions.aws.arn import Arn

if TYPE_CHECKING:
    from collections.abc import Mapping

DriverName = Literal["bedrock", "openai", "sagemaker", "agent-rft"]
"""Which API a job is started with: Bedrock's control plane, the OpenAI-compatible one, SageMaker's
serverless customization (`CreateTrainingJob`), or its multi-turn jobs (`CreateJob`)."""

HyperparameterValue = int | float | str


class Service(NamedTuple):
    """One row."""

    called: str
    """In a sentence."""

    title: str
    """In a table."""

    driver: str
    """Its module in `drivers/`, and its class there."""

    owner: str
    """Whose the ARNs of its jobs are; "" for a service whose ids are none."""

    form: str
    """Of the resource of those ARNs, or of its own ids."""

    policy: str
    """The policy of a stage that lets its holders list the jobs."""

    role: Literal["", "training_role_arn", "sagemaker_role_arn", "agent_role_arn"]
    """The member of a stage's record that its jobs run as; "" for a service that takes none."""

    takes: frozenset[str]
    """Fields of a configuration that it has a place for, of those that some services have not."""

    hosted: tuple[str, ...] = ()
    """What is in the ARN that Converse asks a tuned model by: model packages are imported, too."""

    made_by: str = ""
    """What in `cdk.json` makes that role; "" where every stage has it."""

    remedy: str = ""
    """What to do where a stage has no such role."""

    principal: str = ""
    """Which service takes the role on."""

    example: str = ""
    """How the ARN of one of its jobs ends, to IAM."""

    assumes: tuple[str, ...] = ("sts:AssumeRole",)
    """By which calls the role is taken on."""

    log_group: str = ""
    """Where the service logs what its trainer does; "" for one that logs nothing."""

    optional: bool = False
    """Whether only stages with that role have its jobs."""

    bucket: bool = True
    """Whether its jobs read and write the stage's bucket; else the service keeps the files."""

    tags: bool = True
    """Whether its jobs have tags."""

    packages: bool = False
    """Whether its jobs make model packages of SageMaker."""

    graded: bool = True
    """Whether a function scores the rollouts, and logs figures: an agent rewards itself."""

    def arn(self, identifier: str) -> Arn | None:
        """The ARN of one of its jobs; None for every other id, and for a name."""
        return Arn.read(identifier, self.owner, self.form) if self.owner else None

    def has(self, identifier: str) -> bool:
        """Whether an id is one of its own."""
        if self.owner:
            return self.arn(identifier) is not None
        return re.fullmatch(self.form, identifier) is not None


SERVICES: Final[Mapping[DriverName, Service]] = {
    "bedrock": Service(
        "Bedrock's control plane",
        "Bedrock",
        "bedrock.BedrockDriver",
        owner="bedrock",
        form="model-customization-job/.+",
        policy="jobs",
        role="training_role_arn",
        takes=frozenset({"deployment", "invocation_logs", "model_key", "vpc"}),
        hosted=(":custom-model-deployment/",),
        principal="bedrock.amazonaws.com",
        example="model-customization-job/x",
    ),
    "openai": Service(
        "the OpenAI-compatible API",
        "OpenAI-compatible",
        "openai.driver_of",
        owner="",
        form="ftjob-.+",
        policy="jobs",
        role="",
        takes=frozenset({"deployment"}),
        bucket=False,
        tags=False,
    ),
    "sagemaker": Service(
        "SageMaker's serverless customization",
        "SageMaker serverless",
        "sagemaker.SageMakerDriver",
        owner="sagemaker",
        form="training-job/.+",
        policy="sagemaker",
        role="sagemaker_role_arn",
        takes=frozenset({"deployment", "sagemaker", "model_key", "vpc"}),
        hosted=(":custom-model-deployment/", ":imported-model/"),
        made_by="sagemaker_role",
        remedy="set sagemaker_role in cdk.json and deploy",
        principal="sagemaker.amazonaws.com",
        example="training-job/x",
        log_group="/aws/sagemaker/TrainingJobs",
        optional=True,
        packages=True,
    ),
    "agent-rft": Service(
        "SageMaker's multi-turn jobs",
        "SageMaker multi-turn",
        "agent_rft.AgentDriver",
        owner="sagemaker",
        form="job/.+",
        policy="agents",
        role="agent_role_arn",
        takes=frozenset({"agent", "sagemaker", "model_key", "vpc"}),
        hosted=(":custom-model-deployment/", ":imported-model/"),
        made_by="job_rights.agents, forwarders or agents",
        remedy="name the agent in job_rights.agents of cdk.json and deploy",
        principal="job.sagemaker.amazonaws.com",
        example="job/AgentRFT/x",
        assumes=("sts:AssumeRole", "sts:TagSession"),
        log_group="/aws/sagemaker/Job/AgentRFT",
        optional=True,
        packages=True,
        graded=False,
    ),
}
"""In the order in which they are asked for a job's name."""


def service_of(identifier: str) -> DriverName | None:
    """The service that an id belongs to; None for a name, which any may have."""
    found = (name for name, service in SERVICES.items() if service.has(identifier))
    return next(found, "bedrock" if identifier.startswith("arn:") else None)
