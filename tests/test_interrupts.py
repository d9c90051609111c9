"""A signal interrupts a thread that waits for calls in others, whenever it comes."""

from types import SimpleNamespace

import pytest

from reward_functions.rollouts.collect.batches import BatchResult
from reward_functions.rollouts.drive.driving import drive
from reward_functions.scoring.engines.pool import side_by_side
from reward_functions.scoring.rows import Unread
from reward_functions.scoring.run import Pieces, Run
from tests.interrupting import assert_interruptible


def of_a_run(call, ending):
    return iter(Run(Pieces([(0, Unread("input line 0", 0, {}))], 1), call, 2))


def of_shards(call, ending):
    return side_by_side([0], lambda shard, left: call(shard), 2, ending.set)


def of_rollouts(call, ending):
    return drive(SimpleNamespace(ending=ending, run=call), [0], 2)


def of_a_batch(call, ending):
    def begin(payload, session, **_):
        call(payload)
        return SimpleNamespace(cancel=ending.set)

    runtime = SimpleNamespace(admit=lambda: None, stop=lambda session: ending.set())
    client = SimpleNamespace(max_pool_connections=1, runtime=runtime, begin=begin)
    return iter(BatchResult(client, [{}], 1))


@pytest.mark.parametrize("waiting", [of_a_run, of_shards, of_rollouts, of_a_batch])
def test_one_that_wakes_no_lock_is_seen_all_the_same(waiting):
    assert_interruptible(waiting)
