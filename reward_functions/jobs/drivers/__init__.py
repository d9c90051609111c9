"""The services that run jobs: one shape (`job.Driver`), a driver a service.

bedrock.py   Bedrock's control plane: its request, its answers, its files of metrics, and the
             objects that it reads
openai.py    its OpenAI-compatible API, through OpenAI's SDK
sagemaker.py SageMaker's serverless customization: its request, and the members of a job
agent_rft.py SageMaker's multi-turn jobs: the document and the schema that it is held to, what it
             needs beside it, the members of a job, its log
fields.py    single fields of what a service answers

agent_rft_document.py           the JSON document that a multi-turn job consists of
agent_rft_hyperparameters.py    the hyperparameters of a multi-turn job that a page documents
agent_rft_job.py                what SageMaker answers about a multi-turn job
agent_rft_resources.py          what a multi-turn job needs of SageMaker beside its data
agent_rft_schemas.py            which version of the service's schema a document fits
bedrock_job.py                  what Bedrock answers about a job, as a `Job` and its events
bedrock_metrics.py              the figures that a job of Bedrock leaves in S3
bedrock_request.py              a job as Bedrock's `CreateModelCustomizationJob` takes it
mlflow.py                       the figures that a job of SageMaker keeps in an MLflow app
sagemaker_job.py                what SageMaker answers about a training job
sagemaker_request.py            a job as SageMaker's `CreateTrainingJob` takes it for
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from boto3.session import Session

    from reward_functions.aws.catalogue import DeployedStage
    from reward_functions.jobs.job import Driver, DriverName

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
    from reward_functions.jobs.clients import endpoints, openai_base_url  # noqa: PLC0415

    endpoints(session).check()
    if name == "sagemaker":
        from reward_functions.jobs.drivers.sagemaker import SageMakerDriver  # noqa: PLC0415

        return SageMakerDriver(region, stage, session)
    if name == "bedrock":
        from reward_functions.jobs.drivers.bedrock import BedrockDriver  # noqa: PLC0415

        return BedrockDriver(region, stage.bucket, session)
    if name == "agent-rft":
        from reward_functions.jobs.drivers.agent_rft import AgentDriver  # noqa: PLC0415

        return AgentDriver(region, stage, session)
    from reward_functions.jobs.clients import ca_bundle  # noqa: PLC0415
    from reward_functions.jobs.drivers.openai import Api, OpenAIDriver  # noqa: PLC0415
    from reward_functions.jobs.token import key_source  # noqa: PLC0415

    api = Api(
        openai_base_url(region, session), key_source(region, session), ca_bundle=ca_bundle(session)
    )
    return OpenAIDriver(region, api)
