"""What the simulated policy becomes, seeds 1 to 20, with one set of published settings.

Bars: with gsm8k, math and finqa the correct strategies together end above 0.9 and every other one
under 0.02, in every kind of answer that the data has; with the exploitable reward of the tests the
list of guesses wins. The mean reward of the first and the last step and of the rows held out
stands first; "correct" is the share of both correct strategies, and "other" that of the greatest
one beside them, each in its worst kind.

Data: `reward data generate DATASET --rows 200 --test-rows 100 --seed 1`.
"""

from time import perf_counter

from rich.table import Table

from reward_functions import Score
from tests.rehearsals import REHEARSAL, exploitable, generated_rows, rehearse

SEEDS = range(1, 21)
GAMING = "list of guesses"


def report(console):
    """Print a table for each reward: a line for each seed."""
    console.print("[bold]SIMULATION[/bold]: no language model was trained.")
    for dataset in ("gsm8k", "math", "finqa"):
        data = generated_rows(dataset)
        runs = [rehearse(dataset, seed, data=data) for seed in SEEDS]
        _print(console, dataset, runs)
        met = sum(run.sound for run in runs)
        console.print(f"bar: > 0.9 and < 0.02 in every kind; {met} of {len(runs)} seeds\n")
    data = generated_rows("gsm8k")
    runs = [rehearse("gsm8k", seed, reward=exploitable(), data=data) for seed in SEEDS]
    _print(console, "right_number_anywhere (exploitable), on gsm8k", runs)
    won = sum(run.steps[-1].shares["whole number"][GAMING] > 0.9 for run in runs)
    console.print(f"bar: the {GAMING} ends above 0.9; {won} of {len(runs)} seeds\n")
    _print_speed(console, data)


def _print(console, title, runs):
    table = Table(title=f"simulation: {title}", box=None)
    for heading in ("seed", "first", "last", "held out", "correct", "other"):
        table.add_column(heading, justify="right")
    table.add_column("which, in", no_wrap=True)
    for seed, run in zip(SEEDS, runs, strict=True):
        first, last = run.steps[0], run.steps[-1]
        other, name, kind = run.greatest_incorrect
        table.add_row(
            str(seed),
            f"{first.metrics['reward_mean']:.3f}",
            f"{last.metrics['reward_mean']:.3f}",
            f"{last.validation['reward_mean']:.3f}",
            f"{run.least_correct[0]:.3f}",
            f"{other:.4f}",
            f"{name}, {kind}",
        )
    console.print(table)


def _print_speed(console, data):
    """Rollouts a second where the reward takes no time, beside the same with gsm8k."""
    for name, reward in (("a reward that computes nothing", nothing), ("gsm8k", None)):
        began = perf_counter()
        run = rehearse("gsm8k", 1, data=data, reward=reward)
        seconds = perf_counter() - began
        rollouts = REHEARSAL["trainingSamplePerPrompt"] * len(data[0]) * REHEARSAL["epochCount"]
        console.print(f"{name}: {rollouts / seconds:,.0f} rollouts/s, {len(run.steps)} steps")


def nothing(sample):
    """What the loop costs by itself."""
    return Score(0.0)
