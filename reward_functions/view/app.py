"""The server: starlette and uvicorn, on loopback alone, which answers what is read and no more.

| what comes | what is answered |
| --- | --- |
| a Host that is not loopback's, a page of the web | 403, as `core.local_requests` says |
| another method than GET and HEAD | 405 |
| an address of no result | 404, one sentence |
| a result that cannot be read | 422, one sentence |

No answer may be framed, cached, or load anything. A page of the folder runs and sends nothing.
"""

from __future__ import annotations

import logging
import socket
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlencode

from reward_functions.core.extras import require
from reward_functions.core.local_requests import refusal_of
from reward_functions.view.library import Library, NoFolder, Unknown
from reward_functions.view.reading import UNREADABLE, unreadable
from reward_functions.view.shown import (
    Links,
    entry_page,
    kit_policy,
    list_asked,
    list_page,
    problem_page,
    row_page,
    rows_asked,
)

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, MutableMapping

    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response

    from reward_functions.core.local_requests import Refusal

    Message = MutableMapping[str, Any]

HOST: Final = "127.0.0.1"
"""Where it listens, and nowhere else."""

PATIENCE: Final = 1.5
"""Seconds that a list reads files before it is shown without the rest."""

LONGER: Final = 5.0
"""The same of the page of a result."""

AGAIN: Final = 5
"""Seconds after which what is being written is shown anew."""

LIVELY: Final = 60.0
"""Seconds after the last change of a file in which further ones are waited for."""

SOON: Final = 1
"""The same of what is being read."""

POLICY: Final = f"{kit_policy()}; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
"""That of this project's pages, and nothing of another site around them."""

STRICTER: Final = POLICY.replace("form-action 'self'", "form-action 'none'")
"""Of a page that lies in the folder. A sandbox would make its links those of another site."""

HEADERS: Final = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}

NOT_FOUND: Final = 404
NOT_READ: Final = 422

DIGITS: Final = 12
"""Of the number of a row that are read."""

EXTRA: Final = ("starlette", "uvicorn")


@dataclass(frozen=True)
class ServedLinks(Links):
    """Addresses of the server."""

    home: str = "/"
    first: str = "/"
    form: bool = True

    def page(self, slug: str, **asked: Any) -> str:
        """As `Links` says."""
        return f"/results/{slug}" + (f"?{urlencode(asked)}" if asked else "")


LINKS: Final = ServedLinks()


class GuardedApp:
    """An application that web pages cannot reach, whose answers load nothing.

    Args:
        app: of ASGI.
        bound: where the server listens, as `socket.getsockname` has it.
    """

    def __init__(self, app: Any, bound: tuple[str, int]) -> None:
        self._app, self._bound = app, bound

    async def __call__(
        self,
        scope: Message,
        receive: Callable[[], Awaitable[Message]],
        send: Callable[[Message], Awaitable[None]],
    ) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            return
        headers = [
            (name.decode("latin-1"), value.decode("latin-1")) for name, value in scope["headers"]
        ]
        refusal = refusal_of(headers, self._bound)
        if refusal is not None:
            await _plain(refusal)(scope, receive, send)
            return
        await self._app(scope, receive, send)


def viewer(
    library: Library,
    bound: tuple[str, int],
    *,
    patience: float = PATIENCE,
    longer: float = LONGER,
) -> Any:
    """The application of a folder's results.

    Args:
        library: of the folder.
        bound: where the server listens.
        patience: seconds that a list reads files before it is shown.
        longer: the same of the page of a result.

    Raises:
        MissingExtra: starlette or uvicorn is not installed.
    """
    require(*EXTRA, by="reward view")
    pages = ViewerPages(library, patience, longer)
    return GuardedApp(pages.application(), bound)


class ViewerPages:
    """The answers of a viewer, by address.

    Args:
        library: the results.
        patience: seconds that a list reads files before it is shown.
        longer: the same of the page of a result.
    """

    def __init__(self, library: Library, patience: float, longer: float) -> None:
        self._library = library
        self._patience, self._longer = patience, longer

    def listed(self, request: Request) -> Response:
        """The list."""
        try:
            found = self._library.listing(_enough(self._patience))
        except NoFolder as error:
            return _problem(str(error), NOT_FOUND)
        html = list_page(found, list_asked(request.query_params), LINKS, str(self._library.folder))
        since = self._library.clock() - LIVELY
        entries = found.entries
        live = not entries or any(each.facts.progress or each.time > since for each in entries)
        return _answer(html, again=SOON if found.reading else AGAIN if live else 0)

    def shown(self, request: Request) -> Response:
        """A result, or one of its rows."""
        try:
            with self._library.lock:
                return self._shown(request)
        except (Unknown, NoFolder) as error:
            return _problem(str(error), NOT_FOUND)
        except UNREADABLE as error:
            return _problem(unreadable(error), NOT_READ)

    def _shown(self, request: Request) -> Response:
        entry, result = self._library.opened(request.path_params["slug"], _enough(self._longer))
        given, progress = request.query_params, entry.facts.progress
        row = given.get("row", "")[:DIGITS]
        if (
            row.isascii()
            and row.isdigit()
            and (html := row_page(result, int(row) - 1, entry, LINKS))
        ):
            return _answer(html)
        whole = True if given.get("figures") == "1" else None
        return _answer(
            entry_page(entry, result, rows_asked(given), LINKS, whole=whole),
            again=0 if not progress else SOON if progress.startswith("reading") else AGAIN,
            policy=STRICTER if entry.kind == "page" else POLICY,
        )

    def application(self) -> Starlette:
        """Of starlette."""
        from starlette.applications import Starlette  # noqa: PLC0415 - of the extra
        from starlette.routing import Route  # noqa: PLC0415

        routes = [Route("/", self.listed), Route("/results/{slug}", self.shown)]
        return Starlette(routes=routes, exception_handlers={404: _refused, 405: _refused})


def _answer(html: str, status: int = 200, *, again: int = 0, policy: str = POLICY) -> Response:
    from starlette.responses import HTMLResponse  # noqa: PLC0415 - of the extra

    headers = HEADERS | {"Content-Security-Policy": policy}
    headers |= {"Refresh": str(again)} if again else {}
    return HTMLResponse(html.encode("utf-8", "replace"), status, headers)


def _plain(refusal: Refusal) -> Response:
    from starlette.responses import PlainTextResponse  # noqa: PLC0415 - of the extra

    return PlainTextResponse(f"{refusal.sentence}\n", refusal.status, HEADERS)


def _problem(words: str, status: int) -> Response:
    return _answer(problem_page(words, LINKS), status)


def _refused(_: Request, error: Exception) -> Response:
    status = int(getattr(error, "status_code", NOT_FOUND))
    return _problem(
        "there is no such page" if status == NOT_FOUND else "results are read here alone", status
    )


def _enough(seconds: float) -> Callable[[], bool]:
    end = monotonic() + seconds
    return lambda: monotonic() >= end


@dataclass(frozen=True, slots=True)
class Serving:
    """A server that is bound and not begun.

    Args:
        app: of ASGI.
        socket: bound to loopback.
    """

    app: Any
    socket: socket.socket

    @property
    def url(self) -> str:
        """Of the list."""
        host, port = self.socket.getsockname()[:2]
        return f"http://{host}:{port}/"

    def run(self) -> None:
        """Answer until Ctrl-C, or a signal to end."""
        import uvicorn  # noqa: PLC0415 - of the extra

        # Half a line is no news of a file that is being written.
        logging.getLogger("reward_functions.rollouts").setLevel(logging.ERROR)
        config = uvicorn.Config(
            self.app,
            access_log=False,
            lifespan="off",
            limit_concurrency=64,
            log_level="warning",
            server_header=False,
            timeout_graceful_shutdown=2,
            timeout_keep_alive=5,
        )
        with suppress(KeyboardInterrupt):
            uvicorn.Server(config).run(sockets=[self.socket])


def serving_of(library: Library, port: int) -> Serving:
    """A server of a folder's results, bound to loopback.

    Args:
        library: of the folder.
        port: where it listens; 0 for a free one.

    Raises:
        MissingExtra: starlette or uvicorn is not installed.
        OSError: the port is taken.
    """
    require(*EXTRA, by="reward view")
    with ExitStack() as opened:
        bound = opened.enter_context(socket.socket(socket.AF_INET, socket.SOCK_STREAM))
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind((HOST, port))
        bound.listen()
        host, number = bound.getsockname()
        made = Serving(viewer(library, (host, number)), bound)
        opened.pop_all()
        return made
