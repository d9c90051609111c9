"""boto3's own client is content with the double: all four operations, streams, errors, retries."""

from __future__ import annotations

import json

import pytest
from botocore.exceptions import ClientError, ConnectionClosedError

from reward_functions.local.runtime_double import FaultPlan
from tests.local.runtime_double.conftest import JOB, QUESTION, boto

BODY = json.dumps(QUESTION)
UNKNOWN = "unknown"
R = {"JobArn": JOB, "TrajectoryId": "r"}


def test_a_rollout_from_its_first_call_to_its_reward(make):
    double = make()
    client = boto(double)
    answer = client.sample(**R, Body=BODY)
    assert answer["ContentType"] == "application/json"
    message = json.loads(answer["Body"].read())["choices"][0]["message"]
    assert message["content"] == r"2 + 3 = 5. The answer is \boxed{5}."
    stream = client.sample_with_response_stream(**R, Body=BODY)
    assert stream["ContentType"] == "text/event-stream"
    events = stream["Body"].read().decode().split("\n\n")
    assert events[-2:] == ["data: [DONE]", ""]
    pieces = [json.loads(event.removeprefix("data: ")) for event in events[:-2]]
    text = "".join(piece["choices"][0]["delta"].get("content", "") for piece in pieces)
    assert text == message["content"]
    assert double.trajectory(JOB, "r").state == "PENDING"
    client.complete_rollout(**R)  # no status is "ready", by the model
    assert double.trajectory(JOB, "r").state == "READY"
    client.update_reward(**R, Rewards=[0.5, 1])
    found = double.wait(JOB, "r", timeout=30)
    assert (found.state, found.rewards, len(found.turns)) == ("REWARD_RECEIVED", (0.5, 1.0), 2)
    assert [turn.streamed for turn in found.turns] == [False, True]
    assert json.loads(found.turns[0].request) == QUESTION
    # boto3 makes a token for each call where none is given.
    assert all(each.token and each.credential == "sigv4" for each in found.deliveries)


REFUSED = [
    # operation, parameters, exception
    ("complete_rollout", {"Status": "READY"}, "ValidationException"),
    ("complete_rollout", {"TrajectoryId": UNKNOWN}, "ResourceNotFoundException"),
    ("complete_rollout", {"TrajectoryId": "x" * 257}, "ValidationException"),
    ("complete_rollout", {"JobArn": "arn:aws:sagemaker:job"}, "ValidationException"),
    ("update_reward", {"Rewards": [1.0]}, "ConflictException"),
    # botocore writes it as the string "NaN", which no service reads as a double.
    ("update_reward", {"Rewards": [float("nan")]}, "ValidationException"),
    ("update_reward", {"Rewards": [float("inf")]}, "ValidationException"),
    ("sample", {"Body": b"{"}, "ValidationException"),
    ("sample", {"Body": BODY, "TrajectoryId": UNKNOWN}, "ResourceNotFoundException"),
]


@pytest.mark.parametrize(("operation", "more", "kind"), REFUSED)
def test_an_error_is_the_typed_one_of_the_model(shared_double, operation, more, kind):
    client = boto(shared_double)
    with pytest.raises(getattr(client.exceptions, kind)) as refused:
        getattr(client, operation)(**R | more)
    assert refused.value.response["ResponseMetadata"]["RetryAttempts"] == 0


def test_a_policy_call_after_the_completion_is_a_conflict(make):
    client = boto(make())
    client.complete_rollout(**R)
    with pytest.raises(client.exceptions.ConflictException):
        client.sample(**R, Body=BODY)


@pytest.mark.parametrize(
    ("fault", "ended"),
    [
        ("error", ["not done", "not done", "taken"]),
        ("dropped_before", ["not done", "not done", "taken"]),
        # A reply was lost twice: the token is known, and nothing is counted again.
        ("dropped_after", ["taken", "replayed", "replayed"]),
        ("duplicate", ["taken", "replayed"]),
        ("slow", ["taken"]),
    ],
)
def test_boto3_retries_with_one_token_and_is_counted_once(make, fault, ended):
    plan = FaultPlan.parse(f"complete.{fault}=1,slow_seconds=0.01,retry_after=0")
    double = make(faults=plan)
    boto(double, retries={"mode": "standard", "max_attempts": 3}).complete_rollout(**R)
    found = double.trajectory(JOB, "r")
    assert [each.ended for each in found.deliveries] == ended
    assert len({each.token for each in found.deliveries}) == 1
    assert (found.state, found.taken("complete")) == ("READY", 1)


def test_a_throttled_call_is_the_models_exception_and_names_a_wait(make):
    client = boto(make(faults=FaultPlan.parse("throttle=1")), retries={"total_max_attempts": 1})
    with pytest.raises(client.exceptions.ThrottlingException) as throttled:
        client.complete_rollout(**R)
    assert throttled.value.response["ResponseMetadata"]["HTTPHeaders"]["retry-after"] == "1"


def test_without_retries_a_dropped_connection_is_one(make):
    double = make(faults=FaultPlan.parse("every=0,complete.dropped_after=1"))
    client = boto(double, retries={"total_max_attempts": 1})
    with pytest.raises(ConnectionClosedError):
        client.complete_rollout(**R)
    assert double.trajectory(JOB, "r").state == "READY"


def test_an_expired_credential_is_refused_once(make):
    double = make(faults=FaultPlan.parse("complete.expired=1"))
    client = boto(double)
    with pytest.raises(ClientError, match="ExpiredTokenException"):
        client.complete_rollout(**R)
    client.complete_rollout(**R)
    assert [each.status for each in double.trajectory(JOB, "r").deliveries] == [403, 200]
