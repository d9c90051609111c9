"""The services that run jobs: one shape (`job.Driver`), a driver a service.

base.py          what jobs of every service of AWS have alike
bedrock.py       Bedrock's control plane: its request, its answers, its files of metrics
sagemaker.py     SageMaker's serverless customization, and what all jobs of SageMaker have alike
agent_rft.py     SageMaker's multi-turn jobs: their document, its schema, their groups, their log
openai.py        its OpenAI-compatible API, through OpenAI's SDK
mlflow.py        the figures that a job of SageMaker keeps in an MLflow app
objects.py       a job's files in S3
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from reward_functions.jobs.clients import endpoints
from reward_functions.jobs.services import SERVICES, DriverName

if TYPE_CHECKING:
    from boto3.session import Session

    from reward_functions.aws.catalogue import DeployedStage
    from reward_functions.jobs.job import Driver

__all__ = ["driver_for"]


def driver_for(
    name: DriverName, region: str, session: Session | None, stage: DeployedStage
) -> Driver:
    """The driver of a service.

    Args:
        name: of the service.
        region: of the jobs.
        session: boto3's; the caller's own where None.
        stage: whose bucket holds the data of jobs, and whose roles they run as.

    Raises:
        WrongEndpoint: the shell points to another AWS than the one that is meant.
        AwsFailed: the AWS configuration cannot be read.
    """
    endpoints(session).check()
    module, _, called = SERVICES[name].driver.partition(".")
    made: Driver = getattr(import_module(f"{__name__}.{module}"), called)(region, stage, session)
    return made
