"""The list of `reward view`, and rows of a result, as a bundle has them: without forms."""

import json
import os
from pathlib import Path
from tempfile import TemporaryDirectory

from reward_functions.view.bundle import write_bundle
from reward_functions.view.entries import slug_of
from tests.gallery.hostile import NAME, UNBROKEN

WHEN = 1_767_323_040
"""The time of every file: 2026-01-02 03:04 UTC."""


def results():
    """A list of twelve results, one of which is unscored in part, and one no result."""
    return _bundled("index.html")


def rows():
    """The page of a file of scores, with its rows."""
    return _bundled(f"pages/{slug_of('step-300/scores.jsonl')}.html")


def hostile():
    """Ids, reasons and errors without measure."""
    return _bundled(f"pages/{slug_of('hostile.jsonl')}.html")


def _bundled(name):
    with TemporaryDirectory() as made:
        folder = Path(made, "runs")
        for step in range(0, 500, 100):
            _written(folder / f"step-{step}" / "scores.jsonl", _scores(step))
            _written(folder / f"step-{step}" / "rollouts.jsonl", _rollouts(step))
        _written(folder / "hostile.jsonl", _hostile())
        _written(folder / f"{NAME[:40].replace('/', '')}.jsonl", _hostile())
        _written(folder / "notes.txt", [{}])
        write_bundle(folder, Path(made, "out"))
        return Path(made, "out", name).read_text()


def _written(path, lines):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    os.utime(path, (WHEN, WHEN))


def _scores(step):
    for at in range(120):
        right = at % 7 < step // 100
        metrics = [{"name": "truncated", "value": float(at % 5 == 0), "type": "Metric"}]
        row = {"id": f"row-{at}", "aggregate_reward_score": float(right), "metrics_list": metrics}
        if at % 40 == 39:
            error = {"type": "BadReference", "message": "input line 40: the reference is empty"}
            yield row | {"aggregate_reward_score": None, "error": error}
            continue
        reason = f"the last #### {'equals' if right else 'differs from'} the reference"
        yield row | {"explanation": {"answer": f"{at}", "reason": reason, "rule": "exact-number"}}


def _rollouts(step):
    setup = {"data": "d", "n": 2, "agent": "sums:agent", "policy": "p", "seed": 0, "sampling": {}}
    for at in range(20):
        failed = at % 6 == 5
        yield {
            "record": 1, "row": at // 2 + 1, "id": f"row {at // 2}", "sample": at % 2,
            "rollout": f"run-{at}", "status": "failed" if failed else "rewarded",
            "rewards": [] if failed else [float(at % 5 < step // 100)], "turns": at % 4 + 1,
            "error": "HTTP 500" if failed else "", "scored_by": "agent", "seconds": 1.5,
            "setup": setup | {"scorer": None},
        }  # fmt: skip


def _hostile():
    text = f"{NAME} {UNBROKEN}"
    for value in (0.0, 0.123456789, 1.0, None):
        row = {"id": text, "aggregate_reward_score": value, "metrics_list": []}
        if value is None:
            yield row | {"error": {"type": text, "message": text}}
        else:
            yield row | {"explanation": {"answer": text, "reason": text, "rule": text}}
