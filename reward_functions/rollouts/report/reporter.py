"""The reporter of a process: one outbox, one drainer, its transports, and its counts.

Where the outbox fails, reports are kept in memory and sent all the same. A log line says once for
each cause what to do. A report that is not delivered before the process ends is lost. That is the
one way to lose one. An outbox that can be read and not written, as on a full disk, is helped:

| what cannot be written | meanwhile | when it can be written again |
| --- | --- | --- |
| a claim of what is due | it is copied to memory, and sent, at most once a lease | it is claimed |
| what became of a report | it is remembered: this process sends it no more | it is recorded |
| a report itself | it is in memory, and sent from there | it is made durable, if it is pending |
| the end of an episode | it is remembered: it is not run again here | it ends |

Another process that reads the same outbox sends the same bytes with the same token: the service
counts them once.

Due reports are sent in the background; the episodes of a dead process are run again, or reported:

    outbox ──→ due ──→ a few senders ──→ settle
      └─────→ orphans ──→ run again, or reported as failed ──→ due

One daemon thread looks at the stores; daemon threads that come and go send, so that one slow
endpoint does not hold the rest up. The store keeps the order within a rollout.

A process has a lease while it runs episodes. One that stands still for longer (a debugger, a frozen
Lambda) loses them: the first report that is durable counts. One that notices that it stood still
takes nobody's episodes for a moment: others that did have to renew their leases.

| an orphan | becomes |
| --- | --- |
| `rerun` is set, it called no policy, its payload is kept, and there is time | run again |
| any other | completed as failed or as the minimum, as its handler had it |
"""

from __future__ import annotations

import atexit
import logging
import os
import random as random_numbers
import socket
from collections import Counter, deque
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from math import inf
from secrets import token_hex
from threading import Condition, Event, Lock, Thread
from time import monotonic
from typing import TYPE_CHECKING, Final
from weakref import ref

from reward_functions.core.extras import require
from reward_functions.rollouts.record import spans
from reward_functions.rollouts.report.delivery import (
    ATTEMPT,
    LAST,
    attempt,
    log_outcome,
    pause,
    unsent,
)
from reward_functions.rollouts.report.intents import OPERATIONS, report
from reward_functions.rollouts.report.outbox import KEPT, LONGEST
from reward_functions.rollouts.report.outbox.opening import open_outbox
from reward_functions.rollouts.report.outbox.sqlite import MemoryOutbox
from reward_functions.rollouts.report.settings import RolloutSettings
from reward_functions.rollouts.report.transports import open_transport
from reward_functions.rollouts.request.clock import steady
from reward_functions.rollouts.request.errors import (
    ConflictingReport,
    IntentTooLarge,
    OutboxUnavailable,
)
from reward_functions.rollouts.request.outcomes import Expired, NotSent

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from reward_functions.rollouts.report.intents import Intent, Stored, Target
    from reward_functions.rollouts.report.outbox import Begun, Episode, Outbox
    from reward_functions.rollouts.report.transports import Transport
    from reward_functions.rollouts.request.outcomes import Outcome

log = logging.getLogger("reward_functions.rollouts")

CAUSES: Final = 100
"""Different failures of a store that are remembered as logged."""

PATIENCE: Final = 10.0
"""Seconds that a process which ends takes for what is due."""


MOST: Final = 100_000
"""Reports that are read of an outbox at a time."""

SENDERS: Final = 8
"""Rollouts that are replayed at once."""


MANY: Final = 1_000_000
"""More than memory holds."""

SHORTEST: Final = 0.5
"""Seconds that an attempt gets, however little of the window is left."""


PAGE: Final = 1_000
"""Orphans that are looked at before reports are sent again: a dead agent may leave 4,160."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """When a process looks, and for how long it holds what it has; in seconds but for two.

    Args:
        poll: between two looks for what is due.
        hold: for which another process leaves a report to the one that is sending it. Where an
            attempt takes longer, it is sent twice with one token, which the service counts once.
        own: for which the drainer leaves a report to the thread of its process that is sending it.
        attempt: that one attempt takes at most.
        lease: for which a process counts as living without a sign of life.
        renew: between two signs of life, and between two looks for orphans.
        sweep: between two looks for what has been settled for long enough to be forgotten.
        senders: reports that are sent at once.
        reruns: episodes that are run again at once.
    """

    poll: float = 1.0
    hold: float = 5.0
    own: float = 30.0
    attempt: float = ATTEMPT
    lease: float = 30.0
    renew: float = 10.0
    sweep: float = 3600.0
    senders: int = 8
    reruns: int = 64


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
        rerun: runs an orphan again, where the settings want that: set by the server of an agent. It
            begins the episode itself, or raises where it cannot now; then it is asked again.
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
        self.recovery = Recovery(outbox, self._spare)
        self._sending: dict[str, float] = {}
        self._causes: set[str] = set()
        self._lock, self._transport_lock = Condition(), Lock()
        self._drainer = Drainer(self)
        if settings.otel:
            _trace(self)

    @property
    def stores(self) -> tuple[Outbox, MemoryOutbox, MemoryOutbox]:
        """Where intents are: the durable one, this process's memory, and copies of the former."""
        return self.outbox, self._spare, self.recovery.copies

    @property
    def reruns(self) -> bool:
        """Whether an episode that this process leaves unsampled is run again by its successor."""
        outlives = not self.settings.outbox.startswith("memory:")
        return self.settings.rerun and outlives and self.rerun is not None

    def transport(self, kind: str) -> Transport:
        """The transport of a kind, shared.

        Raises:
            ConfigurationError: the transport does not exist.
        """
        with self._transport_lock:
            if kind not in self._opened:
                self._opened[kind] = self._open(kind)
            return self._opened[kind]

    def keep(self, intents: Sequence[Intent]) -> bool:
        """Make intents of one rollout durable, before the caller sends them.

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
        with self.tolerant():
            self._spare.add(intents, due=due)
            self._sends(intents, until)
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
            self.recovery.copies.forget(intent)
        except OutboxUnavailable as error:
            self.unavailable(error)
            later = None if due is None else max(due, self.clock() + self.timing.lease)
            self.recovery.settled(intent, outcome, later)

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
        return sends or self.recovery.has_settled(intent)

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
            with self.tolerant():
                self._drainer.live()
                return self.outbox.begin(kept, owner=self.owner, now=now)
        with self.tolerant():
            return self._spare.begin(kept, owner=self.owner, now=now)
        return "new"

    def end(self, target: Target) -> None:
        """Forget an episode of which nothing is reported: no other process takes it for lost."""
        self._spare.end(target)
        try:
            self.outbox.end(target)
        except OutboxUnavailable as error:
            self.unavailable(error)
            self.recovery.ended(target)

    def sampled(self, target: Target) -> None:
        """Make durable that an episode called the policy, so that it is not run again.

        To be called once an episode, before its first call. Nothing happens where no episode is
        run again.
        """
        if self.reruns:
            with self.tolerant():
                self.outbox.sampled(target)

    def start(self) -> None:
        """Start the drainer; nothing happens where it runs."""
        self._drainer.start()

    def close(self, *, patience: float = PATIENCE) -> None:
        """Wait for threads that are sending, send what is due, and close the outbox.

        The threads have half of the patience: what is in memory alone needs the rest.

        Pending reports stay in the outbox, for the next process.

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
        """Whether this process has a rollout in memory, independent of the outbox."""
        return target in self._spare or self.recovery.has_ended(target)

    def recover(self) -> None:
        """Write down what the outbox has not taken, as soon as it takes it."""
        with self.tolerant():
            if self.recovery.write():
                self._available()

    @contextmanager
    def tolerant(self) -> Iterator[None]:
        """A block that a store which fails ends; a later look tries again."""
        try:
            yield
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


class Drainer:
    """The background of a `Reporter`.

    Args:
        host: the reporter.
    """

    def __init__(self, host: Reporter) -> None:
        self._host = host
        self._changed = Condition()
        self._queue: deque[Stored] = deque()
        self._in_flight: dict[str, int] = {}
        self._senders = self._taken = 0
        self._thread: Thread | None = None
        self._stop, self._wake = Event(), Event()
        self._orphans = Orphans(host, self.live, self._wake.set)
        self._leased = False
        self._renewed = self._swept = self._copied = -inf
        self._read: float | None = None
        self._late = inf

    def start(self) -> None:
        """Begin to look, in a thread of its own; nothing happens where it does."""
        with self._changed:
            if self._thread is not None and self._thread.is_alive():
                return
            self._stop.clear()
            self._thread = Thread(target=self._run, name="rollout-reports", daemon=True)
            self._thread.start()

    def live(self) -> None:
        """Have a lease from now on, which the thread renews.

        Raises:
            OutboxUnavailable: it cannot be written.
        """
        now = self._host.clock()
        if not self._leased or over(self._renewed, self._host.timing.renew, now):
            self._host.stores[0].lease(self._host.owner, now + self._host.timing.lease)
            self._leased, self._renewed = True, now

    def look(self) -> None:
        """Do what is to be done now; what is due is sent after this."""
        now, timing = self._read_clock(), self._host.timing
        if self._leased:
            with self._host.tolerant():
                self.live()
        self._host.recover()
        with self._host.tolerant():
            self._orphans.look(now)
        if over(self._swept, timing.sweep, now):
            self._swept = now
            self._forget(now)
        for store in self._host.stores:
            self._fetch(store, now)
        self._read_clock()

    def _read_clock(self) -> float:
        """The time; where this process stood still or the clock was set, orphans have to wait."""
        now, timing = self._host.clock(), self._host.timing
        if self._read is not None and over(self._read, timing.renew + timing.poll, now):
            self._orphans.wait(now)
        self._read = now
        return now

    def drain(self, patience: float) -> None:
        """Send what is due, in this thread too, until nothing is or the time is over.

        Args:
            patience: seconds.
        """
        self._late = monotonic() + patience
        tried: set[str] = set()
        while monotonic() < self._late:
            taken = self._taken
            _, memory, _ = self._host.stores
            for store in self._host.stores:
                self._fetch(store, self._host.clock())
            # What this process alone knows of does not wait for its time: there is no other.
            for stored in memory.due(inf, MANY):
                if stored.intent.token not in tried and not self._waits(stored.intent):
                    tried.add(stored.intent.token)
                    self._enqueue(stored)
            # What was taken may be sent by now, and what waited for it be due.
            if not self._in_flight and self._taken == taken:
                break
            while monotonic() < self._late and (waiting := self._next()):
                self._send(waiting)
            with self._changed:
                left = self._late - monotonic()
                self._changed.wait_for(lambda: not self._in_flight, timeout=max(left, 0.0))
        self._late = inf

    def close(self, patience: float) -> None:
        """End the thread, drain, and give the lease up.

        Args:
            patience: seconds for what is due.
        """
        self._stop.set()
        self._wake.set()
        late = monotonic() + patience
        if self._thread is not None:
            self._thread.join(patience)
        self.drain(late - monotonic())
        if self._leased:
            with self._host.tolerant():
                self._host.stores[0].lease(self._host.owner, self._host.clock())
            self._leased = False

    def _run(self) -> None:
        while not self._stop.is_set():
            if problem := raised(self.look):
                log.error("a look at the outbox ended with %s", type(problem).__name__)
            self._wake.wait(self._host.timing.poll)
            self._wake.clear()

    def _fetch(self, store: Outbox, now: float) -> None:
        """Take what is due, as much as the senders will have sent soon, and have it sent."""
        timing = self._host.timing
        room = 2 * timing.senders - len(self._in_flight)
        if room <= 0:
            return
        with self._host.tolerant():
            for stored in self._due(store, now, room):
                if not self._host.sending(stored.intent) and not self._waits(stored.intent):
                    self._enqueue(stored)

    def _waits(self, intent: Intent) -> bool:
        """Whether a report is in memory, and its completion is pending in the outbox."""
        durable, memory, copies = self._host.stores
        if intent.operation == "complete" or not memory.holds(intent):
            return False
        found: list[Stored] = []
        for store in (durable, copies):
            with suppress(OutboxUnavailable):
                found += store.find(intent.target)
        return any(
            each.state == "pending"
            and each.intent.operation == "complete"
            and not self._host.recovery.has_settled(each.intent)
            for each in found
        )

    def _due(self, store: Outbox, now: float, room: int) -> Sequence[Stored]:
        """What is due; where it cannot be claimed, it is copied, and due from the copies."""
        timing = self._host.timing
        durable, _, copies = self._host.stores
        try:
            ready = store.due(now, room, hold=timing.hold)
        except OutboxUnavailable:
            if over(self._copied, timing.renew, now):
                self._copied = now
                with self._host.tolerant():
                    self._host.recovery.read()
            raise
        for stored in ready if store is durable else ():
            copies.forget(stored.intent)
        return ready

    def _enqueue(self, stored: Stored) -> None:
        """Have it sent, unless the same attempt is in flight.

        One whose outcome has just been recorded counts one attempt more. It is taken: the store
        holds what it showed as due, and shows it again only a while later.
        """
        token, attempts = stored.intent.token, stored.attempts
        with self._changed:
            if attempts <= self._in_flight.get(token, -1):
                return
            self._in_flight[token] = attempts
            self._taken += 1
            self._queue.append(stored)
            if self._senders < self._host.timing.senders:
                sender = Thread(target=self._sending, name="rollout-report", daemon=True)
                with suppress(RuntimeError):  # the interpreter ends: `drain` sends
                    sender.start()
                    self._senders += 1

    def _sending(self) -> None:
        while True:
            stored = self._next()
            if stored is None:
                with self._changed:
                    if not self._queue:
                        self._senders -= 1
                        return
            else:
                self._send(stored)

    def _next(self) -> Stored | None:
        with self._changed:
            return self._queue.popleft() if self._queue else None

    def _send(self, stored: Stored) -> None:
        intent = stored.intent
        if problem := raised(partial(self._sent, stored)):
            log.error("sending a report ended with %s", type(problem).__name__)
            outcome = unsent(
                NotSent, intent, stored.attempts + 1, type(problem).__name__, stored.detail
            )
            raised(partial(self._host.settle, intent, outcome))
        with self._changed:
            if self._in_flight.get(intent.token) == stored.attempts:
                del self._in_flight[intent.token]
            self._changed.notify_all()
        self._wake.set()

    def _sent(self, stored: Stored) -> None:
        """Send an intent once, and settle it."""
        intent, host = stored.intent, self._host
        left = intent.expires - host.clock()
        if left <= 0 and stored.attempts:
            outcome = unsent(Expired, intent, stored.attempts, detail=stored.detail)
        else:
            first = stored.attempts == 0 and intent.token in self._orphans.first_sends
            self._orphans.first_sends.discard(intent.token)
            outcome = attempt(
                intent,
                host.transport(intent.target.transport),
                before=stored.attempts,
                maybe_sent=not first,
                timeout=max(SHORTEST, min(host.timing.attempt, left, self._late - monotonic())),
            )
        host.settle(intent, outcome)
        outcome = replace(outcome, pending=outcome.retryable)
        log_outcome(outcome, level=logging.DEBUG if outcome.pending else None)

    def _forget(self, now: float) -> None:
        """Forget what has been settled for long enough."""
        for store in self._host.stores:
            for state, seconds in KEPT.items():
                with self._host.tolerant():
                    store.purge([state], now - seconds)


class Orphans:
    """A drainer's work for orphans.

    Args:
        host: the reporter.
        live: has a lease from now on.
        wake: has the drainer look at once.

    Attributes:
        first_sends: tokens of reports that nobody can have sent before.
    """

    def __init__(
        self, host: Reporter, live: Callable[[], object], wake: Callable[[], object]
    ) -> None:
        self.first_sends: set[str] = set()
        self._host, self._live, self._wake = host, live, wake
        self._lock = Lock()
        self._rerunning: set[Target] = set()
        self._asked: set[Target] = set()
        self._announced: set[Target] = set()
        self._crowded = self._more = False
        self._looked = -inf

    def look(self, now: float) -> None:
        """Do what there is to do for the episodes of dead processes, where it is time for that.

        Args:
            now: as the drainer read the clock: one that is set meanwhile ends nobody's lease.

        Raises:
            OutboxUnavailable: the store fails; a later look goes on.
        """
        if over(self._looked, self._host.timing.renew, now):
            self._looked, self._more = now, True
            self._asked = set(self._rerunning)
        if self._more:
            self._more = False
            self._adopt(now)

    def wait(self, now: float) -> None:
        """Take nobody's episodes for a moment: others have to renew their leases first."""
        self._looked, self._more = now, False

    def _soon(self) -> None:
        """Look again at once: there are more, and there is a place for them."""
        self._more = True
        self._wake()

    def _adopt(self, now: float) -> None:
        orphans = self._host.stores[0].orphans(now, PAGE)
        given_up = 0
        self._announced &= {episode.target for episode in orphans}
        left = [episode for episode in orphans if not self._host.held(episode.target)]
        for episode in left:
            if self._again(episode, now):
                self._run_again(episode)
        for episode in left:
            if not self._again(episode, now):
                given_up += self._give_up(episode, now)
        if given_up and len(orphans) == PAGE:
            self._soon()

    def _again(self, episode: Episode, now: float) -> bool:
        """Whether an orphan may be run again, here or by another process that can."""
        settings = self._host.settings
        time = now < episode.expires - settings.margin
        return bool(settings.rerun and episode.payload and not episode.sampled and time)

    def _run_again(self, episode: Episode) -> None:
        """Hand an orphan to the host, which begins it; where that raises, a later look does so."""
        rerun = self._host.rerun
        key = episode.target
        rollout = ascii(key.trajectory_id)
        with self._lock:
            if rerun is None or key in self._asked:
                return
            if len(self._rerunning) >= self._host.timing.reruns:
                self._crowded = True
                return
            self._rerunning.add(key)
            self._asked.add(key)
            known = key in self._announced
            self._announced.add(key)

        def running() -> None:
            if problem := raised(partial(rerun, episode)):
                name = type(problem).__name__
                level = logging.DEBUG if known else logging.WARNING
                log.log(level, "rollout %s is not run again yet: %s", rollout, name)
            with self._lock:
                self._rerunning.discard(key)
                crowded, self._crowded = self._crowded, False
            if crowded:
                self._soon()

        if not known:
            log.warning("a process ended in rollout %s: it is run again", rollout)
        Thread(target=running, name="rollout-rerun", daemon=True).start()

    def _give_up(self, episode: Episode, now: float) -> bool:
        """Report an orphan as failed, unless another process has it by now, and say whether."""
        host = self._host
        self._live()
        if host.stores[0].begin(episode, owner=host.owner, now=now) != "new":
            return False
        status = "failed" if episode.on_failure == "failed" else "ready"
        intents = report(
            episode.target,
            created=now,
            expires=episode.expires,
            status=status,
            rewards=[episode.minimum],
        )
        self.first_sends |= {intent.token for intent in intents}
        with suppress(ConflictingReport):  # its process lives after all, and was faster
            host.stores[0].add(intents)
            log.warning(
                "a process ended in rollout %s: it is reported as %s",
                ascii(episode.target.trajectory_id),
                status,
            )
        return True


def over(since: float, seconds: float, now: float) -> bool:
    """True once the time is over, or if the clock was set back before its beginning."""
    return not since <= now < since + seconds


def raised(work: Callable[[], object]) -> Exception | None:
    """The exception of somebody else's code: of a transport, or of an agent that runs again."""
    try:
        work()
    except Exception as error:  # noqa: BLE001 - a thread that ends would end all reports
        return error
    return None


class Recovery:
    """The state of an outbox's recovery; shared by the threads of a process.

    Args:
        outbox: the durable store.
        spare: where reports are that it did not take.

    Attributes:
        copies: reports that lie in the outbox, and are sent from memory.
    """

    def __init__(self, outbox: Outbox, spare: MemoryOutbox) -> None:
        self.copies = MemoryOutbox()
        self._outbox = outbox
        self._spare = spare
        self._outcomes: dict[str, tuple[Intent, Outcome, float | None]] = {}
        self._ended: set[Target] = set()
        self._lock = Lock()

    def read(self) -> None:
        """Copy what is pending in the outbox, due when it is due there.

        Raises:
            OutboxUnavailable: it cannot be read either, or memory is full.
        """
        for stored in self._outbox.list(["pending"], MOST):
            with suppress(ConflictingReport):
                self.copies.add([stored.intent], due=stored.due)

    def settled(self, intent: Intent, outcome: Outcome, due: float | None) -> None:
        """Remember what became of a report that lies in the outbox.

        Args:
            intent: the report.
            outcome: that could not be recorded.
            due: when it is sent again, where it is.
        """
        with self._lock:
            self._outcomes[intent.token] = intent, outcome, due
        with suppress(ConflictingReport, OutboxUnavailable):
            self.copies.add([intent])
            self.copies.settle(intent, outcome, due=due)

    def has_settled(self, intent: Intent) -> bool:
        """Whether the outcome of a report is held here, and is the last one."""
        with self._lock:
            _, outcome, _ = self._outcomes.get(intent.token, (None, None, None))
        return outcome is not None and not outcome.retryable

    def ended(self, target: Target) -> None:
        """Remember that an episode has ended, independent of the outbox."""
        with self._lock:
            self._ended.add(target)

    def has_ended(self, target: Target) -> bool:
        """Whether that is remembered."""
        with self._lock:
            return target in self._ended

    def write(self) -> bool:
        """Write down all that is held, and say whether there was any; what fails is kept.

        Raises:
            OutboxUnavailable: it still cannot be written.
        """
        with self._lock:
            outcomes, ended = list(self._outcomes.values()), list(self._ended)
        pending = self._spare.list(["pending"], MOST)
        rollouts: dict[Target, list[Stored]] = {}
        for stored in pending:
            rollouts.setdefault(stored.intent.target, []).append(stored)
        for reports in rollouts.values():
            # Together: a reward that had no room would be sent before a completion that had.
            with suppress(ConflictingReport):
                self._outbox.add([each.intent for each in reports], due=reports[0].due)
                for each in reports:
                    self._spare.forget(each.intent)
        for intent, outcome, due in outcomes:
            self._outbox.settle(intent, outcome, due=due)
            self.copies.forget(intent)
            with self._lock:
                self._outcomes.pop(intent.token, None)
        for target in ended:
            self._outbox.end(target)
            with self._lock:
                self._ended.discard(target)
        return bool(pending or outcomes or ended)


def replayed(
    reporter: Reporter, stored: Sequence[Stored], *, timeout: float = ATTEMPT
) -> Iterator[tuple[Stored, Outcome]]:
    """Send intents now, in any state and after their window, with the tokens they have.

    The drainer sends what is due. This is for a person who has mended what was wrong: credentials,
    a quota, a network. A report that the service has counted after all is answered as it was then.

    A reward is not sent while a completion before it is pending: it is left to the drainer.

    Args:
        reporter: whose outbox they are in; it counts and records the outcomes.
        stored: the intents.
        timeout: seconds of one attempt.

    Yields:
        The sent intents and their outcomes, as they come.

    Raises:
        OutboxUnavailable: the outbox cannot be written.
    """
    ordered = sorted(stored, key=_place)
    rollouts = [list(group) for _, group in groupby(ordered, key=lambda each: each.intent.key[:2])]
    with ThreadPoolExecutor(SENDERS) as threads:
        sending = [threads.submit(_rollout, reporter, each, timeout) for each in rollouts]
        try:
            for done in as_completed(sending):
                yield from done.result()
        finally:
            for each in sending:
                each.cancel()


def _rollout(
    reporter: Reporter, stored: Sequence[Stored], timeout: float
) -> list[tuple[Stored, Outcome]]:
    done: list[tuple[Stored, Outcome]] = []
    for each in stored:
        reporter.outbox.replay(each.intent, now=reporter.clock())
    for each in stored:
        if done and done[-1][1].retryable:
            break
        outcome = attempt(
            each.intent,
            reporter.transport(each.intent.target.transport),
            before=each.attempts,
            maybe_sent=True,
            timeout=timeout,
        )
        reporter.settle(each.intent, outcome)
        done.append((each, outcome))
    return done


def _place(stored: Stored) -> tuple[str, str, int]:
    job, trajectory, _ = stored.intent.key
    return job, trajectory, OPERATIONS.index(stored.intent.operation)


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
