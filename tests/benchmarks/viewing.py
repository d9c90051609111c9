"""`reward view`: opening a file of 100,000 rows, beside reading its lines as JSON (the yardstick).

    python -m tests.benchmarks viewing

A page is asked of the application in process, of a library that has not seen the file. The bar is 2
seconds of a processor, which depend little on what else runs.
"""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, process_time

from rich.table import Table
from starlette.testclient import TestClient

from reward_functions.view.app import viewer
from reward_functions.view.entries import slug_of
from reward_functions.view.library import Library
from tests.benchmarks import rollout_report

HERE = ("127.0.0.1", 8766)
ROWS = 100_000
BAR = 2.0
METRICS = ("answered", "truncated", "bad_reference", "unscored", "imputed", "out_of_time")

ASKED = {
    "the first page, not seen before": "",
    "the next page": "?page=2",
    "a range of rewards, sorted": "?low=0.5&sort=-value",
    "a text of one row": "?text={rare}",
    "a text of every row": "?text={common}",
}


def write_scores(path: Path, rows: int) -> None:
    """Results with explanations, 570 bytes each, three in five right."""
    metrics = [{"name": name, "value": 0.0, "type": "Metric"} for name in METRICS]
    with path.open("w") as stream:
        for at in range(rows):
            right = at % 5 < 3
            known = {
                "answer": f"{at}",
                "reason": f"the last #### {'equals' if right else 'differs from'} the reference",
                "outcome": None,
                "rule": "exact-number",
                "normal_answer": f"{at}",
                "normal_reference": f"{at if right else at + 1}",
            }
            line = {"id": f"r{at}", "aggregate_reward_score": float(right), "metrics_list": metrics}
            stream.write(f"{json.dumps(line | {'explanation': known})}\n")


KINDS = {
    # what writes a file, a text of its last row, and one of most rows
    "scores": (write_scores, "r99999", "equals"),
    "rollouts": (rollout_report.write, "run-99999", "word"),
}


def report(console) -> None:
    """Print seconds of each page, of scores and of rollouts."""
    table = Table(title=f"Pages of {ROWS:,} rows, with the bar of {BAR:g} s")
    for column in ("what", "seconds", "processor, s", "to the yardstick", ""):
        table.add_column(column, justify="left" if column == "what" else "right")
    with TemporaryDirectory() as folder:
        for kind, (write, rare, common) in KINDS.items():
            path = Path(folder, f"{kind}.jsonl")
            write(path, ROWS)
            yardstick, spent = timed(lambda path=path: read(path))
            table.add_row(
                f"{kind}: json.loads of each line", f"{yardstick:.2f}", f"{spent:.2f}", "1.0", ""
            )
            asked = TestClient(
                viewer(Library(Path(folder)), HERE), base_url="http://127.0.0.1:8766"
            )
            for what, query in ASKED.items():
                asks = query.format(rare=rare, common=common)
                address = f"/results/{slug_of(path.name)}{asks}"
                seconds, spent = timed(lambda asked=asked, address=address: opened(asked, address))
                met = "" if query else ("yes" if spent <= BAR else "NO")
                times = f"{seconds / yardstick:.1f}"
                table.add_row(f"{kind}: {what}", f"{seconds:.2f}", f"{spent:.2f}", times, met)
            path.unlink()
    console.print(table, "\n")


def read(path: Path) -> None:
    """Every line as JSON."""
    with path.open("rb") as stream:
        for line in stream:
            json.loads(line)


def opened(asked: TestClient, address: str) -> None:
    """A page with rows."""
    answer = asked.get(address)
    assert answer.status_code == 200
    assert "<article>" in answer.text


def timed(work) -> tuple[float, float]:
    """Seconds on the clock, and of a processor."""
    began, spent = perf_counter(), process_time()
    work()
    return perf_counter() - began, process_time() - spent
