"""The published agentcore-rl-toolkit's `RolloutClient` and ours against the same double.

Where nothing goes wrong both collect the same; where something does, both are measured.
"""

from importlib import import_module

import boto3
import pytest
from botocore.config import Config

from tests.compat.conftest import MEASURED
from tests.local.agentcore_double import Faults, FunctionAgent, serving

ARN = "arn:aws:bedrock-agentcore:us-west-2:123456789012:runtime/agent-abc"
THEIRS, OURS = "agentcore_rl_toolkit.client", "reward_functions.rollouts.compat.agentcore_rl.client"
FAST = {"initial_interval": 0.02, "max_interval": 0.1}

pytest.importorskip(THEIRS)


@pytest.fixture
def collecting(monkeypatch, tmp_path):
    """A client of either package, made as its users make it, and the double."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIAEXAMPLE")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "x" * 40)
    monkeypatch.setenv("REWARD_ROLLOUTS_SESSIONS", str(tmp_path))

    def client(package, double):
        monkeypatch.setenv("AWS_ENDPOINT_URL", double.endpoint)
        made = import_module(package).RolloutClient(ARN, "results", "run", tps_limit=1000)
        made.s3_client = boto3.client(
            "s3", region_name="us-west-2", config=Config(s3={"addressing_style": "path"})
        )
        return made

    return client


def measured(package, event, sentence):
    MEASURED.append(f"{package}, {event}: {sentence}")


def agent(row):
    if row["n"] == 3:
        raise RuntimeError("no tool")
    return {"rewards": float(row["n"])}


def rows(*numbers):
    return [{"n": n} for n in numbers]


@pytest.mark.parametrize("package", [THEIRS, OURS])
def test_both_collect_the_same(collecting, package):
    with serving(FunctionAgent(agent)) as double:
        items = list(collecting(package, double).run_batch(rows(0, 1, 2), 2, **FAST))
        assert sorted((each.index, each.result["rewards"]) for each in items) == [
            (0, 0.0),
            (1, 1.0),
            (2, 2.0),
        ]
        assert not double.sessions.running


@pytest.mark.parametrize(("package", "success"), [(THEIRS, True), (OURS, False)])
def test_an_agents_failure_is_a_success_of_theirs_alone(collecting, package, success):
    with serving(FunctionAgent(agent)) as double:
        (item,) = collecting(package, double).run_batch(rows(3), 1, **FAST)
        assert item.success == success
        measured(package, "an agent that failed", f"success={item.success}")


@pytest.mark.parametrize(("package", "ends"), [(THEIRS, True), (OURS, False)])
def test_one_look_that_fails_ends_a_batch_of_theirs_alone(collecting, package, ends):
    with serving(FunctionAgent(agent), Faults({"head.forbidden": 1.0}, most=1)) as double:
        batch = collecting(package, double).run_batch(rows(0, 1), 2, **FAST)
        if ends:
            with pytest.raises(Exception, match="403"):
                list(batch)
            assert double.sessions.running
        else:
            assert [item.success for item in batch] == [True, True]
            assert not double.sessions.running
        left = len(double.sessions.running)
        measured(
            package,
            "one look that failed",
            f"{'ended' if ends else 'no end of'} the batch, {left} sessions left running",
        )


@pytest.mark.parametrize(("package", "left"), [(THEIRS, 2), (OURS, 0)])
def test_break_leaves_sessions_of_theirs_alone(collecting, package, left):
    with serving(FunctionAgent(lambda row: {"rewards": 0.0} if row["n"] == 0 else None)) as double:
        client = collecting(package, double)
        for _ in client.run_batch(rows(0, 1, 2), 3, **FAST):
            break
        assert len(double.sessions.running) <= left
        assert bool(double.sessions.running) == bool(left)
        measured(package, "a break", f"{len(double.sessions.running)} sessions left running")
