"""What a process reports with: durable where it can be, in memory else, never lost in silence."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from math import inf
from pathlib import Path
from threading import Event
from time import sleep

import pytest

from reward_functions.rollouts.report.credentials import NoReply
from reward_functions.rollouts.report.feedback import RolloutFeedbackClient
from reward_functions.rollouts.report.outbox import LARGEST
from reward_functions.rollouts.report.outbox.sqlite import MemoryOutbox, SqliteOutbox
from reward_functions.rollouts.report.reporter import reporter, reporting
from reward_functions.rollouts.request.errors import (
    ConflictingReport,
    IntentTooLarge,
    OutboxUnavailable,
)
from reward_functions.rollouts.request.outcomes import Reported, Throttled
from tests.loopback import Service, served
from tests.rollouts.report.outbox.reports import JOB, NOW, episode, outcome, reported, target
from tests.rollouts.reporters import OK, THROTTLED, Clock, Scripted, reporter_of

ROOT = Path(__file__).parents[3]


@pytest.fixture
def blocked(tmp_path):
    """A file outbox that cannot be opened until `open_up` is called."""
    place = tmp_path / "state"
    place.write_text("")
    outbox = SqliteOutbox(place / "outbox.sqlite3")
    outbox.open_up = place.unlink
    yield outbox
    outbox.close()


def test_a_report_is_durable_before_it_is_sent(tmp_path):
    path = tmp_path / "outbox.sqlite3"
    seen = []

    def answer(intent):
        listed = SqliteOutbox(path).list()
        seen.append([(each.intent.operation, each.state) for each in listed])
        return OK

    given = reporter_of(SqliteOutbox(path), Scripted(answer))
    metadata = {"jobArn": JOB, "rolloutId": "r1", "endpoint": "", "region": "us-west-2"}
    client = RolloutFeedbackClient(metadata, reporter=given, clock=given.clock)
    client.report_complete(0.5)
    assert seen == [
        [("complete", "pending"), ("reward", "pending")],
        [("complete", "delivered"), ("reward", "pending")],
    ]
    assert given.counts == {"Reported": 2}
    given.close()


def test_where_the_outbox_fails_reports_are_sent_from_memory(blocked, caplog):
    transport = Scripted()
    given = reporter_of(blocked, transport)
    for number in range(3):
        assert not given.keep(reported(f"r{number}"))
        given.release(reported(f"r{number}"))
    assert caplog.text.count("File exists: choose another file with REWARD_ROLLOUTS_OUTBOX") == 1
    assert "meanwhile reports are kept in memory, and sent from there" in caplog.text
    given.close(patience=60.0)
    assert len(transport.sent) == 6
    assert "lost" not in caplog.text


def test_who_closes_goes_on_as_soon_as_the_last_thread_has_sent():
    given, forever = reporter_of(MemoryOutbox()), 1e6
    given.keep(reported())
    with ThreadPoolExecutor(1) as pool:
        closed = pool.submit(given.close, patience=forever)
        while not given.closed:
            sleep(0.001)
        given.release(reported())
        closed.result()


def test_a_report_that_was_in_memory_alone_is_not_lost_in_silence(blocked, caplog):
    given = reporter_of(blocked, Scripted(lambda _: THROTTLED))
    given.keep(reported())
    given.close(patience=0.2)
    assert "2 reports were in memory alone, and are lost with this process" in caplog.text


def test_an_outbox_that_works_again_is_used_again(blocked, caplog):
    given = reporter_of(blocked)
    assert not given.keep(reported())
    blocked.open_up()
    assert given.keep(reported("r2"))
    assert f"the outbox {blocked.name} takes reports again" in caplog.text
    assert [each.intent.target.trajectory_id for each in blocked.list()] == ["r2", "r2"]


def test_a_report_in_memory_excludes_another_one(blocked):
    given = reporter_of(blocked)
    given.keep(reported("r1", 0.5))
    blocked.open_up()
    with pytest.raises(ConflictingReport):
        given.keep(reported("r1", 0.6))
    assert not given.keep(reported("r1", 0.5))
    assert given.begin(episode("r1")) == "reported"
    given.close(patience=0.0)


@pytest.mark.parametrize("fails", [False, True], ids=["outbox", "memory"])
def test_what_is_wrong_with_a_report_itself_is_raised(blocked, fails):
    if not fails:
        blocked.open_up()
    given = reporter_of(blocked)
    given.keep(reported("r1", 0.5))
    with pytest.raises(ConflictingReport):
        given.keep(reported("r1", 0.6))
    with pytest.raises(IntentTooLarge):
        given.keep(reported("r2", *[0.5] * LARGEST))


@pytest.mark.parametrize(
    ("retry_after", "left", "due"),
    [
        # What the service asks for, seconds to the window's end, seconds to the next attempt: the
        # last one is early enough for a look that comes a poll, 0.005 s, late.
        (0.0, 600.0, 0.0),
        (30.0, 600.0, 30.0),
        (598.0, 600.0, 598.0),
        (599.0, 600.0, 598.995),
        (3600.0, 600.0, 598.995),
        (30.0, 10.0, 8.995),
        (30.0, 1.1, 0.095),
        (30.0, 1.0, 1.0),
        (0.5, 0.8, 0.5),
        (30.0, 0.2, 0.2),
        (3600.0, inf, 600.0),
    ],
)
def test_a_pause_leaves_one_attempt_before_the_window_closes(retry_after, left, due):
    given = reporter_of()
    complete, _ = reported(expires=NOW + left)
    given.outbox.add([complete])
    given.settle(complete, outcome(Throttled, complete, retry_after=retry_after))
    assert [each.due for each in given.outbox.list()] == [pytest.approx(NOW + due, abs=1e-6)]


@pytest.mark.parametrize("patience", [60.0, 0.0])
def test_a_process_that_ends_waits_for_a_report_that_is_on_its_way(patience):
    """Its disk may end with it."""
    under_way, answer = Event(), Event()

    def slow(_):
        under_way.set()
        assert answer.wait(60.0)
        return OK

    given = reporter_of(transport=Scripted(slow))
    metadata = {"jobArn": JOB, "rolloutId": "r1", "region": "us-west-2"}
    client = RolloutFeedbackClient(metadata, reporter=given, clock=given.clock)
    with ThreadPoolExecutor(2) as threads:
        reported = threads.submit(client.report_complete, 0.5)
        assert under_way.wait(60.0)
        closed = threads.submit(given.close, patience=patience)
        if patience:
            assert not closed.done()
        else:
            closed.result()
        answer.set()
        assert [each.delivered for each in reported.result()] == [True, True]
        closed.result()
    assert given.outbox.counts()["delivered"] == 2


def test_rewards_behind_a_completion_that_is_pending_are_the_drainers():
    given = reporter_of(transport=Scripted(lambda _: THROTTLED))
    metadata = {"jobArn": JOB, "rolloutId": "r1", "region": "us-west-2"}
    client = RolloutFeedbackClient(metadata, reporter=given, clock=given.clock, patience=0.0)
    assert [each.pending for each in client.report_complete(0.5)] == [True, True]
    assert not any(given.sending(each.intent) for each in given.outbox.list())
    given.close(patience=0.0)


class Full(MemoryOutbox):
    """It takes no report any more."""

    def add(self, intents, *, due=None):
        raise OutboxUnavailable("the disk is full")


@pytest.mark.parametrize(("kind", "running"), [(Reported, 0), (Throttled, 1)])
def test_an_episode_that_was_reported_from_memory_is_over_in_the_outbox_too(kind, running):
    """The next process would report it as failed."""
    given = reporter_of(Full())
    given.begin(episode())
    intents = reported()
    assert not given.keep(intents)
    for each in intents:
        given.settle(each, outcome(kind, each))
    assert given.outbox.counts()["running"] == running
    given.close(patience=0.0)


@pytest.mark.parametrize("fails", [False, True], ids=["outbox", "memory"])
def test_an_episode_of_which_nothing_is_reported_ends(blocked, fails):
    if not fails:
        blocked.open_up()
    given = reporter_of(blocked)
    for _ in range(2):
        assert given.begin(episode()) == "new"
        assert given.begin(episode()) == "running"
        given.end(target())
    given.close(patience=0.0)


def test_a_report_is_sent_even_where_memory_is_full(blocked, caplog):
    given = reporter_of(blocked)
    given._spare.most = 0
    assert given.keep(reported("r1", *[0.5] * 10_000)) is False
    assert "the memory outbox is full" in caplog.text


@pytest.mark.parametrize("fails", [False, True], ids=["outbox", "memory"])
def test_an_episode_is_begun_once_wherever_it_is_kept(blocked, fails):
    if not fails:
        blocked.open_up()
    given = reporter_of(blocked)
    assert [given.begin(episode()) for _ in range(2)] == ["new", "running"]
    given.keep(reported())
    assert given.begin(episode()) == "reported"
    given.close(patience=0.0)


def test_an_episode_begun_in_memory_is_reported_to_the_outbox_that_works_again(blocked):
    given = reporter_of(blocked)
    assert given.begin(episode()) == "new"
    blocked.open_up()
    assert given.keep(reported())
    assert given.begin(episode()) == "reported"
    given.close(patience=0.0)


@pytest.mark.parametrize("rerun", [False, True])
def test_a_payload_is_kept_only_where_it_may_be_run_again(rerun):
    outbox = MemoryOutbox()
    given = reporter_of(outbox, rerun=rerun)
    given.rerun = lambda _: None
    given.begin(episode(payload='{"prompt":"secret"}'))
    given.sampled(target())
    given.close(patience=60.0)  # its thread may be in the middle of a look
    (left,) = outbox.orphans(NOW)
    assert (left.payload, left.sampled) == (('{"prompt":"secret"}', True) if rerun else ("", False))


def test_a_failing_store_fails_nobody(blocked, caplog):
    given = reporter_of(blocked, rerun=True)
    given.sampled(target())
    client = RolloutFeedbackClient(
        {"jobArn": JOB, "rolloutId": "r1", "region": "us-west-2"}, reporter=given, clock=given.clock
    )
    assert [each.delivered for each in client.report_complete(1.0)] == [True, True]
    given.close()
    assert caplog.text.count("File exists") == 1


def test_an_unreachable_service_leaves_it_to_the_outbox(tmp_path):
    def answer(_):
        raise NoReply("no reply in time")

    outbox = SqliteOutbox(tmp_path / "outbox.sqlite3")
    given = reporter_of(outbox, Scripted(answer))
    client = RolloutFeedbackClient(
        {"jobArn": JOB, "rolloutId": "r1", "region": "us-west-2"},
        reporter=given,
        clock=Clock(),
        patience=0.0,
    )
    assert [each.pending for each in client.report_complete(1.0)] == [True, True]
    assert outbox.counts()["pending"] == 2
    given.close(patience=0.0)


def test_a_transport_is_made_once_a_kind():
    made = []

    def make(kind):
        made.append(kind)
        return Scripted()

    given = reporter_of()
    given._open = make
    with ThreadPoolExecutor(8) as threads:
        found = set(threads.map(given.transport, ["modelled", "bearer"] * 20))
    assert (sorted(made), len(found)) == (["bearer", "modelled"], 2)


def test_threads_count_together():
    given = reporter_of()
    intents = [reported(f"r{number}")[0] for number in range(200)]
    given.outbox.add(intents[:1])
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda each: given.settle(each, outcome(Reported, each)), intents))
    assert given.counts == {"Reported": 200}


def test_a_block_reports_with_another_one_in_every_thread():
    first, second = reporter_of(), reporter_of()
    with reporting(first):
        assert reporter() is first
        with reporting(second), ThreadPoolExecutor(1) as threads:
            assert threads.submit(reporter).result() is second
        assert reporter() is first


class Runtime(Service):
    """The two reports of the job runtime, all of them taken."""

    def operation(self, asked):
        return "/".join(asked.path), lambda: (200, {"Content-Type": "application/json"}, b"{}")


ENDS = """
import os, sys, time
from reward_functions.rollouts.request.outcomes import Reported
from reward_functions.rollouts.report.reporter import reporter
from tests.rollouts.report.outbox.reports import reported
given = reporter()
assert given is reporter()
intents = reported("r1", 0.5, created=time.time(), endpoint=os.environ["RFT_RUNTIME_ENDPOINT"])
given.outbox.add(intents)
if sys.argv[1] == "forks":
    if child := os.fork():
        os.waitpid(child, 0)
    else:
        assert reporter() is not given
        given = reporter()
        given.outbox.add(
            reported("r2", 0.5, created=time.time(), endpoint=os.environ["RFT_RUNTIME_ENDPOINT"])
        )
print(given.outbox.name)
"""


def ended(mode, tmp_path, endpoint):
    environ = {
        "PYTHONPATH": str(ROOT),
        "REWARD_ROLLOUTS_TRANSPORT": "bearer",
        "REWARD_ROLLOUTS_OUTBOX": f"sqlite://{tmp_path}/outbox.sqlite3",
        "RFT_RUNTIME_ENDPOINT": endpoint,
        "AWS_ACCESS_KEY_ID": "AKIAEXAMPLE",
        "AWS_SECRET_ACCESS_KEY": "example",
        "AWS_REGION": "us-west-2",
        "AWS_EC2_METADATA_DISABLED": "true",
    }
    done = subprocess.run(
        [sys.executable, "-W", "ignore::DeprecationWarning", "-c", ENDS, mode],
        env=os.environ | environ,
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.split()


@pytest.mark.parametrize(("mode", "reports"), [("ends", 2), ("forks", 4)])
def test_a_process_that_ends_sends_what_is_due_with_a_reporter_of_its_own(tmp_path, mode, reports):
    with served(Runtime()) as runtime:
        names = ended(mode, tmp_path, runtime.address)
    assert set(names) == {f"sqlite://{tmp_path}/outbox.sqlite3"}
    outbox = SqliteOutbox(tmp_path / "outbox.sqlite3")
    assert outbox.counts()["delivered"] == reports
    assert {"complete-rollout", "update-reward"} == set(runtime.asked)
    assert json.loads(outbox.list()[1].intent.body) == {"Rewards": [0.5]}


def test_a_store_that_is_closed_says_so(tmp_path):
    given = reporter_of(SqliteOutbox(tmp_path / "outbox.sqlite3"))
    given.close()
    given.close()
    assert given.closed
    with pytest.raises(OutboxUnavailable, match="it is closed"):
        given.outbox.counts()
