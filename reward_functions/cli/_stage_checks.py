"""What `reward doctor` looks at for a stage: its file, its tools, and the shell's direction."""

from __future__ import annotations

import json
import os
import subprocess
from importlib.metadata import version
from shutil import which
from typing import TYPE_CHECKING, Final

from reward_functions.aws.deployed.findings import (
    Check,
    CheckFinding,
    failure,
    ok,
    unknown,
    warning,
)
from reward_functions.cli._echo import several

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from reward_functions.cdk.app.preview import Preview
    from reward_functions.cdk.model.project import Project

CDK: Final = "2.1148.1"
"""The CDK command line that `package-lock.json` pins and that reads today's assemblies."""

INSTALL_CDK: Final = f"npm install --save-dev --save-exact aws-cdk@{CDK}"

ANSWER_SECONDS: Final = 5.0


def checks_of(project: Project | None, name: str, preview: Preview | str) -> Iterator[Check]:
    """The checks of a stage.

    Args:
        project: its file; None where that could not be read.
        name: the stage's.
        preview: what it would be; or why there is none.
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

    check_shell(preview.stage, os.environ)
    where = "the local emulator" if preview.stage.emulated else "an account of AWS"
    return ok("shell", f"{preview.stage.name} is for {where}, and so is this shell")


def python(preview: Preview, given: object) -> CheckFinding:
    """Which interpreter compiles the artifacts.

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
    """Which CDK command line `npx cdk` starts in a folder, and whether it is the pinned one."""
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
