"""Strands' messages in OpenAI's form: tool calls and results stay what they are."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from reward_functions.rollouts.policy.converse import REASONS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

FINISH: Final = REASONS | {"interrupt": "stop"}
"""Strands' stop reasons, which are Converse's and one of its own, in OpenAI's words."""

STOP: Final = {
    "stop": "end_turn",
    "length": "max_tokens",
    "tool_calls": "tool_use",
    "content_filter": "content_filtered",
}
"""And back."""


def openai_messages(
    messages: Iterable[Mapping[str, Any]], system: Any = None
) -> list[dict[str, Any]]:
    """A conversation of Strands in OpenAI's form, the system prompt first."""
    prompt = system if isinstance(system, str) else _text(system or ())
    first = [{"role": "system", "content": prompt}] if prompt else []
    return first + [each for message in messages for each in _converted(message)]


def openai_answer(message: Mapping[str, Any]) -> dict[str, Any]:
    """A message of the model."""
    blocks = message["content"]
    answer: dict[str, Any] = {"role": "assistant", "content": _text(blocks) or None}
    if reasoning := "".join(_reasoning(blocks)):
        answer["reasoning_content"] = reasoning
    if calls := [_call(block["toolUse"]) for block in blocks if "toolUse" in block]:
        answer["tool_calls"] = calls
    return answer


def text_of(message: Mapping[str, Any] | None) -> str:
    """The text of a message of Strands."""
    return _text((message or {}).get("content") or ())


def _converted(message: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """A message's tool results, and what else it says."""
    blocks = message["content"]
    for block in blocks:
        if "toolResult" in block:
            result = block["toolResult"]
            yield {
                "role": "tool",
                "tool_call_id": result["toolUseId"],
                "content": result_text(result),
            }
    if message["role"] == "assistant":
        yield openai_answer(message)
    elif text := _text(blocks):
        yield {"role": message["role"], "content": text}


def result_text(result: Mapping[str, Any]) -> str:
    """What a tool gave back, as text: each of its blocks."""
    return "\n".join(
        each["text"] if "text" in each else json.dumps(each.get("json"), ensure_ascii=False)
        for each in result.get("content") or ()
        if "text" in each or "json" in each
    )


def _call(used: Mapping[str, Any]) -> dict[str, Any]:
    arguments = json.dumps(used.get("input"), ensure_ascii=False)
    return {
        "id": used["toolUseId"],
        "type": "function",
        "function": {"name": used["name"], "arguments": arguments},
    }


def _text(blocks: Iterable[Mapping[str, Any]]) -> str:
    return "\n".join(block["text"] for block in blocks if "text" in block)


def _reasoning(blocks: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    for block in blocks:
        found = block.get("reasoningContent", {}).get("reasoningText", {})
        yield found.get("text") or ""
