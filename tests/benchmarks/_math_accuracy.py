"""How many labels each verifier follows, suite by suite."""

from tests.benchmarks._math_runs import SEED, SLOW_CASES, figures_table, met
from tests.oracle.ours import RIGHT, UNDECIDED, UNSCORED, agrees

LEAST = {
    "adversarial_false": 1.0,
    "adversarial_true": 0.97,
    "gold_identity": 1.0,
    "gold_negatives": 1.0,
    "perturbed_false": 1.0,
    "perturbed_true": 0.995,
    "real_math_responses": 0.999,
    "own_wrong": 1.0,
}
"""The share of cases to get right."""

MORE_THAN = {"human_solutions": 0.997, "mathverify_tests": 0.970, "other_repo_tests": 0.725}
"""What math-verify reached on the whole of these suites, of which about half is here."""


def report(runs, console):
    """Print the table."""
    table = figures_table(
        "Accuracy",
        *("suite", "n", "ours", "FP/FN", "un/uns", "bar", "", "m-v", "FP/FN/E"),
        caption="FP: wrong answers paid. FN: right answers not paid. un: nothing paid for want of "
        "a proof. uns: the reference was not read. E: errors and kills. m-v is math-verify, which "
        f"judges {SLOW_CASES} of the hostile cases (seed {SEED}) and all of the rest.",
    )
    for name, suite in runs.items():
        table.add_row(name, str(len(suite)), *our_figures(name, suite), *rival_figures(suite))
    console.print(table, "\n")


def our_figures(name, suite):
    """Share right, FP/FN, undecided/unscored, the bar and whether it is met."""
    wrong = [run for run in suite if not agrees(run.case, run.answer)]
    share = 1 - len(wrong) / len(suite)
    paid = sum(run.answer == RIGHT for run in wrong)
    unscored = sum(run.answer == UNSCORED for run in suite)
    unpaid = sum(run.case.right and run.answer not in (RIGHT, UNSCORED) for run in wrong)
    undecided = sum(run.answer == UNDECIDED for run in suite)
    figures = (f"{share:.1%}", f"{paid}/{unpaid}", f"{undecided}/{unscored}")
    if name in LEAST:
        return (*figures, f"{LEAST[name] * 100:g}%", met(share >= LEAST[name]))
    if name in MORE_THAN:
        return (*figures, f">{MORE_THAN[name] * 100:g}%", met(share > MORE_THAN[name]))
    return (*figures, "", "")


def rival_figures(suite):
    """Share right and FP/FN/errors of math-verify."""
    asked = [run for run in suite if run.rival is not None]
    wrong = [run for run in asked if not rival_agrees(run)]
    paid = sum(run.rival.right for run in wrong)
    troubled = sum(bool(run.rival.trouble) for run in asked)
    return f"{1 - len(wrong) / len(asked):.1%}", f"{paid}/{len(wrong) - paid - troubled}/{troubled}"


def rival_agrees(run):
    """Whether math-verify follows the label; what only needs to finish must at least do that."""
    if run.rival.trouble:
        return False
    return not run.case.judged or run.rival.right == run.case.right
