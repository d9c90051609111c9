"""A run of pytest over files that a test writes, with plugins of ours and none that cost time."""

import os
import subprocess
import sys
from pathlib import Path

from tests.parallel import NUMBER
from tests.waiting import PATIENCE

ROOT = Path(__file__).parents[1]
WITHOUT = ("langsmith_plugin", "hypothesispytest")


def run_pytest(folder, files, *options, plugins=()):
    """Its status and its output.

    Args:
        files: sources by name, which are written to the folder.
    """
    for name, source in files.items():
        folder.joinpath(name).write_text(source, encoding="utf-8")
    named = [*plugins, *(f"no:{name}" for name in WITHOUT)]
    done = subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-q", f"--rootdir={folder}"),
            *(part for name in named for part in ("-p", name)),
            *(f"--basetemp={folder / 'kept'}", *options),
        ],
        cwd=folder,
        env={k: v for k, v in os.environ.items() if k != NUMBER} | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    return done.returncode, done.stdout


def ends(said):
    """How each test of a run with `-rA` ended, whichever process ran it first."""
    words = ("PASSED", "FAILED", "SKIPPED", "SUBFAILED", "ERROR")
    return sorted(line.partition(" - ")[0] for line in said.splitlines() if line.startswith(words))
