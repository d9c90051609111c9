"""Answers to a boto3 client that end: botocore itself reads a body however long and slow it is."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING, Any

from reward_functions.jobs.clients import ca_bundle
from reward_functions.jobs.drivers.openai_api import CONNECT, read_whole

if TYPE_CHECKING:
    from collections.abc import Iterator

    from boto3.session import Session


class _Read:
    """A body that was read, as botocore takes it from a connection."""

    def __init__(self, body: bytes) -> None:
        self._body = body

    def stream(self) -> Iterator[bytes]:
        yield self._body


def bound(
    client: Any, session: Session | None, *, seconds: float, most: int, connections: int
) -> None:
    """Let a client fail with an `HTTPClientError` where a body is too large or too slow.

    Its requests are sent as botocore sends them: signed, verified, through the proxy of the
    environment.

    Args:
        client: of boto3.
        session: whose certificates are trusted.
        seconds: from a request to the last byte of its answer.
        most: bytes of a body.
        connections: open at once, at most.
    """
    from botocore.awsrequest import AWSResponse  # noqa: PLC0415 - 0.2 s
    from botocore.exceptions import HTTPClientError  # noqa: PLC0415
    from botocore.httpsession import URLLib3Session  # noqa: PLC0415
    from botocore.utils import get_environ_proxies  # noqa: PLC0415
    from urllib3.exceptions import HTTPError  # noqa: PLC0415

    http = URLLib3Session(
        verify=ca_bundle(session) or True,
        proxies=get_environ_proxies(client.meta.endpoint_url),
        timeout=(CONNECT, seconds),
        max_pool_connections=connections,
    )

    def send(request: Any, **_: Any) -> Any:
        end = monotonic() + seconds
        request.stream_output = True
        response = http.send(request)
        try:
            body = read_whole(response.raw, end, most)
        except HTTPError as error:
            raise HTTPClientError(request=request, error=error) from None
        return AWSResponse(response.url, response.status_code, response.headers, _Read(body))

    client.meta.events.register("before-send", send)
