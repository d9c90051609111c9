"""docs/how-to/token-traces.md from end to end: agent, relay, engine, rewards, a trainer's rows."""

from pathlib import Path

import pytest

from reward_functions.rollouts.record.jsonl import TrajectoryFile
from reward_functions.rollouts.record.sink import TrajectorySink
from reward_functions.rollouts.relay import Relay
from tests.rollouts.examples.conftest import EXAMPLES, records, reward
from tests.rollouts.examples.token_engine import logprobs_of, sums

EXAMPLE = EXAMPLES / "token_traces.py"
N = 4


@pytest.fixture
def traced(folder, credentials):
    """The recipe up to its last step: what the relay wrote, and the records of the run."""
    kept = TrajectorySink("traces.jsonl").keep
    with sums() as engine, Relay(engine.url, admin_key="owner", ended=kept).serving() as relay:
        credentials.setenv("REWARD_RELAY_ADMIN_KEY", "owner")
        credentials.setenv("RELAY_URL", relay.url)
        reward("run", f"{EXAMPLE}:solve", "rows.jsonl", "-n", N)
    return list(TrajectoryFile(Path("traces.jsonl")))


def test_rewards_and_tokens_of_a_run_become_rows_of_a_trainer(traced):
    rewards = {each["rollout"]: each["reward"] for each in records()}
    assert {each.id for each in traced} == rewards.keys()
    for trajectory in traced:
        first, second = trajectory.turns
        assert [call.name for call in first.tool_calls] == ["calculator"]
        begun = first.tokens.prompt_ids + first.tokens.completion_ids
        assert second.tokens.prompt_ids[: len(begun)] == begun
        right = any(value in second.response["content"] for value in ("{44}", "{42}"))
        assert rewards[trajectory.id] == float(right)
    exported = ["export", "traces.jsonl", "--rewards", "rollouts.jsonl"]
    ran = reward(*exported, "--to", "datum", "--out", "datum.jsonl")
    data = records("datum.jsonl")
    assert f"{2 * N} rows in datum.jsonl" in ran.output
    assert "left out" not in ran.output
    for trajectory, each in zip(traced, data, strict=True):
        first, second = (turn.tokens for turn in trajectory.turns)
        sequence = second.prompt_ids + second.completion_ids
        written = [*first.completion_ids, *second.completion_ids]
        assert each["modelInput"]["chunks"][0]["tokens"] == list(sequence[:-1])
        fields = ("target_tokens", "weights", "logprobs", "advantages")
        columns = [each["lossFnInputs"][name]["data"] for name in fields]
        trained = [row for row in zip(*columns, strict=True) if row[1]]
        assert [token for token, *_ in trained] == written
        assert [row[2] for row in trained] == [*first.logprobs, *second.logprobs]
        assert {row[3] for row in trained} == {rewards[trajectory.id] - 0.5}
        own = [logprobs_of(tokens.completion_ids) for tokens in (first, second)]
        assert [list(first.logprobs), list(second.logprobs)] == own
    reward(*exported, "--to", "agentcore", "--out", "agentcore.jsonl")
    found = records("agentcore.jsonl")
    assert {each["reward"] for each in found} == {0.0, 1.0}
    for each in found:
        assert (each["metadata"]["advantage"] > 0) == (each["reward"] == 1.0)
    reward("report", "rollouts.jsonl", "--trajectories", "traces.jsonl")
