"""The same on AgentCore's own app: a lifespan that waits, and two middlewares.

One refuses bodies that are not strict, the other what a web page can cause, where `run` bound the
app to loopback. A server that is given the app, such as `uvicorn my_agent:app`, does not say where
it is bound, and gets foreign Hosts where it is in a container: it looks at none.

Everything else is `BedrockAgentCoreApp`'s: contexts, `/ping`, web sockets, middleware, streaming.
"""

from __future__ import annotations

import asyncio
import inspect
import warnings
from contextlib import asynccontextmanager
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final

from reward_functions.core.extras import require

require("bedrock_agentcore", by=__name__)

with warnings.catch_warnings():
    # Its models are declared as pydantic 1 had it, and whoever raises warnings could not start.
    warnings.simplefilter("ignore", DeprecationWarning)
    from bedrock_agentcore.runtime import BedrockAgentCoreApp
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.responses import JSONResponse

from reward_functions.core.local_requests import Refusal, is_loopback_address, refusal_of
from reward_functions.rollouts.episode.background import Background, is_async
from reward_functions.rollouts.request.errors import BadRequest
from reward_functions.rollouts.request.threads import in_thread
from reward_functions.rollouts.serve.agentcore.own_host import (
    REFUSALS,
    address_of,
    named_as,
    read_body,
    status_of,
)
from reward_functions.rollouts.serve.agentcore.results import LARGEST
from reward_functions.rollouts.serve.app import GRACE_SECONDS, PORT

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Sequence
    from concurrent.futures import Future
    from threading import Event


POLICY_VIOLATION: Final = 1008
"""Of a web socket (RFC 6455, section 7.4.1)."""


class BedrockHost(BedrockAgentCoreApp):
    """An app on AgentCore's SDK.

    Args:
        executor: where agents run.
        grace: seconds that they may go on once the process is asked to end.
        lifespan: as the base class takes it.
        middleware: likewise.
        options: likewise.

    Attributes:
        bound: the address that `run` binds; "" where another server runs the app.
    """

    def __init__(
        self,
        *,
        executor: Background | None = None,
        grace: float = GRACE_SECONDS,
        lifespan: Any = None,
        middleware: Sequence[Any] | None = None,
        **options: Any,
    ) -> None:
        self.executor = executor or Background()
        self.grace = grace
        self.bound = ""
        super().__init__(
            lifespan=self._until_drained(lifespan),
            middleware=[
                Middleware(LocalRequests, host=lambda: self.bound),
                Middleware(StrictBodies),
                *(middleware or ()),
            ],
            **options,
        )

    def run(self, port: int = PORT, host: str | None = None, **options: Any) -> None:
        """Serve until SIGTERM or SIGINT.

        Args:
            port: as the base class takes it.
            host: all addresses in a container, else loopback.
            options: of uvicorn.
        """
        self.bound = address_of(host)
        super().run(port=port, host=self.bound, **options)

    def register(
        self, begin: Callable[[Any, Any], Future[Any] | None], function: Callable[..., Any]
    ) -> Callable[..., Any]:
        """Answer requests by what `begin` returns; where that is None, by a function."""
        takes = 2 if self._takes_context(function) else 1

        async def answer(payload: Any, context: Any) -> Any:
            try:
                future = await in_thread(begin, payload, context)
                if future is not None:
                    # Whoever hangs up cancels the waiting, and never the work.
                    return await asyncio.shield(asyncio.wrap_future(future))
            except REFUSALS as error:
                raise HTTPException(status_of(error), str(error)) from None
            return await _ordinary(function, (payload, context)[:takes])

        named_as(function, answer)
        super().entrypoint(answer)
        return function

    def drain(self, grace: float, hurried: Event | None = None) -> None:
        """End what runs; an app says how."""

    def _until_drained(self, inner: Any) -> Any:
        @asynccontextmanager
        async def lifespan(app: Any) -> AsyncIterator[Any]:
            if inner is None:
                yield
            else:
                async with inner(app) as given:
                    yield given
            await asyncio.to_thread(self.drain, self.grace)
            self.executor.close()

        return lifespan


async def _ordinary(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    """What a function of any form returns; a generator is streamed by the base class."""
    if inspect.isasyncgenfunction(function):
        return function(*arguments)
    if is_async(function):
        return await function(*arguments)
    return await asyncio.to_thread(function, *arguments)


class LocalRequests:
    """Refuses what a web page can cause at an app on loopback: an ASGI middleware.

    Args:
        app: that is asked by everybody else.
        host: the address that the app is bound to; "" where nobody knows it.
    """

    def __init__(self, app: Any, host: Callable[[], str]) -> None:
        self._app, self._host = app, host

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Pass on what is this machine's own."""
        refusal = self._refusal(scope) if scope["type"] in {"http", "websocket"} else None
        if refusal is None:
            await self._app(scope, receive, send)
        elif scope["type"] == "http":
            refused = JSONResponse({"error": refusal.sentence}, refusal.status)
            await refused(scope, receive, send)
        else:
            await send({"type": "websocket.close", "code": POLICY_VIOLATION})

    def _refusal(self, scope: Any) -> Refusal | None:
        host = self._host()
        if not is_loopback_address(host):
            return None
        headers = (
            (name.decode("latin-1"), text.decode("latin-1")) for name, text in scope["headers"]
        )
        return refusal_of(headers, (host, scope["server"][1]))


class StrictBodies:
    """Refuses a body that is no strict JSON object, before anything runs: an ASGI middleware."""

    def __init__(self, app: Any) -> None:
        self._app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Pass on what is strict, whole."""
        if scope["type"] != "http" or scope["method"] != "POST":
            await self._app(scope, receive, send)
            return
        body = bytearray()
        message = {"type": "http.request", "more_body": True}
        while message.get("more_body") and len(body) <= LARGEST:
            message = await receive()
            body += message.get("body", b"")
        try:
            read_body(bytes(body))
        except BadRequest as error:
            refused = JSONResponse({"error": str(error)}, HTTPStatus.BAD_REQUEST)
            await refused(scope, receive, send)
            return
        whole = [{"type": "http.request", "body": bytes(body), "more_body": False}]

        async def again() -> Any:
            return whole.pop() if whole else await receive()

        await self._app(scope, again, send)
