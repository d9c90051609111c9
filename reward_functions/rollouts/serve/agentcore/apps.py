"""`AgentCoreRLApp` and `AgentCoreRuntimeApp`: one behaviour, on whichever host is installed.

    app = AgentCoreRLApp()                             app = AgentCoreRuntimeApp(background=True)

    @app.rollout_entrypoint                            @app.entrypoint
    def agent(payload, context):                       @sagemaker_rft_handler
        return {"rewards": 1.0}                        def agent(payload): ...

    app.run()                                          app.run()

The host is `BedrockAgentCoreApp` where AgentCore's SDK is installed (the extra `agentcore`), so
that its entrypoints, middleware and ASGI servers go on as they are; else it is `own_host`.

A rollout begins after its answer and ends in one stored result:

    payload → destination → the agent, after the answer → envelope → S3, once └ deadline, end of the
                              process: a failure → S3, once

| event | stored |
| --- | --- |
| the agent returns an object | it, in its envelope |
| `PolicyFailure(reward)` | that reward, or the minimum; `stop_reason` is "policy_failure" |
| anything else that is raised, `SystemExit` among it | a failure: type and places |
| what is returned cannot be stored | a failure |
| the deadline comes first | a failure; what the agent returns later is counted as "late" |
| the process ends, and its grace is over | a failure |
| a result is there already | nothing: `ConflictingReport` in the log, counted as "conflict" |
| S3 does not take it, after further attempts | nothing: in the log, counted as "lost" |

A request that comes again while its rollout runs is answered the same, and runs no second time.
A function that outlasts its deadline goes on in its thread, as no thread can be ended.

An invocation has one run for its id, a durable start and a durable end:

| | |
| --- | --- |
| a start that is durable | runs to its end, even if the caller hangs up |
| what the agent raises | `error`: its type, and no text |
| a result that is not strict JSON | `error`, which says so |
| a result that the disk does not take | `error`, if that fits; else `interrupted` |
| a full disk at the start | `StateUnavailable` before the agent runs |
| the process ends, and its grace is over | `error`: it ended before its agent |

Foreground starts of an id that another process runs are answered `in_progress`: ask by get.
"""

from __future__ import annotations

import logging
import time
from collections import Counter
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from threading import Condition, Lock
from typing import TYPE_CHECKING, Any, Final
from uuid import uuid4

from reward_functions.core.extras import MissingExtra
from reward_functions.rollouts.episode.results import cause_of
from reward_functions.rollouts.episode.watchdog import watchdog
from reward_functions.rollouts.request.clock import steady
from reward_functions.rollouts.request.errors import (
    BadRequest,
    ConflictingReport,
    PolicyFailure,
    RefusedResult,
    ResultNotKept,
    StateUnavailable,
    TooBusy,
)
from reward_functions.rollouts.request.threads import behind, wait_hurried
from reward_functions.rollouts.serve.agentcore.invocations import (
    ENVELOPE,
    Invocation,
    InvocationStore,
    State,
    read_invocation,
    state,
)
from reward_functions.rollouts.serve.agentcore.own_host import OwnHost
from reward_functions.rollouts.serve.agentcore.results import (
    ROLLOUT,
    STORED,
    Destination,
    destination_of,
    failure,
    stored,
    trusted_buckets,
    write_result,
)
from reward_functions.rollouts.serve.answering import TASK, Agent, done

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
    from pathlib import Path
    from threading import Event

    Base = OwnHost
    Host = OwnHost
else:
    try:
        from reward_functions.rollouts.serve.agentcore.bedrock_host import BedrockHost as Host
    except MissingExtra:
        Host = OwnHost
    Base = object

DEADLINE_SECONDS: Final = 28_500.0
"""Five minutes before AgentCore ends any session by default ("Lifecycle settings")."""

PAUSES: Final = (1.0, 4.0, 16.0)
"""Seconds before further attempts at a write, each of which boto3 has tried three times."""

INTERRUPTED: Final = "the agent's process ended before its rollout"

INVOCATION: Final = "invocation"

NOT_JSON: Final = "the result is not strict JSON, or too large"

REFUSED: Final = "the request was refused, and the agent did not run"

ENDED: Final = "the agent's process ended before its invocation"

_log = logging.getLogger(__name__)


class _Behind(Base):
    """What an app runs behind its answers, and how that ends with the process."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._agent: Agent
        self._changed = Condition()
        self._live: dict[Any, Any] = {}
        self._ending = False

    def _left(self, grace: float, hurried: Event | None) -> list[Any]:
        """Take nothing new and wait for what runs: what still does, its agent interrupted."""
        with self._changed:
            self._ending = True
            wait_hurried(self._changed, lambda: not self._live, grace, hurried)
            left = list(self._live.values())
        if hasattr(self, "_agent"):
            self._agent.interrupt()
        return left


@dataclass(eq=False, slots=True)
class _Rollout:
    """One rollout.

    Args:
        destination: of its result; None where it has none.
        payload: of its request.
        settled: whether its result is decided.
        undo: what happens at its end.
    """

    destination: Destination | None
    payload: Mapping[str, Any] = field(repr=False)
    settled: bool = False
    undo: ExitStack = field(default_factory=ExitStack)


class RolloutEntrypoints(_Behind):
    """The part of `AgentCoreRLApp` that is the same on each host.

    Attributes:
        counts: how rollouts ended: stored, failed, late, conflict, lost.
    """

    def __init__(
        self,
        *,
        result_buckets: Iterable[str] | None = None,
        deadline: float = DEADLINE_SECONDS,
        minimum: float = 0.0,
        stored: Collection[str] = STORED,
        s3_client: Any = None,
        pauses: Sequence[float] = PAUSES,
        **options: Any,
    ) -> None:
        super().__init__(**options)
        self.s3_client = s3_client
        self.counts: Counter[str] = Counter()
        self._buckets = trusted_buckets(result_buckets)
        self._deadline = deadline
        self._minimum = minimum
        self._stored = tuple(stored)
        self._pauses = tuple(pauses)

    def rollout_entrypoint(self, func: Callable[..., Any]) -> Callable[..., Any]:
        """Answer requests at once, run the agent after the answer, and store what it returns.

        Args:
            func: the agent, of a payload, or of a payload and a context; sync, async or a
                generator, whose last item counts. Its payload is what the request has: check it
                before it reaches a framework, which may take blocks of its own kind for a prompt.

        Returns:
            The same function.

        Raises:
            ConfigurationError: it is no function.
        """
        self._agent = Agent(func)
        return self.register(lambda payload, context: done(self._begin(payload, context)), func)

    def save_result(
        self,
        result: dict[str, Any],
        rollout_config: Mapping[str, Any],
        result_key: str,
        payload: Mapping[str, Any] | None = None,
    ) -> None:
        """Store a result, as a rollout's end does.

        Args:
            result: JSON data; it is not changed.
            rollout_config: `_rollout` of a request.
            result_key: the key of the answer to it.
            payload: the request.

        Raises:
            BadRequest: a malformed configuration, or another key.
            UntrustedBucket: it names a bucket that may not be written to.
            RefusedResult: the result cannot be stored.
            ConflictingReport: another result is there: the first one counts.
            ResultNotKept: S3 did not take it.
        """
        session = result_key.rpartition("/")[2].removesuffix(".json")
        destination = destination_of({ROLLOUT: rollout_config}, session, self._buckets)
        if destination is None or destination.key != result_key:
            raise BadRequest(f"the key of the result is not that of its {ROLLOUT}")
        body = stored(result, destination, payload or {}, self._stored)
        write_result(destination, body, self.s3_client)

    def _begin(self, payload: Any, context: Any) -> dict[str, str]:
        """Begin a rollout: the answer to its request.

        Args:
            payload: a JSON object.
            context: with a `session_id`, of AgentCore's header.

        Raises:
            BadRequest, UntrustedBucket, UntrustedEndpoint: it is refused, and does not run.
            TooBusy: as much runs and waits as may, or the process ends.
        """
        if not isinstance(payload, dict):
            raise BadRequest("the payload is not a JSON object")
        session = getattr(context, "session_id", None)
        destination = destination_of(payload, session, self._buckets)
        run = _Rollout(destination, payload)
        answer = {"status": "processing"} if destination is None else destination.answer
        if self._enter(run):
            with ExitStack() as undo:
                undo.callback(self._leave, run)
                self._start(run, context)
                undo.pop_all()
        return answer

    def _enter(self, run: _Rollout) -> bool:
        """Whether a rollout is a new one."""
        with self._changed:
            if self._ending:
                raise TooBusy("the agent is ending: it takes no new work")
            if run.destination in self._live:
                _log.info("a rollout that runs was asked for again: it runs once")
                return False
            self._live[run.destination or run] = run
            return True

    def _start(self, run: _Rollout, context: Any) -> None:
        run.undo.callback(self.complete_async_task, self.add_async_task(TASK))
        with self.executor.place() as place:
            future, _ = self._agent.begin(place, run.payload, context)
        late = failure(f"the agent did not end within {self._deadline:g} seconds")
        watch = watchdog().watch(steady() + self._deadline, partial(self._settle, run, late))
        run.undo.callback(watchdog().end, watch)
        future.add_done_callback(
            lambda ended: behind(lambda: self._settle(run, self._content(ended)))
        )

    def _leave(self, run: _Rollout) -> None:
        """The end of a rollout."""
        with self._changed:
            self._live.pop(run.destination or run, None)
            self._changed.notify_all()
        run.undo.close()

    def drain(self, grace: float, hurried: Event | None = None) -> None:
        """Take no new rollouts, wait for those that run, and store a failure of the others.

        Args:
            grace: seconds to wait.
            hurried: ends the waiting once it is set.
        """
        left = self._left(grace, hurried)
        if left:
            _log.warning("%d rollouts did not end in time: each is stored as a failure", len(left))
            with ThreadPoolExecutor(len(left), thread_name_prefix="rollout-drain") as pool:
                for run in left:
                    pool.submit(self._settle, run, failure(INTERRUPTED))

    def _content(self, ended: Future[Any]) -> Any:
        """What an agent returned, or what is stored of what it raised."""
        if ended.cancelled():
            return failure(INTERRUPTED)
        error = ended.exception()
        cause = None if error is None else cause_of(error)
        if isinstance(cause, PolicyFailure):
            reward = self._minimum if cause.reward is None else cause.reward
            return {"rewards": reward, "stop_reason": "policy_failure"}
        if error is not None:
            return failure(f"the agent raised {type(error).__name__}", error)
        return ended.result()

    def _settle(self, run: _Rollout, content: Any) -> None:
        """Decide on a result and store it; only the first one is."""
        with self._changed:
            first, run.settled = not run.settled, True
        if not first:
            self._count("late")
            _log.warning("a result came after its rollout had ended: the first one counts")
            return
        with ExitStack() as ended:
            ended.callback(self._leave, run)
            if run.destination is not None:
                self._count(
                    self._write(run.destination, *self._body(run.destination, run, content))
                )

    def _body(self, destination: Destination, run: _Rollout, content: Any) -> tuple[bytes, str]:
        """The object of some content, and how the rollout ended."""
        try:
            body = stored(content, destination, run.payload, self._stored)
            return body, "stored" if content.get("status_code", 200) == 200 else "failed"  # noqa: PLR2004 - HTTP's
        except RefusedResult as error:
            instead = failure(str(error))
        except Exception as error:  # noqa: BLE001 - an object of the agent's may raise when it is read
            instead = failure(f"reading the result raised {type(error).__name__}", error)
        _log.error("%s", instead["stop_reason"])
        return stored(instead, destination, {}, ()), "failed"

    def _write(self, destination: Destination, body: bytes, ending: str) -> str:
        """Store an object; how the rollout ended then."""
        for pause in (*self._pauses, None):
            try:
                write_result(destination, body, self.s3_client)
            except ConflictingReport as error:
                _log.error("%s: %s", type(error).__name__, error)
                return "conflict"
            except ResultNotKept as error:
                _log.error("%s", error)
                if pause is not None:
                    time.sleep(pause)
            else:
                return ending
        return "lost"

    def _count(self, ending: str) -> None:
        with self._changed:
            self.counts[ending] += 1


class AgentCoreRLApp(RolloutEntrypoints, Host):
    """An agent whose rollouts are answered at once and stored in S3.

    Args:
        result_buckets: that requests may name; those of REWARD_ROLLOUTS_RESULT_BUCKETS where None,
            and none where that is not set either.
        deadline: seconds of a rollout, after which a failure is stored.
        minimum: what `PolicyFailure` without a reward earns.
        stored: fields of a request that are stored with its result, beside `_rollout`.
        s3_client: boto3's; the process's own where None.
        pauses: seconds before further attempts at a write.
        options: of the host: `executor`, `grace`; `api_key` of ours; `debug`, `lifespan` and
            `middleware` of AgentCore's.

    Raises:
        ConfigurationError: a malformed bucket.
    """


@dataclass(eq=False, slots=True)
class _Invocation:
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


class RuntimeInvocations(_Behind):
    """The part of `AgentCoreRuntimeApp` that is the same on each host."""

    def __init__(
        self,
        *,
        background: bool = False,
        state_dir: str | Path | None = None,
        **options: Any,
    ) -> None:
        self._every = background
        self._store = InvocationStore(state_dir)
        self._accepting = Lock()
        super().__init__(**options)

    def entrypoint(self, func: Callable[..., Any], /) -> Callable[..., Any]:
        """Answer requests by an agent: by the protocol those that have its envelope.

        Raises:
            ConfigurationError: it is no function.
        """
        self._agent = Agent(func)
        return self.register(self._begin, func)

    def _begin(self, payload: Any, context: Any) -> Future[Any] | None:
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
        live: _Invocation | None = self._live.get((session, asked.invocation_id))
        if live is not None and asked.operation == "start" and not asked.background:
            return live.ended
        return done(self._store.read(session, asked.invocation_id))

    def _start(self, session: str, invocation: str, payload: Any, context: Any) -> None:
        """Start an invocation, unless it was started before."""
        if self._store.read(session, invocation)["status"] != "not_found":
            return
        if self._ending:
            raise TooBusy("the agent is ending: it takes no new work")
        with self.executor.place() as place, ExitStack() as undo:
            claim = self._store.claim(session, invocation)
            if claim is None:
                return
            live = _Invocation(session, invocation, undo=ExitStack())
            live.undo.callback(self.complete_async_task, self.add_async_task(INVOCATION))
            live.undo.callback(claim.close)
            with self._changed:
                self._live[session, invocation] = live
            undo.callback(self._end, live, error=REFUSED)
            future, _ = self._agent.begin(place, payload, context)
            undo.pop_all()
        future.add_done_callback(lambda ended: behind(partial(self._finish, live, ended)))

    def _finish(self, live: _Invocation, ended: Future[Any]) -> None:
        if ended.cancelled():
            self._end(live, error=ENDED)
        elif (error := ended.exception()) is not None:
            self._end(live, error=f"the agent raised {type(error).__name__}")
        else:
            self._end(live, result=ended.result())

    def _end(self, live: _Invocation, **last: Any) -> None:
        """Make an end durable, once, and let its start go.

        Args:
            live: that ends.
            last: its `result` or `error`.
        """
        with live.deciding:
            if live.ended.done():
                _log.warning("an invocation ended after its process had: the first end counts")
                return
            try:
                live.ended.set_result(self._kept(live, **last))
            except StateUnavailable as error:
                _log.error("%s", error)
                live.ended.set_exception(error)
        with self._changed:
            self._live.pop((live.session, live.invocation), None)
            live.undo.close()
            self._changed.notify_all()

    def _kept(self, live: _Invocation, **last: Any) -> State:
        """An end that is durable: the last state, or in its place an error."""
        completed = state(live.invocation, "completed", **last)
        try:
            self._store.finish(live.session, completed)
        except (TypeError, ValueError, RecursionError):
            return self._kept(live, error=NOT_JSON)
        except StateUnavailable as error:
            if "result" not in last:
                raise
            return self._kept(live, error=str(error))
        return completed

    def drain(self, grace: float, hurried: Event | None = None) -> None:
        """Take no new starts, wait for those that run, and mark the others.

        Args:
            grace: seconds to wait.
            hurried: ends the waiting once it is set.
        """
        for live in self._left(grace, hurried):
            self._end(live, error=ENDED)


class AgentCoreRuntimeApp(RuntimeInvocations, Host):
    """An agent whose invocations can be started once, left, and asked for again.

    Args:
        background: whether a request without the protocol's envelope is answered at once too,
            under an id of the server's making.
        state_dir: where starts and ends are durable; a folder of the temporary one where None. A
            mount, where they are to outlive the machine.
        options: of the host, as `AgentCoreRLApp` takes them.

    Raises:
        StateUnavailable: the folder cannot be written to.
    """
