"""The outbox in memory: it conforms, and it is bounded."""

from __future__ import annotations

import pytest

from reward_functions.rollouts.report.outbox.memory import OVERHEAD, MemoryOutbox
from reward_functions.rollouts.report.outbox.rules import size
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


ONE = size(reported("r1")[0]) + OVERHEAD


def test_what_is_delivered_makes_room_and_what_is_pending_does_not():
    store = MemoryOutbox(most=2 * ONE)
    first, second, third = (reported(f"r{number}")[0] for number in range(3))
    store.add([first])
    store.add([second])
    with pytest.raises(OutboxUnavailable, match="full: 2 intents in"):
        store.add([third])
    store.settle(second, outcome(Reported, second))
    store.add([third])
    assert [each.intent for each in store.list()] == [first, third]


def test_an_episode_takes_room_until_it_is_reported():
    store = MemoryOutbox(most=3 * ONE)
    store.begin(episode(payload="p" * 2 * ONE), owner="a", now=NOW)
    with pytest.raises(OutboxUnavailable, match="full"):
        store.begin(episode("r2", payload="p" * 2 * ONE), owner="a", now=NOW)
    store.begin(episode(payload=""), owner="b", now=NOW)
    store.add(reported("r1")[:1])
    store.purge(["pending"], NOW + 1)
    store.add(reported("r1", 0.6))
