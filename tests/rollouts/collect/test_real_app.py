"""Collection against the real apps, on both hosts, behind the double of AgentCore's data plane."""

import asyncio
from collections import Counter

import pytest

from reward_functions.rollouts.collect.invocations import AgentCoreHttpClient, InvocationError
from reward_functions.rollouts.request.errors import PolicyFailure
from tests.local.agentcore_double import AppAgent, Faults
from tests.rollouts.collect.conftest import boto
from tests.rollouts.serve.agentcore.hosts import HOSTS, rl_app, runtime_app, serving

FAST = {"initial_interval": 0.01, "max_interval": 0.1}
STORM = {
    "invoke.throttle": 0.1,
    "invoke.dropped": 0.1,
    "head.forbidden": 0.1,
    "get.dropped": 0.1,
    "stop.throttle": 0.1,
}


@pytest.fixture(params=sorted(HOSTS))
def host(request):
    return HOSTS[request.param]


def agent(payload):
    match payload["n"] % 10:
        case 1:
            raise ValueError("the model's words")
        case 2:
            return {"rewards": float("nan")}
        case 3:
            raise PolicyFailure("it gave up", reward=-1.0)
        case 4:
            return {"rewards": [0.5, float(payload["n"])], "input_id": "mine"}
        case 5:
            return {"status_code": 429, "stop_reason": "the tool is full"}
    return {"rewards": float(payload["n"]), "rollout_data": [payload["prompt"]]}


def test_a_batch_against_the_real_app_is_whole_or_marked(host, collecting, ledgers):
    app = rl_app(host, result_buckets=["results"])
    app.rollout_entrypoint(agent)
    rows = ({"n": n, "prompt": f"p{n}"} for n in range(20))
    with (
        serving(app) as url,
        collecting(AppAgent(url), Faults(STORM), agent=lambda given: given) as (client, double),
    ):
        app.s3_client = client.s3_client
        items = {each.index: each for each in client.run_batch(rows, 8, timeout=60, **FAST)}
        assert not double.sessions.running
    assert Counter(each.kind for each in items.values()) == {"": 14, "agent": 6}
    assert items[1].error == "the agent failed with status 500: the agent raised ValueError"
    assert "reward is nan" in items[2].error
    assert items[3].result["rewards"] == -1.0
    assert items[3].result["stop_reason"] == "policy_failure"
    assert items[4].result["rewards"] == [0.5, 4.0]
    assert items[4].result["agent_fields"] == {"input_id": "mine"}
    assert items[5].error == "the agent failed with status 429: the tool is full"
    assert items[6].result["payload"]["prompt"] == "p6"
    assert not list(ledgers.iterdir())
    assert app.counts["lost"] == app.counts["conflict"] == 0


def test_a_bucket_that_the_app_may_not_write_to_is_the_services_failure(host, collecting):
    app = rl_app(host, result_buckets=["others"])
    app.rollout_entrypoint(agent)
    with (
        serving(app) as url,
        collecting(AppAgent(url), agent=lambda given: given) as (client, double),
    ):
        (item,) = client.run_batch([{"n": 0}], 1, timeout=60, **FAST)
        assert not double.sessions.running
    assert (item.success, item.kind) == (False, "service")
    assert "RuntimeClientError" in item.error


def test_invocations_of_the_real_app_run_once_and_are_looked_up(host, collecting, tmp_path):
    ran = []
    app = runtime_app(host, state_dir=tmp_path / "state")

    @app.entrypoint
    def entry(payload):
        ran.append(payload["x"])
        return agent({"n": payload["x"], "prompt": "p"})

    async def asked(double):
        made = boto("bedrock-agentcore", double)
        arn = "arn:aws:bedrock-agentcore:us-west-2:123456789012:runtime/agent-abc"
        async with AgentCoreHttpClient(arn, aws_client=made) as client:
            session = "s" * 40
            told = {"session_id": session, "invocation_id": "a"}
            first = await client.invoke({"x": 6}, **told, background=True)
            again = await client.invoke({"x": 6}, **told)
            assert (await first.result(60)) == again == {"rewards": 6.0, "rollout_data": ["p"]}
            with pytest.raises(InvocationError, match="the agent raised ValueError"):
                await client.invoke({"x": 1}, session_id=session)
            lost = client.get_invocation(session_id=session, invocation_id="none")
            assert (await lost.status())["status"] == "not_found"
            await client.stop_session(session)
        made.close()

    with (
        serving(app) as url,
        collecting(AppAgent(url), agent=lambda given: given) as (_, double),
    ):
        asyncio.run(asked(double))
        assert not double.sessions.running
    assert ran == [6, 1]
