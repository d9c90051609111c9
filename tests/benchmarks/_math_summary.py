"""The table of the README, in Markdown: both verifiers in a few figures, where we lose included."""

import subprocess
import sys

from tests.benchmarks._math_runs import middle_and_tail
from tests.benchmarks._math_time import mixed
from tests.oracle.ours import agrees

NO_LABELS = ("adversarial_flagged", "hostile", "own_hostile")
"""Suites of matters of policy, and of what only has to be survived."""

THEIR_TESTS = "mathverify_tests"

IN_A_THREAD = """
import logging
from threading import Thread
from tests.oracle.rival import judge
logging.disable()
thread = Thread(target=lambda: print(judge("5", "$5$").trouble or "works"))
thread.start()
"""


def report(runs, console):
    """Print the rows."""
    console.print("For the README:\n", style="dim")
    for row in (("", "`math`", "math-verify 0.9"), ("---",) * 3, *rows(runs)):
        console.out(f"| {' | '.join(row)} |", highlight=False)
    console.print()


def rows(runs):
    """What it is, ours, theirs."""
    others = [run for name in runs if name not in (*NO_LABELS, THEIR_TESTS) for run in runs[name]]
    for what, label in (("wrong answers paid", False), ("right answers not paid", True)):
        asked = [run for run in others if run.case.right is label]
        yield what, *(f"{missed:,} of {len(asked):,}" for missed in both_miss(asked))
    if THEIR_TESTS in runs:
        asked = runs[THEIR_TESTS]
        missed = (f"{missed} of {len(asked)}" for missed in both_miss(asked))
        yield "labels of math-verify's own tests not followed", *missed
    mix = mixed(runs)
    for what, times in (
        ("a mix of responses", [(run.seconds, run.rival.seconds) for run in mix]),
        ("hostile answers", [(run.seconds, run.rival.seconds) for run in hostile(runs)]),
    ):
        both = (map(spoken, middle_and_tail(each)) for each in zip(*times, strict=True))
        yield f"{what}, median / 95th percentile", *map(" / ".join, both)
    yield "outside the main thread", "works", in_a_thread()


def both_miss(runs):
    """How many labels each does not follow."""
    yield sum(not agrees(run.case, run.answer) for run in runs)
    yield sum(run.rival.right != run.case.right for run in runs)


def hostile(runs):
    """The hostile cases that both were asked."""
    return [run for name in runs if "hostile" in name for run in runs[name] if run.rival]


def in_a_thread():
    """What math-verify does with its default time-outs off the main thread."""
    code = [sys.executable, "-c", IN_A_THREAD]
    said = subprocess.run(code, capture_output=True, check=True, encoding="utf-8").stdout.strip()
    return said if said == "works" else f"raises `{said}`"


def spoken(seconds):
    """A time for a reader."""
    for unit, size in (("s", 1), ("ms", 1e-3)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e6:.0f} µs"
