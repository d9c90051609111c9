"""The published toolkit against our runtime double, and ours beside it."""

import asyncio

import pytest

from reward_functions.local.runtime_double import (
    FaultPlan,
    RuntimeSettings,
    ScriptedPolicy,
    serving,
)
from tests.compat.conftest import ABSENT, METADATA, THEIRS, strands_agent

pytest.importorskip("sagemaker.train", reason=ABSENT)

JOB, ROLLOUT = METADATA["jobArn"], METADATA["rolloutId"]
TURNS = [
    {
        "prompt": "",
        "turns": [
            {"tool_calls": [{"name": "calculator", "arguments": {"expression": "6*7"}}]},
            {"content": "The answer is 42."},
        ],
    }
]


@pytest.fixture
def double(monkeypatch):
    with serving(RuntimeSettings(ScriptedPolicy(TURNS))) as serving_double:
        monkeypatch.setenv("RFT_RUNTIME_ENDPOINT", serving_double.endpoint)
        serving_double.register(JOB, ROLLOUT)
        yield serving_double


def state(double):
    trajectory = double.trajectory(JOB, ROLLOUT)
    return trajectory.state, trajectory.rewards


def test_a_client_completes_and_rewards(either, double):
    client = either.client(METADATA)
    client.complete_rollout()
    assert state(double) == ("READY", None)
    client.update_reward([0.25, 1])
    assert state(double) == ("REWARD_RECEIVED", (0.25, 1.0))
    assert {each.credential for each in double.trajectory(JOB, ROLLOUT).deliveries} == {"bearer"}


def test_a_client_reports_an_error(either, double):
    """Both post a reward behind the failure; theirs raises where the service refuses it."""
    client = either.client(METADATA)
    if either.name == THEIRS:
        with pytest.raises(OSError, match="409"):  # the double refuses a reward of a failed rollout
            client.report_error("no such page")
    else:
        client.report_error("no such page")
    assert state(double) == ("FAILED", None)


def test_an_agent_of_strands_is_a_rollout(either, double):
    token = either.generate_token("us-west-2")
    agent = strands_agent(either, double.endpoint, api_key=token)
    payload = {
        "prompt": "What is 6*7?",
        "metadata": METADATA,
        "inferenceParams": {"temperature": 0.5},
    }
    assert asyncio.run(agent(payload)) == {"reward": 1.0}
    trajectory = double.trajectory(JOB, ROLLOUT)
    assert (trajectory.state, trajectory.rewards) == ("REWARD_RECEIVED", (1.0,))
    assert len(trajectory.turns) == 2


def test_an_agent_that_raises_is_a_failed_rollout(either, double):
    @either.handler
    def agent(payload):
        raise ValueError("no such page")

    with pytest.raises(ValueError, match="no such page"):
        agent({"prompt": "p", "metadata": METADATA})
    assert state(double) == ("FAILED", None)


ONCE = FaultPlan(shares={"reward.error": 1.0}, most=1)
"""The first reward meets a failure of the service; the next attempt would be taken."""


def test_a_reward_that_meets_a_failure_is_lost_by_theirs_and_delivered_by_ours(either, double):
    double.faults = ONCE
    agent = either.handler(lambda payload: {"reward": 0.5})
    assert agent({"prompt": "p", "metadata": METADATA}) == {"reward": 0.5}
    lost, delivered = ("READY", None), ("REWARD_RECEIVED", (0.5,))
    assert state(double) == (lost if either.name == THEIRS else delivered)
