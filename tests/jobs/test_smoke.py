"""An agent asked once before a job: what it answers, and what a refusal means."""

import json
from io import BytesIO

import pytest
from botocore.exceptions import ClientError

from reward_functions.aws import calls
from reward_functions.aws.failures import AwsFailed
from reward_functions.jobs import preflight
from reward_functions.jobs.options import agent_of

FUNCTION = "arn:aws:lambda:us-east-1:123456789012:function:forwarder:3"
RUNTIME = "arn:aws:bedrock-agentcore:us-east-1:123456789012:runtime/agent-0a1b2c3d4e"


class Service:
    """Lambda or AgentCore, which answers with this, or refuses."""

    def __init__(self, body=b"{}", code=None, *, failed=False, ends=True, settings=None):
        self.body, self.code, self.failed, self.ends = body, code, failed, ends
        self.settings = settings or {}
        self.asked, self.ended = [], []

    def _refuse(self, code):
        raise ClientError({"Error": {"Code": code, "Message": "no"}}, "any")

    def get_function_configuration(self, **asked):
        if self.code:
            self._refuse(self.code)
        return {"State": "Active", "Timeout": 30} | self.settings

    def invoke(self, **asked):
        self.asked.append(asked)
        if self.code:
            self._refuse(self.code)
        failed = {"FunctionError": "Unhandled"} if self.failed else {}
        return {"Payload": BytesIO(self.body), **failed}

    def invoke_agent_runtime(self, **asked):
        self.asked.append(asked)
        if self.code:
            self._refuse(self.code)
        return {"response": BytesIO(self.body)}

    def stop_runtime_session(self, **asked):
        self.ended.append(asked)
        if not self.ends:
            self._refuse("ConflictException")


@pytest.fixture
def asked(monkeypatch):
    """What a smoke test says of an agent, and the service that it asked."""

    def made(arn=FUNCTION, **given):
        service = Service(**given)
        monkeypatch.setattr(calls, "client", lambda *_: service)
        found = list(preflight._smoke(agent_of(arn), None))
        return service, [(each.verdict, each.message) for each in found]

    return made


def error(kind, message="m"):
    return json.dumps({"errorType": kind, "errorMessage": message}).encode()


ANSWERS = [
    (error("ValidationError"), "ok", "it speaks the contract, and refuses a request without"),
    (error("InternalServerError"), "failure", "the agent answered InternalServerError: m; a job"),
    (error("AccessDenied", "x" * 201), "failure", f"AccessDenied: {'x' * 200}; a job would end"),
    (b"{}", "ok", "it answers, without an error"),
    (b'{"a": 1}', "ok", "it answers, without an error"),
    (error("Other"), "warning", "it answers neither {} nor an errorType of the contract"),
    (b"[]", "warning", "it answers neither {} nor an errorType of the contract"),
    (b"<html>", "warning", "it answers neither {} nor an errorType of the contract"),
    (b"[" * 60_000, "warning", "it answers neither {} nor an errorType of the contract"),
]


@pytest.mark.parametrize(("body", "verdict", "words"), ANSWERS)
@pytest.mark.parametrize("arn", [FUNCTION, RUNTIME])
def test_an_answer_says_whether_an_agent_speaks_the_contract(arn, body, verdict, words, asked):
    _, ((found, message),) = asked(arn, body=body)
    assert (found, words in message) == (verdict, True), message


def test_a_function_that_failed_is_no_answer(asked):
    _, found = asked(body=error("ValidationError", "why"), failed=True)
    assert found == [("failure", "the agent's function failed: ValidationError: why")]
    _, found = asked(body=error("E" * 65), failed=True)
    assert found == [("failure", f"the agent's function failed: {'E' * 64}: m")]


@pytest.mark.parametrize("arn", [FUNCTION, RUNTIME])
@pytest.mark.parametrize(
    ("code", "verdict"),
    [
        ("AccessDeniedException", "unknown"),
        ("ResourceNotFoundException", None),
        ("ThrottlingException", "failure"),
    ],
)
def test_an_agent_that_cannot_be_asked(arn, code, verdict, asked):
    _, found = asked(arn, code=code)
    assert [each for each, _ in found] == ([verdict] if verdict else [])
    if verdict == "unknown":
        assert found[0][1] == f"{arn} may not be asked here"


def test_a_function_is_asked_by_its_arn(asked):
    service, _ = asked()
    assert service.asked == [{"FunctionName": FUNCTION, "Payload": b'{"smoke_test": true}'}]


@pytest.mark.parametrize("ends", [True, False])
@pytest.mark.parametrize(
    ("arn", "qualifier"), [(RUNTIME, "DEFAULT"), (f"{RUNTIME}/runtime-endpoint/live", "live")]
)
def test_a_session_of_a_runtime_is_ended_where_it_can_be(arn, qualifier, ends, asked):
    service, found = asked(arn, ends=ends)
    assert found == [("ok", "it answers, without an error")]
    (sent,) = service.asked
    named = {
        "agentRuntimeArn": RUNTIME,
        "qualifier": qualifier,
        "runtimeSessionId": preflight.SESSION,
    }
    assert sent.items() >= named.items()
    assert service.ended == [named]
    assert len(preflight.SESSION) >= 33


@pytest.mark.parametrize(
    ("given", "verdict", "words"),
    [
        ({}, "ok", "is there"),
        ({"settings": {"State": "Inactive"}}, "ok", "is there"),
        ({"settings": {"State": "Failed"}}, "failure", "is Failed: deploy it again"),
        ({"settings": {"Timeout": 29}}, "warning", "is ended after 29 s: give it 30 or more"),
        ({"code": "ResourceNotFoundException"}, "failure", "deploy the forwarder"),
        ({"code": "AccessDeniedException"}, "unknown", "is not allowed here"),
        ({"code": "ThrottlingException"}, AwsFailed, "reading the settings of"),
    ],
)
def test_a_forwarder_is_there_and_has_the_time(given, verdict, words, monkeypatch):
    monkeypatch.setattr(calls, "client", lambda *_: Service(**given))
    if verdict is AwsFailed:
        with pytest.raises(AwsFailed, match=words):
            list(preflight.there(agent_of(FUNCTION)))
        return
    (found,) = preflight.there(agent_of(FUNCTION))
    assert (found.verdict, words in found.message) == (verdict, True)
    assert list(preflight.there(agent_of(RUNTIME))) == []
