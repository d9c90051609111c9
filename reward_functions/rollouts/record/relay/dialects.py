"""The two APIs that agents speak to a relay: how each asks, is answered, and is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from reward_functions.rollouts.record.relay.anthropic import MessageEvents, to_anthropic, to_openai
from reward_functions.rollouts.record.relay.engine import stripped
from reward_functions.rollouts.record.relay.wire import done, event

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reward_functions.rollouts.record.relay.engine import EngineFailed

OPENAI_ERRORS: Final = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    410: "not_found_error",
    413: "invalid_request_error",
    429: "rate_limit_error",
}
"""What is not here is a `server_error` from 500 on, and an `invalid_request_error` below."""

ANTHROPIC_ERRORS: Final = OPENAI_ERRORS | {
    413: "request_too_large",
    504: "timeout_error",
    529: "overloaded_error",
}
"""What is not here is an `api_error` from 500 on."""

SERVER: Final = 500

THINKING: Final = ("enabled", "adaptive")


class OpenAI:
    """Chat completions: what the engine speaks, too."""

    def __init__(self) -> None:
        self._asked: Mapping[str, Any] = {}
        self._with_usage = False

    def request(self, body: dict[str, Any]) -> dict[str, Any]:
        """The same body."""
        options = body.get("stream_options")
        self._asked = body
        self._with_usage = isinstance(options, dict) and bool(options.get("include_usage"))
        return body

    def whole(self, completion: dict[str, Any]) -> dict[str, Any]:
        """The same completion, without what was not asked for."""
        return stripped(completion, self._asked)

    def chunk(self, chunk: dict[str, Any]) -> bytes:
        """The same chunk, without what was not asked for."""
        if not self._with_usage:
            chunk = {name: value for name, value in chunk.items() if name != "usage"}
            if not chunk["choices"]:
                return b""
        return event(stripped(chunk, self._asked))

    def end(self, _: dict[str, Any]) -> bytes:
        """The last event."""
        return done()

    def error(self, status: int, sentence: str) -> dict[str, Any]:
        """OpenAI's shape."""
        return openai_error(status, sentence)

    def engine_error(self, failure: EngineFailed) -> dict[str, Any]:
        """As the engine wrote it, where it wrote an error."""
        if failure.content is not None and "error" in failure.content:
            return failure.content
        return openai_error(failure.status, _sentence(failure))

    def event(self, error: dict[str, Any]) -> bytes:
        """The error as an event."""
        return event(error)


class Anthropic:
    """Messages: translated to chat completions and back."""

    def __init__(self) -> None:
        self._thinking = False
        self._events = MessageEvents(thinking=False)

    def request(self, body: dict[str, Any]) -> dict[str, Any]:
        """Translated."""
        thinking = body.get("thinking")
        kind = thinking.get("type") if isinstance(thinking, dict) else None
        self._thinking = kind in THINKING
        self._events = MessageEvents(thinking=self._thinking)
        return to_openai(body)

    def whole(self, completion: dict[str, Any]) -> dict[str, Any]:
        """As a message."""
        return to_anthropic(completion, thinking=self._thinking)

    def chunk(self, chunk: dict[str, Any]) -> bytes:
        """As events of a message."""
        return self._events.chunk(chunk)

    def end(self, completion: dict[str, Any]) -> bytes:
        """Its last events."""
        return self._events.end(completion)

    def error(self, status: int, sentence: str) -> dict[str, Any]:
        """Anthropic's shape."""
        return anthropic_error(status, sentence)

    def engine_error(self, failure: EngineFailed) -> dict[str, Any]:
        """The engine's sentence, in Anthropic's shape."""
        return anthropic_error(failure.status, _sentence(failure))

    def event(self, error: dict[str, Any]) -> bytes:
        """The error as an event."""
        return event(error, "error")


Dialect = OpenAI | Anthropic
"""One API, for one call."""


def openai_error(status: int, sentence: str) -> dict[str, Any]:
    """An error as OpenAI's API writes it."""
    other = "server_error" if status >= SERVER else "invalid_request_error"
    kind = OPENAI_ERRORS.get(status, other)
    return {"error": {"message": sentence, "type": kind, "param": None, "code": None}}


def anthropic_error(status: int, sentence: str) -> dict[str, Any]:
    """An error as Anthropic's API writes it."""
    other = "api_error" if status >= SERVER else "invalid_request_error"
    kind = ANTHROPIC_ERRORS.get(status, other)
    return {"type": "error", "error": {"type": kind, "message": sentence}}


def error_of(path: str, status: int, sentence: str) -> dict[str, Any]:
    """An error in the shape of whichever API a path belongs to."""
    if path.endswith(("/messages", "/count_tokens")):
        return anthropic_error(status, sentence)
    return openai_error(status, sentence)


def _sentence(failure: EngineFailed) -> str:
    """What the engine says, for the agent whose request it is; else ours."""
    content = failure.content or {}
    error = content.get("error", content)
    message = error.get("message") if isinstance(error, dict) else error
    return message if isinstance(message, str) and message else str(failure)
