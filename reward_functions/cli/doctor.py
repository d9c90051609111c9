"""`reward doctor`: whether this machine and this shell are ready, and for which AWS.

Of a stage it looks at its file, its tools, and the shell's direction; of AWS and the machine
`local.laptop` does.
"""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import asdict
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from shutil import which
from typing import TYPE_CHECKING, Annotated, Final

import typer

from reward_functions.aws.deployed.findings import (
    Check,
    CheckFinding,
    credentials,
    failure,
    findings_of,
    ok,
    unknown,
    warning,
)
from reward_functions.aws.shell import DEFAULT_STAGE, default_stage
from reward_functions.cli._console import errors, print_json
from reward_functions.cli._echo import several
from reward_functions.cli._errors import INCOMPLETE
from reward_functions.cli.job._output import print_findings
from reward_functions.core.errors import ConfigurationError
from reward_functions.core.extras import require
from reward_functions.local import laptop
from reward_functions.scaffold.folder import CDK

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
    """Say which AWS this shell is on, and if credentials, tools and the stage are ready.

    STS is asked who you are, for three seconds at most, and nobody else anything. No key or token
    is printed. A check that cannot see is unknown and no failure. See also `reward rollouts
    doctor`, `reward audit JUDGE`, and `reward stage check` for every field of a stage.

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
        yield from checks_of(project, chosen, preview)
    yield Check("node", node)
    yield Check("cdk", lambda: cdk(Path.cwd()))
    yield Check("uv", uv)
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


INSTALL_CDK: Final = f"npm install --save-dev --save-exact aws-cdk@{CDK}"

ANSWER_SECONDS: Final = 5.0


def checks_of(project: Project | None, name: str, preview: Preview | str) -> Iterator[Check]:
    """The checks of a stage.

    Args:
        project: its file; None where that could not be read.
        name: the stage's.
        preview: what it would be, or why it cannot be shown.
    """
    from reward_functions.cdk.app.preview import Preview

    yield Check("stage", lambda: stage(name, preview))
    if project is not None and isinstance(preview, Preview):
        found, given = preview, project.context.get("interpreter")
        yield Check("shell", lambda: shell(found))
        yield Check("python", lambda: python(found, given))
        yield Check("lock", lambda: lock(found))


def stage(name: str, preview: Preview | str) -> CheckFinding:
    """Whether a synth would take it."""
    if isinstance(preview, str):
        return failure("stage", preview)
    deployments = several(len(preview.functions), "deployment")
    return ok("stage", f"{name}: {deployments} in {preview.stage.region}")


def shell(preview: Preview) -> CheckFinding:
    """Whether the shell points at the AWS that the stage is for.

    Raises:
        BadStage: it points elsewhere; the message is the synth's.
    """
    from reward_functions.cdk.app.shell import check_shell

    check_shell(preview.stage, os.environ, "--stage NAME")
    where = "the local emulator" if preview.stage.emulated else "an account of AWS"
    return ok("shell", f"{preview.stage.name} is for {where}, and so is this shell")


def python(preview: Preview, given: object) -> CheckFinding:
    """The interpreter that compiles the artifacts.

    Raises:
        NoInterpreter: the one that `cdk.json` names does not answer.
    """
    from reward_functions.cdk.artifact.interpreter import interpreter
    from reward_functions.cdk.constructs.artifacts import COST

    wanted = preview.stage.python
    found = interpreter(wanted, given if isinstance(given, str) else None)
    if found is None:
        return warning("python", COST.format(python=wanted))
    return ok("python", f"{wanted} compiles: {found}")


def lock(preview: Preview) -> CheckFinding:
    """Whether the lock is there, as far as it is seen without building."""
    named = f"reward lock --stage {preview.stage.name}"
    if preview.lock == "missing":
        return warning("lock", f"missing: {named}, and commit it")
    if preview.lock == "undecided":
        return unknown("lock", f"a build knows whether one is needed: {named}")
    return ok("lock", preview.lock)


def node() -> CheckFinding:
    """Which Node jsii starts."""
    import reward_functions.cdk  # sets JSII_NODE

    del reward_functions
    chosen = os.environ.get("JSII_NODE") or which("node")
    if chosen is None:
        return warning("node", "none, and cdk needs it: pip install 'reward-functions[deploy]'")
    try:
        ran = subprocess.run(  # noqa: S603 - found by name, no shell
            [chosen, "--version"],
            capture_output=True,
            text=True,
            check=False,
            timeout=ANSWER_SECONDS,
        )
    except (OSError, subprocess.TimeoutExpired):
        ran = None
    if ran is None or ran.returncode:
        return failure("node", f"{chosen} does not answer: unset JSII_NODE")
    return ok("node", f"{ran.stdout.strip()}, {chosen}")


def cdk(folder: Path) -> CheckFinding:
    """The CDK command line that `npx cdk` starts in a folder, and whether it is the pinned one."""
    for each in (folder, *folder.parents):
        path = each / "node_modules" / "aws-cdk" / "package.json"
        if path.is_file():
            break
    else:
        return warning("cdk", f"not installed here: npm ci, or {INSTALL_CDK}")
    try:
        found = str(json.loads(path.read_text(encoding="utf-8"))["version"])
    except (OSError, ValueError, LookupError, TypeError):
        return failure("cdk", f"{path} cannot be read: {INSTALL_CDK}")
    if found == CDK:
        return ok("cdk", f"{found}, as pinned")
    major = found.partition(".")[0]
    return CheckFinding(
        "failure" if major != CDK.partition(".")[0] else "warning",
        "cdk",
        f"{found}, and this project was tried with {CDK}: {INSTALL_CDK}",
    )


def uv() -> CheckFinding:
    """Whether the resolver is there."""
    try:
        from uv import find_uv_bin

        return ok("uv", f"{version('uv')}, {find_uv_bin()}")
    except (ModuleNotFoundError, FileNotFoundError):
        return warning("uv", "none, and packages need it: pip install 'reward-functions[deploy]'")
