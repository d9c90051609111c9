"""The outbox in a file: it conforms, keeps its promise through SIGKILL, and says what is wrong."""

from __future__ import annotations

import os
import random
import signal
import sqlite3
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import sleep
from types import SimpleNamespace

import pytest

from reward_functions.rollouts.report.outbox import sqlite
from reward_functions.rollouts.report.outbox.sqlite import (
    BUSY,
    LOG_PAGES,
    PAGE,
    ROOM,
    TIGHT,
    VERSION,
    SqliteOutbox,
    Write,
)
from reward_functions.rollouts.request.clock import Clock, steady
from reward_functions.rollouts.request.errors import OutboxUnavailable
from reward_functions.rollouts.request.outcomes import Reported, Throttled
from tests.commands import PIPE, Command
from tests.rollouts.report.outbox.conformance import EMPTY, Conformance
from tests.rollouts.report.outbox.reports import NOW, episode, outcome, reported
from tests.waiting import until

ROOT = Path(__file__).parents[4]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "state" / "outbox.sqlite3"


class TestSqliteOutbox(Conformance):
    @pytest.fixture
    def store(self, path):
        store = SqliteOutbox(path)
        yield store
        store.close()

    @pytest.fixture
    def elsewhere(self, path):
        opened = []

        def open_ahead(seconds):
            opened.append(SqliteOutbox(path, clock=ahead(seconds)))
            return opened[-1]

        yield open_ahead
        for each in opened:
            each.close()


def ahead(seconds, boot=None):
    """The clock of a process that began when the machine's was ahead."""
    boot = steady.boot if boot is None else boot
    return Clock(steady.epoch + seconds, boot)


@pytest.mark.parametrize("boot", ["", "another"], ids=["unknown", "another"])
@pytest.mark.parametrize("seconds", [3_600.0, -3_600.0, 86_400.0, -86_400.0])
def test_behind_a_start_of_the_machine_nothing_waits_for_the_clock(path, boot, seconds):
    first = SqliteOutbox(path, clock=ahead(seconds, boot and "first"))
    now = NOW + seconds
    first.lease("dead", now + 30)
    first.begin(episode("r1", began=now), owner="dead", now=now)
    first.add(reported("r2", created=now), due=now + 5)
    first.close()
    second = SqliteOutbox(path, clock=ahead(0.0, boot))
    assert [each.target.trajectory_id for each in second.orphans(NOW)] == ["r1"]
    assert len(second.due(NOW + 5)) == 1
    second.close()


def test_a_file_of_an_earlier_version_has_one_time_from_its_next_use_on(path):
    SqliteOutbox(path, clock=ahead(0.0, "")).add(reported())
    with sqlite3.connect(path) as database:
        assert database.execute(
            "SELECT count(*) FROM sqlite_master WHERE name = 'boots'"
        ).fetchone() == (0,)
    stores = [SqliteOutbox(path, clock=ahead(seconds, "boot")) for seconds in (0.0, 3_600.0)]
    assert [len(store.list()) for store in stores] == [2, 2]
    assert stores[1].list()[0].intent.created == NOW + 3_600.0
    for store in stores:
        store.close()


def test_threads_that_write_at_once_share_a_commit(path):
    store = SqliteOutbox(path)
    store.counts()
    said = []
    store._connection.set_trace_callback(said.append)
    with ThreadPoolExecutor(16) as threads:
        with store._lock:
            adding = [threads.submit(store.add, reported(f"r{number}")) for number in range(16)]
            until(lambda: len(store._grouping._queue) == 15)
        for each in adding:
            each.result()
    assert said.count("BEGIN IMMEDIATE") == said.count("COMMIT") == 2
    assert store.counts()["pending"] == 32


def test_of_writes_that_cannot_be_committed_together_each_is_tried_alone(path):
    store = SqliteOutbox(path)
    target = reported()[0].target
    store.begin(episode(), owner="a", now=NOW)
    works = [
        lambda database: database.run("DELETE FROM episodes", {}),
        lambda database: database.run("DELETE FROM no_such_table", {}),
    ]
    group = [Write(work, durable=False) for work in works]
    store._commit(group)
    assert (group[0].result, group[0].error) == (1, None)
    assert "no such table" in str(group[1].error)
    assert store.find(target) == store.orphans(NOW) == []


def test_writes_that_wait_for_another_process_wait_together(path, monkeypatch):
    store, asked = SqliteOutbox(path), []

    def written(_, group):
        asked.append(len(group))
        error = sqlite3.OperationalError("database is locked")
        error.sqlite_errorname = "SQLITE_BUSY"
        raise error

    monkeypatch.setattr(store, "_written", written)
    group = [Write(lambda _: 1, durable=False) for _ in range(3)]
    store._commit(group)
    assert asked == [3]
    assert all(isinstance(each.error, OutboxUnavailable) for each in group)


def test_the_log_is_bounded(path):
    store = SqliteOutbox(path)
    log = path.with_name(path.name + "-wal")
    for number in range(80):
        store.begin(episode(f"r{number}", payload="p" * 500), owner="a", now=NOW)
        store.add(reported(f"r{number}"))
        assert log.stat().st_size < 2 * LOG_PAGES * PAGE


def test_on_a_full_disk_what_is_delivered_makes_room_and_what_is_pending_does_not(path):
    store = SqliteOutbox(path)
    for number in range(200):
        intents = reported(f"r{number}", created=NOW + number)
        store.add(intents)
        for intent in intents if number < 150 else ():
            store.settle(intent, outcome(Reported, intent))
    emptied(store)
    refused = []
    for number in range(400):
        try:
            store.add(reported(f"new{number}", created=NOW + 500))
        except OutboxUnavailable as error:
            refused.append(str(error))
    assert 100 < len(refused) < 300
    assert all("the disk is full" in each for each in refused)
    assert store.counts()["pending"] == 2 * (50 + 400 - len(refused))
    assert store.counts()["delivered"] == 0


def test_a_file_leaves_the_disk_to_its_log_and_grows_when_there_is_room(path, monkeypatch):
    store = SqliteOutbox(path)
    store.add(reported())
    free = [ROOM + 20 * PAGE]

    def disk(_):
        return SimpleNamespace(f_bavail=free[0], f_frsize=1)

    monkeypatch.setattr(os, "statvfs", disk)
    large = reported("r2", *[0.5] * 60_000)
    with pytest.raises(OutboxUnavailable, match="the disk is full"):
        store.add(large)
    store.add(reported("r3"))
    free[0] = 100 * TIGHT
    store.add(large)
    assert store.counts()["pending"] == 6


def mode(path):
    return oct(path.stat().st_mode & 0o777)


def test_its_files_are_its_owners_alone(path):
    store = SqliteOutbox(path)
    store.add(reported())
    files = sorted(path.parent.iterdir())
    assert [file.name.removeprefix("outbox.sqlite3") for file in files] == ["", "-shm", "-wal"]
    assert {mode(file) for file in files} == {"0o600"}
    assert mode(path.parent) == "0o700"


@pytest.mark.parametrize("forked", [False, True])
def test_a_connection_is_closed_by_the_process_that_opened_it_alone(path, forked):
    store, closed = SqliteOutbox(path), []
    store.counts()
    store._connection.close()
    store._connection = SimpleNamespace(close=lambda: closed.append(1))
    store._process += forked
    store.close()
    assert len(closed) == (not forked)


def test_nothing_is_made_before_it_is_used(path):
    store = SqliteOutbox(path)
    store.close()
    assert not path.parent.exists()
    with pytest.raises(OutboxUnavailable, match="it is closed"):
        store.counts()


def test_what_one_wrote_the_next_one_reads(path):
    first = SqliteOutbox(path)
    first.add(reported())
    first.begin(episode("r2"), owner="a", now=NOW)
    first.close()
    first.close()
    second = SqliteOutbox(path)
    assert second.counts() == EMPTY | {"pending": 2, "running": 1}
    assert second.orphans(NOW) == [episode("r2")]


def synchronous(store):
    (value,) = store._connection.execute("PRAGMA synchronous").fetchone()
    return {1: "NORMAL", 2: "FULL"}[value]


def test_only_what_a_power_cut_must_not_take_waits_for_the_disk(path):
    store = SqliteOutbox(path)
    complete, _ = reported()
    waits = {
        "begin": lambda: store.begin(episode("r2"), owner="a", now=NOW),
        "lease": lambda: store.lease("a", NOW),
        "sampled": lambda: store.sampled(complete.target),
        "settle": lambda: store.settle(complete, outcome(Throttled, complete)),
        "add": lambda: store.add([complete]),
        "due": lambda: store.due(NOW, hold=1.0),
        "replay": lambda: store.replay(complete, now=NOW),
        "purge": lambda: store.purge(["delivered"], NOW),
    }
    full = []
    for name, act in waits.items():
        act()
        full += [name] if synchronous(store) == "FULL" else []
    assert full == ["begin", "sampled", "add", "replay"]


def emptied(store):
    """An error of a real disk, brought about by a limit of SQLite's own."""
    store.counts()
    (pages,) = store._connection.execute("PRAGMA page_count").fetchone()
    store._connection.execute(f"PRAGMA max_page_count = {pages}")


def write_protected(store):
    store.counts()
    store._connection.execute("PRAGMA query_only = ON")


def overwritten(store):
    store.add(reported("r0"))
    store.close()
    data = bytearray(store.path.read_bytes())
    data[200:] = b"\xa5" * (len(data) - 200)
    store.path.write_bytes(data)
    store._closed = False


def another_file(store):
    store.path.parent.mkdir()
    store.path.write_text("this is a text, and not a database, of more than a hundred bytes" * 4)


def another_database(store):
    store.path.parent.mkdir()
    with sqlite3.connect(store.path) as database:
        database.execute("CREATE TABLE dogs (name TEXT)")


def another_version(store):
    store.counts()
    store._connection.execute(f"PRAGMA user_version = {VERSION + 6}")
    store.close()
    store._closed = False


def folder_is_a_file(store):
    store.path.parent.write_text("")


def path_is_a_folder(store):
    store.path.mkdir(parents=True)


TROUBLES = [
    (emptied, "the disk is full: make room on it"),
    (write_protected, "it may not be written: choose another file with REWARD_ROLLOUTS_OUTBOX"),
    (overwritten, "it is damaged: move it away"),
    (another_file, "it is no SQLite file: choose another file"),
    (another_database, "it is another program's database: choose another file"),
    (another_version, "it has schema 7, and this program 1: drain it with the one that wrote it"),
    (folder_is_a_file, "File exists: choose another file with REWARD_ROLLOUTS_OUTBOX"),
    (path_is_a_folder, "it cannot be opened: choose another file with REWARD_ROLLOUTS_OUTBOX"),
]


@pytest.mark.parametrize(
    ("trouble", "message"), TROUBLES, ids=[trouble.__name__ for trouble, _ in TROUBLES]
)
def test_what_is_wrong_with_a_file_is_one_sentence(path, trouble, message):
    store = SqliteOutbox(path)
    trouble(store)
    with pytest.raises(OutboxUnavailable) as raised:
        store.add(reported("r1", *[0.5] * 30_000))
    assert str(raised.value).startswith(f"the outbox {path}: {message}")
    assert "\n" not in str(raised.value)


def test_another_programs_database_is_left_as_it_is(path):
    another_database(SqliteOutbox(path))
    before = path.read_bytes()
    with pytest.raises(OutboxUnavailable):
        SqliteOutbox(path).counts()
    assert path.read_bytes() == before


def test_a_file_works_as_soon_as_the_cause_is_gone(path):
    store = SqliteOutbox(path)
    path.parent.write_text("")
    with pytest.raises(OutboxUnavailable):
        store.add(reported())
    path.parent.unlink()
    store.add(reported())
    emptied(store)
    with pytest.raises(OutboxUnavailable, match="the disk is full"):
        store.add(reported("r2", *[0.5] * 30_000))
    store._connection.execute("PRAGMA max_page_count = 1000000")
    store.add(reported("r2", *[0.5] * 30_000))
    assert store.counts()["pending"] == 4


def script(source, *arguments):
    """A process of its own that runs a script of these tests."""
    return Command(arguments, program=source, stdout=PIPE, cwd=ROOT)


FORKS = """
import os, sys
from reward_functions.rollouts.request.clock import Clock, steady
from reward_functions.rollouts.request.errors import OutboxUnavailable
from reward_functions.rollouts.report.outbox.sqlite import Write
from reward_functions.rollouts.report.outbox.sqlite import SqliteOutbox
from tests.rollouts.report.outbox.reports import reported
store = SqliteOutbox(sys.argv[1])
store.add(reported())
if child := os.fork():
    os.waitpid(child, 0)
    store.add(reported("r2"))
else:
    try:
        store.counts()
    except OutboxUnavailable as error:
        print(error, flush=True)
    os._exit(0)
"""


def test_a_child_that_was_forked_opens_its_own(path):
    with script(FORKS, path) as forking:
        assert forking.stdout.read().endswith("before a fork: open another in the child\n")
    assert SqliteOutbox(path).counts()["pending"] == 4


SHARES = """
import sys
from reward_functions.rollouts.report.outbox.sqlite import SqliteOutbox
from reward_functions.rollouts.request.outcomes import Reported
from tests.rollouts.report.outbox.reports import NOW, outcome, reported
store = SqliteOutbox(sys.argv[1])
for number in range(20):
    store.add(reported(f"shared{number}"))
    store.add(reported(f"own{sys.argv[2]}-{number}"))
while due := store.due(NOW, limit=7, hold=500.0):
    for stored in due:
        store.settle(stored.intent, outcome(Reported, stored.intent))
        print(stored.intent.target.trajectory_id, stored.intent.operation)
"""


def test_several_processes_share_a_file_from_its_first_moment(path):
    workers = [script(SHARES, path, number) for number in range(4)]
    taken = Counter()
    for worker in workers:
        with worker:
            taken.update(worker.stdout.read().splitlines())
        assert worker.returncode == 0
    assert set(taken.values()) == {1}
    assert len(taken) == 2 * (20 + 4 * 20)
    assert SqliteOutbox(path).counts()["delivered"] == len(taken)


CHILD = """
import sys
from reward_functions.rollouts.report.outbox.sqlite import SqliteOutbox
from reward_functions.rollouts.request.outcomes import Reported
from tests.rollouts.report.outbox.reports import outcome, reported
from tests.waiting import until
store = SqliteOutbox(sys.argv[1])
number = int(sys.argv[2])
while True:
    number += 1
    intents = reported(f"r{number}", number / 8)
    store.add(intents)
    print("durable", number, flush=True)
    for intent in intents:
        store.settle(intent, outcome(Reported, intent))
    print("settled", number, flush=True)
"""


def announced(path, first, chance):
    """What a process announced before it was killed in the middle of its work."""
    with script(CHILD, path, first) as child:
        lines = [child.stdout.readline() for _ in range(chance.randrange(1, 40))]
        sleep(chance.random() * 0.004)
        child.send_signal(signal.SIGKILL)
        lines += child.stdout.readlines()
    # A line that the kill cut off was written behind what it announces all the same.
    return [line.split() for line in lines if line.endswith("\n")]


def test_what_a_process_announced_as_durable_outlives_sigkill(path):
    chance = random.Random(13)
    last, durable, settled = 0, set(), set()
    for _ in range(6):
        for word, number in announced(path, last, chance):
            (durable if word == "durable" else settled).add(int(number))
        last = max(durable) + 1_000
    database = sqlite3.connect(path)
    assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    database.close()
    found = {}
    for stored in SqliteOutbox(path).list(limit=100_000):
        number = int(stored.intent.target.trajectory_id[1:])
        found.setdefault(number, {})[stored.intent.operation] = stored
    assert len(durable) > 30
    assert durable <= found.keys()
    for number, stored in found.items():
        assert stored.keys() == {"complete", "reward"}
        assert stored["reward"].intent.payload == {"Rewards": [number / 8]}
        states = {each.state for each in stored.values()}
        assert states == {"delivered"} if number in settled else states <= {"pending", "delivered"}


class Switching:
    """A database whose log cannot be switched on at first."""

    def __init__(self, *refusals, mode="wal"):
        self.refusals, self.mode, self.asked = [*refusals], mode, 0

    def execute(self, statement):
        """Switch the log on, or refuse."""
        assert statement == "PRAGMA journal_mode = WAL"
        self.asked += 1
        if self.refusals:
            error = sqlite3.OperationalError("database is locked")
            error.sqlite_errorname = self.refusals.pop(0)
            raise error
        return SimpleNamespace(fetchone=lambda: (self.mode,))


@pytest.fixture
def passing(monkeypatch):
    """A time that passes in pauses alone."""
    now = [0.0]
    monkeypatch.setattr(sqlite, "monotonic", lambda: now[0])
    monkeypatch.setattr(sqlite, "sleep", lambda seconds: now.__setitem__(0, now[0] + seconds))
    return now


def test_of_several_that_switch_the_log_on_at_once_each_waits_for_the_others(path, passing):
    database = Switching("SQLITE_BUSY", "SQLITE_BUSY_RECOVERY", "SQLITE_BUSY_SNAPSHOT")
    SqliteOutbox(path)._write_ahead(database)
    assert database.asked == 4
    assert 0 < passing[0] < 1


def test_a_log_that_others_hold_for_long_is_waited_for_no_more(path, passing):
    database = Switching(*["SQLITE_BUSY"] * 10_000)
    with pytest.raises(sqlite3.OperationalError):
        SqliteOutbox(path)._write_ahead(database)
    assert BUSY < passing[0] < BUSY + 1


@pytest.mark.parametrize("refusal", ["SQLITE_IOERR", "SQLITE_LOCKED", "SQLITE_READONLY"])
def test_a_log_that_cannot_be_switched_on_is_not_asked_for_again(path, passing, refusal):
    database = Switching(refusal)
    with pytest.raises(sqlite3.OperationalError):
        SqliteOutbox(path)._write_ahead(database)
    assert (database.asked, passing[0]) == (1, 0.0)


def test_a_disk_without_a_log_is_refused(path, passing):
    with pytest.raises(OutboxUnavailable, match="it is not on a disk of this machine"):
        SqliteOutbox(path)._write_ahead(Switching(mode="delete"))
