"""A policy that follows a script: for each prompt its turns, in their order.

A script is JSON Lines, or the same as Python values:

    {"prompt": "What is 2 + 2?", "turns": [{"tool_calls": [{"name": "calculator",
                                            "arguments": {"expression": "2 + 2"}}]}, "It is 4."]}
    {"turns": ["I do not know."]}

A row is for the conversations whose first question holds its prompt, the longest prompt first; a
row without one is for all others. Which turn is next follows from the conversation, which has as
many answers of the assistant; the last turn is repeated.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from reward_functions.core.errors import ConfigurationError
from reward_functions.core.jsons import json_kind
from reward_functions.core.suggest import did_you_mean
from reward_functions.data.json_rows import read_rows
from reward_functions.local.loopback_service.requests import invalid
from reward_functions.local.runtime_double.chat import Answer, ToolCall

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from reward_functions.local.runtime_double.chat import ChatRequest

FIELDS: Final = frozenset({"prompt", "turns"})
TURN_FIELDS: Final = frozenset({"content", "tool_calls"})
CALL_FIELDS: Final = frozenset({"name", "arguments"})


class ScriptedPolicy:
    """Answers as the script says.

    Args:
        script: one answer to everything, the turns of every conversation, rows as in this module's
            docstring, or the path of a file of rows. A string is an answer, and a `Path` a file.

    Raises:
        ConfigurationError: it is no script. The message names the row.
        OSError: the file cannot be read.
    """

    def __init__(self, script: str | Path | Sequence[str | dict[str, Any]]) -> None:
        rows = _rows(script)
        self._by_prompt: dict[str, tuple[Answer, ...]]
        self._by_prompt = {prompt: turns for prompt, turns in rows if prompt}
        self._longest_first = sorted(self._by_prompt, key=len, reverse=True)
        self._other = next((turns for prompt, turns in rows if not prompt), None)

    def answer(self, request: ChatRequest, trajectory_id: str) -> Answer:  # noqa: ARG002
        """The turn that comes next.

        Raises:
            Refused: no row is for this conversation.
        """
        turns = self._turns(request.questions[0] if request.questions else "")
        if turns is None:
            raise invalid("the script of the policy has no row for this prompt")
        done = len([each for each in request.messages if each["role"] == "assistant"])
        return turns[min(done, len(turns) - 1)]

    def _turns(self, question: str) -> tuple[Answer, ...] | None:
        if question in self._by_prompt:
            return self._by_prompt[question]
        prompt = next((prompt for prompt in self._longest_first if prompt in question), None)
        return self._other if prompt is None else self._by_prompt[prompt]


def _rows(script: Any) -> list[tuple[str, tuple[Answer, ...]]]:
    """The prompts of a script, "" for none, and their turns."""
    if isinstance(script, str):
        return [("", (Answer(script),))]
    if isinstance(script, Path):
        found = [_row(row.where, row.content) for row in read_rows(str(script), whole=True)]
    elif script and isinstance(script[0], str):
        found = [("", tuple(_turn("the script", each) for each in script))]
    else:
        found = [_row(f"row {number} of the script", row) for number, row in enumerate(script, 1)]
    if not found:
        raise ConfigurationError("the script of the policy is empty")
    return found


def _row(where: str, row: Any) -> tuple[str, tuple[Answer, ...]]:
    _require_object(where, row, FIELDS)
    prompt, turns = row.get("prompt", ""), row.get("turns")
    if not isinstance(prompt, str):
        raise ConfigurationError(f"{where}: prompt is {json_kind(prompt)}, not a string")
    if not isinstance(turns, list) or not turns:
        raise ConfigurationError(f"{where}: turns is not a list of at least one turn")
    return prompt, tuple(_turn(where, turn) for turn in turns)


def _turn(where: str, turn: Any) -> Answer:
    if isinstance(turn, str):
        return Answer(turn)
    _require_object(f"{where}: a turn", turn, TURN_FIELDS)
    content, calls = turn.get("content") or "", turn.get("tool_calls") or []
    if not isinstance(content, str) or not isinstance(calls, list):
        raise ConfigurationError(f"{where}: a turn's content is a string, its tool_calls a list")
    tool_calls = tuple(_tool_call(where, call) for call in calls)
    return Answer(content, tool_calls, "tool_calls" if tool_calls else "stop")


def _tool_call(where: str, call: Any) -> ToolCall:
    _require_object(f"{where}: a tool call", call, CALL_FIELDS)
    name, arguments = call.get("name"), call.get("arguments", {})
    if not isinstance(name, str) or not isinstance(arguments, dict):
        raise ConfigurationError(f"{where}: a tool call has a name, and arguments as an object")
    return ToolCall(name, json.dumps(arguments))


def _require_object(where: str, given: Any, fields: Iterable[str]) -> None:
    if not isinstance(given, dict):
        raise ConfigurationError(f"{where} is {json_kind(given)}, not an object")
    unknown = given.keys() - set(fields)
    if unknown:
        name = min(unknown)[:64]
        raise ConfigurationError(f"{where} has a field {name!r}{did_you_mean(name, fields)}")
