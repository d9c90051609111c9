"""Measuring: medians over rounds, and rows of real or made-up responses to measure on."""

import json
from pathlib import Path
from statistics import median
from time import perf_counter_ns

ROLLOUTS = Path(__file__).parents[3] / "shared" / "data" / "gsm8k" / "rollouts.jsonl"


def median_us(function, arguments, rounds=3):
    """The median time of one call, in microseconds, over every argument and every round."""
    times = []
    for _ in range(rounds):
        for argument in arguments:
            start = perf_counter_ns()
            function(argument)
            times.append(perf_counter_ns() - start)
    return median(times) / 1000


def made_up_rows(count=1000):
    """Rows in the wire shape, as long as a GSM8K response is: no data set needed."""
    return [
        {
            "id": f"made-up-{n}",
            "messages": [
                {"role": "system", "content": "Solve it. Give the answer after ####."},
                {"role": "user", "content": f"A baker sells {n} loaves at $3. How much is that?"},
                {
                    "role": "assistant",
                    "content": f"Each loaf is $3 and there are {n} of them. " * 5
                    + f"That makes {n} * 3 = <<{n}*3={n * 3}>>{n * 3} dollars.\n#### {n * 3}",
                },
            ],
            "reference_answer": {"final_answer": str(n * 3 if n % 3 else n)},
            "metadata": {"problem": f"made-up-{n // 4}"},
        }
        for n in range(count)
    ]


def gsm8k_rows():
    """(where they come from, real responses where they are at hand, else made-up ones)."""
    if ROLLOUTS.exists():
        return "2,672 real responses", list(map(json.loads, ROLLOUTS.read_text().splitlines()))
    return "1,000 made-up responses", made_up_rows()
