"""What an episode did is kept when it ends, once, as it was reported."""

import asyncio
from contextlib import suppress

import pytest

from reward_functions.rollouts import RolloutFeedbackClient, current_rollout, rollout_handler
from reward_functions.rollouts.episode.handler import RolloutHandler
from reward_functions.rollouts.policy.calls import policy_call
from reward_functions.rollouts.record.jsonl import TrajectoryFile
from reward_functions.rollouts.report.settings import RolloutSettings
from reward_functions.rollouts.request.errors import EnvironmentFailure, PolicyFailure
from tests.rollouts.episode.conftest import JOB, LIMIT
from tests.rollouts.episode.test_deadline import expire

ANSWER = {"choices": [{"message": {"role": "assistant", "content": "42"}}]}


def payload(name):
    return {"prompt": "6 × 7?", "metadata": {"jobArn": JOB, "rolloutId": name}}


def asks():
    with policy_call({"messages": [{"role": "user", "content": "6 × 7?"}]}) as call:
        call.answered(ANSWER)


def returns(value):
    def agent(payload):
        asks()
        return value

    return agent


def raises(error):
    def agent(payload):
        asks()
        raise error

    return agent


ENDINGS = {
    # the agent; then status, rewards, ending and error
    "a reward": (returns(0.5), "ready", (0.5,), "rewarded", ""),
    "a dictionary": (returns({"reward": [1]}), "ready", (1.0,), "rewarded", ""),
    "no reward": (returns(None), "ready", None, "unrewarded", ""),
    "skipped": (returns({"status": "skipped"}), "skipped", None, "skipped", ""),
    "an error": (
        returns({"status": "error"}),
        "failed",
        None,
        "returned_error",
        "EnvironmentFailure",
    ),
    "the policy's failure": (
        raises(PolicyFailure(reward=0.1)),
        "ready",
        (0.1,),
        "policy_failure",
        "",
    ),
    "ours": (
        raises(EnvironmentFailure("x")),
        "failed",
        None,
        "environment_failure",
        "EnvironmentFailure",
    ),
    "an exception": (raises(KeyError("secret")), "failed", None, "agent_failed", "KeyError"),
    "no number": (returns({"reward": "x"}), "failed", None, "agent_failed", "InvalidReward"),
}


@pytest.mark.parametrize("name", ENDINGS)
def test_an_ending_is_kept_as_it_was_reported(process, name):
    agent, status, rewards, ending, error = ENDINGS[name]
    kept = []
    handled = rollout_handler(agent, reporter=process, trajectories=kept.append)
    with suppress(PolicyFailure, EnvironmentFailure, KeyError):
        handled(payload(name))
    (one,) = kept
    assert (one.id, one.job, one.status, one.rewards) == (name, JOB, status, rewards)
    assert one.metadata == {"ending": ending} | ({"error": error} if error else {})
    assert [turn.response["content"] for turn in one.turns] == ["42"]


def test_an_agent_that_raises_after_its_own_report_is_a_conflict_and_nothing_is_lost(
    process, posts
):
    kept = []

    def agent(payload):
        asks()
        client = RolloutFeedbackClient(payload["metadata"], reporter=process)
        client.report_complete(0.75)
        raise RuntimeError("behind the report")

    handled = rollout_handler(agent, reporter=process, trajectories=kept.append)
    with pytest.raises(RuntimeError):
        handled(payload("own"))
    (one,) = kept
    assert (one.status, one.rewards, one.metadata["error"]) == ("conflict", None, "RuntimeError")
    assert len(one.turns) == 1
    sent = posts.of(payload("own"), 2)
    assert [body.get("Rewards") for _, body in sent] == [None, [0.75]]


def test_at_the_deadline_the_minimum_and_what_was_done_so_far_are_kept(process):
    kept = []

    def agent(payload):
        asks()
        expire(current_rollout())
        assert current_rollout().cancelled.wait(LIMIT)
        return 1.0

    rollout_handler(agent, reporter=process, trajectories=kept.append)(payload("late"))
    (one,) = kept
    assert (one.status, one.rewards, one.metadata) == ("ready", (0.0,), {"ending": "deadline"})
    assert len(one.turns) == 1


def test_without_ids_it_is_kept_and_not_reported(process, posts):
    kept = []
    rollout_handler(returns(1.0), reporter=process, trajectories=kept.append)({"prompt": "x"})
    (one,) = kept
    assert (one.status, one.rewards, len(one.turns)) == ("unreported", None, 1)
    assert one.id
    assert posts.everything() == {}


def test_the_agent_sees_its_own_record(process):
    seen = []

    def agent(payload, ctx):
        asks()
        seen.append(ctx.recording.trajectory(id="so far"))
        return 1.0

    rollout_handler(agent, reporter=process, trajectories=lambda _: None)(payload("seen"))
    assert (seen[0].status, len(seen[0].turns)) == ("running", 1)


def test_nothing_is_recorded_where_nobody_keeps_it(process):
    def agent(payload, ctx):
        assert ctx.recording is None
        return 1.0

    rollout_handler(agent, reporter=process)(payload("none"))


def test_a_failing_sink_fails_no_rollout(process, posts):
    def full(_):
        raise OSError(28, "disk full")

    assert (
        rollout_handler(returns(1.0), reporter=process, trajectories=full)(payload("full")) == 1.0
    )
    assert posts.of(payload("full"), 2)[1][1] == {"Rewards": [1.0]}


def test_an_async_agent_is_kept_too(process, tmp_path):
    path = tmp_path / "t.jsonl"

    async def agent(payload):
        asks()
        return 1.0

    handled = rollout_handler(agent, reporter=process, trajectories=path)
    asyncio.run(handled(payload("async")))
    assert [(one.id, one.rewards) for one in TrajectoryFile(path)] == [("async", (1.0,))]


def test_the_setting_says_where(tmp_path):
    path = tmp_path / "t.jsonl"
    settings = RolloutSettings.from_env({"REWARD_ROLLOUTS_TRAJECTORIES": str(path)})
    assert settings.sink is settings.sink
    assert RolloutSettings.from_env({}).sink is None
    assert isinstance(rollout_handler(returns(1.0), trajectories=path).rollout, RolloutHandler)
