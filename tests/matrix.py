"""The library's tests under each Python that is found: `make matrix`.

Each has an environment of its own, `.venv/matrix/3.13`, with the same pins; a version that no
interpreter is found of is skipped, and that is said. What needs the emulator or the CDK is left
out: those run on the interpreter of `.venv`.
"""

import os
import subprocess
import sys
from pathlib import Path

from uv import find_uv_bin

ROOT = Path(__file__).parents[1]

VERSIONS = ("3.11", "3.12", "3.13", "3.14")

ASK = "import sys; print('{0}.{1}'.format(*sys.version_info))"

TESTS = ("--numprocesses", "auto", "-m", "not aws", "--quiet", "-p", "no:cacheprovider")


def interpreter(version):
    """One of this version: on the PATH, one of uv's, one of pyenv's; None where there is none.

    A file of the right name may be pyenv's shim for a version that is not chosen.
    """
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    uvs = _said(find_uv_bin(), "python", "dir")
    candidates = [
        f"python{version}",
        *Path(uvs).glob(f"cpython-{version}.*/bin/python{version}"),
        *(pyenv / "versions").glob(f"{version}.*/bin/python{version}"),
    ]
    return next((each for each in candidates if _said(each, "-c", ASK) == version), None)


def tested(version, python):
    """Whether the tests pass under an interpreter."""
    folder = ROOT / ".venv" / "matrix" / version
    within = folder / "bin" / "python"
    uv = (find_uv_bin(), "--quiet")
    install = (*uv, "pip", "install", "--python", within)
    commands = [
        (*uv, "venv", "--clear", "--python", python, folder),
        (*install, "--require-hashes", "-r", "requirements/dev.txt"),
        (*install, "--no-deps", "--no-build-isolation", "--editable", "."),
        (within, "-m", "pytest", *TESTS),
    ]
    return all(
        subprocess.run(command, cwd=ROOT, check=False).returncode == 0 for command in commands
    )


def main():
    """Run them all; returns the exit status."""
    outcomes = {}
    for version in VERSIONS:
        python = interpreter(version)
        if python is None:
            outcomes[version] = "skipped: no interpreter is found"
            continue
        print(f"Python {version}: {python}", flush=True)
        outcomes[version] = "passed" if tested(version, python) else "FAILED"
    for version, outcome in outcomes.items():
        print(f"Python {version} {outcome}")
    return "FAILED" in outcomes.values()


def _said(*command):
    """What a program prints; None where it cannot be run."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.strip()


if __name__ == "__main__":
    sys.exit(main())
