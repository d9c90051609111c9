"""`reward rollouts doctor`: whether a rollout of this machine can be reported."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path  # noqa: TC003 - typer reads annotations
from typing import Annotated

import typer

from reward_functions.aws.deployed.findings import findings_of, measured_questions
from reward_functions.cli._console import errors, leave, print_json, say_measured
from reward_functions.cli.job._output import print_findings
from reward_functions.cli.rollouts._agents import callable_named, way_to
from reward_functions.core.extras import ROLLOUTS, require
from reward_functions.rollouts.drive.doctor import Subject, checks
from reward_functions.rollouts.request.contract import LARGEST


def doctor(
    *,
    agent: Annotated[
        str, typer.Option(metavar="AGENT", help="An agent's URL, its Lambda, or module:attribute.")
    ] = "",
    payload: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="A request, as the trainer sends it: one JSON object."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Write JSON.")] = False,
) -> None:
    """Check what a report needs: settings, credentials, clock, endpoint, permissions, outbox.

    It lists the agent frameworks that are installed, and says whether rollouts are traced.

    Nothing is sampled or reported; no key or token is printed. A check that cannot see, offline
    too, is unknown and no failure.

    Exit status: 0 nothing failed, 1 something did, 2 everything is unknown.
    """
    require("boto3", by=__name__, extra=ROLLOUTS)
    given = None
    if payload is not None:
        with payload.open("rb") as stream:
            given = stream.read(LARGEST + 1)
    here = bool(agent) and way_to(agent) == "python"
    asked = callable_named(agent) if here else agent
    with errors().status("looking"):
        findings = findings_of(checks(Subject(given, asked)))
    measured = measured_questions(findings)
    say_measured(measured)
    if as_json:
        print_json([asdict(each) for each in findings])
    else:
        print_findings(findings, "Reporting from here", asked="check")
    leave(measured, failed=any(each.verdict == "failure" for each in findings))
