"""`verify_reward_function` of nova-forge and of sagemaker-train: what passes, and what strict adds.

Source: the behaviour of amzn-nova-forge 1.4.10 and sagemaker-train 1.27, whose holes are N1 to N6
of this project's reading of them; AWS is a stand-in for `boto3` in either module.
"""

import io
import json
from enum import Enum
from types import SimpleNamespace

import pytest

from reward_functions.rollouts.compat import nova_forge, verifying
from reward_functions.rollouts.compat.nova_forge import Platform
from reward_functions.rollouts.compat.sagemaker_rft import reward_verifier

ARN = "arn:aws:lambda:us-east-1:123456789012:function:{}"
REWARD = ARN.format("MySageMakerReward")


def sample(name="s1", **more):
    messages = [{"role": "user", "content": "q"}, {"role": "assistant", "content": "a"}]
    return {"id": name, "messages": messages, "reference_answer": "a"} | more


TWO = [sample("s1"), sample("s2")]


def output(name, score=1.0, **more):
    return {"id": name, "aggregate_reward_score": score} | more


class Lambda:
    """Stands in for `boto3`: answers each call with the next of some payloads."""

    def __init__(self, *payloads):
        self.payloads = payloads
        self.regions, self.sent = [], []

    def client(self, service, *, region_name):
        assert service == "lambda"
        self.regions.append(region_name)
        return self

    def invoke(self, **call):
        self.sent.append(call)
        payload = self.payloads[min(len(self.sent), len(self.payloads)) - 1]
        if isinstance(payload, Exception):
            raise payload
        return {"Payload": io.BytesIO(json.dumps(payload).encode())}


@pytest.fixture
def answers(monkeypatch):
    """Let a Lambda answer, of both modules."""

    def given(*payloads):
        made = Lambda(*payloads)
        monkeypatch.setattr(nova_forge, "boto3", made)
        monkeypatch.setattr(reward_verifier, "boto3", made)
        return made

    return given


def forge(samples=TWO, function=REWARD, **options):
    return nova_forge.verify_reward_function(
        function, samples, **{"platform": Platform.SMTJ} | options
    )


def sagemaker(samples=TWO, function=REWARD, **options):
    return reward_verifier.verify_reward_function(function, samples, **options)


both = pytest.mark.parametrize("verify", [forge, sagemaker])
PASSING = [output("s1"), output("s2", 0.5)]


@both
def test_what_passes_is_a_dict_of_the_published_form(answers, verify):
    made = answers(PASSING)
    result = verify()
    assert result.pop("results") == [
        {
            "sample_index": index,
            "input": TWO[index],
            "output": PASSING[index],
            "status": "success",
            "errors": [],
        }
        for index in (0, 1)
    ]
    assert result == {
        "success": True,
        "total_samples": 2,
        "successful_samples": 2,
        "warnings": [],
    }
    [call] = made.sent
    assert (call["FunctionName"], call["InvocationType"]) == (REWARD, "RequestResponse")
    assert json.loads(call["Payload"]) == TWO


WRONG = [
    ("no output", [output("s1")], "1 outputs for 2 samples"),
    ("an output that is no object", [output("s1"), "s2"], "Expected dict, got str"),
    ("no score", [output("s1"), {"id": "s2"}], "aggregate_reward_score"),
    ("a score in words", [output("s1"), output("s2", "high")], "aggregate_reward_score"),
    (
        "a metric of another type",
        [output("s1"), output("s2", metrics_list=[{"name": "m", "value": 1, "type": "x"}])],
        "metrics_list.0.type",
    ),
    ("an error", {"errorType": "E", "errorMessage": "m"}, "Lambda execution error - E: m"),
    ("no connection", OSError("refused"), "Lambda invocation failed"),
]


@both
@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize(
    ("payload", "words"), [row[1:] for row in WRONG], ids=[r[0] for r in WRONG]
)
def test_what_fails_is_a_value_error_that_lists_why(answers, verify, strict, payload, words):
    answers(payload)
    with pytest.raises(ValueError, match="Reward function verification failed") as failure:
        verify(strict=strict)
    assert words in str(failure.value)


nan, infinite = float("nan"), float("inf")
METRIC = {"name": "m", "value": 1, "type": "Metric"}
HOLES = [
    ("NaN", [output("s1"), output("s2", nan)], "finite"),
    ("infinity", [output("s1"), output("s2", infinite)], "finite"),
    ("a string of digits", [output("s1"), output("s2", "0.5")], "not a number"),
    ("a boolean", [output("s1"), output("s2", True)], "not a number"),
    ("ids of others", [output("s1"), output("x")], "id is not that"),
    ("no id", [output("s1"), output(None)], "id is not that"),
    ("another order", [output("s2"), output("s1")], "id is not that"),
    ("three for two", [*PASSING, output("s3")], "3 outputs for 2 samples"),
    ("a good one too many", [output("s1"), output("s2"), {"id": "s3"}], "aggregate_reward_score"),
    (
        "a metric that is NaN",
        [output("s1"), output("s2", metrics_list=[METRIC | {"value": nan}])],
        "metrics_list.0.value",
    ),
    (
        "two metrics of one name",
        [output("s1"), output("s2", metrics_list=[METRIC, METRIC])],
        "two metrics",
    ),
]


@both
@pytest.mark.parametrize(
    ("payload", "words"), [row[1:] for row in HOLES], ids=[r[0] for r in HOLES]
)
def test_what_the_published_verifiers_let_pass_fails_strictly(answers, verify, payload, words):
    answers(payload)
    assert verify()["success"]
    with pytest.raises(ValueError, match="verification failed") as failure:
        verify(strict=True)
    assert words in str(failure.value)


@both
@pytest.mark.parametrize("payload", [output("s1"), "fine", None], ids=["object", "text", "null"])
def test_one_answer_for_one_sample_passes_unless_strict(answers, verify, payload):
    answers(payload)
    assert verify([sample()])["successful_samples"] == 1
    with pytest.raises(ValueError, match="not a list"):
        verify([sample()], strict=True)


@both
def test_a_second_answer_that_differs_fails_strictly(answers, verify):
    answers(PASSING, [output("s1", 0.25), output("s2", 0.5)])
    with pytest.raises(ValueError, match="first at output 0"):
        verify(strict=True)


@both
def test_what_is_right_passes_strictly(answers, verify):
    made = answers([output("s1", metrics_list=[METRIC]), output("s2", 0)])
    assert verify(strict=True)["successful_samples"] == 2
    assert len(made.sent) == 2, "called twice, for the same answer"


def envelope(body, status=200):
    return {"statusCode": status, "headers": {}, "body": body}


@pytest.mark.parametrize("body", [PASSING, json.dumps(PASSING)], ids=["decoded", "JSON"])
def test_the_envelope_of_open_weight_models_is_unwrapped(answers, body):
    answers(envelope(body))
    assert sagemaker(is_nova=False, strict=True)["successful_samples"] == 2


ENVELOPES = [
    (PASSING, "not list"),
    (envelope("{}", 500), "non-200 status code: 500"),
    ({"statusCode": 200}, "no 'body'"),
    (envelope("{"), "not valid JSON"),
]


@pytest.mark.parametrize(("payload", "words"), ENVELOPES, ids=[row[1] for row in ENVELOPES])
def test_what_is_no_envelope_fails(answers, payload, words):
    answers(payload)
    with pytest.raises(ValueError, match="verification failed") as failure:
        sagemaker(is_nova=False)
    assert words in str(failure.value)


def test_a_nova_function_that_answers_with_the_envelope_fails_strictly(answers):
    answers(envelope(PASSING))
    with pytest.raises(ValueError, match="is_nova=False"):
        forge(strict=True)


# Names of functions, and where they are.


def test_an_arn_needs_a_platform():
    with pytest.raises(ValueError, match="platform"):
        nova_forge.verify_reward_function(REWARD, TWO)


class Theirs(Enum):
    SMHP = "SMHP"


NAMES = [("my-reward", False), ("my-sagemaker-reward", True), ("SAGEMAKER", True)]


@pytest.mark.parametrize("platform", [Platform.SMHP, Theirs.SMHP, "SMHP"])
@pytest.mark.parametrize(("name", "passes"), NAMES)
def test_hyperpod_wants_sagemaker_in_the_name(answers, platform, name, passes):
    answers(PASSING)
    if passes:
        assert forge(function=ARN.format(name), platform=platform)["success"]
    else:
        with pytest.raises(ValueError, match="SageMaker"):
            forge(function=ARN.format(name), platform=platform)


def test_so_it_does_for_sagemakers_own_compute(answers):
    answers(PASSING)
    compute = type("HyperPodCompute", (), {})()
    with pytest.raises(ValueError, match="SageMaker"):
        sagemaker(function=ARN.format("my-reward"), compute=compute)
    assert sagemaker(function=ARN.format("my-reward"), compute=SimpleNamespace())["success"]


def test_an_arn_of_something_else_is_refused_for_hyperpod():
    with pytest.raises(ValueError, match="Invalid Lambda ARN format"):
        forge(function="arn:aws:lambda:us-east-1:123456789012:layer:x", platform=Platform.SMHP)


ARNS = [
    ("arn:aws-us-gov:lambda:us-gov-west-1:123456789012:function:r", "us-gov-west-1"),
    ("arn:aws-cn:lambda:cn-north-1:123456789012:function:r:live", "cn-north-1"),
    ("arn:aws:lambda:eu-west-1:123456789012:function:r:7", "eu-west-1"),
    ("arn:aws:lambda:eu-west-1:123456789012:function:r:$LATEST", "eu-west-1"),
]


@both
@pytest.mark.parametrize(("arn", "region"), ARNS)
def test_any_partition_alias_and_version_is_called_in_its_region(answers, verify, arn, region):
    made = answers(PASSING)
    assert verify(function=arn)["success"]
    assert made.regions == [region]
    assert made.sent[0]["FunctionName"] == arn


def test_a_region_that_is_named_counts(answers):
    made = answers(PASSING)
    forge(region="eu-central-1")
    assert made.regions == ["eu-central-1"]


# What is sent.

MESSAGES = sample()["messages"]
SYSTEM = {"role": "system", "content": "s"}
TOOL = {
    "type": "function",
    "function": {"name": "f", "description": "d", "parameters": {"type": "object"}},
}
NO_SAMPLES = [
    ("no sample", "s1", "sample"),
    ("no messages", sample(messages=[]), "messages"),
    ("messages of another type", sample(messages="q"), "messages"),
    ("a message that is none", sample(messages=["q"]), "messages -> 0"),
    ("nobody asks", sample(messages=[MESSAGES[1]]), "messages"),
    ("a late system message", sample(messages=[MESSAGES[0], SYSTEM]), "messages"),
    ("another role", sample(messages=[{"role": "x", "content": "q"}]), "role"),
    ("a role that is none", sample(messages=[{"role": [], "content": "q"}]), "role"),
    ("an empty content", sample(messages=[{"role": "user", "content": " "}]), "content"),
    ("another content", sample(messages=[{"role": "user", "content": 3}]), "content"),
    ("another field", sample(messages=[MESSAGES[0] | {"x": 1}]), "x"),
    ("an empty id", sample(" "), "id"),
    ("a number as an id", sample(7), "id"),
    ("an empty reference", sample(reference_answer=""), "reference_answer"),
    ("another reference", sample(reference_answer=[1]), "reference_answer"),
    ("no tool", sample(tools=[]), "tools"),
    ("two tools of one name", sample(tools=[TOOL, TOOL]), "tools"),
    ("a tool that is none", sample(tools=[{"type": "x"}]), "tools -> 0"),
    (
        "a tool without a name",
        sample(tools=[{"type": "function", "function": TOOL["function"] | {"name": {}}}]),
        "name",
    ),
]


@pytest.mark.parametrize(
    ("given", "field"), [row[1:] for row in NO_SAMPLES], ids=[row[0] for row in NO_SAMPLES]
)
def test_what_is_no_sample_is_refused_before_a_call(answers, given, field):
    made = answers(PASSING)
    with pytest.raises(ValueError, match="Input validation failed") as failure:
        forge([sample(), given])
    assert f"Sample 1, field '{field}" in str(failure.value) or field in str(failure.value)
    assert made.sent == []


def test_formats_are_looked_at_only_where_asked(answers):
    answers([{}, {}])
    assert forge([{}, {}], validate_format=False)["successful_samples"] == 2


def test_a_reference_that_is_missing_is_a_warning(answers):
    answers(PASSING)
    result = forge([sample("s1", reference_answer=None), sample("s2", tools=[TOOL])])
    [warning] = result["warnings"]
    assert "Sample 0 (id: s1)" in warning
    assert "reference_answer" in warning


def test_more_than_a_lambda_takes_is_not_sent(answers, monkeypatch):
    made = answers(PASSING)
    monkeypatch.setattr(verifying, "LARGEST", 100)
    with pytest.raises(ValueError, match="100 bytes"):
        forge()
    assert made.sent == []
