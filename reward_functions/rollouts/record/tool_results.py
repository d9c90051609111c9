"""Which result belongs to which tool call: once each, whoever shows it first.

A result comes from whatever ran the tool, or is seen in a later request as a `role: tool` message.
Engines may number the calls of each answer from 0 again, or give no ids at all. So a message counts
from the end of its request: the last result of an id belongs to the last call that has this id,
where the assistant's message before it, if there is one, calls the same function.

Not known of a result that only a request shows: whether the tool failed. It counts as a success.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, NamedTuple

from reward_functions.rollouts.record.responses import function_of
from reward_functions.rollouts.record.text_tool_calls import text_of
from reward_functions.rollouts.record.types import ToolCall, ToolResult

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from reward_functions.rollouts.record.types import Message

NOTHING: Final = "{}"
"""The arguments of a call that has none."""

MOST_EARLY: Final = 1_000
"""Results that are kept of calls that nobody has seen yet."""


class CallPlace(NamedTuple):
    """A call of an episode.

    Args:
        turn: its number.
        at: the number of the call in the turn's answer.
    """

    turn: int
    at: int


@dataclass(slots=True)
class _Made:
    """A call, and what is known of its result."""

    call: ToolCall
    result: ToolResult | None = None
    direct: bool = False


class ToolResults:
    """The calls of an episode with their results. Not safe for threads: its owner locks."""

    def __init__(self) -> None:
        self._made: dict[CallPlace, _Made] = {}
        self._by_id: defaultdict[str, list[CallPlace]] = defaultdict(list)
        self._by_call: defaultdict[tuple[str, str, str], list[CallPlace]] = defaultdict(list)
        self._early: list[ToolResult] = []

    def called(self, turn: int, calls: Iterable[ToolCall]) -> None:
        """An answer calls tools."""
        for at, call in enumerate(calls):
            place = CallPlace(turn, at)
            self._made[place] = _Made(call)
            self._by_id[call.id].append(place)
            self._by_call[_key(call)].append(place)
        early, self._early = self._early, []
        for result in early:
            self.gave(result)

    def discarded(self, turn: int) -> None:
        """The answer of a turn was thrown away: nothing is a result of its calls."""
        for place in [place for place in self._made if place.turn == turn]:
            call = self._made[place].call
            self._by_id[call.id].remove(place)
            self._by_call[_key(call)].remove(place)

    def gave(self, result: ToolResult) -> None:
        """What ran a tool reports its result; of an attempt that is repeated the last counts."""
        places = self._by_id.get(result.call_id)
        if not places:
            self._early = [*self._early, result][-MOST_EARLY:]
            return
        latest = [place for place in places if place.turn == places[-1].turn]
        waiting = [place for place in latest if not self._made[place].direct]
        made = self._made[(waiting or latest[-1:])[0]]
        made.result = _joined(result, made.result)
        made.direct = True

    def shown(self, messages: Sequence[Message]) -> Iterator[int]:
        """A request shows the results of earlier calls.

        Args:
            messages: of it.

        Yields:
            Turns whose recovered tool calls the agent got in place of the text.
        """
        seen: Counter[tuple[str, str, str]] = Counter()
        for message, function in reversed(list(_results(messages))):
            id_ = str(message.get("tool_call_id") or "")
            key = (id_, *(function or ("", "")))
            found = self._by_id.get(id_) if function is None else self._by_call.get(key)
            places = found or ()
            seen[key] += 1
            if seen[key] > len(places):
                continue
            place = places[-seen[key]]
            made = self._made[place]
            if made.call.recovered:
                yield place.turn
            if made.result is None or not made.result.content:
                shown = ToolResult(call_id=id_, content=text_of(message.get("content")))
                made.result = _joined(made.result, shown)

    def of(self, turn: int, calls: Sequence[ToolCall]) -> tuple[ToolResult, ...]:
        """The results of a turn's calls, in their order; "missing" where there is none."""
        found = (self._made[CallPlace(turn, at)].result for at in range(len(calls)))
        return tuple(
            result or ToolResult(call_id=call.id, status="missing")
            for call, result in zip(calls, found, strict=True)
        )


def _joined(first: ToolResult | None, second: ToolResult | None) -> ToolResult | None:
    """What counts of two reports of one result; a text where one has it."""
    if first is None or second is None:
        return first or second
    return first if first.content else replace(first, content=second.content)


def _results(messages: Sequence[Message]) -> Iterator[tuple[Message, tuple[str, str] | None]]:
    """The messages of tools, each with the function that the assistant's message before it calls.

    None where no such message is there, as it was cut away.
    """
    called: list[tuple[str, tuple[str, str] | None]] = []
    for message in messages:
        role = message.get("role")
        if role == "assistant":
            calls = message.get("tool_calls")
            called = [
                (str(call.get("id") or ""), _function(call))
                for call in (calls if isinstance(calls, list) else ())
                if isinstance(call, dict)
            ]
        elif role == "tool":
            id_ = str(message.get("tool_call_id") or "")
            at = next((at for at, (known, _) in enumerate(called) if known == id_), None)
            yield message, None if at is None else called.pop(at)[1]


def _function(call: Message) -> tuple[str, str] | None:
    found = function_of(call)
    return found and (found[0], found[1] or NOTHING)


def _key(call: ToolCall) -> tuple[str, str, str]:
    """What a call says; without arguments it says that they are empty."""
    return call.id, call.name, call.arguments or NOTHING
