"""What is due is sent, once; what dead processes left is run again or reported as failed."""

from __future__ import annotations

from collections import Counter
from math import inf
from threading import Event

import pytest

from reward_functions.rollouts.report.credentials import NoReply
from reward_functions.rollouts.report.outbox.sqlite import MemoryOutbox, SqliteOutbox
from reward_functions.rollouts.report.reporter import Timing, replayed
from reward_functions.rollouts.report.transports import Reply
from reward_functions.rollouts.request.errors import OutboxUnavailable
from reward_functions.rollouts.request.outcomes import Expired, Reported, Throttled
from tests.rollouts.report.outbox.reports import NOW, WINDOW, episode, outcome, reported
from tests.rollouts.reporters import (
    CONFLICT,
    OK,
    THROTTLED,
    Clock,
    Scripted,
    reporter_of,
)
from tests.waiting import until

BOTH = [("r1", "complete"), ("r1", "reward")]


@pytest.fixture
def outbox():
    return MemoryOutbox()


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def started():
    """Start reporters; they are closed behind the test, and send nothing then."""
    reporters = []

    def start(*given, **other):
        reporters.append(reporter_of(*given, **other))
        reporters[-1].start()
        return reporters[-1]

    yield start
    for each in reporters:
        each.close(patience=0.0)


def states(outbox):
    return [each.state for each in outbox.list()]


def delivered(outbox):
    return lambda: outbox.list() and set(states(outbox)) == {"delivered"}


def test_what_another_process_left_is_sent_in_its_order(outbox, clock, started):
    outbox.add(reported())
    transport = Scripted()
    reporter = started(outbox, transport, clock)
    until(delivered(outbox))
    assert transport.sent == BOTH
    assert reporter.counts == {"Reported": 2}


def test_what_a_process_is_sending_is_left_to_it_for_a_moment(outbox, clock, started):
    transport = Scripted()
    reporter = started(outbox, transport, clock)
    reporter.keep(reported())
    assert [each.due for each in outbox.list()] == [NOW + 5.0, NOW + 5.0]
    outbox.add(reported("r2"))
    until(lambda: transport.times()["r2", "reward"])
    clock.now += 29.9
    outbox.add(reported("r3"))
    until(lambda: transport.times()["r3", "reward"])
    assert ("r1", "complete") not in transport.sent
    clock.now += 5.1
    until(delivered(outbox))


def test_what_a_thread_has_given_up_is_the_drainers(outbox, clock, started):
    reporter = started(outbox, clock=clock)
    complete, reward = reported()
    reporter.keep((complete, reward))
    for intent in (complete, reward):
        assert reporter.sending(intent)
        reporter.settle(intent, outcome(Throttled, intent))
        assert not reporter.sending(intent)
    until(delivered(outbox))
    assert reporter.counts == {"Throttled": 2, "Reported": 2}


def test_near_the_end_of_a_window_the_moment_is_half_of_what_is_left(outbox, clock):
    reporter_of(outbox, clock=clock).keep(reported(expires=NOW + 4.0))
    assert [each.due for each in outbox.list()] == [NOW + 2.0, NOW + 2.0]


def test_one_slow_endpoint_does_not_hold_the_rest(outbox, clock, started):
    release = Event()

    def answer(intent):
        if intent.target.trajectory_id.startswith("slow"):
            release.wait(60.0)
        return OK

    for number in range(4):
        outbox.add(reported(f"slow{number}"), due=NOW - 1)
    for number in range(40):
        outbox.add(reported(f"r{number}"))
    started(outbox, Scripted(answer), clock)
    until(lambda: outbox.counts()["delivered"] == 80)
    release.set()
    until(lambda: outbox.counts()["delivered"] == 88)


def test_a_throttled_report_is_sent_again_after_the_pause_that_is_asked_for(outbox, clock, started):
    replies = [Reply(429, "ThrottlingException", 30.0), OK, OK]
    transport = Scripted(lambda _: replies.pop(0))
    outbox.add(reported())
    reporter = started(outbox, transport, clock)
    until(lambda: outbox.list()[0].attempts == 1)
    assert [each.due for each in outbox.list()] == [NOW + 30.0, NOW]
    clock.now += 30.0
    until(delivered(outbox))
    assert [each.attempts for each in outbox.list()] == [2, 1]
    assert reporter.counts == {"Throttled": 1, "Reported": 2}


def test_a_conflict_with_what_may_have_been_sent_before_is_no_refusal(outbox, clock, started):
    outbox.add(reported())
    reporter = started(outbox, Scripted(lambda _: CONFLICT), clock)
    until(delivered(outbox))
    assert reporter.counts == {"AlreadyReported": 2}


def test_a_report_whose_window_has_closed_is_tried_once_and_kept(outbox, clock, started, caplog):
    """Only the trainer knows when it has stopped to wait."""
    answers = [THROTTLED, THROTTLED]
    transport = Scripted(lambda _: answers.pop(0) if answers else OK)
    outbox.add(reported())
    clock.now += WINDOW
    reporter = started(outbox, transport, clock)
    until(lambda: states(outbox) == ["expired", "expired"])
    assert transport.sent == BOTH
    assert reporter.counts == {"Throttled": 2, "Expired": 2}
    (stored, _) = outbox.list()
    outbox.replay(stored.intent, now=clock.now)
    until(lambda: states(outbox) == ["delivered", "expired"])
    assert "was not delivered before the rollout's window closed" in caplog.text


class Surprise(Exception):
    """What no transport raises on purpose."""


def test_a_transport_that_raises_what_nobody_foresaw_ends_nothing(outbox, clock, started, caplog):
    raised = []

    def answer(_):
        if len(raised) < 3:
            raised.append(Surprise("Bearer secret"))
            raise raised[-1]
        return OK

    outbox.add(reported())
    reporter = started(outbox, Scripted(answer), clock)
    until(delivered(outbox))
    assert reporter.counts == {"NotSent": 3, "Reported": 2}
    assert [each.attempts for each in outbox.list()] == [4, 1]
    assert "Surprise" in caplog.text
    assert "secret" not in caplog.text


class LookedAt(MemoryOutbox):
    """A store that is looked at once it has recorded an outcome, before its sender goes on."""

    def settle(self, *given, **other):
        super().settle(*given, **other)
        self.look()


def test_a_look_before_a_sender_is_through_leaves_nothing_for_later(clock):
    outbox, answers = LookedAt(), [THROTTLED, Surprise(), THROTTLED]

    def answer(_):
        reply = answers.pop(0) if answers else OK
        if isinstance(reply, Surprise):
            raise reply
        return reply

    outbox.add(reported())
    reporter = reporter_of(outbox, Scripted(answer), clock)
    outbox.look = reporter._drainer.look
    reporter.close(patience=60.0)
    assert [(each.state, each.attempts) for each in outbox.list()] == [
        ("delivered", 4),
        ("delivered", 1),
    ]


def test_two_processes_send_each_report_once(tmp_path, clock, started):
    path = tmp_path / "outbox.sqlite3"
    adding = SqliteOutbox(path)
    for number in range(30):
        adding.add(reported(f"r{number}"))
    transports = [Scripted(), Scripted()]
    for transport in transports:
        started(SqliteOutbox(path), transport, clock)
    until(delivered(adding))
    sent = transports[0].times() + transports[1].times()
    assert (len(sent), set(sent.values())) == (60, {1})


def left(outbox, **other):
    """An episode of a process that is dead."""
    began = episode(**other)
    outbox.begin(began, owner="dead", now=NOW)
    return began


@pytest.mark.parametrize(("on_failure", "status"), [("failed", "failed"), ("minimum", "ready")])
def test_an_orphan_is_reported_with_the_minimum(outbox, clock, started, on_failure, status, caplog):
    left(outbox, minimum=-1.0, on_failure=on_failure)
    transport = Scripted()
    started(outbox, transport, clock)
    until(delivered(outbox))
    assert [each.intent.payload for each in outbox.list()] == [
        {"Status": status},
        {"Rewards": [-1.0]},
    ]
    assert transport.sent == BOTH
    assert f"a process ended in rollout 'r1': it is reported as {status}" in caplog.text
    assert outbox.counts()["running"] == 0


def test_a_conflict_with_the_first_report_of_an_orphan_is_one(outbox, clock, started):
    left(outbox)
    reporter = started(outbox, Scripted(lambda _: CONFLICT), clock)
    until(lambda: states(outbox) == ["refused", "refused"])
    assert reporter.counts == {"Conflict": 1, "RewardOfFailed": 1}


@pytest.mark.parametrize("lost", [0, 1, 3])
def test_a_failed_rollout_whose_reward_is_refused_is_no_news(outbox, clock, started, caplog, lost):
    """Whoever sends it, and however often: it was neither taken before nor is it an error."""
    caplog.set_level("INFO", "reward_functions.rollouts")
    replies = [NoReply("no reply in time")] * lost + [CONFLICT]

    def answer(intent):
        if intent.operation == "complete":
            return OK
        reply = replies.pop(0)
        if isinstance(reply, NoReply):
            raise reply
        return reply

    outbox.add(reported(status="failed"))
    reporter = started(outbox, Scripted(answer), clock)
    until(lambda: states(outbox) == ["delivered", "refused"])
    assert reporter.counts == Counter(Reported=1, RewardOfFailed=1, Unreachable=lost)
    assert [each.outcome for each in outbox.list()] == ["Reported", "RewardOfFailed"]
    assert {record.levelname for record in caplog.records} == {"INFO"}


def test_a_conflict_behind_a_lost_reply_is_none(outbox, clock, started):
    replies = [NoReply("no reply in time"), CONFLICT, OK]

    def answer(_):
        reply = replies.pop(0)
        if isinstance(reply, NoReply):
            raise reply
        return reply

    left(outbox)
    reporter = started(outbox, Scripted(answer), clock)
    until(delivered(outbox))
    assert reporter.counts == {"Unreachable": 1, "AlreadyReported": 1, "Reported": 1}


def test_an_episode_of_a_living_process_is_left_to_it(outbox, clock, started):
    outbox.lease("alive", NOW + 30)
    outbox.begin(episode(), owner="alive", now=NOW)
    transport = Scripted()
    reporter = started(outbox, transport, clock)
    for rollout in ("r2", "r3"):
        clock.now += 10
        outbox.add(reported(rollout))
        until(lambda rollout=rollout: transport.times()[rollout, "reward"])
    assert outbox.counts()["running"] == 1
    clock.now += 10
    until(lambda: outbox.counts()["delivered"] == 6)
    assert reporter.counts == {"Reported": 6}


JUMPS = [60.0, 600.0, 86_400.0, -1.0, -60.0, -86_400.0]


@pytest.mark.parametrize("seconds", JUMPS)
@pytest.mark.parametrize("renewed", [True, False], ids=["alive", "dead"])
def test_a_clock_that_is_set_takes_no_episode_from_the_living(
    outbox, clock, started, seconds, renewed
):
    """All leases seem over, until whoever lives has renewed its own."""
    outbox.lease("other", NOW + 5)
    outbox.begin(episode(expires=inf), owner="other", now=NOW)
    transport = Scripted()

    def look(rollout):
        outbox.add(reported(rollout, created=clock.now))
        until(lambda: transport.times()[rollout, "reward"])

    started(outbox, transport, clock)
    look("r2")
    clock.now += seconds
    look("r3")
    assert outbox.counts()["running"] == 1
    outbox.lease("other", clock.now + 30 * renewed)
    clock.now += 10
    look("r4")
    until(lambda: outbox.counts()["running"] == renewed)


def test_a_lease_is_renewed_whatever_the_clock_does(outbox, clock, started):
    reporter = started(outbox, clock=clock)
    assert reporter.begin(episode(expires=inf)) == "new"
    for seconds in (10.0, -3600.0, 10.0, 7200.0):
        clock.now += seconds
        until(lambda: not outbox.orphans(clock.now + 29.0))
        until(lambda: outbox.orphans(clock.now + 31.0))
    assert outbox.counts()["running"] == 1


def test_all_that_an_agent_left_is_reported_by_the_next_look(outbox, clock, started, monkeypatch):
    monkeypatch.setattr("reward_functions.rollouts.report.reporter.PAGE", 10)
    for number in range(35):
        left(outbox, rollout=f"r{number}")
    started(outbox, clock=clock)
    until(lambda: outbox.counts()["delivered"] == 70)


def test_an_orphan_that_has_run_makes_room_for_the_next(outbox, clock, started):
    for number in range(9):
        left(outbox, rollout=f"r{number}")
    timing = Timing(poll=0.005, reruns=2)
    reporter = reporter_of(outbox, clock=clock, timing=timing, rerun=True)

    def run(orphan):
        assert reporter.begin(orphan) == "new"
        reporter.keep(reported(orphan.target.trajectory_id))

    reporter.rerun = run
    reporter.start()
    until(lambda: len(outbox.list()) == 18)
    assert {each.intent.payload.get("Status", "ready") for each in outbox.list()} == {"ready"}
    reporter.close(patience=0.0)


RERUNS = [
    # (what is true of an orphan, whether it is run again)
    ({}, True),
    ({"rerun": False}, False),
    ({"payload": ""}, False),
    ({"sampled": True}, False),
    ({"expires": NOW + 60.0}, False),
    ({"expires": NOW + 60.1}, True),
]


@pytest.mark.parametrize(("given", "again"), RERUNS, ids=[str(given) for given, _ in RERUNS])
def test_an_orphan_is_run_again_where_it_may_be(outbox, clock, given, again):
    given = dict(given)
    rerun = given.pop("rerun", True)
    left(outbox, **given)
    reporter = reporter_of(outbox, clock=clock, rerun=rerun)
    ran = []

    def run(orphan):
        assert reporter.begin(orphan) == "new"
        ran.append(orphan.target.trajectory_id)
        reporter.keep(reported())

    reporter.rerun = run
    reporter.start()
    until(outbox.list)
    reporter.close(patience=0.0)
    assert ran == ["r1"] * again
    status = "ready" if again else "failed"
    assert outbox.list()[0].intent.payload == {"Status": status}


def test_an_orphan_waits_for_who_can_run_it_as_long_as_there_is_time(outbox, clock, started):
    left(outbox)
    reporter = started(outbox, clock=clock, rerun=True)
    outbox.add(reported("r2"))
    until(lambda: outbox.counts()["delivered"] == 2)
    assert outbox.counts()["running"] == 1
    clock.now += WINDOW - 60.0
    outbox.add(reported("r3"), due=clock.now)
    until(lambda: outbox.counts()["delivered"] == 4)
    clock.now += 10.0
    until(lambda: outbox.counts()["delivered"] == 6)
    assert outbox.list()[-2].intent.payload == {"Status": "failed"}
    assert reporter.counts == {"Reported": 6}


def test_a_host_that_cannot_run_an_orphan_now_is_asked_again(outbox, clock, started):
    left(outbox)
    asked = []

    def busy(orphan):
        asked.append(orphan)
        if len(asked) < 3:
            raise Surprise

    reporter = reporter_of(outbox, clock=clock, rerun=True)
    reporter.rerun = busy
    reporter.start()
    for number in (1, 2, 3):
        until(lambda number=number: len(asked) == number)
        clock.now += 10.0
    assert outbox.list() == []
    reporter.close(patience=0.0)


def test_a_process_that_runs_episodes_has_a_lease_and_gives_it_up(outbox, clock):
    reporter = reporter_of(outbox, clock=clock)
    assert reporter.begin(episode()) == "new"
    for _ in range(5):
        clock.now += 20.0
        until(lambda: not outbox.orphans(clock.now + 29.0))
    reporter.close(patience=0.0)
    assert outbox.orphans(clock.now) == [episode(payload="")]


class Failing(MemoryOutbox):
    """A store that fails as long as it is said to."""

    failing = False

    def due(self, *given, **other):
        if self.failing:
            raise OutboxUnavailable("the outbox table t is throttled")
        return super().due(*given, **other)


def test_a_store_that_fails_for_a_while_is_looked_at_again(clock, started, caplog):
    outbox = Failing()
    outbox.failing = True
    outbox.add(reported())
    started(outbox, clock=clock)
    until(lambda: "throttled" in caplog.text)
    outbox.failing = False
    until(delivered(outbox))
    assert caplog.text.count("the outbox table t is throttled") == 1


def test_what_is_settled_is_forgotten_in_time_and_what_is_pending_never(outbox, clock, started):
    day = 86_400
    kinds = {"r1": Reported, "r2": Expired, "r3": Throttled}
    for rollout, kind in kinds.items():
        complete, _ = reported(rollout, expires=NOW + 365 * day)
        outbox.add([complete])
        outbox.settle(complete, outcome(kind, complete))
    started(outbox, Scripted(lambda _: THROTTLED), clock)
    for days, expected in [(7, 3), (7.1, 2), (30, 2), (30.1, 1), (100, 1)]:
        clock.now = NOW + days * day
        until(lambda expected=expected: len(outbox.list()) == expected)
    assert states(outbox) == ["pending"]


def test_closing_sends_what_is_due_and_leaves_the_rest(outbox, clock):
    outbox.add(reported())
    outbox.add(reported("r2"), due=NOW + 1)
    transport = Scripted()
    reporter_of(outbox, transport, clock).close(patience=60.0)
    assert transport.sent == BOTH
    assert outbox.counts() == Counter(delivered=2, pending=2, refused=0, expired=0, running=0)


def test_closing_ends_when_its_time_is_over(outbox, clock):
    release = Event()
    outbox.add(reported())
    reporter = reporter_of(outbox, Scripted(lambda _: release.wait(5.0) and OK), clock)
    reporter.start()
    until(lambda: reporter._drainer._in_flight)
    reporter.close(patience=0.05)
    assert states(outbox) == ["pending", "pending"]
    release.set()


def test_closing_without_patience_sends_nothing(outbox, clock):
    outbox.add(reported())
    transport = Scripted()
    reporter_of(outbox, transport, clock).close(patience=0.0)
    assert transport.sent == []


def test_senders_are_as_many_as_they_may_be(outbox, clock):
    release, running, most = Event(), [], []

    def answer(_):
        running.append(1)
        most.append(len(running))
        release.wait(60.0)
        running.pop()
        return OK

    for number in range(20):
        outbox.add(reported(f"r{number}")[:1])
    reporter = reporter_of(outbox, Scripted(answer), clock, timing=Timing(poll=0.005, senders=3))
    reporter.start()
    until(lambda: len(running) == 3)
    release.set()
    until(delivered(outbox))
    reporter.close(patience=0.0)
    assert max(most) == 3


@pytest.mark.parametrize(
    ("busy", "sent"),
    [
        (set(), {("r1", "complete"), ("r1", "reward"), ("r2", "complete"), ("r2", "reward")}),
        ({"r1"}, {("r1", "complete"), ("r2", "complete"), ("r2", "reward")}),
    ],
)
def test_what_is_sent_again_by_hand_goes_in_its_order_and_a_reward_after_its_completion(
    busy, sent, outbox, clock
):
    for rollout in ("r1", "r2"):
        outbox.add(reported(rollout))
    transport = Scripted(lambda intent: THROTTLED if intent.target.trajectory_id in busy else OK)
    reporter = reporter_of(outbox, transport, clock)
    found = list(replayed(reporter, outbox.list()[::-1]))
    assert {(each.intent.target.trajectory_id, each.intent.operation) for each, _ in found} == sent
    assert len(transport.sent) == len(sent)
    for rollout in ("r1", "r2"):
        own = [operation for name, operation in transport.sent if name == rollout]
        assert own == ["complete", "reward"][: 1 if rollout in busy else 2]
