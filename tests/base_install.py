"""An environment that has what `pip install reward-functions` brings, and no extra.

No index is asked: the distributions that the wheel requires are linked from the environment of the
tests, whose other packages it does not see.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from importlib.metadata import PathDistribution, distribution
from pathlib import Path

from packaging.requirements import Requirement

from tests.wheel import example_installed, kept, sources_digest


@dataclass(frozen=True)
class BaseInstall:
    """The environment, in a folder of its own.

    Args:
        python: its interpreter.
        distributions: the names of all that it has, but our own.
    """

    python: Path
    distributions: frozenset

    def run(self, *arguments, cwd, given=""):
        """Run its interpreter."""
        kept = {name: os.environ[name] for name in ("PATH", "LANG", "TMPDIR") if name in os.environ}
        return subprocess.run(
            [self.python, "-I", *arguments],
            cwd=cwd,
            env=kept | {"HOME": str(cwd), "COLUMNS": "200"},
            input=given,
            capture_output=True,
            text=True,
            check=False,
        )

    def commands(self, lines, cwd):
        """Run commands of `reward`, one after the other in one process.

        Returns:
            for each its exit status, and what it said on both streams.
        """
        done = self.run("-c", COMMANDS, cwd=cwd, given=json.dumps(lines))
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)


COMMANDS = """
import json, sys
from functools import cache
from typer import testing
from reward_functions.cli import app

testing._get_command = cache(testing._get_command)  # as tests/made_once.py does
said = []
for line in json.load(sys.stdin):
    ran = testing.CliRunner().invoke(app, line)
    error = ran.exception if not isinstance(ran.exception, SystemExit) else None
    said.append([ran.exit_code, ran.output, repr(error) if error else ""])
print(json.dumps(said))
"""


def base_install():
    """The environment, made once by a checkout for its sources and pins."""
    made = example_installed()
    ours = next(made.site.glob("reward_functions-*.dist-info"))
    names = required(PathDistribution(ours))
    environment = kept(f"base-{sources_digest()}", lambda folder: _fill(folder, names, made, ours))
    return BaseInstall(environment / "bin" / "python", frozenset(names))


def _fill(folder, names, made, ours):
    """Make it in a folder."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    site = next((folder / "lib").glob("python*")) / "site-packages"
    for name in names:
        link(distribution(name), site)
    for path in (made.site / "reward_functions", ours):
        (site / path.name).symlink_to(path)


def required(ours):
    """The names of what a distribution requires without an extra, and of what that requires."""
    found, left = set(), [ours]
    while left:
        for line in left.pop().requires or ():
            wanted = Requirement(line)
            if wanted.marker is not None and not wanted.marker.evaluate({"extra": ""}):
                continue
            if wanted.name not in found:
                found.add(wanted.name)
                left.append(distribution(wanted.name))
    return found


def link(found, site):
    """What a distribution has in site-packages, linked."""
    tops = {file.parts[0] for file in found.files or ()} - {"..", "__pycache__"}
    for top in tops:
        (site / top).symlink_to(Path(found.locate_file(top)))
