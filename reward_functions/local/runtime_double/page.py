"""What a double holds as one page of HTML.

It is headed "Runtime double", says that no trainer is there, and shows no text of a rollout.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reward_functions.reports.pages.page import Page
from reward_functions.reports.pages.sections import Section
from reward_functions.reports.sheets import Sheet

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from reward_functions.local.runtime_double.state import Trajectories
    from reward_functions.local.runtime_double.trajectory import Trajectory
    from reward_functions.reports.pages.sections import Part

TITLE: Final = "Runtime double"
NOTE: Final = (
    "A stand-in for the SageMaker job runtime on this machine: no trainer reads these rewards, and "
    "no model learns from them."
)
SHOWN: Final = 200
"""Trajectories that the page lists: the latest."""

HEADINGS: Final = {
    "states": ("Trajectories by state", "state", "trajectories"),
    "reports": ("Reports that arrived", "report", "calls"),
    "faults": ("Accidents by plan", "accident", "calls"),
    "refusals": ("Refusals", "error", "calls"),
}


def page_of(trajectories: Trajectories) -> str:
    """The whole page."""
    counts = trajectories.counts()
    tallied = [
        Section(title, [Sheet(title, [first, second], _rows(counts[kind]))])
        for kind, (title, first, second) in HEADINGS.items()
        if any(counts[kind].values())
    ]
    return Page(
        TITLE,
        warnings=[NOTE],
        facts=[
            ("accidents", str(trajectories.faults).replace(",", ", ") or "none"),
            ("turns", str(counts["turns"]["recorded"])),
        ],
        sections=[*tallied, Section("Trajectories", list(_listed(trajectories.list())))],
    ).html()


def _rows(counts: Mapping[str, int]) -> list[list[str]]:
    return [[name, str(count)] for name, count in counts.items()]


def _listed(found: list[Trajectory]) -> Iterator[Part]:
    if not found:
        yield "No trajectory yet."
        return
    if len(found) > SHOWN:
        yield f"{len(found) - SHOWN:,} older ones are not shown."
    yield _sheet(found)


def _sheet(found: list[Trajectory]) -> Sheet:
    return Sheet(
        title="Trajectories",
        heads=["trajectory", "state", "turns", "rewards", "reports", "job"],
        rows=[
            [
                each.trajectory_id,
                each.state,
                str(len(each.turns)),
                shown_rewards(each),
                str(len(each.deliveries)),
                each.job_arn.rpartition("/")[2],
            ]
            for each in found[: -SHOWN - 1 : -1]
        ],
        words=["job", "state", "rewards"],
    )


def shown_rewards(trajectory: Trajectory, most: int = 8) -> str:
    """The rewards of a trajectory, the first of many; "-" for none."""
    rewards = trajectory.rewards
    if rewards is None:
        return "-"
    more = ", …" if len(rewards) > most else ""
    return ", ".join(f"{reward:g}" for reward in rewards[:most]) + more
