"""Requests and answers of the AWS APIs, against botocore's service models in both directions."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest
from botocore.model import Shape

from reward_functions.aws.request_validation import _compiled, problems, service_model
from reward_functions.local.loopback_service.server import BadAnswer, Refused, Request
from reward_functions.local.loopback_service.wire import answer, labels, parameters
from reward_functions.local.training_double.server import REST

ROUTES = {
    name: service_model(service).operation_model(name)
    for service, names in REST.items()
    for name in names
}
CREATE = ROUTES["CreateModelCustomizationJob"]
GET = ROUTES["GetModelCustomizationJob"]
BASE = "amazon.nova-2-lite-v1:0:256k"
ARN = f"arn:aws:bedrock:us-east-1:000000000000:model-customization-job/{BASE}/abcdefghijkl"
JOB = {
    "jobName": "a",
    "customModelName": "a",
    "roleArn": "arn:aws:iam::000000000000:role/r",
    "baseModelIdentifier": "amazon.nova-2-lite-v1:0:256k",
    "trainingDataConfig": {"s3Uri": "s3://bucket/train.jsonl"},
    "outputDataConfig": {"s3Uri": "s3://bucket/out"},
}
GRADER = {
    "lambdaGrader": {"lambdaArn": "arn:aws:lambda:us-east-1:000000000000:function:g:1"},
}


def shapes(shape, seen=frozenset()):
    """A shape and all below it."""
    yield shape
    if shape.name in seen:
        return
    seen |= {shape.name}
    below = {
        "structure": lambda: [*shape.members.values()],
        "list": lambda: [shape.member],
        "map": lambda: [shape.key, shape.value],
    }.get(shape.type_name, list)
    for each in below():
        yield from shapes(each, seen)


def every_shape():
    for operation in ROUTES.values():
        for top in (operation.input_shape, operation.output_shape):
            yield from shapes(top) if top is not None else ()


def sent(body, query="", method="POST", path="/model-customization-jobs"):
    return Request(
        method, path, query, {}, body if isinstance(body, bytes) else json.dumps(body).encode()
    )


def rft(**hyperparameters):
    return {"rftConfig": {"graderConfig": GRADER, "hyperParameters": hyperparameters}}


def test_every_pattern_of_the_models_is_one_that_python_reads():
    patterns = {each.metadata["pattern"] for each in every_shape() if "pattern" in each.metadata}
    assert len(patterns) > 20
    for pattern in patterns:
        assert _compiled(pattern)


def test_members_lie_in_the_path_the_query_or_the_body_only():
    places = {each.serialization.get("location") for each in every_shape()}
    assert places == {None, "uri", "querystring"}


@pytest.mark.parametrize("name", ["a", "a-b", "a--b", "a-", "A.b+c", "9"])
def test_the_pattern_in_linear_time_takes_the_same_names(name):
    import re

    pattern = CREATE.input_shape.members["jobName"].metadata["pattern"]
    assert bool(re.fullmatch(pattern, name)) == bool(_compiled(pattern).fullmatch(name)) is True
    for other in ("", "-a", "a b", "a/b", "é"):
        assert re.fullmatch(pattern, other) is _compiled(pattern).fullmatch(other) is None


def test_a_name_that_would_take_exponential_time_is_refused_at_once():
    found = [*problems(CREATE.input_shape.members["jobName"], f"a{'-' * 60}!", "jobName")]
    assert "regular expression pattern" in found[0]


WRONG = [
    # botocore's own client lets all but the last three pass: contracts.md 4.2
    ({"jobName": "a" * 64}, "'jobName'", "length less than or equal to 63"),
    ({"jobName": "-"}, "'jobName'", "pattern"),
    ({"customModelName": "a b"}, "'customModelName'", "pattern"),
    ({"customizationType": "RFT"}, "'customizationType'", "enum value set"),
    ({"trainingDataConfig": {"s3Uri": "s3://b u/x"}}, "'trainingDataConfig.s3Uri'", "pattern"),
    ({"outputDataConfig": {"s3Uri": "s3://bucket/a", "kmsKeyId": "x"}}, "kmsKeyId", "extraneous"),
    ({"customizationConfig": rft(batchSize=513)}, "batchSize'", "less than or equal to 512"),
    (
        {"customizationConfig": rft(learningRate=1.0)},
        "learningRate'",
        "less than or equal to 0.001",
    ),
    ({"customizationConfig": rft(epochCount=51)}, "epochCount'", "less than or equal to 50"),
    ({"customizationConfig": rft(trainingSamplePerPrompt=17)}, "PerPrompt'", "equal to 16"),
    ({"customizationConfig": rft(evalInterval=101)}, "evalInterval'", "less than or equal to 100"),
    ({"customizationConfig": rft(reasoningEffort="none")}, "reasoningEffort'", "enum value set"),
    ({"customizationConfig": rft(batchSize=True)}, "batchSize'", "Member must be a integer"),
    ({"customizationConfig": rft(batchSize=64.0)}, "batchSize'", "Member must be a integer"),
    ({"customizationConfig": {}}, "'customizationConfig'", "exactly one member"),
    ({"jobTags": [{"key": "é", "value": ""}]}, "'jobTags.1.member.key'", "pattern"),
    ({"jobTags": [{"key": "a", "value": ""}] * 201}, "'jobTags'", "equal to 200"),
    ({"customizationConfig": rft(batchSize=15)}, "batchSize'", "greater than or equal to 16"),
    ({"roleArn": None}, "'roleArn'", "must not be null"),
    ({"trainingDataConfig": "s3://bucket/x"}, "'trainingDataConfig'", "must be a structure"),
]


@pytest.mark.parametrize(("change", "where", "constraint"), WRONG)
def test_a_request_that_the_service_would_refuse_is_refused(change, where, constraint):
    with pytest.raises(Refused) as refused:
        parameters(CREATE, {}, sent(JOB | change))
    assert refused.value.code == "ValidationException"
    assert where in str(refused.value)
    assert constraint in str(refused.value)


RIGHT = [
    {},
    {"customizationConfig": rft()},
    {
        "customizationConfig": rft(
            batchSize=512, learningRate=0.001, epochCount=50, evalInterval=100
        )
    },
    {"customizationConfig": rft(batchSize=16, learningRate=1e-7, reasoningEffort="low")},
    {"hyperParameters": {"a": "b"}},
    {"jobTags": [{"key": "a", "value": ""}] * 200},
    {"vpcConfig": {"subnetIds": ["subnet-1"], "securityGroupIds": ["sg-1"]}},
]


@pytest.mark.parametrize("change", RIGHT)
def test_a_request_that_the_service_takes_is_read_as_it_was_given(change):
    assert parameters(CREATE, {}, sent(JOB | change)) == JOB | change


def test_a_null_is_no_value_at_any_depth():
    within = {"customizationConfig": rft(batchSize=16, learningRate=None), "kmsKeyId": None}
    asked = {"customizationConfig": rft(batchSize=16)}
    assert parameters(CREATE, {}, sent(JOB | within)) == JOB | asked
    tags = {"jobTags": [{"key": "a", "value": "b", "more": None}]}
    assert parameters(CREATE, {}, sent(JOB | tags))["jobTags"] == [{"key": "a", "value": "b"}]
    with pytest.raises(Refused, match="must not be null"):
        parameters(CREATE, {}, sent(JOB | {"jobTags": [{"key": "a", "value": None}]}))


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b"\xff",
        b'{"jobName": NaN}',
        b"[" * 100_000,
        b'"text"',
        b'{"jobName": "\\ud800"}',
    ],
    ids=["empty", "cut", "a list", "no text", "no number", "deep", "a string", "half a pair"],
)
def test_a_body_that_is_no_object_is_refused(body):
    with pytest.raises(Refused, match=r"JSON|must not be null"):
        parameters(CREATE, {}, sent(body))


def test_a_refusal_of_a_thousand_problems_names_five():
    many = {"jobTags": [{"key": "é", "value": ""}] * 150}
    with pytest.raises(Refused) as refused:
        parameters(CREATE, {}, sent(JOB | many))
    assert str(refused.value).startswith("150 validation errors detected")
    assert str(refused.value).count("jobTags") == 5


def test_a_label_is_an_arn_with_its_slashes_encoded():
    path = f"/model-customization-jobs/{ARN.replace('/', '%2F').replace(':', '%3A')}"
    request = sent(b"", method="GET", path=path)
    assert parameters(GET, labels(GET, request), request) == {"jobIdentifier": ARN}
    assert labels(GET, request._replace(method="POST")) is None
    assert labels(GET, request._replace(path=f"{path}/stop")) is None


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("maxResults=10&statusEquals=Failed", {"maxResults": 10, "statusEquals": "Failed"}),
        ("nameContains=a%20b", "pattern"),
        ("maxResults=x", "must be a integer"),
        ("maxResults=1001", "less than or equal to 1000"),
        ("statusEquals=Gone", "enum value set"),
        ("creationTimeAfter=yesterday", "not a timestamp"),
        (
            "creationTimeAfter=2026-11-22T09%3A00%3A00Z",
            {"creationTimeAfter": datetime(2026, 11, 22, 9, tzinfo=UTC)},
        ),
        ("unknown=1", {}),
    ],
)
def test_the_query_is_read_by_its_types(query, expected):
    operation = ROUTES["ListModelCustomizationJobs"]
    request = sent(b"", query, "GET")
    if isinstance(expected, dict):
        assert parameters(operation, {}, request) == expected
    else:
        with pytest.raises(Refused, match=expected):
            parameters(operation, {}, request)


def test_an_answer_is_written_as_boto3_reads_it():
    moment = datetime(2026, 11, 22, 9, 0, 0, 123_000, tzinfo=UTC)
    summary = {
        "jobArn": ARN, "baseModelArn": f"arn:aws:bedrock:us-east-1::foundation-model/{BASE}",
        "jobName": "a", "status": "Failed", "creationTime": moment, "endTime": None,
    }  # fmt: skip
    operation = ROUTES["ListModelCustomizationJobs"]
    written = json.loads(answer(operation, {"modelCustomizationJobSummaries": [summary]}))
    (read,) = written["modelCustomizationJobSummaries"]
    assert read["creationTime"] == "2026-11-22T09:00:00.123Z"
    assert "endTime" not in read
    assert "nextToken" not in written


@pytest.mark.parametrize(
    ("result", "problem"),
    [
        ({}, "must not be null"),
        ({"jobArn": "x"}, "pattern"),
        ({"jobArn": 1}, "must be a string"),
    ],
)
def test_the_double_cannot_say_what_the_service_does_not_know(result, problem):
    with pytest.raises(BadAnswer, match=problem):
        answer(CREATE, result)


def test_an_answer_leaves_out_what_it_has_no_member_for():
    assert json.loads(answer(CREATE, {"jobArn": ARN, "jobId": "x"})) == {"jobArn": ARN}


def test_a_document_is_anything():
    shape = Shape("Any", {"type": "structure", "members": {}, "document": True})
    shape.is_document_type = True
    assert not [*problems(shape, ["anything"], "x")]
