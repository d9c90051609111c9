"""Invocations of the start/get protocol: one run for an id, a durable start, a durable end.

| | |
| --- | --- |
| a start that is durable | runs to its end, whoever hangs up |
| what the agent raises | `error`: its type, and no text |
| a result that is not strict JSON | `error`, which says so |
| a result that the disk does not take | `error`, if that fits; else `interrupted` |
| a full disk at the start | `StateUnavailable` before the agent runs |
| the process ends, and its grace is over | `error`: it ended before its agent |

Foreground starts of an id that another process runs are answered `in_progress`: ask by get.
"""

from __future__ import annotations

import logging
from concurrent.futures import CancelledError, Future
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from threading import Condition, Lock
from typing import TYPE_CHECKING, Any, Final
from uuid import uuid4

from reward_functions.rollouts.request.errors import StateUnavailable, TooBusy
from reward_functions.rollouts.request.threads import behind, wait_hurried
from reward_functions.rollouts.serve.agentcore.agents import done
from reward_functions.rollouts.serve.agentcore.protocol import (
    ENVELOPE,
    Invocation,
    State,
    read_invocation,
    state,
)

if TYPE_CHECKING:
    from threading import Event

    from reward_functions.rollouts.episode.background import Background
    from reward_functions.rollouts.serve.agentcore.agents import Agent
    from reward_functions.rollouts.serve.agentcore.store import InvocationStore
    from reward_functions.rollouts.serve.answering import TrackingApp

TASK: Final = "invocation"

NOT_JSON: Final = "the result is not strict JSON, or too large"

REFUSED: Final = "the request was refused, and the agent did not run"

ENDED: Final = "the agent's process ended before its invocation"

_log = logging.getLogger(__name__)


@dataclass(eq=False, slots=True)
class _Live:
    """An invocation that this process runs.

    Args:
        session: its id.
        invocation: likewise.
        undo: what happens at its end: the lock is let go, `/ping` is Healthy.
        ended: its last state.
        deciding: held while its end is made durable.
    """

    session: str
    invocation: str
    undo: ExitStack
    ended: Future[State] = field(default_factory=Future)
    deciding: Lock = field(default_factory=Lock)


class Invocations:
    """The invocations of one agent.

    Args:
        agent: that is run.
        app: says HealthyBusy meanwhile.
        store: where starts and ends are durable.
        background: where it runs.
        every: whether a request without an envelope is started in the background, under an id of
            the server's making.
    """

    def __init__(
        self,
        agent: Agent,
        *,
        app: TrackingApp,
        store: InvocationStore,
        background: Background,
        every: bool = False,
    ) -> None:
        self._agent = agent
        self._app = app
        self._store = store
        self._background = background
        self._every = every
        self._accepting = Lock()
        self._changed = Condition()
        self._live: dict[tuple[str, str], _Live] = {}
        self._ending = False

    def begin(self, payload: Any, context: Any) -> Future[Any] | None:
        """Begin what a request asks for: its answer; None where it is an ordinary one.

        Raises:
            BadRequest: an envelope that is none; of a `rollout_handler`, no request.
            TooBusy: as much runs and waits as may, or the process ends.
            StateUnavailable: a start cannot be made durable.
        """
        if not isinstance(payload, dict) or not (self._every or ENVELOPE in payload):
            return None
        asked = Invocation(operation="start", invocation_id=uuid4().hex, background=True)
        if ENVELOPE in payload:
            asked = read_invocation(payload[ENVELOPE])
            payload = {name: value for name, value in payload.items() if name != ENVELOPE}
        session = getattr(context, "session_id", None) or ""
        if asked.operation == "start":
            # One at a time, so that whoever comes second finds what the first has begun.
            with self._accepting:
                self._start(session, asked.invocation_id, payload, context)
        live = self._live.get((session, asked.invocation_id))
        if live is not None and asked.operation == "start" and not asked.background:
            return live.ended
        return done(self._store.read(session, asked.invocation_id))

    def _start(self, session: str, invocation: str, payload: Any, context: Any) -> None:
        """Start an invocation, unless it was started before."""
        if self._store.read(session, invocation)["status"] != "not_found":
            return
        if self._ending:
            raise TooBusy("the agent is ending: it takes no new work")
        with self._background.place() as place, ExitStack() as undo:
            claim = self._store.claim(session, invocation)
            if claim is None:
                return
            live = _Live(session, invocation, undo=ExitStack())
            live.undo.callback(self._app.complete_async_task, self._app.add_async_task(TASK))
            live.undo.callback(claim.close)
            with self._changed:
                self._live[session, invocation] = live
            undo.callback(self._end, live, state(invocation, "completed", error=REFUSED))
            future = self._agent.begin(place, payload, context)
            undo.pop_all()
        future.add_done_callback(lambda ended: behind(partial(self._finish, live, ended)))

    def _finish(self, live: _Live, ended: Future[Any]) -> None:
        try:
            error = ended.exception()
        except CancelledError:
            self._end(live, state(live.invocation, "completed", error=ENDED))
            return
        if error is not None:
            sentence = f"the agent raised {type(error).__name__}"
            self._end(live, state(live.invocation, "completed", error=sentence))
        else:
            self._end(live, state(live.invocation, "completed", result=ended.result()))

    def _end(self, live: _Live, last: State) -> None:
        """Make an end durable, once, and let its start go."""
        with live.deciding:
            if live.ended.done():
                _log.warning("an invocation ended after its process had: the first end counts")
                return
            try:
                live.ended.set_result(self._kept(live, last))
            except StateUnavailable as error:
                _log.error("%s", error)
                live.ended.set_exception(error)
        with self._changed:
            self._live.pop((live.session, live.invocation), None)
            live.undo.close()
            self._changed.notify_all()

    def _kept(self, live: _Live, last: State) -> State:
        """An end that is durable: the last state, or in its place an error."""
        try:
            self._store.finish(live.session, last)
        except (TypeError, ValueError, RecursionError):
            return self._kept(live, state(live.invocation, "completed", error=NOT_JSON))
        except StateUnavailable as error:
            if "result" not in last:
                raise
            return self._kept(live, state(live.invocation, "completed", error=str(error)))
        return last

    def drain(self, grace: float, hurried: Event | None = None) -> None:
        """Take no new starts, wait for those that run, and mark the others.

        Args:
            grace: seconds to wait.
            hurried: ends the waiting once it is set.
        """
        with self._changed:
            self._ending = True
            wait_hurried(self._changed, lambda: not self._live, grace, hurried)
            left = list(self._live.values())
        self._agent.interrupt()
        for live in left:
            self._end(live, state(live.invocation, "completed", error=ENDED))
