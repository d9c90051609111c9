"""What less memory costs in seconds, through AWS's own runtime client.

Lambda gives a function the share of a processor that its memory is of 1,769 MB. Here the kernel
gives this process and what it starts that share (cgroups, as root on Linux), in periods of 20 ms.
The times are this machine's; the last column is what travels.
"""

from __future__ import annotations

import json
import os
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from rich.table import Table

from reward_functions.cdk.limits.starts import ONE_PROCESSOR_MB
from reward_functions.core.registry import get
from reward_functions.local.function_runtime import LocalRuntime
from reward_functions.serving.settings import LambdaSettings

if TYPE_CHECKING:
    from rich.console import Console

SIZES = (1769, 1024, 512)
REWARDS = ("gsm8k", "math")
RUNS = 7
ROWS = 256
PERIOD = 20_000
"""Microseconds."""

GROUP = Path("/sys/fs/cgroup/cpu/reward-functions")


def report(console: Console) -> None:
    """Print cold starts and batches by reward and memory."""
    if not os.access(GROUP.parent / "cgroup.procs", os.W_OK):
        console.print("memory: needs root and the processor controller of cgroups, version 1")
        return
    table = Table(title=f"Less memory: the median of {RUNS} starts, and of a batch of {ROWS} after")
    for column in ("function", "MB", "cold ms", "batch ms", "× cold", "× batch"):
        table.add_column(column, justify="left" if column == "function" else "right")
    for name in REWARDS:
        whole = None
        for size in SIZES:
            cold, batch = measured(name, size)
            whole = whole or (cold, batch)
            ratios = (cold / whole[0], batch / whole[1])
            figures = (
                f"{size}",
                f"{cold:.0f}",
                f"{batch:.0f}",
                *(f"{each:.1f}" for each in ratios),
            )
            table.add_row(name, *figures)
    console.print(table)


def measured(name: str, size: int) -> tuple[float, float]:
    """Milliseconds of a start to its first response, and of a batch behind it."""
    environment = LambdaSettings(name=name).to_env()
    times: tuple[list[float], list[float]] = ([], [])
    for run in range(RUNS + 1):
        with share_of(size), LocalRuntime(environment) as runtime:
            cold = runtime.invoke(event(name, 1))
            if run:  # the first writes the bytecode, which a deployed zip carries
                times[0].append(cold.seconds * 1000)
                times[1].append(runtime.invoke(event(name, ROWS)).seconds * 1000)
    return median(times[0]), median(times[1])


def event(name: str, rows: int) -> bytes:
    """A batch made of a reward's own examples, each row with a number of its own in its prompt."""
    examples = get(name).examples
    batch = []
    for row in range(rows):
        sample = examples[row % len(examples)].sample(str(row))
        prompt = {"role": "user", "content": f"Problem {row}"}
        response = {"role": "assistant", "content": sample.response}
        batch.append(
            {
                "id": sample.id,
                "messages": [prompt, response],
                "reference_answer": sample.reference,
                "metadata": dict(sample.metadata),
            }
        )
    return json.dumps(batch, default=str).encode()


@contextmanager
def share_of(size: int):
    """Give this process and its children the processor that a size of memory buys."""
    GROUP.mkdir(exist_ok=True)
    (GROUP / "cpu.cfs_period_us").write_text(str(PERIOD))
    (GROUP / "cpu.cfs_quota_us").write_text(str(PERIOD * size // ONE_PROCESSOR_MB))
    before = GROUP.parent / "cgroup.procs"
    (GROUP / "cgroup.procs").write_text(str(os.getpid()))
    try:
        yield
    finally:
        before.write_text(str(os.getpid()))
