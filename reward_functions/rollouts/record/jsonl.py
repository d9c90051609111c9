"""Trajectories as lines of JSON: strict in what is written and in what is read.

A line is one trajectory, whole. Its messages and lists of tools stand in it once each; a turn says
which, as ranges of numbers: a line grows with the episode, and not with its square.

    {"trajectory": 1, "id": …, "job": …, "status": …, "rewards": [0.5], "truncated": false,
     "metadata": {}, "messages": [{"role": "user", …}, …], "tools": [[…]],
     "turns": [{"index": 0, "messages": [[0, 2]], "tools": 0, "response": {…}, …}]}

A line that cannot be read has a sentence with file, line and field. The one exception is the
beginning of a line at the end of a file, as a crash leaves it: it is skipped, and `torn` says how
long it is.
"""

from __future__ import annotations

import json
import logging
from dataclasses import asdict, fields
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any, Final

from reward_functions.core.errors import ConfigurationError
from reward_functions.core.jsons import (
    decoded_size,
    json_kind,
    no_constant,
    parts_of,
    unique_names,
)
from reward_functions.rollouts.record.types import (
    LARGEST_NUMBER,
    TokenTrace,
    TokenUsage,
    ToolCall,
    ToolResult,
    Trajectory,
    Turn,
)
from reward_functions.rollouts.request.errors import MisalignedTokens, RolloutError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from reward_functions.rollouts.record.types import Message

VERSION: Final = 1

LONGEST: Final = 512 * 2**20
"""Bytes of a line that is read: eight times what a recording keeps."""

MOST_REFERENCES: Final = 10_000_000
"""References of a line's turns to its messages: ranges say more than they weigh. An episode of
3,000 turns, two messages each, has 9 million."""

REFERENCE: Final = 8
"""Bytes of each."""

MOST_PARTS: Final = 500_000
"""Objects, lists and strings of a line: an episode of 50,000 messages has fewer. A list of two
bytes takes 72, and token ids a dozen times their text."""

_log = logging.getLogger("reward_functions.rollouts")


class BadTrajectory(RolloutError, ConfigurationError, ValueError):
    """A line that is no trajectory. The message names the line and the field, never a text."""


def written(trajectory: Trajectory) -> str:
    """A trajectory as a line of JSON, without its line break.

    Raises:
        ValueError: it holds what JSON cannot, such as NaN.
        TypeError: likewise, such as an object of Python's.
    """
    return json.dumps(as_object(trajectory), allow_nan=False, separators=(",", ":"))


def as_object(trajectory: Trajectory) -> dict[str, Any]:
    """The content of a line, before it is JSON."""
    messages, lists = _Numbers(), _Numbers()
    turns = [_turn(turn, messages, lists) for turn in trajectory.turns]
    return {
        "trajectory": VERSION,
        "id": trajectory.id,
        "job": trajectory.job,
        "status": trajectory.status,
        "rewards": None if trajectory.rewards is None else list(trajectory.rewards),
        "truncated": trajectory.truncated,
        "metadata": dict(trajectory.metadata),
        "messages": messages.values,
        "tools": lists.values,
        "turns": turns,
    }


def read(line: str | bytes) -> Trajectory:
    """The trajectory of a line.

    Raises:
        BadTrajectory: it is no trajectory, or takes more memory than one does. The message names
            the field.
    """
    text = line.encode("utf-8", "surrogatepass") if isinstance(line, str) else line
    if parts_of(text, MOST_PARTS) > MOST_PARTS:
        raise BadTrajectory(f"it holds more than {MOST_PARTS:,} objects, lists and strings")
    try:
        found = json.loads(line, object_pairs_hook=unique_names, parse_constant=no_constant)
    except RecursionError:
        raise BadTrajectory("it is nested too deep") from None
    except ValueError:
        raise BadTrajectory("it is no JSON, or has a name twice, or NaN") from None
    version = found.get("trajectory") if isinstance(found, dict) else None
    if type(version) is not int or version != VERSION:
        raise BadTrajectory(f'it has no "trajectory": {VERSION}')
    try:
        return _trajectory(found)
    except MisalignedTokens as error:
        raise BadTrajectory(f"its tokens: {error}") from None


class TrajectoryFile:
    """The trajectories of a file, read one by one, as often as one likes.

    Args:
        path: of the file.

    Attributes:
        size: bytes that the trajectory at hand takes in memory, about.
        torn: bytes at the end that are the beginning of a line; known after the last trajectory.
    """

    def __init__(self, path: Path) -> None:
        self.size = self.torn = 0
        self._path = path

    def __iter__(self) -> Iterator[Trajectory]:
        """The trajectories.

        Raises:
            BadTrajectory: a line is none. The message names it.
            OSError: the file cannot be read.
        """
        self.torn = 0
        with self._path.open("rb") as stream:
            for number, line in enumerate(iter(partial(stream.readline, LONGEST), b""), 1):
                if not line.endswith(b"\n"):
                    if len(line) == LONGEST:
                        raise BadTrajectory(f"{self._path}, line {number}: it is too long")
                    self.torn = len(line)
                    _log.warning("%s ends in half a line, which is skipped", self._path)
                    return
                if not line.strip():
                    continue
                try:
                    found = read(line)
                except BadTrajectory as error:
                    raise BadTrajectory(f"{self._path}, line {number}: {error}") from None
                references = sum(len(turn.messages) for turn in found.turns)
                self.size = decoded_size(line) + REFERENCE * references
                yield found


class _Numbers:
    """Values by number, equal objects once. It keeps them, so that no id is given twice."""

    def __init__(self) -> None:
        self.values: list[Any] = []
        self._known: dict[int, int] = {}

    def of(self, value: Any) -> int:
        known = self._known.get(id(value))
        if known is None:
            known = self._known[id(value)] = len(self.values)
            self.values.append(value)
        return known


def _turn(turn: Turn, messages: _Numbers, lists: _Numbers) -> dict[str, Any]:
    plain = {name: getattr(turn, name) for name in _PLAIN_FIELDS}
    return plain | {
        "messages": _ranges([messages.of(message) for message in turn.messages]),
        "tools": lists.of(turn.tools) if turn.tools else None,
        "response": turn.response,
        "tool_calls": [asdict(call) for call in turn.tool_calls],
        "tool_results": [asdict(result) for result in turn.tool_results],
        "parameters": dict(turn.parameters),
        "usage": asdict(turn.usage),
        "tokens": None if turn.tokens is None else asdict(turn.tokens),
        "unread": list(turn.unread),
    }


def _ranges(numbers: Sequence[int]) -> list[list[int]]:
    """Numbers as ranges: the first, and the one behind the last."""
    found: list[list[int]] = []
    for number in numbers:
        if found and found[-1][1] == number:
            found[-1][1] += 1
        else:
            found.append([number, number + 1])
    return found


def _trajectory(given: dict[str, Any]) -> Trajectory:
    messages = _list(given, "messages", _object)
    tools = _list(given, "tools", lambda value, name: tuple(_items(value, name, _object)))
    left = [MOST_REFERENCES]
    return Trajectory(
        **{name: _typed(given, name, kinds) for name, kinds in _TRAJECTORY.items()},
        rewards=_optional(given, "rewards", _rewards),
        metadata=_object(given.get("metadata"), "metadata"),
        turns=tuple(
            _read_turn(_object(each, name), name, messages, tools, left)
            for name, each in _named(given, "turns")
        ),
    )


def _read_turn(
    given: dict[str, Any],
    name: str,
    messages: list[Message],
    tools: list[tuple[Message, ...]],
    left: list[int],
) -> Turn:
    listed = given.get("tools")
    if listed is not None and (type(listed) is not int or listed not in range(len(tools))):
        raise BadTrajectory(f"{name}.tools is no number of a list of tools")
    try:
        return Turn(
            **{each: _typed(given, each, kinds) for each, kinds in _TURN.items()},
            messages=_referred(given.get("messages"), messages, left),
            tools=() if listed is None else tools[listed],
            response=_optional(given, "response", _object),
            tool_calls=tuple(_list(given, "tool_calls", partial(_made, ToolCall, _TOOL_CALL))),
            tool_results=tuple(
                _list(given, "tool_results", partial(_made, ToolResult, _TOOL_RESULT))
            ),
            parameters=_object(given.get("parameters"), "parameters"),
            usage=_made(TokenUsage, _USAGE, given.get("usage"), "usage"),
            tokens=_optional(given, "tokens", _tokens),
            unread=tuple(_list(given, "unread", _string)),
        )
    except BadTrajectory as error:
        raise BadTrajectory(f"{name}.{error}") from None


def _referred(given: Any, messages: list[Message], left: list[int]) -> tuple[Message, ...]:
    found: list[list[Message]] = []
    for name, each in enumerate(_items(given, "messages", _whole_numbers)):
        if len(each) != 2 or not 0 <= each[0] < each[1] <= len(messages):  # noqa: PLR2004 - a pair
            raise BadTrajectory(f"messages[{name}] is no range of messages")
        left[0] -= each[1] - each[0]
        if left[0] < 0:
            raise BadTrajectory("messages refer to more than is read")
        found.append(messages[each[0] : each[1]])
    return tuple(chain.from_iterable(found))


def _tokens(given: Any, name: str) -> TokenTrace:
    found = _object(given, name)
    return TokenTrace(
        prompt_ids=_optional(found, "prompt_ids", _whole_numbers),
        completion_ids=_optional(found, "completion_ids", _whole_numbers),
        logprobs=_optional(found, "logprobs", _numbers),
    )


def _made(kind: Any, kinds: Mapping[str, tuple[type, ...]], given: Any, name: str) -> Any:
    """An object of a dataclass whose fields are plain."""
    found = _object(given, name)
    try:
        made = {each: _typed(found, each, types) for each, types in kinds.items()}
    except BadTrajectory as error:
        raise BadTrajectory(f"{name}.{error}") from None
    if kind is ToolResult and made["status"] not in {"success", "error", "missing"}:
        raise BadTrajectory(f'{name}.status is none of "success", "error", "missing"')
    return kind(**made)


def _typed(given: Mapping[str, Any], name: str, kinds: tuple[type, ...]) -> Any:
    value: Any = given.get(name)
    if type(value) not in kinds:
        raise BadTrajectory(f"{name} is {json_kind(value)}")
    if type(value) in _NUMBER and not abs(value) <= LARGEST_NUMBER:
        raise BadTrajectory(f"{name} is larger than a float")
    return value


def _optional(given: Mapping[str, Any], name: str, read: Callable[[Any, str], Any]) -> Any:
    value = given.get(name)
    return None if value is None else read(value, name)


def _object(value: Any, name: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise BadTrajectory(f"{name} is {json_kind(value)} and no object")
    return value


def _string(value: Any, name: str) -> str:
    if not isinstance(value, str):
        raise BadTrajectory(f"{name} is {json_kind(value)} and no string")
    return value


def _items(value: Any, name: str, read: Callable[[Any, str], Any]) -> list[Any]:
    if not isinstance(value, list):
        raise BadTrajectory(f"{name} is {json_kind(value)} and no list")
    return [read(each, f"{name}[{at}]") for at, each in enumerate(value)]


def _list(given: Mapping[str, Any], name: str, read: Callable[[Any, str], Any]) -> list[Any]:
    return _items(given.get(name), name, read)


def _named(given: Mapping[str, Any], name: str) -> list[tuple[str, Any]]:
    return _list(given, name, lambda value, place: (place, value))


def _whole_numbers(value: Any, name: str) -> tuple[int, ...]:
    if not isinstance(value, list) or not all(type(each) is int for each in value):
        raise BadTrajectory(f"{name} is no list of whole numbers")
    return tuple(value)


def _numbers(value: Any, name: str) -> tuple[float, ...]:
    numbers = isinstance(value, list) and all(type(each) in _NUMBER for each in value)
    if not numbers or not all(abs(each) <= LARGEST_NUMBER for each in value):
        raise BadTrajectory(f"{name} is no list of finite numbers")
    return tuple(value)


def _rewards(value: Any, name: str) -> tuple[float, ...]:
    if not (found := _numbers(value, name)):
        raise BadTrajectory(f"{name} is empty; null says that it has no members")
    return found


_NUMBER: Final = (int, float)
_COUNT: Final = (int, type(None))
_TRAJECTORY: Final = {"id": (str,), "job": (str,), "status": (str,), "truncated": (bool,)}
_TURN: Final[dict[str, tuple[type, ...]]] = {
    "index": (int,),
    **dict.fromkeys(("model", "finish_reason", "error"), (str,)),
    **dict.fromkeys(("began", "seconds"), _NUMBER),
    **dict.fromkeys(("discarded", "changed"), (bool,)),
}
_PLAIN_FIELDS: Final = tuple(_TURN)
_TOOL_CALL: Final = {"id": (str,), "name": (str,), "arguments": (str,), "recovered": (bool,)}
_TOOL_RESULT: Final = {
    **dict.fromkeys(("call_id", "content", "status"), (str,)),
    "seconds": (*_NUMBER, type(None)),
    "discarded": (int,),
}
_USAGE: Final = {each.name: _COUNT for each in fields(TokenUsage)}
