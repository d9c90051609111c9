"""`make adapters`: each host of an adapter, beside that adapter, in an environment of its own.

    python -m tests.hosts                all of them
    python -m tests.hosts trl verl       these

An environment is `build/hosts/NAME`, made again when its pins change. Pytest prints what a host's
tests measured; the sizes and times are printed at the end.
"""

import os
import subprocess
import sys
from hashlib import sha256
from pathlib import Path
from time import perf_counter

from tests.hosts.table import HOSTS, TORCH

ROOT = Path(__file__).parents[2]

ENVIRONMENTS = ROOT / "build" / "hosts"

OFFLINE = {
    "HF_HUB_OFFLINE": "1",
    "HF_DATASETS_OFFLINE": "1",
    "TOKENIZERS_PARALLELISM": "false",
    "WANDB_MODE": "disabled",
    "RAY_USAGE_STATS_ENABLED": "0",
    "CUDA_VISIBLE_DEVICES": "",
}
"""No test asks a hub, a tracker or a GPU."""


def main(wanted):
    """Test them; returns how many failed."""
    names = [host.name for host in HOSTS]
    unknown = set(wanted) - set(names)
    if unknown:
        raise SystemExit(
            f"no host is named {', '.join(sorted(unknown))}; there are {', '.join(names)}"
        )
    lines, failed = [], 0
    for host in HOSTS:
        if wanted and host.name not in wanted:
            continue
        begun = perf_counter()
        python = environment(host)
        ready = perf_counter()
        status = tested(host, python)
        failed += status != 0
        lines.append(
            f"{host.name}: {'passed' if status == 0 else 'FAILED'}; "
            f"environment {megabytes(python.parents[1]):,.0f} MB in {ready - begun:.0f} s, "
            f"tests {perf_counter() - ready:.0f} s"
        )
    print("\n".join(lines))
    return failed


def environment(host):
    """The interpreter of a host's environment; made where it is missing or has other pins."""
    folder = ENVIRONMENTS / host.name
    python = folder / "bin" / "python"
    pins = ROOT / "requirements" / "adapters" / f"{host.name}.txt"
    asked = sha256(pins.read_bytes() + (TORCH if host.torch else "").encode()).hexdigest()
    ready = folder / "ready"
    if ready.exists() and ready.read_text() == asked:
        return python
    print(f"Installing requirements/adapters/{pins.name} into build/hosts/{host.name}", flush=True)
    pip = (python, "-m", "pip", "--disable-pip-version-check", "-qq", "install")
    run(sys.executable, "-m", "venv", "--clear", folder)
    if host.torch:  # first, with what it needs: a CPU build where pip's find-links offer one
        run(*pip, TORCH)
    run(*pip, "--no-deps", "--require-hashes", "-r", pins)  # the pins are complete
    if host.ours:
        run(*pip, "--no-deps", "--no-build-isolation", "--editable", ROOT)
    ready.write_text(asked)
    return python


def tested(host, python):
    """The exit status of a host's tests, under the interpreter of its environment."""
    command = (python, "-m", "pytest", "--confcutdir", "tests/hosts", "-p", "no:cacheprovider")
    # A host's own packages warn when they are imported.
    command += (
        "--override-ini",
        "filterwarnings=default",
        "--disable-warnings",
        f"tests/hosts/{host.name}",
    )
    return subprocess.run(
        command, cwd=ROOT, check=False, env=os.environ | OFFLINE | {"PYTHONPATH": str(ROOT)}
    ).returncode


def run(*command):
    """Run a command.

    Raises:
        SystemExit: it failed.
    """
    if subprocess.run(command, cwd=ROOT, check=False).returncode:
        raise SystemExit("this command failed: " + " ".join(map(str, command)))


def megabytes(folder):
    """What the files of a folder take, bytecode and all."""
    files = (path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    return sum(path.stat().st_size for path in files) / 1e6


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
