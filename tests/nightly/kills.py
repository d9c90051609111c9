"""Runs of `reward score` that are killed at random moments and resumed: the bytes of a whole run.

python -m tests.nightly.kills [RUNS] [SEED]
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from random import Random
from time import sleep

ROWS = 20_000
COMMAND = (
    sys.executable,
    "-m",
    "reward_functions.cli",
    "score",
    "gsm8k",
    "rows.jsonl",
    "-o",
    "out",
)


def write_rows(folder):
    """A file whose run takes about two seconds."""
    with (folder / "rows.jsonl").open("w", encoding="utf-8") as stream:
        for number in range(ROWS):
            said = f"Add {number} and 1.\n#### {number + number % 3}"
            turns = [
                {"role": "user", "content": f"{number}?"},
                {"role": "assistant", "content": said},
            ]
            row = {"id": f"r{number}", "messages": turns, "reference_answer": f"#### {number + 1}"}
            print(json.dumps(row), file=stream)


def killed(folder, numbers, workers):
    """Kill a run until one ends; returns how often it was killed, and its bytes."""
    kills, more = 0, []
    while True:
        running = subprocess.Popen(
            [*COMMAND, "--workers", str(workers), *more],
            cwd=folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            # Longer each time: where the machine is busy, a run would be killed as it starts.
            running.wait((1 + kills) * (0.5 + numbers.random()))
        except subprocess.TimeoutExpired:
            running.kill()
            kills += 1
        if not running.wait():
            break
        more = ["--resume"] if (folder / "out.partial").exists() else []
        sleep(0.05)
    said = (folder / "out").read_bytes()
    (folder / "out").unlink()
    return kills, said


def main(runs=20, seed=1):
    """Returns 1 where a resumed run wrote other bytes than one that was left alone."""
    numbers = Random(seed)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_rows(folder)
        subprocess.run(COMMAND, cwd=folder, check=True, capture_output=True)
        whole = (folder / "out").read_bytes()
        (folder / "out").unlink()
        total = 0
        for run in range(runs):
            kills, said = killed(folder, numbers, 1 + run % 2)
            total += kills
            if said != whole:
                print(f"run {run} of seed {seed} wrote other bytes after {kills} kills")
                return 1
    print(f"{total} kills in {runs} runs: the bytes of a run that was left alone.")
    return int(not total)


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
