"""A chat request of OpenAI's API, what a policy answers, and how that answer is written.

The service forwards requests to the model unmodified, so whatever is not read here passes.
Limits: 10,000 messages, 1,000 tools, one choice.

Source: "Chat Completions" of OpenAI's API reference; a stream ends with `data: [DONE]`.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, Protocol

from reward_functions.local.loopback_service.server import invalid, read_json

if TYPE_CHECKING:
    from collections.abc import Iterator


MESSAGES: Final = 10_000
TOOLS: Final = 1_000
ROLES: Final = frozenset({"system", "developer", "user", "assistant", "tool", "function"})
CHARACTERS: Final = 4
"""Of a token, roughly: the double has no tokenizer, and its usage numbers are estimates."""

LENGTHS: Final = ("max_completion_tokens", "max_tokens")
"""What OpenAI's clients call the limit of an answer; the first one counts."""


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """A conversation that is to go on.

    Args:
        messages: at least one, each with a role.
        tools: that the agent offers, each `{"type": "function", "function": {...}}`.
        max_tokens: of the answer; None without a limit.
        stream: whether the answer is to come in pieces.
        with_usage: whether the last piece is to hold the usage.
        body: the whole request.
    """

    messages: tuple[dict[str, Any], ...]
    tools: tuple[dict[str, Any], ...]
    max_tokens: int | None
    stream: bool
    with_usage: bool
    body: dict[str, Any]

    @property
    def model(self) -> str:
        """The name that the client gave it."""
        return str(self.body.get("model") or "default")[:256]

    @property
    def questions(self) -> list[str]:
        """The texts of the user's messages."""
        return [text_of(each) for each in self.messages if each["role"] == "user"]

    @property
    def prompt_tokens(self) -> int:
        """An estimate."""
        return sum(tokens_in(text_of(each)) for each in self.messages)

    def since_last_question(self, role: str) -> list[dict[str, Any]]:
        """The messages of a role behind the user's last one."""
        found: list[dict[str, Any]] = []
        for message in reversed(self.messages):
            if message["role"] == "user":
                break
            if message["role"] == role:
                found.insert(0, message)
        return found


def read_chat(body: bytes) -> ChatRequest:
    """The chat request in a body.

    Raises:
        Refused: it is none, and the message names the field.
    """
    given = read_json(body)
    if not isinstance(given, dict):
        raise invalid("the request body is not a JSON object")
    if given.get("n") not in (None, 1):
        raise invalid("n: the runtime records one choice for each turn", "n")
    options = given.get("stream_options")
    return ChatRequest(
        messages=_messages(given),
        tools=_objects(given, "tools", TOOLS),
        max_tokens=_limit(given),
        stream=_flag(given, "stream"),
        with_usage=isinstance(options, dict) and _flag(options, "include_usage"),
        body=given,
    )


def text_of(message: dict[str, Any]) -> str:
    """The text of a message, whose content may come in blocks."""
    content = message.get("content")
    if isinstance(content, str):
        return content
    blocks = content if isinstance(content, list) else []
    texts = (block.get("text") for block in blocks if isinstance(block, dict))
    return "\n".join(text for text in texts if isinstance(text, str))


def tokens_in(text: str) -> int:
    """An estimate of the tokens of a text."""
    return -(-len(text) // CHARACTERS)


def _messages(given: dict[str, Any]) -> tuple[dict[str, Any], ...]:
    messages = _objects(given, "messages", MESSAGES)
    if not messages:
        raise invalid("messages: at least one", "messages")
    for message in messages:
        role = message.get("role")
        if not isinstance(role, str) or role not in ROLES:
            raise invalid(f"messages: a role is one of {', '.join(sorted(ROLES))}", "messages")
    return messages


def _objects(given: dict[str, Any], name: str, most: int) -> tuple[dict[str, Any], ...]:
    values = given.get(name) or []
    if not isinstance(values, list) or len(values) > most:
        raise invalid(f"{name}: a list of at most {most}", name)
    if not all(isinstance(value, dict) for value in values):
        raise invalid(f"{name}: a list of objects", name)
    return tuple(values)


def _limit(given: dict[str, Any]) -> int | None:
    name = next((name for name in LENGTHS if given.get(name) is not None), None)
    if name is None:
        return None
    value = given[name]
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise invalid(f"{name}: a whole number from 1 on", name)
    return value


def _flag(given: dict[str, Any], name: str) -> bool:
    value = given.get(name) or False
    if not isinstance(value, bool):
        raise invalid(f"{name}: true or false", name)
    return value


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call of a tool that the agent offered.

    Args:
        name: of the tool.
        arguments: as the model wrote them: JSON, or what a model behind the double takes for it.
    """

    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of a call."""

    prompt: int
    completion: int


@dataclass(frozen=True, slots=True)
class Answer:
    """One turn of the policy.

    Args:
        content: its text; "" beside tool calls.
        tool_calls: in their order.
        finish_reason: "stop", "length" or "tool_calls".
        usage: as a model behind the double counts; None for an estimate.
    """

    content: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    finish_reason: str = "stop"
    usage: Usage | None = None


class Policy(Protocol):
    """Answers chat requests; called from many threads at once."""

    def answer(self, request: ChatRequest, trajectory_id: str) -> Answer:
        """The next turn of a conversation.

        Args:
            request: the whole conversation so far, as OpenAI's clients send it.
            trajectory_id: whose it is. A policy that varies does so by it, not by the moment:
                a call that is sent again gets the same answer.

        Raises:
            Refused: the policy has no answer.
        """


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
