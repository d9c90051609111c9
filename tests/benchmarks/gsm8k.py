"""What one sample costs `gsm8k` in a plain call. Bar: a median of at most 15 µs."""

import json

from rich.table import Table

from reward_functions import get
from reward_functions.serving.contract import decode
from tests.benchmarks._measure import gsm8k_rows, median_us


def report(console):
    """Print the median time of `get("gsm8k")(sample)` beside that of `json.loads` on the row."""
    origin, rows = gsm8k_rows()
    reward, samples, texts = get("gsm8k"), decode(rows), [json.dumps(row) for row in rows]
    call, yardstick = median_us(reward, samples), median_us(json.loads, texts)
    table = Table(title=f"gsm8k, one sample ({origin})")
    for heading in ("", "median µs", "× json.loads"):
        table.add_column(heading, justify="right" if heading else "left")
    table.add_row("json.loads of the sample", f"{yardstick:.1f}", "1.0")
    table.add_row('get("gsm8k")(sample)', f"{call:.1f}", f"{call / yardstick:.1f}")
    console.print(table, f"bar: 15 µs, {'met' if call <= 15 else 'MISSED'}\n")
