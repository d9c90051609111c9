"""`reward doctor`: whether this machine and this shell are ready, and for which AWS."""

from __future__ import annotations

import os
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from reward_functions.aws.deployed.findings import Check, credentials, findings_of
from reward_functions.aws.shell import DEFAULT_STAGE, default_stage
from reward_functions.cli import _stage_checks
from reward_functions.cli._console import errors, print_json
from reward_functions.cli._errors import INCOMPLETE
from reward_functions.cli.job._output import print_findings
from reward_functions.core.errors import ConfigurationError
from reward_functions.core.extras import require
from reward_functions.local import laptop

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reward_functions.cdk.app.preview import Preview
    from reward_functions.cdk.model.project import Project


def doctor(
    *,
    stage: Annotated[
        str | None,
        typer.Option(
            "--stage",
            "-s",
            metavar="NAME",
            help="A stage of this folder's cdk.json.",
            show_default="the one that its context names, where there is one",
        ),
    ] = None,
    offline: Annotated[bool, typer.Option("--offline", help="Do not ask STS either.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Write JSON.")] = False,
) -> None:
    """Which AWS this shell is on, and whether credentials, tools and the stage are ready.

    STS is asked who you are, for three seconds at most, and nobody else anything. No key or token
    is printed. What cannot be seen is unknown and no failure. See also `reward rollouts doctor`,
    `reward judge doctor`, and `reward stage check` for every field of a stage.

    Exit status: 0 nothing failed, 1 something did, 2 there is no such stage.
    """
    with errors().status("looking"):
        findings = findings_of([*_checks(stage, offline=offline)])
    if as_json:
        print_json([asdict(each) for each in findings])
    else:
        print_findings(findings, "This machine, from this shell", asked="check")
    if any(each.verdict == "failure" for each in findings):
        raise typer.Exit(INCOMPLETE)


def _checks(name: str | None, *, offline: bool) -> Iterator[Check]:
    project, chosen, preview = _stage(name)
    there = None if preview is None or isinstance(preview, str) else preview.stage
    region = there.region if there else None
    account = there.account if there else None
    emulated = there.emulated if there else None
    caller, sdk = laptop.Caller(chosen), find_spec("boto3") is not None
    yield Check("packages", laptop.packages)
    yield Check("aws", lambda: laptop.shell(os.environ))
    if sdk:
        yield Check("credentials", lambda: credentials(chosen))
    yield Check("region", lambda: laptop.region(chosen, region))
    if sdk and not offline:
        yield Check(
            "account",
            lambda: laptop.account(caller, account, emulated=emulated),
        )
        yield Check("clock", lambda: laptop.clock(caller))
    yield Check("boto3", laptop.sdk)
    if preview is not None:
        yield from _stage_checks.checks_of(project, chosen, preview)
    yield Check("node", _stage_checks.node)
    yield Check("cdk", lambda: _stage_checks.cdk(Path.cwd()))
    yield Check("uv", _stage_checks.uv)
    yield Check("emulator", laptop.emulators)
    yield Check("disk", laptop.disk)


def _stage(name: str | None) -> tuple[Project | None, str, Preview | str | None]:
    """The stage that is meant, and what it would be or why there is none; None where none is meant.

    The stage that nobody typed is the one that every other command takes.

    Raises:
        ConfigurationError: the one that is named is not there.
    """
    try:
        usual = name or default_stage().name
    except ConfigurationError as error:
        return None, "", str(error)
    if name is None and (find_spec("uv") is None or not Path("cdk.json").is_file()):
        return None, usual, None  # the line of uv says what is missing
    require("uv", by="reward doctor --stage")
    from reward_functions.cdk.model.project import project_in

    try:
        project = project_in(Path.cwd())
        if name is None and not isinstance(project.context.get("stages"), dict):
            return None, usual, None  # somebody else's cdk.json
        chosen = project.existing(project.chosen(None if usual == DEFAULT_STAGE else usual))
    except ConfigurationError as error:
        if name is not None:
            raise
        return None, "", str(error)  # and what else is wrong here is seen all the same
    return project, chosen, _previewed(project, chosen)


def _previewed(project: Project, name: str) -> Preview | str:
    from reward_functions.cdk.app.preview import previewed

    try:
        return previewed(project, name)
    except ConfigurationError as error:
        return str(error)
