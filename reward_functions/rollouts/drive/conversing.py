"""One trajectory as a page: findings against it, its reward, and its turns as a conversation.

A turn shows the messages that are new in its history, the policy's answer, its calls of tools and
their results. Beside an answer stand its seconds and tokens, and its reward where there is one for
each turn; an only reward stands beside the last answer.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from math import fsum
from typing import TYPE_CHECKING, Any, Final

from reward_functions.reports.conversation import STYLE, Utterance, conversation_markup
from reward_functions.reports.pages.charts.plots import Course, lines
from reward_functions.reports.pages.charts.rows import Row, Span, spans
from reward_functions.reports.pages.page import Concern, Page, Section, one_line
from reward_functions.rollouts.drive.records import LARGEST
from reward_functions.rollouts.record.history import branches
from reward_functions.rollouts.record.text_tool_calls import text_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from reward_functions.reports.conversation import Speaker
    from reward_functions.reports.pages.charts.drawing import Chart
    from reward_functions.reports.pages.page import Part
    from reward_functions.rollouts.record.history import Branch
    from reward_functions.rollouts.record.types import Message, ToolCall, ToolResult, Trajectory
    from reward_functions.rollouts.record.types import Turn as PolicyTurn

DRAWN: Final = 100
"""Turns of a picture, the first ones."""

FIRST: Final = 300
LAST: Final = 50
"""Turns of a long episode that are shown, from either end: branches of all would take minutes."""

NAMED: Final = 12
"""Turns or rewards that a sentence names."""

NAME: Final = 60
"""Bytes of a name in a sentence."""

UNKNOWN: Final = "not known"

WHY: Final = {
    "sampled_again": "the same history again: another answer was asked for",
    "dropped_reasoning": "the reasoning of earlier answers was dropped",
    "summary": "the history was summed up",
    "edited_history": "the history was changed",
    "other_agent": "another agent, or another task",
}
"""Why a branch begins, in words."""

REASONING: Final = ("reasoning_content", "reasoning")
"""Fields of a message that hold reasoning, by engine."""

EXPECTED: Final = ("", "stop", "tool_calls")
"""Reasons why an answer ended that are not shown."""

ROLES: Final[Mapping[str, Speaker]] = {"system": "system", "developer": "system", "tool": "result"}
"""How a message of a history is shown; as a user's where its role is no row."""


def trajectory_page(trajectory: Trajectory) -> Page:
    """The whole page of one trajectory."""
    parts: list[Part] = ["The policy was never called."]
    if trajectory.turns:
        shown = conversation_markup(list(_utterances(trajectory)))
        parts = ["Each turn has what it took beside it.", shown]
    sections = [Section("Conversation", parts)]
    if drawn := list(_charts(trajectory)):
        sections.append(Section("Time and tokens", drawn))
    return Page(
        title=f"Trajectory {trajectory.id}",
        lead=_earned(trajectory),
        facts=list(_facts(trajectory)),
        sections=sections,
        concerns=list(concerns_of(trajectory)),
        style=STYLE,
    )


def _number(count: int, item: str) -> str:
    return f"{count:,} {item}{'s' * (count != 1)}"


def _total(rewards: Sequence[float]) -> str:
    """The sum of rewards, each bounded as a record's are: their own sum may overflow."""
    return f"{fsum(map(_bounded, rewards)):.4g}"


def _earned(trajectory: Trajectory) -> str:
    """The reward, the turns and the tokens in a sentence."""
    rewards = trajectory.rewards
    earned = "It has no reward"
    if rewards:
        earned = f"It earned {_total(rewards)}"
        earned += f", the sum of {len(rewards):,} rewards" if len(rewards) > 1 else ""
    calls = sum(len(turn.tool_calls) for turn in trajectory.kept)
    turns = f"{_number(len(trajectory.kept), 'turn')} and {_number(calls, 'tool call')}"
    return f"{earned} in {turns}."


def concerns_of(trajectory: Trajectory) -> Iterator[Concern]:
    """Findings against a trajectory."""
    place = "Conversation"
    if trajectory.status in ("failed", "conflict"):
        words = {
            "failed": "The rollout was reported as failed.",
            "conflict": "Another report of this rollout came first, and has the rewards.",
        }[trajectory.status]
        yield Concern("failed", words)
    if not trajectory.rewards:
        yield Concern("unscored", "It has no reward: a trainer learns nothing from it.")
    raised = Counter(turn.error for turn in trajectory.turns if turn.error)
    if raised:
        words = f"{_number(raised.total(), 'policy call')} without an answer: {_counts(raised)}."
        yield Concern("reasons", words, place)
    pairs = [(call, result) for turn in trajectory.kept for call, result in turn.pairs]
    kinds: dict[str, Callable[[ToolCall, ToolResult], bool]] = {
        "failed": lambda _, result: result.status == "error",
        "whose result nobody saw": lambda _, result: result.status == "missing",
        "with arguments that are no JSON object": lambda call, _: not call.is_json,
    }
    for name, has in kinds.items():
        found = Counter(call.name for call, result in pairs if has(call, result))
        if found:
            words = f"{found.total():,} of {_number(len(pairs), 'tool call')} {name}: "
            yield Concern("reasons", f"{words}{_counts(found)}.", place)
    cut = [f"{turn.index}" for turn in trajectory.kept if turn.finish_reason == "length"]
    if cut:
        words = f"Cut off at the limit of tokens: turn {', '.join(cut[:NAMED])}"
        yield Concern("truncation", f"{words}{' and more' * (len(cut) > NAMED)}.", place)
    if trajectory.truncated:
        yield Concern("truncation", "The recording is truncated: the episode had more.")
    if trajectory.misaligned:
        yield Concern("other", "Tokens of some turns were misaligned, and are left out.")


def _counts(found: Counter[str]) -> str:
    shown = [f"{one_line(name, NAME)} {count:,}" for name, count in found.most_common(3)]
    return ", ".join([*shown, "…"] if len(found) > len(shown) else shown)


def _facts(trajectory: Trajectory) -> Iterator[tuple[str, str]]:
    """Reward, state, models, turns, tools, tokens, time; "not known" where no engine said."""
    turns, rewards = trajectory.turns, trajectory.rewards
    shown = [f"{reward:.4g}" for reward in rewards or ()]
    more = f" = {' + '.join(shown)}" if 1 < len(shown) <= NAMED else ""
    yield "reward", f"{_total(rewards)}{more}" if rewards else "none"
    yield "state", f"{trajectory.status}{', truncated' * trajectory.truncated}"
    models = dict.fromkeys(turn.model for turn in turns if turn.model)
    yield "model", ", ".join(models) or UNKNOWN
    aside = {
        "discarded": sum(turn.discarded for turn in turns),
        "without an answer": sum(bool(turn.error) for turn in turns),
    }
    counted = [f"{count:,} {name}" for name, count in aside.items() if count]
    yield "turns", ", ".join([f"{len(trajectory.kept):,}", *counted])
    tools = Counter(call.name for turn in trajectory.kept for call in turn.tool_calls)
    yield "tool calls", _counts(tools) or "none"
    yield "tokens read", _sum([turn.usage.input for turn in trajectory.kept])
    yield "tokens written", _sum([turn.usage.output for turn in trajectory.kept])
    if turns:
        yield "seconds", f"{_end(turns) - _bounded(turns[0].began):,.3g}"
        settings = [f"{name}={value}" for name, value in turns[0].parameters.items()]
        yield from [("sampled with", ", ".join(settings))] if settings else []
    yield from [("job", trajectory.job)] if trajectory.job else []


def _sum(counts: Sequence[int | None]) -> str:
    known = [count for count in counts if count is not None]
    return f"{sum(known):,}" if known and len(known) == len(counts) else UNKNOWN


def _end(turns: Sequence[PolicyTurn]) -> float:
    """When the last of them ended, tools included as far as they are known."""
    return max(
        _bounded(turn.began)
        + _bounded(turn.seconds)
        + max((_bounded(each.seconds or 0.0) for each in turn.tool_results), default=0.0)
        for turn in turns
    )


def _bounded(seconds: float) -> float:
    """A number of a file: sums and differences of larger ones may overflow."""
    return max(-LARGEST, min(LARGEST, seconds))


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a turn stands in its branch: what it goes on from, and why a branch begins with it."""

    previous: PolicyTurn | None
    why: str = ""


def _places(found: Sequence[Branch]) -> dict[int, _Place]:
    places = {}
    for at, branch in enumerate(found):
        first, *others = branch.turns
        why = WHY.get(branch.why, branch.why) if at else ""
        start = f" (as of turn {branch.parent.index})" if branch.parent and why else ""
        places[first.index] = _Place(branch.parent, f"{why}{start}")
        for turn, previous in zip(others, branch.turns, strict=False):
            places[turn.index] = _Place(previous)
    return places


def _utterances(trajectory: Trajectory) -> Iterator[Utterance]:
    """What is shown, of a long episode its two ends; branches are those of the first turns."""
    rewards = _by_turn(trajectory)
    first, rest = trajectory.turns[:FIRST], trajectory.turns[FIRST:]
    places = _places(branches(replace(trajectory, turns=first)))
    latest: PolicyTurn | None = None
    for turn in first:
        place = places.get(turn.index, _Place(latest))
        if place.why:
            yield Utterance("branch", "branch", "", place.why)
        yield from _turn(turn, place.previous, rewards)
        latest = turn if turn.index in places else latest
    if (left := len(rest) - LAST) > 0:
        yield Utterance("branch", "…", "", f"{left:,} turns are left out")
        latest = rest[left - 1]
    for turn in rest[-LAST:]:
        yield from _turn(turn, latest, rewards)
        latest = turn


def _turn(
    turn: PolicyTurn, previous: PolicyTurn | None, rewards: Mapping[int, str]
) -> Iterator[Utterance]:
    yield from map(_message, _new(turn, previous))
    yield _answer(turn, rewards.get(turn.index))
    for call, result in turn.pairs:
        yield from _used(call, result)


def _by_turn(trajectory: Trajectory) -> dict[int, str]:
    """Rewards by the turn beside which they stand."""
    kept, rewards = trajectory.kept, trajectory.rewards or ()
    if len(rewards) == len(kept):
        return {turn.index: f"{each:.4g}" for turn, each in zip(kept, rewards, strict=True)}
    return {kept[-1].index: _total(rewards)} if kept and rewards else {}


def _new(turn: PolicyTurn, previous: PolicyTurn | None) -> list[Message]:
    """The messages that a turn was shown, without those that the page has shown before."""
    if previous is None:
        return list(turn.messages)
    before = [*previous.messages, *([previous.response] if previous.response else [])]
    same = len(before)
    if list(turn.messages[:same]) != before:  # as it mostly is: a long history is compared fast
        pairs = enumerate(zip(before, turn.messages, strict=False))
        shorter = min(same, len(turn.messages))
        same = next((at for at, both in pairs if not _alike(*both)), shorter)
    results = {call.id for call, result in previous.pairs if result.status != "missing"}
    return [each for each in turn.messages[same:] if _answers(each) not in results]


def _answers(message: Message) -> str | None:
    """The call that a message is the result of; an id of data may be anything of JSON."""
    id_ = message.get("tool_call_id")
    return id_ if isinstance(id_, str) else None


def _alike(one: Message, other: Message) -> bool:
    return one.get("role") == other.get("role") and _text(one) == _text(other)


def _text(message: Mapping[str, Any]) -> str:
    return text_of(message.get("content"))


def _message(message: Message) -> Utterance:
    role = str(message.get("role"))
    if role == "assistant":
        return Utterance("policy", "policy", _text(message), "in the history")
    return Utterance(ROLES.get(role, "user"), role, _text(message))


def _answer(turn: PolicyTurn, reward: str | None) -> Utterance:
    response = turn.response or {}
    marks = {
        "discarded, and asked for again": turn.discarded,
        "changed before the agent saw it": turn.changed,
        f"read in part: without {', '.join(turn.unread)}": bool(turn.unread),
        "cut off at the limit of tokens": turn.finish_reason == "length",
    }
    thoughts = next((text for name in REASONING if (text := response.get(name))), "")
    thought = f"[reasoning]\n{thoughts}\n\n" if isinstance(thoughts, str) and thoughts else ""
    return Utterance(
        "failed" if turn.error else "policy",
        f"policy, turn {turn.index}",
        f"no answer: {turn.error}" if turn.error else f"{thought}{_text(response)}",
        "; ".join(name for name, holds in marks.items() if holds),
        list(_aside(turn, reward)),
    )


def _aside(turn: PolicyTurn, reward: str | None) -> Iterator[tuple[str, str]]:
    if reward is not None:
        yield "reward", reward
    yield "seconds", f"{turn.seconds:.3g}"
    counts = [
        "?" if each is None else f"{each:,}" for each in (turn.usage.input, turn.usage.output)
    ]
    if counts != ["?", "?"]:
        yield "tokens", " → ".join(counts)
    if turn.finish_reason not in EXPECTED:
        yield "ended by", turn.finish_reason


def _used(call: ToolCall, result: ToolResult) -> Iterator[Utterance]:
    """A call of a tool, and its result."""
    flags = {"written as text": call.recovered, "no JSON object": not call.is_json}
    flagged = "".join(f" ({name})" for name, holds in flags.items() if holds)
    yield Utterance("call", "tool call", call.arguments, f"{call.name}{flagged}")
    aside = [] if result.seconds is None else [("seconds", f"{result.seconds:.3g}")]
    again = f", after {_number(result.discarded, 'attempt')}" if result.discarded else ""
    yield Utterance(
        "result" if result.status == "success" else "failed",
        "tool result",
        result.content,
        f"{call.name}: {result.status}{again}",
        aside,
    )


def _charts(trajectory: Trajectory) -> Iterator[Chart]:
    if trajectory.turns:
        yield _time_line(trajectory.turns[:DRAWN])
    kept = [turn for turn in trajectory.kept if None not in (turn.usage.input, turn.usage.output)]
    if len(kept) > 1:
        yield lines(
            "Tokens that the policy read and wrote, by turn",
            [
                Course("read", [(turn.index, turn.usage.input or 0) for turn in kept]),
                Course("written", [(turn.index, turn.usage.output or 0) for turn in kept], "b"),
            ],
            x="turn",
            y="tokens",
            includes=(0.0,),
        )


def _time_line(shown: Sequence[PolicyTurn]) -> Chart:
    """A row for each turn: the policy's time, and after it each tool's where it is known."""
    start = _bounded(shown[0].began)
    rows = []
    for turn in shown:
        begin = _bounded(turn.began) - start
        end = begin + _bounded(turn.seconds)
        drawn = [Span(end, (begin, end))]
        drawn += [
            Span(end + took, (end, end + took), "b")
            for result in turn.tool_results
            if result.seconds is not None
            for took in (_bounded(result.seconds),)
        ]
        rows.append(Row(f"turn {turn.index}", drawn))
    return spans(
        "When the policy answered, and how long tools took after the answer that calls them",
        rows,
        x="seconds",
        names={"a": "policy", "b": "tool"},
        includes=(0.0,),
    )
