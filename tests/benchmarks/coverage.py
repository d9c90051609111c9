"""How often the 95 % interval of a mean difference holds the true one: 1,000 runs each.

Bars: between 93 and 97 % of the runs, with 100 prompts and with 1,000, for answers that are right
or wrong and for partial credit, also where nearly all are right. The standard error of 1,000 runs
is 0.7 points. Draws are fewer than an evaluation's, so that it ends: 600, and 400 of 1,000 prompts.
"""

from __future__ import annotations

from random import Random
from time import perf_counter
from typing import NamedTuple
from unittest import mock

from rich.table import Table

from reward_functions.reports import statistics

RUNS = 1_000
SEED = 17


class Changes(NamedTuple):
    """A distribution of differences: values and their probabilities."""

    values: tuple
    weights: tuple

    @property
    def mean(self):
        pairs = zip(self.values, self.weights, strict=True)
        return sum(value * weight for value, weight in pairs)

    def drawn(self, random, count):
        return random.choices(self.values, self.weights, k=count)


class Sampled(NamedTuple):
    """Means of four answers to a prompt, each right with the prompt's own probability."""

    base: tuple = (1, 2)
    tuned: tuple = (1, 1.5)

    @property
    def mean(self):
        (a, b), (c, d) = self.base, self.tuned
        return c / (c + d) - a / (a + b)

    def drawn(self, random, count):
        def right(shape):
            share = random.betavariate(*shape)
            return sum(random.random() < share for _ in range(4)) / 4

        return [right(self.tuned) - right(self.base) for _ in range(count)]


DISTRIBUTIONS = {
    "right or wrong, 30 % to 40 %": Changes((-1.0, 0.0, 1.0), (0.15, 0.6, 0.25)),
    "right or wrong, 60 % to 90 %": Changes((-1.0, 0.0, 1.0), (0.02, 0.66, 0.32)),
    "right or wrong, 95 % to 95 %": Changes((-1.0, 0.0, 1.0), (0.025, 0.95, 0.025)),
    "right or wrong, 95 % to 97 %": Changes((-1.0, 0.0, 1.0), (0.02, 0.94, 0.04)),
    "right or wrong, 95 % to 99 %": Changes((-1.0, 0.0, 1.0), (0.005, 0.95, 0.045)),
    "partial credit, small steps": Changes((-0.1, 0.0, 0.1, 0.25), (0.1, 0.6, 0.2, 0.1)),
    "partial credit, rare leaps": Changes((-0.05, 0.0, 0.05, 0.5), (0.1, 0.7, 0.15, 0.05)),
    "four sampled answers": Sampled(),
}


def covered(changes, *, prompts, runs, draws, seed=SEED):
    """The share of runs whose interval holds the true mean."""
    random, held = Random(seed), 0
    with mock.patch.object(statistics, "PAIRED_DRAWS", draws):
        for run in range(runs):
            found = statistics.mean_difference(changes.drawn(random, prompts), seed=run)
            held += found.low - 1e-12 <= changes.mean <= found.high + 1e-12
    return held / runs


def report(console):
    """Print the coverage of each distribution, and how long an interval takes."""
    table = Table(title=f"coverage of the 95 % interval, {RUNS:,} runs each", box=None)
    for heading in ("differences", "n = 100", "n = 1,000"):
        table.add_column(heading, justify="left" if heading == "differences" else "right")
    held = 0
    for name, changes in DISTRIBUTIONS.items():
        shares = [
            covered(changes, prompts=count, runs=RUNS, draws=draws)
            for count, draws in ((100, 600), (1_000, 400))
        ]
        held += sum(0.93 <= share <= 0.97 for share in shares)
        table.add_row(name, *(f"{share:.1%}" for share in shares))
    console.print(table)
    console.print(f"bar: 93 to 97 %; {held} of {2 * len(DISTRIBUTIONS)}")
    changes = DISTRIBUTIONS["right or wrong, 30 % to 40 %"].drawn(Random(SEED), 1_000)
    began = perf_counter()
    statistics.mean_difference(changes)
    seconds = perf_counter() - began
    console.print(
        f"1,000 prompts, {statistics.PAIRED_DRAWS:,} draws: {seconds:.2f} s (bar: 0.5 s)\n"
    )
