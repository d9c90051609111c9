"""Where a command of `reward job` works, and the job it is about: one file has one meaning."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from reward_functions.jobs.configuration import JobConfiguration
    from reward_functions.jobs.job import Driver, DriverName, Job
    from reward_functions.jobs.places import Place

TOML: Final = ".toml"


def is_file(job: str) -> bool:
    """Whether what stands in the place of a job's name is its file."""
    return job.lower().endswith(TOML)


def stage_place(stage: str | None) -> Place:
    """The stage that a command works on, and the session that reaches it.

    Args:
        stage: as typed; None for the one of `job.toml`, of `cdk.json`, or the default.

    Raises:
        WrongEndpoint, NotDeployed, AwsFailed: as `jobs.places.place`.
        BadShell: a file that would name the stage cannot be read.
    """
    from reward_functions.aws.shell import aws_session, default_stage
    from reward_functions.jobs.places import place

    name = stage or default_stage().name
    return place(name, aws_session(name))


def job_at(job: str, stage: str | None, driver: DriverName | None) -> tuple[Place, Driver, Job]:
    """A job, the service that runs it, and its stage.

    Args:
        job: its name, id or ARN; or the file that it was started with, which names the stage too.
        stage: as typed; None for that of the file.
        driver: as typed; None for whichever service has the job.

    Raises:
        BadJob: no job was started with the file, as it is now.
        NoSuchJob: no service has such a job.
        AwsFailed: a service cannot be asked.
    """
    if not is_file(job):
        where = stage_place(stage)
        return where, *where.job(job, driver)
    from reward_functions.cli.job._options import configured

    asked = configured(Path(job), stage=stage, driver=driver)
    where = stage_place(asked.stage)
    return where, *_started_with(asked, job, where)


def _started_with(asked: JobConfiguration, file: str, where: Place) -> tuple[Driver, Job]:
    from reward_functions.jobs.configuration import BadJob
    from reward_functions.jobs.job import Job
    from reward_functions.jobs.models import find
    from reward_functions.jobs.preparing import prepared

    service = where.driver(find(asked.model, where.stage.region, asked.driver).driver)
    found = prepared(asked, where.stage, service, session=where.session)
    if not isinstance(found, Job):
        raise BadJob(
            f"{file}: no job was started with this file and these data as they are now: name the "
            f"job, which `reward job list --stage {where.stage.stage}` shows"
        )
    return service, found
