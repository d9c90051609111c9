"""What a process reports with: one outbox, one drainer, its transports, and its counts.

Where the outbox fails, reports are kept in memory and sent all the same: a log line says once for
each cause what to do, and a report that is not delivered before the process ends is lost. That is
the one way to lose one.
"""

from __future__ import annotations

import atexit
import logging
import os
import random as random_numbers
import socket
from collections import Counter
from contextlib import contextmanager
from dataclasses import replace
from math import inf
from secrets import token_hex
from threading import Condition, Lock
from time import monotonic
from typing import TYPE_CHECKING, Final
from weakref import ref

from reward_functions.core.extras import require
from reward_functions.rollouts.record import spans
from reward_functions.rollouts.report.delivery import LAST, pause
from reward_functions.rollouts.report.drainer import Drainer
from reward_functions.rollouts.report.host import Timing
from reward_functions.rollouts.report.outbox import LONGEST
from reward_functions.rollouts.report.outbox.opening import open_outbox
from reward_functions.rollouts.report.outbox.sqlite import MemoryOutbox
from reward_functions.rollouts.report.recovery import Recovery
from reward_functions.rollouts.report.settings import RolloutSettings
from reward_functions.rollouts.report.transports import open_transport
from reward_functions.rollouts.request.clock import steady
from reward_functions.rollouts.request.errors import IntentTooLarge, OutboxUnavailable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from reward_functions.rollouts.report.intents import Intent, Target
    from reward_functions.rollouts.report.outbox import Begun, Episode, Outbox
    from reward_functions.rollouts.report.transports import Transport
    from reward_functions.rollouts.request.outcomes import Outcome

log = logging.getLogger("reward_functions.rollouts")

CAUSES: Final = 100
"""Different failures of a store that are remembered as logged."""

PATIENCE: Final = 10.0
"""Seconds that a process which ends takes for what is due."""


class Reporter:
    """How a process reports its rollouts; shared by all its threads.

    Args:
        settings: of the process.
        outbox: where intents are durable.
        transports: makes the transport of a kind; called once for each.
        clock: seconds since the epoch.
        timing: of the drainer.
        random: a number of 0 or more and less than 1, for the pauses between attempts.

    Attributes:
        owner: this process, as leases name it.
        counts: outcomes by the names of their types.
        rerun: runs an orphan again, where the settings want that: set by whoever serves an agent.
            It begins the episode itself, or raises where it cannot now; then it is asked again.
    """

    def __init__(
        self,
        settings: RolloutSettings,
        outbox: Outbox,
        *,
        transports: Callable[[str], Transport],
        clock: Callable[[], float] = steady,
        timing: Timing | None = None,
        random: Callable[[], float] = random_numbers.random,
    ) -> None:
        self.settings = settings
        self.outbox = outbox
        self.owner = f"{socket.gethostname()}-{os.getpid()}-{token_hex(4)}"
        self.counts: Counter[str] = Counter()
        self.rerun: Callable[[Episode], None] | None = None
        self.clock = clock
        self.timing = timing or Timing()
        self.closed = False
        self._random = random
        self._opened: dict[str, Transport] = {}
        self._open = transports
        self._spare = MemoryOutbox()
        self._spare.lease(self.owner, inf)
        self._recovery = Recovery(outbox, self._spare)
        self._sending: dict[str, float] = {}
        self._causes: set[str] = set()
        self._lock, self._transport_lock = Condition(), Lock()
        self._drainer = Drainer(self)
        if settings.otel:
            _trace(self)

    @property
    def stores(self) -> tuple[Outbox, MemoryOutbox, MemoryOutbox]:
        """Where intents are: the durable one, this process's memory, and copies of the former."""
        return self.outbox, self._spare, self._recovery.copies

    @property
    def reruns(self) -> bool:
        """Whether an episode that this process leaves unsampled is run again by its successor."""
        outlives = not self.settings.outbox.startswith("memory:")
        return self.settings.rerun and outlives and self.rerun is not None

    def transport(self, kind: str) -> Transport:
        """The transport of a kind, shared.

        Raises:
            ConfigurationError: there is none.
        """
        with self._transport_lock:
            if kind not in self._opened:
                self._opened[kind] = self._open(kind)
            return self._opened[kind]

    def keep(self, intents: Sequence[Intent]) -> bool:
        """Make intents of one rollout durable, before whoever calls this sends them.

        Another process sends them a moment later, and so does the drainer of this one after a
        longer one, unless they are settled by then.

        Returns:
            Whether they are durable; else they are in memory, and a log line says why.

        Raises:
            ConflictingReport: another report of the rollout and operation is there.
            IntentTooLarge: one is larger than an outbox takes.
        """
        now = self.clock()
        shortest = min((intent.expires - now for intent in intents), default=0.0)
        due = now + min(self.timing.hold, max(shortest / 2, 0.0))
        until = now + min(self.timing.own, max(shortest / 2, 0.0))
        if not any(self._spare.reported(intent.target) for intent in intents):
            try:
                self.outbox.add(intents, due=due)
                self._sends(intents, until)
            except IntentTooLarge:
                raise
            except OutboxUnavailable as error:
                self.unavailable(error)
            else:
                self._available()
                for intent in intents:
                    self._spare.end(intent.target)
                return True
        try:
            self._spare.add(intents, due=due)
            self._sends(intents, until)
        except OutboxUnavailable as error:
            self.unavailable(error)
        return False

    def settle(self, intent: Intent, outcome: Outcome) -> None:
        """Count an outcome and record it; one that may be retried is due again after a pause.

        However long the service asks to wait, there is one last attempt before the window closes.
        """
        with self._lock:
            self.counts[type(outcome).__name__] += 1
        self.release([intent])
        due = self._again(intent, outcome) if outcome.retryable else None
        if self._spare.holds(intent):
            self._spare.settle(intent, outcome, due=due)
            if outcome.delivered and intent.operation == "reward":
                self.end(intent.target)  # it may have begun in the outbox, before that failed
            return
        try:
            self.outbox.settle(intent, outcome, due=due)
            self._recovery.copies.forget(intent)
        except OutboxUnavailable as error:
            self.unavailable(error)
            later = None if due is None else max(due, self.clock() + self.timing.lease)
            self._recovery.settled(intent, outcome, later)

    def _again(self, intent: Intent, outcome: Outcome) -> float:
        """When a report is sent again; a look comes up to a poll late."""
        attempts = max(outcome.attempts, 1)
        wait = pause(attempts, retry_after=outcome.retry_after, random=self._random)
        wait = min(wait, LONGEST)
        now, last = self.clock(), intent.expires - LAST - self.timing.poll
        return min(now + wait, last if now < last else intent.expires)

    def sending(self, intent: Intent) -> bool:
        """Whether a thread sends an intent, or its outcome is here and not in the outbox yet.

        An outbox that could not be written shows as due what was sent meanwhile.
        """
        with self._lock:
            sends = self._is_sent(intent.token)
        return sends or self._recovery.has_settled(intent)

    def release(self, intents: Sequence[Intent]) -> None:
        """Leave intents to the drainer: the thread that kept them sends them no more."""
        with self._lock:
            for intent in intents:
                self._sending.pop(intent.token, None)
            self._lock.notify_all()

    def begin(self, episode: Episode) -> Begun:
        """Make durable that this process runs an episode; its payload only if it may run again.

        The drainer starts with the first one: it keeps this process's lease.
        """
        kept = episode if self.reruns else replace(episode, payload="")
        now = self.clock()
        if episode.target not in self._spare:
            self.start()
            try:
                self._drainer.live()
                return self.outbox.begin(kept, owner=self.owner, now=now)
            except OutboxUnavailable as error:
                self.unavailable(error)
        try:
            return self._spare.begin(kept, owner=self.owner, now=now)
        except OutboxUnavailable as error:
            self.unavailable(error)
            return "new"

    def end(self, target: Target) -> None:
        """Forget an episode of which nothing is reported: no other process takes it for lost."""
        self._spare.end(target)
        try:
            self.outbox.end(target)
        except OutboxUnavailable as error:
            self.unavailable(error)
            self._recovery.ended(target)

    def sampled(self, target: Target) -> None:
        """Make durable that an episode called the policy, so that it is not run again.

        To be called once an episode, before its first call. Nothing happens where no episode is
        run again.
        """
        if not self.reruns:
            return
        try:
            self.outbox.sampled(target)
        except OutboxUnavailable as error:
            self.unavailable(error)

    def start(self) -> None:
        """Start the drainer; nothing happens where it runs."""
        self._drainer.start()

    def close(self, *, patience: float = PATIENCE) -> None:
        """Wait for threads that are sending, send what is due, and close the outbox.

        The threads have half of the patience: what is in memory alone needs the rest.

        What is pending stays in the outbox, for the next process.

        Args:
            patience: seconds for sending; 0 sends nothing.
        """
        with self._lock:
            closed, self.closed = self.closed, True
        if closed:
            return
        late = monotonic() + patience
        with self._lock:
            self._lock.wait_for(lambda: not any(map(self._is_sent, self._sending)), patience / 2)
        self._drainer.close(max(late - monotonic(), 0.0))
        self.recover()
        lost = self._spare.counts()["pending"]
        if lost:
            log.error("%d reports were in memory alone, and are lost with this process", lost)
        self.outbox.close()

    def held(self, target: Target) -> bool:
        """Whether this process has a rollout in memory, whatever the outbox says of it."""
        return target in self._spare or self._recovery.has_ended(target)

    def copy(self) -> None:
        """Take to memory what is pending in an outbox that cannot be written, to be sent.

        Raises:
            OutboxUnavailable: it cannot be read either.
        """
        self._recovery.read()

    def recover(self) -> None:
        """Write down what the outbox has not taken, as soon as it takes it."""
        try:
            if self._recovery.write():
                self._available()
        except OutboxUnavailable as error:
            self.unavailable(error)

    def unavailable(self, error: OutboxUnavailable) -> None:
        """Say that a store fails, once for each cause."""
        cause = str(error)
        with self._lock:
            known = cause in self._causes
            if len(self._causes) < CAUSES:
                self._causes.add(cause)
        if not known:
            log.error("%s; meanwhile reports are kept in memory, and sent from there", cause)

    def _is_sent(self, token: str) -> bool:
        """Whether a thread is sending it; the lock is held."""
        return self._sending.get(token, -inf) > self.clock()

    def _sends(self, intents: Sequence[Intent], until: float) -> None:
        with self._lock:
            self._sending.update({intent.token: until for intent in intents})

    def _available(self) -> None:
        with self._lock:
            failed, self._causes = bool(self._causes), set()
        if failed:
            log.warning("the outbox %s takes reports again", self.outbox.name)


def _trace(given: Reporter) -> None:
    """Have rollouts traced, unless somebody has that done already, and the outbox watched."""
    require("opentelemetry", by="REWARD_ROLLOUTS_OTEL=1")
    from reward_functions.rollouts.record import telemetry  # noqa: PLC0415 - for those who trace

    if not spans.tracing():
        telemetry.use()
    if given.settings.outbox.startswith("dynamodb:"):
        return  # a table is counted by reading it
    watched = ref(given)

    def pending() -> int | None:
        known = watched()
        if known is None or known.closed:
            return None
        try:
            return known.outbox.counts()["pending"]
        except OutboxUnavailable:
            return None

    spans.watch("rollout.outbox.pending", pending)


class _Process:
    """The reporters of this process: its own, and those of `reporting`; the last of them counts."""

    def __init__(self) -> None:
        self.own: Reporter | None = None
        self.given: list[Reporter] = []
        self.lock = Lock()


_process = _Process()


def reporter() -> Reporter:
    """The process's own, or that of a `reporting` block.

    It is made at first use, with the settings of the environment; it is closed as the process ends,
    and a process that was forked makes another.

    Raises:
        ConfigurationError: a setting that cannot be used. The message names the variable.
    """
    with _process.lock:
        if _process.given:
            return _process.given[-1]
        if _process.own is None or _process.own.closed:
            settings = RolloutSettings.from_env()
            outbox = open_outbox(settings.outbox)
            _process.own = Reporter(settings, outbox, transports=open_transport)
            _process.own.start()
        return _process.own


@contextmanager
def reporting(given: Reporter) -> Iterator[Reporter]:
    """Report with this one for a block, in every thread of the process."""
    with _process.lock:
        _process.given.append(given)
    try:
        yield given
    finally:
        with _process.lock:
            if given in _process.given:  # a child that was forked in the block has none
                _process.given.remove(given)


def _forked() -> None:
    global _process  # noqa: PLW0603 - locks, threads and connections do not cross a fork
    _process = _Process()


def _end() -> None:
    if _process.own is not None:
        _process.own.close()


os.register_at_fork(after_in_child=_forked)
atexit.register(_end)
