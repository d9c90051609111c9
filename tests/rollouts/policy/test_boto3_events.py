"""boto3's clients: each call signed with its rollout, sampled by it, and recorded."""

import json
from concurrent.futures import ThreadPoolExecutor

import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError

from reward_functions.rollouts.policy.boto3_events import UnsupportedClient, wrap_boto3
from reward_functions.rollouts.request.errors import PolicyFailure
from tests.loopback import Service, served
from tests.policy_service import Call, completion
from tests.rollouts.crossing import (
    AT_ONCE,
    JOB,
    assert_one_span_a_call,
    crossed,
    episode,
    turns,
)

ANSWER = "42"


class Runtime(Service):
    """The runtime's `Sample`, and Bedrock's Converse behind a proxy."""

    def operation(self, asked):
        name = asked.path[-1]
        return name, lambda: self.answered(name, asked)

    def answered(self, name, asked):
        call = Call(asked.headers, json.loads(asked.body))
        self.calls.append(call)
        if name == "converse":
            return 200, {}, json.dumps(CONVERSED).encode()
        if name == "invoke":
            return 200, {}, b"{}"
        return completion({"model": "default"} | call.body, {"content": ANSWER}, "stop")


CONVERSED = {
    "output": {
        "message": {
            "role": "assistant",
            "content": [
                {"text": "I compute."},
                {"toolUse": {"toolUseId": "t", "name": "calculator", "input": {"x": "6*7"}}},
            ],
        }
    },
    "stopReason": "tool_use",
    "usage": {"inputTokens": 7, "outputTokens": 3, "totalTokens": 10},
    "metrics": {"latencyMs": 1},
}


@pytest.fixture
def runtime(credentials):
    service = Runtime()
    service.calls = []
    with served(service):
        yield service


def client_of(runtime, service="sagemakerjobruntime"):
    config = Config(retries={"mode": "standard", "total_max_attempts": 2}, max_pool_connections=64)
    return boto3.Session().client(
        service, endpoint_url=runtime.address, region_name="us-west-2", config=config
    )


def sample(client, number=0, **more):
    request = {"model": "default", "messages": [{"role": "user", "content": f"solve {number}"}]}
    # Ids of no rollout: the current one's go over them.
    return client.sample(JobArn=JOB, TrajectoryId="none", Body=json.dumps(request | more))["Body"]


def test_threads_over_one_client_are_as_many_rollouts(runtime):
    client = wrap_boto3(wrap_boto3(client_of(runtime)))
    episodes = [episode(number) for number in range(AT_ONCE)]

    def one(number):
        with episodes[number]:
            sample(client, number).read()

    with ThreadPoolExecutor(AT_ONCE) as pool:
        list(pool.map(one, range(AT_ONCE)))
    assert crossed(runtime.calls) == []
    assert_one_span_a_call(runtime.calls)
    for each in episodes:
        assert (each.turns, turns(each)) == (1, [(ANSWER, "")])
    for call in runtime.calls:
        signed = call.headers["authorization"].partition("SignedHeaders=")[2].partition(",")[0]
        assert {"x-span-id", "x-amzn-sagemaker-trajectory-id"} <= set(signed.split(";"))
    sample(client).read()
    assert runtime.calls[-1].identity == (JOB, "none")
    assert "x-span-id" not in runtime.calls[-1].headers


def within(body):
    with body as opened:
        return opened.read()


READINGS = {
    "read": lambda body: body.read(),
    "chunks": lambda body: b"".join(body.iter_chunks(7)),
    "lines": lambda body: b"\n".join(body.iter_lines()),
    "with": within,
}


@pytest.mark.parametrize("way", READINGS)
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
def test_a_body_is_read_as_ever_and_recorded_at_its_end(runtime, way, stream):
    client, one = wrap_boto3(client_of(runtime)), episode()
    with one:
        body = sample(client, stream=stream)
        assert turns(one) == [(None, "")]
        assert ANSWER.encode() in READINGS[way](body)
    assert (one.turns, turns(one)) == (1, [(ANSWER, "")])


def test_attempts_of_botocore_are_attempts_of_one_call(runtime, monkeypatch):
    monkeypatch.setattr("botocore.endpoint.time.sleep", lambda _: None)
    client, one = wrap_boto3(client_of(runtime)), episode()
    runtime.fail("sample", (500, {}, b"{}"))
    with one:
        sample(client).read()
    assert (one.turns, turns(one)) == (1, [(None, "CallRefused"), (ANSWER, "")])
    runtime.fail("sample", (400, {"x-amzn-errortype": "ValidationException"}, b"{}"))
    with one, pytest.raises(ClientError):
        sample(client)
    assert (one.turns, turns(one)[2:]) == (1, [(None, "CallRefused")])


def test_converse_has_headers_and_parameters_and_is_recorded_in_openais_form(runtime):
    client, one = wrap_boto3(client_of(runtime, "bedrock-runtime")), episode(7)
    result = {"toolUseId": "t", "content": [{"text": "42"}, {"json": {"x": 1}}]}
    with one:
        client.converse(
            modelId="m",
            system=[{"text": "Be brief."}],
            messages=[
                {"role": "user", "content": [{"text": "6*7?"}]},
                CONVERSED["output"]["message"],
                {"role": "user", "content": [{"toolResult": result}]},
            ],
            inferenceConfig={"temperature": 0.9, "stopSequences": ["x"]},
        )
    [call] = runtime.calls
    assert call.identity == (JOB, "rollout-7")
    config = {"temperature": 0.07, "topP": 1 - 0.07, "maxTokens": 107, "stopSequences": ["x"]}
    assert call.body["inferenceConfig"] == config
    [turn] = one.recording.trajectory(id="t").turns
    used = {"name": "calculator", "arguments": '{"x": "6*7"}'}
    calls = [{"id": "t", "type": "function", "function": used}]
    acted = {"role": "assistant", "content": "I compute.", "tool_calls": calls}
    assert list(turn.messages) == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "6*7?"},
        acted,
        {"role": "tool", "tool_call_id": "t", "content": '42\n{"x": 1}'},
    ]
    assert turn.response == acted


def test_a_model_of_bedrock_in_another_form_is_a_turn(runtime):
    client, one = wrap_boto3(client_of(runtime, "bedrock-runtime")), episode()
    with one:
        client.invoke_model(modelId="m", body=b"{}")["body"].read()
    assert (one.turns, turns(one), runtime.calls[0].identity) == (1, [], (JOB, "rollout-0"))


def test_behind_the_deadline_nothing_is_sent(runtime):
    client, one = wrap_boto3(client_of(runtime)), episode()
    one.cancelled.set()
    with one, pytest.raises(PolicyFailure, match="window is over"):
        sample(client)
    assert runtime.calls == []


@pytest.mark.parametrize("client", ["s3", None])
def test_a_client_that_calls_no_policy_is_refused(client, credentials):
    made = client and boto3.Session().client(client, region_name="us-west-2")
    with pytest.raises(UnsupportedClient, match="sagemakerjobruntime or bedrock-runtime"):
        wrap_boto3(made)
