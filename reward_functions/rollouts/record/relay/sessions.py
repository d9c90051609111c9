"""Sessions of a relay: one for each episode, with a key of its own, for a time, within bounds.

The key is random and is the session's alone, so that an agent's calls cannot land in another
episode: there is no default session, and a name that somebody guesses opens nothing. An ended
    session stays ended: its name is refused with 410, and is not given again while it is
    remembered.

The turns of a session are kept while it is open, and as they were when it closed. Messages that a
call repeats are kept once: each call of an agent sends the whole conversation so far. A call that
ends after the closing of its session changes nothing.
"""

from __future__ import annotations

import json
import re
import time
from collections import OrderedDict
from contextlib import contextmanager
from dataclasses import dataclass, replace
from hashlib import sha256
from hmac import compare_digest
from http import HTTPStatus
from math import isfinite
from secrets import token_urlsafe
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, Self
from uuid import uuid4

from reward_functions.core.http_server.messages import Refused
from reward_functions.rollouts.record.completion import finish_of, message_of, usage_of
from reward_functions.rollouts.record.relay.wire import written
from reward_functions.rollouts.record.sink import TrajectorySink
from reward_functions.rollouts.record.types import (
    GAPS,
    MISALIGNED,
    TokenTrace,
    ToolCall,
    ToolResult,
    Trajectory,
    Turn,
)
from reward_functions.rollouts.request.errors import BadRequest, MisalignedTokens, TooBusy
from reward_functions.rollouts.request.headers import JOB_HEADER, TRAJECTORY_HEADER

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from reward_functions.rollouts.record.completion import Captured

    _Called = Callable[[Any], "ToolCall | None"]
    from collections.abc import Callable, Iterator
    from pathlib import Path


NUMBERS: Final = (
    *("temperature", "top_p", "top_k", "min_p", "max_tokens", "max_completion_tokens", "seed"),
    *("presence_penalty", "frequency_penalty", "repetition_penalty"),
)

SAMPLING: Final = (*NUMBERS, "stop")
"""Fields that say how the policy is sampled; a session may fix them."""

CLOSED = "SessionClosed"
"""The error of a turn that was not answered when its session closed."""

POINTER = 8
"""Bytes of a place in a turn's list of messages; what agents repeat is kept once, but named."""


class Record:
    """The turns of a session; shared by threads.

    Args:
        clock: seconds since the epoch.
    """

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._lock = Lock()
        self._turns: list[Turn] = []
        self._running: set[int] = set()
        self._reasons: dict[int, str] = {}
        self._callers: dict[str, list[int]] = {}
        self._closed = False

    def began(self, request: Mapping[str, Any]) -> tuple[int, int]:
        """A call begins.

        Args:
            request: as the engine is sent it.

        Returns:
            Its number, and the bytes of what it brought that was not kept before, and of its lists.
        """
        with self._lock:
            before = self._turns[-1] if self._turns else Turn(index=-1)
            messages, new = _shared(before.messages, request["messages"])
            tools, new_tools = _shared(before.tools, request.get("tools") or ())
            number = len(self._turns)
            parameters = {name: request[name] for name in SAMPLING if name in request}
            turn = Turn(
                index=number,
                messages=messages,
                tools=tools,
                parameters=parameters,
                model=str(request.get("model") or ""),
                began=self._clock(),
            )
            if not self._closed:
                self._turns.append(turn)
                self._running.add(number)
                self._attach(new)
        brought = sum(len(written(each)) for each in (*new, *new_tools, parameters, turn.model))
        return number, brought + POINTER * (len(messages) + len(tools))

    def as_written(self, messages: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        """Messages whose tool calls have the arguments that the policy wrote.

        Frameworks keep arguments as objects and write them anew, with other spaces: the same JSON,
        and other tokens than the policy's.
        """
        with self._lock:
            return [_as_written(message, self._called) for message in messages]

    def answered(self, number: int, completion: Mapping[str, Any], captured: Captured) -> int:
        """The whole answer of a call is there.

        Returns:
            Its bytes.
        """
        (choice,) = completion["choices"]
        message = message_of(choice)
        fields: dict[str, Any] = {
            "response": message,
            "tool_calls": tuple(map(_tool_call, message.get("tool_calls") or ())),
            "finish_reason": finish_of(choice),
            "usage": usage_of(completion),
            "tokens": captured.trace,
        }
        model = completion.get("model")
        if isinstance(model, str) and model:
            fields["model"] = model
        self._end(number, captured.reason, **fields)
        texts = (message, fields["finish_reason"], fields.get("model"))
        return sum(len(written(each)) for each in texts) + captured.size

    def failed(self, number: int, error: str) -> None:
        """A call brought no answer, or nobody who got it: nothing is learned from it."""
        nothing = {"response": None, "tool_calls": (), "finish_reason": "", "tokens": None}
        self._end(number, "", error=error, **nothing)

    def close(self) -> None:
        """Take nothing more; what is not answered is marked."""
        with self._lock:
            self._closed = True
            for number in self._running:
                self._turns[number] = replace(self._turns[number], error=CLOSED)
            self._running.clear()

    def trajectory(self, **known: Any) -> Trajectory:
        """The record so far.

        Args:
            known: further fields of a `Trajectory`.
        """
        with self._lock:
            reasons = {str(number): text for number, text in sorted(self._reasons.items())}
            metadata = {**known.pop("metadata", {})} | ({GAPS: reasons} if reasons else {})
            return Trajectory(turns=tuple(self._turns), metadata=metadata, **known)

    def traces(self) -> list[TokenTrace | None]:
        """The tokens of each turn that was answered, in order; None where the engine gave none.

        Raises:
            MisalignedTokens: of one, ids and log-probabilities do not belong together.
        """
        with self._lock:
            for number, reason in sorted(self._reasons.items()):
                if reason.startswith(MISALIGNED):
                    raise MisalignedTokens(f"turn {number} is {reason}")
            return [turn.tokens for turn in self._turns if turn.response is not None]

    def _end(self, number: int, reason: str, **fields: Any) -> None:
        with self._lock:
            if self._closed:
                return
            self._running.discard(number)
            self._reasons.pop(number, None)
            if reason:
                self._reasons[number] = reason
            now = self._turns[number]
            self._turns[number] = replace(now, seconds=self._clock() - now.began, **fields)
            for call in now.tool_calls:
                self._callers[call.id].remove(number)
            for call in self._turns[number].tool_calls:
                self._callers.setdefault(call.id, []).append(number)

    def _called(self, identity: Any) -> ToolCall | None:
        """The call of an id that was made last."""
        numbers = self._callers.get(identity) if isinstance(identity, str) and identity else None
        if not numbers:
            return None
        return next(call for call in self._turns[numbers[-1]].tool_calls if call.id == identity)

    def _attach(self, messages: Sequence[Mapping[str, Any]]) -> None:
        """Results of tools in new messages, to the turn that called them last."""
        for message in messages:
            identity = message.get("tool_call_id")
            if message.get("role") != "tool" or not isinstance(identity, str):
                continue
            for at in self._callers.get(identity, ())[-1:]:
                self._turns[at] = _with_result(self._turns[at], identity, message)


def _shared(
    before: tuple[dict[str, Any], ...], now: Sequence[dict[str, Any]]
) -> tuple[tuple[dict[str, Any], ...], list[dict[str, Any]]]:
    """The same messages, those of before where they begin so; and those that are new."""
    same = 0
    while same < min(len(before), len(now)) and before[same] == now[same]:
        same += 1
    return (*before[:same], *now[same:]), list(now[same:])


def _as_written(message: dict[str, Any], known: _Called) -> dict[str, Any]:
    calls = message.get("tool_calls")
    if message.get("role") != "assistant" or not isinstance(calls, list):
        return message
    return message | {"tool_calls": [_original(call, known) for call in calls]}


def _original(call: Any, known: _Called) -> Any:
    """A call, with the arguments that were written where these are the same JSON."""
    function = call.get("function") if isinstance(call, dict) else None
    written_so = known(call.get("id")) if isinstance(call, dict) else None
    if written_so is None or not isinstance(function, dict):
        return call
    try:
        same = json.loads(function["arguments"]) == json.loads(written_so.arguments)
    except (ValueError, TypeError, KeyError, RecursionError):
        return call
    same = same and function.get("name") == written_so.name
    return call | {"function": function | {"arguments": written_so.arguments}} if same else call


def _with_result(turn: Turn, identity: str, message: Mapping[str, Any]) -> Turn:
    if identity in {result.call_id for result in turn.tool_results}:
        return turn
    content = message.get("content")
    text = content if isinstance(content, str) else _shown(content)
    results = {each.call_id: each for each in turn.tool_results}
    results[identity] = ToolResult(call_id=identity, content=text)
    order = [call.id for call in turn.tool_calls if call.id in results]
    return replace(turn, tool_results=tuple(results[each] for each in dict.fromkeys(order)))


def _shown(content: Any) -> str:
    return "" if content is None else written(content).decode("utf-8", "replace")


def _tool_call(call: Mapping[str, Any]) -> ToolCall:
    function = call["function"]
    return ToolCall(
        id=call.get("id") or "",
        name=function["name"],
        arguments=function.get("arguments") or "{}",
    )


NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")

HEADER: Final = re.compile(r"[!-~]{1,2048}")
"""The value of one: an ARN or an id."""

HEADERS: Final = {name.lower(): name for name in (JOB_HEADER, TRAJECTORY_HEADER)}
"""What a session may send to the engine with each call: which rollout of SageMaker's it is."""

REMEMBERED: Final = 100_000
"""Sessions that ended, by name."""

MEGABYTE: Final = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of a relay.

    Args:
        sessions: that are open at a time.
        session_bytes: of JSON that one session keeps; in memory Python's objects take several
            times as much.
        bytes: of all of them.
        ttl: seconds since its last call that a session stays open, unless it says otherwise.
    """

    sessions: int = 4096
    session_bytes: int = 64 * MEGABYTE
    bytes: int = 1024 * MEGABYTE
    ttl: float = 3600.0


class Session:
    """The episode of one agent at a relay.

    Args:
        id: its name.
        key: that the agent sends as its API key. It is in no log and no repr.
        base_url: for a client of OpenAI's API; without its "/v1" for one of Anthropic's.
        sampling: parameters that win over the agent's.
        headers: that the engine is sent with each call.
        ttl: seconds since its last call that it stays open.
        max_turns: calls that it may make; None for any number.
        ending: what the relay does at its end.
    """

    def __init__(
        self,
        id: str,  # noqa: A002 - the word that everybody uses
        base_url: str,
        *,
        sampling: Mapping[str, Any],
        headers: Mapping[str, str],
        ttl: float,
        max_turns: int | None,
        ending: Callable[[Session], object],
    ) -> None:
        self.id, self.key, self.base_url = id, token_urlsafe(32), base_url
        self.sampling, self.headers = dict(sampling), dict(headers)
        self.ttl, self.max_turns = ttl, max_turns
        self.record = Record()
        self.used = self.calls = self.running = 0
        self.last = time.monotonic()
        self.truncated = False
        self._ending = ending

    def __repr__(self) -> str:
        return f"Session({self.id!r})"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def root_url(self) -> str:
        """For a client of Anthropic's API."""
        return self.base_url.removesuffix("/v1")

    def trajectory(self, **known: Any) -> Trajectory:
        """Its turns so far; `metadata["token_gaps"]` says by turn why tokens are missing.

        Args:
            known: further fields of a `Trajectory`, such as `rewards`.
        """
        fields = {"id": self.id, "job": self.headers.get(JOB_HEADER, "")}
        return self.record.trajectory(truncated=self.truncated, **(fields | known))

    def traces(self) -> list[TokenTrace | None]:
        """The tokens of each answered turn, as the engine gave them.

        Raises:
            MisalignedTokens: of one, ids and log-probabilities do not belong together.
        """
        return self.record.traces()

    def close(self) -> Trajectory:
        """End it: its key opens nothing any more. It can be closed twice.

        Returns:
            The record; a call that is not answered yet is marked.
        """
        self._ending(self)
        return self.trajectory()


class Sessions:
    """The sessions of a relay; shared by threads.

    Args:
        limits: what is kept.
        ended: where the trajectory of each session that ends goes, once; None for nowhere.
        clock: seconds, of any origin.

    Attributes:
        ended: sessions that ended.
        lost: those of them whose trajectory was not kept; the log says why.
    """

    def __init__(
        self,
        limits: Limits,
        ended: str | Path | Callable[[Trajectory], object] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._limits, self._clock = limits, clock
        self._sink = None if ended is None else TrajectorySink(ended)
        self.ended = self.lost = 0
        self._lock = Lock()
        self._open: dict[str, Session] = {}
        self._keys: dict[bytes, Session] = {}
        self._past: OrderedDict[str, None] = OrderedDict()
        self._bytes = 0

    def __len__(self) -> int:
        return len(self._open)

    def create(
        self,
        url: str,
        id: str | None = None,  # noqa: A002 - as `Session` has it
        *,
        sampling: Mapping[str, Any] | None = None,
        ttl: float | None = None,
        max_turns: int | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Session:
        """Open a session.

        Args:
            url: of the relay.
            id: its name; a random one where None.
            sampling: parameters that win over the agent's.
            ttl: seconds since its last call that it stays open.
            max_turns: calls that it may make.
            headers: of `make_inference_headers`, for a SageMaker runtime as the engine.

        Raises:
            BadRequest: the name is malformed, or was given before; a parameter is malformed.
            TooBusy: as many are open as may be.
        """
        name = uuid4().hex if id is None else id
        session = Session(
            _require_name(name),
            f"{url}/sessions/{name}/v1",
            sampling=read_sampling(sampling or {}),
            headers=_headers(headers or {}),
            ttl=_positive(self._limits.ttl if ttl is None else ttl, "ttl"),
            max_turns=None if max_turns is None else int(_positive(max_turns, "max_turns")),
            ending=self.end,
        )
        session.last = self._clock()
        if len(self._open) >= self._limits.sessions:
            self.sweep()
        with self._lock:
            if name in self._open or name in self._past:
                raise BadRequest("a session of this name exists, or existed: give it another")
            if len(self._open) >= self._limits.sessions:
                raise TooBusy(f"the relay has {self._limits.sessions} sessions: close one")
            self._open[name] = session
            self._keys[_digest(session.key)] = session
        return session

    def get(self, name: str) -> Session:
        """An open session, by its name.

        Raises:
            Refused: it does not exist (404), or it has ended (410).
        """
        with self._lock:
            found = self._open.get(name)
            # It is ended by `sweep`: here nobody waits for the disk that takes its trajectory.
            late = found is not None and _is_late(found, self._clock())
            past = late or name in self._past
        if past:
            raise Refused(HTTPStatus.GONE, "the session has ended: closed, or not used for long")
        if found is None:
            raise Refused(HTTPStatus.NOT_FOUND, "there is no such session")
        return found

    def of_key(self, key: str, name: str = "") -> Session:
        """The session that a key opens.

        Args:
            key: that the agent sent.
            name: of the session in the URL that it called; "" for none.

        Raises:
            Refused: there is no such session (404), it has ended (410), or the key is
                another one (401).
        """
        session = self.get(name) if name else self._keys.get(_digest(key))
        given = key.encode("utf-8", "replace")
        if session is None or not compare_digest(given, session.key.encode()):
            raise Refused(
                HTTPStatus.UNAUTHORIZED,
                "the API key is not that of the session, or its session has ended",
                WWW_Authenticate="Bearer",
            )
        return self.get(session.id)

    @contextmanager
    def calling(self, session: Session) -> Iterator[None]:
        """A call of a session, for a block: it does not expire meanwhile."""
        with self._lock:
            session.running += 1
            session.last = self._clock()
        try:
            yield
        finally:
            with self._lock:
                session.running -= 1
                session.last = self._clock()

    def admit(self, session: Session) -> None:
        """Count a call.

        Raises:
            Refused: it has made its turns (429), or it (413) or the relay (503) keeps all it may.
        """
        with self._lock:
            turns = session.max_turns
            if turns is not None and session.calls >= turns:
                session.truncated = True
                raise Refused(
                    HTTPStatus.TOO_MANY_REQUESTS,
                    f"the session has made its {turns} calls",
                    x_should_retry="false",
                )
            if session.used >= self._limits.session_bytes:
                session.truncated = True
                raise Refused(
                    HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
                    f"the session keeps {self._limits.session_bytes} bytes, and may have no more",
                )
            if self._bytes >= self._limits.bytes:
                raise Refused(HTTPStatus.SERVICE_UNAVAILABLE, "the relay is full: close a session")
            session.calls += 1

    def charge(self, session: Session, size: int) -> None:
        """Count bytes that a session keeps."""
        with self._lock:
            if self._open.get(session.id) is session:
                session.used += size
                self._bytes += size

    def end(self, session: Session) -> None:
        """Close a session, once, and hand its trajectory on."""
        with self._lock:
            if self._open.get(session.id) is not session:
                return
            del self._open[session.id], self._keys[_digest(session.key)]
            self._bytes -= session.used
            self._past[session.id] = None
            self.ended += 1
            while len(self._past) > REMEMBERED:
                self._past.popitem(last=False)
        session.record.close()
        # A full disk ends neither the thread that looks for idle sessions nor the other sessions.
        if self._sink is not None and not self._sink.keep(session.trajectory()):
            with self._lock:
                self.lost += 1

    def sweep(self) -> None:
        """Close what was not used for long."""
        now = self._clock()
        with self._lock:
            late = [each for each in self._open.values() if _is_late(each, now)]
        for session in late:
            self.end(session)

    def close(self) -> None:
        """Close all."""
        with self._lock:
            left = list(self._open.values())
        for session in left:
            self.end(session)


def _is_late(session: Session, now: float) -> bool:
    return not session.running and now - session.last > session.ttl


def _digest(key: str) -> bytes:
    """A key as it is looked up: the time of a look-up says nothing of the key."""
    return sha256(key.encode("utf-8", "replace")).digest()


def _require_name(name: Any) -> str:
    if not isinstance(name, str) or not NAME.fullmatch(name):
        raise BadRequest("the name of a session has 1 to 128 of A-Z, a-z, 0-9, dot, _ and -")
    return name


def _positive(value: Any, what: str) -> float:
    if type(value) not in {int, float} or not 0 < value < 10**9:
        raise BadRequest(f"{what} is a positive number")
    return float(value)


def read_sampling(given: Mapping[str, Any]) -> dict[str, Any]:
    """Sampling parameters that a session fixes; null is left out.

    Raises:
        BadRequest: a name or a value is none of a sampling parameter.
    """
    found = {name: value for name, value in given.items() if value is not None}
    for name, value in found.items():
        number = type(value) in {int, float} and isfinite(value)
        texts = value if isinstance(value, list) else [value]
        text = all(isinstance(each, str) for each in texts)
        if not (text if name == "stop" else number and name in NUMBERS):
            raise BadRequest(f"a session fixes numbers of {', '.join(NUMBERS)}, and texts of stop")
    return found


def _headers(given: Mapping[str, str]) -> dict[str, str]:
    found = {HEADERS.get(str(name).lower(), ""): value for name, value in given.items()}
    valid = all(isinstance(value, str) and HEADER.fullmatch(value) for value in found.values())
    if "" in found or not valid:
        raise BadRequest(f"a session has the headers {' and '.join(HEADERS.values())}, as texts")
    return found
