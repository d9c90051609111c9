"""An agent's process that is killed, and what becomes of the rewards that it had not delivered."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import closing, contextmanager
from pathlib import Path
from time import sleep
from typing import TYPE_CHECKING, Final
from urllib.request import Request, urlopen

import helpers
from helpers.rollouts import UNENDED
from helpers.shown import Shown
from reward_functions.core.errors import ConfigurationError
from reward_functions.local.runtime_double import (
    CalculatorPolicy,
    FaultPlan,
    RuntimeDouble,
    RuntimeSettings,
    serving,
)
from reward_functions.reports.sheets import Sheet
from reward_functions.rollouts.drive.driving import job_arn
from reward_functions.rollouts.drive.python_agent import NOBODY, pointed
from reward_functions.rollouts.drive.tasks import read_tasks
from reward_functions.rollouts.report.outbox.opening import open_outbox
from reward_functions.rollouts.report.replaying import replayed
from reward_functions.rollouts.report.reporter import Reporter
from reward_functions.rollouts.report.settings import RolloutSettings
from reward_functions.rollouts.report.transports.opening import open_transport

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from reward_functions.rollouts.drive.tasks import Task

UNREACHABLE: Final = "complete.throttle=1,reward.throttle=1,most=1000"
"""A runtime that answers the policy's calls, and takes no report."""

LOOKS: Final = 2_400
PAUSE: Final = 0.05
"""Looks at the outbox, and seconds between two: two minutes of this process's own time, however
long its kernel is stopped meanwhile."""


def killed(data: str | Path, folder: str | Path) -> Shown:
    """Kill an agent's process whose reports nobody takes, and deliver them from its outbox.

    The process serves `helpers/agents.py:plain` over HTTP with an outbox on the disk. The runtime
    answers its policy calls and throttles every report. It is killed by SIGKILL, the runtime
    recovers, and what `reward rollouts outbox replay` does sends what is there.

    Args:
        data: a file of rows, each a rollout.
        folder: of the outbox; made where it is missing.

    Raises:
        ConfigurationError: the process does not start, or its reports do not come.
    """
    Path(folder).mkdir(parents=True, exist_ok=True)
    url = f"sqlite:///{Path(folder).absolute() / 'outbox.sqlite'}"
    tasks, job = read_tasks(str(data)).tasks, job_arn()
    settings = RuntimeSettings(CalculatorPolicy(), FaultPlan.parse(UNREACHABLE))
    with serving(settings) as double, closing(open_outbox(url)) as outbox:
        moments = []

        def look(moment: str) -> None:
            states = outbox.counts()
            seen = [double.trajectory(job, f"rollout-{task.number}") for task in tasks]
            rewarded = sum(each.state == "REWARD_RECEIVED" for each in seen)
            twice = sum(each.taken("reward") > 1 for each in seen)
            kept = [str(states.get(name, 0)) for name in ("pending", "delivered")]
            moments.append([moment, *kept, f"{rewarded} of {len(seen)}", str(twice)])

        with _serving_agent(double.endpoint, url) as (address, process):
            for task in tasks:
                _requested(double, address, job, task)
            _awaited(lambda: outbox.counts().get("pending", 0) == 2 * len(tasks), process)
        look("the process is killed, with no warning")
        double.faults = FaultPlan()
        reporter = Reporter(RolloutSettings(outbox=url), outbox, transports=open_transport)
        with pointed(double.endpoint):
            for _ in replayed(reporter, outbox.list(["pending"])):
                pass
        look("what it left is sent")
        with pointed(double.endpoint):
            for _ in replayed(reporter, outbox.list(["delivered"])):
                pass
        look("and sent once more, on purpose")
    heads = ("moment", "reports pending", "delivered", "rollouts with a reward", "counted twice")
    return Shown([Sheet("A killed process", heads, moments)])


def _requested(double: RuntimeDouble, address: str, job: str, task: Task) -> None:
    rollout = f"rollout-{task.number}"
    double.register(job, rollout)
    asked = {
        "prompt": task.prompt,
        "instance": task.content,
        "metadata": {"jobArn": job, "rolloutId": rollout, "region": NOBODY["AWS_REGION"]},
    }
    request = Request(f"{address}/rollout", json.dumps(asked).encode(), method="POST")  # noqa: S310
    with urlopen(request):  # noqa: S310 - this machine's own; the end of its process ends it
        pass


@contextmanager
def _serving_agent(endpoint: str, outbox: str) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """The address of a process of `plain`, and the process, which is killed at the block's end."""
    root = Path(helpers.__file__).parents[1]
    agent = f"{root / 'helpers' / 'agents.py'}:plain"
    environment = {
        **os.environ,
        **NOBODY,
        "RFT_RUNTIME_ENDPOINT": endpoint,
        "REWARD_ROLLOUTS_OUTBOX": outbox,
        "REWARD_ROLLOUTS_WINDOW": f"{UNENDED:g}",
        "PYTHONPATH": str(root),
    }
    process = subprocess.Popen(  # noqa: S603 - this interpreter, and files of this repository
        [sys.executable, "-m", "reward_functions.rollouts.servers.app", agent, "--port", "0"],
        env=environment,
        stderr=subprocess.PIPE,
        text=True,
    )
    with process:
        try:
            yield _address(process), process
        finally:
            process.kill()


def _address(process: subprocess.Popen[str]) -> str:
    """Where a process listens, by its log.

    Raises:
        ConfigurationError: it ended before it did.
    """
    lines = process.stderr or ()
    for line in lines:
        _, listens, address = line.strip().partition("listening on ")
        if listens:
            return address
    raise ConfigurationError("the agent's process ended before it listened")


def _awaited(there: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    """Wait until something is there.

    Raises:
        ConfigurationError: it never is, or the process that makes it has ended.
    """
    for _ in range(LOOKS):
        if there():
            return
        if process.poll() is not None:
            raise ConfigurationError("the agent's process ended before its reports were there")
        sleep(PAUSE)
    raise ConfigurationError("the agent's reports do not come")
