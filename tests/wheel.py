"""The wheels of this project and of an example team, installed without a network.

What is installed is kept below `build`, by a digest of the sources, and made once by a checkout.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass
from fcntl import LOCK_EX, flock
from hashlib import sha256
from pathlib import Path
from tempfile import mkdtemp

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


KEPT = ROOT / "build" / "installed"

BEGUN = ROOT / "build" / "installing"
"""A file for each folder, locked while a process fills it."""

MOST_KEPT = 6


def example_installed():
    """Our wheel and the example's, built and installed; nobody changes what is there."""
    folder = kept(f"wheels-{sources_digest()}", installed)
    return Installed(folder / "site", folder / "wheels")


def kept(name, make):
    """A folder of that name, filled where it is not there; the latest few are kept."""
    folder = KEPT / name
    if not folder.is_dir():
        KEPT.mkdir(parents=True, exist_ok=True)
        BEGUN.mkdir(exist_ok=True)
        with (BEGUN / name).open("w") as file:
            flock(file, LOCK_EX)  # another process may be filling it
            if not folder.is_dir():
                _fill(folder, make)
    os.utime(folder)  # what is used is not the oldest
    return folder


def _fill(folder, make):
    with suppress(FileNotFoundError):  # another process has just moved one to its place
        for old in sorted(KEPT.iterdir(), key=lambda each: each.stat().st_mtime)[:-MOST_KEPT]:
            shutil.rmtree(old, ignore_errors=True)
    scratch = Path(mkdtemp(dir=KEPT, prefix="."))
    make(scratch)
    scratch.rename(folder)


def sources_digest():
    """Of everything that is built from, and of this interpreter."""
    digest = sha256(f"{sys.executable} {sys.version}".encode())
    folders = (ROOT / "reward_functions", EXAMPLE)
    files = [path for folder in folders for path in folder.rglob("*") if path.is_file()]
    files = [path for path in files if path.parent.name != "__pycache__"]
    more = ("pyproject.toml", "README.md", "requirements/base.txt", "requirements/dev.txt")
    builds = ("requirements/runtime.txt", "requirements/emulator.txt", "tests/wheel.py")
    for path in sorted([*files, *(ROOT / name for name in (*more, *builds))]):
        content = path.read_bytes()
        digest.update(f"{path}\0{len(content)}\0".encode() + content)
    return digest.hexdigest()[:32]


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
