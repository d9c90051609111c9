"""The calls of tools in a message, from any wire.

| where | a call |
| --- | --- |
| `tool_calls`: OpenAI, vLLM, TRL, Bedrock | `{"function": {"name", "arguments"}}` |
| the same: Prime Intellect's verifiers | `{"name", "arguments"}` |
| `content`: blocks of Bedrock's Converse, Amazon Nova | `{"toolUse": {"name", "input"}}` |
| `content`: blocks of Anthropic's Messages | `{"type": "tool_use", "name", "input"}` |

Arguments are an object, or the JSON text of one: a policy wrote them, so that neither is checked
here. Never raises: a call that cannot be read is `UNREADABLE`, and no tool's.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from reward_functions.core.types import FunctionCall

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reward_functions.core.types import Message

UNREADABLE: Final = FunctionCall("", "")


def calls_in(turn: Mapping[str, Any]) -> tuple[FunctionCall, ...]:
    """The calls of a message, in order; those of its content follow those beside it.

    Args:
        turn: decoded JSON of a message.
    """
    beside, content = turn.get("tool_calls"), turn.get("content")
    if not beside and isinstance(content, str):
        return ()
    return (*_listed(beside), *_blocks(content))


def turn_of(message: Message) -> dict[str, Any]:
    """A message as JSON, with `tool_calls` in OpenAI's form where it has any."""
    turn: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.tool_calls:
        turn["tool_calls"] = [
            {"type": "function", "function": call._asdict()} for call in message.tool_calls
        ]
    return turn


def _listed(calls: Any) -> Iterator[FunctionCall]:
    if isinstance(calls, list | tuple):
        yield from (_call(each, "arguments") for each in calls)
    elif calls:
        yield UNREADABLE


def _blocks(content: Any) -> Iterator[FunctionCall]:
    for block in content if isinstance(content, list | tuple) else (content,):
        if not isinstance(block, Mapping):
            continue
        if "toolUse" in block:
            yield _call(block["toolUse"], "input")
        elif block.get("type") == "tool_use":
            yield _call(block, "input")


def _call(call: Any, key: str) -> FunctionCall:
    function = call.get("function", call) if isinstance(call, Mapping) else None
    name = function.get("name") if isinstance(function, Mapping) else None
    if not isinstance(function, Mapping) or not isinstance(name, str):
        return UNREADABLE
    arguments = function.get(key)
    if isinstance(arguments, str):
        return FunctionCall(name, arguments)
    try:
        return FunctionCall(name, json.dumps(arguments, ensure_ascii=False, allow_nan=False))
    except (TypeError, ValueError, RecursionError):
        return UNREADABLE
