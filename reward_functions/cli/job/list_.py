"""`reward job list`: the jobs of the account."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from reward_functions.cli._console import print_json, remark
from reward_functions.cli._echo import say
from reward_functions.cli._errors import UNUSABLE
from reward_functions.cli._fitting import print_table
from reward_functions.cli.job._options import AsJson, DriverOption, StageOfJob, stage_place
from reward_functions.cli.job._output import SIMULATION, job_json, moment, status
from reward_functions.jobs.lookup import Place, all_jobs
from reward_functions.jobs.services import SERVICES
from reward_functions.jobs.wording import duration

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reward_functions.jobs.job import Job


def list_jobs(
    *,
    stage: StageOfJob = None,
    driver: DriverOption = None,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="Jobs at most.")] = 20,
    as_json: AsJson = False,
) -> None:
    """The newest training jobs of the account, in the region of a stage, of all people.

    A service that cannot be asked, or whose jobs you may not list, is named on standard error, and
    the others' jobs are shown.

    Exit status: 0 every service whose jobs you may list was asked, 2 one was not, or you may list
    none's.
    """
    where = stage_place(stage)
    found = all_jobs(where.drivers(driver), limit)
    if as_json:
        print_json([_json(job, where) for job in found.jobs])
    elif found.jobs:
        _show(found.jobs, SIMULATION if where.simulated else "")
    else:
        say(f"no training jobs in {where.stage.region}")
    for name in found.hidden:
        line = (
            f"{SERVICES[name].title}: its jobs are not shown, for you may not list them (policy "
            f"`{SERVICES[name].policy}` of the stage)"
        )
        remark(line)
    for error in found.failed:
        remark(str(error))
    if found.failed:
        raise typer.Exit(UNUSABLE)


def _json(job: Job, where: Place) -> dict[str, Any]:
    return job_json(job) | {"simulation": where.simulated}


def _show(found: Sequence[Job], title: str) -> None:
    now = datetime.now(UTC)
    rows = [
        (
            job.name or job.id,
            status(job),
            job.model.rpartition("/")[2] or None,
            moment(job.created),
            duration(((job.ended or now) - job.created).total_seconds()),
            job.service.title,
        )
        for job in found
    ]
    heads = ("name", "status", "model", "made", "took", "service")
    print_table(heads, rows, spare=("service", "took", "model", "made"), title=title)
