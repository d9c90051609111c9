"""Find the Python interpreter that has the emulator, at the one version this project knows.

The environment of the emulator is made from hashed pins inside the one that runs this. No extra can
bring the emulator: it pins another botocore than boto3 of today, and its functions must not find
what is missing from a Lambda's zip.
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

if TYPE_CHECKING:
    from collections.abc import Callable


VERSION: Final = "1.5.33"
"""Other versions of ministack emulate other parts of AWS, each with faults of its own."""

OWN: Final = Path(sys.prefix) / "emulator" / "bin" / "python"
"""Where `reward local install` and `make setup` install it: inside this environment's folder, apart
from its packages."""

INSTALL: Final = "reward local install"
"""What to type where it is missing; in a checkout `make setup` does the same."""

ASK: Final = "from importlib.metadata import version; print(version('ministack'))"

PATIENCE: Final = 30.0
"""Seconds an interpreter may take to say what it has; one takes a tenth of one."""


class EmulatorMissing(LocalAwsError):
    """No interpreter at hand has the emulator, or it is of another version."""


def emulator_python(chosen: str | None = None) -> str:
    """The interpreter to run the emulator with.

    Args:
        chosen: a path; else the one `reward local install` made, else the one that runs this.

    Raises:
        EmulatorMissing: it is not there, or of another version. The message says how to get it.
    """
    candidates = [chosen] if chosen is not None else [str(OWN), sys.executable]
    versions = {}
    for python in candidates:
        versions[python] = version_in(python)
        if versions[python] == VERSION:
            return python
    for python, version in versions.items():
        if version is not None:
            raise EmulatorMissing(f"{python} has ministack {version}, not {VERSION}: {INSTALL}")
    raise EmulatorMissing(f"{candidates[-1]} has no ministack, the local AWS emulator: {INSTALL}")


def version_in(python: str) -> str | None:
    """The emulator's version in an interpreter; None where either is missing."""
    try:
        done = subprocess.run(  # noqa: S603 - an interpreter the user chose, or our own
            [python, "-I", "-c", ASK],
            capture_output=True,
            text=True,
            check=True,
            timeout=PATIENCE,
            env={"PATH": os.defpath},
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()


PIP: Final = ("-m", "pip", "--disable-pip-version-check", "--quiet", "install", "--require-hashes")

PIP_SECONDS: Final = 900.0
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
            command, env=kept, capture_output=True, text=True, check=True, timeout=PIP_SECONDS
        )
    except subprocess.CalledProcessError as error:
        printed = f"{error.stdout}{error.stderr}".strip().splitlines()
        why = printed[-1] if printed else f"{command[2]} ended with {error.returncode}"
        raise LocalAwsError(f"the local AWS emulator cannot be installed: {why}") from None
    except subprocess.TimeoutExpired:
        why = f"{command[2]} took over {PIP_SECONDS:.0f} s"
        raise LocalAwsError(f"the local AWS emulator cannot be installed: {why}") from None
