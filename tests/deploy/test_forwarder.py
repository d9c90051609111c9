"""A forwarder of the deployed stage: its answers in AWS's documented shape, and its role's rights.

The agent is on the loopback interface, its key in a secret of the emulator, which enforces who may
read it. Source of the shape: "Preparing your agent" of the SageMaker developer guide.
"""

from __future__ import annotations

import json
from contextlib import contextmanager

import pytest

from reward_functions.jobs.options import granted

METADATA = {
    "jobArn": "arn:aws:sagemaker:us-east-1:000000000000:job/AgentRFT/forwarded",
    "rolloutId": "r-1",
}
EVENT = {"prompt": "6 × 7?", "metadata": METADATA}


@pytest.fixture
def forward(stage, agent):
    """Ask the version that a job of the stage would ask."""
    agent.empty()
    client = stage.session.client("lambda")
    arn = granted("agent", stage.shared).arn
    assert arn.rpartition(":")[2].isdigit()

    def ask(event):
        answer = client.invoke(FunctionName=arn, Payload=json.dumps(event).encode())
        told = json.loads(answer["Payload"].read())
        assert "FunctionError" not in answer, told
        return told

    return ask


@contextmanager
def without(stage, sid):
    """The function's role without one of its statements."""
    iam = stage.session.client("iam")
    arn = granted("agent", stage.shared).name
    found = stage.session.client("lambda").get_function_configuration(FunctionName=arn)
    named = {"RoleName": found["Role"].rpartition("/")[2], "PolicyName": "forward"}
    whole = iam.get_role_policy(**named)["PolicyDocument"]
    left = [each for each in whole["Statement"] if each["Sid"] != sid]
    assert len(left) == len(whole["Statement"]) - 1
    nothing = {"Effect": "Deny", "Action": "secretsmanager:ListSecrets", "Resource": "*"}
    less = whole | {"Statement": left or [nothing]}  # IAM takes no policy without a statement
    try:
        iam.put_role_policy(**named, PolicyDocument=json.dumps(less))
        yield
    finally:
        iam.put_role_policy(**named, PolicyDocument=json.dumps(whole))


def test_a_request_reaches_the_agent_with_its_key_and_is_answered_empty(forward, agent):
    assert forward(EVENT) == {}
    assert agent.payloads == [(("rollout",), EVENT)]


@pytest.mark.parametrize(
    ("event", "sentence"),
    [
        ({"smoke_test": True}, "metadata.jobArn is not the ARN of a SageMaker job"),
        ("a prompt", "the payload is"),
        (
            EVENT | {"metadata": METADATA | {"jobArn": "arn:aws:s3:::bucket"}},
            "metadata.jobArn is not the ARN",
        ),
        (EVENT | {"metadata": METADATA | {"rolloutId": "r 1"}}, "metadata.rolloutId is not"),
    ],
)
def test_what_is_no_request_is_a_validation_error(forward, agent, event, sentence):
    told = forward(event)
    assert told.keys() == {"errorType", "errorMessage"}
    assert told["errorType"] == "ValidationError"
    assert told["errorMessage"].startswith(sentence)
    assert agent.asked == []


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (202, None),
        (400, "ValidationError"),
        (413, "ValidationError"),
        (403, "AccessDenied"),
        (307, "InternalServerError"),
        (404, "InternalServerError"),
        (503, "InternalServerError"),
    ],
)
def test_what_the_agent_answers_has_a_name(forward, agent, status, kind):
    agent.status = status
    told = {"errorType": kind, "errorMessage": f"the agent answered {status}"} if kind else {}
    assert forward(EVENT) == told
    assert len(agent.asked) == 1  # a redirect is not followed, and nothing is sent twice


def test_without_the_right_to_its_key_access_is_denied(forward, agent, stage):
    """A key that the agent refuses is read again: so the role is asked, with whatever it holds."""
    agent.key = "rotated"
    assert forward(EVENT) == {"errorType": "AccessDenied", "errorMessage": "the agent answered 401"}
    with without(stage, "ReadSecretsmanager"):
        told = forward(EVENT)
    assert told["errorType"] == "AccessDenied"
    assert told["errorMessage"].startswith("AGENT_API_KEY_SECRET could not be used: AccessDenied")
    assert agent.asked == ["rollout"]


def test_a_job_that_names_it_gets_the_version(stage):
    found = granted("agent", stage.shared)
    assert (found.kind, found.moves) == ("lambda", False)
