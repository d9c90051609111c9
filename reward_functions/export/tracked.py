"""A run in the words of every tracker: parameters, figures, curves, files."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from reward_functions.core.means import mean
from reward_functions.export.frames import REWARD, columns, result_objects

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reward_functions.reports.score_report.digest import Tallies

NO_NAME: Final = re.compile(r"[^\w.\- /]")
"""Characters that a tracker refuses in the name of a figure (MLflow's are the strictest)."""

TEXTS: Final = frozenset({"id", "error", "message", "answer", "reason", "rule"})
"""Columns of a result that are no figures."""


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


def metric_means(path: str | Path) -> dict[str, float]:
    """The means of a result file's metrics, over the rows that have each.

    Raises:
        ConfigurationError: as `result_objects`.
    """
    values: dict[str, list[float]] = {}
    for result in result_objects(path):
        for name, value in columns(result).items():
            if name not in TEXTS and math.isfinite(value):
                values.setdefault(name, []).append(value)
    return {plain_name(name): mean(found) for name, found in values.items()}


def results_run(
    path: str | Path, *, name: str = "", parameters: Mapping[str, str] | None = None
) -> TrackedRun:
    """A file of results as a run: its rows, its unscored rows, the means of reward and metrics.

    Args:
        path: written by `reward score -o`, .jsonl or .json.
        name: of the run; the file's without it.
        parameters: such as the reward and its version, which a file of results does not hold.

    Raises:
        ConfigurationError: the file cannot be read, or a row of it is no result.
    """
    path = Path(path)
    found = metric_means(path)
    rows = [math.isfinite(columns(each)[REWARD]) for each in result_objects(path)]
    counts = {"rows": float(len(rows)), "unscored": float(rows.count(False))}
    if REWARD in found:
        counts["reward_mean"] = found.pop(REWARD)
    return TrackedRun(name or path.stem, parameters or {}, found | counts, files=(path,))
