"""One run of an agent: begun once, run in a Context of its own, reported once.

The first to claim it reports it: the agent's end, its failure, or the deadline. A later report is
logged, and not sent: the first one counts, at the service too.

**The record of an episode is kept** when it ends, once, as it was reported:

| ending | status | rewards |
| --- | --- | --- |
| a reward, a policy's failure, the deadline | `ready` | as reported |
| a failure of ours | `failed` | None: the number that a failed report carries is no reward |
| a failure of ours, reported as the minimum | `ready` | the minimum, as reported |
| the reward is deferred | `deferred` | None |
| the agent skipped | `skipped` | None |
| another report came first, of the agent's own client perhaps | `conflict` | None: it has them |
| a payload without the ids of a rollout | `unreported` | None |

`metadata` has the ending by the name that it is counted under, and the type of what was raised.
Acts of an agent after its deadline are not in the trajectory.
"""

from __future__ import annotations

import asyncio
import json
import logging
from contextvars import copy_context
from math import inf
from threading import Event, Lock
from typing import TYPE_CHECKING, Any, Final
from uuid import uuid4

from reward_functions.core.errors import RewardError
from reward_functions.rollouts.episode.episode import RolloutContext
from reward_functions.rollouts.episode.invocation import InContext
from reward_functions.rollouts.episode.policy_ping import LONGEST, ping_policy
from reward_functions.rollouts.episode.results import (
    Ending,
    ending_at_deadline,
    ending_of_failure,
    ending_of_result,
)
from reward_functions.rollouts.episode.watchdog import watchdog
from reward_functions.rollouts.record import spans
from reward_functions.rollouts.record.recording import Recording
from reward_functions.rollouts.report.deferred import BadRecord, DeferredRecord
from reward_functions.rollouts.report.outbox import Episode
from reward_functions.rollouts.report.transports import require_carried
from reward_functions.rollouts.request.clock import steady
from reward_functions.rollouts.request.contract import PARAMETERS
from reward_functions.rollouts.request.errors import (
    ConflictingReport,
    DeliveryFailed,
    EnvironmentFailure,
    IntentTooLarge,
    InvalidReward,
    ResultNotKept,
    RolloutError,
)
from reward_functions.rollouts.request.threads import in_thread

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from reward_functions.rollouts.episode.options import Reporting
    from reward_functions.rollouts.record.sink import TrajectorySink
    from reward_functions.rollouts.report.outbox import Begun
    from reward_functions.rollouts.request.contract import RolloutRequest


LATE: Final = object()
"""In place of an agent's result: its time was over, and it was cancelled."""

LONGEST_REPORT: Final = 30.0
"""Seconds that an agent's end waits for its deadline's report: more than a client's patience."""

_log = logging.getLogger("reward_functions.rollouts")


class Run:
    """One run of an agent for a request; its `with` block attributes what the agent raises.

    Args:
        request: as the trainer asked for it.
        reporting: how it is reported; None where the request has no ids, and nothing is.
        sink: keeps what it did; None where nobody does, and nothing is recorded.
        count: counts endings by name.
        began: when the request came, in seconds since the epoch.
        clock: seconds since the epoch.

    Attributes:
        episode: what the agent's code sees of it.
        surroundings: the Context that all of the agent's code runs in.

    Raises:
        UntrustedEndpoint: the request names an endpoint that no credential is sent to.
    """

    def __init__(
        self,
        request: RolloutRequest,
        reporting: Reporting | None,
        sink: TrajectorySink | None,
        *,
        count: Callable[[str], object],
        began: float,
        clock: Callable[[], float] = steady,
    ) -> None:
        given = _as_given(request)
        self.reporting = reporting
        self._sink = sink
        self._began = began
        self.episode = RolloutContext(
            *given,
            request=request,
            expires=None if reporting is None else began + reporting.window,
            minimum=0.0 if reporting is None else reporting.minimum,
            turn_rewards="immediate" if reporting is None else reporting.own.turn_rewards,
            first_call=self._sampled,
            recording=None if sink is None else Recording(clock=clock),
            clock=clock,
        )
        known = self.episode.metadata
        which = {"rollout.job": known.job_arn, "rollout.trajectory": known.trajectory_id}
        # A child of the span that is current here; it ends once the report is sent or kept.
        self._span = spans.NOTHING if reporting is None else spans.begin("rollout", which)
        with self.episode, self._span.current():
            self.surroundings = copy_context()
        self._count = count
        self._untaken, self._unclaimed, self._unkept = Lock(), Lock(), Lock()
        self._reported = Event()
        self._called_policy = False
        self._cancel: Callable[[], object] | None = None
        self._watch: Any = None
        self._client: Any = None
        if reporting is not None:
            self._client = reporting.own.client(
                request.metadata,
                transport=reporting.own.transport,
                expires=self.episode.expires,
                minimum=reporting.minimum,
                reporter=reporting.reporter,
                trusted=reporting.own.trusted,
            )

    @property
    def name(self) -> str:
        """Of the rollout, for logs and answers."""
        return self.episode.metadata.trajectory_id

    @property
    def late(self) -> bool:
        """Whether its deadline has come, so that the minimum is reported for it."""
        return self.reporting is not None and self.episode.remaining() <= self.reporting.margin

    @property
    def ended(self) -> bool:
        """Whether somebody has decided what is reported."""
        return self._unclaimed.locked()

    def begin(self) -> Begun:
        """Make durable that the episode runs here, and watch its deadline.

        Returns:
            "new", or why the agent does not run: "running" or "reported".

        Raises:
            BadRequest: ids with which nothing can be reported.
        """
        if self.reporting is None:
            return "new"
        require_carried(self._client.target)
        expires = self.episode.expires or inf
        begun = self.reporting.reporter.begin(
            Episode(
                target=self._client.target,
                began=self._began,
                expires=expires,
                minimum=self.reporting.minimum,
                payload=self._payload(),
                on_failure=self.reporting.on_failure,
            )
        )
        if begun == "new":
            self._watch = watchdog().watch(expires - self.reporting.margin, self.expire)
        return begun

    def take(self) -> bool:
        """Whether the caller is the first, and runs the agent."""
        return self._untaken.acquire(blocking=False)

    def __enter__(self) -> None:
        """Attribute what the block raises."""

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if error is not None:
            self.fail(error)

    async def __aenter__(self) -> None:
        """Attribute what the block raises, on a thread of its own."""

    async def __aexit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if error is not None:
            await in_thread(self.fail, error)

    async def in_time(self, awaitable: Awaitable[Any]) -> Any:
        """The result of an awaitable, in the episode's Context; `LATE` after its time.

        It is cancelled then, as by `asyncio.timeout`: the caller's task goes on.
        """
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(None) as scope:

                def cancel() -> None:
                    if self._cancel is not None:
                        scope.reschedule(loop.time())

                self._cancel = lambda: loop.call_soon_threadsafe(cancel)
                if self.episode.cancelled.is_set():
                    cancel()
                try:
                    return await InContext(awaitable, self.surroundings)
                finally:
                    self._cancel = None
        except TimeoutError:
            if not scope.expired():
                raise
            return LATE

    def finish(self, result: Any) -> None:
        """Report what the agent returned.

        Raises:
            RolloutError: it is no reward, or its report was refused, where reporting raises.
        """
        if self.reporting is None:
            self._keep("unreported", None, "", None)
            return
        try:
            with self._span.current():
                ending = ending_of_result(result, self.episode, self.reporting, began=self._began)
        except Exception as error:
            # An agent's result, or a reward, raises what it likes when it is read or scored: the
            # rollout is reported as failed all the same, and its caller gets the result.
            own = isinstance(error, RewardError)
            why = error if own else f"its result raises {type(error).__name__}"
            _log.error("rollout %r is not scored: %s", self.name, why)
            self.fail(error)
            if self.reporting.own.raises:
                raise
            return
        self._end(ending)

    def fail(self, error: BaseException) -> None:
        """Report what the agent raised."""
        if self.reporting is None:
            self._keep("unreported", None, "agent_failed", error)
            return
        try:
            ending = self._failed(error)
        except InvalidReward as wrong:
            ending = self._failed(wrong)
        self._end(ending)

    def _failed(self, error: BaseException) -> Ending:
        minimum = self.episode.minimum
        on_failure = "failed" if self.reporting is None else self.reporting.on_failure
        return ending_of_failure(error, minimum=minimum, on_failure=on_failure)

    def expire(self) -> None:
        """Report the minimum, and cancel the agent, unless it has ended."""
        if self.reporting is None or not self._unclaimed.acquire(blocking=False):
            return
        self.episode.cancelled.set()
        if (cancel := self._cancel) is not None:
            try:
                cancel()
            except RuntimeError:
                _log.info("rollout %r: its event loop has ended", self.name)
        self._report(ending_at_deadline(self.reporting.minimum), raises=False)

    def interrupt(self) -> None:
        """End with the process: a failure of ours, or left to the next process to run again."""
        if self.reporting is None or not self._unclaimed.acquire(blocking=False):
            return
        self.episode.cancelled.set()
        if self._watch is not None:
            watchdog().end(self._watch)
        if self.reporting.reporter.reruns and not self._called_policy:
            _log.info("rollout %r is left to the next process, to run again", self.name)
            self._reported.set()
            return
        self._report(self._failed(SystemExit()), raises=False)

    def _end(self, ending: Ending) -> None:
        """Report an ending, if nothing was reported before."""
        if not self._unclaimed.acquire(blocking=False):
            if self.episode.cancelled.is_set():
                _log.info("rollout %r has been reported: %s comes late", self.name, ending.event)
            self.wait_until_reported()
            return
        if self._watch is not None:
            watchdog().end(self._watch)
        raises = self.reporting is not None and self.reporting.own.raises
        ended = ending.status == "ready" or ending.record is not None
        self._report(ending, raises=raises and ended)

    def _report(self, ending: Ending, *, raises: bool) -> None:
        self._count(ending.event)
        counts = True
        try:
            with self._span.current():
                self._send(ending)
        except ConflictingReport as error:
            counts = False
            _log.info("rollout %r has another report, which counts: %s", self.name, error)
        except (IntentTooLarge, BadRecord, ResultNotKept) as error:
            _log.error("rollout %r: %s", self.name, error)
            self._report(self._failed(EnvironmentFailure(str(error))), raises=False)
            if raises:
                raise
        except DeliveryFailed:  # logged where it failed
            if raises:
                raise
        except RolloutError as error:  # nobody can report it, no other process either
            _log.error("rollout %r: %s", self.name, error)
            self._forget()
            if raises:
                raise
        finally:
            self._ended(ending, counts=counts)
            self._reported.set()

    def _ended(self, ending: Ending, *, counts: bool) -> None:
        """Keep an ending, and end the span with it; the first one counts."""
        status: str = ending.status or ending.event
        rewards = ending.rewards if status == "ready" and counts else None
        kept = self._keep(status if counts else "conflict", rewards, ending.event, ending.error)
        if not kept:
            return
        rewards, event = ending.rewards or (), {"rollout.event": ending.event}
        self._span.set(
            event
            | {
                "rollout.status": ending.status,
                "rollout.reward": sum(rewards) if len(rewards) == 1 else None,
                "rollout.rewards": rewards if len(rewards) > 1 else None,
                "rollout.turns": self.episode.turns,
            }
        )
        for each in rewards:
            spans.add("rollout.reward", each, event)
        self._span.end(ending.error)

    def _keep(
        self,
        status: str,
        rewards: tuple[float, ...] | None,
        event: str,
        error: BaseException | None,
    ) -> bool:
        """Hand on what the episode did; whether this is its first end."""
        if not self._unkept.acquire(blocking=False):
            return False
        if self._sink is not None and self.episode.recording is not None:
            metadata = {"ending": event, "error": "" if error is None else type(error).__name__}
            self._sink.keep(
                self.episode.recording.trajectory(
                    id=self.episode.metadata.trajectory_id or str(uuid4()),
                    job=self.episode.metadata.job_arn,
                    status=status,
                    rewards=rewards,
                    metadata={name: value for name, value in metadata.items() if value},
                )
            )
        return True

    def wait_until_reported(self) -> None:
        """Wait for a report that is on its way, for a time in which it is durable at least."""
        self._reported.wait(LONGEST_REPORT)

    def _send(self, ending: Ending) -> None:
        if ending.status == "failed":
            self._client.report_error(ending.error, ending.rewards)
            return
        if ending.status == "ready" or ending.record is not None:
            self._ping()
        if ending.record is not None:
            self._defer(ending.record)
            return
        if ending.rewards is not None:
            self._client.report_complete(ending.rewards)
        elif ending.status is not None:
            self._client.complete_rollout(ending.status)
        else:
            self._forget()

    def _defer(self, record: DeferredRecord) -> None:
        """Leave an episode to the feedback path: it is nobody's here once S3 has a result of it."""
        if self.reporting is None or self.reporting.deferred is None:
            return
        try:
            self.reporting.deferred.write(record)
        except ConflictingReport as error:
            _log.info("rollout %r: %s", self.name, error)
        self._forget()

    def _forget(self) -> None:
        """End the episode without a report."""
        if self.reporting is not None:
            self.reporting.reporter.end(self._client.target)

    def _ping(self) -> None:
        """Call the policy once where nobody has: an empty trajectory can end a job."""
        if self.reporting is None or not self.reporting.own.ping or self.episode.turns:
            return
        own = self.reporting.own.ping if callable(self.reporting.own.ping) else None
        timeout = min(LONGEST, self.episode.remaining() / 2)
        ping_policy(self.episode, self._client.target, own, timeout=timeout)

    def _sampled(self) -> None:
        """Make durable that the policy is called: such an episode is not run again."""
        self._called_policy = True
        if self.reporting is not None:
            self.reporting.reporter.sampled(self._client.target)

    def _payload(self) -> str:
        """The request, where an episode of a dead process is run again."""
        request = self.episode.request
        if self.reporting is None or request is None or not self.reporting.reporter.reruns:
            return ""
        return json.dumps(request.payload or request.wire())


def _as_given(request: RolloutRequest) -> tuple[Any, Any]:
    """Metadata and parameters as the payload has them, as sagemaker.train.rft shows them."""
    if not request.payload:
        return request.metadata, request.inference_params
    parameters = (request.payload.get(name) for name in PARAMETERS)
    return request.payload.get("metadata") or {}, next((each for each in parameters if each), None)
