"""What one sample costs `finqa` with a prepared reference. Bar: a median of at most 40 µs."""

import json
from pathlib import Path

from rich.table import Table

from reward_functions import get, sample
from reward_functions.finqa.reference import as_json, classify
from tests.benchmarks._measure import median_us

CASES = Path(__file__).parents[3] / "shared" / "data" / "finqa" / "cases.jsonl"


def rows():
    """(where they come from, the labelled cases where they are at hand, else made-up ones)."""
    if CASES.exists():
        return "353 labelled cases", list(map(json.loads, CASES.read_text().splitlines()))
    made_up = [
        {
            "question": f"what was the percentage change from {n} to {n + 1}?",
            "gold": {"answer": f"{n}.5%", "exe_ans": n / 100 + 0.005, "program": ""},
            "pred": "Step 1: From the filing I take both figures.\nStep 2: I apply divide.\n\n"
            f"ANSWER: {n}.{n % 7}0%",
        }
        for n in range(10, 400)
    ]
    return "390 made-up cases", made_up


def report(console):
    """Print the median time of a plain call beside that of `json.loads` on the sample."""
    origin, cases = rows()
    samples, texts = [], []
    for case in cases:
        gold, question = case["gold"], case["question"]
        reference = as_json(
            classify(gold["answer"], gold["exe_ans"], program=gold["program"], question=question)
        )
        prompt = f"Question: {question}"
        samples.append(sample(case["pred"], reference, prompt=prompt))
        texts.append(json.dumps([prompt, case["pred"], reference]))
    call, yardstick = median_us(get("finqa"), samples), median_us(json.loads, texts)
    table = Table(title=f"finqa, one sample ({origin})")
    for heading in ("", "median µs", "× json.loads"):
        table.add_column(heading, justify="right" if heading else "left")
    table.add_row("json.loads of the sample", f"{yardstick:.1f}", "1.0")
    table.add_row('get("finqa")(sample)', f"{call:.1f}", f"{call / yardstick:.1f}")
    console.print(table, f"bar: 40 µs, {'met' if call <= 40 else 'MISSED'}\n")
