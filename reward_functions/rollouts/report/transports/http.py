"""One request over pooled connections, in its time, with a bounded reply.

All transports send through it. The modelled one does so too: botocore's own sending waits as long
as a client was configured to, for every call, and reads whatever comes. A redirect is a reply like
any other and never followed: the credential would travel with it.

Proxies and CA bundles are those of the environment, as botocore reads them. A status counts as soon
as it is there, even where the body behind it is too long, too slow, or cut off.

A server that sends its status line byte by byte can exceed a timeout; nobody but a trusted endpoint
is ever asked.
"""

from __future__ import annotations

import os
import socket
from dataclasses import dataclass, field
from functools import lru_cache
from threading import Lock
from time import monotonic
from typing import TYPE_CHECKING, Any, Final

from reward_functions.rollouts.report.transports import NoReply

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

LARGEST: Final = 64 * 1024
"""Bytes of a reply that are read: an error has a message of at most 1,024 characters."""

CHUNK: Final = 16 * 1024

LIMITS: Final = (0.25, 1.0, 2.0, 5.0, 10.0, 30.0)
"""Seconds of a request. A pool of botocore has one limit for all its requests, so there is a pool
for each of these, and a request takes the longest that fits."""

SHORTEST: Final = LIMITS[0]
"""Seconds below which nothing is sent."""

CONNECT: Final = 3.0
"""Seconds to a connection, at most; a third of a request's limit where that is less."""

URLS: Final = 64
"""Whose proxies are remembered for the life of a transport, as botocore does for a client's."""

CONNECTIONS: Final = 64
"""Kept open to one host: rollouts that end together, of one process."""

NO_DELAY: Final = [(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)]
"""Headers and body leave as two segments: without it the second waits 40 ms for the first's
acknowledgement. botocore takes urllib3's own setting away."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A reply as it came.

    Args:
        status: of HTTP.
        headers: names in any case.
        body: its first bytes.
    """

    status: int
    headers: Mapping[str, str] = field(repr=False)
    body: bytes = field(default=b"", repr=False)


class Http:
    """Sends requests; shared by threads.

    Args:
        ca_bundle: gives the path of a bundle, or None for REQUESTS_CA_BUNDLE or botocore's own.
    """

    def __init__(self, ca_bundle: Callable[[], str | None] = lambda: None) -> None:
        self._ca_bundle = ca_bundle
        self._lock = Lock()
        self._pools: dict[tuple[Any, ...], Any] = {}
        self._proxies = lru_cache(maxsize=URLS)(_proxies)

    def post(self, url: str, headers: Mapping[str, str], body: str, *, timeout: float) -> Answer:
        """Post a body; see `send`."""
        from botocore.awsrequest import AWSRequest  # noqa: PLC0415 - takes 0.1 seconds

        request = AWSRequest(method="POST", url=url, data=body.encode(), headers=dict(headers))
        return self.send(request.prepare(), timeout=timeout)

    def send(self, request: Any, *, timeout: float) -> Answer:
        """Send a request of botocore's once.

        Args:
            request: an `AWSPreparedRequest`, signed.
            timeout: seconds, of which at least `SHORTEST` are taken.

        Raises:
            NoReply: no status came.
        """
        from botocore.exceptions import BotoCoreError, HTTPClientError  # noqa: PLC0415

        limit = max((each for each in LIMITS if each <= timeout), default=SHORTEST)
        end = monotonic() + limit
        request.stream_output = True  # the body is read here, and only so much of it
        try:
            response = self._pool(request.url, limit).send(request)
        except HTTPClientError as error:
            raise NoReply(type(error).__name__) from None
        except BotoCoreError as error:  # a connection that was never made, TLS included
            raise NoReply(type(error).__name__, sent=False) from None
        return Answer(response.status_code, dict(response.headers), _read(response.raw, end))

    def _pool(self, url: str, limit: float) -> Any:
        """The pool for a limit and the proxies of a URL."""
        from botocore.httpsession import URLLib3Session  # noqa: PLC0415

        proxies = self._proxies(url)
        key = limit, *sorted(proxies.items())
        with self._lock:
            if key not in self._pools:
                connect = min(CONNECT, limit / 3)
                self._pools[key] = URLLib3Session(
                    verify=self._ca_bundle() or os.environ.get("REQUESTS_CA_BUNDLE") or True,
                    proxies=proxies,
                    timeout=(connect, limit - connect),
                    max_pool_connections=CONNECTIONS,
                    socket_options=NO_DELAY,
                )
            return self._pools[key]


def _proxies(url: str) -> dict[str, str]:
    """The environment's proxies for a URL: asking for them takes a tenth of a report's time."""
    from botocore.utils import get_environ_proxies  # noqa: PLC0415 - takes 0.1 seconds

    return dict(get_environ_proxies(url))


def _read(raw: Any, end: float) -> bytes:
    """What comes of a body in its time; a connection that is not read to its end is closed."""
    from urllib3.exceptions import HTTPError  # noqa: PLC0415

    body = bytearray()
    try:
        while len(body) < LARGEST and monotonic() < end:
            chunk = raw.read1(CHUNK)
            if not chunk:
                raw.release_conn()
                return bytes(body)
            body += chunk
    except HTTPError:
        pass  # the status came, and says what became of the report
    raw.close()
    return bytes(body)
