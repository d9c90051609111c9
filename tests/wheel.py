"""The wheels of this project and of an example team, installed without a network."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from uv import find_uv_bin

ROOT = Path(__file__).parents[1]
EXAMPLE = ROOT / "tests" / "cdk" / "example"

OFFLINE = {"UV_OFFLINE": "1", "UV_NO_BUILD_ISOLATION": "1", "CDK_VALIDATION": "false"}


@dataclass(frozen=True)
class Installed:
    """A folder of installed wheels, and the wheels themselves."""

    site: Path
    wheels: Path

    @property
    def ours(self):
        """This project's wheel."""
        return next(self.wheels.glob("reward_functions-*.whl"))

    def environment(self, repository):
        """Of a command in a repository, whose packages come first on `sys.path`."""
        path = os.pathsep.join([str(self.site / "bin"), os.environ["PATH"]])
        found = os.pathsep.join([str(repository), str(self.site)])
        return OFFLINE | {"PATH": path, "PYTHONPATH": found}

    def run(self, repository, *command, **environment):
        """A command in a repository: a console script of the wheel, or one of this Python."""
        program, *arguments = command
        script = self.site / "bin" / program
        return subprocess.run(
            [str(script) if script.is_file() else sys.executable, *arguments],
            cwd=repository,
            env=os.environ | self.environment(repository) | environment,
            capture_output=True,
            text=True,
            check=False,
        )


def installed(folder, team=EXAMPLE):
    """Build our wheel and a team's, and install them below a folder."""
    made = Installed(folder / "site", folder / "wheels")
    for project in (ROOT, team):
        _uv("build", "--wheel", "--python", sys.executable, "--out-dir", made.wheels, project)
    _uv(
        *("pip", "install", "--no-deps", "--python", sys.executable),
        *("--target", made.site, *made.wheels.glob("*.whl")),
    )
    return made


def repository_with_packages_of_our_names(folder):
    """The example's repository, with `helpers` and `infra` packages of its own."""
    repository = folder / "repository"
    shutil.copytree(EXAMPLE, repository)
    for package in ("helpers", "infra"):
        (repository / package).mkdir()
        (repository / package / "__init__.py").write_text(f'THEIRS = "{package}"\n')
    return repository


def _uv(*arguments):
    subprocess.run(
        [find_uv_bin(), "--quiet", *map(str, arguments)], check=True, env=os.environ | OFFLINE
    )
