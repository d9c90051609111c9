"""Every check that is too long for `make test`, one after another.

    python -m tests.nightly                 all of them
    python -m tests.nightly events soak     those

events.py   random events to handlers
init.py     the READMEs that `reward init` writes, deployed to an emulator
soak.py     100,000 samples through one process
kills.py    runs of `reward score` that are killed and resumed
shards.py   the same of runs over shards; a million rows; rows that block and that kill
late.py     the fast tests where every thread begins late

A part that fails does not end the others. What it printed is in build/nightly/PART.log.
"""

import os
import subprocess
import sys
from argparse import ArgumentParser
from pathlib import Path
from time import monotonic

ROOT = Path(__file__).parents[2]
LOGS = ROOT / "build" / "nightly"

OURS = ("events", "init", "soak", "kills", "shards")
PARTS = {
    **{name: [sys.executable, "-m", f"tests.nightly.{name}"] for name in OURS},
    "patterns": [sys.executable, "-m", "tests.benchmarks", "linear"],
    "late": [
        *(sys.executable, "-m", "pytest", "-q", "--numprocesses", "auto"),
        *("-p", "tests.nightly.late", "-m", "not slow"),
    ],
    "rights": [sys.executable, "-m", "pytest", "-q", "tests/deploy/test_scale.py"],
    "intervals": [sys.executable, "-m", "pytest", "-q", "tests/reports/test_by_prompt.py"],
    "objects": [sys.executable, "-m", "tests.verifiers.objects", "10000"],
    "calls": [sys.executable, "-m", "pytest", "-q", "tests/verifiers/test_tool_calls.py"],
    "audits": [
        *(sys.executable, "-m", "pytest", "-q"),
        *("tests/audit/test_shipped.py", "tests/audit/test_engine.py"),
    ],
    "mutants": ["make", "mutants", "SINCE=HEAD~20"],
    **{
        name: ["make", name]
        for name in ("bench", "options", "matrix", "adapters", "compat", "pages", "sizes")
    },
    "costs": ["make", "costs"],
}
"""The command of each part, those of seconds first."""


def run(name, log):
    """Run a part; returns what it ended with, and its minutes."""
    began = monotonic()
    with log.open("wb") as stream:
        done = subprocess.run(
            PARTS[name],
            cwd=ROOT,
            stdout=stream,
            stderr=subprocess.STDOUT,
            env=os.environ | {"REWARD_TESTS_NIGHTLY": "1"},
            check=False,
        )
    return done.returncode, (monotonic() - began) / 60


def main():
    """Run the parts; returns 1 where one failed."""
    parser = ArgumentParser("python -m tests.nightly", description=__doc__)
    parser.add_argument("parts", nargs="*", help="all where none is given")
    chosen = parser.parse_args().parts or list(PARTS)
    if unknown := sorted(set(chosen) - set(PARTS)):
        parser.error(f"no part is called {', '.join(unknown)}; there are {', '.join(PARTS)}")
    LOGS.mkdir(parents=True, exist_ok=True)
    failed = []
    for name in chosen:
        log = LOGS / f"{name}.log"
        status, minutes = run(name, log)
        ending = f"failed ({status}): see {log.relative_to(ROOT)}" if status else "passed"
        print(f"{name:10} {minutes:6.1f} min  {ending}", flush=True)
        if status:
            failed.append(name)
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
