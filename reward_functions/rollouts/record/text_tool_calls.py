"""Messages whose tool calls a policy wrote as text; `extraction.tool_call_forms` reads these."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import Any, Final

from reward_functions.extraction.tool_call_forms import behind_reasoning, text_tool_calls

RECOVERED: Final = "recovered_"
"""What the ids of tool calls begin with that were written as text: no engine makes such."""

LONGEST_NAME: Final = 256
"""Characters of a model's, a tool's or a call's name that are kept."""


def recovered(message: Mapping[str, Any], tools: Iterable[Any]) -> dict[str, Any] | None:
    """A message whose tool calls were text, with `tool_calls` in OpenAI's form.

    Args:
        message: of an answer, in OpenAI's form; it is not changed.
        tools: that the policy was offered, in OpenAI's form, or their names.

    Returns:
        A copy, the text of the calls taken out of its content; None where there is nothing to
        recover. Ids follow from message and place, so that a second recovery of the calls finds the
        same ones. A policy that writes the same message twice has the same ids twice.
    """
    if not isinstance(message, Mapping) or message.get("tool_calls"):
        return None
    text = text_of(message.get("content"))
    before, calls = text_tool_calls(text, names_of(tools))
    if not calls:
        return None
    digest = sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    written = [
        {
            "id": f"{RECOVERED}{digest[:16]}_{at}",
            "type": "function",
            "function": call._asdict(),
        }
        for at, call in enumerate(calls)
    ]
    return {**message, "content": before or None, "tool_calls": written}


def function_of(call: Mapping[str, Any]) -> tuple[str, str] | None:
    """Name and arguments of a tool call in OpenAI's form; None where it has no name.

    Arguments are kept as they were written, and as JSON where an engine sends an object.
    """
    function = call.get("function", call)
    name = function.get("name") if isinstance(function, Mapping) else None
    if not isinstance(name, str):
        return None
    arguments = function.get("arguments", "")
    if arguments is None:
        return name[:LONGEST_NAME], ""
    if not isinstance(arguments, str):
        try:
            arguments = json.dumps(arguments, ensure_ascii=False, allow_nan=False)
        except (TypeError, ValueError, RecursionError):
            return None
    return name[:LONGEST_NAME], arguments


def names_of(tools: Any) -> list[str]:
    """The names of tools in OpenAI's form; what has none is left out."""
    if not isinstance(tools, list | tuple | set | frozenset | dict):
        return []
    named = (
        each if isinstance(each, str) else isinstance(each, Mapping) and function_of(each)
        for each in tools
    )
    return [each if isinstance(each, str) else each[0] for each in named if each]


def text_of(content: Any) -> str:
    """The text of a message's content: a string, or parts of which some are texts."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list | tuple):
        return ""
    parts = (each.get("text") for each in content if isinstance(each, Mapping))
    return "".join(part for part in parts if isinstance(part, str))


def without_reasoning(text: str) -> str:
    """A text after its reasoning."""
    return text[behind_reasoning(text) :]
