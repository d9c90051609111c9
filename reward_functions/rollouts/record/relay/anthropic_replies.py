"""A chat completion as a message of Anthropic's API, whole or as the events of a stream.

| OpenAI | Anthropic |
| --- | --- |
| `reasoning_content` or `reasoning`, where the agent asked for it | `thinking`, not signed |
| `content` | `text` |
| `tool_calls` | `tool_use`; arguments that are no object stand under `__arguments__` |
| finish `stop`, `length` | `end_turn`, `max_tokens` |
| finish `tool_calls`, `content_filter` | `tool_use`, `refusal` |
| a `stop_reason` that is a text | `stop_sequence` |
| `prompt_tokens`, `completion_tokens` | `input_tokens`, `output_tokens`; 0 where not counted |

In a stream texts come as they are written; a tool call comes when it is whole, as its blocks stand
behind each other and a client reads its input as JSON.

Source: "Messages" and "Streaming messages" of Anthropic's API reference, version 2023-06-01.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from reward_functions.rollouts.record.relay.anthropic_requests import tool_input
from reward_functions.rollouts.record.relay.bounded_json import written
from reward_functions.rollouts.record.relay.completions import finish_of, message_of, usage_of
from reward_functions.rollouts.record.relay.event_stream import event

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

STOPS: Final = {
    "stop": "end_turn",
    "length": "max_tokens",
    "tool_calls": "tool_use",
    "function_call": "tool_use",
    "content_filter": "refusal",
}

THOUGHTS: Final = ("reasoning_content", "reasoning")


def to_anthropic(completion: Mapping[str, Any], *, thinking: bool) -> dict[str, Any]:
    """A whole completion as a message.

    Args:
        completion: of one choice.
        thinking: whether the agent asked to see the policy's reasoning.
    """
    (choice,) = completion["choices"]
    message = message_of(choice)
    blocks = [
        *({"type": "thinking", "thinking": text, "signature": ""} for text in _thoughts(message)),
        *({"type": "text", "text": text} for text in [message.get("content")] if text),
        *map(_tool_use, message.get("tool_calls") or ()),
    ]
    shown = [block for block in blocks if thinking or block["type"] != "thinking"]
    return _message(completion, shown) | _ending(choice) | {"usage": _usage(completion)}


class MessageEvents:
    """The events of a stream, from the chunks of a chat completion.

    Args:
        thinking: whether the agent asked to see the policy's reasoning.
    """

    def __init__(self, *, thinking: bool) -> None:
        self._thinking = thinking
        self._index = -1
        self._kind = ""
        self._begun = False

    def chunk(self, chunk: Mapping[str, Any]) -> bytes:
        """The events of a chunk."""
        parts = [] if self._begun else [self._begin(chunk)]
        for choice in chunk["choices"]:
            delta = choice.get("delta") or {}
            if self._thinking:
                parts += [self._text("thinking", text) for text in _thoughts(delta)]
            if delta.get("content"):
                parts.append(self._text("text", delta["content"]))
        return b"".join(parts)

    def end(self, completion: Mapping[str, Any]) -> bytes:
        """The events behind the last chunk, of the whole completion."""
        (choice,) = completion["choices"]
        parts = [] if self._begun else [self._begin(completion)]
        parts.append(self._stop())
        for call in choice["message"].get("tool_calls") or ():
            parts += self._tool(_tool_use(call))
        ending = {"type": "message_delta", "delta": _ending(choice), "usage": _usage(completion)}
        parts += [_event(ending), _event({"type": "message_stop"})]
        return b"".join(parts)

    def _begin(self, head: Mapping[str, Any]) -> bytes:
        self._begun = True
        usage = {"input_tokens": usage_of(head).input or 0, "output_tokens": 0}
        stop = {"stop_reason": None, "stop_sequence": None}
        return _event(
            {"type": "message_start", "message": _message(head, []) | stop | {"usage": usage}}
        )

    def _text(self, kind: str, text: str) -> bytes:
        before = b""
        if self._kind != kind:
            empty = {"thinking": "", "signature": ""} if kind == "thinking" else {"text": ""}
            before = self._stop() + self._start({"type": kind} | empty)
            self._kind = kind
        return before + self._delta({"type": f"{kind}_delta", kind: text})

    def _tool(self, block: dict[str, Any]) -> Iterator[bytes]:
        yield self._start(block | {"input": {}})
        text = written(block["input"]).decode("utf-8", "replace")
        yield self._delta({"type": "input_json_delta", "partial_json": text})
        self._kind = "tool_use"
        yield self._stop()

    def _start(self, block: dict[str, Any]) -> bytes:
        self._index += 1
        return _event({"type": "content_block_start", "index": self._index, "content_block": block})

    def _delta(self, delta: dict[str, Any]) -> bytes:
        return _event({"type": "content_block_delta", "index": self._index, "delta": delta})

    def _stop(self) -> bytes:
        if not self._kind:
            return b""
        self._kind = ""
        return _event({"type": "content_block_stop", "index": self._index})


def _event(data: dict[str, Any]) -> bytes:
    return event(data, data["type"])


def _message(head: Mapping[str, Any], blocks: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "id": f"msg_{head.get('id') or 'relay'}",
        "type": "message",
        "role": "assistant",
        "model": head.get("model") or "",
        "content": blocks,
    }


def _ending(choice: Mapping[str, Any]) -> dict[str, Any]:
    matched = choice.get("stop_reason")
    if isinstance(matched, str) and finish_of(choice) == "stop":
        return {"stop_reason": "stop_sequence", "stop_sequence": matched}
    called = choice["message"].get("tool_calls")
    reason = "tool_use" if called else STOPS.get(finish_of(choice), "end_turn")
    if finish_of(choice) == "length":
        reason = "max_tokens"
    return {"stop_reason": reason, "stop_sequence": None}


def _usage(completion: Mapping[str, Any]) -> dict[str, int]:
    usage = usage_of(completion)
    found = {"input_tokens": usage.input or 0, "output_tokens": usage.output or 0}
    return found | ({"cache_read_input_tokens": usage.cached} if usage.cached else {})


def _thoughts(message: Mapping[str, Any]) -> list[str]:
    """The reasoning; once where an engine gives it under both names."""
    return [text for name in THOUGHTS if (text := message.get(name))][:1]


def _tool_use(call: Mapping[str, Any]) -> dict[str, Any]:
    function = call["function"]
    found = tool_input(function.get("arguments") or "{}")
    return {
        "type": "tool_use",
        "id": call.get("id") or "",
        "name": function["name"],
        "input": found,
    }
