"""How close a batch of judge calls comes to the time it must take, and what one call costs us.

512 samples, 100 ms a call, 16 concurrent calls: 32 rounds, 3.2 s at best. The bar is 1.3 times
that. The model is a pause, so that the rest is measured: prefilter, prompts, fences, rate limit,
threads, accounts. Beside it, the processor time of one sample. Equal responses of a group share one
call; there our own time is most of what is left, and no bar is set.
"""

from __future__ import annotations

from time import perf_counter, process_time, sleep
from typing import TYPE_CHECKING

from rich.table import Table

from reward_functions import Scored, get, sample, score_batch
from reward_functions.judge_runtime.config import JudgeConfig, JudgeModel
from reward_functions.judge_runtime.panel import JudgePool
from reward_functions.testing import FakeAsk

if TYPE_CHECKING:
    from rich.console import Console

SAMPLES = 512
AT_ONCE = 16
CALL = 0.1
BAR = 1.3


def report(console: Console) -> None:
    """Print the table."""
    table = Table(title=f"{SAMPLES} samples, {AT_ONCE} calls at once, {CALL * 1000:g} ms a call")
    for column in ("batch", "calls", "seconds", "ideal", "ratio", f"under {BAR}", "ms CPU/sample"):
        table.add_column(column, justify="right" if table.columns else "left")
    for name, equal in (("all different", 1), ("4 equal", 4), ("16 equal", 16)):
        table.add_row(name, *_measured(equal))
    console.print(table)


def _measured(equal: int) -> list[str]:
    def answer(_: object) -> dict[str, str]:
        sleep(CALL)
        return {"same": "yes"}

    ask = FakeAsk(answer=answer)
    config = JudgeConfig(
        models=(JudgeModel(model="pause", region="us-east-1"),),
        concurrency=AT_ONCE,
        max_concurrency=AT_ONCE,
    )
    batch_judge = JudgePool(config, asks={"pause": ask}).batch(
        get("reference"), {"answer": "whole"}
    )
    text = "A sentence about the matter, as long as such sentences are. " * 10
    batch = [
        sample(f"{text} Number {at // equal}.", "A reference.", prompt="A prompt?", id=str(at))
        for at in range(SAMPLES)
    ]
    began, computed = perf_counter(), process_time()
    results = score_batch(batch_judge, batch)
    seconds, computed = perf_counter() - began, process_time() - computed
    assert all(isinstance(result, Scored) for result in results)
    ideal = -(-SAMPLES // equal // AT_ONCE) * CALL
    ratio = seconds / ideal
    passed = "" if equal > 1 else "yes" if ratio < BAR else "NO"
    figures = [f"{seconds:.2f}", f"{ideal:.2f}", f"{ratio:.2f}", passed]
    return [str(len(ask.asked)), *figures, f"{computed * 1000 / SAMPLES:.2f}"]
