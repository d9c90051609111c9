"""An agent behind HTTP: `/invocations` of AgentCore's contract, `/rollout` of the platform's guide.

Redirects are not followed. An agent may still be starting, so that a connection is tried again for
a while; when nobody has answered by then, nobody is there. A request that was sent is never sent
again: an agent would run the same rollout twice.

The body of an HTTP response of somebody who may send too much, or for too long.
"""

from __future__ import annotations

import os
from contextlib import suppress
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit, urlunsplit

from reward_functions.core.errors import ConfigurationError
from reward_functions.core.loopback import is_loopback
from reward_functions.rollouts.drive.agents import LARGEST, AgentAnswer, answer_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from reward_functions.rollouts.request.contract import RolloutRequest


def body_of(response: Any, most: int, end: float) -> bytes:
    """As much of a body as is wanted, in the time there is.

    A timeout of a socket begins anew with each byte; this one does not.

    Args:
        response: of urllib3, its body not read yet.
        most: bytes that are read.
        end: when no more is waited for, in monotonic seconds.

    Raises:
        urllib3.exceptions.HTTPError: the body breaks off, or cannot be decoded.
    """
    content = bytearray()
    while len(content) < most and monotonic() < end:
        piece = response.read1(most - len(content))
        if not piece:
            break
        content += piece
    return bytes(content)


ENDPOINT: Final = "RFT_RUNTIME_ENDPOINT"
"""Names the runtime that an agent gives a credential to."""

KEY: Final = "AGENT_API_KEY"
"""The variable of the Lambda forwarder, sent as a bearer token."""

SESSION: Final = "X-Amzn-Bedrock-AgentCore-Runtime-Session-Id"

ROUTE: Final = "/invocations"

CONNECT: Final = 10.0
"""Seconds for one connection."""

STARTING: Final = 30.0
"""Seconds an agent may take to start: what AgentCore allows."""

PAUSE: Final = 0.5
"""Seconds between two connections."""


class HttpAgent:
    """An agent at a URL.

    Args:
        url: with or without a path; without one it is `/invocations`.
        concurrency: connections at once.
        starting: seconds from now in which nobody may answer at all.
        sleep: waits, in seconds.

    Raises:
        ConfigurationError: it is no URL.
    """

    def __init__(
        self,
        url: str,
        *,
        concurrency: int = 64,
        starting: float = STARTING,
        sleep: Callable[[float], object] = sleep,
    ) -> None:
        import urllib3  # noqa: PLC0415 - 50 ms, and not for agents of this process

        self.name = url
        self.local = is_loopback(url)
        self._url = _address(url)
        self._starting, self._sleep = monotonic() + starting, sleep
        self._met = False
        key = os.environ.get(KEY, "")
        self._headers = {"Content-Type": "application/json"}
        if key:
            self._headers["Authorization"] = f"Bearer {key}"
        self._http = urllib3.PoolManager(maxsize=concurrency, retries=False)

    def send(self, request: RolloutRequest, *, timeout: float) -> AgentAnswer:
        """Post a request, once there is a connection.

        Raises:
            ConfigurationError: nobody has ever answered.
        """
        from urllib3.exceptions import (  # noqa: PLC0415
            ConnectTimeoutError,
            HTTPError,
            NewConnectionError,
        )

        end = monotonic() + timeout
        body = request.json().encode()
        while True:
            try:
                answer = self._sent(body, request.metadata.trajectory_id, end)
            except (NewConnectionError, ConnectTimeoutError):
                if self._met:
                    return AgentAnswer("error", "no connection")
                if monotonic() + PAUSE >= min(end, self._starting):
                    raise ConfigurationError(
                        f"nobody answers at {self._url}: start the agent with "
                        f"{ENDPOINT}={request.metadata.endpoint}"
                    ) from None
                self._sleep(PAUSE)
                continue
            except (HTTPError, OSError):
                answer = AgentAnswer("silent")
            self._met = True
            return answer

    def reporting(self, request: RolloutRequest) -> bool:  # noqa: ARG002
        """It may: nobody sees its outbox."""
        return True

    def release(self, request: RolloutRequest) -> None:
        """Nothing is held."""

    def _sent(self, body: bytes, rollout: str, end: float) -> AgentAnswer:
        import urllib3  # noqa: PLC0415

        left = max(0.1, end - monotonic())
        response = self._http.request(
            "POST",
            self._url,
            body=body,
            headers={**self._headers, SESSION: rollout},
            timeout=urllib3.Timeout(connect=min(CONNECT, left), total=left),
            redirect=False,
            preload_content=False,
        )
        try:
            content = body_of(response, LARGEST, end)
        finally:
            response.close() if response.length_remaining else response.release_conn()
        if monotonic() >= end:
            return AgentAnswer("silent")
        return answer_of(response.status, content, wait=_wait(response.headers))


def _address(url: str) -> str:
    try:
        parts = urlsplit(url)
        known = parts.scheme in {"http", "https"} and parts.hostname and (parts.port or 1)
    except ValueError:
        known = None
    if not known:
        raise ConfigurationError(f"{url!r} is not the URL of an agent: http://127.0.0.1:8080")
    path = parts.path if parts.path not in {"", "/"} else ROUTE
    return urlunsplit((parts.scheme, parts.netloc, path, parts.query, ""))


def _wait(headers: Any) -> float:
    with suppress(ValueError):
        return max(0.0, float(headers.get("Retry-After") or 0))
    return 0.0
