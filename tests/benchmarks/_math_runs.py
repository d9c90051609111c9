"""Both verifiers over the same cases in the same run: verdicts and times.

Ours is called as `get("math")(sample)` in this process, math-verify in a process of its own. Both
are warm. Nothing is kept from one run to the next.
"""

from dataclasses import dataclass
from random import Random
from statistics import median, quantiles
from time import perf_counter

from rich import box
from rich.table import Table

from tests.oracle.ours import answered, warmed
from tests.oracle.rival import Judgement, Rival

ROUNDS = 3
"""Passes of ours over a suite; a case's time is its median. math-verify passes once."""

SLOW = ("hostile", "own_hostile")
SLOW_CASES = 24
"""math-verify burns up to ten seconds on each of these suites' cases, so it gets a sample."""

SEED = 20


@dataclass(frozen=True)
class Run:
    """One case in both verifiers.

    Args:
        case: what was judged.
        answer: our verdict.
        seconds: our time.
        rival: math-verify's verdict and time; None where it was not asked.
    """

    case: object
    answer: str
    seconds: float
    rival: Judgement | None


def run_suites(suites, console):
    """The runs of every suite, by its name."""
    warmed()
    runs = {}
    with Rival() as rival:
        for name, cases in suites.items():
            answers, times = ours(cases)
            asked = sampled(name, cases)
            with console.status(f"math-verify on {name}") as status:
                judged = {}
                for at, case in enumerate(asked, 1):
                    status.update(f"math-verify on {name}: {at} of {len(asked)}")
                    judged[case.id] = rival.judge(case.gold, case.response, case.gold_kind)
            runs[name] = [
                Run(case, answer, seconds, judged.get(case.id))
                for case, answer, seconds in zip(cases, answers, times, strict=True)
            ]
    return runs


def ours(cases):
    """Our verdicts, and the median time of each case over the rounds."""
    samples = [case.sample for case in cases]
    rounds = []
    for _ in range(ROUNDS):
        times = []
        answers = []
        for sample in samples:
            began = perf_counter()
            answers.append(answered(sample))
            times.append(perf_counter() - began)
        rounds.append(times)
    return answers, [median(times) for times in zip(*rounds, strict=True)]


def sampled(name, cases):
    """What math-verify is asked of a suite: everything, but of the slow ones a seeded sample."""
    if name not in SLOW or len(cases) <= SLOW_CASES:
        return cases
    return Random(SEED).sample(cases, SLOW_CASES)


def middle_and_tail(times):
    """The median and the 95th percentile."""
    return median(times), quantiles(times, n=20, method="inclusive")[-1]


def met(holds):
    """A bar's outcome, for a table."""
    return "met" if holds else "[red]MISSED[/red]"


TEXT_COLUMNS = frozenset({"", "suite", "what"})


def figures_table(title, *headings, caption=None):
    """A table that fits a terminal of eighty columns: figures to the right, words to the left."""
    table = Table(
        title=title, caption=caption, caption_justify="left", box=box.SIMPLE, padding=(0, 1, 0, 0)
    )
    for heading in headings:
        justify = "left" if heading in TEXT_COLUMNS else "right"
        table.add_column(heading, justify=justify, no_wrap=heading not in TEXT_COLUMNS)
    return table
