"""Rollouts of an agent against a runtime double of this process, and what they come to.

What `reward rollouts run` and `report` do, without files that outlive the notebook. The double's
policy is a calculator that errs in a known share of the rollouts: a SIMULATION, and no model.
"""

from __future__ import annotations

import json
import os
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from helpers.shown import Showing, Shown
from reward_functions.local.runtime_double import (
    CalculatorPolicy,
    FaultPlan,
    RuntimeSettings,
    Trajectory,
    serving,
)
from reward_functions.local.runtime_double.own_runtime import OwnRuntime
from reward_functions.reports.pages.charts.drawing import side_by_side
from reward_functions.reports.sheets import Sheet
from reward_functions.rollouts.drive.driving import Driver, attempts_for, drive
from reward_functions.rollouts.drive.figures import figures_of
from reward_functions.rollouts.drive.page import CHARTS, page
from reward_functions.rollouts.drive.python_agent import PythonAgent
from reward_functions.rollouts.drive.records import Setup
from reward_functions.rollouts.drive.reporting import sheets
from reward_functions.rollouts.drive.tasks import read_tasks

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from reward_functions.reports.pages.charts.drawing import Chart
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
        Path(path).write_text(page(self.figures).html(), encoding="utf-8")
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
        driver = Driver(
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
