"""The custodian, asked as CloudFormation asks it: each duty on the local AWS emulator.

The test listens where CloudFormation would wait for the answer.
"""

from __future__ import annotations

import json
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from types import SimpleNamespace

import pytest

from reward_functions.cdk.custodian import index

FUNCTION = """
import json
def handler(event, context):
    assert event == {"reward_functions": {"self_test": "recorded"}}, event
    BODY
"""


@pytest.fixture(scope="module")
def cloudformation():
    """Where answers arrive."""
    answers = []

    class Waiting(BaseHTTPRequestHandler):
        def do_PUT(self):
            answers.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            assert self.headers["Content-Type"] == ""  # anything else breaks S3's signature
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_):
            pass

    with listening(Waiting) as address:
        yield SimpleNamespace(address=address, answers=answers)


@contextmanager
def listening(handler):
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/answer"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def ask(cloudformation, local_aws, monkeypatch):
    """Send a request; returns the one answer to it."""
    for name, value in local_aws.environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(index, "FIRST_PAUSE", 0.01)
    monkeypatch.setattr(index, "LONGEST_PAUSE", 0.02)
    monkeypatch.setattr(index, "ROLES_SETTLE", 0.3)
    monkeypatch.setattr(index, "JUDGE_RECOVERS", 0.3)

    def asked(kind, request, seconds=120, **properties):
        event = {
            "ResourceType": f"Custom::{kind}",
            "RequestType": request,
            "ResponseURL": cloudformation.address,
            "StackId": "stack",
            "RequestId": "request",
            "LogicalResourceId": "Rewards",
            "ResourceProperties": properties,
        }
        if request != "Create":
            event["PhysicalResourceId"] = "physical"
        context = SimpleNamespace(get_remaining_time_in_millis=lambda: seconds * 1000)
        index.handler(event, context)
        (answer,) = cloudformation.answers
        cloudformation.answers.clear()
        assert (answer["StackId"], answer["RequestId"]) == ("stack", "request")
        assert answer["PhysicalResourceId"] == ("Rewards" if request == "Create" else "physical")
        assert len(json.dumps(answer).encode()) < 4096
        return answer["Status"], answer["Reason"]

    return asked


def report(failures=(), unavailable=()):
    found = {"reward": "r", "failures": [*failures], "unavailable": [*unavailable]}
    return f"return {found!r}"


STAYS = "; nothing has moved, and the next deployment begins anew"


@pytest.mark.parametrize(
    ("body", "refusal"),
    [
        (report(), ""),
        (
            report(["example 3 (attack) earns 1 in place of 0"]),
            "length fails its examples on Lambda: example 3 (attack) earns 1 in place of 0",
        ),
        (
            report(["example 0 is wrong", "example 1 is wrong", "example 2 is wrong"]),
            "length fails its examples on Lambda: example 0 is wrong (and 2 more)",
        ),
        (
            report(unavailable=["example 1: throttled"]),
            "length could not be asked for its examples: example 1: throttled",
        ),
        (
            report(["example 0 is wrong"], ["example 1: throttled"]),
            "length fails its examples on Lambda: example 0 is wrong",
        ),
        ("return []", "length answers the self-test with something else"),
        ("return {'failures': []}", "length answers the self-test with something else"),
    ],
)
def test_the_gate_lets_pass_what_earns_what_it_should(ask, deployed_function, body, refusal):
    arn = deployed_function(FUNCTION.replace("BODY", body))
    status, reason = ask(
        "RewardGate", "Create", Function=arn, Deployment="length", Judge="recorded"
    )
    assert status == ("FAILED" if refusal else "SUCCESS")
    assert reason == (refusal + STAYS if refusal else "")


def test_a_version_that_does_not_start_is_refused_in_its_own_words(ask, deployed_function):
    arn = deployed_function("import a_package_that_lambda_does_not_have")
    status, reason = ask(
        "RewardGate", "Create", Function=arn, Deployment="length", Judge="recorded"
    )
    assert status == "FAILED"
    assert reason.startswith("length does not start on Lambda: ")
    assert "a_package_that_lambda_does_not_have" in reason


def test_a_judge_that_recovers_passes(ask, deployed_function, tmp_path, monkeypatch):
    """Unavailable twice, then there: as a throttled model is."""
    monkeypatch.setattr(index, "JUDGE_RECOVERS", 20.0)
    marks = tmp_path / "marks"
    body = f"""
    with open({str(marks)!r}, "a+") as marks:
        marks.write("x")
        marks.seek(0)
        asked = len(marks.read())
    return {{"failures": [], "unavailable": ["throttled"] if asked < 3 else []}}
"""
    arn = deployed_function(FUNCTION.replace("BODY", body))
    passed = ask("RewardGate", "Create", Function=arn, Deployment="judge", Judge="recorded")
    assert passed == ("SUCCESS", "")
    assert len(marks.read_text()) == 3


def test_what_aws_refuses_is_asked_again_and_then_said(ask):
    arn = "arn:aws:lambda:us-east-1:000000000000:function:SageMaker-reward-x-gone:3"
    status, reason = ask(
        "RewardGate", "Create", Function=arn, Deployment="length", Judge="recorded"
    )
    assert status == "FAILED"
    assert reason.startswith("length could not be asked for its examples: ")
    assert "ResourceNotFoundException" in reason


def test_a_time_that_is_over_is_said_before_cloudformation_gives_up(ask, deployed_function):
    arn = deployed_function(FUNCTION.replace("BODY", report(unavailable=["throttled"])))
    status, reason = ask(
        "RewardGate", "Create", seconds=1, Function=arn, Deployment="length", Judge="recorded"
    )
    assert (status, "throttled" in reason) == ("FAILED", True)


@pytest.mark.parametrize("kind", ["RewardGate", "RewardGenerations", "EmptyBucket", "Other"])
def test_what_is_no_duty_succeeds_at_once(ask, kind):
    """A rollback deletes what it made: nothing here may keep it from that."""
    request = "Delete" if kind == "RewardGate" else "Create"
    assert ask(kind, request) == ("SUCCESS", "")


def test_a_bug_is_answered_too(ask):
    """Without an answer CloudFormation waits for an hour."""
    assert ask("RewardGate", "Create") == ("FAILED", "Rewards: KeyError: 'Deployment'")


def test_the_generations_of_one_deployment_are_deleted_and_no_others(
    ask, deployed_function, local_aws
):
    base = "SageMaker-reward-custodian-gsm8k"
    theirs = f"{base}--0000000b"  # of a stage called `custodian-gsm8k`, say
    names = [
        *(f"{base}--00000001", f"{base}--0000000a"),
        *(base, f"{base}-strict--00000001", theirs),
    ]
    for name in names:
        stack = "another" if name == theirs else "stack"
        deployed_function("", name=name, Tags={"aws:cloudformation:stack-id": stack})
    assert ask("RewardGenerations", "Delete", Prefix=f"{base}--") == ("SUCCESS", "")
    pages = local_aws.client("lambda").get_paginator("list_functions").paginate()
    left = {each["FunctionName"] for page in pages for each in page["Functions"]}
    assert {name for name in names if name in left} == set(names[2:])


def test_a_bucket_is_emptied_with_its_versions(ask, local_aws, monkeypatch):
    monkeypatch.setattr(index, "IN_ONE_CALL", 3)
    s3 = local_aws.client("s3")
    s3.create_bucket(Bucket="custodian-empties")
    s3.put_bucket_versioning(
        Bucket="custodian-empties", VersioningConfiguration={"Status": "Enabled"}
    )
    for key in ("a", "b", "b", "c/d", "ä"):
        s3.put_object(Bucket="custodian-empties", Key=key, Body=b"x")
    s3.delete_object(Bucket="custodian-empties", Key="a")
    assert ask("EmptyBucket", "Delete", Bucket="custodian-empties") == ("SUCCESS", "")
    s3.delete_bucket(Bucket="custodian-empties")


def test_a_bucket_that_is_gone_is_empty(ask):
    assert ask("EmptyBucket", "Delete", Bucket="never-was-a-bucket") == ("SUCCESS", "")


def test_it_imports_nothing_of_this_project():
    """It runs from its folder alone."""
    source = Path(index.__file__).read_text(encoding="utf-8")
    assert "reward_functions." not in source.split("from __future__")[1]
