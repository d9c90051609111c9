"""An answer of a model: Strands' stream events, as one completion in OpenAI's form, and back.

| Strands | OpenAI |
| --- | --- |
| `contentBlockDelta` with `text` | `content` |
| the same with `reasoningContent` | `reasoning_content` |
| `contentBlockStart` with `toolUse`, and the deltas of its `input` | one of `tool_calls`, whose `arguments` are the text as it was written |
| `messageStop` | `finish_reason` |
| `metadata` | `usage` |

Events of any other kind, as a class of a user's own may send, are not read.
"""  # noqa: E501 — a row is a line

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, cast

if TYPE_CHECKING:
    from collections.abc import Iterator

    from strands.types.streaming import StreamEvent

FINISHED: Final = {
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "content_filtered": "content_filter",
    "guardrail_intervened": "content_filter",
}
"""OpenAI's word for a stop reason of Strands; "stop" for any other."""


class Answer:
    """An answer while it comes, and when it is whole."""

    def __init__(self) -> None:
        self._text: list[str] = []
        self._reasoning: list[str] = []
        self._calls: list[dict[str, Any]] = []
        self._stopped = ""
        self._metadata: Mapping[str, Any] = {}

    def add(self, event: Mapping[str, Any]) -> None:
        """Read the next event."""
        for name, value in event.items():
            if isinstance(value, Mapping) and name in READERS:
                READERS[name](self, value)

    def _start(self, value: Mapping[str, Any]) -> None:
        use = (value.get("start") or {}).get("toolUse")
        if use is not None:
            function = {"name": use.get("name"), "arguments": ""}
            call = {"id": use.get("toolUseId"), "type": "function", "function": function}
            self._calls.append(call)

    def _delta(self, value: Mapping[str, Any]) -> None:
        delta = value.get("delta") or {}
        self._text.append(delta.get("text") or "")
        self._reasoning.append((delta.get("reasoningContent") or {}).get("text") or "")
        if self._calls:
            self._calls[-1]["function"]["arguments"] += (delta.get("toolUse") or {}).get(
                "input", ""
            )

    def _stop(self, value: Mapping[str, Any]) -> None:
        self._stopped = value.get("stopReason") or "end_turn"

    def _usage(self, value: Mapping[str, Any]) -> None:
        self._metadata = value

    @property
    def whole(self) -> bool:
        """Whether the model has said that it stopped."""
        return bool(self._stopped)

    def message(self) -> dict[str, Any]:
        """The message that the model wrote."""
        message: dict[str, Any] = {"role": "assistant", "content": "".join(self._text) or None}
        if reasoning := "".join(self._reasoning):
            message["reasoning_content"] = reasoning
        if self._calls:
            message["tool_calls"] = self._calls
        return message

    def completion(self, model: str) -> dict[str, Any]:
        """The answer as a chat completion.

        Args:
            model: that it was asked of.
        """
        finished = FINISHED.get(self._stopped, "stop")
        choice = {"index": 0, "message": self.message(), "finish_reason": finished}
        whole: dict[str, Any] = {"object": "chat.completion", "model": model, "choices": [choice]}
        if usage := self._metadata.get("usage"):
            whole["usage"] = {
                "prompt_tokens": usage["inputTokens"],
                "completion_tokens": usage["outputTokens"],
                "total_tokens": usage["totalTokens"],
                "prompt_tokens_details": {"cached_tokens": usage.get("cacheReadInputTokens")},
            }
        return whole

    def saying(self, message: Mapping[str, Any]) -> Iterator[StreamEvent]:
        """The events of this answer, had the model written another message with tool calls."""
        yield {"messageStart": {"role": "assistant"}}
        if reasoning := message.get("reasoning_content"):
            yield from _block({}, {"reasoningContent": {"text": reasoning}})
        if text := message.get("content"):
            yield from _block({}, {"text": text})
        for call in message["tool_calls"]:
            use = {"name": call["function"]["name"], "toolUseId": call["id"]}
            yield from _block(
                {"toolUse": use}, {"toolUse": {"input": call["function"]["arguments"]}}
            )
        yield {"messageStop": {"stopReason": "tool_use"}}
        if self._metadata:
            yield cast("StreamEvent", {"metadata": self._metadata})


def _block(start: dict[str, Any], delta: dict[str, Any]) -> Iterator[StreamEvent]:
    yield cast("StreamEvent", {"contentBlockStart": {"start": start}})
    yield cast("StreamEvent", {"contentBlockDelta": {"delta": delta}})
    yield {"contentBlockStop": {}}


READERS: Final = {
    "contentBlockStart": Answer._start,  # noqa: SLF001 — of the class above
    "contentBlockDelta": Answer._delta,  # noqa: SLF001
    "messageStop": Answer._stop,  # noqa: SLF001
    "metadata": Answer._usage,  # noqa: SLF001
}
