"""A transport that answers as a test says, a clock that a test moves, and waiting for threads."""

from __future__ import annotations

from collections import Counter
from threading import Lock

from reward_functions.rollouts.report.outbox.sqlite import MemoryOutbox
from reward_functions.rollouts.report.reporter import Reporter, Timing
from reward_functions.rollouts.report.settings import RolloutSettings
from reward_functions.rollouts.report.transports import Reply
from tests.rollouts.report.outbox.reports import NOW

OK = Reply(200)
CONFLICT = Reply(409, "ConflictException")
THROTTLED = Reply(429, "ThrottlingException")

QUICK = Timing(poll=0.005)


class Clock:
    """Seconds since the epoch, when a test says so."""

    def __init__(self):
        self.now = NOW

    def __call__(self):
        return self.now


class Scripted:
    """A transport: `answer(intent)` replies, raises, or takes its time."""

    def __init__(self, answer=lambda _: OK):
        self.answer = answer
        self.sent = []
        self._lock = Lock()

    def send(self, intent, *, timeout):
        assert timeout > 0
        with self._lock:
            self.sent.append((intent.target.trajectory_id, intent.operation))
        return self.answer(intent)

    def times(self):
        return Counter(self.sent)

    def trust(self, endpoints):
        pass

    def renew(self):
        pass


def reporter_of(outbox=None, transport=None, clock=None, *, timing=QUICK, **settings):
    """A reporter over an outbox, whose pauses are the shortest."""
    transport = transport or Scripted()
    return Reporter(
        RolloutSettings(**({"rerun": False} | settings)),
        MemoryOutbox() if outbox is None else outbox,
        transports=lambda _: transport,
        clock=clock or Clock(),
        timing=timing,
        random=lambda: 0.0,
    )
