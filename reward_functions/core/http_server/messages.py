"""A request that has arrived, and what it is answered."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


class Request(NamedTuple):
    """A request that has arrived.

    Args:
        method: "GET" or "POST".
        path: without the query.
        query: without its question mark.
        headers: names in lower case.
        body: empty of a GET.
        gone: whether its sender has closed the connection since.
    """

    method: str
    path: str
    query: str
    headers: Mapping[str, str]
    body: bytes = b""
    gone: Callable[[], bool] = lambda: False


class Reply(NamedTuple):
    """What is answered: JSON, or a body in pieces.

    Args:
        status: of HTTP; 0 closes the connection without an answer.
        content: JSON data; or an iterator of bytes, each sent as it is there. A generator is closed
            where its receiver goes away. One that raises cuts the connection, so that nobody takes
            what was sent for the whole.
        headers: further ones; pieces go in chunks unless there is a Content-Length.
    """

    status: int
    content: Any
    headers: Mapping[str, str] = {}


class Refused(Exception):
    """A request that is not served. The message is one sentence for its sender.

    Args:
        status: of HTTP.
        message: the sentence.
        headers: further ones.
    """

    def __init__(self, status: int, message: str, **headers: str) -> None:
        super().__init__(message)
        self.status = status
        self.headers = {name.replace("_", "-"): value for name, value in headers.items()}
