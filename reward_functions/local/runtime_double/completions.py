"""An answer of the policy as OpenAI's API writes it: one object, or a stream of events.

Source: "Chat Completions" of OpenAI's API reference; a stream ends with `data: [DONE]`.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from reward_functions.local.runtime_double.chat import CHARACTERS, Usage, tokens_in

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reward_functions.local.runtime_double.chat import Answer, ChatRequest

PIECE: Final = 24
"""Characters of a text in one event of a stream."""

DONE: Final = b"data: [DONE]\n\n"


@dataclass(frozen=True, slots=True)
class Completion:
    """An answer to a request.

    Args:
        id: of the completion.
        created: seconds since the epoch.
        model: as the client named it.
        answer: of the policy, within the limit.
        usage: tokens.
        with_usage: whether a stream ends with them.
    """

    id: str
    created: int
    model: str
    answer: Answer
    usage: Usage
    with_usage: bool = False

    @property
    def message(self) -> dict[str, Any]:
        """The assistant's message."""
        message: dict[str, Any] = {"role": "assistant", "content": self.answer.content or None}
        if self.answer.tool_calls:
            message["tool_calls"] = self._tool_calls()
        return message

    @property
    def whole(self) -> bytes:
        """As one object."""
        choice = {
            "index": 0,
            "message": self.message,
            "logprobs": None,
            "finish_reason": self.answer.finish_reason,
        }
        return _json(self._head("chat.completion") | {"choices": [choice], "usage": self._usage()})

    def events(self) -> Iterator[bytes]:
        """As a stream, one event a piece."""
        yield self._event({"role": "assistant", "content": ""})
        content = self.answer.content
        for at in range(0, len(content), PIECE):
            yield self._event({"content": content[at : at + PIECE]})
        for index, call in enumerate(self._tool_calls()):
            function = call["function"]
            opening = call | {"index": index, "function": function | {"arguments": ""}}
            yield self._event({"tool_calls": [opening]})
            rest = {"index": index, "function": {"arguments": function["arguments"]}}
            yield self._event({"tool_calls": [rest]})
        yield self._event({}, self.answer.finish_reason)
        if self.with_usage:
            last = self._head("chat.completion.chunk") | {"choices": [], "usage": self._usage()}
            yield b"data: %b\n\n" % _json(last)
        yield DONE

    def _tool_calls(self) -> list[dict[str, Any]]:
        return [
            {
                "id": f"call-{self.id}-{number}",
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments},
            }
            for number, call in enumerate(self.answer.tool_calls)
        ]

    def _head(self, kind: str) -> dict[str, Any]:
        return {"id": self.id, "object": kind, "created": self.created, "model": self.model}

    def _event(self, delta: dict[str, Any], reason: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": reason}
        return b"data: %b\n\n" % _json(self._head("chat.completion.chunk") | {"choices": [choice]})

    def _usage(self) -> dict[str, int]:
        prompt, completion = self.usage.prompt, self.usage.completion
        return {
            "prompt_tokens": prompt,
            "completion_tokens": completion,
            "total_tokens": prompt + completion,
        }


def completed(id_: str, created: float, request: ChatRequest, answer: Answer) -> Completion:
    """The completion of a request.

    Args:
        id_: of the completion.
        created: seconds since the epoch.
        request: that was answered.
        answer: of the policy. A text is cut at the request's limit where the policy did not count
            its tokens itself.
    """
    usage = answer.usage
    if usage is None:
        answer = _within(answer, request.max_tokens)
        written = answer.content + "".join(call.arguments for call in answer.tool_calls)
        usage = Usage(request.prompt_tokens, tokens_in(written))
    return Completion(id_, int(created), request.model, answer, usage, request.with_usage)


def _within(answer: Answer, tokens: int | None) -> Answer:
    """The answer, or as much of its text as a limit allows."""
    if tokens is None or tokens_in(answer.content) <= tokens:
        return answer
    return replace(answer, content=answer.content[: tokens * CHARACTERS], finish_reason="length")


def _json(value: dict[str, Any]) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()
