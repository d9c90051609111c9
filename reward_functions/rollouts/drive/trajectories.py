"""Trajectories for people and for trainers: tables, pages, and rows of other formats.

| format | a line is |
| --- | --- |
| `jsonl` | a trajectory, whole, with its rewards: what was read, joined |
| `rllm` | an episode of rLLM with one trajectory |
| `agentcore` | a trace record of agentcore-rl-toolkit, with its advantage in the metadata |
| `datum` | a datum of a SageMaker training session |

Rows of tokens (`agentcore`, `datum`) need a group and log-probabilities. The others need neither,
and hold failed and unscored rollouts too: without a reward, and never with 0.0. A rollout whose
tokens were misaligned when they were recorded stands in `jsonl` alone.

A row whose rollouts need most turns is where a policy wanders, or where the window is short.
Names of tools and all texts come from data: who shows a cell makes it harmless.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from reward_functions.core.errors import ConfigurationError
from reward_functions.data.json_rows import Room
from reward_functions.reports.pages.charts.rows import tallies
from reward_functions.reports.pages.page import Concern, Page, Section
from reward_functions.reports.sheets import Sheet
from reward_functions.rollouts.drive.conversing import trajectory_page
from reward_functions.rollouts.record.exchange.agentcore import trace_records
from reward_functions.rollouts.record.exchange.datum import datum
from reward_functions.rollouts.record.exchange.fields import BadTrace, read_object
from reward_functions.rollouts.record.exchange.joining import (
    Joined,
    RolloutReward,
    TrainingRow,
    Weight,
    agreed,
    joined,
    weighted,
)
from reward_functions.rollouts.record.exchange.rllm import rllm_episode
from reward_functions.rollouts.record.exchange.token_rows import LeftOut, counted
from reward_functions.rollouts.record.history import branches
from reward_functions.rollouts.record.jsonl import TrajectoryFile, written
from reward_functions.rollouts.record.statistics import TrajectoryStatistics, statistics_of
from reward_functions.rollouts.record.text_tool_calls import text_of
from reward_functions.rollouts.request.errors import InvalidReward

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from reward_functions.reports.pages.page import Kind
    from reward_functions.rollouts.drive.records import RolloutRecord
    from reward_functions.rollouts.record.exchange.advantages import Group, Scale
    from reward_functions.rollouts.record.types import Trajectory, Turn


SHOWN: Final = 400
"""Characters of a text that are shown."""

DRAWN: Final = 100
"""Bars of a picture and rows of a table, the first ones: a policy names tools as it likes."""

UNKNOWN: Final = "not known"

OVERVIEW: Final = "Overview"

TRAJECTORIES: Final = "Trajectories"
"""The title of the first table."""

UNANSWERED: Final = "Policy calls without an answer"

FAULTS: Final = ("failures", "missing")
"""Figures of a tool that are findings."""


def found_in(lines: Iterable[Trajectory], id_: str) -> Trajectory:
    """The last trajectory of an id.

    Raises:
        ConfigurationError: the file has no trajectory.
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
            title=UNANSWERED,
            heads=("raised", "calls"),
            rows=[(name, f"{count:,}") for name, count in statistics.failures.items()],
        ).first(DRAWN)


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
    """Statistics, or one trajectory as a conversation, as a page."""
    if not isinstance(what, TrajectoryStatistics):
        return trajectory_page(what)
    overview, *others = trajectory_sheets(what)
    calls = [(name, tool.calls) for name, tool in what.tools.items()][:DRAWN]
    ended = list(what.finish_reasons.items())[:DRAWN]
    drawn = [tallies("Calls of each tool", calls, x="calls")] if calls else []
    drawn += [tallies("How answers ended", ended, x="turns")] if ended else []
    sections = [Section(OVERVIEW, [*drawn, overview])]
    sections += [Section(sheet.title, [sheet]) for sheet in others]
    return Page(
        TRAJECTORIES,
        f"{what.trajectories:,} episodes with {what.turns:,} turns and {what.tool_calls:,} tool "
        "calls.",
        sections=sections,
        concerns=[*_unrewarded(what), *concerns_of_many(what)],
    )


def _unrewarded(statistics: TrajectoryStatistics) -> Iterator[Concern]:
    """The finding that episodes have no reward.

    A file of rollouts has no such finding: its records hold the rewards.
    """
    if statistics.unrewarded:
        count = _share_of(statistics.unrewarded, statistics.trajectories)
        words = f"{count} episodes have no reward: a trainer learns nothing from them."
        yield Concern("unscored", words, OVERVIEW)


def concerns_of_many(
    statistics: TrajectoryStatistics, overview: str = OVERVIEW
) -> Iterator[Concern]:
    """Findings against some of many trajectories, a sentence for each kind.

    Args:
        statistics: of them.
        overview: the title of the section with the first of the tables.
    """
    tools = statistics.tools.values()
    calls = statistics.tool_calls
    failures, missing = (sum(getattr(tool, each) for tool in tools) for each in FAULTS)
    unanswered = sum(statistics.failures.values())
    asked = statistics.turns + statistics.discarded + unanswered
    episodes, turns = statistics.trajectories, statistics.turns
    failed = statistics.statuses.get("failed", 0)
    cut = statistics.finish_reasons.get("length", 0)
    rows: tuple[tuple[Kind, int, int, str, str], ...] = (
        ("failed", failed, episodes, "episodes were reported as failed", overview),
        ("reasons", unanswered, asked, "policy calls had no answer", UNANSWERED),
        ("reasons", failures, calls, "tool calls failed", "Tools"),
        ("reasons", missing, calls, "tool calls have no result that was seen", "Tools"),
        (
            "reasons",
            statistics.invalid,
            calls,
            "tool calls had arguments that are no JSON",
            "Tools",
        ),
        ("truncation", cut, turns, "answers were cut off at the limit of tokens", overview),
        ("truncation", statistics.truncated, episodes, "recordings are truncated", overview),
    )
    for kind, count, of, words, section in rows:
        if count:
            yield Concern(kind, f"{_share_of(count, of)} {words}.", section)


def _overview(statistics: TrajectoryStatistics) -> Sheet:
    known = {
        "trajectories": statistics.trajectories,
        **{f"of these {name}": count for name, count in statistics.statuses.items()},
        "of these truncated": statistics.truncated,
        "of these without a reward": statistics.unrewarded,
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
    ends = list(statistics.finish_reasons.items())[:DRAWN]
    rows += [(f"ended by {why}", f"{n:,}") for why, n in ends]
    return Sheet(title=TRAJECTORIES, heads=("figure", "value"), rows=rows)


def _share_of(count: int, of: int) -> str:
    """A part of a whole: "2 of 6 (33.3%)"."""
    return _share(count, of).replace(" (", f" of {of:,} (")


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
    ).first(DRAWN)


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


MOST_TURNS: Final = 10
"""Rows of the table, those with the most turns; JSON has all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupUse:
    """The use of a row's rollouts, each figure a mean of those whose trajectory is known.

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

    @property
    def tokens(self) -> tuple[float | None, float | None]:
        """Both figures of tokens."""
        return self.input_tokens, self.output_tokens


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
    """The use of some rollouts, by the trajectories of a file; of several of one the last.

    Raises:
        ConfigurationError: a line is no trajectory.
        OSError: the file cannot be read.
    """
    rows = {record.rollout: (record.row, record.id) for record in records}
    last = {each.id: at for at, each in enumerate(TrajectoryFile(path)) if each.id in rows}
    found: dict[tuple[int, str], list[TrajectoryStatistics]] = defaultdict(list)
    lines = TrajectoryFile(path)

    def chosen() -> Iterator[Trajectory]:
        for at, each in enumerate(lines):
            if last.get(each.id) == at:
                found[rows[each.id]].append(statistics_of(each))
                yield each

    statistics = statistics_of(chosen())
    return Use(statistics, [_group(row, found[row]) for row in sorted(found)], lines.torn)


def group_sheet(groups: Sequence[GroupUse]) -> Sheet:
    """The rows with the most turns."""
    most = sorted(groups, key=lambda group: (-group.turns, group.row))[:MOST_TURNS]
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
                *("" if each is None else f"{each:,.0f}" for each in group.tokens),
            )
            for group in most
        ],
        note="means of a rollout; text calls: tool calls that the policy wrote as text",
    )


def _group(row: tuple[int, str], found: Sequence[TrajectoryStatistics]) -> GroupUse:
    def mean(name: str) -> Any:
        each = [getattr(one, name) for one in found]
        return None if None in each else sum(each) / len(each)

    number, id_ = row
    names = ("turns", "tool_calls", "recovered", "input_tokens", "output_tokens")
    means = {name: mean(name) for name in names}
    return GroupUse(row=number, id=id_, trajectories=len(found), **means)


Format = Literal["jsonl", "rllm", "agentcore", "datum"]
TOKEN_FORMATS: frozenset[str] = frozenset({"agentcore", "datum"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Exported:
    """The outcome of a file.

    Args:
        lines: the rows, as JSON, without line breaks.
        left_out: rollouts and turns that gave no row, by reason.
        groups: of the rollouts that were rewarded; none for formats without advantages.
        weight: of the advantages; None for formats without.
        episodes: that gave rows of tokens.
        forked: of these, those that gave several.
        torn: bytes of half a line at the end of the trajectories.
    """

    lines: tuple[str, ...]
    left_out: Mapping[str, int]
    groups: tuple[Group, ...] = ()
    weight: Weight | None = None
    episodes: int = 0
    forked: int = 0
    torn: int = 0


def exported(
    path: str,
    to: Format,
    *,
    rewards: str | None = None,
    scale: Scale = "none",
    weight: Weight = "token",
) -> Exported:
    """The rows of a file of trajectories.

    Args:
        path: of the trajectories, as JSON lines.
        to: the format.
        rewards: the path of records of `reward rollouts run`, or of results from S3, one a line;
            the trajectories' own where None.
        scale: of advantages; "std" divides by the group's standard deviation.
        weight: what has the advantage of an episode once, among the rows that are written.

    Raises:
        BadTrajectory, BadTrace: a line cannot be read. The message names it.
        MisalignedTokens: tokens and log-probabilities of a turn do not belong together.
        OSError: a file cannot be read.
    """
    file = TrajectoryFile(Path(path))
    trajectories = list(_held(file, path))
    given = None if rewards is None else list(read_rewards(rewards))
    if to in TOKEN_FORMATS:
        found = joined(trajectories, given, scale=scale)
        kept, left = _written(found, to)
        by_episode = Counter(row.tokens.rollout for row in kept)
        return Exported(
            lines=tuple(_token_lines(found, weighted(kept, weight), to, weight)),
            left_out=counted(left),
            groups=found.groups,
            weight=weight,
            episodes=len(by_episode),
            forked=sum(count > 1 for count in by_episode.values()),
            torn=file.torn,
        )
    rewarded = trajectories if given is None else list(_with_rewards(trajectories, given))
    if to == "jsonl":
        rows = list(map(written, rewarded))
        refused: list[LeftOut] = []
    else:
        refused = [LeftOut(each.id, "misaligned tokens") for each in rewarded if each.misaligned]
        rewarded = [each for each in rewarded if not each.misaligned]
        rows = list(_episodes(rewarded))
    missing = [LeftOut(each.id, "no reward") for each in rewarded if each.rewards is None]
    left_out = counted(refused) | _marked(counted(missing))
    return Exported(lines=tuple(rows), left_out=left_out, torn=file.torn)


def _held(file: TrajectoryFile, path: str) -> Iterator[Trajectory]:
    """The trajectories of a file, all of which are kept.

    Raises:
        BadInput: they take more than a file of this size may.
    """
    room = Room(path, whole=True)
    room.read(Path(path).stat().st_size)
    for each in file:
        room.add(file.size)
        yield each


def read_rewards(path: str) -> Iterator[RolloutReward]:
    """The rewards of a file, one a line; half a line at its end is left out.

    Raises:
        BadTrace: a line is no record and no result. The message names it.
        OSError: it cannot be read.
    """
    with Path(path).open("rb") as stream:
        for number, line in enumerate(stream, 1):
            if not line.endswith(b"\n"):
                return
            try:
                yield RolloutReward.read(read_object(line, "record"))
            except (BadTrace, InvalidReward) as error:
                raise BadTrace(f"{path}, line {number}: {error}") from None


def _with_rewards(
    trajectories: Sequence[Trajectory], rewards: Sequence[RolloutReward]
) -> Iterator[Trajectory]:
    """Trajectories with the rewards that a source gives them; with none where two disagree."""
    found = agreed(rewards)
    for each in trajectories:
        reward = found.get(each.id)
        yield replace(each, rewards=None if reward is None else reward.rewards)


def _marked(left: Mapping[str, int]) -> dict[str, int]:
    """What stands in the file all the same."""
    return {f"{reason}, written without one": count for reason, count in left.items()}


def _episodes(trajectories: Sequence[Trajectory]) -> Iterator[str]:
    """Episodes of rLLM, numbered within their group."""
    seen: dict[str, int] = {}
    for each in trajectories:
        group = each.metadata.get("group")
        task = (group if isinstance(group, str) and group else each.id).replace(":", "_")
        seen[task] = index = seen.get(task, -1) + 1
        yield _line(rllm_episode([each], task_id=task, index=index))


def _written(found: Joined, to: Format) -> tuple[list[TrainingRow], list[LeftOut]]:
    """The rows that a format takes, and what is left out."""
    rows: list[TrainingRow] = []
    left = list(found.left_out)
    for row in found.rows:
        prompt = row.tokens.prompt_ids or to != "datum"
        if row.tokens.has_logprobs and prompt:
            rows.append(row)
        else:
            reason = "no log-probabilities" if prompt else "no prompt"
            left += [LeftOut(row.tokens.rollout, reason, turn) for turn in row.tokens.turns]
    return rows, left


def _token_lines(
    found: Joined, rows: Sequence[TrainingRow], to: Format, weight: Weight
) -> Iterator[str]:
    if to == "datum":
        yield from (_line(datum(row.tokens, row.advantage)) for row in rows)
        return
    by_rollout: defaultdict[str, list[TrainingRow]] = defaultdict(list)
    for row in rows:
        by_rollout[row.tokens.rollout].append(row)
    for trajectory in found.trajectories:
        if trajectory.id not in by_rollout:
            continue
        # A record is made of each row that has log-probabilities, in the same order.
        records, _ = trace_records(trajectory)
        for record, row in zip(records, by_rollout[trajectory.id], strict=True):
            more = {"advantage": row.advantage, "group": row.group, "weight": weight}
            yield _line(record.json() | {"metadata": {**record.metadata, **more}})


def _line(row: Mapping[str, Any]) -> str:
    return json.dumps(row, allow_nan=False, separators=(",", ":"))
