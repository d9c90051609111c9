"""How long a reward function takes to start, through AWS's own runtime client.

From the start of the process to the first response. The yardstick is an empty handler that imports
Powertools and pydantic: the bar is twice its time. These are this machine's times: a Lambda adds
the start of its microVM and the download, and has the processor its memory setting buys.
"""

from __future__ import annotations

import json
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import TYPE_CHECKING

from rich.table import Table

from reward_functions.core.errors import UnknownReward
from reward_functions.core.extras import MissingExtra
from reward_functions.core.registry import get
from reward_functions.local.function_runtime import FOLDER, LocalRuntime
from reward_functions.serving.settings import LambdaSettings

if TYPE_CHECKING:
    from rich.console import Console

RUNS = 15
WARM_RUNS = 101
BAR = 2.0

EMPTY = """\
from aws_lambda_powertools import Logger, Metrics
from pydantic import BaseModel

def handler(event, context):
    return []
"""

EVENT = json.dumps(
    [
        {
            "id": "a",
            "messages": [
                {"role": "user", "content": "6 × 7?"},
                {"role": "assistant", "content": "6 × 7 = 42\n#### 42"},
            ],
            "reference_answer": "42",
        }
    ]
).encode()


def report(console: Console) -> None:
    """Print cold and warm times of every function beside those of the empty one."""
    try:
        times = measured()
    except MissingExtra as missing:
        console.print(f"cold start: {missing}")
        return
    table = Table(title=f"Cold start, process to first response (milliseconds, {RUNS} starts each)")
    for column in ("function", "cold", "least", "most", "warm", "× empty", "bar"):
        table.add_column(column, justify="left" if column == "function" else "right")
    empty = median(times["empty"][0])
    for name, (cold, warm) in times.items():
        figures = (median(cold), min(cold), max(cold), median(warm))
        ratio = median(cold) / empty
        table.add_row(name, *(f"{figure:.1f}" for figure in figures), f"{ratio:.2f}", f"{BAR:.2f}")
    table.caption = f"json.loads of the event: {loads():.4f} ms"
    console.print(table)


def measured() -> dict[str, tuple[list[float], list[float]]]:
    """Cold and warm milliseconds by function; the starts are taken in turn."""
    with TemporaryDirectory() as folder:
        (Path(folder) / "empty.py").write_text(EMPTY, encoding="utf-8")
        environments = {"empty": {"PYTHONPATH": str(FOLDER)}} | {
            name: LambdaSettings(name=name).to_env()
            for name in ("exact_match", "gsm8k")
            if served(name)
        }
        times: dict[str, tuple[list[float], list[float]]] = {
            name: ([], []) for name in environments
        }
        for run in range(RUNS + 1):
            for name, environment in environments.items():
                with ExitStack() as stack:
                    runtime = stack.enter_context(
                        LocalRuntime(environment, handler="empty.handler", folder=Path(folder))
                        if name == "empty"
                        else LocalRuntime(environment)
                    )
                    cold = runtime.invoke(EVENT)
                    if run == 0:  # writes the bytecode, which a deployed zip carries
                        continue
                    times[name][0].append(cold.seconds * 1000)
                    if run == RUNS:
                        times[name][1].extend(
                            runtime.invoke(EVENT).seconds * 1000 for _ in range(WARM_RUNS)
                        )
    return times


def served(name: str) -> bool:
    """Whether there is such a reward."""
    try:
        get(name)
    except UnknownReward:
        return False
    return True


def loads() -> float:
    """Milliseconds of `json.loads` of the event."""
    times = []
    for _ in range(WARM_RUNS):
        began = perf_counter()
        json.loads(EVENT)
        times.append((perf_counter() - began) * 1000)
    return median(times)
