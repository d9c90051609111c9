"""The inference engine that a relay asks: over connections that stay, within time and size.

A call is made again only where no byte of an answer came: the engine was not reached, or it closed
a connection that had been idle. An engine's refusal is an answer.

Kinds of inference engines: what each is asked for tokens, and what it cannot do.

| kind | asked for | gives |
| --- | --- | --- |
| `vllm` | `logprobs`, `return_token_ids` | `prompt_token_ids`; `token_ids` of a choice |
| `sglang` | `logprobs`, `return_prompt_token_ids`, `return_meta_info` | its own words |
| `openai` | `logprobs` | log-probabilities without ids: no trainer can use them |
| `plain` | nothing | messages alone |

SGLang's words are `prompt_token_ids` and `meta_info.output_token_logprobs` of a choice; it refuses
them with a stream. Where an engine does not stream, the relay asks for the whole answer and streams
that to the agent.

Sources: "OpenAI-Compatible Server" of vLLM's documentation; `ChatCompletionRequest` of SGLang
0.5.13. No engine of either kind ran against this relay: scripted ones with these shapes did.
"""

from __future__ import annotations

import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from time import monotonic
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

import urllib3
from urllib3.exceptions import HTTPError, NewConnectionError, ProtocolError
from urllib3.exceptions import TimeoutError as TimedOut

from reward_functions.core.errors import ConfigurationError
from reward_functions.rollouts.record.completion import Malformed
from reward_functions.rollouts.record.relay.wire import read_object, written
from reward_functions.rollouts.request.errors import RolloutError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping


CONNECTIONS: Final = 256
SECONDS: Final = 600.0
"""That an answer may take: as long as a rollout's window."""

CONNECT_SECONDS: Final = 10.0
LARGEST: Final = 64 * 1024 * 1024
"""Bytes of an answer: log-probabilities of 100,000 tokens take about 10 MB."""

WAITS: Final = (0.05, 0.5)
"""Seconds before each further attempt."""

ERROR_BYTES: Final = 64 * 1024


class EngineFailed(RolloutError):
    """The engine gave no completion. The message holds no part of what it sent.

    Args:
        status: to answer the agent with.
        sentence: for the agent.
        content: the engine's own error; None where it sent no object.
        retry_after: seconds, as the engine wrote them; "" where it did not.
    """

    def __init__(
        self,
        status: int,
        sentence: str,
        content: dict[str, Any] | None = None,
        retry_after: str = "",
    ) -> None:
        super().__init__(sentence)
        self.status, self.content, self.retry_after = status, content, retry_after


class Engine:
    """An engine that speaks OpenAI's chat completions.

    Args:
        url: such as "http://127.0.0.1:8000/v1"; "/v1" where it has no path.
        token: asked before each call for the engine's bearer token; None for an engine without.
        connections: at a time.
        seconds: that an answer may take, in all.
        largest: bytes of an answer.

    Raises:
        ConfigurationError: no URL of HTTP.
    """

    def __init__(
        self,
        url: str,
        token: Callable[[], str] | None = None,
        *,
        connections: int = CONNECTIONS,
        seconds: float = SECONDS,
        largest: int = LARGEST,
    ) -> None:
        self._url, self._token = _base(url), token
        self._seconds, self._largest = seconds, largest
        self._pool = urllib3.PoolManager(
            num_pools=2,
            maxsize=connections,
            block=True,
            retries=False,
            timeout=urllib3.Timeout(connect=min(CONNECT_SECONDS, seconds), read=seconds),
        )

    @contextmanager
    def asked(
        self, path: str, body: Any = None, headers: Mapping[str, str] | None = None
    ) -> Iterator[Answer]:
        """The answer of the engine, for a block.

        Args:
            path: after "/v1"; one that begins with "//" stands at the engine's root.
            body: JSON data; None for a GET.
            headers: further ones.

        Raises:
            EngineFailed: it is not reached, or answers with anything but 200.
        """
        url = self._url + path if not path.startswith("//") else _root(self._url) + path[1:]
        end = monotonic() + self._seconds
        response = self._opened(url, body, self._head(headers or {}))
        try:
            answer = Answer(response, end, self._largest)
            if response.status != HTTPStatus.OK:
                raise answer.refusal()
            yield answer
        finally:
            response.close()

    def close(self) -> None:
        """Close what is idle."""
        self._pool.clear()

    def _head(self, headers: Mapping[str, str]) -> dict[str, str]:
        own = {"Content-Type": "application/json", "Accept-Encoding": "identity"}
        if self._token is not None:
            own["Authorization"] = f"Bearer {self._token()}"
        return {**headers, **own}

    def _opened(self, url: str, body: Any, headers: Mapping[str, str]) -> Any:
        content = None if body is None else written(body)
        for wait in (*WAITS, None):
            try:
                return self._pool.request(
                    "GET" if content is None else "POST",
                    url,
                    body=content,
                    headers=headers,
                    preload_content=False,
                    decode_content=False,  # none was asked for: kilobytes would become gigabytes
                    redirect=False,
                )
            except HTTPError as error:
                if wait is None or not _is_unheard(error):
                    raise _lost(error) from None
                time.sleep(wait)
        raise AssertionError


class Answer:
    """What an engine answers.

    Args:
        response: of urllib3, its body not read yet.
        end: when no more is waited for, in monotonic seconds.
        largest: bytes of it.
    """

    def __init__(self, response: Any, end: float, largest: int) -> None:
        self._response, self._end, self._largest = response, end, largest

    @property
    def is_stream(self) -> bool:
        """Whether it is a stream of events."""
        kind = self._response.headers.get("Content-Type", "")
        return bool(kind.partition(";")[0].strip().lower() == "text/event-stream")

    def pieces(self) -> Iterator[bytes]:
        """Its body, as it comes.

        Raises:
            EngineFailed: it breaks off, is too large, or does not end in time.
        """
        size = 0
        while True:
            try:
                piece = self._response.read1(64 * 1024)
            except HTTPError as error:
                raise _lost(error) from None
            if not piece:
                return
            size += len(piece)
            if size > self._largest:
                sentence = f"the engine answers more than {self._largest} bytes"
                raise EngineFailed(HTTPStatus.BAD_GATEWAY, sentence)
            if monotonic() >= self._end:
                sentence = "the engine does not come to an end in time"
                raise EngineFailed(HTTPStatus.GATEWAY_TIMEOUT, sentence)
            yield piece

    def whole(self) -> dict[str, Any]:
        """Its body as a JSON object.

        Raises:
            EngineFailed: as `pieces`, or it is no JSON object.
        """
        content = b"".join(self.pieces())
        try:
            return read_object(content)
        except Malformed:
            sentence = "the engine answers with what is not a JSON object"
            raise EngineFailed(HTTPStatus.BAD_GATEWAY, sentence) from None

    def refusal(self) -> EngineFailed:
        """The failure that it is: the engine's own status where that is one of an error."""
        status = self._response.status
        body = bytearray()
        try:
            for piece in self.pieces():
                body += piece
                if len(body) > ERROR_BYTES:
                    break
            content = read_object(bytes(body[:ERROR_BYTES]))
        except (Malformed, EngineFailed):
            content = None
        known = status if status >= HTTPStatus.BAD_REQUEST else HTTPStatus.BAD_GATEWAY
        after = self._response.headers.get("Retry-After", "")
        return EngineFailed(
            known,
            f"the engine answers {status}",
            content,
            after if after.isdecimal() and after.isascii() else "",
        )


def _is_unheard(error: HTTPError) -> bool:
    """Whether no byte of an answer came."""
    if isinstance(error, ProtocolError):  # it carries what ended the connection
        return isinstance(error.args[-1], ConnectionError)
    return isinstance(error, NewConnectionError)


def _lost(error: Exception) -> EngineFailed:
    """The engine is not reached, or breaks off: named by the type alone."""
    # urllib3 counts a refused connection among those that came too late.
    late = isinstance(error, TimedOut) and not isinstance(error, NewConnectionError)
    status = HTTPStatus.GATEWAY_TIMEOUT if late else HTTPStatus.BAD_GATEWAY
    return EngineFailed(status, f"the engine does not answer ({type(error).__name__})")


def _base(url: str) -> str:
    try:
        parts = urlsplit(url)
    except ValueError:
        raise ConfigurationError("the URL of the engine cannot be read") from None
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise ConfigurationError("the URL of the engine begins with http:// or https://")
    if parts.username or parts.query or parts.fragment:
        raise ConfigurationError("the URL of the engine has no user, no query and no fragment")
    return url.rstrip("/") + ("" if parts.path.strip("/") else "/v1")


def _root(base: str) -> str:
    return base.removesuffix("/v1")


LOGPROBS: Final = {"logprobs": True}


@dataclass(frozen=True, slots=True)
class EngineKind:
    """The requests to an engine, and its abilities.

    Args:
        asks: fields that the relay adds to every request.
        streams: whether it streams with them.
        stream_usage: whether it takes `stream_options`, which bring a stream's usage.
        tokenize: where it counts the tokens of messages, from its root; "" for nowhere.
    """

    asks: Mapping[str, Any] = field(default_factory=dict)
    streams: bool = True
    stream_usage: bool = True
    tokenize: str = ""


ENGINES: Final = {
    "vllm": EngineKind(LOGPROBS | {"return_token_ids": True}, tokenize="/tokenize"),
    "sglang": EngineKind(
        LOGPROBS | {"return_prompt_token_ids": True, "return_meta_info": True}, streams=False
    ),
    "openai": EngineKind(LOGPROBS),
    "plain": EngineKind(streams=False, stream_usage=False),
}

SWITCHES: Final = {
    "prompt_token_ids": ("return_token_ids", "return_prompt_token_ids"),
    "token_ids": ("return_token_ids",),
    "logprobs": ("logprobs",),
    "meta_info": ("return_meta_info",),
}
"""Fields of a reply and its choices, and those of a request that ask for them."""


def stripped(reply: Mapping[str, Any], asked: Mapping[str, Any]) -> dict[str, Any]:
    """A completion, or a chunk of one, without what its agent did not ask for.

    Args:
        reply: of the engine; it is not changed.
        asked: the agent's request.
    """
    extra = [name for name, by in SWITCHES.items() if not any(asked.get(each) for each in by)]
    found = {name: value for name, value in reply.items() if name not in extra}
    if "choices" in found:
        found["choices"] = [_without(choice, extra) for choice in found["choices"]]
    return found


def _without(choice: dict[str, Any], extra: list[str]) -> dict[str, Any]:
    kept = {name: value for name, value in choice.items() if name not in extra}
    if "logprobs" in choice:
        kept.setdefault("logprobs", None)
    return kept
