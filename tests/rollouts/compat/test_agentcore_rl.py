"""The names and signatures of agentcore-rl-toolkit 0.2.0, by their parameters and defaults."""

from importlib import import_module
from inspect import signature
from types import SimpleNamespace

import pytest

from reward_functions.rollouts.collect.ledger import Ledger
from reward_functions.rollouts.compat import agentcore_rl

ARN = "arn:aws:bedrock-agentcore:us-west-2:123456789012:runtime/agent-abc"

# As `inspect.signature` of the published package has them: (parameter, default), "" for none.
BATCH = (
    "payloads= max_concurrent_sessions= timeout=900.0 initial_interval=0.5 max_interval=30.0 "
    "backoff_factor=1.5 log_interval=30.0"
)
SIGNATURES = {
    "AgentCoreRLApp.rollout_entrypoint": "func=",
    "AgentCoreRLApp.save_result": "result= rollout_config= result_key= payload=None",
    "AgentCoreRuntimeApp.__init__": "background=False state_dir=None",
    "RolloutClient.__init__": (
        "agent_runtime_arn= s3_bucket= exp_id= max_retry_attempts=5 tps_limit=25 "
        "max_pool_connections=10 base_url=None model_id=None"
    ),
    "RolloutClient.invoke": "payload= session_id=None input_id=None",
    "RolloutClient.invoke_async": "payload= session_id=None input_id=None",
    "RolloutClient.run_batch": BATCH,
    "RolloutClient.run_batch_async": BATCH,
    "RolloutFuture.__init__": (
        "s3_client= s3_bucket= result_key= initial_interval=0.5 max_interval=30.0 "
        "backoff_factor=1.5 session_id=None input_id=None agentcore_client=None "
        "agent_runtime_arn=None rate_limiter=None"
    ),
    "RolloutFuture.result": "timeout=None",
    "RolloutFuture.result_async": "timeout=None",
    "BatchItem.__init__": "success= result=None error=None index=None elapsed=None",
    "ACRRateLimiter.__init__": "tps_limit=25",
    "InvocationError.__init__": "session_id= snapshot=",
    "InvocationHandle.__init__": "client= session_id= invocation_id= snapshot=None",
    "InvocationHandle.result": "timeout=None",
    "AgentCoreHttpClient.__init__": (
        "runtime_arn= max_pool_connections=100 read_timeout=900 request_rate_limiter=None "
        "aws_client=None"
    ),
    "AgentCoreHttpClient.invoke": "payload= session_id= invocation_id=None background=False",
    "AgentCoreHttpClient.get_invocation": "session_id= invocation_id=",
    "AgentCoreHttpClient.stop_session": "session_id=",
}


@pytest.mark.parametrize("name", SIGNATURES)
def test_a_signature_begins_as_theirs(name):
    owner, method = name.split(".")
    parameters = list(signature(getattr(getattr(agentcore_rl, owner), method)).parameters.values())
    theirs = [each.partition("=")[::2] for each in SIGNATURES[name].split()]
    ours = [
        (each.name, "" if each.default is each.empty else str(each.default))
        for each in parameters[1 : 1 + len(theirs)]
    ]
    assert ours == theirs
    assert all(each.kind != each.POSITIONAL_ONLY for each in parameters[1:])


@pytest.mark.parametrize(
    "name", "done done_async cancel cancel_async elapsed ready_to_poll time_until_next_poll".split()
)
def test_a_future_has_their_methods_without_arguments(name):
    assert list(signature(getattr(agentcore_rl.RolloutFuture, name)).parameters) == ["self"]


def test_an_unknown_name_is_none():
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = agentcore_rl.nothing


MODULES = {
    "app": "AgentCoreRLApp",
    "client": "AsyncBatchResult BatchItem BatchResult RolloutClient RolloutFuture",
    "reward_function": "RewardFunction",
    "runtime": "AgentCoreHttpClient AgentCoreRuntimeApp InvocationError InvocationHandle",
}


@pytest.mark.parametrize("name", MODULES)
def test_a_module_has_their_names_too(name):
    module = import_module(f"{agentcore_rl.__name__}.{name}")
    for each in MODULES[name].split():
        assert getattr(module, each) is getattr(agentcore_rl, each)
    with pytest.raises(AttributeError):
        _ = module.nothing


def test_the_boto3_of_their_module_can_be_patched(monkeypatch):
    from reward_functions.rollouts.compat.agentcore_rl import client

    made = {}
    monkeypatch.setattr(
        client, "boto3", SimpleNamespace(client=lambda name, **_: made.setdefault(name, object()))
    )
    found = agentcore_rl.RolloutClient(ARN, "results", "run", ledger=Ledger(None))
    assert found.agentcore_client is made["bedrock-agentcore"]
    assert found.s3_client is made["s3"]


def test_a_future_names_the_client_and_the_runtime_that_stop_its_session():
    runtime = object()
    future = agentcore_rl.RolloutFuture(
        None, "results", "key", agentcore_client=runtime, agent_runtime_arn=ARN
    )
    assert (future.agentcore_client, future.agent_runtime_arn) == (runtime, ARN)
    alone = agentcore_rl.RolloutFuture(None, "results", "key")
    assert (alone.agentcore_client, alone.agent_runtime_arn) == (None, None)
