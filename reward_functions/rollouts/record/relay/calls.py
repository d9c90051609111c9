"""One call of an agent through a relay: sent to the engine, answered, recorded.

An answer is recorded as whole before the agent has its last byte, so that whoever reads the answer
and then the record finds it there. Where the agent is gone by then, the turn is marked: it went on
without that answer, so nothing is learned from it. Failures of the engine are marked and passed on.
"""

from __future__ import annotations

from contextlib import ExitStack
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final

from reward_functions.core.http_server.messages import Refused, Reply
from reward_functions.rollouts.record.relay.bounded_json import Malformed, read_object, written
from reward_functions.rollouts.record.relay.capture import TokenCapture
from reward_functions.rollouts.record.relay.completions import (
    Assembly,
    chunks_of,
    require_completion,
    usage_of,
)
from reward_functions.rollouts.record.relay.engine import EngineFailed
from reward_functions.rollouts.record.relay.event_stream import DONE, HEADERS, EventReader
from reward_functions.rollouts.record.relay.requests import to_engine

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reward_functions.core.http_server.messages import Request
    from reward_functions.rollouts.record.relay.dialects import Dialect
    from reward_functions.rollouts.record.relay.engine import Answer, Engine, EngineKind
    from reward_functions.rollouts.record.relay.sessions import Session, Sessions

GONE: Final = "ClientGone"
"""The error of a turn whose agent went away before it had the whole answer."""

LARGEST_EVENT: Final = 16 * 1024 * 1024


class Calls:
    """Calls of agents to one engine.

    Args:
        engine: that is asked.
        kind: of the engine.
        sessions: that calls belong to.
        model: as the engine calls it; "" for the one that the agent names.
    """

    def __init__(
        self, engine: Engine, kind: EngineKind, sessions: Sessions, model: str = ""
    ) -> None:
        self._engine, self._kind = engine, kind
        self._sessions, self._model = sessions, model

    def reply(self, session: Session, request: Request, dialect: Dialect) -> Reply:
        """The answer to a call.

        Raises:
            Refused: it is no request, or its session may make no more.
        """
        try:
            body = dialect.request(read_object(request.body))
            asked = to_engine(body, self._kind, model=self._model, sampling=session.sampling)
        except Malformed as error:
            raise Refused(HTTPStatus.BAD_REQUEST, str(error)) from None
        asked["messages"] = session.record.as_written(asked["messages"])
        self._sessions.admit(session)
        call = _Call(self._sessions, session, asked, request, dialect)
        with ExitStack() as held:
            held.enter_context(self._sessions.calling(session))
            try:
                path = "/chat/completions"
                answer = held.enter_context(self._engine.asked(path, asked, session.headers))
                if answer.is_stream:
                    return Reply(HTTPStatus.OK, call.streamed(answer, held.pop_all()), HEADERS)
                completion = call.whole(answer)
            except EngineFailed as failure:
                return call.refused(failure)
            except BaseException as error:
                call.failed(type(error).__name__)
                raise
        if body.get("stream"):
            return Reply(HTTPStatus.OK, call.as_stream(completion), HEADERS)
        content = written(dialect.whole(completion))
        length = {"Content-Length": str(len(content))}
        return Reply(HTTPStatus.OK, call.sent(completion, content), length)


class _Call:
    """One call, while it is made."""

    def __init__(
        self,
        sessions: Sessions,
        session: Session,
        asked: dict[str, Any],
        request: Request,
        dialect: Dialect,
    ) -> None:
        self._sessions, self._session = sessions, session
        self._request, self._dialect = request, dialect
        self._tokens = TokenCapture()
        self._number, size = session.record.began(asked)
        sessions.charge(session, size)

    def whole(self, answer: Answer) -> dict[str, Any]:
        """A completion that came whole.

        Raises:
            EngineFailed: it is none.
        """
        completion = answer.whole()
        try:
            require_completion(completion)
        except Malformed as error:
            raise EngineFailed(HTTPStatus.BAD_GATEWAY, f"the engine failed: {error}") from None
        self._tokens.add(completion)
        return completion

    def sent(self, completion: dict[str, Any], content: bytes) -> Iterator[bytes]:
        """The whole answer as its only piece."""
        try:
            self._answered(completion)
            yield content
        except GeneratorExit:
            self.failed(GONE)
            raise

    def as_stream(self, completion: dict[str, Any]) -> Iterator[bytes]:
        """A whole answer as a stream: its engine does not write any."""
        try:
            yield b"".join(map(self._dialect.chunk, chunks_of(completion)))
            self._answered(completion)
            yield self._dialect.end(completion)
        except GeneratorExit:
            self.failed(GONE)
            raise

    def streamed(self, answer: Answer, held: ExitStack) -> Iterator[bytes]:
        """The engine's stream, as it comes.

        Args:
            answer: of the engine.
            held: what ends with the stream.
        """
        assembly = Assembly()
        with held:
            try:
                yield from self._passed(answer, assembly)
                completion = assembly.completion()
                self._answered(completion)
                yield self._dialect.end(completion)
            except GeneratorExit:
                self.failed(GONE)
                raise
            except EngineFailed as failure:
                self.failed(type(failure).__name__)
                yield self._dialect.event(self._dialect.engine_error(failure))
            except Malformed as error:
                self.failed(EngineFailed.__name__)
                sentence = f"the engine failed: {error}"
                yield self._dialect.event(self._dialect.error(HTTPStatus.BAD_GATEWAY, sentence))

    def refused(self, failure: EngineFailed) -> Reply:
        """The engine's failure, passed on."""
        self.failed(type(failure).__name__)
        after = {"Retry-After": failure.retry_after} if failure.retry_after else {}
        return Reply(failure.status, self._dialect.engine_error(failure), after)

    def failed(self, error: str) -> None:
        """Mark the turn."""
        self._session.record.failed(self._number, error)

    def _passed(self, answer: Answer, assembly: Assembly) -> Iterator[bytes]:
        """The pieces of a stream; each chunk is taken in first."""
        reader = EventReader(LARGEST_EVENT)
        for piece in answer.pieces():
            yield b"".join(self._taken(data, assembly) for data in reader.feed(piece))
        yield b"".join(self._taken(data, assembly) for data in reader.end())

    def _taken(self, data: str, assembly: Assembly) -> bytes:
        if data.strip() == DONE:
            return b""
        chunk = read_object(data)
        if "error" in chunk:
            raise EngineFailed(HTTPStatus.BAD_GATEWAY, "the engine failed in its stream", chunk)
        assembly.add(chunk)
        self._tokens.add(chunk)
        return self._dialect.chunk(chunk)

    def _answered(self, completion: dict[str, Any]) -> None:
        """Record the whole answer, unless the agent is gone."""
        if self._request.gone():
            self.failed(GONE)
            return
        captured = self._tokens.captured(usage_of(completion).output)
        size = self._session.record.answered(self._number, completion, captured)
        self._sessions.charge(self._session, size)
