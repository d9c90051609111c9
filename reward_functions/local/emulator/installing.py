"""The environment of the emulator, made from hashed pins inside the one that runs this.

No extra can bring the emulator: it pins another botocore than boto3 of today, and its functions
must not find what is missing from a Lambda's zip.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Final

from reward_functions.aws.emulator_record import LocalAwsError
from reward_functions.local.emulator.interpreter import OWN, VERSION, version_in

if TYPE_CHECKING:
    from collections.abc import Callable

PIP: Final = ("-m", "pip", "--disable-pip-version-check", "--quiet", "install", "--require-hashes")

PATIENCE: Final = 900.0
"""Seconds that pip may take; with an index at hand it takes ten."""


def pins() -> Path:
    """The requirements of the emulator: in the installed wheel, or in the checkout."""
    here = Path(__file__)
    carried = here.with_name("emulator.txt")
    return carried if carried.is_file() else here.parents[3] / "requirements" / "emulator.txt"


def install(progress: Callable[[str], None] = lambda _: None) -> Path:
    """The emulator's interpreter; it is installed where it is not, or is of another version.

    Args:
        progress: hears what is being waited for.

    Raises:
        LocalAwsError: it cannot be installed; nothing is left of the attempt.
    """
    if version_in(str(OWN)) == VERSION:
        return OWN
    folder = OWN.parents[1]
    with ExitStack() as undo:
        undo.callback(shutil.rmtree, folder, ignore_errors=True)
        progress(f"making {folder}")
        _run(sys.executable, "-m", "venv", "--clear", str(folder))
        progress(f"installing ministack {VERSION}, the local AWS emulator")
        _run(str(OWN), *PIP, "--requirement", str(pins()))
        undo.pop_all()
    return OWN


def _run(*command: str) -> None:
    """A step, without the packages that the caller's variables add.

    Raises:
        LocalAwsError: it failed; the message is the last line that it said.
    """
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    try:
        subprocess.run(  # noqa: S603 - our own interpreter, and the one it just made
            command, env=kept, capture_output=True, text=True, check=True, timeout=PATIENCE
        )
    except subprocess.CalledProcessError as error:
        printed = f"{error.stdout}{error.stderr}".strip().splitlines()
        why = printed[-1] if printed else f"{command[2]} ended with {error.returncode}"
        raise LocalAwsError(f"the local AWS emulator cannot be installed: {why}") from None
    except subprocess.TimeoutExpired:
        raise LocalAwsError(
            f"the local AWS emulator cannot be installed: {command[2]} took over {PATIENCE:.0f} s"
        ) from None
