"""What the command costs: instant help, and how fast `reward score` goes through a file.

Help stands beside the start of a bare interpreter, the bar being 0.3 s; a file beside `json.loads`
of its lines, both in samples a second and with the start of the process included.
"""

import json
import subprocess
import sys
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter

from rich.table import Table

from tests.benchmarks._measure import gsm8k_rows

BARE = (sys.executable, "-c", "pass")
REWARD = (sys.executable, "-c", "from reward_functions.cli import main; main()")
LOADS = (sys.executable, "-c", "import json, sys; list(map(json.loads, open(sys.argv[1])))")
ROUNDS = 5
COPIES = 10
"""How often the rows are repeated, so that the start of a process does not hide the rest."""

HELP_SECONDS = 0.3


def report(console):
    """Print the time of help, and the speed of `reward score`."""
    bare, helped = median_seconds(*BARE), median_seconds(*REWARD, "--help")
    table = Table(title="reward --help")
    for heading in ("", "median ms", "× bare"):
        table.add_column(heading, justify="right" if heading else "left")
    table.add_row("python -c pass", f"{bare * 1000:.0f}", "1.0")
    table.add_row("reward --help", f"{helped * 1000:.0f}", f"{helped / bare:.1f}")
    met = "met" if helped <= HELP_SECONDS else "MISSED"
    console.print(table, f"bar: {HELP_SECONDS * 1000:.0f} ms, {met}\n")

    origin, rows = gsm8k_rows()
    with TemporaryDirectory() as folder:
        file = Path(folder, "rows.jsonl")
        file.write_text("".join(json.dumps(row) + "\n" for row in rows) * COPIES)
        table = Table(title=f"reward score gsm8k ({COPIES} × {origin})")
        for heading in ("", "samples/s", "× json.loads"):
            table.add_column(heading, justify="right" if heading else "left")
        loads = median_seconds(*LOADS, str(file))
        command = (*REWARD, "score", "gsm8k", str(file))
        scored = median_seconds(*command)
        page = Path(folder, "page.html")
        reported = median_seconds(*command, "--report", str(page))
        size = page.stat().st_size
    for name, seconds in (
        ("json.loads of every line", loads),
        ("reward score", scored),
        (f"reward score --report, a page of {size / 1000:,.0f} kB", reported),
    ):
        speed = len(rows) * COPIES / seconds
        table.add_row(name, f"{speed:,.0f}", f"{seconds / loads:.1f}")
    console.print(table, "\n")


def median_seconds(*command):
    """The median wall time of a process, start included."""
    times = []
    for _ in range(ROUNDS):
        began = perf_counter()
        subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
        times.append(perf_counter() - began)
    return median(times)
