"""Headers and tokens of a rollout where another's transport sends: an `httpx.Auth`.

It signs each request that calls the policy, and once more where the token is refused. It neither
moves nor changes nor records the call: that takes the transport.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import anyio.to_thread
import httpx

from reward_functions.rollouts.episode.episode import SPAN_HEADER
from reward_functions.rollouts.policy.calls import require_time
from reward_functions.rollouts.policy.outgoing import REFUSED, TOKENS, outgoing
from reward_functions.rollouts.request.headers import JOB_HEADER, TRAJECTORY_HEADER

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Generator, Iterable

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
