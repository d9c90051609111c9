"""Objects of a double's buckets, by `/BUCKET/KEY`: put, looked at, read, and taken out."""

from __future__ import annotations

from http import HTTPStatus
from threading import Lock
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote
from xml.sax.saxutils import escape

if TYPE_CHECKING:
    from reward_functions.local.loopback_service.requests import Request
    from reward_functions.local.loopback_service.server import Reply

XML: Final = {"Content-Type": "application/xml"}


class Bucket:
    """Objects by bucket and key."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._objects: dict[str, bytes] = {}

    def put(self, bucket: str, key: str, body: bytes, *, new: bool = False) -> bool:
        """Keep an object; whether it was kept: with `new`, only where there is none."""
        with self._lock:
            if new and f"{bucket}/{key}" in self._objects:
                return False
            self._objects[f"{bucket}/{key}"] = body
            return True

    def get(self, bucket: str, key: str) -> bytes | None:
        """An object; None where there is none."""
        with self._lock:
            return self._objects.get(f"{bucket}/{key}")

    def keys(self) -> list[str]:
        """`BUCKET/KEY` of all of them."""
        with self._lock:
            return sorted(self._objects)

    def reply(self, request: Request) -> Reply:
        """The answer to a request of S3."""
        bucket, _, key = unquote(request.path).lstrip("/").partition("/")
        match request.method:
            case "PUT":
                new = request.header("if-none-match") == "*"
                if self.put(bucket, key, request.body, new=new):
                    return HTTPStatus.OK, {"ETag": '"0"'}, b""
                return refused(HTTPStatus.PRECONDITION_FAILED, "PreconditionFailed")
            case "GET" | "HEAD":
                body = self.get(bucket, key)
                if body is None:
                    return refused(HTTPStatus.NOT_FOUND, "NoSuchKey")
                return HTTPStatus.OK, {"Content-Type": "application/json"}, body
            case _:
                with self._lock:
                    self._objects.pop(f"{bucket}/{key}", None)
                return HTTPStatus.NO_CONTENT, {}, b""


def refused(status: HTTPStatus, code: str) -> Reply:
    """As S3 refuses."""
    return status, XML, f"<Error><Code>{escape(code)}</Code></Error>".encode()
