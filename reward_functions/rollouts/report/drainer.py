"""What is due, sent in the background; what a dead process left, run again or reported as failed.

    outbox ──→ due ──→ a few senders ──→ settle
      └─────→ orphans ──→ run again, or reported as failed ──→ due

One daemon thread looks at the stores; daemon threads that come and go send, so that one slow
endpoint does not hold the rest up. The store keeps the order within a rollout.

A process has a lease while it runs episodes. One that stands still for longer (a debugger, a frozen
Lambda) loses them: the first report that is durable counts. One that notices that it stood still
takes nobody's episodes for a moment: others that did have to renew their leases.

Where what is due cannot be claimed, as on a full disk, it is copied and sent: see `recovery`.
"""

from __future__ import annotations

import logging
from collections import deque
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from math import inf
from threading import Condition, Event, Thread
from time import monotonic
from typing import TYPE_CHECKING, Final

from reward_functions.rollouts.report.delivery import attempt, log_outcome
from reward_functions.rollouts.report.host import over, raised
from reward_functions.rollouts.report.orphans import Orphans
from reward_functions.rollouts.report.outbox import KEPT
from reward_functions.rollouts.request.errors import OutboxUnavailable
from reward_functions.rollouts.request.outcomes import Expired, NotSent

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reward_functions.rollouts.report.host import Host
    from reward_functions.rollouts.report.intents import Stored
    from reward_functions.rollouts.report.outbox import Outbox
    from reward_functions.rollouts.request.outcomes import Outcome

log = logging.getLogger("reward_functions.rollouts")

MANY: Final = 1_000_000
"""More than memory holds."""

SHORTEST: Final = 0.5
"""Seconds that an attempt gets, however little of the window is left."""


class Drainer:
    """The background of a `Reporter`.

    Args:
        host: the reporter.
    """

    def __init__(self, host: Host) -> None:
        self._host = host
        self._changed = Condition()
        self._queue: deque[Stored] = deque()
        self._in_flight: set[str] = set()
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
        """Do what is to be done now; what is due is sent behind this."""
        now, timing = self._read_clock(), self._host.timing
        if self._leased:
            with self._tolerant():
                self.live()
        self._host.recover()
        with self._tolerant():
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
                if stored.intent.token not in tried:
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
            with self._tolerant():
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
        with self._tolerant():
            for stored in self._due(store, now, room):
                if not self._host.sending(stored.intent):
                    self._enqueue(stored)

    def _due(self, store: Outbox, now: float, room: int) -> Sequence[Stored]:
        """What is due; where it cannot be claimed, it is copied, and due from the copies."""
        timing = self._host.timing
        durable, _, copies = self._host.stores
        try:
            ready = store.due(now, room, hold=timing.hold)
        except OutboxUnavailable:
            if over(self._copied, timing.renew, now):
                self._copied = now
                with self._tolerant():
                    self._host.copy()
            raise
        for stored in ready if store is durable else ():
            copies.forget(stored.intent)
        return ready

    def _enqueue(self, stored: Stored) -> None:
        with self._changed:
            if stored.intent.token in self._in_flight:
                return
            self._in_flight.add(stored.intent.token)
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
            outcome = _without_reply(NotSent, stored, type(problem).__name__)
            raised(partial(self._host.settle, intent, outcome))
        with self._changed:
            self._in_flight.discard(intent.token)
            self._changed.notify_all()
        self._wake.set()

    def _sent(self, stored: Stored) -> None:
        """Send an intent once, and settle it."""
        intent, host = stored.intent, self._host
        left = intent.expires - host.clock()
        if left <= 0 and stored.attempts:
            outcome = _without_reply(Expired, stored)
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
                with self._tolerant():
                    store.purge([state], now - seconds)

    @contextmanager
    def _tolerant(self) -> Iterator[None]:
        """A block that a store which fails ends; the next look tries again."""
        try:
            yield
        except OutboxUnavailable as error:
            self._host.unavailable(error)


def _without_reply(kind: type[Outcome], stored: Stored, error_type: str = "") -> Outcome:
    return kind(
        operation=stored.intent.operation,
        trajectory_id=stored.intent.target.trajectory_id,
        attempts=stored.attempts,
        status=None,
        error_type=error_type,
        detail=stored.detail,
    )
