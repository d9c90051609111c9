"""One job, or all of them, whichever service runs it.

an ARN of model-customization-job    Bedrock's control plane
ftjob-…                              the OpenAI-compatible API
a name                               the first service that has it
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reward_functions.tools.deployed.failures import AwsFailed
from reward_functions.tools.jobs.job import NoSuchJob

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reward_functions.tools.jobs.job import Driver, DriverName, Job

FORMS: Final[Mapping[str, DriverName]] = {"arn:": "bedrock", "ftjob-": "openai"}
"""How the services' own ids begin."""


def service_of(identifier: str) -> DriverName | None:
    """The service that an id belongs to; None for a name, which any may have."""
    found = (driver for start, driver in FORMS.items() if identifier.startswith(start))
    return next(found, None)


def job_of(identifier: str, drivers: Sequence[Driver]) -> tuple[Driver, Job]:
    """A job, and the service that runs it.

    Args:
        identifier: a name, an id or an ARN.
        drivers: those that may have it, in the order of asking.

    Raises:
        NoSuchJob: none has it.
        AwsFailed: one cannot be asked, and none of the others has it.
    """
    refused: list[AwsFailed] = []
    for driver in drivers:
        try:
            return driver, driver.get(identifier)
        except NoSuchJob:
            continue
        except AwsFailed as error:
            refused.append(error)
    if refused:
        raise refused[0]
    regions = " and ".join(sorted({driver.region for driver in drivers}))
    raise NoSuchJob(
        f"there is no job {identifier!r} in {regions} of this account: `reward job list` shows "
        "those there are"
    )


def all_jobs(drivers: Sequence[Driver], limit: int) -> tuple[list[Job], list[AwsFailed]]:
    """The newest jobs of all services, and why a service could not be asked.

    Args:
        drivers: the services.
        limit: jobs at most of each, and of all.
    """
    found: list[Job] = []
    refused: list[AwsFailed] = []
    for driver in drivers:
        try:
            found += [job for _, job in zip(range(limit), driver.jobs(), strict=False)]
        except AwsFailed as error:
            refused.append(error)
    newest = sorted(found, key=lambda job: job.created, reverse=True)
    return newest[:limit], refused
