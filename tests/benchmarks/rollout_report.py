"""`reward rollouts report` of 100,000 records: seconds and memory, beside reading them as JSON."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from rich.table import Table

if TYPE_CHECKING:
    from rich.console import Console

ROOT = Path(__file__).parents[2]
SIZES, GROUP = (10_000, 100_000), 8
STATEMENTS = {
    "json.loads of each line (yardstick)": (
        "import json\nfor line in open({path!r}): json.loads(line)"
    ),
    "reward rollouts report": (
        "import contextlib, io\nfrom reward_functions.cli import app\n"
        "with contextlib.redirect_stdout(io.StringIO()):\n"
        "    app(['rollouts', 'report', {path!r}], standalone_mode=False)"
    ),
}
ASKED = """
import time
{statement}
status = dict(line.split(":") for line in open("/proc/self/status"))
print(time.process_time(), int(status["VmHWM"].split()[0]) / 1024)
"""
"""Of a process of its own: its processor's seconds and the most memory it had, in MB."""


def report(console: Console) -> None:
    """Print both for two sizes: what is linear costs ten times as much."""
    table = Table(title="A report of rollouts with 1,000 characters each")
    for column in ("what", "records", "processor, s", "MB"):
        table.add_column(column, justify="left" if column == "what" else "right")
    with TemporaryDirectory() as folder:
        for records in SIZES:
            path = Path(folder, f"{records}.jsonl")
            write(path, records)
            for name, statement in STATEMENTS.items():
                seconds, memory = asked(statement.format(path=str(path)))
                table.add_row(name, f"{records:,}", f"{seconds:.1f}", f"{memory:.0f}")
    console.print(table)


def asked(statement: str) -> list[float]:
    """What one statement takes."""
    done = subprocess.run(
        [sys.executable, "-c", ASKED.format(statement=statement)],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    return [float(each) for each in done.stdout.split()]


def write(path: Path, records: int) -> None:
    """A file of records, nine of ten rewarded."""
    numbers = random.Random(1)
    setup = {"data": "d", "n": GROUP, "agent": "a.py:agent", "policy": "calculator", "seed": 0}
    known = {"record": 1, "scored_by": "agent", "response": "word " * 200, "tool_calls": 3}
    with path.open("w") as stream:
        for at in range(records):
            rewarded = numbers.random() < 0.9
            line = known | {
                "row": at // GROUP + 1,
                "id": f"row-{at // GROUP + 1}",
                "sample": at % GROUP,
                "rollout": f"run-{at}",
                "status": "rewarded" if rewarded else "failed",
                "rewards": [numbers.random()] if rewarded else [],
                "error": "" if rewarded else "HTTP 500",
                "turns": numbers.randint(1, 10),
                "seconds": numbers.random(),
                "setup": setup | {"sampling": {}, "scorer": None},
            }
            stream.write(f"{json.dumps(line)}\n")
