"""Where jobs are run: a deployed stage, and the services of its region."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from reward_functions.aws.deployed.catalogue import stage_record
from reward_functions.jobs.clients import endpoints
from reward_functions.jobs.drivers import driver_for
from reward_functions.jobs.lookup import job_of, service_of

if TYPE_CHECKING:
    from boto3.session import Session

    from reward_functions.aws.catalogue import DeployedStage
    from reward_functions.jobs.job import Driver, DriverName, Job


@dataclass(frozen=True, slots=True)
class Place:
    """A stage, and the session that reaches it.

    Args:
        stage: its record.
        session: boto3's.
        double: the address of the training double, where that stands in for its services; else "".
    """

    stage: DeployedStage
    session: Session
    double: str

    @property
    def simulated(self) -> bool:
        """Whether its services are the training double, which trains no language model."""
        return bool(self.double)

    def simulation_page(self, job: Job) -> str:
        """Where the training double shows the course of a job; "" for a job of a service."""
        name = job.id.rpartition("/")[2]
        return f"{self.double.rstrip('/')}/_training/jobs/{name}" if self.double else ""

    def driver(self, name: DriverName) -> Driver:
        """One service.

        Raises:
            ConfigurationError: the environment leads to the emulator's own Bedrock.
        """
        return driver_for(name, self.stage.region, self.session, self.stage)

    def drivers(self, only: DriverName | None = None) -> list[Driver]:
        """The services to ask: the one that is named, or all that the stage has roles for."""
        names: list[DriverName] = ["bedrock", "openai"]
        names += ["sagemaker"] if self.stage.sagemaker_role_arn else []
        names += ["agent-rft"] if self.stage.agent_role_arn else []
        return [self.driver(name) for name in ([only] if only else names)]

    def job(self, identifier: str, only: DriverName | None = None) -> tuple[Driver, Job]:
        """A job by its name, id or ARN, and the service that runs it.

        Raises:
            NoSuchJob: there is none.
            AwsFailed: a service cannot be asked.
        """
        return job_of(identifier, self.drivers(only or service_of(identifier)))


def place(stage: str, session: Session) -> Place:
    """Read a stage's record, once no call can reach two kinds of AWS.

    Args:
        stage: its name.
        session: boto3's.

    Raises:
        WrongEndpoint: the shell points to two kinds of AWS, or to the emulator's own Bedrock.
        NotDeployed: there is no such stage in this account and region.
        AwsFailed: it cannot be read.
    """
    found = endpoints(session)
    # Before the first call: the stage's record itself would be another account's.
    found.check()
    double = found.services["bedrock"] if found.local else ""
    return Place(stage_record(stage, session), session, double)
