"""The records of starts and ends: one start for an id, whole ends, and locks that die."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

import pytest

from reward_functions.rollouts.request.errors import StateUnavailable
from reward_functions.rollouts.serve.agentcore import invocations as module
from reward_functions.rollouts.serve.agentcore.invocations import (
    KEPT_SECONDS,
    InvocationStore,
    state,
)

ROOT = Path(__file__).parents[4]
PLACE = Path(sha256(b"s").hexdigest(), "a")


@pytest.fixture
def store(tmp_path):
    return InvocationStore(tmp_path / "state")


def test_nothing_has_started(store):
    assert store.read("s", "a") == {"version": 1, "invocation_id": "a", "status": "not_found"}


def test_a_start_runs_until_it_ends_and_is_interrupted_where_it_is_let_go(store):
    claim = store.claim("s", "a")
    assert store.read("s", "a") == state("a", "in_progress")
    assert json.loads((store.folder / PLACE / "started.json").read_text()) == state(
        "a", "in_progress"
    )
    claim.close()
    assert store.read("s", "a") == state("a", "interrupted")


def test_an_end_is_read_by_whoever_opens_the_folder(store):
    claim = store.claim("s", "a")
    store.finish("s", state("a", "completed", result={"x": [1]}))
    claim.close()
    assert InvocationStore(store.folder).read("s", "a") == state(
        "a", "completed", result={"x": [1]}
    )
    assert sorted(path.name for path in (store.folder / PLACE).iterdir()) == [
        "result.json",
        "started.json",
    ]


def test_a_session_sees_only_its_own(store):
    store.claim("s", "a").close()
    assert store.read("t", "a")["status"] == "not_found"
    assert store.claim("t", "a") is not None


@pytest.mark.parametrize("session", ["../..", "a/b", "\ud800", "", "x" * 5000])
def test_a_session_is_never_a_path(store, session):
    store.claim(session, "a").close()
    assert store.read(session, "a")["status"] == "interrupted"
    (made,) = store.folder.iterdir()
    assert len(made.name) == 64


def test_one_of_many_threads_starts(store):
    with ThreadPoolExecutor(8) as pool:
        claims = list(pool.map(lambda _: store.claim("s", "a"), range(32)))
    (claim,) = [each for each in claims if each is not None]
    assert store.read("s", "a")["status"] == "in_progress"
    claim.close()


CHILD = """
import sys
from reward_functions.rollouts.serve.agentcore.invocations import InvocationStore
claim = InvocationStore(sys.argv[1]).claim("s", "a")
print("started" if claim else "known", flush=True)
sys.stdin.read()
"""


def test_another_process_sees_the_start_and_the_death_of_one_that_is_killed(store):
    child = subprocess.Popen(
        [sys.executable, "-c", CHILD, store.folder],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert child.stdout.readline() == "started\n"
        assert store.read("s", "a") == state("a", "in_progress")
        assert store.claim("s", "a") is None
    finally:
        child.kill()
        child.communicate()
    assert store.read("s", "a") == state("a", "interrupted")
    assert store.claim("s", "a") is None


BROKEN = [b"", b"{", b"[1]", b'{"invocation_id": "b"}', b"[" * 100_000]


@pytest.mark.parametrize("content", BROKEN)
def test_a_result_that_somebody_broke_is_an_error_and_no_second_run(store, content):
    store.claim("s", "a").close()
    (store.folder / PLACE / "result.json").write_bytes(content)
    found = store.read("s", "a")
    assert (found["status"], found["error"]) == ("completed", module.UNREADABLE)


@pytest.mark.parametrize("result", [float("nan"), {1, 2}, object(), b"x"])
def test_what_is_not_json_is_not_kept(store, result):
    store.claim("s", "a").close()
    with pytest.raises((TypeError, ValueError)):
        store.finish("s", state("a", "completed", result=result))
    assert store.read("s", "a")["status"] == "interrupted"
    assert [path.name for path in (store.folder / PLACE).iterdir()] == ["started.json"]


def test_what_is_too_large_is_not_kept(store, monkeypatch):
    store.claim("s", "a").close()
    monkeypatch.setattr(module, "LARGEST", 100)
    with pytest.raises(ValueError, match="100 bytes"):
        store.finish("s", state("a", "completed", result="x" * 100))


@pytest.fixture
def full(monkeypatch):
    """Fills the disk, for a block."""

    def refuse(*_):
        raise OSError(28, "No space left on device")

    @contextmanager
    def filled():
        with monkeypatch.context() as patched:
            patched.setattr(os, "fsync", refuse)
            yield

    return filled


def test_a_full_disk_is_said_and_leaves_nothing_behind(store, full):
    with full(), pytest.raises(StateUnavailable, match="No space left"):
        store.claim("s", "a")
    assert store.read("s", "a")["status"] == "not_found"
    assert list((store.folder / PLACE).iterdir()) == []
    store.claim("s", "a").close()
    with full(), pytest.raises(StateUnavailable):
        store.finish("s", state("a", "completed", result=1))
    assert store.read("s", "a")["status"] == "interrupted"


def test_a_folder_that_cannot_be_is_said_at_once(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StateUnavailable, match="cannot hold the state"):
        InvocationStore(tmp_path / "file")


def test_what_is_old_is_forgotten_and_what_runs_is_not(tmp_path):
    store = InvocationStore(tmp_path / "state")
    for name in ("ended", "left", "new"):
        store.claim(name, "a").close()
    running = store.claim("running", "a")
    store.finish("ended", state("a", "completed", result=1))
    old = (tmp_path / "state").stat().st_mtime - KEPT_SECONDS - 60
    for place in store.folder.glob("*/*"):
        if place.parent.name != sha256(b"new").hexdigest():
            os.utime(place, (old, old))
    InvocationStore(store.folder).claim("later", "a").close()
    states = {name: store.read(name, "a")["status"] for name in ("ended", "left", "new", "running")}
    assert states == {
        "ended": "not_found",
        "left": "not_found",
        "new": "interrupted",
        "running": "in_progress",
    }
    running.close()


def test_records_are_their_owners_alone(store):
    store.claim("s", "a").close()
    for path in (store.folder, store.folder / PLACE, store.folder / PLACE / "started.json"):
        assert not stat.S_IMODE(path.stat().st_mode) & 0o077
