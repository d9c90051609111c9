"""`math` beside math-verify: accuracy, time and safety over the labelled suites, in one run.

Without ../shared/data/math it runs over a small set of our own, for which there are fewer bars.
math-verify alone takes several minutes of it.
"""

from tests.benchmarks import _math_accuracy, _math_safety, _math_summary, _math_time
from tests.benchmarks._math_runs import run_suites
from tests.oracle.suites import labelled


def report(console):
    """Print the three parts, then a summary."""
    origin, suites = labelled()
    console.print(f"math, over {origin}; math-verify is called as its README says\n")
    runs = run_suites(suites, console)
    _math_accuracy.report(runs, console)
    _math_time.report(runs, console)
    _math_safety.report(runs, console)
    _math_summary.report(runs, console)
