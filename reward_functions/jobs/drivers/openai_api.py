"""Bedrock's OpenAI-compatible API over HTTP: one request, with its key, its retries and its limits.

    answer                    done about it
    401                       one more try with a new key; then a sentence
    429                       again after what `Retry-After` says, within `LONGEST_PAUSE`
    5xx, no answer            again for GET alone: a job must not be started twice
    a redirection             refused: the key is for this address

Source: AWS's guide to Bedrock, "Create and manage fine-tuning jobs for open-weight models using
OpenAI APIs"; the shape of errors and of lists, OpenAI's API reference.
"""

from __future__ import annotations

import json
import re
from contextlib import suppress
from itertools import count
from secrets import token_hex
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from urllib.parse import quote, urlencode, urlsplit

from reward_functions.aws.failures import ENDED, AwsFailed
from reward_functions.core.loopback import is_loopback
from reward_functions.jobs.clients import require_private
from reward_functions.jobs.drivers.fields import text, within
from reward_functions.jobs.failures import MAX_MESSAGE, MAX_PAGES, REMEDIES, UNREADABLE
from reward_functions.jobs.token import PREFIX

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from urllib3 import BaseHTTPResponse, PoolManager

    from reward_functions.jobs.token import Key, KeySource

MAX_BODY: Final = 16_000_000
"""Bytes of an answer that are read; a page of a hundred events has some tens of thousands."""

MAX_ITEMS: Final = 100_000
"""Of one list."""

MAX_FILE: Final = 512_000_000
"""Bytes of a file (OpenAI's API reference; AWS names no limit)."""

CHUNK: Final = 65_536

SECRET: Final = re.compile(rf"{PREFIX}[A-Za-z0-9+/=_-]*")
"""A key of ours, also an earlier one, or a part of one."""

ATTEMPTS: Final = 4
FIRST_PAUSE: Final = 1.0
LONGEST_PAUSE: Final = 60.0
"""Seconds between two tries."""

CONNECT: Final = 10.0
READ: Final = 60.0
UPLOAD: Final = 600.0
"""Seconds: for a connection, for an answer, and for a file and its answer."""

UNAUTHORIZED: Final = 401
TOO_MANY: Final = 429
SERVERS_OWN: Final = 500

CODES: Final = {
    400: "ValidationException",
    401: "UnrecognizedClientException",
    403: "AccessDeniedException",
    404: "ResourceNotFoundException",
    409: "ConflictException",
    413: "RequestEntityTooLargeException",
    422: "ValidationException",
    429: "ThrottlingException",
}
"""AWS's names of the same failures, which `AwsFailed` knows."""

WORDS: Final = REMEDIES | {
    "AccessDeniedException": (
        "not allowed: {message}; the caller needs the policy of `jobs`, and the right to invoke "
        "the grader"
    ),
    "RequestEntityTooLargeException": "too large for the service: {message}",
}

IDENTIFIER: Final = re.compile(r"(?!.*\.\.)(?=.*[A-Za-z0-9])[A-Za-z0-9._:/+-]{1,512}")
"""What may stand in a path: nothing that leads out of it."""

FILE_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,199}")


class Request(NamedTuple):
    """One request. `body` makes its content anew for each try; `length` is that of a stream."""

    method: str
    path: str
    what: str
    query: Mapping[str, str | int] = {}
    body: Callable[[], Any] | None = None
    kind: str = "application/json"
    length: int | None = None
    patience: float = READ


class Api:
    """The API at one address.

    Args:
        base_url: as `clients.openai_base_url` gives it.
        keys: where keys come from.
        ca_bundle: a file of certificates beside the system's own; "" for none.
        pause: waits some seconds.

    Raises:
        BadAddress: the address would carry the key unencrypted, or is none.
    """

    def __init__(
        self,
        base_url: str,
        keys: KeySource,
        *,
        ca_bundle: str = "",
        pause: Callable[[float], object] = sleep,
    ) -> None:
        self._base_url = base_url.rstrip("/")
        self._keys = keys
        self._host = require_private(base_url)
        self._pool = pool_for(base_url, ca_bundle)
        self.pause = pause

    def get(self, what: str, *path: str, **query: str | int) -> dict[str, Any]:
        """An object.

        Raises:
            AwsFailed: refused, failed or not reached, as every method here.
        """
        return self._answer(Request("GET", _path(path), what, query))

    def post(self, what: str, *path: str, body: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Make or change something."""
        sent = json.dumps(body, allow_nan=False).encode() if body is not None else b""
        return self._answer(Request("POST", _path(path), what, body=lambda: sent))

    def delete(self, what: str, *path: str) -> dict[str, Any]:
        """Remove something."""
        return self._answer(Request("DELETE", _path(path), what))

    def listed(self, what: str, *path: str, **query: str | int) -> Iterator[dict[str, Any]]:
        """Every object of a list, page after page, in the service's order.

        Raises:
            AwsFailed: also where the list has no end.
        """
        after: dict[str, str] = {}
        seen = 0
        for _ in range(MAX_PAGES):
            page = self.get(what, *path, **query, **after)
            items = page.get("data")
            if not isinstance(items, list) or not all(isinstance(each, dict) for each in items):
                raise AwsFailed(f"{what}: {UNREADABLE}")
            yield from items
            last = text(items[-1].get("id")) if items else ""
            if page.get("has_more") is not True or not last or {"after": last} == after:
                return
            seen += len(items)
            if seen > MAX_ITEMS:
                break
            after = {"after": last}
        raise AwsFailed(f"{what}: the list does not end")

    def send_file(
        self, file: Path, name: str, progress: Callable[[int], object] | None = None
    ) -> dict[str, Any]:
        """Upload a file for fine-tuning, without holding it in memory.

        Args:
            file: JSONL.
            name: what the service calls it.
            progress: called with the bytes sent since its last call.

        Raises:
            OSError: it cannot be read.
        """
        what = f"uploading {name}"
        size = file.stat().st_size
        if size > MAX_FILE:
            raise AwsFailed(f"{what}: {size:,} bytes, and a file may have {MAX_FILE:,}")
        if not FILE_NAME.fullmatch(name):
            raise AwsFailed(f"{what}: a name is of letters, digits and . _ - alone")
        boundary = token_hex(16)
        before = (
            f'--{boundary}\r\nContent-Disposition: form-data; name="purpose"\r\n\r\nfine-tune\r\n'
            f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n'
            "Content-Type: application/jsonl\r\n\r\n"
        ).encode()
        after = f"\r\n--{boundary}--\r\n".encode()

        def parts() -> Iterator[bytes]:
            yield before
            left = size  # a file that grows meanwhile is sent as it was
            with file.open("rb") as stream:
                while left and (chunk := stream.read(min(CHUNK, left))):
                    yield chunk
                    left -= len(chunk)
                    if progress:
                        progress(len(chunk))
            yield after

        return self._answer(
            Request(
                "POST",
                "/files",
                what,
                body=parts,
                kind=f"multipart/form-data; boundary={boundary}",
                length=len(before) + size + len(after),
                patience=UPLOAD,
            )
        )

    def _answer(self, request: Request) -> dict[str, Any]:
        key, renewed = self._keys(), False
        for attempt in count(1):
            status, headers, body = self._tried(request, key)
            if status == UNAUTHORIZED and not renewed:
                renewed, before = True, key
                key = self._keys.renewed(before)
                if key is not before:
                    continue
            again = status == TOO_MANY or (
                request.method == "GET" and (not status or status >= SERVERS_OWN)
            )
            if not again or attempt >= ATTEMPTS:
                break
            self.pause(wait_of(headers, attempt))
        if not status:
            raise AwsFailed(f"{request.what}: {body.decode()}")
        if 200 <= status < 300:  # noqa: PLR2004 - success, in HTTP
            return _object(request.what, body)
        raise self._refused(request.what, status, body, key)

    def _tried(self, request: Request, key: Key) -> tuple[int, Mapping[str, str], bytes]:
        """Status, headers and body; status 0 where no answer came, and why in place of a body."""
        from urllib3.exceptions import HTTPError, NewConnectionError, SSLError  # noqa: PLC0415

        try:
            return self._sent(request, key)
        except SSLError:
            return 0, {}, f"the certificate of {self._host} cannot be verified".encode()
        except HTTPError as error:
            reason = type(error).__name__
            gone = isinstance(error, NewConnectionError) and is_loopback(self._base_url)
            what_now = ENDED if gone else "try again"
            return 0, {}, f"no whole answer from {self._host} ({reason}); {what_now}".encode()

    def _sent(self, request: Request, key: Key) -> tuple[int, Mapping[str, str], bytes]:
        import urllib3  # noqa: PLC0415 - only who uses this API needs it

        headers = {
            "authorization": f"Bearer {key.secret}",
            "accept": "application/json",
            "accept-encoding": "identity",
        }
        if request.body is not None:
            headers["content-type"] = request.kind
        if request.length is not None:
            headers["content-length"] = str(request.length)
        query = f"?{urlencode(request.query)}" if request.query else ""
        end = monotonic() + request.patience
        response = self._pool.request(
            request.method,
            self._base_url + request.path + query,
            body=request.body() if request.body else None,
            headers=headers,
            timeout=urllib3.Timeout(connect=CONNECT, read=request.patience),
            retries=False,
            redirect=False,
            preload_content=False,
        )
        return response.status, response.headers, read_whole(response, end, MAX_BODY)

    def _refused(self, what: str, status: int, body: bytes, key: Key) -> AwsFailed:
        code = CODES.get(status, f"HTTP {status}")
        if status == UNAUTHORIZED:
            return AwsFailed(f"{what}: {self._keys.remedy}", code)
        if status >= SERVERS_OWN:
            code = "InternalServerException"
        message = ""
        with suppress(AwsFailed):
            error = within(_object(what, body), "error")
            message = text(error, MAX_BODY) or text(within(error, "message"), MAX_BODY)
        message = without(key, message)[:MAX_MESSAGE] or f"HTTP {status}"
        words = WORDS.get(code, "the service answers {message}")
        return AwsFailed(f"{what}: {words.format(message=message)}", code)


def identifier(value: str, what: str) -> str:
    """What a service calls something, where it can stand in a path.

    Raises:
        AwsFailed: it cannot.
    """
    if not IDENTIFIER.fullmatch(value):
        raise AwsFailed(f"{what}: {UNREADABLE}")
    return value


def _path(parts: tuple[str, ...]) -> str:
    return "".join(f"/{quote(part, safe='')}" for part in parts)


def pool_for(base_url: str, ca_bundle: str) -> PoolManager:
    """Connections that verify certificates, through the proxy of the environment where it has one.

    The interface of this machine alone is reached directly.
    """
    import urllib3  # noqa: PLC0415
    from botocore.utils import get_environ_proxies  # noqa: PLC0415 - 100 ms

    options: dict[str, Any] = {"cert_reqs": "CERT_REQUIRED"}
    if ca_bundle:
        options["ca_certs"] = ca_bundle
    scheme = urlsplit(base_url).scheme
    proxy = None if is_loopback(base_url) else get_environ_proxies(base_url).get(scheme)
    if proxy:
        return urllib3.ProxyManager(proxy if "://" in proxy else f"http://{proxy}", **options)
    return urllib3.PoolManager(**options)


def read_whole(response: BaseHTTPResponse, end: float, most: int) -> bytes:
    """The whole body, after which the connection is free; it is closed where the body is not whole.

    Args:
        response: without its body.
        end: when it must be there, by `monotonic`.
        most: bytes of it.

    Raises:
        HTTPError: it is too large, late, or cut off.
    """
    from urllib3.exceptions import HTTPError  # noqa: PLC0415

    body = bytearray()
    try:
        while chunk := response.read1(CHUNK):
            body += chunk
            if len(body) > most or monotonic() >= end:
                raise HTTPError("too large, or too slow")  # noqa: TRY301
        announced = response.headers.get("content-length", "")
        if announced != str(len(body)) and announced.isdigit():  # which `read` checks, not `read1`
            raise HTTPError("cut off")  # noqa: TRY301
    except HTTPError:
        response.close()  # a half-read connection is of no use to the next call
        raise
    response.release_conn()
    return bytes(body)


def without(key: Key, message: str) -> str:
    """A message of a service, which may repeat the key that it was sent, or the end of one.

    A key is a signed request in Base64: what follows its prefix is never shown.
    """
    return SECRET.sub("(the key)", message.replace(key.secret, "(the key)"))


def _object(what: str, body: bytes) -> dict[str, Any]:
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise AwsFailed(f"{what}: {UNREADABLE}")
    return found


def wait_of(headers: Mapping[str, str], attempt: int) -> float:
    """Seconds until the next try: the service's own wish, or twice as long each time."""
    wish = headers.get("retry-after", "")
    asked = float(wish) if re.fullmatch(r"[0-9]{1,6}(?:\.[0-9]{1,6})?", wish) else 0.0
    return min(LONGEST_PAUSE, asked or FIRST_PAUSE * 2 ** (attempt - 1))
