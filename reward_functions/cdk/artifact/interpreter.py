"""Finds a Python of the Lambda runtime's version: only that one compiles bytecode it accepts.

Bytecode carries the minor version it was compiled by; Lambda ignores any other and compiles anew at
every cold start, for its disk is read-only.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from platform import machine
from typing import TYPE_CHECKING, Final

from uv import find_uv_bin

from reward_functions.core.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Iterator

ANSWER_SECONDS: Final = 10.0

WHO: Final = "import sys; print(sys.implementation.name, *sys.version_info[:2])"


class NoInterpreter(ConfigurationError):
    """There is no interpreter of the version asked for. The message says what that costs."""


def here() -> tuple[str, str]:
    """This machine's architecture and this interpreter's minor version, in Lambda's words."""
    names = {"aarch64": "arm64", "AMD64": "x86_64"}
    return names.get(machine(), machine()), "{}.{}".format(*sys.version_info)


def interpreter(python: str, given: str | None = None) -> Path | None:
    """An interpreter of that minor version that answers; None without one.

    Args:
        python: such as `3.13`.
        given: the only one to consider.

    Raises:
        NoInterpreter: the one given does not answer as CPython of that version.
    """
    if given is not None:
        if not _answers(Path(given), python):
            raise NoInterpreter(f"{given} does not answer as CPython {python}")
        return Path(given)
    return next((path for path in _candidates(python) if _answers(path, python)), None)


def _candidates(python: str) -> Iterator[Path]:
    yield Path(sys.executable)
    for folder in map(Path, os.get_exec_path()):
        if (found := folder / f"python{python}").is_file():
            yield found
        if folder.name == "shims":  # pyenv's only pass on to a version that was chosen elsewhere
            versions = folder.parent / "versions"
            yield from sorted(versions.glob(f"{python}.*/bin/python{python}"))
    yield from _managed(python)


def _managed(python: str) -> Iterator[Path]:
    """Those that uv has installed."""
    done = subprocess.run(  # noqa: S603 - our own tool, no shell
        [find_uv_bin(), "python", "find", "--managed-python", "--no-python-downloads", python],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode == 0:
        yield Path(done.stdout.strip())


def _answers(path: Path, python: str) -> bool:
    """A version manager's shim exists, and may only say that the version is not installed."""
    try:
        done = subprocess.run(  # noqa: S603 - found under its own name, no shell
            [path, "-I", "-c", WHO],
            capture_output=True,
            text=True,
            check=False,
            timeout=ANSWER_SECONDS,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0 and done.stdout.split() == ["cpython", *python.split(".")]
