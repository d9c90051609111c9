"""The handler's own share of an invocation: everything but the reward.

Decode, ids, deadline, telemetry and encode, measured as the time of the handler with a reward that
does nothing, less that of `score_batch` with the same reward on samples decoded before. The bar is
twice `json.loads` and `json.dumps` of the request for a batch of 512, half a millisecond for one.
"""

from __future__ import annotations

import json
import os
from contextlib import redirect_stdout
from pathlib import Path
from statistics import median
from time import perf_counter
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from rich.table import Table

from reward_functions.core.batch import score_batch
from reward_functions.core.spec import reward_function
from reward_functions.core.types import Sample, Score
from reward_functions.serving.contract import decode
from reward_functions.serving.handler import bind
from reward_functions.serving.settings import LambdaSettings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rich.console import Console

ROLLOUTS = Path(__file__).parents[3] / "shared" / "data" / "gsm8k" / "rollouts.jsonl"

BATCH = 512
RUNS = 101
BATCH_BAR = 2.0
"""Times `json.loads` and `json.dumps` of the request."""
SINGLE_BAR_MS = 0.5

CONTEXT = SimpleNamespace(aws_request_id="benchmark", get_remaining_time_in_millis=lambda: 60_000)


@reward_function(version=1)
def nothing(_: Sample) -> Score:
    """A reward that costs nothing."""
    return Score(1.0)


def report(console: Console) -> None:
    """Print the handler's own share beside `json` on the same request."""
    table = Table(title="The handler's own share (milliseconds, medians)")
    for column in ("request", "kB", "json.loads", "json.dumps", "own share", "bar", "of the bar"):
        table.add_column(column, justify="left" if column == "request" else "right")
    for name, rows, mode in requests():
        times = measured(rows, mode)
        bar = BATCH_BAR * (times["loads"] + times["dumps"]) if len(rows) > 1 else SINGLE_BAR_MS
        figures = (times["loads"], times["dumps"], times["own"], bar)
        size = f"{len(json.dumps(rows)) / 1000:.0f}"
        table.add_row(
            name, size, *(f"{figure:.3f}" for figure in figures), f"{times['own'] / bar:.0%}"
        )
    console.print(table)


def requests() -> Iterator[tuple[str, list[dict[str, Any]], str]]:
    """Name, rows and response mode of each request."""
    made = [synthetic(at) for at in range(BATCH)]
    yield f"{BATCH} made-up samples", made, "list"
    yield f"{BATCH} made-up samples, envelope", made, "envelope"
    yield "1 made-up sample", made[:1], "list"
    if ROLLOUTS.exists():
        with ROLLOUTS.open(encoding="utf-8") as lines:
            real = [json.loads(next(lines)) for _ in range(BATCH)]
        yield f"{BATCH} GSM8K samples", real, "list"
        yield f"{BATCH} GSM8K samples, envelope", real, "envelope"
        yield "1 GSM8K sample", real[:1], "list"


def synthetic(at: int) -> dict[str, Any]:
    """A sample of the size and shape of a GSM8K one."""
    boxes, each = at % 29 + 2, at % 17 + 3
    steps = f"Each of the {boxes} boxes holds {each} pencils. {boxes} * {each} = {boxes * each}. "
    return {
        "id": f"pencils-{at:04d}",
        "messages": [
            {"role": "system", "content": 'Give the final answer after "####".'},
            {
                "role": "user",
                "content": f"A teacher's {boxes} boxes hold {each} pencils each. " * 5
                + "How many pencils are there?",
            },
            {"role": "assistant", "content": f"{steps * 4}\n#### {boxes * each}"},
        ],
        "reference_answer": {"final_answer": str(boxes * each)},
        "metadata": {"problem": f"pencils-{at:04d}", "model": "made up", "is_correct": True},
    }


def measured(rows: list[dict[str, Any]], mode: str) -> dict[str, float]:
    """Milliseconds of `json.loads`, `json.dumps` and the handler's own share, taken in turn."""
    text, samples = json.dumps(rows), decode(rows)
    with Path(os.devnull).open("w") as nowhere, redirect_stdout(nowhere):
        settings = LambdaSettings(name="nothing", response_mode=mode)
        serve = bind(settings, nothing)
        turns: dict[str, Callable[[], object]] = {
            "loads": lambda: json.loads(text),
            "dumps": lambda: json.dumps(rows),
            "handler": lambda: serve(rows, CONTEXT),
            "reward": lambda: score_batch(nothing, samples),
        }
        times: dict[str, list[float]] = {name: [] for name in turns}
        for _ in range(RUNS):
            for name, turn in turns.items():
                began = perf_counter()
                turn()
                times[name].append((perf_counter() - began) * 1000)
    own = [whole - reward for whole, reward in zip(times["handler"], times["reward"], strict=True)]
    return {"loads": median(times["loads"]), "dumps": median(times["dumps"]), "own": median(own)}
