"""What `reward score` costs by the size of its file: rows a second, and memory, which is constant.

    python -m tests.benchmarks score

Files are generated: 100,000 gsm8k rows of 800 bytes, 20,000 math rows of which 4,689 differ. Memory
stands beside that of a file a quarter as long, two interpreters beside one, and the bytes of every
run beside those of the first. Times hold the start of the process.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

from rich.table import Table

SCORE = (sys.executable, "-m", "reward_functions.cli", "score")
DIFFERENT = 4_689
SIZES = {"gsm8k": 100_000, "math": 20_000}
GROUP = 4


def gsm8k(at):
    """A response as long as a GSM8K solution is, every second one correct."""
    steps = f"Each loaf is $3 and there are {at} of them. " * 12
    return f"{steps}That makes <<{at}*3={at * 3}>>.\n#### {at * 3 if at % 2 else at}", str(at * 3)


def math(at):
    """A polynomial that has to be compared as one, every second one correct."""
    at %= DIFFERENT
    first = f"\\frac{{{at + 1}}}{{{at % 97 + 2}}}x^2"
    response = "We expand and collect. " * 6 + f"Hence \\boxed{{{first}+{at}x}}"
    return response, f"{first}+{at if at % 2 else at + 1}x"


def write_rows(path, kind, count):
    """A file of so many rows, written a row at a time."""
    made = {"gsm8k": gsm8k, "math": math}[kind]
    with path.open("w") as stream:
        for at in range(count):
            response, reference = made(at)
            turns = [("user", f"Question {at // GROUP}?"), ("assistant", response)]
            messages = [{"role": role, "content": content} for role, content in turns]
            row = {"id": f"r{at}", "messages": messages, "reference_answer": reference}
            stream.write(json.dumps(row) + "\n")


def measured(*arguments):
    """(seconds, the largest memory of the command's own process in MB) of one run."""
    began = perf_counter()
    process = subprocess.Popen([*SCORE, *arguments], stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    return perf_counter() - began, used.ru_maxrss / (1024 if sys.platform == "linux" else 1 << 20)


def report(console):
    """Print rows a second and memory at two sizes, and with two interpreters."""
    table = Table(title="reward score, the start of the process included")
    for heading in ("", "rows", "seconds", "rows/s", "memory MB", "same bytes"):
        table.add_column(heading, justify="right" if heading else "left")
    with TemporaryDirectory() as folder:
        for kind, count in SIZES.items():
            whole, part = Path(folder, kind), Path(folder, f"{kind}-quarter")
            write_rows(whole, kind, count)
            write_rows(part, kind, count // 4)
            first = None
            for name, file, size, workers in (
                ("a quarter", part, count // 4, 1),
                ("whole", whole, count, 1),
                ("two interpreters", whole, count, 2),
            ):
                out = Path(folder, "out")
                seconds, memory = measured(
                    kind, str(file), "-o", str(out), "--workers", str(workers)
                )
                written = out.read_bytes()
                if file is whole:
                    first = first or written
                same = "" if file is part else "yes" if written == first else "NO"
                speed = f"{size / seconds:,.0f}"
                table.add_row(
                    f"{kind}, {name}", f"{size:,}", f"{seconds:.1f}", speed, f"{memory:.0f}", same
                )
    console.print(table, "\n")
