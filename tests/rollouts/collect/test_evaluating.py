"""A batch as an evaluation: failures stand beside the mean, and not in it."""

import asyncio

import pytest

from reward_functions.rollouts.drive.evaluating import evaluate_batch, evaluate_batch_async

ROWS = [{"n": n, "prompt": n // 2} for n in range(8)]
FAST = {"initial_interval": 0.01, "max_interval": 0.05}


def agent(row):
    if row["n"] == 3:
        raise RuntimeError("no tool")
    if row["n"] == 4:
        return {"metrics": {}}
    return {"rewards": [0.5, 0.5] if row["n"] % 2 else 0.0}


def group(row):
    return row["prompt"]


def test_rewards_are_joined_and_failures_counted_apart(collecting):
    async def evaluated(client):
        return await evaluate_batch_async(
            client.run_batch_async(ROWS, 4, **FAST), ROWS, group=group
        )

    with collecting(agent) as (client, _):
        found = evaluate_batch(client.run_batch(ROWS, 4, **FAST), ROWS, group=group)
        assert asyncio.run(evaluated(client)) == found
    assert found.rewards == {0: 0.0, 1: 1.0, 2: 0.0, 5: 1.0, 6: 0.0, 7: 1.0}
    assert found.mean.value == pytest.approx(0.5)
    assert found.mean.low <= 0.5 <= found.mean.high
    assert found.failures == {"agent": 1, "unscored": 1}
    assert found.errors[3].endswith("RuntimeError: no tool")


def test_a_reward_of_ours_scores_what_an_agent_stored(collecting):
    with collecting(lambda row: {"answer": row["n"]}) as (client, _):
        items = client.run_batch(ROWS, 4, **FAST)
        found = evaluate_batch(
            items, ROWS, reward=lambda row, result: float(row["n"] == result["answer"])
        )
    assert found.mean.value == 1.0
    assert not found.failures
