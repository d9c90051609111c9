"""Rollouts of an agent against a runtime double of this process, and what they come to.

What `reward rollouts run` and `report` do, without files that outlive the notebook. The double's
policy is a calculator that errs in a known share of the rollouts: a SIMULATION, and no model.

An agent's process that is killed, and what becomes of the rewards that it had not delivered.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import sleep
from typing import TYPE_CHECKING, Any, Final
from urllib.request import Request, urlopen

import helpers
from helpers.shown import Showing, Shown
from reward_functions.core.errors import ConfigurationError
from reward_functions.local.runtime_double import (
    CalculatorPolicy,
    FaultPlan,
    OwnRuntime,
    RuntimeDouble,
    RuntimeSettings,
    Trajectory,
    serving,
)
from reward_functions.reports.pages.charts.drawing import side_by_side
from reward_functions.reports.sheets import Sheet
from reward_functions.rollouts.drive.agents import NOBODY, PythonAgent, pointed
from reward_functions.rollouts.drive.driving import (
    RolloutDriver,
    attempts_for,
    drive,
    job_arn,
    read_tasks,
)
from reward_functions.rollouts.drive.figures import figures_of, sheets
from reward_functions.rollouts.drive.records import Setup
from reward_functions.rollouts.drive.report_page import CHARTS, report_page
from reward_functions.rollouts.report.outbox.opening import open_outbox
from reward_functions.rollouts.report.reporter import Reporter, replayed
from reward_functions.rollouts.report.settings import RolloutSettings
from reward_functions.rollouts.report.transports import open_transport

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from reward_functions.reports.pages.charts.drawing import Chart
    from reward_functions.rollouts.drive.driving import Task
    from reward_functions.rollouts.drive.figures import Figures
    from reward_functions.rollouts.drive.records import RolloutRecord


AT_ONCE: Final = 8
"""Rollouts at a time."""

UNENDED: Final = 7 * 86_400.0
"""Seconds that a rollout may take. A notebook waits until each has ended: whoever closes a laptop
over it, or stops its kernel for an hour, loses no reward."""

ADDRESS: Final = "OPENAI_BASE_URL"

NO_REWARDS: Final = "no rollout has a reward: there is nothing to draw; the table above says why"

CHARTED: Final = ("Rewards", "Rows that earn the least")

SUMS: Final = (
    ("(17 + 4) * 6", "126"),
    ("3 * (58 - 19)", "117"),
    ("144 / 12 + 7", "19"),
    ("25 * 25 - 1", "624"),
    ("(8 + 13) * (8 - 3)", "105"),
)


@dataclass(frozen=True, repr=False)
class Rollouts(Showing):
    """Rollouts that have ended.

    Args:
        figures: of all of them.
        records: one for each.
        trajectories: the same, as the runtime saw them.
    """

    figures: Figures
    records: Sequence[RolloutRecord]
    trajectories: Sequence[Trajectory]

    @property
    def charts(self) -> Chart | Shown:
        """The rewards, and those of each row's group; a sentence where there are none."""
        if not self.figures.histogram:
            return Shown(notes=[NO_REWARDS])
        drawn = [CHARTS[title](self.figures) for title in CHARTED]
        return side_by_side("Rollouts", drawn, title="SIMULATION: the rewards of the rollouts")

    def turns(self, at: int = 0) -> Shown:
        """One rollout turn by turn: what the agent sent, what the policy answered, the reward.

        Args:
            at: its position.
        """
        trajectory = self.trajectories[at]
        rows = []
        for turn in trajectory.turns:
            found = turn.json()
            sent = found["request"]["messages"][-1]
            rows.append([str(turn.number + 1), _text(sent), _text(found["response"])])
        reward = ", ".join(f"{each:g}" for each in trajectory.rewards or ())
        heads = ("turn", "the agent sends", "the policy answers")
        return Shown([Sheet("One rollout", heads, rows, words=heads)], [f"reward: {reward}"])

    def reports(self) -> Shown:
        """Every report that arrived: what became of it, and how many rollouts were counted."""
        found: dict[tuple[str, str], dict[str, int]] = {}
        for each in self.trajectories:
            for report in each.deliveries:
                ended = found.setdefault((report.operation, report.fault or "none"), {})
                ended[report.ended] = ended.get(report.ended, 0) + 1
        rows = [
            [*key, ", ".join(f"{name} {count}" for name, count in sorted(ended.items()))]
            for key, ended in sorted(found.items())
        ]
        heads = ("report", "accident", "what became of it")
        counted = sum(each.taken("reward") for each in self.trajectories)
        twice = sum(each.taken("reward") > 1 for each in self.trajectories)
        notes = [f"{counted} of {len(self.trajectories)} rewards counted, {twice} of them twice"]
        return Shown([Sheet("Reports that arrived", heads, rows, words=heads)], notes)

    def page(self, path: str | Path) -> Shown:
        """Write the page of `reward rollouts report --report`.

        Raises:
            OSError: it cannot be written.
        """
        Path(path).write_text(report_page(self.figures).html(), encoding="utf-8")
        size = Path(path).stat().st_size / 1_000
        return Shown(notes=[f"a page of {size:.0f} KB: {path}"])

    def _shown(self) -> Shown:
        overview = next(iter(sheets(self.figures)))
        rows = [row for row in overview.rows if not row[0].startswith("seconds")]
        title = "Rollouts (SIMULATION)"
        return Shown([Sheet(title, overview.heads, rows, overview.note)])


def sums(path: str | Path) -> Path:
    """Write a few sums as rows of a data set, with their references.

    Raises:
        OSError: the file cannot be written.
    """
    rows = [
        {
            "id": f"sum-{at}",
            "messages": [{"role": "user", "content": f"What is {asked}?"}],
            "reference_answer": answer,
        }
        for at, (asked, answer) in enumerate(SUMS, 1)
    ]
    Path(path).write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return Path(path)


def rollouts(
    agent: Callable[..., Any],
    data: str | Path,
    *,
    n: int = 4,
    wrong: float = 0.0,
    faults: str = "",
    limit: int | None = None,
    seed: int = 0,
) -> Rollouts:
    """Run an agent on rows as a trainer does: `reward rollouts run`.

    Args:
        agent: a `rollout_handler`.
        data: a file of rows.
        n: rollouts of each row: a group.
        wrong: the share of rollouts in which the policy errs.
        faults: accidents of the runtime, as `reward local runtime --faults` takes them.
        limit: the first so many rows; None for all.
        seed: which rollouts those are, and which calls meet with an accident.

    Raises:
        ConfigurationError: a row, a share or a fault is none.
        OSError: the file cannot be read.
    """
    found = read_tasks(str(data))
    tasks = found.tasks[:limit]
    setup = Setup(
        data=found.digest, n=n, agent="the notebook's agent", policy="calculator", seed=seed
    )
    settings = RuntimeSettings(CalculatorPolicy(wrong, seed), FaultPlan.parse(faults, seed=seed))
    with ExitStack() as ended:
        # A shell that points at the training double names another policy, and an agent prefers it.
        if named := os.environ.pop(ADDRESS, ""):
            ended.callback(os.environ.__setitem__, ADDRESS, named)
        double = ended.enter_context(serving(settings))
        endpoint = double.endpoint
        asked = ended.enter_context(
            PythonAgent(agent, setup.agent, endpoint=endpoint, window=UNENDED)
        )
        driver = RolloutDriver(
            agent=asked,
            runtime=OwnRuntime(double),
            tasks={task.number: task for task in tasks},
            setup=setup,
            window=UNENDED,
        )
        done = list(drive(driver, attempts_for(tasks, n), AT_ONCE))
        records = sorted(done, key=lambda each: each.attempt)
        seen = [double.trajectory(driver.job, each.rollout) for each in records]
    return Rollouts(figures_of(records), records, seen)


def by_turn(given: Mapping[str, Rollouts]) -> Shown:
    """What one rollout of each reported, and what it comes to.

    Args:
        given: rollouts, by how their rewards are given.
    """
    rows = []
    for name, each in given.items():
        rewards = each.trajectories[0].rewards or ()
        reported = ", ".join(f"{reward:g}" for reward in rewards)
        rows.append([name, str(len(each.trajectories[0].turns)), reported])
    heads = ("rewards", "turns", "reported")
    return Shown([Sheet("One rollout, reported in three ways", heads, rows, words=("reported",))])


def _text(message: Mapping[str, Any]) -> str:
    """What a message of a chat says, its tool calls with it."""
    content = message.get("content") or ""
    text = (
        content
        if isinstance(content, str)
        else " ".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    )
    called = [call["function"] for call in message.get("tool_calls") or ()]
    calls = [f"{each['name']}({each['arguments']})" for each in called]
    return "\n".join(filter(None, [text, *calls]))


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
