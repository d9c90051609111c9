"""A deployment rolled back: which version it goes to, what moves, and what a failure leaves."""

import json
from types import SimpleNamespace

import pytest
from botocore.exceptions import ClientError

from reward_functions.aws.catalogue import DeployedReward
from reward_functions.aws.deployed import versions
from reward_functions.aws.deployed.function import FunctionError
from reward_functions.aws.deployed.versions import (
    CannotRollBack,
    SelfTestFailed,
    live_version,
    prepared,
    require_self_test,
    rolled_back,
)
from reward_functions.aws.failures import AwsFailed
from reward_functions.serving.descriptions import description

ARN = "arn:aws:lambda:us-east-1:123456789012:function:SageMaker-reward-dev-gsm8k"
RECORD = DeployedReward(
    name="gsm8k",
    reward="gsm8k",
    version=8,
    digest="d" * 64,
    parameters={},
    response_mode="list",
    version_arn=f"{ARN}:7",
    alias_arn=f"{ARN}:live",
    function_arn=ARN,
    timeout_seconds=60,
    memory_mb=1769,
    architecture="arm64",
    python="3.13",
)


def settings(version, **changed):
    found = {
        "Version": str(version),
        "Description": description("gsm8k", version, "e" * 16, "A sum."),
        "Environment": {"Variables": {"REWARD_NAME": "gsm8k", "REWARD_OTHER": "of another"}},
        "Timeout": 30,
        "MemorySize": 512,
        "Architectures": ["arm64"],
        "Runtime": "python3.12",
    }
    return {name: value for name, value in (found | changed).items() if value is not None}


class Lambda:
    """Lambda's control plane: the versions, and where `live` points."""

    def __init__(self, live="7", weights=None, stored=(), functions=(), code=None):
        self.live, self.weights, self.code = live, weights or {}, code
        self.stored = [settings("1") | {"Version": "$LATEST"}, *stored]
        self.functions = functions
        self.moved = []

    def get_alias(self, **asked):
        if self.code:
            raise ClientError({"Error": {"Code": self.code, "Message": "no"}}, "GetAlias")
        routing = {"AdditionalVersionWeights": self.weights} if self.weights else None
        return {"Name": asked["Name"], "FunctionVersion": self.live, "RevisionId": "r-1",
                "RoutingConfig": routing}  # fmt: skip

    def get_paginator(self, operation):
        pages = {
            "list_versions_by_function": [{"Versions": [each]} for each in self.stored],
            "list_functions": [{"Functions": [{"FunctionName": name, "FunctionArn": f"arn:{name}"}]}
                               for name in self.functions],
        }[operation]  # fmt: skip
        return SimpleNamespace(paginate=lambda **_: pages)

    def update_alias(self, **asked):
        self.moved.append(asked)


@pytest.fixture
def control(monkeypatch):
    def made(record=RECORD, **given):
        found = Lambda(**given)
        monkeypatch.setattr(versions, "client", lambda *_: found)
        monkeypatch.setattr(versions, "find", lambda *_: record)
        return found

    return made


STORED = [settings(version) for version in (9, 3, 10, 7, 5)]


@pytest.mark.parametrize(
    ("live", "to", "version"),
    [
        ("7", None, "5"),
        ("10", None, "9"),
        ("5", None, "3"),
        ("$LATEST", None, "10"),
        ("7", 10, "10"),
    ],
)
def test_a_rollback_goes_to_the_version_before_or_to_the_one_that_is_named(
    control, live, to, version
):
    control(live=live, stored=STORED)
    step = prepared("gsm8k", "dev", to)
    assert (step.version, step.moves, step.before) == (version, True, RECORD)
    assert step.after == RECORD.model_copy(
        update={
            "version": int(version),
            "digest": "e" * 16,
            "version_arn": f"{ARN}:{version}",
            "timeout_seconds": 30,
            "memory_mb": 512,
            "python": "3.12",
        }
    )


@pytest.mark.parametrize(
    ("given", "to", "words"),
    [
        ({"live": "3"}, None, "gsm8k has no version before 3, which `live` points to"),
        ({}, 8, "gsm8k has no version 8 any more; Lambda stores 3, 5, 7, 9, 10$"),
        ({"stored": []}, 8, "Lambda stores none$"),
        ({}, 7, "points to version 7 already, and so does the catalogue"),
        ({"stored": [settings(5, Description=None)]}, 5, "does not say which reward and digest"),
        (
            {"stored": [settings(5, Environment={})]},
            5,
            "version 5 of gsm8k cannot be used: REWARD_N",
        ),
    ],
)
def test_a_version_that_cannot_be_gone_to_is_a_sentence(control, given, to, words):
    control(**{"stored": STORED} | given)
    with pytest.raises(CannotRollBack, match=words):
        prepared("gsm8k", "dev", to)


@pytest.mark.parametrize(
    ("given", "record", "to", "moves"),
    [
        ({}, RECORD.model_copy(update={"version_arn": f"{ARN}:9"}), 7, False),
        ({"weights": {"9": 0.1}}, RECORD, 7, True),
    ],
)
def test_a_catalogue_or_a_share_that_is_behind_can_be_set_right(control, given, record, to, moves):
    control(record, stored=STORED, **given)
    assert prepared("gsm8k", "dev", to).moves == moves


def test_an_older_version_has_the_architecture_that_lambda_had_then(control):
    control(stored=[settings(5, Architectures=None)])
    assert prepared("gsm8k", "dev", 5).after.architecture == "x86_64"


def test_an_immutable_deployment_names_its_functions(control):
    name = "SageMaker-reward-dev-gsm8k--"
    record = RECORD.model_copy(update={"alias_arn": None, "function_arn": f"{ARN}--0a1b2c3d"})
    others = ["SageMaker-reward-dev-math--0a1b2c3d", f"{name}x"]
    control(record, functions=[f"{name}0a1b2c3d", *others, f"{name}0000000a"])
    found = [f"{name}0000000a", f"{name}0a1b2c3d"]
    listed = ", ".join(f"arn:{each}" for each in found)
    with pytest.raises(CannotRollBack, match=f"one of its functions, {listed}, or deploy"):
        prepared("gsm8k", "dev")
    control(record)
    with pytest.raises(CannotRollBack, match="one of its functions, none, or deploy"):
        prepared("gsm8k", "dev")


REFUSED = AwsFailed("writing the catalogue: not allowed", kind="denied")


@pytest.mark.parametrize(
    ("report", "refused", "words"),
    [
        ({"failures": []}, None, None),
        ({"failures": ["one"]}, None, "^nothing has moved: .*:5 does not pass.*: one$"),
        ({"failures": []}, REFUSED, "points to version 5 now, .* version 7 to jobs: .*--to 5`$"),
    ],
)
def test_a_rollback_moves_the_alias_after_the_self_test_and_the_catalogue_after_it(
    control, monkeypatch, report, refused, words
):
    def write(stage, record, session):
        assert found.moved
        if refused:
            raise refused
        written.append((stage, record))

    found, written = control(stored=STORED), []
    answer = SimpleNamespace(body=json.dumps(report).encode())
    monkeypatch.setattr(versions, "write", write)
    monkeypatch.setattr(
        versions,
        "DeployedFunction",
        lambda arn, session: SimpleNamespace(arn=arn, invoke=lambda _: answer),
    )
    step = prepared("gsm8k", "dev")
    if words is None:
        rolled_back(step, "dev")
        assert written == [("dev", step.after)]
    else:
        with pytest.raises(CannotRollBack, match=words):
            rolled_back(step, "dev")
    moved = {
        "FunctionName": "SageMaker-reward-dev-gsm8k",
        "Name": "live",
        "FunctionVersion": "5",
        "RoutingConfig": {"AdditionalVersionWeights": {}},
        "RevisionId": "r-1",
    }
    assert found.moved == ([] if report["failures"] else [moved])


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        (b'{"failures": [], "unavailable": []}', None),
        (b'{"failures": []}', None),
        (b'{"failures": ["a", "b"], "unavailable": ["c"]}', "a"),
        (b'{"failures": [], "unavailable": ["c"]}', "c"),
        (b'{"failures": 0}', "it has none, and answers as to a trainer"),
        (b"[]", "it has none, and answers as to a trainer"),
        (b"{", "it has none, and answers as to a trainer"),
        (FunctionError("KeyError", "'messages'"), "the function fails: KeyError"),
    ],
)
def test_a_self_test_that_is_not_passed_says_why(body, problem):
    def invoke(event):
        assert event == {"reward_functions": {"self_test": "recorded"}}
        if isinstance(body, Exception):
            raise body
        return SimpleNamespace(body=body)

    function = SimpleNamespace(arn=f"{ARN}:5", invoke=invoke)
    if problem is None:
        require_self_test(function)
    else:
        with pytest.raises(SelfTestFailed, match=f":5 does not pass its self-test: {problem}"):
            require_self_test(function)


@pytest.mark.parametrize(
    ("code", "found"),
    [
        (None, "7"),
        ("AccessDeniedException", None),
        ("ResourceNotFoundException", None),
        ("TooManyRequestsException", AwsFailed),
    ],
)
def test_where_live_points_to_is_unknown_to_who_may_not_ask(control, code, found):
    control(code=code)
    if found is AwsFailed:
        with pytest.raises(AwsFailed):
            live_version(RECORD)
    else:
        assert live_version(RECORD) == found
    assert live_version(RECORD.model_copy(update={"alias_arn": None})) is None
