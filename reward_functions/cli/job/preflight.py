"""`reward job preflight`: whether a job can teach anything, and whether it may run."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from reward_functions.cli._console import errors, leave, print_json, say_measured
from reward_functions.cli._echo import say, several
from reward_functions.cli.job._options import (
    CONFIGURATION,
    AsJson,
    Baseline,
    Typed,
    stage_place,
    taking,
)
from reward_functions.cli.job._output import SIMULATION, print_findings
from reward_functions.jobs.configuration import BadJob
from reward_functions.jobs.job import Job
from reward_functions.jobs.models import find
from reward_functions.jobs.preflight import plan_findings
from reward_functions.jobs.preflight import preflight as checked
from reward_functions.jobs.preparing import PreparedJob, prepared

if TYPE_CHECKING:
    from collections.abc import Callable

    from reward_functions.aws.deployed.findings import CheckReport
    from reward_functions.jobs.lookup import Place


@taking(*CONFIGURATION)
def preflight(
    typed: Typed,
    *,
    again: Annotated[
        bool, typer.Option("--again", help="Check the next run of a job that was started before.")
    ] = False,
    baseline: Baseline = Path("baseline.json"),
    rows: Annotated[
        int,
        typer.Option(
            min=0,
            help="Rows of the data that the reward is tried on.",
            show_default="100; 8 for a judge",
        ),
    ] = 0,
    as_json: AsJson = False,
) -> None:
    """Check a job before it costs anything; `reward job start` runs the same checks.

    The data are linted. The deployed version scores right, wrong, empty, cut off, gaming and
    hostile answers to rows of the data: right ones must earn the maximum, and all others the
    minimum. The baseline is read where it was measured. The job's role is simulated. Nothing is
    written anywhere; a judge asks its model about each answer.

    Exit status: 0 nothing failed, 1 something did, 2 nothing was checked.
    """
    asked = typed.configuration()
    where = stage_place(asked.stage)
    service = where.driver(find(asked.model, where.stage.region, asked.driver).driver)
    with errors().status("reading the data") as status:
        job = prepared(
            asked, where.stage, service, session=where.session, again=again, progress=status.update
        )
        if isinstance(job, Job):
            raise BadJob(
                f"{job.name} was started before, and {job.state}: --again checks its next run"
            )
        report = checks(where, status.update, baseline=baseline, rows=rows)(job)
    say_measured(report.measured)
    if as_json:
        more = {"passed": report.passed, "simulation": where.simulated}
        print_json(asdict(report) | more)
    else:
        if where.simulated:
            say(SIMULATION, err=True)
        say(report.arn)
        simulated = " (simulation)" if where.simulated else ""
        print_findings(report.findings, f"Before {job.request.name}{simulated}")
        say(_verdict(report))
    leave(report.measured, failed=not report.passed)


def _verdict(report: CheckReport) -> str:
    """Whether the job can be started, in a line."""
    counted = Counter(each.verdict for each in report.findings)
    words = [several(counted[each], each) for each in ("failure", "warning") if counted[each]]
    ready = "ready" if report.passed and report.measured.measured else "not ready"
    return ", ".join([ready, *words])


def checks(
    where: Place,
    progress: Callable[[str], object],
    *,
    baseline: Path = Path("baseline.json"),
    rows: int = 0,
) -> Callable[[PreparedJob], CheckReport]:
    """The checks that `start` makes of a job that it is about to start."""

    def check(job: PreparedJob) -> CheckReport:
        report = checked(job, where.session, baseline=baseline, rows=rows, progress=progress)
        progress("planning")
        return replace(report, findings=(*report.findings, *plan_findings(job)))

    return check
