"""One job, or all of them, whichever service runs it: a name is the first service's that has it.

Where jobs are run: a deployed stage, and the services of its region.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from reward_functions.aws.deployed.catalogue import stage_record
from reward_functions.aws.failures import AwsFailed
from reward_functions.jobs.clients import endpoints
from reward_functions.jobs.drivers import driver_for
from reward_functions.jobs.job import Driver, Job, NoSuchJob
from reward_functions.jobs.services import SERVICES, DriverName, service_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from boto3.session import Session

    from reward_functions.aws.catalogue import DeployedStage


def job_of(identifier: str, drivers: Sequence[Driver]) -> tuple[Driver, Job]:
    """A job, and the service that runs it.

    Args:
        identifier: a name, an id or an ARN.
        drivers: those that may have it, in the order of asking.

    Raises:
        NoSuchJob: none has it that the caller may read.
        AwsFailed: one cannot be asked, or none may be, and none of the others has it.
    """
    refused: list[AwsFailed] = []
    for driver in drivers:
        try:
            return driver, driver.get(identifier)
        except NoSuchJob:
            continue
        except AwsFailed as error:
            refused.append(error)
    failed = [error for error in refused if not error.denied]
    if failed or len(refused) == len(drivers):
        raise (failed or refused)[0]
    regions = " and ".join(sorted({driver.region for driver in drivers}))
    raise NoSuchJob(
        f"there is no job {identifier!r} in {regions} of this account"
        f"{' that you may read' if refused else ''}: `reward job list` shows those there are"
    )


@dataclass(slots=True)
class Listing:
    """The newest jobs of all services, and the services that are not among them.

    Args:
        jobs: newest first.
        hidden: services whose jobs the caller may not list, where there is one that they may.
        failed: why a service could not be asked; and why it may not, where no service was listed.
    """

    jobs: list[Job] = field(default_factory=list)
    hidden: list[DriverName] = field(default_factory=list)
    failed: list[AwsFailed] = field(default_factory=list)


def all_jobs(drivers: Sequence[Driver], limit: int) -> Listing:
    """The newest jobs of all services.

    Args:
        drivers: the services.
        limit: jobs at most of each, and of all.
    """
    found: list[Job] = []
    refused: dict[DriverName, AwsFailed] = {}
    for driver in drivers:
        try:
            found += [job for _, job in zip(range(limit), driver.jobs(), strict=False)]
        except AwsFailed as error:
            refused[driver.name] = error
    newest = sorted(found, key=lambda job: job.created, reverse=True)[:limit]
    listed = len(refused) < len(drivers)
    hidden = [name for name, error in refused.items() if error.denied and listed]
    return Listing(newest, hidden, [refused[name] for name in refused if name not in hidden])


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
        names = [
            name
            for name, service in SERVICES.items()
            if not (service.role and service.role.optional) or service.role.of(self.stage)
        ]
        return [self.driver(name) for name in ([only] if only else names)]

    def job(self, identifier: str, only: DriverName | None = None) -> tuple[Driver, Job]:
        """A job by its name, id or ARN, and the service that runs it.

        Raises:
            NoSuchJob: the job does not exist.
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
