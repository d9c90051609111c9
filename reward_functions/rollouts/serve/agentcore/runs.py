"""The rollouts of an app: each begins behind its answer and ends in one stored result.

    payload → destination → the agent, behind the answer → envelope → S3, once
                              └ deadline, end of the process: a failure → S3, once

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
"""

from __future__ import annotations

import logging
import time
from collections import Counter
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from threading import Condition
from typing import TYPE_CHECKING, Any, Final

from reward_functions.rollouts.episode.results import cause_of
from reward_functions.rollouts.episode.watchdog import watchdog
from reward_functions.rollouts.request.clock import steady
from reward_functions.rollouts.request.errors import (
    BadRequest,
    ConflictingReport,
    PolicyFailure,
    RefusedResult,
    ResultNotKept,
    TooBusy,
)
from reward_functions.rollouts.request.threads import behind, wait_hurried
from reward_functions.rollouts.serve.agentcore.destinations import (
    Destination,
    destination_of,
    write_result,
)
from reward_functions.rollouts.serve.agentcore.envelopes import STORED, failure, stored

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from threading import Event

    from reward_functions.rollouts.episode.background import Background
    from reward_functions.rollouts.serve.agentcore.agents import Agent
    from reward_functions.rollouts.serve.answering import TrackingApp

TASK: Final = "rollout"
"""What `/ping` keeps the session alive for."""

DEADLINE_SECONDS: Final = 28_500.0
"""Five minutes before AgentCore ends any session by default ("Lifecycle settings")."""

PAUSES: Final = (1.0, 4.0, 16.0)
"""Seconds before further attempts at a write, each of which boto3 has tried three times."""

INTERRUPTED: Final = "the agent's process ended before its rollout"

_log = logging.getLogger(__name__)


@dataclass(eq=False, slots=True)
class _Run:
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


class RolloutRuns:
    """The rollouts of one agent.

    Args:
        agent: that is run.
        app: says HealthyBusy meanwhile.
        background: where it runs.
        buckets: that results may be written to.
        client: gives boto3's for S3.
        deadline: seconds of a rollout.
        minimum: what `PolicyFailure` without a reward earns.
        names: of the fields of a request that are stored with its result.
        pauses: seconds before further attempts at a write.

    Attributes:
        counts: how rollouts ended: stored, failed, late, conflict, lost.
    """

    def __init__(
        self,
        agent: Agent,
        *,
        app: TrackingApp,
        background: Background,
        buckets: frozenset[str],
        client: Callable[[], Any],
        deadline: float = DEADLINE_SECONDS,
        minimum: float = 0.0,
        names: Collection[str] = STORED,
        pauses: Sequence[float] = PAUSES,
    ) -> None:
        self.counts: Counter[str] = Counter()
        self._agent = agent
        self._app = app
        self._background = background
        self._buckets = buckets
        self._client = client
        self._deadline = deadline
        self._minimum = minimum
        self._names = tuple(names)
        self._pauses = tuple(pauses)
        self._changed = Condition()
        self._running: dict[Destination | _Run, _Run] = {}
        self._ending = False

    def begin(self, payload: Any, context: Any) -> dict[str, str]:
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
        run = _Run(destination, payload)
        answer = {"status": "processing"} if destination is None else destination.answer
        if self._enter(run):
            with ExitStack() as undo:
                undo.callback(self._leave, run)
                self._start(run, context)
                undo.pop_all()
        return answer

    def _enter(self, run: _Run) -> bool:
        """Whether a rollout is a new one."""
        with self._changed:
            if self._ending:
                raise TooBusy("the agent is ending: it takes no new work")
            if run.destination in self._running:
                _log.info("a rollout that runs was asked for again: it runs once")
                return False
            self._running[run.destination or run] = run
            return True

    def _start(self, run: _Run, context: Any) -> None:
        run.undo.callback(self._app.complete_async_task, self._app.add_async_task(TASK))
        with self._background.place() as place:
            future = self._agent.begin(place, run.payload, context)
        watch = watchdog().watch(steady() + self._deadline, partial(self._late, run))
        run.undo.callback(watchdog().end, watch)
        future.add_done_callback(lambda ended: behind(partial(self._finish, run, ended)))

    def _leave(self, run: _Run) -> None:
        """The end of a rollout."""
        with self._changed:
            self._running.pop(run.destination or run, None)
            self._changed.notify_all()
        run.undo.close()

    def drain(self, grace: float, hurried: Event | None = None) -> None:
        """Take no new rollouts, wait for those that run, and store a failure of the others.

        Args:
            grace: seconds to wait.
            hurried: ends the waiting once it is set.
        """
        with self._changed:
            self._ending = True
            wait_hurried(self._changed, lambda: not self._running, grace, hurried)
            left = list(self._running.values())
        self._agent.interrupt()
        if left:
            _log.warning("%d rollouts did not end in time: each is stored as a failure", len(left))
            with ThreadPoolExecutor(len(left), thread_name_prefix="rollout-drain") as pool:
                for run in left:
                    pool.submit(self._settle, run, failure(INTERRUPTED))

    def _late(self, run: _Run) -> None:
        sentence = f"the agent did not end within {self._deadline:g} seconds"
        self._settle(run, failure(sentence))

    def _finish(self, run: _Run, ended: Future[Any]) -> None:
        self._settle(run, self._content(ended))

    def _content(self, ended: Future[Any]) -> Any:
        """What an agent returned, or what is stored of what it raised."""
        try:
            error = ended.exception()
        except CancelledError:
            return failure(INTERRUPTED)
        cause = None if error is None else cause_of(error)
        if isinstance(cause, PolicyFailure):
            reward = self._minimum if cause.reward is None else cause.reward
            return {"rewards": reward, "stop_reason": "policy_failure"}
        if error is not None:
            return failure(f"the agent raised {type(error).__name__}", error)
        return ended.result()

    def _settle(self, run: _Run, content: Any) -> None:
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

    def _body(self, destination: Destination, run: _Run, content: Any) -> tuple[bytes, str]:
        """The object of some content, and how the rollout ended."""
        try:
            body = stored(content, destination, run.payload, self._names)
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
                write_result(destination, body, self._client())
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
