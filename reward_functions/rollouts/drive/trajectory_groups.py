"""What the rollouts of each row took: turns, tool calls and tokens, beside what they earned.

A row whose rollouts need most turns is where a policy wanders, or where the window is short.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from reward_functions.reports.sheets import Sheet
from reward_functions.rollouts.record.jsonl import TrajectoryFile
from reward_functions.rollouts.record.statistics import TrajectoryStatistics, statistics_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from reward_functions.rollouts.drive.records import RolloutRecord
    from reward_functions.rollouts.record.types import Trajectory

SHOWN: Final = 10
"""Rows of the table, those with the most turns; JSON has all."""

SUMS: Final = ("turns", "tool_calls", "recovered")
TOKENS: Final = ("input_tokens", "output_tokens")


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupUse:
    """What the rollouts of a row took, each figure a mean of those whose trajectory is there.

    Args:
        row: its number, from 1.
        id: of the row.
        trajectories: how many are there.
        turns: that were answered and kept.
        tool_calls: of these turns.
        recovered: tool calls that were text.
        input_tokens: None where an engine did not count one of them.
        output_tokens: likewise.
    """

    row: int
    id: str
    trajectories: int
    turns: float
    tool_calls: float
    recovered: float
    input_tokens: float | None
    output_tokens: float | None


@dataclass(frozen=True, slots=True)
class Use:
    """What rollouts took.

    Args:
        statistics: of all.
        groups: in the order of their rows.
        torn: bytes of half a line at the end of the file, which is left out.
    """

    statistics: TrajectoryStatistics
    groups: Sequence[GroupUse]
    torn: int = 0


def use_in(path: Path, records: Iterable[RolloutRecord]) -> Use:
    """What some rollouts took, of the trajectories of a file; of several of one the last.

    Raises:
        ConfigurationError: a line is no trajectory.
        OSError: the file cannot be read.
    """
    rows = {record.rollout: (record.row, record.id) for record in records}
    last = {each.id: at for at, each in enumerate(TrajectoryFile(path)) if each.id in rows}
    sums: dict[tuple[int, str], Counter[str]] = defaultdict(Counter)
    unknown: dict[tuple[int, str], set[str]] = defaultdict(set)

    lines = TrajectoryFile(path)

    def counted() -> Iterator[Trajectory]:
        for at, each in enumerate(lines):
            if last.get(each.id) == at:
                _add(statistics_of(each), sums[rows[each.id]], unknown[rows[each.id]])
                yield each

    statistics = statistics_of(counted())
    groups = [_group(row, sums[row], unknown[row]) for row in sorted(sums)]
    return Use(statistics, groups, lines.torn)


def group_sheet(groups: Sequence[GroupUse]) -> Sheet:
    """The rows with the most turns."""
    most = sorted(groups, key=lambda group: (-group.turns, group.row))[:SHOWN]
    return Sheet(
        title="Rows with the most turns",
        heads=("row", "number", "turns", "tool calls", "text calls", "tokens in", "tokens out"),
        rows=[
            (
                group.id,
                f"{group.row}",
                f"{group.turns:.3g}",
                f"{group.tool_calls:.3g}",
                f"{group.recovered:.3g}",
                *("" if each is None else f"{each:,.0f}" for each in _tokens(group)),
            )
            for group in most
        ],
        note="means of a rollout; text calls: tool calls that the policy wrote as text",
    )


def _tokens(group: GroupUse) -> tuple[float | None, float | None]:
    return group.input_tokens, group.output_tokens


def _add(one: TrajectoryStatistics, sums: Counter[str], unknown: set[str]) -> None:
    sums["trajectories"] += 1
    for name in (*SUMS, *TOKENS):
        value = getattr(one, name)
        if value is None:
            unknown.add(name)
        else:
            sums[name] += value


def _group(row: tuple[int, str], sums: Counter[str], unknown: set[str]) -> GroupUse:
    count = sums["trajectories"]
    means: dict[str, Any] = {
        name: None if name in unknown else sums[name] / count for name in (*SUMS, *TOKENS)
    }
    return GroupUse(row=row[0], id=row[1], trajectories=count, **means)
