"""Count what agents did: turns, tool calls by tool, tokens, failures; of one or of many.

| counted | not counted |
| --- | --- |
| turns that were answered and kept | discarded turns and failed calls, which have own rows |
| tokens, where an engine said how many | as 0 where it did not: then there is no sum, but None |
| a tool by its name | one that was not offered: all of those are `INVENTED` |

Names of tools come from data: make them harmless before you show them.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from math import fsum
from typing import TYPE_CHECKING, Final

from reward_functions.rollouts.record.text_tool_calls import names_of
from reward_functions.rollouts.record.types import Trajectory

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from reward_functions.rollouts.record.types import ToolCall, ToolResult, Turn

INVENTED: Final = "(invented tool)"
"""Under which calls of tools are counted that the policy was not offered."""


LONGEST: Final = 1e100
"""Seconds that count at most: a file may hold some whose sum would overflow."""


@dataclass(slots=True, kw_only=True)
class ToolStatistics:
    """The use of a tool.

    Args:
        calls: in turns that were kept.
        failures: whose status is "error".
        missing: whose result nobody saw.
        discarded: attempts that were repeated.
        recovered: calls that were text.
        invalid: calls whose arguments are no JSON object.
        seconds: of the calls whose time is known; None where none is.
    """

    calls: int = 0
    failures: int = 0
    missing: int = 0
    discarded: int = 0
    recovered: int = 0
    invalid: int = 0
    seconds: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TrajectoryStatistics:
    """Of any number of trajectories.

    Args:
        trajectories: how many.
        truncated: of these, the ones of which something was left out.
        unrewarded: of these, the ones without a reward.
        statuses: how many have each status.
        turns: that were answered and kept.
        discarded: turns whose answer was thrown away.
        failures: calls without an answer, by the type of what they raised.
        unread: turns of which a part could not be read.
        changed: turns whose agent got recovered tool calls in place of the text.
        finish_reasons: of the turns, where the engine said one.
        tools: by name, the most used first.
        input_tokens: of all answers, discarded ones too; None where a turn's are not known.
        output_tokens: likewise.
        seconds: that the policy took, discarded and failed calls too.
    """

    trajectories: int
    truncated: int
    unrewarded: int
    statuses: Mapping[str, int]
    turns: int
    discarded: int
    failures: Mapping[str, int]
    unread: int
    changed: int
    finish_reasons: Mapping[str, int]
    tools: Mapping[str, ToolStatistics] = field(default_factory=dict)
    input_tokens: int | None
    output_tokens: int | None
    seconds: float

    @property
    def tool_calls(self) -> int:
        """Of all tools."""
        return sum(tool.calls for tool in self.tools.values())

    @property
    def recovered(self) -> int:
        """Tool calls that were text."""
        return sum(tool.recovered for tool in self.tools.values())

    @property
    def invalid(self) -> int:
        """Tool calls whose arguments are no JSON object."""
        return sum(tool.invalid for tool in self.tools.values())


def statistics_of(trajectories: Trajectory | Iterable[Trajectory]) -> TrajectoryStatistics:
    """The statistics of one trajectory, or of many; they may come from a file one by one."""
    counting = _Counting()
    for each in (trajectories,) if isinstance(trajectories, Trajectory) else trajectories:
        counting.add(each)
    return counting.statistics()


class _Counting:
    """Statistics while they grow: a file of trajectories is larger than the memory."""

    def __init__(self) -> None:
        self.trajectories = self.truncated = self.unrewarded = self.turns = 0
        self.discarded = self.unread = self.changed = 0
        self.statuses: Counter[str] = Counter()
        self.failures: Counter[str] = Counter()
        self.finish_reasons: Counter[str] = Counter()
        self.tools: dict[str, ToolStatistics] = {}
        self.tokens: dict[str, list[int | None]] = {"input": [], "output": []}
        self.seconds: list[float] = []

    def add(self, trajectory: Trajectory) -> None:
        self.trajectories += 1
        self.truncated += trajectory.truncated
        self.unrewarded += not trajectory.rewards
        self.statuses[trajectory.status] += 1
        for turn in trajectory.turns:
            self._turn(turn)
        self._sum()

    def _turn(self, turn: Turn) -> None:
        self.seconds.append(_bounded(turn.seconds))
        self.unread += bool(turn.unread)
        if turn.error:
            self.failures[turn.error] += 1
            return
        self.tokens["input"].append(turn.usage.input)
        self.tokens["output"].append(turn.usage.output)
        if turn.discarded:
            self.discarded += 1
            return
        self.turns += 1
        self.changed += turn.changed
        if turn.finish_reason:
            self.finish_reasons[turn.finish_reason] += 1
        offered = set(names_of(turn.tools))
        for call, result in turn.pairs:
            known = not offered or call.name in offered
            name = call.name if known else INVENTED
            _count(self.tools.setdefault(name, ToolStatistics()), call, result)

    def _sum(self) -> None:
        """One number for each list: what is not known makes the sum unknown."""
        self.seconds = [fsum(self.seconds)]
        self.tokens = {name: [_total(each)] for name, each in self.tokens.items()}

    def statistics(self) -> TrajectoryStatistics:
        self._sum()
        by_use = sorted(self.tools.items(), key=lambda item: (-item[1].calls, item[0]))
        return TrajectoryStatistics(
            trajectories=self.trajectories,
            truncated=self.truncated,
            unrewarded=self.unrewarded,
            statuses=dict(self.statuses.most_common()),
            turns=self.turns,
            discarded=self.discarded,
            failures=dict(self.failures.most_common()),
            unread=self.unread,
            changed=self.changed,
            finish_reasons=dict(self.finish_reasons.most_common()),
            tools=dict(by_use),
            input_tokens=self.tokens["input"][0],
            output_tokens=self.tokens["output"][0],
            seconds=self.seconds[0],
        )


def _bounded(seconds: float) -> float:
    return max(-LONGEST, min(LONGEST, seconds))


def _total(counts: list[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if len(known) == len(counts) else None


def _count(tool: ToolStatistics, call: ToolCall, result: ToolResult) -> None:
    tool.calls += 1
    tool.failures += result.status == "error"
    tool.missing += result.status == "missing"
    tool.discarded += result.discarded
    tool.recovered += call.recovered
    tool.invalid += not call.is_json
    if result.seconds is not None:
        tool.seconds = (tool.seconds or 0.0) + _bounded(result.seconds)
