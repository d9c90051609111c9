"""Find the turn that each turn goes on from: one line of turns, or a tree of branches.

A turn goes on from an earlier one where its messages begin with that turn's messages and its
response. Messages are compared by content: ids of tool calls, which a framework may change, and how
the JSON of arguments is spaced do not matter. A trainer can learn a line of turns as one row. Where
a turn goes on from none, or from one that another turn went on from before, a branch begins:

| why | what is seen |
| --- | --- |
| `start` | the first turn of the episode |
| `sampled_again` | the same history as an earlier turn's: another answer was asked for |
| `dropped_reasoning` | it would go on, but for the reasoning of earlier answers, which is gone |
| `summary` | the beginning is an earlier turn's; then it is shorter, and says something new |
| `edited_history` | the beginning is an earlier turn's; then messages were changed or taken out |
| `other_agent` | nothing is in common but perhaps the system prompt: a sub-agent, or another task |

The last three are read from the messages alone, and a framework may do what looks like another
one. Each kept turn is in one branch and is learned there once; what came before the branch is its
context, and masked.

**Tokens.** Messages that go on do not prove that tokens do: `drift` compares the ids, and says
where the engine's next prompt leaves what it wrote. See docs/explanation/retokenising-drifts.md.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from reward_functions.rollouts.record.text_tool_calls import (
    function_of,
    recovered,
    text_of,
    without_reasoning,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from reward_functions.rollouts.record.types import Message, Trajectory, Turn

Why = Literal[
    "start", "sampled_again", "dropped_reasoning", "summary", "edited_history", "other_agent"
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Branch:
    """Turns each of which goes on from the one before it.

    Args:
        turns: at least one.
        parent: the turn that the first one goes on from, which is in another branch, or whose
            history it shares; None without one.
        why: it begins here.
    """

    turns: tuple[Turn, ...]
    parent: Turn | None
    why: Why


class Drift(NamedTuple):
    """Where a prompt leaves the tokens that it should begin with.

    Args:
        at: the first token that differs, from 0, in the prompt of the later turn.
        inside: "prompt" or "completion" of the earlier turn.
        expected: the id that the earlier turn has there.
        found: the id in the later prompt; None where it ends before.
    """

    at: int
    inside: Literal["prompt", "completion"]
    expected: int
    found: int | None


def branches(trajectory: Trajectory) -> list[Branch]:
    """The branches of an episode, in the order in which they begin; each kept turn is in one."""
    found = _Tree()
    for turn in trajectory.kept:
        found.add(turn)
    return [
        Branch(turns=tuple(line.turns), parent=line.parent, why=line.why) for line in found.lines
    ]


def drift(earlier: Turn, later: Turn) -> Drift | None:
    """Where a turn's prompt does not go on from the tokens of an earlier turn.

    Returns:
        None where it does, or where an engine did not give all of the tokens.
    """
    first, second = earlier.tokens, later.tokens
    if first is None or second is None or second.prompt_ids is None:
        return None
    if first.prompt_ids is None or first.completion_ids is None:
        return None
    expected, found = (*first.prompt_ids, *first.completion_ids), second.prompt_ids
    if found[: len(expected)] == expected:
        return None
    pairs = zip(expected, found, strict=False)
    at = next((at for at, (one, other) in enumerate(pairs) if one != other), len(found))
    return Drift(
        at=at,
        inside="prompt" if at < len(first.prompt_ids) else "completion",
        expected=expected[at],
        found=found[at] if at < len(found) else None,
    )


def drifts(trajectory: Trajectory) -> Iterator[tuple[Turn, Turn, Drift]]:
    """Neighbours of a branch whose messages go on, and whose tokens do not."""
    for branch in branches(trajectory):
        for earlier, later in zip(branch.turns, branch.turns[1:], strict=False):
            if (found := drift(earlier, later)) is not None:
                yield earlier, later, found


@dataclass(slots=True)
class _Line:
    turns: list[Turn]
    parent: Turn | None
    why: Why


class _Known(NamedTuple):
    """A turn that others may go on from, its line, and its messages with the response."""

    turn: Turn
    line: _Line
    keys: tuple[bytes, ...]


class _Tree:
    """The branches so far. Chains of digests: a history is known by the digest of its end."""

    def __init__(self) -> None:
        self.lines: list[_Line] = []
        self._digests: dict[tuple[int, bool], tuple[Message, bytes]] = {}
        self._ends: dict[bytes, _Known] = {}
        self._silent: dict[bytes, _Known] = {}
        self._begun: dict[bytes, _Known] = {}
        self._prefixes: dict[bytes, _Known] = {}
        self._texts: set[bytes] = set()

    def add(self, turn: Turn) -> None:
        """Find the line of a turn, or begin one."""
        keys = tuple(self._key(message, full=True) for message in turn.messages)
        chain = _chain(keys)
        known = _last(self._ends, chain)
        if known is not None and known.line.turns[-1] is known.turn:
            line = known.line
            line.turns.append(turn)
        else:
            line = self._line(turn, keys, chain, known)
            self.lines.append(line)
        self._remember(turn, line, keys, chain)

    def _line(
        self, turn: Turn, keys: tuple[bytes, ...], chain: list[bytes], known: _Known | None
    ) -> _Line:
        if not self.lines:
            return _Line([turn], None, "start")
        same = self._begun.get(chain[-1] if chain else b"")
        if same is not None or known is not None:
            parent = known or same
            return _Line([turn], parent and parent.turn, "sampled_again")
        silent = _last(
            self._silent, _chain([self._key(each, full=False) for each in turn.messages])
        )
        if silent is not None:
            return _Line([turn], silent.turn, "dropped_reasoning")
        shared = sum(1 for each in chain if each in self._prefixes)
        if shared <= sum(1 for each in turn.messages[:1] if _is_instruction(each)):
            return _Line([turn], None, "other_agent")
        nearest = self._prefixes[chain[shared - 1]]
        shorter = len(keys) < len(nearest.keys)
        new = any(key not in self._texts for key in keys[shared:])
        return _Line([turn], nearest.turn, "summary" if shorter and new else "edited_history")

    def _remember(
        self, turn: Turn, line: _Line, keys: tuple[bytes, ...], chain: list[bytes]
    ) -> None:
        silent = [self._key(message, full=False) for message in turn.messages]
        before = chain[-1] if chain else b""
        before_silent = _chain(silent)[-1] if silent else b""
        known = _Known(turn, line, keys)
        for response in _responses(turn):
            key = _digest(response, full=True)
            known = _Known(turn, line, (*keys, key))
            self._ends[_linked(before, key)] = known
            self._silent[_linked(before_silent, _digest(response, full=False))] = known
            self._texts.add(key)
            self._prefixes[_linked(before, key)] = known
        for each in chain:
            self._prefixes[each] = known
        self._begun.setdefault(before, known)
        self._texts.update(keys)

    def _key(self, message: Message, *, full: bool) -> bytes:
        """The digest of a message: equal messages of a recording are one object."""
        known = self._digests.get((id(message), full))
        if known is None:
            known = self._digests[id(message), full] = message, _digest(message, full=full)
        return known[1]


def _chain(keys: Sequence[bytes]) -> list[bytes]:
    """The digest of each beginning of a history."""
    found, last = [], b""
    for key in keys:
        last = _linked(last, key)
        found.append(last)
    return found


def _linked(before: bytes, key: bytes) -> bytes:
    return sha256(before + key).digest()


def _last(known: Mapping[bytes, _Known], chain: Sequence[bytes]) -> _Known | None:
    """What the longest beginning is the end of."""
    return next((known[each] for each in reversed(chain) if each in known), None)


def _responses(turn: Turn) -> Iterator[Message]:
    """What an agent may send back of a turn: its response, or the one with recovered calls."""
    if turn.response is None:
        return
    yield turn.response
    changed = recovered(turn.response, turn.tools)
    if changed is not None:
        yield changed


def _is_instruction(message: Message) -> bool:
    return message.get("role") in ("system", "developer")  # a role may be a list


def _digest(message: Message, *, full: bool) -> bytes:
    """What a message says, without ids; and where it is not full, without reasoning."""
    text = text_of(message.get("content"))
    content = message.get("content")
    other = [each for each in content if not _is_text(each)] if isinstance(content, list) else []
    reasoning = [message.get(name) for name in ("reasoning_content", "reasoning")] if full else []
    parts = [
        message.get("role"),
        (text if full else without_reasoning(text)).strip(),
        other,
        [each for each in reasoning if each],
        _calls(message.get("tool_calls")),
    ]
    return sha256(_written(parts).encode("utf-8", "surrogatepass")).digest()


def _is_text(part: Any) -> bool:
    return isinstance(part, dict) and isinstance(part.get("text"), str)


def _calls(given: Any) -> list[list[str]]:
    calls = given if isinstance(given, list) else []
    functions = (function_of(call) for call in calls if isinstance(call, dict))
    return [[found[0], _respaced(found[1])] for found in functions if found is not None]


def _respaced(arguments: str) -> str:
    """Arguments as JSON without spaces; as they are where they are none."""
    try:
        return _written(json.loads(arguments or "{}"))
    except (ValueError, RecursionError):
        return arguments


def _written(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
