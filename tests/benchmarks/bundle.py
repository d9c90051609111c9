"""How the deployed zip starts and answers, unpacked under AWS's own runtime client.

The artifact is built for this machine, with bytecode, as an emulated stage gets it. The yardstick
is a handler that imports nothing: on a machine where it takes 60 ms, `math` is to answer first
within 450 ms and `gsm8k` within 200 ms; a warm invocation of one sample may take 2 ms. Both are
compared by the clock and by the processor time of the function's own process, which other work on
the machine hardly changes.
"""

from __future__ import annotations

import sys
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, NamedTuple

from rich.table import Table

from reward_functions.cdk.constructs.artifacts import Artifacts
from reward_functions.cdk.model.stages import Stage
from reward_functions.core.extras import MissingExtra
from reward_functions.local.function_runtime import LocalRuntime
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


class Times(NamedTuple):
    """What was measured of one function: milliseconds, and megabytes at the end."""

    cold: list[float]
    processor: list[float]
    warm: list[float]
    memory: list[float]


def report(console: Console) -> None:
    """Print cold and warm times and the memory of each function beside the empty one's."""
    try:
        times = measured()
    except MissingExtra as missing:
        console.print(f"bundle: {missing}")
        return
    table = Table(title=f"The zip, process to first response (milliseconds, {RUNS} starts each)")
    columns = ("function", "cold", "least", "most", "× empty", "processor", "× empty", "bar")
    for column in (*columns, "warm", "bar", "MB"):
        table.add_column(column, justify="left" if column == "function" else "right")
    empty = times["empty"]
    for name, seen in times.items():
        table.add_row(
            name,
            *(f"{figure:.0f}" for figure in (median(seen.cold), min(seen.cold), max(seen.cold))),
            f"{median(seen.cold) / median(empty.cold):.2f}",
            f"{median(seen.processor):.0f}",
            f"{median(seen.processor) / median(empty.processor):.2f}",
            f"{BARS_MS[name] / YARDSTICK_MS:.2f}",
            f"{median(seen.warm):.2f}",
            f"{WARM_BAR_MS:.2f}",
            f"{max(seen.memory):.0f}",
        )
    console.print(table)


def measured() -> dict[str, Times]:
    """What was measured, by function; the starts are taken in turn."""
    rewards = [name for name in BARS_MS if name != "empty"]
    stage = Stage.model_validate(
        {"name": "bundle", "region": "us-east-1", "emulated": True, "deployments": rewards}
    )
    artifacts = Artifacts(stage, Path.cwd(), Path(sys.executable))
    times = {name: Times([], [], [], []) for name in BARS_MS}
    with TemporaryDirectory() as folder:
        scratch = Path(folder)
        empty = scratch / "empty"
        empty.mkdir()
        for name in rewards:
            artifacts.artifact(name).lay_out(scratch / name)
        (empty / "empty.py").write_text(EMPTY, encoding="utf-8")
        for _ in range(RUNS):
            for name in BARS_MS:
                runtime = (
                    LocalRuntime({}, handler="empty.handler", folder=empty)
                    if name == "empty"
                    else LocalRuntime(LambdaSettings(name=name).to_env(), folder=scratch / name)
                )
                with runtime:
                    seen = times[name]
                    seen.cold.append(runtime.invoke(EVENT).seconds * 1000)
                    process = runtime._sandbox.process.pid
                    seen.processor.append(milliseconds(process))
                    seen.warm.extend(runtime.invoke(EVENT).seconds * 1000 for _ in range(WARM_RUNS))
                    seen.memory.append(megabytes(process))
    return times


def milliseconds(pid: int) -> float:
    """What all threads of a process have had of a processor, without its children."""
    ran = (Path("/proc") / str(pid)).glob("task/*/schedstat")
    return sum(int(thread.read_text(encoding="utf-8").split()[0]) for thread in ran) / 1e6


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
