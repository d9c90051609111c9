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

ASKED = {"Deployment": "length", "Reward": "length", "Version": "3", "Judge": "recorded"}

FUNCTION = """
def handler(event, context):
    assert event == {"reward_functions": {"self_test": "recorded"}}, event
    with open(BODY) as body:
        found = {}
        exec(body.read(), found)
    return found["answer"]
"""


@pytest.fixture(scope="module")
def answering(deployed_function, tmp_path_factory):
    """One function, whose next answers are what some lines of Python leave in `answer`."""
    body = tmp_path_factory.mktemp("custodian") / "body"
    arn = deployed_function(FUNCTION.replace("BODY", repr(str(body))))

    def answers(lines):
        body.write_text(lines)
        return arn

    return answers


@pytest.fixture(scope="module")
def cloudformation():
    """Where answers arrive."""
    answers, sizes = [], []

    class Waiting(BaseHTTPRequestHandler):
        def do_PUT(self):
            sizes.append(int(self.headers["Content-Length"]))
            answers.append(json.loads(self.rfile.read(sizes[-1])))
            assert self.headers["Content-Type"] == ""  # anything else breaks S3's signature
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_):
            pass

    with listening(Waiting) as address:
        yield SimpleNamespace(address=address, answers=answers, sizes=sizes)


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
        assert cloudformation.sizes.pop() < 4096
        return answer["Status"], answer["Reason"]

    return asked


REPORT = {"reward": "length", "version": 3, "examples": 2, "failures": [], "unavailable": []}


def report(failures=(), unavailable=()):
    return f"answer = {REPORT | {'failures': [*failures], 'unavailable': [*unavailable]}!r}"


SYNTHESISED = "and length version 3 where the stack is synthesised: install there what is packaged"

SOMETHING_ELSE = "length answers the self-test with something else"

STAYS = "; no version of this deployment goes live, and the next one begins anew"


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
        ("answer = []", SOMETHING_ELSE),
        ("answer = {'failures': [], 'unavailable': []}", SOMETHING_ELSE),
        (f"answer = {REPORT | {'failures': None}}", SOMETHING_ELSE),
        (f"answer = {REPORT | {'failures': {}}}", SOMETHING_ELSE),
        (f"answer = {REPORT | {'examples': 0}}", SOMETHING_ELSE),
        (f"answer = {REPORT | {'version': True}}", SOMETHING_ELSE),
        (f"answer = {REPORT | {'more': 1}}", SOMETHING_ELSE),
        (
            f"answer = {REPORT | {'version': 4}}",
            f"length serves length version 4 on Lambda, {SYNTHESISED}",
        ),
        (
            f"answer = {REPORT | {'reward': 'other'}}",
            f"length serves other version 3 on Lambda, {SYNTHESISED}",
        ),
        ("answer = None", SOMETHING_ELSE),
    ],
)
def test_the_gate_lets_pass_what_earns_what_it_should(ask, answering, body, refusal):
    arn = answering(body)
    status, reason = ask("RewardGate", "Create", Function=arn, **ASKED)
    assert status == ("FAILED" if refusal else "SUCCESS")
    assert reason == (refusal + STAYS if refusal else "")


def test_a_version_that_does_not_start_is_refused_in_its_own_words(ask, deployed_function):
    arn = deployed_function("import a_package_that_lambda_does_not_have")
    status, reason = ask("RewardGate", "Create", Function=arn, **ASKED)
    assert status == "FAILED"
    assert reason.startswith("length does not start on Lambda: ")
    assert "a_package_that_lambda_does_not_have" in reason


def test_a_judge_that_recovers_passes(ask, answering, tmp_path, monkeypatch):
    """Unavailable twice, then there: as a throttled model is."""
    monkeypatch.setattr(index, "JUDGE_RECOVERS", 20.0)
    marks = tmp_path / "marks"
    body = f"""
with open({str(marks)!r}, "a+") as marks:
    marks.write("x")
    marks.seek(0)
    asked = len(marks.read())
answer = {REPORT} | {{"unavailable": ["throttled"] if asked < 3 else []}}
"""
    arn = answering(body)
    passed = ask("RewardGate", "Create", Function=arn, **ASKED)
    assert passed == ("SUCCESS", "")
    assert len(marks.read_text()) == 3


def test_what_aws_refuses_is_asked_again_and_then_said(ask):
    arn = "arn:aws:lambda:us-east-1:000000000000:function:SageMaker-reward-x-gone:3"
    status, reason = ask("RewardGate", "Create", Function=arn, **ASKED)
    assert status == "FAILED"
    assert reason.startswith("length could not be asked for its examples: ")
    assert "ResourceNotFoundException" in reason


def test_a_time_that_is_over_is_said_before_cloudformation_gives_up(ask, answering):
    arn = answering(report(unavailable=["throttled"]))
    status, reason = ask("RewardGate", "Create", seconds=1, Function=arn, **ASKED)
    assert (status, "throttled" in reason) == ("FAILED", True)


def test_a_version_that_hangs_is_asked_once_and_refused_in_time(ask, answering, tmp_path):
    marks = tmp_path / "marks"
    body = f"""
with open({str(marks)!r}, "a") as marks:
    marks.write("x")
__import__("time").sleep(20)
"""
    arn = answering(body)
    status, reason = ask("RewardGate", "Create", seconds=index.MARGIN + 1, Function=arn, **ASKED)
    assert (status, reason) == ("FAILED", f"length does not answer the self-test in time{STAYS}")
    assert marks.read_text() == "x"


@pytest.mark.parametrize("letter", ["x", "ü", "零", "🎲"])
def test_an_answer_fits_whatever_it_is_written_in(ask, answering, letter):
    arn = answering(report([letter * 5000]))
    status, reason = ask("RewardGate", "Create", Function=arn, **ASKED)
    assert (status, letter in reason) == ("FAILED", True)


@pytest.mark.parametrize(
    "kind", ["RewardGate", "RewardGenerations", "RewardRoles", "EmptyBucket", "Other"]
)
def test_what_is_no_duty_succeeds_at_once(ask, kind):
    """A rollback deletes what it made: nothing here may keep it from that."""
    request = "Delete" if kind == "RewardGate" else "Create"
    assert ask(kind, request) == ("SUCCESS", "")


def test_a_bug_is_answered_too(ask):
    """Without an answer CloudFormation waits for an hour."""
    assert ask("RewardGate", "Create") == ("FAILED", "Rewards: KeyError: 'Deployment'")


READY = {"Deployment": "length", "Environments": "2"}


@pytest.fixture(scope="module")
def version(deployed_function, local_aws):
    """A published version, and how many environments of it are kept ready; None for none."""
    name = "SageMaker-reward-custodian-ready"
    deployed_function("def handler(*_): pass", name=name)
    lambda_ = local_aws.client("lambda")
    number = lambda_.publish_version(FunctionName=name)["Version"]
    arn = f"arn:aws:lambda:us-east-1:000000000000:function:{name}:{number}"

    def kept():
        try:
            found = lambda_.get_provisioned_concurrency_config(FunctionName=name, Qualifier=number)
        except lambda_.exceptions.ProvisionedConcurrencyConfigNotFoundException:
            return None
        return found["RequestedProvisionedConcurrentExecutions"]

    return SimpleNamespace(arn=arn, kept=kept)


def test_a_version_is_kept_ready_and_with_another_number_the_same_one(ask, version):
    assert ask("RewardReadiness", "Create", Version=version.arn, **READY) == ("SUCCESS", "")
    assert version.kept() == 2
    more = READY | {"Environments": "3"}
    assert ask("RewardReadiness", "Update", Version=version.arn, **more) == ("SUCCESS", "")
    assert version.kept() == 3
    for _ in range(2):  # the second time there is nothing left
        assert ask("RewardReadiness", "Delete", Version=version.arn, **more) == ("SUCCESS", "")
        assert version.kept() is None


def test_a_version_that_is_gone_had_nothing_ready(ask, version):
    gone = version.arn.rpartition(":")[0] + ":999"
    assert ask("RewardReadiness", "Delete", Version=gone, **READY) == ("SUCCESS", "")


@contextmanager
def allocating(*answers):
    """Lambda, as far as it says how an allocation goes: each answer once, the last for ever."""
    asked, left = [], list(answers)

    class Allocating(BaseHTTPRequestHandler):
        def do_PUT(self):
            self.rfile.read(int(self.headers["Content-Length"]))
            self.do_GET()

        def do_GET(self):
            asked.append(f"{self.command} {self.path}")
            status, body = left.pop(0) if len(left) > 1 else left[0]
            sent = json.dumps(body).encode()
            self.send_response(status)
            if "__type" in body:
                self.send_header("x-amzn-ErrorType", body["__type"])
            self.send_header("Content-Length", str(len(sent)))
            self.end_headers()
            self.wfile.write(sent)

        def log_message(self, *_):
            pass

    with listening(Allocating) as address:
        yield address.removesuffix("/answer"), asked


BEGUN = (202, {"Status": "IN_PROGRESS"})
DENIED = (403, {"__type": "AccessDeniedException", "Message": "not yet"})
FULL = "The account's concurrency is used up"
VERSION = "arn:aws:lambda:us-east-1:000000000000:function:SageMaker-reward-x-length:7"


@pytest.mark.parametrize(
    ("answers", "said"),
    [
        ([BEGUN, BEGUN, (200, {"Status": "READY"})], ""),
        ([DENIED, DENIED, (202, {"Status": "READY"})], ""),  # a permission as new as the version
        (
            [BEGUN, (200, {"Status": "FAILED", "StatusReason": FULL})],
            f"length: 2 environments cannot be kept ready: {FULL}{STAYS}",
        ),
        (
            [(200, {"Status": "FAILED"})],
            f"length: 2 environments cannot be kept ready: Lambda does not say why{STAYS}",
        ),
        ([BEGUN], f"length: 2 environments were not ready in time{STAYS}"),
    ],
)
def test_a_deployment_waits_until_environments_are_ready(ask, monkeypatch, answers, said):
    with allocating(*answers) as (address, asked):
        monkeypatch.setenv("AWS_ENDPOINT_URL_LAMBDA", address)
        seconds = index.MARGIN + (0.5 if answers == [BEGUN] else 60)
        answer = ask("RewardReadiness", "Create", seconds=seconds, Version=VERSION, **READY)
    assert answer == ("FAILED" if said else "SUCCESS", said)
    assert len(asked) >= len(answers)
    assert all(each.endswith("/provisioned-concurrency?Qualifier=7") for each in asked)


def test_a_permission_that_never_comes_is_said(ask, monkeypatch):
    with allocating(DENIED) as (address, asked):
        monkeypatch.setenv("AWS_ENDPOINT_URL_LAMBDA", address)
        status, reason = ask("RewardReadiness", "Create", Version=VERSION, **READY)
    assert (status, "AccessDenied" in reason, len(asked) > 1) == ("FAILED", True, True)


def test_the_generations_of_one_deployment_are_deleted_and_no_others(
    ask, deployed_function, local_aws
):
    base = "SageMaker-reward-custodian-gsm8k"
    theirs = f"{base}--0000000b"  # of another stage, or of nobody's
    nobodys = f"{base}--0000000c"
    names = [
        *(f"{base}--00000001", f"{base}--0000000a"),
        *(base, f"{base}-strict--00000001", theirs, nobodys),
    ]
    for name in names:
        stack = "another" if name == theirs else "stack"
        tags = {} if name == nobodys else {"aws:cloudformation:stack-id": stack}
        deployed_function("", name=name, Tags=tags)
    assert ask("RewardGenerations", "Delete", Prefix=f"{base}--") == ("SUCCESS", "")
    pages = local_aws.client("lambda").get_paginator("list_functions").paginate()
    left = {each["FunctionName"] for page in pages for each in page["Functions"]}
    assert {name for name in names if name in left} == set(names[2:])


def test_the_roles_of_one_deployment_are_deleted_and_no_others(ask, local_aws):
    iam = local_aws.client("iam")
    root = "/reward-functions/custodian/us-east-1"
    paths = {
        "judged-a": f"{root}/judged/",
        "judged-b": f"{root}/judged/",
        "other": f"{root}/judged-too/",
        "above": f"{root}/",
        "plain": "/",
    }
    nothing = {"Effect": "Deny", "Action": "*", "Resource": "*"}
    document = json.dumps({"Version": "2012-10-17", "Statement": [nothing]})
    for name, path in paths.items():
        role = f"custodian-{name}"
        iam.create_role(RoleName=role, Path=path, AssumeRolePolicyDocument=document)
        for policy in ("logs", "judge"):
            iam.put_role_policy(RoleName=role, PolicyName=policy, PolicyDocument=document)
    for _ in range(2):  # the second time they are gone
        assert ask("RewardRoles", "Delete", Path=f"{root}/judged/") == ("SUCCESS", "")
    left = {each["RoleName"] for each in iam.list_roles()["Roles"]}
    assert {name for name in paths if f"custodian-{name}" in left} == {"other", "above", "plain"}


def test_a_role_that_somebody_deletes_first_is_gone(ask, monkeypatch):
    """Between the list and the deletion: CloudFormation deletes the role of today itself."""
    nobody = SimpleNamespace(
        paginate=lambda **_: [{"Roles": [{"RoleName": "never-was-a-role"}]}],
    )
    monkeypatch.setattr("botocore.client.BaseClient.get_paginator", lambda *_: nobody)
    assert ask("RewardRoles", "Delete", Path="/x/") == ("SUCCESS", "")


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
