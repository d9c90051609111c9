"""The outbox in memory: it conforms, and it is bounded."""

from __future__ import annotations

import os
from dataclasses import replace

import pytest

from reward_functions.rollouts.report.outbox.sqlite import MemoryOutbox
from reward_functions.rollouts.request.errors import OutboxUnavailable
from reward_functions.rollouts.request.outcomes import Reported
from tests.rollouts.report.outbox.conformance import Conformance
from tests.rollouts.report.outbox.reports import NOW, episode, outcome, reported


class TestMemoryOutbox(Conformance):
    @pytest.fixture
    def store(self):
        return MemoryOutbox()

    @pytest.fixture
    def elsewhere(self):
        pytest.skip("it is in one process, which has one clock")


PAGES = 4096
EMPTY = 9 * PAGES
"""Bytes of the tables without a row."""


def large(rollout, size=8 * PAGES):
    """An intent that takes so many bytes."""
    (intent, *_) = reported(rollout)
    return replace(intent, payload={"Rewards": [{"Name": "n" * size, "Value": 1.0}]})


def filled(store, rollouts):
    """Add large intents until there is no room; the ids of those that are kept."""
    ids = [f"r{number:02}" for number in rollouts]
    full = [each for each in ids if not kept(store, large(each))]
    return ids[: ids.index(full[0])]


def kept(store, intent):
    """Whether a store takes an intent."""
    try:
        store.add([intent])
    except OutboxUnavailable as error:
        return "the memory outbox is full: it has 200,704 bytes" not in str(error)
    return True


def test_what_is_delivered_makes_room_and_what_is_pending_does_not():
    store = MemoryOutbox(most=EMPTY + 40 * PAGES)
    first = filled(store, range(20))
    assert 2 < len(first) < 20
    store.settle(large("r01"), outcome(Reported, large("r01")))
    later = filled(store, range(20, 40))
    assert later
    left = [each.intent.target.trajectory_id for each in store.list()]
    assert left == [each for each in first if each != "r01"] + later


def test_an_episode_takes_room_until_it_is_reported():
    store = MemoryOutbox(most=EMPTY + 20 * PAGES)
    store.begin(episode(payload="p" * 12 * PAGES), owner="a", now=NOW)
    with pytest.raises(OutboxUnavailable, match="full"):
        store.begin(episode("r2", payload="p" * 12 * PAGES), owner="a", now=NOW)
    store.add(reported("r1")[:1])
    store.begin(episode("r2", payload="p" * 12 * PAGES), owner="a", now=NOW)


def test_it_knows_what_it_has():
    store = MemoryOutbox()
    complete, reward = reported("r1")
    store.add([complete])
    assert store.holds(complete)
    assert not store.holds(reward)
    assert store.reported(complete.target)
    assert complete.target in store
    store.forget(complete)
    assert complete.target not in store
    running = episode("r2")
    store.begin(running, owner="a", now=NOW)
    assert running.target in store
    assert not store.reported(running.target)


def test_a_child_has_what_its_parent_had():
    store = MemoryOutbox()
    store.add(reported("r1"))
    pid = os.fork()
    if pid == 0:
        os._exit(len(store.list()))
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == len(reported("r1"))
