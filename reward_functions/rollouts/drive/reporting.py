"""The figures of a file of rollouts, as tables and as JSON.

Ids of rows and types of errors come from data: whoever shows a cell makes it harmless.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

from reward_functions.reports.sheets import Sheet

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from reward_functions.reports.group_figures import Share
    from reward_functions.rollouts.drive.figures import Figures, HistogramBin

WIDTH: Final = 40
"""Characters of the longest bar."""

BAR: Final = "■"


def sheets(figures: Figures) -> Iterator[Sheet]:
    """All tables, the most important first."""
    yield _overview(figures)
    if figures.histogram:
        yield _histogram(figures)
    if figures.errors:
        yield _errors(figures)
    yield _turns(figures)
    if figures.worst:
        yield _worst(figures)


def as_json(figures: Figures) -> dict[str, Any]:
    """The same for programs; a figure with its interval is [value, low, high]."""
    fields = asdict(figures)
    return fields | {
        "pass_at": {str(k): value for k, value in figures.pass_at.items()},
        "turns": {str(turns): count for turns, count in figures.turns.items()},
        "errors": [
            {"status": status, "error": error, "rollouts": count}
            for (status, error), count in figures.errors.items()
        ],
        "histogram": [each._asdict() for each in figures.histogram],
        "worst": [each._asdict() | {"mean": each.mean} for each in figures.worst],
    }


def _overview(figures: Figures) -> Sheet:
    setup = figures.setup
    rows = [("rollouts", f"{figures.rollouts:,}", f"{figures.groups:,} rows × {setup.n}")]
    for status, count in figures.statuses.items():
        rows.append((status, f"{count:,}", _interval(figures.shares[status], "{:.1%}")))
    if figures.mean is not None:
        rows.append(
            ("reward, mean", f"{figures.mean.value:.4g}", _interval(figures.mean, "{:.4g}"))
        )
    if figures.std is not None:
        rows.append(("reward, standard deviation", f"{figures.std:.4g}", ""))
    ends = {
        f"share at the least reward, {figures.minimum or 0:g}": figures.at_minimum,
        f"share at the most, {figures.maximum or 0:g}": figures.at_maximum,
        "groups with zero advantage": figures.zero_std,
    }
    for name, share in ends.items():
        if share is not None:
            rows.append((name, f"{share.value:.1%}", _interval(share, "{:.1%}")))
    rows += [(f"pass@{k}", f"{value:.1%}", "") for k, value in figures.pass_at.items()]
    rows += [
        (f"seconds, {name}", f"{seconds:.3g}", "") for name, seconds in figures.seconds.items()
    ]
    if figures.idle:
        rows.append(("never called the policy", f"{figures.idle:,}", "no trainer learns from them"))
    rows.append(("tool calls, mean", f"{figures.tool_calls:.3g}", ""))
    if figures.duplicates:
        rows.append(("reports that came again", f"{figures.duplicates:,}", "counted once"))
    return Sheet(
        title=f"Rollouts of {setup.agent}",
        heads=("figure", "value", "95 % interval"),
        rows=rows,
        note=_note(setup.scorer),
    )


def _note(scorer: Mapping[str, Any] | None) -> str:
    if scorer is None:
        return "rewarded by the agent; what failed or was lost has no reward, and counts as none"
    return (
        f"scored by {scorer.get('name')} version {scorer.get('version')}; what failed or was lost "
        "has no reward, and counts as none"
    )


def _histogram(figures: Figures) -> Sheet:
    most = max(each.rollouts for each in figures.histogram)
    return Sheet(
        title="Rewards",
        heads=("reward", "rollouts", "share"),
        rows=[
            (_ends(each), f"{each.rollouts:,}", BAR * round(WIDTH * each.rollouts / most))
            for each in figures.histogram
        ],
        words=("share",),
    )


def _ends(each: HistogramBin) -> str:
    return f"{each.low:.4g}" if each.low == each.high else f"{each.low:.4g} to {each.high:.4g}"


def _errors(figures: Figures) -> Sheet:
    return Sheet(
        title="Without a reward",
        heads=("error", "status", "rollouts"),
        rows=[(error, status, f"{count:,}") for (status, error), count in figures.errors.items()],
        words=("status",),
    )


def _turns(figures: Figures) -> Sheet:
    mean = sum(turns * count for turns, count in figures.turns.items()) / figures.rollouts
    most = max(figures.turns.values())
    return Sheet(
        title="Turns",
        heads=("turns", "rollouts", "share"),
        rows=[
            (f"{turns}", f"{count:,}", BAR * round(WIDTH * count / most))
            for turns, count in figures.turns.items()
        ],
        note=f"mean {mean:.2f}",
        words=("share",),
    )


def _worst(figures: Figures) -> Sheet:
    return Sheet(
        title="Rows that earn the least",
        heads=("row", "number", "mean", "rewarded", "rewards"),
        rows=[
            (
                group.id,
                f"{group.row}",
                f"{group.mean:.4g}",
                f"{len(group.rewards)}/{group.asked}",
                " ".join(f"{reward:.3g}" for reward in group.rewards),
            )
            for group in figures.worst
        ],
        words=("rewards",),
    )


def _interval(share: Share, form: str) -> str:
    return f"{form.format(share.low)} to {form.format(share.high)}"
