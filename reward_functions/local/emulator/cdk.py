"""The real CDK command line against a local AWS emulator: bootstrap, deploy, destroy.

    with running() as aws:
        cdk = Cdk(aws, project, stage="local")
        cdk.bootstrap()
        cdk.deploy()

The command line and Node are those of the project (`package-lock.json`, the pinned wheel), where
they are installed. The first end ends a command: its own, this process's, the emulator's.
"""

from __future__ import annotations

import os
import re
import sys
from contextlib import ExitStack
from pathlib import Path
from shutil import which
from time import sleep
from typing import TYPE_CHECKING, Final

from reward_functions.aws.emulator_record import GLANCE, LocalAwsError
from reward_functions.local.emulator.emulator import (
    ACCOUNT,
    REGION,
    lifeline,
    process_of,
    start,
    undisturbed,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reward_functions.local.emulator.emulator import LocalAws

OURS: Final = "reward-functions: "
"""How the CDK app begins the sentence it ends with."""

CHECKOUT: Final = Path(__file__).parents[3]
"""Where `make setup` has installed the command line, for a project that lies elsewhere."""

REASON: Final = re.compile(
    r"\| (?:CREATE|UPDATE)_FAILED +\| [^|\n]+\| \S+ \([^()|\n]*\) (.+)$", re.MULTILINE
)
"""Why CloudFormation could not make a resource, at the end of its line."""

CONTROL: Final = re.compile(r"\x1b\[[0-9;]*m")


class CdkFailed(LocalAwsError):
    """A command of the CDK failed. The message has what it said last."""


class Cdk:
    """The command line for one stage of a project.

    Args:
        aws: where to deploy.
        project: the folder of `cdk.json`.
        stage: one of its stages, for an emulator.
        output: where it puts what it synthesises; the project's own `cdk.out` where not given,
            which keeps an artifact that was built before.

    Raises:
        CdkFailed: the command line is not installed.
    """

    def __init__(
        self, aws: LocalAws, project: Path, *, stage: str, output: Path | None = None
    ) -> None:
        self.aws, self.project, self.stage = aws, project, stage
        self.output = output or project / "cdk.out"
        self.log = aws.folder.path / "cdk.log"
        found = which("cdk", path=self._path)
        if found is None:
            raise CdkFailed("the CDK's command line is not installed: make setup, or npm ci")
        self.command = found

    def bootstrap(self) -> str:
        """Prepare the account, as every account is prepared once; returns what it printed."""
        # Without an app there is nothing to synthesise first.
        return self._run("bootstrap", f"aws://{ACCOUNT}/{REGION}", "--app", "")

    def deploy(self) -> str:
        """Make the stage what `cdk.json` says; returns what it printed."""
        return self._run("deploy", "--all", "--require-approval", "never")

    def destroy(self) -> str:
        """Take away what was deployed; returns what it printed."""
        made = (self.output / "manifest.json").is_file()
        app = ("--app", str(self.output)) if made else ()  # else what `cdk.json` says
        return self._run("destroy", "--all", "--force", *app)

    @property
    def _path(self) -> str:
        """Where programs are found: this environment's, the project's, then the caller's."""
        modules = [folder / "node_modules" / ".bin" for folder in (self.project, CHECKOUT)]
        own = (Path(sys.prefix) / "bin", *modules)
        return os.pathsep.join([*map(str, own), os.environ.get("PATH", os.defpath)])

    @property
    def _environment(self) -> Mapping[str, str]:
        return self.aws.environment_for(os.environ) | {
            "PATH": self._path,
            "NO_COLOR": "1",
            "CDK_DISABLE_CLI_TELEMETRY": "true",
            # Four seconds of every synthesis: templates are judged in the tests, not here.
            "CDK_VALIDATION": "false",
        }

    def _run(self, verb: str, *arguments: str) -> str:
        where = ("--output", str(self.output), "-c", f"stage={self.stage}")
        command = [self.command, verb, *arguments, "--no-notices", *where]
        status = self._ended(command)
        printed = CONTROL.sub("", self.log.read_text(errors="replace"))
        if status:
            raise CdkFailed(f"cdk {verb} failed: {_gist(printed)}")
        return printed

    def _ended(self, command: Sequence[str]) -> int:
        """Run a command to its end; returns its exit status."""
        with self.log.open("wb") as log, lifeline() as line, ExitStack() as ended:
            with undisturbed():
                child = start(
                    command,
                    environment=self._environment,
                    folder=self.project,
                    log=log,
                    line=line,
                )
                # Before anything that was put off gets its turn.
                ended.callback(child.wait)
                ended.callback(process_of(child.pid).end)
            while child.poll() is None:
                self.aws.require()
                sleep(GLANCE)
        return child.returncode


def _gist(printed: str) -> str:
    """The one line that says what went wrong."""
    lines = [line.strip() for line in printed.splitlines() if line.strip()]
    ours = [line.removeprefix(OURS) for line in lines if line.startswith(OURS)]
    errors = [line for line in lines if line.startswith("❌")] or lines[-1:]
    return (ours or REASON.findall(printed)[:1] or errors or ["it printed nothing"])[-1]
