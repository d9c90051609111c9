"""httpx: each call of a policy over it, in the rollout that makes it.

A transport stands around another one and sends through it: the client's hooks, authentication,
retries and streams stay as they are. `policy.outgoing` says what is a policy call, and what it
carries. A token that is refused is minted again, once. An attempt that is answered by an error is a
failed one in the record, and no turn.

    outgoing → policy_call → the transport → (401, 403: a new token, again) → a copy of the answer

Both transports are edges around `_Exchange`, which does all but the sending and the waiting. A
wrapped client is a copy with hooks, headers, cookies, timeouts and proxies of its own, over the
same connections. Where another's transport sends, `RolloutAuth` signs each request: it neither
moves nor changes nor records the call.
"""

from __future__ import annotations

from reward_functions.core.extras import require

require("httpx", "anyio", by=__name__.replace(".policy", ""))

import copy
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

import anyio.to_thread
import httpx

from reward_functions.rollouts.episode.episode import SPAN_HEADER
from reward_functions.rollouts.policy.answers import EVENTS, Answer, CallRefused, with_tool_calls
from reward_functions.rollouts.policy.calls import UnsupportedClient, policy_call, require_time
from reward_functions.rollouts.policy.outgoing import REFUSED, TOKENS, Outgoing, outgoing
from reward_functions.rollouts.request.headers import JOB_HEADER, TRAJECTORY_HEADER

if TYPE_CHECKING:
    from collections.abc import (
        AsyncGenerator,
        AsyncIterable,
        AsyncIterator,
        Generator,
        Iterable,
        Iterator,
    )

    from reward_functions.rollouts.policy.calls import PolicyCall


__all__ = [
    "AsyncRolloutTransport",
    "RolloutAuth",
    "RolloutTransport",
    "async_rollout_http_client",
    "rollout_http_client",
    "wrap_http_client",
]


class _Exchange:
    """One policy call: what is sent, and what becomes of the answer."""

    def __init__(self, sent: Outgoing, original: httpx.Request, call: PolicyCall) -> None:
        self.sent = sent
        self.call = call
        self._original = original
        self._began = TOKENS.clock()

    def request(self, token: str | None) -> httpx.Request:
        """The request, with a token where one is due."""
        headers = self.sent.headers | ({"authorization": f"Bearer {token}"} if token else {})
        return httpx.Request(
            "POST",
            self.sent.url,
            headers=headers,
            content=self.sent.body,
            extensions=self._original.extensions,
        )

    def refused(self, response: httpx.Response) -> bool:
        """Whether another token may help."""
        if self.sent.region is None or response.status_code not in REFUSED:
            return False
        self.call.failed(CallRefused(f"status {response.status_code}"))
        TOKENS.renew(self._began)
        self.call.attempt()
        return True

    def answer(self, response: httpx.Response) -> Answer | None:
        """A copy of the answer, to be read along; None of an error."""
        if not response.is_success:
            self.call.failed(CallRefused(f"status {response.status_code}"))
            return None
        self.call.answering()
        answer = Answer(self.call, response.headers.get("content-type", ""))
        self.call.later(answer.end)
        return answer

    def refined(self, body: bytes, response: httpx.Response, answer: Answer) -> httpx.Response:
        """The answer with the tool calls of its text, all of it at once."""
        answer.read(body)
        answer.end()
        streamed = response.headers.get("content-type", "").startswith(EVENTS)
        content = with_tool_calls(body, self.sent.request, streamed=streamed)
        headers = {name: response.headers[name] for name in response.headers if name not in FRAMING}
        return httpx.Response(
            response.status_code, headers=headers, content=content, extensions=response.extensions
        )


FRAMING: Final = frozenset({"content-length", "transfer-encoding"})
"""Headers of an answer's bytes, which are others now."""


class RolloutTransport(httpx.BaseTransport):
    """A synchronous transport in rollouts; shared by any number of them.

    Args:
        transport: that sends; a new `httpx.HTTPTransport` where None.
        trusted: endpoints that a payload may name beside AWS's.
        recover_tool_calls: whether tool calls that the policy wrote as text are given to the client
            as tool calls. An answer to a request with tools is read to its end before that, a
            stream too.
        owned: whether it is closed with this one.

    Raises:
        PolicyFailure: at a call after the deadline of its episode. UntrustedEndpoint,
            UnsupportedCall: at a call; see `policy.outgoing`.
        CredentialsMissing: at a call that a token is due for.
    """

    def __init__(
        self,
        transport: httpx.BaseTransport | None = None,
        *,
        trusted: Iterable[str] = (),
        recover_tool_calls: bool = False,
        owned: bool = True,
    ) -> None:
        self._transport = transport or httpx.HTTPTransport()
        self.trusted = tuple(trusted)
        self._recovers = recover_tool_calls
        self._owned = owned

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request, as the rollout that makes it does."""
        body = request.read() if request.method == "POST" else b""
        url = str(request.url)
        sent = outgoing(request.method, url, request.headers, body, self.trusted)
        if sent is None:
            return self._transport.handle_request(request)
        with policy_call(sent.request) as call:
            exchange = _Exchange(sent, request, call)
            response = self._transport.handle_request(exchange.request(_token(sent)))
            if exchange.refused(response):
                response.close()
                response = self._transport.handle_request(exchange.request(_token(sent)))
            if (answer := exchange.answer(response)) is None:
                return response
            if self._recovers and sent.has_tools:
                body = b"".join(_pieces(response))
                response.close()
                return exchange.refined(body, response, answer)
            response.stream = _Copied(response.stream, answer)
            return response

    def close(self) -> None:
        """Close what sends, where it is owned."""
        if self._owned:
            self._transport.close()


class AsyncRolloutTransport(httpx.AsyncBaseTransport):
    """As `RolloutTransport`, of an asynchronous client.

    Tokens are minted on a thread: credentials may come from a service.
    """

    def __init__(
        self,
        transport: httpx.AsyncBaseTransport | None = None,
        *,
        trusted: Iterable[str] = (),
        recover_tool_calls: bool = False,
        owned: bool = True,
    ) -> None:
        self._transport = transport or httpx.AsyncHTTPTransport()
        self.trusted = tuple(trusted)
        self._recovers = recover_tool_calls
        self._owned = owned

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request, as the rollout that makes it does."""
        body = await request.aread() if request.method == "POST" else b""
        url = str(request.url)
        sent = outgoing(request.method, url, request.headers, body, self.trusted)
        if sent is None:
            return await self._transport.handle_async_request(request)
        with policy_call(sent.request) as call:
            exchange = _Exchange(sent, request, call)
            response = await self._send(exchange)
            if exchange.refused(response):
                await response.aclose()
                response = await self._send(exchange)
            if (answer := exchange.answer(response)) is None:
                return response
            if self._recovers and sent.has_tools:
                body = b"".join([piece async for piece in _async_pieces(response)])
                await response.aclose()
                return exchange.refined(body, response, answer)
            response.stream = _AsyncCopied(response.stream, answer)
            return response

    async def _send(self, exchange: _Exchange) -> httpx.Response:
        token = await anyio.to_thread.run_sync(_token, exchange.sent)
        return await self._transport.handle_async_request(exchange.request(token))

    async def aclose(self) -> None:
        """Close what sends, where it is owned."""
        if self._owned:
            await self._transport.aclose()


class _Copied(httpx.SyncByteStream):
    """An answer's bytes as they come, and a copy of them."""

    def __init__(self, stream: Any, answer: Answer) -> None:
        self._stream = stream
        self._answer = answer

    def __iter__(self) -> Iterator[bytes]:
        with self._answer.failing():
            for piece in self._stream:
                self._answer.read(piece)
                yield piece
        self._answer.end()

    def close(self) -> None:
        self._stream.close()
        self._answer.end()


class _AsyncCopied(httpx.AsyncByteStream):
    """As `_Copied`, of an asynchronous client."""

    def __init__(self, stream: Any, answer: Answer) -> None:
        self._stream = stream
        self._answer = answer

    async def __aiter__(self) -> AsyncIterator[bytes]:
        with self._answer.failing():
            async for piece in self._stream:
                self._answer.read(piece)
                yield piece
        self._answer.end()

    async def aclose(self) -> None:
        await self._stream.aclose()
        self._answer.end()


def _pieces(response: httpx.Response) -> Iterator[bytes]:
    return iter(cast("Iterable[bytes]", response.stream))


def _async_pieces(response: httpx.Response) -> AsyncIterator[bytes]:
    return aiter(cast("AsyncIterable[bytes]", response.stream))


def _token(sent: Outgoing) -> str | None:
    """A token where one is due."""
    return None if sent.region is None else TOKENS.get(sent.region)


_Client = TypeVar("_Client", httpx.Client, httpx.AsyncClient)


def wrap_http_client(
    client: _Client, *, trusted: Iterable[str] = (), recover_tool_calls: bool = False
) -> _Client:
    """A copy of a client whose policy calls carry the rollout that makes them.

    Args:
        client: an `httpx.Client` or an `httpx.AsyncClient`. Its connections are shared: it closes
            them, and the copy does not.
        trusted: endpoints that a payload may name beside AWS's.
        recover_tool_calls: see `RolloutTransport`.

    Raises:
        UnsupportedClient: another client, one of httpx2 too.
    """
    return copied_client(
        client, trusted=trusted, recover_tool_calls=recover_tool_calls, owned=False
    )


def copied_client(
    client: _Client, *, trusted: Iterable[str], recover_tool_calls: bool, owned: bool
) -> _Client:
    """As `wrap_http_client`.

    Args:
        client: see there.
        trusted: likewise.
        recover_tool_calls: likewise.
        owned: whether its connections are closed with the copy.
    """
    if not isinstance(client, httpx.Client | httpx.AsyncClient):
        raise UnsupportedClient(
            "a client of httpx can be wrapped, httpx.Client or httpx.AsyncClient, and not "
            f"{type(client).__module__}.{type(client).__name__}"
        )
    kind: Any = RolloutTransport if isinstance(client, httpx.Client) else AsyncRolloutTransport
    options = {"trusted": tuple(trusted), "recover_tool_calls": recover_tool_calls, "owned": owned}

    def around(transport: Any) -> Any:
        done = transport is None or isinstance(transport, kind)
        return transport if done else kind(transport, **options)

    made = copy.copy(client)
    own = vars(made)
    own["wrapped"] = client  # OpenAI's own closes itself when nobody holds it any more
    own["_transport"] = around(own["_transport"])
    own["_mounts"] = {where: around(each) for where, each in own["_mounts"].items()}
    made.event_hooks = client.event_hooks
    return made


def recording_client(client: Any) -> Any:
    """A copy of a client inside a model that makes policy calls: each attempt is in the record.

    The model begins the call, and this sees what OpenAI's client hides: attempts that failed, each
    with a span id of its own, and the answer as it was sent, with its token ids.

    Args:
        client: of OpenAI's; one that is not of httpx is returned as it is, and its calls are
            recorded as the model reads them.
    """
    if isinstance(client, httpx.Client | httpx.AsyncClient):
        made: Any = wrap_http_client(client)  # type: ignore[type-var]
        return made
    return client


def rollout_http_client(
    *, trusted: Iterable[str] = (), recover_tool_calls: bool = False, **kwargs: Any
) -> httpx.Client:
    """A new client in rollouts.

    Args:
        trusted: endpoints that a payload may name beside AWS's.
        recover_tool_calls: see `RolloutTransport`.
        kwargs: of `httpx.Client`; its hooks are called as ever.
    """
    return copied_client(
        httpx.Client(**kwargs),
        trusted=trusted,
        recover_tool_calls=recover_tool_calls,
        owned=True,
    )


def async_rollout_http_client(
    *, trusted: Iterable[str] = (), recover_tool_calls: bool = False, **kwargs: Any
) -> httpx.AsyncClient:
    """As `rollout_http_client`, of an `httpx.AsyncClient`."""
    return copied_client(
        httpx.AsyncClient(**kwargs),
        trusted=trusted,
        recover_tool_calls=recover_tool_calls,
        owned=True,
    )


IDENTITY: Final = (JOB_HEADER, TRAJECTORY_HEADER, SPAN_HEADER)


class RolloutAuth(httpx.Auth):
    """Authentication of a client, synchronous or not, whose calls belong to rollouts.

    Args:
        trusted: endpoints that a payload may name beside AWS's.

    Raises:
        PolicyFailure, UntrustedEndpoint, UnsupportedCall, CredentialsMissing: at a call, as
            `RolloutTransport`.
    """

    def __init__(self, *, trusted: Iterable[str] = ()) -> None:
        self._trusted = tuple(trusted)

    def sync_auth_flow(
        self, request: httpx.Request
    ) -> Generator[httpx.Request, httpx.Response, None]:
        """Sign the request; again, where its token is refused."""
        began = TOKENS.clock()
        region = self._identify(request)
        if region is not None:
            _sign(request, TOKENS.get(region))
        response = yield request
        if region is not None and response.status_code in REFUSED:
            TOKENS.renew(began)
            _sign(request, TOKENS.get(region))
            yield request

    async def async_auth_flow(
        self, request: httpx.Request
    ) -> AsyncGenerator[httpx.Request, httpx.Response]:
        """As `sync_auth_flow`; a token is minted on a thread."""
        began = TOKENS.clock()
        region = self._identify(request)
        if region is not None:
            _sign(request, await anyio.to_thread.run_sync(TOKENS.get, region))
        response = yield request
        if region is not None and response.status_code in REFUSED:
            TOKENS.renew(began)
            _sign(request, await anyio.to_thread.run_sync(TOKENS.get, region))
            yield request

    def _identify(self, request: httpx.Request) -> str | None:
        """Put the rollout's headers on a request; the region that a token is due for."""
        url = str(request.url)
        sent = outgoing(request.method, url, request.headers, b"", self._trusted)
        if sent is None:
            return None
        require_time()
        for name in IDENTITY:
            if name in sent.headers:
                request.headers[name] = sent.headers[name]
        return sent.region if url == sent.url else None


def _sign(request: httpx.Request, token: str) -> None:
    request.headers["Authorization"] = f"Bearer {token}"
