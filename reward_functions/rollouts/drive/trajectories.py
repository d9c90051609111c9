"""Trajectories for people: statistics as tables, one trajectory turn by turn, and both as pages.

Names of tools and all texts come from data: whoever shows a cell makes it harmless.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

from reward_functions.core.errors import ConfigurationError
from reward_functions.reports.pages.charts.bars import tallies
from reward_functions.reports.pages.charts.spans import Row, Span, spans
from reward_functions.reports.pages.page import Page
from reward_functions.reports.pages.sections import Section
from reward_functions.reports.sheets import Sheet
from reward_functions.rollouts.record.history import branches
from reward_functions.rollouts.record.statistics import TrajectoryStatistics
from reward_functions.rollouts.record.text_tool_calls import text_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from reward_functions.reports.pages.charts.drawing import Chart
    from reward_functions.rollouts.record.types import Trajectory, Turn

SHOWN: Final = 400
"""Characters of a text that are shown."""

DRAWN: Final = 100
"""Turns of a picture, the first ones."""

UNKNOWN: Final = "not known"


def found_in(lines: Iterable[Trajectory], id_: str) -> Trajectory:
    """The last trajectory of an id.

    Raises:
        ConfigurationError: there is none.
    """
    found = None
    for each in lines:
        found = each if each.id == id_ else found
    if found is None:
        raise ConfigurationError(f"no trajectory has the id {id_[:256]!r}: look for it in the file")
    return found


def statistics_as_json(statistics: TrajectoryStatistics) -> dict[str, Any]:
    """Statistics for programs."""
    sums = {name: getattr(statistics, name) for name in ("tool_calls", "recovered", "invalid")}
    return asdict(statistics) | sums


def trajectory_sheets(statistics: TrajectoryStatistics) -> Iterator[Sheet]:
    """All tables, the most important first."""
    yield _overview(statistics)
    if statistics.tools:
        yield _tools(statistics)
    if statistics.failures:
        yield Sheet(
            title="Policy calls without an answer",
            heads=("raised", "calls"),
            rows=[(name, f"{count:,}") for name, count in statistics.failures.items()],
        )


def turn_sheet(trajectory: Trajectory) -> Sheet:
    """One trajectory, a row for each answer, call and result."""
    begins = {branch.turns[0].index: branch.why for branch in branches(trajectory)[1:]}
    rewards = trajectory.rewards
    earned = "no reward" if rewards is None else f"rewards {' '.join(f'{r:.4g}' for r in rewards)}"
    return Sheet(
        title=f"Trajectory {trajectory.id}",
        heads=("turn", "who", "what", "seconds"),
        rows=[row for turn in trajectory.turns for row in _rows(turn, begins.get(turn.index, ""))],
        note=f"{trajectory.status}, {earned}{', truncated' if trajectory.truncated else ''}",
        words=("who", "what"),
    )


def page(what: TrajectoryStatistics | Trajectory) -> Page:
    """Statistics, or one trajectory with its time line, as a page."""
    if isinstance(what, TrajectoryStatistics):
        overview, *others = trajectory_sheets(what)
        calls = [(name, tool.calls) for name, tool in what.tools.items()][:DRAWN]
        drawn = [tallies("Calls of each tool", calls, x="calls")] if calls else []
        sections = [Section("Overview", [*drawn, overview])]
        sections += [Section(sheet.title, [sheet]) for sheet in others]
        return Page("Trajectories", f"{what.trajectories:,} episodes.", sections=sections)
    sheet = turn_sheet(what)
    parts: list[Chart | Sheet] = [_time_line(what), sheet] if what.turns else [sheet]
    sentence = "A tool begins, in the picture, where the answer that calls it ends."
    return Page(sheet.title, sentence, sections=[Section("Turns", parts)])


def _overview(statistics: TrajectoryStatistics) -> Sheet:
    known = {
        "trajectories": statistics.trajectories,
        **{f"of these {name}": count for name, count in statistics.statuses.items()},
        "of these truncated": statistics.truncated,
        "turns": statistics.turns,
        "turns discarded": statistics.discarded,
        "turns read in part": statistics.unread,
        "tool calls": statistics.tool_calls,
        "tool calls whose arguments are no JSON object": statistics.invalid,
        "input tokens": statistics.input_tokens,
        "output tokens": statistics.output_tokens,
    }
    rows = [(name, UNKNOWN if count is None else f"{count:,}") for name, count in known.items()]
    rows += [("tool calls that were text", _share(statistics.recovered, statistics.tool_calls))]
    rows += [("seconds of policy calls", f"{statistics.seconds:,.3g}")]
    rows += [(f"ended by {why}", f"{n:,}") for why, n in statistics.finish_reasons.items()]
    return Sheet(title="Trajectories", heads=("figure", "value"), rows=rows)


def _share(count: int, of: int) -> str:
    return f"{count:,} ({count / of:.1%})" if of else f"{count:,}"


def _tools(statistics: TrajectoryStatistics) -> Sheet:
    names = ("calls", "failures", "missing", "discarded", "recovered", "invalid")
    return Sheet(
        title="Tools",
        heads=("tool", *names, "seconds"),
        rows=[
            (
                name,
                *(f"{getattr(tool, each):,}" for each in names),
                "" if tool.seconds is None else f"{tool.seconds:.3g}",
            )
            for name, tool in statistics.tools.items()
        ],
        note="missing: nobody saw a result; recovered: the call was text",
        spare=("discarded", "recovered", "invalid"),
    )


def _rows(turn: Turn, why: str) -> Iterator[tuple[str, str, str, str]]:
    number = f"{turn.index}"
    if why:
        yield number, "branch", why, ""
    last = turn.messages[-1] if turn.messages else {}
    if last.get("role") == "user":
        yield number, "user", _shortened(text_of(last.get("content"))), ""
    marks = {"discarded": turn.discarded, "changed": turn.changed, "read in part": turn.unread}
    marked = "".join(f" ({name})" for name, holds in marks.items() if holds)
    text = turn.error or text_of((turn.response or {}).get("content"))
    yield number, f"policy{marked}", _shortened(text), f"{turn.seconds:.3g}"
    for call, result in turn.pairs:
        flag = "" if call.is_json else " (no JSON object)"
        yield number, "calls", _shortened(f"{call.name}({call.arguments}){flag}"), ""
        took = "" if result.seconds is None else f"{result.seconds:.3g}"
        yield number, result.status, _shortened(result.content), took


def _shortened(text: str) -> str:
    flat = " ".join(text[: 4 * SHOWN].split())
    return flat if len(flat) <= SHOWN and len(text) <= 4 * SHOWN else f"{flat[:SHOWN]} …"


def _time_line(trajectory: Trajectory) -> Chart:
    """A row for each turn: the policy's time, and behind it each tool's where it is known."""
    shown = trajectory.turns[:DRAWN]
    start = shown[0].began
    rows = []
    for turn in shown:
        begin = turn.began - start
        end = begin + turn.seconds
        drawn = [Span(end, (begin, end))]
        drawn += [
            Span(end + result.seconds, (end, end + result.seconds), "b")
            for result in turn.tool_results
            if result.seconds is not None
        ]
        rows.append(Row(f"turn {turn.index}", drawn))
    return spans(
        "When the policy answered, and how long tools took",
        rows,
        x="seconds",
        names={"a": "policy", "b": "tool"},
        includes=(0.0,),
    )
