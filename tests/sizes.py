"""`make sizes`: what pip installs into an empty environment, for the base and for each extra.

    python -m tests.sizes                         the base, and every extra of our own
    python -m tests.sizes base aws trl            those
    python -m tests.sizes --project ../other      of another checkout

Megabytes are what `du -m` counts in site-packages, less what was there before: with the bytecode
that pip writes, and without it. Seconds are pip's, and depend on the index and on pip's cache. The
base has limits: it exits with 1 where one is broken. The extras of hosts are measured by name only.
"""

import argparse
import os
import subprocess
import sys
import tomllib
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import NamedTuple

from uv import find_uv_bin

from tests.wheel import OFFLINE

ROOT = Path(__file__).parents[1]

BASE = "base"
MEGABYTE, BLOCK = 2**20, 512

WITH_BYTECODE, WITHOUT = 130, 60
"""Megabytes that the base may add."""

HOSTS = {"dask", "inspect", "ray", "trl", "verifiers", "verl"}
"""Extras that are another project's whole."""

IMPORT = "import reward_functions; reward_functions.get('gsm8k')"


class Size(NamedTuple):
    """What an installation added."""

    with_bytecode: float
    without: float
    packages: int
    seconds: float
    start: float

    @property
    def line(self):
        """A row of the table."""
        figures = (f"{self.with_bytecode:.0f}", f"{self.without:.0f}", str(self.packages))
        return " | ".join([*figures, f"{self.seconds:.0f}", f"{self.start * 1000:.0f}"])


def main():
    """Print a row for each; 1 where the base is too large."""
    given = argparse.ArgumentParser(prog="python -m tests.sizes")
    given.add_argument("extras", nargs="*", help="base, or names of extras")
    given.add_argument("--project", type=Path, default=ROOT)
    options = given.parse_args()
    known = extras(options.project)
    unknown = set(options.extras) - {BASE, *known}
    if unknown:
        given.error(f"no extra is called {', '.join(sorted(unknown))}: {', '.join([BASE, *known])}")
    chosen = options.extras or [BASE, *(name for name in known if name not in HOSTS)]
    print("| extra | MB | without bytecode | packages | pip, s | import and `get`, ms |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    with TemporaryDirectory() as folder:
        wheel = built(options.project, Path(folder))
        sizes = {}
        for name in chosen:
            sizes[name] = measured(wheel, name, Path(folder) / name)
            print(f"| `{name}` | {sizes[name].line} |", flush=True)
    base = sizes.get(BASE)
    return base is not None and (base.with_bytecode > WITH_BYTECODE or base.without > WITHOUT)


def extras(project):
    """The names of a checkout's extras."""
    text = (project / "pyproject.toml").read_text()
    return list(tomllib.loads(text)["project"].get("optional-dependencies", {}))


def built(project, folder):
    """The wheel of a checkout."""
    command = (find_uv_bin(), "--quiet", "build", "--wheel", "--python", sys.executable)
    made = folder / "wheel"
    subprocess.run([*command, "--out-dir", made, project], check=True, env=os.environ | OFFLINE)
    return next(made.glob("*.whl"))


def measured(wheel, extra, folder):
    """What pip adds to an empty environment."""
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    python = folder / "bin" / "python"
    site = next((folder / "lib").glob("python*")) / "site-packages"
    before = blocks(site)
    wanted = str(wheel) if extra == BASE else f"{wheel}[{extra}]"
    began = perf_counter()
    subprocess.run(
        [python, "-m", "pip", "--disable-pip-version-check", "-qq", "install", wanted],
        check=True,
    )
    seconds = perf_counter() - began
    added = {path: size for path, size in blocks(site).items() if path not in before}
    return Size(
        sum(added.values()) / MEGABYTE,
        sum(size for path, size in added.items() if "__pycache__" not in path.parts) / MEGABYTE,
        sum(path.name == "METADATA" for path in added),
        seconds,
        min(start(python) for _ in range(5)),
    )


def blocks(site):
    """Bytes on the disk of each file and folder."""
    return {path: path.lstat().st_blocks * BLOCK for path in site.rglob("*")}


def start(python):
    """Seconds of a process that gets a reward."""
    began = perf_counter()
    subprocess.run([python, "-I", "-c", IMPORT], check=True)
    return perf_counter() - began


if __name__ == "__main__":
    sys.exit(main())
