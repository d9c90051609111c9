"""What a verdict may not do: crash, stall, run code, take memory, load sympy, depend on order."""

import json
import os
import subprocess
import sys
from contextlib import redirect_stdout
from pathlib import Path
from random import Random
from statistics import quantiles
from tempfile import TemporaryDirectory

from reward_functions.serving.handler import bind
from reward_functions.serving.settings import LambdaSettings
from reward_functions.testing import wire_row
from tests.benchmarks import _math_hostile as hostile
from tests.benchmarks._math_runs import SEED, figures_table, met
from tests.oracle.ours import CRASH, RIGHT, answered

STALL_SECONDS = 0.25
TAIL_SECONDS = 0.005
MEGABYTES = 150
PACKET = 500
"""Samples an invocation of the handler is given."""

ROOT = Path(__file__).parents[2]

PROBE = """
import json, sys
from tests.oracle.ours import answered, warmed
from reward_functions import sample
warmed()
for gold, response in json.load(sys.stdin):
    answered(sample(response, gold))
"""
FIRST_ANSWER = """
import sys
from reward_functions import get
from reward_functions import sample
assert get("math")(sample(r"\\boxed{1,234}", "1234")).value == 1.0
sys.exit("sympy" in sys.modules)
"""
OWN_INJECTIONS = (
    'open("ran","w")',
    "__import__('os').system('touch ran')",
    '[open("ran","w"),\\pi]',
    "(lambda: open('ran','w'))()",
    "x=exec(\"open('ran','w')\")",
)


def report(runs, console):
    """Print one line for each thing."""
    table = figures_table("Safety, after warm()", "what", "found", "bar", "")
    for row in (*stalls(), memory(), code_run(runs), first_answer(), *order(runs)):
        table.add_row(*row)
    console.print(table, "\n")


def stalls():
    """Crashes and times over the hostile suite."""
    results, _ = hostile.judged(watched=False)
    times = [seconds for _, _, seconds in results]
    crashes = [case for case, answer, _ in results if answer == CRASH]
    stalled = [case for case, _, seconds in results if seconds > STALL_SECONDS]
    tail = quantiles(times, n=20, method="inclusive")[-1]
    yield f"crashes on {len(results)} hostile cases", str(len(crashes)), "0", met(not crashes)
    yield f"over {STALL_SECONDS * 1000:.0f} ms", str(len(stalled)), "0", met(not stalled)
    yield "slowest, ms", f"{max(times) * 1000:.1f}", "", ""
    bar = f"{TAIL_SECONDS * 1000:.0f}"
    yield "95th percentile, ms", f"{tail * 1000:.1f}", bar, met(tail <= TAIL_SECONDS)


def memory():
    """The peak over the hostile suite, from before `warm()`."""
    what = "peak memory above the start, with children (PSS, MB)"
    if not hostile.watchable():
        return what, "not told by this system", str(MEGABYTES), ""
    _, above = hostile.judged(watched=True)
    return what, f"{above / 1e6:.0f}", str(MEGABYTES), met(above < MEGABYTES * 1e6)


def code_run(runs):
    """Files that answers which are code left in an empty folder."""
    cases = [
        (run.case.gold, run.case.response)
        for run in runs.get("adversarial_false", ())
        if run.case.kind == "code_injection"
    ] or [("5", f"\\boxed{{{code}}}") for code in OWN_INJECTIONS]
    with TemporaryDirectory() as folder:
        environment = os.environ | {"PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}
        subprocess.run(
            [sys.executable, "-c", PROBE],
            cwd=folder,
            env=environment,
            input=json.dumps(cases),
            encoding="utf-8",
            check=True,
        )
        left = len(list(Path(folder).iterdir()))
    return f"files made by {len(cases)} injections", str(left), "0", met(not left)


def first_answer():
    """Whether a fresh process has sympy loaded after import and a first numeric answer."""
    loaded = subprocess.run([sys.executable, "-c", FIRST_ANSWER], check=False, cwd=ROOT).returncode
    what = "sympy loaded by import and a first numeric answer"
    return what, "yes" if loaded else "no", "no", met(not loaded)


def order(runs):
    """Verdicts that change when all cases are judged again in another order, or by the handler."""
    before = [(run.case.sample, run.answer) for suite in runs.values() for run in suite]
    shuffled = Random(SEED).sample(before, len(before))
    changed = sum(answered(sample) != answer for sample, answer in shuffled)
    yield f"other verdicts of {len(before)} in another order", str(changed), "0", met(not changed)
    with Path(os.devnull).open("w") as nowhere, redirect_stdout(nowhere):  # where metrics go
        other = sum(
            paid != (answer == RIGHT)
            for paid, (_, answer) in zip(served(before), before, strict=True)
        )
    yield "other verdicts through the handler", str(other), "0", met(not other)


def served(before):
    """Whether the handler pays, sample by sample."""
    serve = bind(LambdaSettings(name="math", service="benchmark", log_level="CRITICAL"))
    for start in range(0, len(before), PACKET):
        rows = [wire_row(sample) for sample, _ in before[start : start + PACKET]]
        yield from (result["aggregate_reward_score"] == 1.0 for result in serve(rows))
