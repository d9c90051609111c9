"""`reward job start`: one job, however often it is asked for."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from reward_functions.cli._console import MESSAGE, errors, plain, print_json, remark
from reward_functions.cli._echo import say
from reward_functions.cli._errors import UNUSABLE
from reward_functions.cli.job._options import (
    CONFIGURATION,
    AsJson,
    Baseline,
    Typed,
    stage_place,
    taking,
)
from reward_functions.cli.job._output import SIMULATION, example_lines, job_json, next_command
from reward_functions.cli.job.preflight import checks
from reward_functions.cli.job.watch import follow
from reward_functions.jobs.models import find
from reward_functions.jobs.starting import DryRun, Started, StartRefused, dry_run
from reward_functions.jobs.starting import start as started

if TYPE_CHECKING:
    from reward_functions.jobs.configuration import JobConfiguration
    from reward_functions.jobs.job import Driver
    from reward_functions.jobs.lookup import Place

NOTED: Final = {"failure": "passed over", "warning": "warning", "unknown": "unknown"}
"""How a finding of the checks begins, by its verdict; what is ok goes without saying."""


@taking(*CONFIGURATION)
def start(
    typed: Typed,
    *,
    again: Annotated[
        bool, typer.Option("--again", help="Start the next run of a job that was started before.")
    ] = False,
    force: Annotated[
        str,
        typer.Option(
            metavar="REASON",
            help="Start although a check failed; the reason stands in the job's tags.",
            show_default=False,
        ),
    ] = "",
    only_show: Annotated[
        bool,
        typer.Option(
            "--dry-run",
            help="Write what would be sent, as JSON; AWS is read, nothing is made or invoked.",
        ),
    ] = False,
    baseline: Baseline = Path("baseline.json"),
    watch: Annotated[bool, typer.Option("--watch", "-w", help="Follow it until it ends.")] = False,
    as_json: AsJson = False,
) -> None:
    """Start a training job, once.

    The job is given the version of the deployment, which no later deployment changes. Its name is
    PREFIX-DIGEST-RUN, where the digest is of the configuration, the files and the version: the same
    command again, also after an interruption, shows the job that there is. --again takes the next
    run. `reward job preflight` runs first, before anything is uploaded.

    On the OpenAI-compatible API the name is that of the uploaded file: where the file was removed,
    such as by `reward job cleanup --data`, the same command starts a second job.

    Exit status: 0 the job is there, 2 nothing was started; with --watch that of `reward job watch`.
    """
    asked = typed.configuration()
    reason = force.strip()
    where = stage_place(asked.stage)
    service = where.driver(find(asked.model, where.stage.region, asked.driver).driver)
    if only_show:
        _dry_run(asked, where, service, again=again, force=reason)
        return
    try:
        with errors().status("reading the data") as status:
            result = started(
                asked,
                where.stage,
                service,
                preflight=checks(where, status.update, baseline=baseline),
                session=where.session,
                again=again,
                force=reason,
                progress=status.update,
            )
    except StartRefused as refused:
        if len(refused.failures) == 1 and refused.failures[0].example is None:
            raise
        _show_failures(refused)
        raise typer.Exit(UNUSABLE) from None
    _show(result, where, as_json=as_json)
    if watch:
        follow(result.job, service, where, as_json=as_json)


def _dry_run(
    asked: JobConfiguration, where: Place, service: Driver, *, again: bool, force: str
) -> None:
    """Write what a start would send."""
    found = dry_run(asked, where.stage, service, session=where.session, again=again, force=force)
    if isinstance(found, DryRun):
        print_json(asdict(found) | {"simulation": where.simulated})
        say("nothing was uploaded, made or invoked; the reward itself was not checked", err=True)
    else:
        say(f"{plain(found.name or found.id)} was started before, and {found.state}", err=True)


def _show_failures(refused: StartRefused) -> None:
    """Each failure on a line of its own, with an answer that shows it, and what can be done."""
    for finding in refused.failures:
        message = finding.message.removeprefix(f"{finding.question}: ")
        line = f"failure: {plain(finding.question)}: {plain(message, MESSAGE)}"
        for shown in (line, *(f"  {each}" for each in example_lines(finding))):
            remark(shown)
    number = len(refused.failures)
    checks = "a check failed" if number == 1 else f"{number} checks failed"
    remark(
        f"error: nothing was started: {checks} (`reward job preflight` shows them all; "
        f"{refused.hint})"
    )


def _show(result: Started, where: Place, *, as_json: bool) -> None:
    job = result.job
    for finding in result.findings:
        if finding.verdict in NOTED:
            line = f"{NOTED[finding.verdict]}: {finding.question}: {finding.message}"
            remark(line)
    if not job.service.tags and any(each.verdict == "failure" for each in result.findings):
        remark(f"{job.service.called} has no tags: the reason stands nowhere")
    if as_json:
        shown = {"fresh": result.fresh, "simulation": where.simulated}
        print_json(job_json(job) | shown)
        return
    name = plain(job.name or job.id)
    verb = "started" if result.fresh else f"was started before, and {job.state}"
    if where.simulated:
        say(SIMULATION, err=True)
    say(f"{name} {verb}\n{plain(job.id, 2_048)}")
    if job.evaluator:
        say(f"its reward is the evaluator {plain(job.evaluator, 2_048)}")
    if not result.fresh:
        typer.echo("for another run of it: --again", err=True)
    follow_it = next_command("watch", job.name or job.id, where.stage.stage)
    say(f"follow it with: {follow_it}", err=True)
