"""`sagemaker_rft_handler` under both apps: answered at once, and the reward is reported later.

As agentcore-rl-toolkit's own test has it: sync and async, ok and failing, context in place.
"""

from __future__ import annotations

import asyncio
import threading

import pytest

from reward_functions.rollouts import LiveParams, get_inference_headers, rollout_handler
from tests.rollouts.episode.conftest import account, new, posts, process
from tests.rollouts.serve.agentcore.hosts import (
    BUCKET,
    LIMIT,
    ask,
    rl_app,
    runtime_app,
    serving,
)
from tests.waiting import until

__all__ = ["account", "new", "posts", "process"]


def agent_of(kind, fails, go, seen):
    def act(payload):
        seen.append((get_inference_headers(), dict(LiveParams())["temperature"]))
        if fails:
            raise LookupError("the model's words")
        return {"reward": 0.25}

    def sync_agent(payload):
        assert go.wait(LIMIT)
        return act(payload)

    async def async_agent(payload):
        assert await asyncio.to_thread(go.wait, LIMIT)
        return act(payload)

    return {"sync": sync_agent, "async": async_agent}[kind]


@pytest.mark.parametrize("fails", [False, True], ids=["ok", "fails"])
@pytest.mark.parametrize("kind", ["sync", "async"])
def test_a_rollout_is_answered_at_once_and_reported_later(
    host, tmp_path, posts, process, new, kind, fails
):
    app, go, seen = (
        runtime_app(host, state_dir=tmp_path, background=True, grace=5.0),
        threading.Event(),
        [],
    )
    agent = agent_of(kind, fails, go, seen)
    app.entrypoint(rollout_handler(agent, reporter=process))
    payload = new()
    with serving(app) as url:
        status, content = ask(url, payload)
        assert (status, content["status"], posts.of(payload)) == (200, "in_progress", [])
        ask(url, payload)  # a duplicate, which runs no agent
        go.set()
        (complete, done), *rewards = posts.of(payload, 2)
        name = content["invocation_id"]
        asked = {"_agentcore_runtime": {"version": 1, "operation": "get", "invocation_id": name}}
        until(lambda: ask(url, asked)[1]["status"] == "completed")
        last = ask(url, asked)[1]
    assert (complete, done["Status"]) == ("/complete-rollout", "failed" if fails else "ready")
    assert [each["Rewards"] for _, each in rewards] == [[0.0] if fails else [0.25]]
    ((headers, temperature),) = seen
    assert headers["X-Amzn-SageMaker-Trajectory-Id"] == payload["metadata"]["rolloutId"]
    assert temperature == 0.5
    assert last.get("result") == (None if fails else {"reward": 0.25})
    assert last.get("error") == ("the agent raised LookupError" if fails else None)


@pytest.mark.parametrize("kind", ["sync", "async"])
def test_the_same_under_the_rollout_app_is_reported_and_stored(host, s3, posts, process, new, kind):
    app, go = rl_app(host, s3_client=s3.client), threading.Event()
    go.set()
    agent = agent_of(kind, False, go, [])
    app.rollout_entrypoint(rollout_handler(agent, reporter=process))
    payload = new(_rollout={"exp_id": "e", "input_id": "i", "s3_bucket": BUCKET})
    with serving(app) as url:
        found = s3.stored(ask(url, payload)[1])
    assert found["reward"] == 0.25
    assert len(posts.of(payload, 2)) == 2


def test_a_payload_that_is_no_request_is_refused_once_and_recorded(host, tmp_path, process):
    app = runtime_app(host, state_dir=tmp_path)
    app.entrypoint(rollout_handler(lambda payload: 1.0, reporter=process))
    start = {"version": 1, "operation": "start", "invocation_id": "a"}
    payload = {"prompt": 7, "_agentcore_runtime": start}
    with serving(app) as url:
        status, content = ask(url, payload)
        assert (status, content["error"].startswith("prompt")) == (400, True)
        assert ask(url, payload)[1]["error"].startswith("the request was refused")
