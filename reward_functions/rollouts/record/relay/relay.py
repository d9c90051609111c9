"""The relay's server: who may call what, and where it goes.

| route | who | answer |
| --- | --- | --- |
| `POST /v1/chat/completions` | an agent | OpenAI's, whole or streamed |
| `POST /v1/messages` | an agent | Anthropic's, whole or streamed |
| `POST /v1/messages/count_tokens` | an agent | by the engine's tokenizer; 501 where it has none |
| `GET /v1/models` | an agent | the engine's |
| the same below `/sessions/ID` | the agent of that session | the same |
| `POST /sessions` | the owner | 201, its name, URL and key |
| `GET /sessions/ID`, `DELETE /sessions/ID` | the owner | its counts; its trajectory, and it ends |
| `GET /sessions/ID/trace` | the owner | its trajectory so far |
| `GET /health` | anybody | `{"status": "healthy"}` |

An agent sends the key of its session as `Authorization: Bearer` or `x-api-key`; the owner sends the
admin key as a bearer. Without an admin key sessions are made in this process alone.
"""

from __future__ import annotations

import re
from contextlib import contextmanager
from functools import partial
from hmac import compare_digest
from http import HTTPStatus
from threading import Event, Thread
from typing import TYPE_CHECKING, Any, Final

from reward_functions.core.errors import ConfigurationError
from reward_functions.core.http_server.messages import Refused, Reply, Request
from reward_functions.core.http_server.server import Server
from reward_functions.core.local_requests import is_loopback_address
from reward_functions.rollouts.record.completion import Malformed
from reward_functions.rollouts.record.jsonl import written
from reward_functions.rollouts.record.relay.calls import Calls, to_engine
from reward_functions.rollouts.record.relay.dialects import Anthropic, Dialect, OpenAI, error_of
from reward_functions.rollouts.record.relay.engine import (
    CONNECTIONS,
    ENGINES,
    SECONDS,
    Engine,
    EngineFailed,
)
from reward_functions.rollouts.record.relay.sessions import Limits, Session, Sessions
from reward_functions.rollouts.record.relay.wire import read_object
from reward_functions.rollouts.request.api_key import require_key
from reward_functions.rollouts.request.errors import BadRequest, TooBusy

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from reward_functions.rollouts.record.types import Trajectory

LOOPBACK: Final = "127.0.0.1"

LARGEST: Final = 32 * 1024 * 1024
"""Bytes of an agent's request: a context of a million tokens has about 5 MB."""

SWEEP_SECONDS: Final = 5.0
"""How often sessions are looked at that nobody uses."""

IDLE_SECONDS: Final = 300.0
"""How long an agent's connection may stay without a call: its tools take that long."""

HEALTH: Final = ("GET", "/health")

SESSION: Final = re.compile(r"/sessions/([^/]{1,128})(/v1/.*|/trace|)")
"""A path of one session: its name, and the rest."""

ASKED: Final = ("id", "sampling", "ttl", "max_turns", "headers")
"""Fields of a request for a session."""


class Relay:
    """A relay between agents and an inference engine, which keeps tokens by session.

    Args:
        engine: its URL, such as "http://127.0.0.1:8000/v1".
        kind: of the engine: "vllm", "sglang", "openai" or "plain".
        model: as the engine calls it; "" for the one that the agent names.
        token: asked before each call for the engine's bearer token; None for an engine without.
        admin_key: of clients that make sessions over HTTP; "" for nobody.
        limits: what is kept at most.
        seconds: that an answer of the engine may take, in all.
        connections: to the engine at a time; agents may have twice as many here.
        ended: where the trajectory of each session goes that is closed or expires, once: a path, an
            `s3://BUCKET/FOLDER`, or a function; see `TrajectorySink`.

    Raises:
        ConfigurationError: no URL of HTTP, no such kind, a key that cannot stand in a header, or
            `ended` of another form.
    """

    def __init__(
        self,
        engine: str,
        *,
        kind: str = "vllm",
        model: str = "",
        token: Callable[[], str] | None = None,
        admin_key: str = "",
        limits: Limits | None = None,
        seconds: float = SECONDS,
        connections: int = CONNECTIONS,
        ended: str | Path | Callable[[Trajectory], object] | None = None,
    ) -> None:
        if kind not in ENGINES:
            raise ConfigurationError(f"the kind of an engine is one of {', '.join(ENGINES)}")
        self._kind = ENGINES[kind]
        self._model, self._connections = model, connections
        self._admin = require_key(admin_key).encode()
        self._engine = Engine(engine, token, connections=connections, seconds=seconds)
        self.sessions = Sessions(limits or Limits(), ended)
        self._calls = Calls(self._engine, self._kind, self.sessions, model)
        self.url = ""
        self._agents: dict[tuple[str, str], Callable[[Session, Request], Reply]] = {
            ("POST", "/v1/chat/completions"): partial(self._called, dialect=OpenAI),
            ("POST", "/v1/messages"): partial(self._called, dialect=Anthropic),
            ("POST", "/v1/messages/count_tokens"): self._counted,
            ("GET", "/v1/models"): self._models,
        }
        self._owners: dict[tuple[str, str], Callable[[Session], Reply]] = {
            ("GET", ""): lambda session: Reply(HTTPStatus.OK, _shown(session)),
            ("DELETE", ""): lambda session: _line(session.close()),
            ("GET", "/trace"): lambda session: _line(session.trajectory()),
        }

    def session(
        self,
        id: str | None = None,  # noqa: A002 - as `Session` has it
        *,
        sampling: Mapping[str, Any] | None = None,
        ttl: float | None = None,
        max_turns: int | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Session:
        """Open a session for one episode; as a context manager it is closed at the end.

        Args:
            id: its name; a random one where None.
            sampling: parameters that win over the agent's, such as `{"temperature": 1.0}`.
            ttl: seconds since its last call that it stays open.
            max_turns: calls that it may make; the next one is refused with 429.
            headers: of `make_inference_headers`, where the engine is a SageMaker runtime.

        Raises:
            BadRequest: the name is malformed, or was given before; a parameter is malformed.
            TooBusy: as many are open as may be.
            ConfigurationError: the relay does not serve.
        """
        if not self.url:
            raise ConfigurationError("the relay does not serve yet: open sessions in `serving()`")
        return self.sessions.create(
            self.url, id, sampling=sampling, ttl=ttl, max_turns=max_turns, headers=headers
        )

    @contextmanager
    def serving(
        self, host: str = LOOPBACK, port: int = 0, *, exposed: bool = False
    ) -> Iterator[Relay]:
        """Serve for a block; what is open at its end is closed.

        Args:
            host: an address of this machine.
            port: 0 for a free one.
            exposed: that other machines may reach it: anything but loopback needs it. There is no
                TLS here, so keys are as safe as the network is.

        Raises:
            ConfigurationError: the address is not loopback, or cannot be listened on.
        """
        server = self._server(host, port, exposed=exposed)
        ended = Event()
        sweep = Thread(target=self._sweep, args=(ended,), daemon=True)
        sweep.start()
        try:
            with server.serving() as self.url:
                yield self
        finally:
            ended.set()
            sweep.join()
            self.sessions.close()
            self._engine.close()
            self.url = ""

    def _server(self, host: str, port: int, *, exposed: bool) -> Server:
        try:
            server = Server(
                (host, port),
                self._reply,
                self._route,
                largest=LARGEST,
                anybody=(HEALTH,),
                refusal=error_of,
                connections=2 * self._connections,
                idle_seconds=IDLE_SECONDS,
            )
        except OSError as error:
            raise ConfigurationError(f"cannot listen on {host}:{port}: {error.strerror}") from None
        if not exposed and not is_loopback_address(server.server_name):
            server.server_close()
            raise ConfigurationError(
                "a relay listens on 127.0.0.1: say that other machines may reach it (exposed)"
            )
        return server

    def _sweep(self, ended: Event) -> None:
        while not ended.wait(SWEEP_SECONDS):
            self.sessions.sweep()

    def _reply(self, request: Request) -> Reply:
        return self._route(request)(request)

    def _route(self, request: Request) -> Callable[[Request], Reply]:
        """What answers a request of whoever may send it.

        Raises:
            Refused: nobody does, or nobody may.
        """
        if (request.method, request.path) == HEALTH:
            return lambda _: Reply(HTTPStatus.OK, {"status": "healthy"})
        if (request.method, request.path) == ("POST", "/sessions"):
            self._require_owner(request)
            return self._create
        found = SESSION.fullmatch(request.path)
        name, rest = found.groups() if found else ("", request.path)
        agent = self._agents.get((request.method, rest))
        if agent is not None:
            return partial(agent, self.sessions.of_key(_key(request), name))
        owner = self._owners.get((request.method, rest)) if name else None
        if owner is None:
            raise Refused(HTTPStatus.NOT_FOUND, "the relay has no such route")
        self._require_owner(request)
        session = self.sessions.get(name)
        return lambda _: owner(session)

    def _require_owner(self, request: Request) -> None:
        given = _key(request).encode("utf-8", "replace")
        if not self._admin or not compare_digest(given, self._admin):
            raise Refused(
                HTTPStatus.UNAUTHORIZED,
                "the request does not carry the relay's admin key",
                WWW_Authenticate="Bearer",
            )

    def _called(self, session: Session, request: Request, dialect: Callable[[], Dialect]) -> Reply:
        return self._calls.reply(session, request, dialect())

    def _create(self, request: Request) -> Reply:
        try:
            session = self.session(**_wanted(request.body))
        except (Malformed, BadRequest) as error:
            raise Refused(HTTPStatus.BAD_REQUEST, str(error)) from None
        except TooBusy as error:
            raise Refused(HTTPStatus.SERVICE_UNAVAILABLE, str(error)) from None
        keys = {"api_key": session.key, "url": session.base_url}
        return Reply(HTTPStatus.CREATED, _shown(session) | keys)

    def _models(self, session: Session, _: Request) -> Reply:
        try:
            with self._engine.asked("/models", headers=session.headers) as answer:
                return Reply(HTTPStatus.OK, answer.whole())
        except EngineFailed as failure:
            return Reply(failure.status, OpenAI().engine_error(failure))

    def _counted(self, session: Session, request: Request) -> Reply:
        """How many tokens a request of Anthropic's has, as the engine counts them."""
        dialect = Anthropic()
        if not self._kind.tokenize:
            sentence = "the engine has no tokenizer that the relay knows: count after the answer"
            raise Refused(HTTPStatus.NOT_IMPLEMENTED, sentence)
        try:
            asked = to_engine(
                dialect.request(read_object(request.body)),
                self._kind,
                model=self._model,
                sampling={},
            )
        except Malformed as error:
            raise Refused(HTTPStatus.BAD_REQUEST, str(error)) from None
        body = {name: asked[name] for name in ("model", "messages", "tools") if name in asked}
        try:
            path = f"/{self._kind.tokenize}"
            with self._engine.asked(path, body, session.headers) as answer:
                count = answer.whole().get("count")
        except EngineFailed as failure:
            return Reply(failure.status, dialect.engine_error(failure))
        if type(count) is not int or count < 0:
            raise Refused(HTTPStatus.BAD_GATEWAY, "the engine's tokenizer gives no count")
        return Reply(HTTPStatus.OK, {"input_tokens": count})


def _wanted(content: bytes) -> dict[str, Any]:
    """What a request for a session says of it.

    Raises:
        Malformed, BadRequest: it is none.
    """
    body = read_object(content or b"{}")
    if not body.keys() <= set(ASKED):
        raise BadRequest(f"a session has {', '.join(ASKED)} and nothing else")
    for name in ("sampling", "headers"):
        if not isinstance(body.get(name) or {}, dict):
            raise BadRequest(f"`{name}` is an object")
    return body


def _key(request: Request) -> str:
    """The key that a request carries: OpenAI's way, or Anthropic's; "" for none."""
    kind, _, key = request.headers.get("authorization", "").partition(" ")
    if kind.lower() == "bearer":
        return key.strip()
    return request.headers.get("x-api-key", "")


def _line(trajectory: Trajectory) -> Reply:
    """A trajectory as a line of JSONL has it."""
    content = written(trajectory).encode()
    return Reply(HTTPStatus.OK, iter([content]), {"Content-Length": str(len(content))})


def _shown(session: Session) -> dict[str, Any]:
    return {"session_id": session.id, "calls": session.calls, "bytes": session.used}
