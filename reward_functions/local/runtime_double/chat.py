"""A chat request of OpenAI's API: what the double reads of it, and what it refuses.

The service forwards requests to the model unmodified, so whatever is not read here passes.
Limits: 10,000 messages, 1,000 tools, one choice.

What a policy of the double is: an answer to a chat request, or what stands in for one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Protocol

from reward_functions.local.loopback_service.requests import invalid, read_json

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
