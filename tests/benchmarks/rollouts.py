"""Rollouts: what one costs, what an import costs, and whether a reward is ever lost.

The processor's time of a rollout is measured over an agent that returns a number, against the
runtime double in another process, less nothing: payload, begin, outbox, two signed reports, their
replies. The yardstick is boto3's own client making the same two calls and nothing else.
"""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter, process_time
from typing import TYPE_CHECKING
from unittest import mock

from rich.table import Table

from tests.rollout_crashes import JOB, crash

if TYPE_CHECKING:
    from rich.console import Console

ROOT = Path(__file__).parents[2]
ROLLOUTS, AT_ONCE, KILLS = 1000, 64, 3
FAULTS = "every=0.1,slow_seconds=0.2,retry_after=0.05"
COSTED = 300
BAR_MS = 5.0
BAR_IMPORT_MS = 300.0

IMPORTS = [
    "pass",
    "import json",
    "import boto3",
    "import reward_functions.rollouts",
    "from reward_functions.rollouts import rollout_handler, RolloutFeedbackClient",
]
# ru_maxrss would be at least that of this process: a child has it from before its exec.
ASKED = """
import sys, time
began = time.perf_counter()
{statement}
took = time.perf_counter() - began
status = dict(line.split(":") for line in open("/proc/self/status"))
print(took * 1000, int(status["VmHWM"].split()[0]) / 1024, len(sys.modules))
"""


def report(console: Console) -> None:
    """Print the cost of a rollout, of an import, and the end of a thousand rollouts."""
    costs(console)
    imports(console)
    crashes(console)


def imports(console: Console) -> None:
    """Each in a process of its own, the median of seven."""
    table = Table(title="Imports (medians of 7 processes)")
    for column in ("statement", "ms", "MB resident", "modules", "bar, ms"):
        table.add_column(column, justify="left" if column == "statement" else "right")
    for statement in IMPORTS:
        rows = [asked(statement) for _ in range(7)]
        took, memory, modules = (median(column) for column in zip(*rows, strict=True))
        bar = f"{BAR_IMPORT_MS:.0f}" if "rollouts" in statement else ""
        table.add_row(statement, f"{took:.0f}", f"{memory:.0f}", f"{modules:.0f}", bar)
    console.print(table)


def asked(statement: str) -> list[float]:
    """Milliseconds, megabytes and modules of one import."""
    done = subprocess.run(
        [sys.executable, "-c", ASKED.format(statement=statement)],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    return [float(each) for each in done.stdout.split()]


def costs(console: Console) -> None:
    """A rollout of ours, beside boto3's two calls."""
    import boto3

    from reward_functions.rollouts import rollout_handler

    table = Table(title=f"One rollout, {COSTED} in turn, one thread (milliseconds)")
    for column in ("what", "processor", "wall", "bar"):
        table.add_column(column, justify="left" if column == "what" else "right")
    with TemporaryDirectory() as folder, runtime() as endpoint, environment(folder, endpoint):
        client = boto3.client("sagemakerjobruntime", region_name="us-east-1", endpoint_url=endpoint)

        def by_hand(name: str) -> None:
            client.complete_rollout(JobArn=JOB, TrajectoryId=name, Status="ready")
            client.update_reward(JobArn=JOB, TrajectoryId=name, Rewards=[1.0])

        def handled(name: str) -> None:
            agent({"prompt": "p", "metadata": {"jobArn": JOB, "rolloutId": name}})

        table.add_row("boto3's two calls (yardstick)", *timed(by_hand, "boto3"), "")
        for kind in ("modelled", "bearer"):
            agent = rollout_handler(lambda _: 1.0, transport=kind)
            row = timed(handled, kind)
            table.add_row(f"rollout_handler, {kind}", *row, f"{BAR_MS:.0f}")
    console.print(table)


def timed(one: object, name: str) -> tuple[str, str]:
    """The processor's and the wall's time of one, once the connections are there."""
    for number in range(20):
        one(f"{name}-warm-{number}")
    wall, processor = perf_counter(), process_time()
    for number in range(COSTED):
        one(f"{name}-{number}")
    wall, processor = perf_counter() - wall, process_time() - processor
    return f"{processor / COSTED * 1000:.2f}", f"{wall / COSTED * 1000:.2f}"


@contextmanager
def runtime():
    """The double in a process of its own, so that its time is not ours: its address."""
    command = [
        sys.executable,
        "-m",
        "reward_functions.cli",
        "local",
        "runtime",
        "--open",
        "--quiet",
    ]
    child = subprocess.Popen([*command, "--port", "0"], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    try:
        address = next(
            word for line in child.stdout for word in line.split() if word.startswith("http://")
        )
        yield address.rstrip(":/")
    finally:
        child.terminate()
        child.wait()
        child.stdout.close()


@contextmanager
def environment(folder: str, endpoint: str):
    """The variables of an agent's process."""
    from reward_functions.rollouts.report.reporter import reporter

    variables = {
        "AWS_ACCESS_KEY_ID": "AKIDEXAMPLE",
        "AWS_SECRET_ACCESS_KEY": "example",
        "AWS_REGION": "us-east-1",
        "RFT_RUNTIME_ENDPOINT": endpoint,
        "REWARD_ROLLOUTS_OUTBOX": f"sqlite:///{folder}/outbox.sqlite",
    }
    with mock.patch.dict(os.environ, variables):
        try:
            yield
        finally:
            reporter().close()


def crashes(console: Console) -> None:
    """A thousand rollouts, every accident at a tenth, the agent killed three times."""
    with TemporaryDirectory() as folder:
        found = crash(folder, rollouts=ROLLOUTS, at_once=AT_ONCE, kills=KILLS, faults=FAULTS)
    table = Table(title=f"{ROLLOUTS} rollouts, {AT_ONCE} at a time, faults {FAULTS}")
    table.add_column("what")
    table.add_column("number", justify="right")
    for name, number in [
        ("own reward counted, once", found.rewarded),
        ("reported as failed", found.failed),
        ("of them, those whose agent had returned", found.computed),
        ("lost, crossed or counted twice", len(found.wrong)),
        ("kills (SIGKILL)", found.kills),
        ("episodes that they cut before any report", found.cut),
        ("intents that were durable at a kill and not delivered", len(found.durable)),
        ("reports that arrived at the double", found.reports),
        ("of them counted", found.counted),
        ("seconds", f"{found.seconds:.1f}"),
    ]:
        table.add_row(name, str(number))
    console.print(table)
    for sentence in found.wrong[:20]:
        console.print(sentence, markup=False)
