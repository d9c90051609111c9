"""From a CSV to a green preflight: every command of the README that `reward init` writes.

    python -m tests.nightly.init [KIND …]

Each folder gets an emulator of its own, to which its README deploys. What the README installs is
installed from here, without a network.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic

from uv import find_uv_bin

ROOT = Path(__file__).parents[2]

NAME = f"nightly-init-{os.getpid()}"

KINDS = {
    "bedrock": [],
    "own": ["--own", "acme.cost"],
    "sagemaker": ["--for", "sagemaker"],
    "trainer": ["--for", "own"],
    "labels": ["--reward", "answer_text"],
}
"""The options of each folder."""

BLOCK = re.compile(r"^## (Check|Rehearse).*?^```sh\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def commands(readme):
    """The commands of both blocks, with an emulator of ours."""
    for _, block in BLOCK.findall(readme):
        for line in block.replace("reward local up", f"reward local up --name {NAME}").splitlines():
            yield line.replace("reward local down", f"reward local down --name {NAME}")


def folder_of(kind, where):
    """A folder of this kind, its package installed; returns it and the environment."""
    rows = "".join(f"What is {at} plus one?,{at + 1}\n" for at in range(150))
    (where / "sums.csv").write_text(f"question,answer\n{rows}")
    bins = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    paths = os.pathsep.join([str(where / "site"), str(ROOT)])
    environment = os.environ | {"PATH": bins, "PYTHONPATH": paths, "COLUMNS": "120"}
    made = ["reward", "init", "shop", "--data", "sums.csv", "--yes", *KINDS[kind]]
    subprocess.run(made, cwd=where, env=environment, check=True, stdin=subprocess.DEVNULL)
    install = [find_uv_bin(), "pip", "install", "-q", "--no-deps", "--offline"]
    install += ["--no-build-isolation", "--python", sys.executable, "--target", where / "site"]
    subprocess.run([*install, where / "shop"], check=True, env=environment)
    if (where / "shop/package.json").exists():
        pinned = json.loads((where / "shop/package.json").read_text())["devDependencies"]
        assert pinned == json.loads((ROOT / "package.json").read_text())["devDependencies"]
        (where / "shop/node_modules").symlink_to(ROOT / "node_modules")
    return where / "shop", environment


def complaints_of_github(folder):
    """What GitHub's schema has against the workflow; "" for nothing."""
    schema = ["--builtin-schema", "vendor.github-workflows"]
    command = [sys.executable, "-m", "check_jsonschema", *schema]
    workflow = folder / ".github/workflows/rewards.yml"
    done = subprocess.run([*command, workflow], capture_output=True, text=True, check=False)
    return done.stdout if done.returncode else ""


def run(kind):
    """Run the README of a kind; returns the commands that failed."""
    failed = []
    with TemporaryDirectory() as where:
        folder, environment = folder_of(kind, Path(where))
        typed = commands((folder / "README.md").read_text())
        shell = [f"{line} || echo FAILED: {json.dumps(line)}" for line in typed]
        script = "\n".join([*shell, f"reward local down --name {NAME}"])
        done = subprocess.run(
            ["bash", "-c", script], cwd=folder, env=environment, check=False,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip
        print(done.stdout)
        failed += [f"FAILED: {each}" for each in complaints_of_github(folder).splitlines()]
        failed += [line for line in done.stdout.splitlines() if line.startswith("FAILED: ")]
    return failed


def main():
    """Run each kind; returns 1 where a command failed."""
    failed = []
    for kind in sys.argv[1:] or KINDS:
        began = monotonic()
        found = run(kind)
        print(f"{kind}: {len(found)} failed, {monotonic() - began:.0f} s", flush=True)
        failed += found
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
