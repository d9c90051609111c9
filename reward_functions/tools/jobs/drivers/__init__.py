"""The services that run jobs: one shape (`job.Driver`), a driver a service.

bedrock.py   Bedrock's control plane: its request, its answers, its files of metrics, and the
             objects that it reads
openai.py    its OpenAI-compatible API: the connection, and the members of a job
sagemaker.py SageMaker's serverless customization: its request, and the members of a job
agent_rft.py SageMaker's multi-turn jobs: the document and the schema that it is held to, what it
             needs beside it, the members of a job, its log
fields.py    single fields of what a service answers
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from boto3.session import Session

    from reward_functions.serving.catalogue import DeployedStage
    from reward_functions.tools.jobs.job import Driver, DriverName

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
    from reward_functions.tools.jobs.clients import endpoints, openai_base_url  # noqa: PLC0415

    endpoints(session).check()
    if name == "sagemaker":
        from reward_functions.tools.jobs.drivers.sagemaker import SageMakerDriver  # noqa: PLC0415

        return SageMakerDriver(region, stage, session)
    if name == "bedrock":
        from reward_functions.tools.jobs.drivers.bedrock import BedrockDriver  # noqa: PLC0415

        return BedrockDriver(region, stage.bucket, session)
    if name == "agent-rft":
        from reward_functions.tools.jobs.drivers.agent_rft import AgentDriver  # noqa: PLC0415

        return AgentDriver(region, stage, session)
    from reward_functions.tools.jobs.clients import ca_bundle  # noqa: PLC0415
    from reward_functions.tools.jobs.drivers.openai import OpenAIDriver  # noqa: PLC0415
    from reward_functions.tools.jobs.drivers.openai_api import Api  # noqa: PLC0415
    from reward_functions.tools.jobs.token import key_source  # noqa: PLC0415

    api = Api(
        openai_base_url(region, session), key_source(region, session), ca_bundle=ca_bundle(session)
    )
    return OpenAIDriver(region, api)
