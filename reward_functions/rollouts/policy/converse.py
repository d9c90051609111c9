"""Bedrock's Converse in OpenAI's form, as far as a record needs it: text, tool calls, results.

Images, documents, citations and guard contents are left out; a cache point is nothing that a policy
reads. Source: botocore's model of `bedrock-runtime`.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

NAMES: Final = {"temperature": "temperature", "top_p": "topP", "max_tokens": "maxTokens"}
"""Sampling parameters, and what Converse calls them."""

REASONS: Final = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "guardrail_intervened": "content_filter",
    "content_filtered": "content_filter",
}


def request_of(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters of Converse as the body of a chat completion."""
    messages = [{"role": "system", "content": _text(parameters.get("system") or ())}]
    messages = messages if parameters.get("system") else []
    for message in parameters.get("messages") or ():
        messages.extend(_messages(message))
    config = parameters.get("inferenceConfig") or {}
    tools = (parameters.get("toolConfig") or {}).get("tools") or ()
    return {
        "model": parameters.get("modelId"),
        "messages": messages,
        "tools": [_tool(each["toolSpec"]) for each in tools if "toolSpec" in each],
    } | {name: config[old] for name, old in NAMES.items() if old in config}


def completion_of(response: Mapping[str, Any]) -> dict[str, Any]:
    """The response of Converse as a chat completion."""
    message = (response.get("output") or {}).get("message") or {}
    reason = str(response.get("stopReason"))
    usage = response.get("usage") or {}
    read = next(iter(_messages({"role": "assistant"} | message)))
    return {
        "choices": [{"index": 0, "message": read, "finish_reason": REASONS.get(reason, reason)}],
        "usage": {
            "prompt_tokens": usage.get("inputTokens"),
            "completion_tokens": usage.get("outputTokens"),
        },
    }


def _messages(message: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """One message in OpenAI's form, and before it one for each result of a tool."""
    blocks = message.get("content") or ()
    for each in blocks:
        if result := each.get("toolResult"):
            content = _text(result.get("content") or ())
            yield {"role": "tool", "tool_call_id": result.get("toolUseId"), "content": content}
    calls = [_call(each["toolUse"]) for each in blocks if "toolUse" in each]
    text = _text(blocks)
    if text or calls or message.get("role") == "assistant":
        read = {"role": message.get("role"), "content": text or None}
        yield read | ({"tool_calls": calls} if calls else {})


def _text(blocks: Any) -> str:
    texts = (each["text"] if "text" in each else _json(each) for each in blocks)
    return "\n".join(text for text in texts if text)


def _json(block: Mapping[str, Any]) -> str:
    return json.dumps(block["json"]) if "json" in block else ""


def _call(use: Mapping[str, Any]) -> dict[str, Any]:
    function = {"name": use.get("name"), "arguments": json.dumps(use.get("input"))}
    return {"id": use.get("toolUseId"), "type": "function", "function": function}


def _tool(spec: Mapping[str, Any]) -> dict[str, Any]:
    parameters = (spec.get("inputSchema") or {}).get("json")
    function = {"name": spec.get("name"), "parameters": parameters}
    return {"type": "function", "function": function | {"description": spec.get("description")}}
