"""One call of an agent through a relay: sent to the engine, answered, recorded.

An answer is recorded as whole before the agent has its last byte. So a reader of the answer who
then reads the record finds it there. Where the agent is gone by then, the turn is marked: it went
on without that answer, so nothing is learned from it. Failures of the engine are marked and passed
on.

Engines refuse, or render wrongly, what only OpenAI's own service knows:

| of the agent | to the engine |
| --- | --- |
| a field of `TAKEN` | as it is; null is left out |
| a field of `SAMPLING` that the session fixes | the session's value, under all of its names |
| `model` | the relay's, where it has one |
| `n` of more than 1 | refused with 400: a turn has one answer |
| `stream_options` | the relay's own, where the engine takes them |
| any other field | left out |
| a message whose content is blocks of text | one text; the blocks are joined by a line's end |
| the role `developer` | `system` |
| arguments of a tool call that the policy wrote, as the same JSON | as the policy wrote them |
| fields of a message that are null, other than its content | left out |

Sources: OpenAI's API reference; reports of agents that ran before other engines.
"""

from __future__ import annotations

from contextlib import ExitStack
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final

from reward_functions.core.http_server.messages import Refused, Reply
from reward_functions.rollouts.record.completion import (
    Assembly,
    Malformed,
    TokenCapture,
    chunks_of,
    require_completion,
    usage_of,
)
from reward_functions.rollouts.record.relay.engine import EngineFailed
from reward_functions.rollouts.record.relay.sessions import SAMPLING
from reward_functions.rollouts.record.relay.wire import (
    DONE,
    HEADERS,
    EventReader,
    read_object,
    written,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from reward_functions.core.http_server.messages import Request
    from reward_functions.rollouts.record.relay.dialects import Dialect
    from reward_functions.rollouts.record.relay.engine import Answer, Engine, EngineKind
    from reward_functions.rollouts.record.relay.sessions import Session, Sessions


ALIASES: Final = {
    "max_tokens": "max_completion_tokens",
    "max_completion_tokens": "max_tokens",
}

TAKEN: Final = (
    *("messages", "tools", "tool_choice", "parallel_tool_calls", "response_format"),
    *("logit_bias", "logprobs", "top_logprobs", "reasoning_effort", "chat_template_kwargs"),
    *SAMPLING,
)

ROLES: Final = {"developer": "system"}

ONE: Final = (None, 1)
"""A tuple: it is compared with what may have no hash, as everything that an agent sends."""


def to_engine(
    body: Mapping[str, Any], kind: EngineKind, *, model: str, sampling: Mapping[str, Any]
) -> dict[str, Any]:
    """The request that the engine is sent.

    Args:
        body: the agent's, in OpenAI's form; it is not changed.
        kind: of the engine.
        model: "" for the one that the agent names.
        sampling: of the session.

    Raises:
        Malformed: it is no request of one chat completion.
    """
    if any(body.get(name) not in ONE for name in ("n", "best_of")):
        raise Malformed("a call has one answer: leave out `n`, or set it to 1")
    found = {name: body[name] for name in TAKEN if body.get(name) is not None}
    found["messages"] = _messages(body.get("messages"))
    found["model"] = model or _named(body)
    tools = found.get("tools", [])
    if not isinstance(tools, list) or not all(isinstance(each, dict) for each in tools):
        raise Malformed("`tools` is not a list of objects")
    for name in sampling:
        found.pop(ALIASES.get(name, name), None)
    found |= sampling
    found |= kind.asks
    if body.get("stream") and kind.streams:
        found["stream"] = True
        if kind.stream_usage:
            found["stream_options"] = {"include_usage": True}
    return found


def _named(body: Mapping[str, Any]) -> str:
    if not isinstance(body.get("model"), str):
        raise Malformed("`model` is not a string")
    return str(body["model"])


def _messages(given: Any) -> list[dict[str, Any]]:
    if not isinstance(given, list) or not given:
        raise Malformed("`messages` is not a list of messages")
    return [_message(each) for each in given]


def _message(given: Any) -> dict[str, Any]:
    if not isinstance(given, dict) or not isinstance(given.get("role"), str):
        raise Malformed("a message is not an object with a role")
    role = given["role"]
    kept = {name: value for name, value in given.items() if value is not None or name == "content"}
    return kept | {"role": ROLES.get(role, role), "content": _flat(given.get("content"))}


def _flat(content: Any) -> Any:
    """One text where all blocks are text."""
    if not isinstance(content, list):
        return content
    texts = [
        block["text"]
        for block in content
        if isinstance(block, dict)
        and block.get("type") == "text"
        and isinstance(block.get("text"), str)
    ]
    return "\n".join(texts) if len(texts) == len(content) else content


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
        assembly = Assembly(strict=True)
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
