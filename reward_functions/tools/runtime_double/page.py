"""What a double holds as one page of HTML: no script, no network, readable in the light and dark.

It is headed "Runtime double", says that no trainer is there, and shows no text of a rollout. Every
string that came with a request is escaped.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Final

from reward_functions.tools.calibration.page import POLICY, STYLE, html_table
from reward_functions.tools.sheets import Sheet

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reward_functions.tools.runtime_double.state import Trajectories
    from reward_functions.tools.runtime_double.trajectory import Trajectory

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
    return "\n".join(_lines(trajectories)) + "\n"


def _lines(trajectories: Trajectories) -> Iterator[str]:
    counts, found = trajectories.counts(), trajectories.list()
    yield '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">'
    yield f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield f"<title>{TITLE}</title>\n<style>{STYLE}</style>\n</head>\n<body>"
    yield f'<h1>{TITLE}</h1>\n<p class="warning">{NOTE}</p>'
    plan = escape(str(trajectories.faults) or "none")
    yield f"<dl><dt>accidents</dt><dd>{plan}</dd>"
    yield f"<dt>turns</dt><dd>{counts['turns']['recorded']}</dd></dl>"
    for kind, (title, first, second) in HEADINGS.items():
        if counts[kind]:
            rows = [[name, str(count)] for name, count in counts[kind].items()]
            yield f"<h2>{title}</h2>"
            yield from html_table(Sheet(title, [first, second], rows))
    yield "<h2>Trajectories</h2>"
    yield from html_table(_sheet(found))
    yield "</body>\n</html>"


def _sheet(found: list[Trajectory]) -> Sheet:
    latest = found[: -SHOWN - 1 : -1]
    left_out = len(found) - len(latest)
    return Sheet(
        title="Trajectories",
        heads=["trajectory", "job", "state", "turns", "rewards", "reports"],
        rows=[
            [
                each.trajectory_id,
                each.job_arn.rpartition("/")[2],
                each.state,
                str(len(each.turns)),
                shown_rewards(each),
                str(len(each.deliveries)),
            ]
            for each in latest
        ],
        note=f"{left_out} older ones are not shown." if left_out else "",
    )


def shown_rewards(trajectory: Trajectory, most: int = 8) -> str:
    """The rewards of a trajectory, the first of many; "-" for none."""
    rewards = trajectory.rewards
    if rewards is None:
        return "-"
    more = ", …" if len(rewards) > most else ""
    return ", ".join(f"{reward:g}" for reward in rewards[:most]) + more
