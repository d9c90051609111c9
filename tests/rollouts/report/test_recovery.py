"""An outbox that can be read and not written: its reports are sent, and recorded when it can."""

from __future__ import annotations

from collections import Counter

import pytest

from reward_functions.rollouts.report.outbox import STATES
from reward_functions.rollouts.report.outbox.sqlite import MemoryOutbox
from reward_functions.rollouts.report.reporter import Timing
from reward_functions.rollouts.request.errors import OutboxUnavailable
from tests.rollouts.report.outbox.reports import NOW, WINDOW, episode, reported, target
from tests.rollouts.reporters import (
    CONFLICT,
    OK,
    THROTTLED,
    Clock,
    Scripted,
    reporter_of,
)
from tests.waiting import until


class ReadOnly(MemoryOutbox):
    """Full: it takes nothing while `full`."""

    full = False

    def _require_room(self):
        if self.full:
            raise OutboxUnavailable("the outbox: the disk is full")

    def begin(self, *given, **other):
        self._require_room()
        return super().begin(*given, **other)

    def add(self, *given, **other):
        self._require_room()
        super().add(*given, **other)

    def settle(self, *given, **other):
        self._require_room()
        super().settle(*given, **other)

    def end(self, *given):
        self._require_room()
        super().end(*given)

    def lease(self, *given):
        self._require_room()
        super().lease(*given)

    def due(self, now, limit=100, *, hold=0.0):
        if hold and super().due(now, limit):
            self._require_room()
        return super().due(now, limit, hold=hold)


@pytest.fixture
def outbox():
    return ReadOnly()


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def started(outbox, clock):
    reporters = []

    def start(transport, **other):
        reporters.append(reporter_of(outbox, transport, clock, **other))
        reporters[-1].start()
        return reporters[-1]

    yield start
    for each in reporters:
        each.close(patience=0.0)


def idle(reporter):
    """Whether all that was sent is settled: a clock that is moved before finds it due again."""
    return not reporter._drainer._in_flight


def rollouts(number):
    return [f"r{each}" for each in range(number)]


def test_reading_is_enough_to_deliver_once_and_in_order(outbox, clock, started):
    for name in rollouts(40):
        outbox.add(reported(name))
    outbox.full = True
    transport = Scripted()
    reporter = started(transport)
    until(lambda: reporter.counts["Reported"] == 80 and idle(reporter))
    for _ in range(20):
        clock.now += 30.0
        reporter._drainer.look()
    times = transport.times()
    assert (len(times), set(times.values())) == (80, {1})
    for name in rollouts(40):
        places = [transport.sent.index((name, each)) for each in ("complete", "reward")]
        assert places == sorted(places)
    assert outbox.counts()["pending"] == 80
    outbox.full = False
    until(lambda: outbox.counts()["delivered"] == 80)
    assert set(transport.times().values()) == {1}


def test_what_was_sent_meanwhile_is_not_sent_again_before_it_is_recorded(outbox, clock):
    outbox.add(reported("r1"))
    outbox.full = True
    transport = Scripted()
    reporter = reporter_of(outbox, transport, clock)
    reporter._drainer.look()
    until(lambda: idle(reporter))
    reporter._drainer.look()
    until(lambda: reporter.counts["Reported"] == 2 and idle(reporter))
    clock.now += 60.0
    outbox.full = False
    reporter._drainer._fetch(outbox, clock.now)  # it works again, between a look's two steps
    until(lambda: idle(reporter))
    assert set(transport.times().values()) == {1}
    reporter.close(patience=0.0)


@pytest.mark.parametrize("reply", [OK, CONFLICT], ids=["delivered", "refused"])
def test_what_a_process_could_not_record_it_sends_no_more(outbox, clock, started, reply):
    transport = Scripted(lambda _: reply)
    reporter = started(transport)
    reporter.keep(reported())
    outbox.full = True
    reporter.release(reported())
    clock.now += 5.0
    until(lambda: sum(reporter.counts.values()) == 2 and idle(reporter))
    clock.now += 60.0
    reporter._drainer.look()
    assert transport.times() == Counter({("r1", "complete"): 1, ("r1", "reward"): 1})
    outbox.full = False
    until(lambda: not outbox.counts()["pending"])


def test_one_that_fails_is_sent_again_a_lease_later(outbox, clock, started):
    outbox.add(reported()[:1])
    outbox.full = True
    transport = Scripted(lambda _: THROTTLED)
    reporter = started(transport, timing=Timing(poll=0.005, lease=30.0))
    for sent in (1, 2, 3):
        until(lambda sent=sent: len(transport.sent) == sent)
        until(lambda sent=sent: reporter.counts["Throttled"] == sent and idle(reporter))
        clock.now += 29.0
        reporter._drainer.look()
        assert len(transport.sent) == sent
        clock.now += 1.0
    outbox.full = False
    transport.answer = lambda _: OK
    clock.now += 30.0
    until(lambda: outbox.counts()["delivered"] == 1)


def test_freed_space_is_used_by_the_next_look(outbox, clock, caplog):
    outbox.full = True
    reporter = reporter_of(outbox, Scripted(lambda _: THROTTLED), clock)
    for name in rollouts(5):
        reporter.keep(reported(name))
    reporter.recover()
    assert outbox.counts()["pending"] == 0
    outbox.full = False
    reporter.recover()
    assert outbox.counts()["pending"] == 10
    assert reporter.stores[1].counts()["pending"] == 0
    assert caplog.text.count("takes reports again") == 1
    reporter.close(patience=0.0)


def test_freed_space_is_used_before_a_process_ends(outbox, clock, caplog):
    outbox.full = True
    reporter = reporter_of(outbox, Scripted(), clock)
    reporter.keep(reported())
    outbox.full = False
    reporter.close(patience=0.0)
    assert outbox.counts()["pending"] == 2
    assert "lost" not in caplog.text


def test_an_episode_that_ended_on_a_full_disk_is_not_run_again(outbox, clock):
    outbox.begin(episode(), owner="dead", now=NOW)
    outbox.full = True
    reporter = reporter_of(outbox, clock=clock, rerun=True)
    reporter.end(target())
    assert reporter.held(target())
    outbox.full = False
    reporter.recover()
    assert outbox.counts() == dict.fromkeys([*STATES, "running"], 0)
    assert not reporter.held(target())
    reporter.close(patience=0.0)


@pytest.mark.parametrize("busy", [False, True], ids=["runs", "busy"])
def test_an_unfinished_episode_is_announced_once(outbox, clock, caplog, busy):
    for name in rollouts(9):
        outbox.begin(episode(name), owner="dead", now=NOW)
    outbox.full = True
    reporter = reporter_of(outbox, clock=clock, rerun=True)
    asked = []

    def run(orphan):
        asked.append(orphan)
        if busy:
            raise RuntimeError

    reporter.rerun = run
    reporter.start()
    for times in (1, 2, 3):
        until(lambda times=times: len(asked) == 9 * times)
        clock.now += 10.0
    reporter.close(patience=0.0)
    assert caplog.text.count("it is run again") == 9
    assert caplog.text.count("is not run again yet") == 9 * busy


def test_an_episode_that_runs_again_in_memory_is_asked_for_once(outbox, clock):
    outbox.begin(episode(), owner="dead", now=NOW)
    outbox.full = True
    reporter = reporter_of(outbox, clock=clock, rerun=True)
    asked = []

    def run(orphan):
        asked.append(orphan)
        assert reporter.begin(orphan) == "new"

    reporter.rerun = run
    for _ in range(5):
        reporter._drainer.look()
        until(lambda: reporter.held(target()))
        clock.now += 10.0
    assert len(asked) == 1
    reporter.close(patience=0.0)


def test_of_one_orphan_that_cannot_be_given_up_the_others_run_all_the_same(outbox, clock):
    outbox.begin(episode("sampled", sampled=True, began=NOW - 1), owner="dead", now=NOW)
    outbox.begin(episode("fresh", expires=NOW + WINDOW), owner="dead", now=NOW)
    outbox.full = True
    reporter = reporter_of(outbox, clock=clock, rerun=True)
    asked = []
    reporter.rerun = asked.append
    reporter._drainer.look()
    until(lambda: [each.target.trajectory_id for each in asked] == ["fresh"])
    reporter.close(patience=0.0)
