"""Agents on AWS: what is sent, how often, and what is let go of."""

import json

import pytest

from reward_functions.core.errors import ConfigurationError
from reward_functions.rollouts.drive.agents import AgentCoreAgent, LambdaAgent
from reward_functions.rollouts.request.contract import RolloutMetadata, RolloutRequest
from tests.loopback import Service, served

RUNTIME = "arn:aws:bedrock-agentcore:us-west-2:000000000000:runtime/mine-AbCdEf1234"
REQUEST = RolloutRequest(
    prompt="x", metadata=RolloutMetadata(job_arn="arn:job", trajectory_id="short")
)


class Cloud(Service):
    """Lambda and AgentCore, as far as they are called here."""

    reply = (200, {}, b"{}")

    def operation(self, asked):
        self.calls = [*getattr(self, "calls", []), asked]
        return asked.path[-1], lambda: self.reply


@pytest.fixture
def cloud(monkeypatch):
    for name in ("AWS_PROFILE", "AWS_CA_BUNDLE", "HTTP_PROXY", "http_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "local")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "local")
    monkeypatch.setenv("AWS_REGION", "us-west-2")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-west-2")
    with served(Cloud()) as service:
        monkeypatch.setenv("AWS_ENDPOINT_URL_LAMBDA", service.address)
        monkeypatch.setenv("AWS_ENDPOINT_URL_BEDROCK_AGENTCORE", service.address)
        yield service


REPLIES = [
    # The platform's guide: {} is success, errorType is not. Lambda's own errors by its SDK.
    ((200, {}, b"{}"), "working", ""),
    (
        (200, {}, b'{"errorType": "ValidationError", "errorMessage": "x"}'),
        "error",
        "ValidationError",
    ),
    ((200, {"X-Amz-Function-Error": "Unhandled"}, b"{}"), "error", "Unhandled"),
    ((429, {"x-amzn-errortype": "TooManyRequestsException"}, b"{}"), "busy", None),
    ((404, {"x-amzn-errortype": "ResourceNotFoundException"}, b"{}"), "error", None),
    ((500, {}, b"{}"), "error", "500"),
]


@pytest.mark.parametrize(("reply", "kind", "error"), REPLIES)
def test_a_forwarders_answer_and_no_second_call(cloud, reply, kind, error):
    cloud.reply = reply
    answer = LambdaAgent("forwarder", seconds=60).send(REQUEST, timeout=60)
    assert answer.kind == kind
    assert error is None or answer.error == error
    assert len(cloud.calls) == 1
    assert json.loads(cloud.calls[0].body) == REQUEST.wire()


def test_a_session_of_agentcore_is_the_rollouts_own_and_is_stopped(cloud):
    cloud.reply = (200, {"Content-Type": "application/json"}, b'{"status": "accepted"}')
    agent = AgentCoreAgent(RUNTIME, seconds=60, qualifier="DEFAULT")
    assert agent.send(REQUEST, timeout=60).kind == "working"
    agent.release(REQUEST)
    assert cloud.asked == ["invocations", "stopruntimesession"]
    header = "x-amzn-bedrock-agentcore-runtime-session-id"
    sessions = {call.headers[header] for call in cloud.calls}
    assert [33 <= len(each) <= 256 for each in sessions] == [True]
    assert cloud.calls[0].query["qualifier"] == "DEFAULT"


def test_a_session_that_cannot_be_stopped_is_no_failure(cloud):
    cloud.reply = (500, {}, b"{}")
    AgentCoreAgent(RUNTIME, seconds=60).release(REQUEST)


def test_the_region_of_an_arn_is_checked_before_it_is_part_of_a_host():
    with pytest.raises(ConfigurationError, match="is not the name of a region"):
        LambdaAgent("arn:aws:lambda:evil.example/:0:function:x", seconds=60)
