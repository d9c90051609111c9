"""An answer of the policy, read as one chat completion: JSON, or the events of a stream.

A reader of a stream sees its bytes as they come; a copy is kept, and read once it has ended. Of a
stream the pieces are joined: text by its field, tool calls by their index, token ids and
log-probabilities in their order. An answer that is no chat completion is recorded as such, and
counted.

An answer whose text holds tool calls becomes one that calls those tools.

A policy that is trained writes a call into its text now and then, `<tool_call>{…}</tool_call>`
where its engine does not parse it, and the framework takes that text for the end of the episode.
Only an answer to a request with tools, whose first choice calls none, is looked at.
"""

from __future__ import annotations

import json
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from reward_functions.rollouts.record import spans
from reward_functions.rollouts.record.completion import joined
from reward_functions.rollouts.record.text_tool_calls import recovered
from reward_functions.rollouts.request.errors import RolloutError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from reward_functions.rollouts.policy.calls import PolicyCall


LARGEST: Final = 32 * 2**20
"""Bytes of an answer that are kept for the record: 100,000 tokens of a stream, each an event of 300
bytes, as vLLM sends them with log-probabilities."""

EVENTS: Final = "text/event-stream"
DONE: Final = b"[DONE]"


class UnreadableAnswer(RolloutError, ValueError):
    """No chat completion, or more of one than is kept. It is recorded, never raised."""


class CallRefused(RolloutError):
    """A policy call that was answered by an error. It is recorded, never raised."""


class Answer:
    """A copy of an answer, while its reader reads it.

    Args:
        call: that it answers; it has begun by now.
        content_type: of the answer.
    """

    def __init__(self, call: PolicyCall, content_type: str) -> None:
        self._call = call
        self._streamed = content_type.startswith(EVENTS)
        self._kept = bytearray()
        self._too_large = self._ended = False

    def read(self, piece: bytes) -> None:
        """The reader has read a piece."""
        if len(self._kept) + len(piece) > LARGEST:
            self._too_large = True
            self._kept.clear()
        if not self._too_large:
            self._kept += piece

    def end(self) -> None:
        """The reader has all that it wants, the rest of a stream or not; once."""
        if self._ended:
            return
        self._ended = True
        if self._too_large:
            self._call.failed(UnreadableAnswer(f"more than {LARGEST} bytes"))
            return
        try:
            self._call.answered(completion_of(bytes(self._kept), streamed=self._streamed))
        except UnreadableAnswer as error:
            self._call.failed(error)

    @contextmanager
    def failing(self) -> Iterator[None]:
        """A block that reads; where it breaks off, the call has failed.

        A reader that stops, and closes what it has not read, has all that it wants.
        """
        try:
            yield
        except GeneratorExit:
            raise
        except BaseException as error:
            self._ended = True
            self._call.failed(error)
            raise


def completion_of(body: bytes, *, streamed: bool) -> dict[str, Any]:
    """An answer's body as a chat completion, whose first choice has a message.

    Raises:
        UnreadableAnswer: it is no completion.
    """
    try:
        read = joined(events_of(body)) if streamed else json.loads(body)
    except (ValueError, RecursionError):
        raise UnreadableAnswer("the answer is no JSON") from None
    choices = read.get("choices") if isinstance(read, dict) else None
    first = choices[0] if isinstance(choices, list) and choices else None
    if not isinstance(first, dict) or not isinstance(first.get("message"), dict):
        raise UnreadableAnswer("the answer holds no message")
    return dict(read)


def events_of(body: bytes) -> list[dict[str, Any]]:
    """The JSON objects of a stream of server-sent events; one that broke off is left out.

    Raises:
        ValueError: what an event holds is no JSON.
    """
    # An event ends with an empty line, and what has none behind it broke off.
    whole = body.replace(b"\r\n", b"\n").rpartition(b"\n\n")[0]
    lines = (line[5:].strip() for line in whole.split(b"\n") if line.startswith(b"data:"))
    read = [json.loads(line) for line in lines if line and line != DONE]
    return [each for each in read if isinstance(each, dict)]


def as_events(completion: Mapping[str, Any]) -> bytes:
    """A chat completion as a stream: a chunk for each choice, its end, and the usage."""
    frame = {name: completion[name] for name in completion if name not in {"choices", "usage"}}
    frame["object"] = "chat.completion.chunk"
    chunks = [
        {"choices": [{"index": each["index"]} | piece]}
        for each in completion["choices"]
        for piece in _chunks(each)
    ]
    if completion.get("usage"):
        chunks.append({"choices": [], "usage": completion["usage"]})
    lines = (json.dumps(frame | chunk, ensure_ascii=False).encode() for chunk in chunks)
    return b"".join(b"data: " + line + b"\n\n" for line in (*lines, DONE))


def _chunks(choice: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    delta = dict(choice["message"])
    calls = delta.get("tool_calls")
    if calls:
        delta["tool_calls"] = [{"index": at} | call for at, call in enumerate(calls)]
    rest = {name: choice[name] for name in choice if name not in {"message", "finish_reason"}}
    return (
        {"delta": delta, "finish_reason": None} | rest,
        {"delta": {}, "finish_reason": choice.get("finish_reason")},
    )


FIGURE: Final = "rollout.text_tool_calls"


def with_tool_calls(body: bytes, request: Mapping[str, Any] | None, *, streamed: bool) -> bytes:
    """An answer's body with the tool calls of its text; the same bytes where it has none.

    Args:
        body: all of the answer.
        request: that it answers.
        streamed: whether the answer is a stream of events.
    """
    tools = (request or {}).get("tools")
    if not isinstance(tools, list) or not tools:
        return body
    try:
        completion = completion_of(body, streamed=streamed)
    except UnreadableAnswer:
        return body
    first, *others = completion["choices"]
    message = None if first["message"].get("tool_calls") else recovered(first["message"], tools)
    if message is None:
        return body
    spans.add(FIGURE, len(message["tool_calls"]), {})
    changed = first | {"message": message, "finish_reason": "tool_calls"}
    completion["choices"] = [changed, *others]
    return as_events(completion) if streamed else json.dumps(completion).encode()
