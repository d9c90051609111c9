"""A real model behind the double: any endpoint that speaks OpenAI's chat completions.

Engines refuse what only OpenAI's own service knows, so a request is cut down to what all of them
take, and the model's name is the relay's: agents of the runtime call it "default". The reply comes
whole, whether or not the agent asked for a stream.
"""

from __future__ import annotations

import json
import os
from time import monotonic
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

import urllib3

from reward_functions.core.errors import ConfigurationError
from reward_functions.local.loopback_service.requests import Refused
from reward_functions.local.runtime_double.chat import Answer, ToolCall, Usage, text_of
from reward_functions.rollouts.drive.agents import body_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reward_functions.local.runtime_double.chat import ChatRequest

TAKEN: Final = (
    *("messages", "tools", "tool_choice", "temperature", "top_p", "max_tokens"),
    *("max_completion_tokens", "stop", "seed", "response_format"),
    *("presence_penalty", "frequency_penalty", "parallel_tool_calls"),
)
"""Fields of a request that vLLM, SGLang, llama.cpp and Ollama take alike."""

CONNECTIONS: Final = 64
SECONDS: Final = 300.0
LARGEST: Final = 8 * 1024 * 1024
"""Bytes of a reply."""

MOST_TOKENS: Final = 10**9
"""Of a call; who counts more does not count."""

FINISHES: Final = frozenset({"stop", "length", "tool_calls", "content_filter"})
STATUSES: Final = {
    400: "ValidationException",
    422: "ValidationException",
    429: "ThrottlingException",
}
"""What a refusal of the model is to the agent; any other is a failure of the service."""


class RelayPolicy:
    """Passes requests on, over 64 connections at most.

    Args:
        url: of the endpoint, such as "http://127.0.0.1:8000/v1"; "/v1" where it has no path.
        api_key_env: the variable that holds the key; "" for an endpoint without one.
        model: the name that the endpoint knows its model by.
        seconds: that a reply may take.
        environ: the variables.

    Raises:
        ConfigurationError: no URL of HTTP, or the variable is not set.
    """

    def __init__(
        self,
        url: str,
        api_key_env: str = "",
        *,
        model: str = "default",
        seconds: float = SECONDS,
        environ: Mapping[str, str] = os.environ,
    ) -> None:
        self._url = f"{_base(url)}/chat/completions"
        self._model, self._seconds = model, seconds
        self._headers = {"Content-Type": "application/json"}
        if api_key_env:
            if not environ.get(api_key_env):
                raise ConfigurationError(f"the variable {api_key_env}, for the key, is not set")
            self._headers["Authorization"] = f"Bearer {environ[api_key_env]}"
        self._pool = urllib3.PoolManager(
            num_pools=1, maxsize=CONNECTIONS, block=True, timeout=seconds, retries=False
        )

    def answer(self, request: ChatRequest, trajectory_id: str) -> Answer:  # noqa: ARG002
        """What the model answers.

        Raises:
            Refused: it does not, or nothing that is a chat completion.
        """
        body = {name: request.body[name] for name in TAKEN if request.body.get(name) is not None}
        body |= {"model": self._model, "messages": [*map(_flattened, request.messages)]}
        return _answer(self._reply(json.dumps(body).encode()))

    def _reply(self, body: bytes) -> bytes:
        end = monotonic() + self._seconds
        try:
            reply = self._pool.request(
                "POST", self._url, body=body, headers=self._headers, preload_content=False
            )
            with reply:  # closed, or the rest of a reply too long would begin the next one
                content = body_of(reply, LARGEST + 1, end)
        except urllib3.exceptions.HTTPError as error:
            raise _failed(f"does not answer ({type(error).__name__})") from None
        if reply.status != 200:  # noqa: PLR2004
            code = STATUSES.get(reply.status, "InternalServiceError")
            raise Refused(code, f"the model behind the double answers {reply.status}")
        if len(content) > LARGEST:
            raise _failed(f"answers more than {LARGEST} bytes")
        if monotonic() >= end:
            raise _failed(f"does not come to an end in {self._seconds:g} seconds")
        return content


def _base(url: str) -> str:
    try:
        parts = urlsplit(url)
    except ValueError:
        raise ConfigurationError("the URL of the model cannot be read") from None
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise ConfigurationError("the URL of the model begins with http:// or https://")
    if parts.username or parts.query or parts.fragment:
        raise ConfigurationError("the URL of the model has no user, no query and no fragment")
    return url.rstrip("/") + ("" if parts.path.strip("/") else "/v1")


def _flattened(message: dict[str, Any]) -> dict[str, Any]:
    """A message whose blocks of text are one text; blocks of another kind stay as they are."""
    content = message.get("content")
    if not isinstance(content, list):
        return message
    texts = all(isinstance(each, dict) and each.get("type") == "text" for each in content)
    return message | {"content": text_of(message)} if texts else message


def _answer(content: bytes) -> Answer:
    """The turn in a reply, which may hold anything."""
    try:
        reply = json.loads(content)
        choice = reply["choices"][0]
        message = choice["message"]
        calls = tuple(map(_tool_call, message.get("tool_calls") or ()))
        text = message.get("content") or ""
        usage = _usage(reply.get("usage"))
    except (ValueError, RecursionError, LookupError, TypeError, AttributeError):
        raise _failed("answers with what is no chat completion") from None
    if not isinstance(text, str):
        raise _failed("answers with content that is no string")
    finish = choice.get("finish_reason")
    known = finish if isinstance(finish, str) and finish in FINISHES else "stop"
    return Answer(text, calls, "tool_calls" if calls else known, usage)


def _tool_call(call: Any) -> ToolCall:
    function = call["function"]
    name, arguments = function["name"], function.get("arguments") or "{}"
    if not isinstance(name, str) or not isinstance(arguments, str):
        raise TypeError
    return ToolCall(name, arguments)


def _usage(given: Any) -> Usage | None:
    """Its own count; None where it has none."""
    if given is None:
        return None
    counts = [given.get(name) for name in ("prompt_tokens", "completion_tokens")]
    if not all(type(each) is int and 0 <= each <= MOST_TOKENS for each in counts):
        return None
    return Usage(*counts)


def _failed(words: str) -> Refused:
    return Refused("InternalServiceError", f"the model behind the double {words}")
