"""Which Python interpreter has the emulator installed, at the one version this project knows."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Final

from reward_functions.aws.emulator_record import LocalAwsError

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
    versions = {python: version_in(python) for python in candidates}
    for python, version in versions.items():
        if version == VERSION:
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
