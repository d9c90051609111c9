"""How the deployed zip starts and answers, unpacked under AWS's own runtime client.

The artifact is built for this machine, with bytecode, as an emulated stage gets it. The yardstick
is a handler that imports nothing: on a machine where it takes 60 ms, `math` is to answer first
within 450 ms and `gsm8k` within 200 ms; a warm invocation of one sample may take 2 ms.
"""

from __future__ import annotations

import sys
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from rich.table import Table

from helpers.local_runtime import LocalRuntime, RuntimeClientMissing
from infra.artifact import Artifact
from infra.interpreter import here
from reward_functions.serving.settings import LambdaSettings
from tests.benchmarks.cold_start import EVENT

if TYPE_CHECKING:
    from rich.console import Console

RUNS = 7
WARM_RUNS = 101

YARDSTICK_MS = 60
BARS_MS = {"empty": YARDSTICK_MS, "gsm8k": 200, "math": 450}
WARM_BAR_MS = 2.0

EMPTY = "def handler(event, context):\n    return []\n"


def report(console: Console) -> None:
    """Print cold and warm times and the memory of each function beside the empty one's."""
    try:
        times = measured()
    except RuntimeClientMissing as missing:
        console.print(f"bundle: {missing}")
        return
    table = Table(title=f"The zip, process to first response (milliseconds, {RUNS} starts each)")
    columns = ("function", "cold", "least", "most", "× empty", "bar", "warm", "bar", "MB")
    for column in columns:
        table.add_column(column, justify="left" if column == "function" else "right")
    empty = median(times["empty"][0])
    for name, (cold, warm, memory) in times.items():
        table.add_row(
            name,
            *(f"{figure:.0f}" for figure in (median(cold), min(cold), max(cold))),
            f"{median(cold) / empty:.2f}",
            f"{BARS_MS[name] / YARDSTICK_MS:.2f}",
            f"{median(warm):.2f}",
            f"{WARM_BAR_MS:.2f}",
            f"{memory:.0f}",
        )
    console.print(table)


def measured() -> dict[str, tuple[list[float], list[float], float]]:
    """Cold and warm milliseconds and megabytes by function; the starts are taken in turn."""
    architecture, python = here()
    artifact = Artifact(
        architecture=architecture,
        python=python,
        interpreter=Path(sys.executable),
        installed=True,
    )
    times: dict[str, tuple[list[float], list[float], float]] = {}
    with TemporaryDirectory() as scratch:
        bundle, empty = Path(scratch) / "bundle", Path(scratch) / "empty"
        artifact.lay_out(bundle)
        empty.mkdir()
        (empty / "empty.py").write_text(EMPTY, encoding="utf-8")
        for _ in range(RUNS):
            for name in BARS_MS:
                runtime = (
                    LocalRuntime({}, handler="empty.handler", folder=empty)
                    if name == "empty"
                    else LocalRuntime(LambdaSettings(name=name).to_env(), folder=bundle)
                )
                with runtime:
                    cold, warm, _ = times.get(name, ([], [], 0.0))
                    cold.append(runtime.invoke(EVENT).seconds * 1000)
                    warm.extend(runtime.invoke(EVENT).seconds * 1000 for _ in range(WARM_RUNS))
                    times[name] = (cold, warm, megabytes(runtime._sandbox.process.pid))
    return times


def megabytes(pid: int) -> float:
    """Memory that a process and its children share fairly (PSS), as Lambda's own sum would be."""
    proc = Path("/proc") / str(pid)
    rollup = (proc / "smaps_rollup").read_text(encoding="utf-8")
    own = next(int(line.split()[1]) for line in rollup.splitlines() if line.startswith("Pss:"))
    children = [
        int(child)
        for listed in proc.glob("task/*/children")
        for child in listed.read_text(encoding="utf-8").split()
    ]
    return own / 1024 + sum(map(megabytes, children))
