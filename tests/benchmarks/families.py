"""What a sample costs the rewards beside math: bars of 1 ms, and 50 ms at 100,000 characters."""

import json
from statistics import median
from time import perf_counter

from rich.table import Table

from reward_functions import get
from reward_functions.testing import hostile_responses
from tests.benchmarks._measure import median_us

NAMES = ("json_fields", "tool_calls", "answer_text", "instructions", "sql_result", "similarity")

LONG = 100_000


def slowest(score, sample):
    """(milliseconds, what it was) of the costliest of the hostile texts, each made that long."""
    found = []
    for name, text in hostile_responses():
        answered = sample.answered((text * (LONG // max(1, len(text)) + 1))[:LONG])
        began = perf_counter()
        score(answered)
        found.append(((perf_counter() - began) * 1e3, name))
    return max(found)


def report(console):
    """Print the median over the worked examples, and the slowest long text."""
    table = Table(title="rewards beside math, one sample (their worked examples)")
    for heading in ("", "median µs", "× json.loads", "slowest of 100,000 characters, ms", "which"):
        table.add_column(heading, justify="left" if heading in {"", "which"} else "right")
    missed = []
    for name in NAMES:
        spec = get(name)
        bound = [(spec.bound_to_example(each), each.sample()) for each in spec.examples]
        call = median(median_us(score, [sample]) for score, sample in bound)
        text = json.dumps([[turn.content for turn in each.messages] for _, each in bound])
        yardstick = median_us(json.loads, [text]) / len(bound)
        most, which = slowest(*bound[0])
        table.add_row(name, f"{call:.0f}", f"{call / yardstick:.0f}", f"{most:.1f}", which)
        missed += [name] if call > 1_000 or most > 50 else []
    console.print(table, f"bars: {'MISSED by ' + ', '.join(missed) if missed else 'met'}\n")
