"""What a verdict costs each verifier: suite by suite, on a mix, and in a batch with bad company."""

import json
from dataclasses import replace
from random import Random
from statistics import median
from time import perf_counter

from reward_functions import get, score_batch
from tests.benchmarks._math_runs import SEED, figures_table, met, middle_and_tail

MEDIAN_TIMES = 20
TAIL_TIMES = 100
TAIL_TIMES_ELSEWHERE = 20
HARD_TAILS = frozenset(
    "adversarial_false adversarial_true gold_negatives mathverify_tests other_repo_tests "
    "perturbed_false perturbed_true mix".split()
)
"""Wrong answers, variants of right ones, and both mixed: where math-verify is slowest."""

MIX = (("real_math_responses", 2), ("gold_identity", 2), ("gold_negatives", 1))
OWN_MIX = (("own_right", 4), ("own_wrong", 1))
MIX_PER_SECOND = 5_000

PASSES = 5
"""Passes over a whole mix or batch."""

BATCH = 512
HOSTILE = 50
BATCH_TIMES = 2.0


def report(runs, console):
    """Print the times of every suite, of the mix, and of the batch."""
    mix = mixed(runs)
    both = {**runs, "mix": mix}
    console.print(times("Median of one verdict", both, 0, lambda _: MEDIAN_TIMES), "\n")
    tails = times(
        "95th percentile of one verdict",
        both,
        1,
        lambda name: TAIL_TIMES if name in HARD_TAILS else TAIL_TIMES_ELSEWHERE,
    )
    console.print(tails, "\n")
    console.print(throughput(mix), "\n")
    console.print(bad_company(mix, runs), "\n")


def times(title, suites, which, bar):
    """One of the two times (0 the median, 1 the tail) of the cases that both were asked."""
    table = figures_table(title, "suite", "n", "ours µs", "math-verify µs", "times", "bar", "")
    for name, suite in suites.items():
        asked = [run for run in suite if run.rival is not None]
        mine = middle_and_tail([run.seconds for run in asked])[which]
        theirs = middle_and_tail([run.rival.seconds for run in asked])[which]
        figures = (len(asked), mine * 1e6, theirs * 1e6, theirs / mine, bar(name))
        verdict = met(theirs >= bar(name) * mine)
        table.add_row(name, *(f"{figure:,.0f}" for figure in figures), verdict)
    return table


def mixed(runs):
    """Real responses, right and wrong boxed answers, 2 : 2 : 1, in a seeded order."""
    parts = MIX if all(name in runs for name, _ in MIX) else OWN_MIX
    portions = min(len(runs[name]) // share for name, share in parts)
    random = Random(SEED)
    mix = [run for name, share in parts for run in random.sample(runs[name], portions * share)]
    return random.sample(mix, len(mix))


def throughput(mix):
    """Samples a second on one core, beside math-verify and beside reading the rows."""
    table = figures_table(
        f"A mix of {len(mix)} samples, one core",
        *("what", "samples/s", "bar", ""),
        caption=f"The best of {PASSES} passes; of math-verify, the one pass there was.",
    )
    reward, samples = get("math"), [run.case.sample for run in mix]
    rows = [json.dumps({"reference": run.case.gold, "text": run.case.response}) for run in mix]
    mine = len(mix) / seconds(lambda: [reward(sample) for sample in samples])
    loads = len(mix) / seconds(lambda: [json.loads(row) for row in rows])
    theirs = len(mix) / sum(run.rival.seconds for run in mix)
    table.add_row("json.loads of the row", f"{loads:,.0f}", "", "")
    bar = met(mine >= MIX_PER_SECOND)
    table.add_row('get("math")(sample)', f"{mine:,.0f}", f"{MIX_PER_SECOND:,}", bar)
    table.add_row("math-verify", f"{theirs:,.0f}", "", "")
    return table


def bad_company(mix, runs):
    """What hostile answers cost the others of their batch."""
    random = Random(SEED)
    batch = [run.case.sample for run in random.choices(mix, k=BATCH)]
    hostile = [run.case.sample for name in runs if "hostile" in name for run in runs[name]]
    spoiled = list(batch)
    for place in random.sample(range(BATCH), HOSTILE):
        answer = random.choice(hostile).messages[-1:]
        spoiled[place] = replace(batch[place], messages=batch[place].messages[:-1] + answer)
    reward = get("math")
    ratio = median(
        seconds(lambda: score_batch(reward, spoiled), 1)
        / seconds(lambda: score_batch(reward, batch), 1)
        for _ in range(PASSES)
    )
    return (
        f"A batch of {BATCH} with {HOSTILE} hostile answers takes {ratio:.2f} times as long as "
        f"without. Bar: {BATCH_TIMES}, {met(ratio <= BATCH_TIMES)}"
    )


def seconds(function, passes=PASSES):
    """The shortest time of a call: what else this machine does only adds to it."""
    times = []
    for _ in range(passes):
        began = perf_counter()
        function()
        times.append(perf_counter() - began)
    return min(times)
