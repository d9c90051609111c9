"""A chat request of OpenAI's API, what a policy answers, and how that answer is written.

The service forwards requests to the model unmodified, so all that is not read here passes. Limits:
10,000 messages, 1,000 tools, one choice.

Source: "Chat Completions" of OpenAI's API reference; a stream ends with `data: [DONE]`.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, Protocol, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from reward_functions.local.loopback_service.server import invalid, read_object

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

MESSAGES: Final = 10_000
TOOLS: Final = 1_000

ROLES: Final = ("system", "developer", "user", "assistant", "tool", "function")

CHARACTERS: Final = 4
"""Of a token, roughly: the double has no tokenizer, and its usage numbers are estimates."""


def _with_role(message: dict[str, Any]) -> dict[str, Any]:
    if message.get("role") not in ROLES:
        raise ValueError(f"a role is one of {', '.join(ROLES)}")
    return message


class ChatRequest(BaseModel):
    """A conversation that is to go on.

    Args:
        messages: at least one, each with a role.
        tools: that the agent offers, each `{"type": "function", "function": {...}}`.
        n: choices, of which the runtime records one for each turn.
        stream: whether the answer is to come in pieces.
        body: the whole request.
    """

    model_config = ConfigDict(strict=True)

    messages: list[Annotated[dict[str, Any], AfterValidator(_with_role)]] = Field(
        min_length=1, max_length=MESSAGES
    )
    tools: list[dict[str, Any]] | None = Field(None, max_length=TOOLS)
    n: Literal[1] | None = None
    stream: bool | None = None
    max_completion_tokens: int | None = Field(None, ge=1)
    max_tokens: int | None = Field(None, ge=1)
    body: dict[str, Any]

    @property
    def limit(self) -> int | None:
        """Tokens of the answer; None without a limit."""
        return self.max_completion_tokens or self.max_tokens

    @property
    def with_usage(self) -> bool:
        """Whether the last piece is to hold the usage."""
        options = self.body.get("stream_options")
        return isinstance(options, dict) and options.get("include_usage") is True

    @property
    def model(self) -> str:
        """The name that the client gave it."""
        return str(self.body.get("model") or "default")[:256]

    @property
    def questions(self) -> list[str]:
        """The texts of the user's messages."""
        return [text_of(each) for each in self.messages if each["role"] == "user"]

    def since_last_question(self, role: str) -> list[dict[str, Any]]:
        """The messages of a role after the user's last one."""
        asked = [at for at, each in enumerate(self.messages) if each["role"] == "user"]
        later = self.messages[asked[-1] :] if asked else self.messages
        return [each for each in later if each["role"] == role]


Body = TypeVar("Body", bound=BaseModel)


def read_body(kind: type[Body], body: Mapping[str, Any]) -> Body:
    """The body of a request to OpenAI's API.

    Raises:
        Refused: it is something else; the first field that is wrong is named.
    """
    try:
        return kind.model_validate(body)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        where = ".".join(str(part)[:64] for part in first["loc"])
        raise invalid(f"Invalid value for '{where}': {first['msg']}", where) from None


def read_chat(body: bytes) -> ChatRequest:
    """The chat request in a body.

    Raises:
        Refused: it is no chat request, and the message names the field.
    """
    given = read_object(body)
    return read_body(ChatRequest, given | {"body": given})


def text_of(message: Mapping[str, Any]) -> str:
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


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call of a tool that the agent offered.

    Args:
        name: of the tool.
        arguments: as the model wrote them: JSON, or what a model that the double asks takes for it.
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
        usage: as a model that the double asks counts; None for an estimate.
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


def completed(id_: str, created: float, request: ChatRequest, answer: Answer) -> dict[str, Any]:
    """The chat completion that answers a request.

    Args:
        id_: of the completion.
        created: seconds since the epoch.
        request: that was answered.
        answer: of the policy. A text is cut at the request's limit where the policy did not count
            its tokens itself.
    """
    usage, limit = answer.usage, request.limit
    if usage is None:
        if limit is not None and tokens_in(answer.content) > limit:
            content = answer.content[: limit * CHARACTERS]
            answer = replace(answer, content=content, finish_reason="length")
        written = answer.content + "".join(call.arguments for call in answer.tool_calls)
        read = sum(tokens_in(text_of(each)) for each in request.messages)
        usage = Usage(read, tokens_in(written))
    message: dict[str, Any] = {"role": "assistant", "content": answer.content or None}
    if answer.tool_calls:
        message["tool_calls"] = [
            {
                "id": f"call-{id_}-{number}",
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments},
            }
            for number, call in enumerate(answer.tool_calls)
        ]
    return completion(id_, created, request.model, [(message, answer.finish_reason)], usage)


def completion(
    id_: str,
    created: float,
    model: str,
    choices: Iterable[tuple[Mapping[str, Any], str]],
    usage: Usage,
) -> dict[str, Any]:
    """A chat completion: each choice is a message and why it ends."""
    return {
        "id": id_,
        "object": "chat.completion",
        "created": int(created),
        "model": model,
        "choices": [
            {"index": index, "message": message, "logprobs": None, "finish_reason": reason}
            for index, (message, reason) in enumerate(choices)
        ],
        "usage": {
            "prompt_tokens": usage.prompt,
            "completion_tokens": usage.completion,
            "total_tokens": usage.prompt + usage.completion,
        },
    }


def events(whole: Mapping[str, Any], *, with_usage: bool) -> Iterator[bytes]:
    """A chat completion of one choice as a stream, one event a piece."""
    frame = dict(whole) | {"object": "chat.completion.chunk"}
    usage = frame.pop("usage")
    (choice,) = frame["choices"]
    for delta in (*_deltas(choice["message"]), {}):
        reason = None if delta else choice["finish_reason"]
        piece = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": reason}
        yield _event(frame | {"choices": [piece]})
    if with_usage:
        yield _event(frame | {"choices": [], "usage": usage})
    yield DONE


def _deltas(message: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    yield {"role": "assistant", "content": ""}
    content = message["content"] or ""
    for at in range(0, len(content), PIECE):
        yield {"content": content[at : at + PIECE]}
    for index, call in enumerate(message.get("tool_calls", ())):
        function = call["function"]
        opening = call | {"index": index, "function": function | {"arguments": ""}}
        yield {"tool_calls": [opening]}
        rest = {"index": index, "function": {"arguments": function["arguments"]}}
        yield {"tool_calls": [rest]}


def _event(value: Mapping[str, Any]) -> bytes:
    return b"data: %b\n\n" % json.dumps(value, separators=(",", ":")).encode()
