"""`reward job stop`: a job ends before its time."""

from __future__ import annotations

import typer

from reward_functions.cli._agreement import Yes, agreed, require_somebody_to_ask
from reward_functions.cli._echo import say
from reward_functions.cli._errors import UNUSABLE
from reward_functions.cli.job._options import (  # noqa: TC001 - typer reads annotations
    DriverOption,
    JobName,
    StageOfJob,
)
from reward_functions.cli.job._places import job_at


def stop(
    job: JobName, *, stage: StageOfJob = None, driver: DriverOption = None, yes: Yes = False
) -> None:
    """Ask a job to stop. No service goes on with a stopped job.

    The service may finish a step first: `reward job watch` shows the end.

    Exit status: 0 it stops, or is over already; 2 it goes on.
    """
    from reward_functions.cli._console import plain

    _, service, found = job_at(job, stage, driver)
    name = plain(found.name or found.id)
    if found.over:
        say(f"{name} is over already: it {found.state}")
        return
    require_somebody_to_ask("a stop", yes=yes)
    if not agreed(f"Stop {name}, which {found.state}? It cannot go on later.", yes=yes):
        say(f"{name} goes on", err=True)
        raise typer.Exit(UNUSABLE)
    stopped = service.stop(found)
    say(f"{name} {stopped.state}")
