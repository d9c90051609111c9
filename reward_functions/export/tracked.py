"""A run in the words of every tracker: parameters, figures, curves, files."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from statistics import pstdev
from typing import TYPE_CHECKING, Final, NamedTuple

from reward_functions.core.means import mean
from reward_functions.export.frames import result_rows

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reward_functions.reports.score_report.digest import Tallies

NO_NAME: Final = re.compile(r"[^\w.\- /]")
"""Characters that a tracker refuses in the name of a figure (MLflow's are the strictest)."""


class Curve(NamedTuple):
    """One figure over a job: (step, value) in order."""

    name: str
    points: tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True)
class TrackedRun:
    """One run, as a tracker shows it.

    Args:
        name: such as "gsm8k answers".
        parameters: what was scored with what, as text; no prompts and no responses.
        figures: numbers of the whole run, each finite.
        curves: of a training job.
        files: kept beside the run where a tracker keeps files; they hold what they hold.
    """

    name: str
    parameters: Mapping[str, str] = field(default_factory=dict)
    figures: Mapping[str, float] = field(default_factory=dict)
    curves: tuple[Curve, ...] = ()
    files: tuple[Path, ...] = ()


def plain_name(name: str) -> str:
    """The name of a figure, as every tracker takes it."""
    return NO_NAME.sub("_", name)


def digest_figures(digest: Tallies) -> dict[str, float]:
    """The figures of scored rows; an unscored row counts as unscored and never as 0."""
    rows, unscored = len(digest), digest.unscored
    found = {"rows": float(rows), "unscored": float(unscored)}
    if figures := digest.figures():
        names = ("reward_mean", "reward_std", "frac_reward_min")
        found |= dict(zip(names, figures, strict=True))
    groups = digest.groups()
    if groups.prompts:
        found["frac_reward_zero_std"] = groups.without_advantage / groups.prompts
    return found


def file_figures(path: str | Path) -> dict[str, float]:
    """The figures of a file of results.

    They are rows, unscored rows, mean and standard deviation of the reward, and the mean of each
    metric over the scored rows that have it.

    Raises:
        ConfigurationError: as `result_rows`.
    """
    rows, rewards = 0, list[float]()
    values: dict[str, list[float]] = {}
    for row in result_rows(path):
        rows += 1
        if row.reward is not None:
            rewards.append(row.reward)
            for name, value in row.metrics.items():
                values.setdefault(name, []).append(value)
    found: dict[str, float] = {}
    for name, each in values.items():
        found[_free(f"metric.{name}" if name in OWN else name, found)] = mean(each)
    found |= {"rows": float(rows), "unscored": float(rows - len(rewards))}
    return found | (
        {"reward_mean": mean(rewards), "reward_std": pstdev(rewards)} if rewards else {}
    )


OWN: Final = frozenset({"rows", "unscored", "reward_mean", "reward_std"})
"""Figures of a run itself."""


def _free(name: str, taken: Mapping[str, float]) -> str:
    """The name as trackers take it; another one where two metrics would have the same."""
    plain = plain_name(name)
    return plain if plain not in taken else f"{plain}_{len(taken)}"


def results_run(
    path: str | Path, *, name: str = "", parameters: Mapping[str, str] | None = None
) -> TrackedRun:
    """A file of results as a run.

    Args:
        path: written by `reward score -o`.
        name: of the run; the file's without it.
        parameters: such as the reward and its version, which a file of results does not hold.

    Raises:
        ConfigurationError: the file cannot be read, or a row of it is no result.
    """
    path = Path(path)
    return TrackedRun(name or path.stem, parameters or {}, file_figures(path), files=(path,))
