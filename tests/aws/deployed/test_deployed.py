"""Deployed functions: whatever a function, the network or a login does, one sentence says it."""

from __future__ import annotations

import json
from time import sleep
from types import SimpleNamespace

import pytest

from reward_functions import sample, specs
from reward_functions.aws.arn import BadArn, FunctionArn
from reward_functions.aws.deployed import (
    AwsFailed,
    BrokenContract,
    DeployedFunction,
    check,
    checking,
)
from reward_functions.aws.deployed.checking import (
    MALFORMED,
    Expectation,
    as_evaluated,
    expectation_of,
    made_up,
)
from reward_functions.aws.deployed.function import FunctionError, read
from reward_functions.core.batch import score_batch
from reward_functions.core.errors import DatasetError
from reward_functions.core.registry import get
from reward_functions.core.spec import Scale
from reward_functions.core.types import Scored, Unscored
from reward_functions.serving.contract import decode
from reward_functions.serving.handler import bind
from reward_functions.serving.settings import LambdaSettings
from reward_functions.testing import wire_row
from tests.lambda_api import Function, Reply, function_error, lambda_api, refusal, result, scored

ARN = "arn:aws:lambda:us-east-1:123456789012:function:SageMaker-reward:live"
UNKNOWN = Expectation(made_up())


@pytest.fixture
def served(monkeypatch):
    """Give a function of the loopback API an ARN; returns what invokes it."""
    functions = {}
    with lambda_api(functions) as address:
        monkeypatch.setenv("AWS_ENDPOINT_URL_LAMBDA", address)
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", "key")
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
        monkeypatch.delenv("AWS_PROFILE", raising=False)

        def deployed(*answers, arn=ARN, attempts=1, **configured):
            functions[arn] = Function(list(answers), **configured)
            function = DeployedFunction(arn, attempts=attempts)
            function.asked = functions[arn].asked
            return function

        yield deployed


@pytest.mark.parametrize(
    ("text", "arn"),
    [
        (ARN, FunctionArn("aws", "us-east-1", "1" * 12, "x", "live")),
        ("arn:aws-cn:lambda:cn-north-1:123456789012:function:f", None),
        ("arn:aws-us-gov:lambda:us-gov-west-1:123456789012:function:f:7", None),
        ("arn:aws-iso-b:lambda:us-isob-east-1:123456789012:function:f:$LATEST", None),
        ("arn:aws:lambda:ap-southeast-5:123456789012:function:a.b-c_d", None),
    ],
)
def test_any_function_of_any_partition_has_an_arn(text, arn):
    parsed = FunctionArn.parse(text)
    assert str(parsed) == text
    assert parsed.region == text.split(":")[3]


@pytest.mark.parametrize(
    ("name", "moves"),
    [
        ("SageMaker-reward-dev-gsm8k:7", False),
        ("theirs:12", False),
        ("SageMaker-reward-dev-gsm8k", True),
        ("SageMaker-reward-dev-gsm8k:live", True),
        ("SageMaker-reward-dev-gsm8k:v7", True),
        ("SageMaker-reward-dev-gsm8k:$LATEST", True),
        # A function of an immutable deployment, by its name alone; what is not quite one is none.
        ("SageMaker-reward-dev-gsm8k--0123abcd", False),
        ("acme-SageMaker-reward-dev-gsm8k--0123abcd", False),
        ("acme-two-SageMaker-reward-dev-gsm8k--0123abcd", False),
        ("ACME-SageMaker-reward-dev-gsm8k--0123abcd", True),
        ("acmeSageMaker-reward-dev-gsm8k--0123abcd", True),
        ("SageMaker-reward-dev-gsm8k--0123abcd:live", True),
        ("SageMaker-reward-dev-gsm8k--0123abcd:$LATEST", True),
        ("SageMaker-reward-dev-gsm8k--0123abc", True),
        ("SageMaker-reward-dev-gsm8k--0123ABCD", True),
        ("theirs--0123abcd", True),
    ],
)
def test_an_arn_moves_unless_nobody_can_change_what_it_names(name, moves):
    arn = FunctionArn.parse(f"arn:aws:lambda:us-east-1:123456789012:function:{name}")
    assert arn.moves == moves


@pytest.mark.parametrize(
    "text",
    [
        "SageMaker-reward",
        "arn:aws:s3:::bucket",
        "arn:aws:lambda:us-east-1:123456789012:layer:x:1",
        "arn:aws:lambda:us-east-1:12345:function:x",
        "arn:aws:lambda::123456789012:function:x",
        ARN + ":twice",
        ARN + "\n",
        "",
    ],
)
def test_what_is_no_function_is_reported(text):
    with pytest.raises(BadArn, match=r"is not the ARN of a Lambda function: arn:aws:lambda:REGION"):
        FunctionArn.parse(text)


@pytest.mark.parametrize(
    "arn",
    [
        "arn:aws-cn:lambda:cn-north-1:123456789012:function:SageMaker-a",
        "arn:aws-us-gov:lambda:us-gov-west-1:123456789012:function:SageMaker-a:7",
    ],
)
def test_a_function_is_invoked_in_its_own_region(served, arn, monkeypatch):
    monkeypatch.setenv("AWS_REGION", "eu-west-1")
    function = served(scored, arn=arn)
    assert function.client.meta.region_name == arn.split(":")[3]
    assert function.invoke([]).payload == []


def handler(name="gsm8k", **settings):
    """A function of this project's, without a deployment."""
    return bind(LambdaSettings(name=name, log_level="CRITICAL", **settings))


SAMPLES = [
    sample("#### 42", "42", id="right"),
    sample("#### 43", "42", id="é🎉"),
    sample("", "42", id="empty"),
    sample("#### 42", None, id="no reference"),
]


@pytest.mark.parametrize("mode", ["list", "envelope"])
def test_the_results_are_of_the_types_of_a_local_run(served, mode):
    reported = served(handler(response_mode=mode)).score(SAMPLES)
    local = score_batch(get("gsm8k"), SAMPLES)
    for here, there in zip(local, reported, strict=True):
        assert type(here) is type(there)
        assert here.id == there.id
        if isinstance(here, Scored):
            assert (here.score.value, here.score.metrics) == (
                there.score.value,
                there.score.metrics,
            )
    assert isinstance(reported[3].error, DatasetError)


def test_what_the_function_could_not_score_is_no_score(served):
    flagged = result("a", 0.5)
    flagged["metrics_list"] += [
        {"name": name, "value": value, "type": "Metric"}
        for name, value in {"bad_reference": 0.0, "unscored": 1.0, "imputed": 1.0}.items()
    ]
    (reported,) = served([flagged]).score([sample(id="a")])
    assert isinstance(reported, Unscored)
    assert "could not score" in str(reported.error)


def test_a_broken_response_gives_nobody_a_reward(served):
    with pytest.raises(BrokenContract, match="SageMaker-reward: 1 results for 2 samples"):
        served(lambda rows: scored(rows)[:1]).score([sample(id="a"), sample(id="b")])


def test_a_cold_start_is_what_the_log_says(served):
    report = "REPORT RequestId: x\tDuration: 1 ms\tInit Duration: 380.14 ms\t"
    function = served(Reply(b"[]", log=report), Reply(b"[]", log="REPORT"), [])
    assert [function.invoke([]).cold for _ in range(3)] == [True, False, False]


def test_an_event_over_the_limit_is_not_sent(served):
    function = served(scored)
    with pytest.raises(FunctionError, match="must be smaller than 6291456 bytes"):
        function.invoke("x" * 6_291_455)
    assert function.asked == []


@pytest.mark.parametrize(
    ("reply", "error_type", "message"),
    [
        (
            function_error(
                errorType="ValueError", errorMessage="no", stackTrace=["a"], requestId="r"
            ),
            "ValueError",
            "no",
        ),
        (function_error(errorMessage="2019 Task timed out after 3.00 s"), "Unhandled", "2019 Task"),
        (Reply(b"Internal", error="Unhandled"), "Unhandled", "Internal"),
        (Reply(b"[1]", error="Unhandled"), "Unhandled", "[1]"),
        (function_error(errorType=None, stackTrace="no list"), "Unhandled", ""),
    ],
)
def test_a_function_that_fails_raises_what_a_local_one_raises(served, reply, error_type, message):
    with pytest.raises(FunctionError) as raised:
        served(reply).invoke([])
    assert raised.value.error_type == error_type
    assert raised.value.message.startswith(message)


@pytest.mark.parametrize(
    ("reply", "message"),
    [
        (
            refusal(403, "ExpiredTokenException", "expired"),
            "credentials have expired; log in again",
        ),
        (refusal(403, "UnrecognizedClientException", "invalid"), "does not know these credentials"),
        (
            refusal(403, "AccessDeniedException", "User: x is not authorized"),
            "not allowed: User: x",
        ),
        (refusal(429, "TooManyRequestsException", "Rate Exceeded."), "throttled (Rate Exceeded.)"),
        (refusal(404, "ResourceNotFoundException", "Function not found"), "no such function"),
        (refusal(413, "RequestEntityTooLargeException", "big"), "send smaller batches"),
        (refusal(500, "ServiceException", "sorry"), "sorry (ServiceException)"),
    ],
)
def test_a_refusal_is_one_sentence(served, reply, message):
    with pytest.raises(AwsFailed) as raised:
        served(reply).invoke([])
    assert str(raised.value).startswith("invoking SageMaker-reward: ")
    assert message in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_throttle_that_ends_is_waited_for(served):
    throttled = refusal(429, "TooManyRequestsException", "Rate Exceeded.")
    assert served(throttled, throttled, [], attempts=3).invoke([]).payload == []


@pytest.mark.parametrize(
    ("environment", "message"),
    [
        ({"AWS_ENDPOINT_URL_LAMBDA": "http://127.0.0.1:1"}, "nobody answers: "),
        ({"AWS_ENDPOINT_URL_LAMBDA": "http://127.0.0.1:1"}, "`reward local up` starts one"),
        ({"AWS_PROFILE": "nowhere"}, "(nowhere) could not be found; check AWS_PROFILE"),
        ({"AWS_ACCESS_KEY_ID": None, "AWS_SECRET_ACCESS_KEY": None}, "no AWS credentials; log in"),
    ],
)
def test_a_call_that_cannot_be_made_is_one_sentence(
    served, environment, message, monkeypatch, tmp_path
):
    for name in ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"):
        monkeypatch.setenv(name, str(tmp_path / "none"))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    for name, value in environment.items():
        monkeypatch.delenv(name) if value is None else monkeypatch.setenv(name, value)
    with pytest.raises(AwsFailed) as raised:
        served(scored).invoke([])
    assert message in str(raised.value)
    assert "\n" not in str(raised.value)


IDS = ["a", "b", "c"]


def replies(*results):
    return list(results)


def all_but(**changes):
    """Three right results, the second with changes; a change to None leaves the field out."""
    second = {**result("b", 0.5), **changes}
    return replies(
        result("a", 1.0),
        {key: value for key, value in second.items() if value is not ...},
        result("c", 0.0),
    )


BREACHES = [
    ("{", "shape", "not JSON"),
    (b"\xff", "shape", "not JSON"),
    (b"[" * 100_000, "shape", "not JSON"),
    (None, "shape", "the response is null: Bedrock and Nova's trainers read a list"),
    ("text", "shape", "the response is a string"),
    ({"results": []}, "shape", "the response is an object"),
    ({"statusCode": 500, "body": "[]"}, "shape", "statusCode is 500: only 200"),
    ({"body": "[]"}, "shape", "statusCode is None"),
    ({"statusCode": 200, "body": []}, "shape", "body is a list, not a JSON string"),
    ({"statusCode": 200, "body": "["}, "shape", "body is not JSON"),
    ({"statusCode": 200, "body": "{}"}, "shape", "body is an object, not a list"),
    (replies(result("a", 1.0), 3, result("c", 1.0)), "shape", "1 of the results are not objects"),
    (replies(result("a", 1.0), result("b", 1.0)), "ids", "2 results for 3 samples"),
    ([], "ids", "no result for 'a', 'b', 'c': those rewards are lost"),
    (all_but(id="x"), "ids", "results for 'x', which nobody sent"),
    (all_but(id="a"), "ids", "no result for 'b'"),
    (all_but(id=2), "ids", "1 results have no string as id but a number"),
    (all_but(id=...), "ids", "no string as id but null"),
    (replies(result("b", 0.0), result("a", 1.0), result("c", 0.0)), "order", "in another order"),
    (all_but(aggregate_reward_score=...), "numbers", "1 results have no aggregate_reward_score"),
    (all_but(aggregate_reward_score=None), "numbers", "1 rewards are null, not numbers"),
    (all_but(aggregate_reward_score="0.5"), "numbers", "1 rewards are a string, not numbers"),
    (all_but(aggregate_reward_score=True), "numbers", "1 rewards are a boolean, not numbers"),
    (all_but(aggregate_reward_score=float("nan")), "numbers", "rewards are nan, which is not JSON"),
    (all_but(aggregate_reward_score=float("-inf")), "numbers", "1 rewards are -inf"),
    (all_but(aggregate_reward_score=10**400), "numbers", "a number of too many digits"),
    (all_but(aggregate_reward_score=1.5), "scale", "such as 1.5 are outside"),
    (all_but(aggregate_reward_score=-0.1), "scale", "such as -0.1"),
    (all_but(metrics_list={}), "metrics", "metrics_list is an object, not a list"),
    (all_but(metrics_list=[{}]), "metrics", "a metric has no name"),
    (
        all_but(metrics_list=[{"name": "m", "value": "1", "type": "Metric"}]),
        "metrics",
        "is a string",
    ),
    (all_but(metrics_list=[{"name": "m", "value": 1, "type": "metric"}]), "metrics", "exactly M"),
    (all_but(metrics_list=[{"name": "m", "value": 1, "type": "Metric"}]), "metrics", "different"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("payload", "kind", "message"), BREACHES, ids=lambda value: str(value)[:40]
)
def test_a_broken_response_is_reported_in_a_trainers_terms(payload, kind, message):
    body = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
    body = b"{" if payload == "{" else body
    breaches = read(body, IDS, Scale()).breaches
    assert kind in {breach.kind for breach in breaches}
    assert any(message in breach.message for breach in breaches), [
        breach.message for breach in breaches
    ]


@pytest.mark.parametrize(
    "payload",
    [
        replies(result("a", 1.0), result("b", 0), result("c", 0.5)),
        replies(*[{"id": name, "aggregate_reward_score": 0.5} for name in IDS]),
        replies(*[{"id": name, "aggregate_reward_score": 1, "metrics_list": None} for name in IDS]),
        replies(*[result(name, 1.0) | {"reward_components": {}} for name in IDS]),
        {"statusCode": 200, "headers": {}, "body": json.dumps([result(name, 1.0) for name in IDS])},
        {"statusCode": 200, "body": json.dumps([result(name, 1.0) for name in IDS])},
    ],
    ids=["list", "no metrics", "null metrics", "further fields", "envelope", "no headers"],
)
def test_what_a_trainer_takes_is_whole(payload):
    response = read(json.dumps(payload).encode(), IDS, Scale())
    assert response.breaches == ()
    assert response.mode == ("list" if isinstance(payload, list) else "envelope")
    assert sorted(response.scores) == IDS


def failures(report, verdict="failure"):
    return {found.question: found.message for found in report.findings if found.verdict == verdict}


SAME = {
    "contract": "11 samples: ids, order, numbers and metrics",
    "determinism": "11 earn the same the second time",
    "independence": "11 earn the same in another order",
    "one sample": "1 earn the same alone",
    "unusual ids": "ids of one digit, with quotes, with an emoji, of 300 letters",
    "no answer": "a row without a generated turn, as AWS's own checks before a job send",
    "malformed row": "the others keep their rewards beside it",
}


def test_a_sound_function_passes(served):
    report = check(
        served(handler("gsm8k")), expectation_of(get("gsm8k"), {}, "list"), batch_size=16
    )
    assert report.passed, failures(report)
    assert failures(report, "warning") == {
        "version": "the alias 'live' moves: a deployment in the middle of a job changes the reward "
        "under it; give the job the version"
    }
    message = failures(report, "ok")
    assert (
        message["scores"] == f"{len(get('gsm8k').examples)} examples of gsm8k earn what they must"
    )
    assert message["dialects"] == (
        "the role nova_assistant, a list of content blocks, the reference in metadata"
    )
    assert "earns the same, in the envelope they read" in message["evaluation"]
    assert "16 samples take" in message["latency"]
    assert "samples fit into Lambda's 6 MB" in message["response"]
    assert {name: message[name] for name in SAME} == SAME
    assert failures(report, "unknown") == {}
    assert (report.measured.measured, report.measured.missing, report.calls) == (11, 0, 14)


def test_each_step_that_takes_a_while_is_announced_in_order(served):
    steps = []
    expected = expectation_of(get("gsm8k"), {}, "list")
    check(served(handler("gsm8k")), expected, batch_size=4, progress=steps.append)
    assert steps == [
        "reading its configuration",
        "sending the first batch",
        "sending the samples the second time",
        "sending the samples in another order",
        "sending the samples alone",
        "sending ids of one digit, with quotes, with an emoji, of 300 letters",
        "sending a row without a generated turn, as AWS's own checks before a job send",
        "sending the role nova_assistant",
        "sending a list of content blocks",
        "sending the reference in metadata",
        "sending a row of an evaluation job",
        "sending a row that is not a valid sample",
        "timing 4 samples, 1 of 3",
        "timing 4 samples, 2 of 3",
        "timing 4 samples, 3 of 3",
    ]


def of_training_alone(rows):
    """Before evaluations were read: a row without messages is no sample."""
    return handler("gsm8k")([row if "messages" in row else MALFORMED for row in rows])


def in_one_mode(rows):
    """Before evaluations had their own reply: the mode is the deployment's."""
    reply = handler("gsm8k")(rows)
    return reply if isinstance(reply, list) else json.loads(reply["body"])


def without_evaluations(rows):
    if any("messages" not in row for row in rows):
        return function_error(errorType="KeyError", errorMessage="'messages'")
    return handler("gsm8k")(rows)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (of_training_alone, "the sample earns nothing in the place of 1"),
        (in_one_mode, "earns the same, and is not answered in the envelope that they read"),
        (without_evaluations, "the function fails: KeyError"),
    ],
)
def test_a_function_that_does_not_read_evaluations_is_warned_of_and_passes(served, answer, message):
    expected = expectation_of(get("gsm8k"), {}, "list")
    report = check(served(answer), expected, batch_size=4)
    assert report.passed, failures(report)
    assert message in failures(report, "warning")["evaluation"]


def test_another_s_function_that_answers_with_a_list_is_not_asked_for_evaluations(served):
    function = served(scored)
    report = check(function, UNKNOWN, batch_size=4)
    assert "evaluation" not in {found.question for found in report.findings}


@pytest.mark.parametrize("spec", [each for each in specs().values() if not each.needs.judge])
def test_the_probe_of_an_evaluation_is_the_sample_that_it_was_made_of(spec):
    pairs = [(each, wire_row(each.sample("1"))) for each in spec.examples]
    asked = [(each, row, as_evaluated(row)) for each, row in pairs]
    assert any(evaluated for _, _, evaluated in asked), "no example can be asked"
    for example, row, evaluated in asked:
        if evaluated is None:
            continue
        there, here = score_batch(spec.bound_to_example(example), decode([row, evaluated]))
        assert isinstance(there, Scored)
        assert isinstance(here, Scored)
        assert there.score == here.score


def test_a_sample_of_many_turns_cannot_be_asked_by_an_evaluation():
    turns = [{"role": role, "content": "?"} for role in ("user", "assistant", "user", "assistant")]
    assert as_evaluated({"id": "1", "messages": turns, "reference_answer": "1"}) is None
    assert as_evaluated({"id": "1", "messages": turns[-1:], "reference_answer": "1"}) is None


def test_rows_that_are_made_up_are_one_question_with_four_answers():
    rows = made_up()
    assert [row["id"] for row in rows] == [f"sample-{at}" for at in range(4)]
    assert len({row["messages"][0]["content"] for row in rows}) == 1
    assert len({row["messages"][1]["content"] for row in rows}) == 4
    assert [[turn["role"] for turn in row["messages"]] for row in rows] == [
        ["user", "assistant"]
    ] * 4
    assert Expectation(rows) == UNKNOWN


def test_a_function_nothing_is_known_of_is_checked_as_well(served):
    report = check(served(scored), UNKNOWN, batch_size=8)
    assert report.passed, failures(report)
    assert "scores" in failures(report, "unknown")


def test_another_version_or_other_parameters_are_found(served):
    strict = expectation_of(get("exact_match"), {"ignore_case": False}, "list")
    report = check(served(handler("exact_match")), strict, batch_size=4)
    assert "another version is deployed, or it has other parameters" in failures(report)["scores"]
    same = served(handler("exact_match", parameters={"ignore_case": False}))
    assert check(same, strict, batch_size=4).passed


def test_examples_that_do_not_fit_a_schema_of_ones_own_are_no_failure(served):
    schema = '{"type": "object", "required": ["invoice"]}'
    expected = expectation_of(get("json_fields"), {"schema": schema}, "list")
    function = served(handler("json_fields", parameters={"schema": schema}))
    report = check(function, expected, batch_size=4)
    assert report.passed, failures(report)
    said = failures(report, "unknown")["unscored"]
    assert said.startswith("5 of 5 examples of json_fields do not fit its parameters here")


def test_the_wrong_response_mode_is_found(served):
    report = check(
        served(handler(response_mode="envelope")),
        expectation_of(get("gsm8k"), {}, "list"),
        batch_size=4,
    )
    assert failures(report)["response mode"].endswith("it is deployed as 'list'")


def unlucky(rows):
    """One row in three is lost."""
    return [each for at, each in enumerate(scored(rows)) if at % 3 != 2]


def moody(rows):
    moody.mood += 1
    return [result(row["id"], float(moody.mood)) for row in rows]


moody.mood = 0


def by_place(rows):
    return [result(row["id"], float(at)) for at, row in enumerate(rows)]


def without_unusual_ids(rows):
    return [
        each | {"id": each["id"].strip().encode("ascii", "ignore").decode()}
        for each in scored(rows)
    ]


def only_assistants(rows):
    for row in rows:
        if row["messages"] is not None and row["messages"][-1]["role"] != "assistant":
            return function_error(errorType="IndexError", errorMessage="list index out of range")
    return scored(rows)


def only_plain_text(rows):
    if any(isinstance(row["messages"][-1]["content"], list) for row in rows if row["messages"]):
        return [result(row["id"], 0.0) for row in rows]
    return scored(rows)


def all_or_nothing(rows):
    if any(row["messages"] is None for row in rows):
        return function_error(errorType="TypeError", errorMessage="NoneType is not iterable")
    return scored(rows)


def no_number(rows):
    usable = [row for row in rows if row["messages"] is not None]
    rest = [row for row in rows if row["messages"] is None]
    wrong = {"aggregate_reward_score": float("nan")}
    return [*scored(usable), *(result(row["id"], 0.0) | wrong for row in rest)]


def small_batches(rows):
    if len(rows) > 10:
        message = "Response payload size exceeded maximum allowed payload size (6291556 bytes)."
        return function_error(errorType="Function.ResponseSizeTooLarge", errorMessage=message)
    return scored(rows)


def slow(rows):
    sleep(0.6 if len(rows) > 10 else 0)
    return scored(rows)


TIMED_OUT = function_error(
    errorType="Sandbox.Timedout",
    errorMessage="RequestId: r Error: Task timed out after 3.00 seconds",
)
THROTTLED = refusal(429, "TooManyRequestsException", "Rate Exceeded.")


@pytest.mark.parametrize(
    ("answers", "verdict", "question", "message"),
    [
        ([unlucky], "failure", "ids", "those rewards are lost"),
        ([moody], "failure", "determinism", "4 of 4 samples earn something else the second time"),
        ([by_place], "failure", "independence", "earn something else in another order"),
        ([without_unusual_ids], "failure", "unusual ids", "which nobody sent, or sent once"),
        ([only_assistants], "failure", "no answer", "the function fails: IndexError: list index"),
        ([only_assistants], "warning", "dialects", "the role nova_assistant: the function fails"),
        ([only_plain_text], "warning", "dialects", "earns 0 in the place of 1"),
        ([all_or_nothing], "warning", "malformed row", "fails the whole batch"),
        ([no_number], "failure", "malformed row", "beside one: 1 rewards are nan, which is"),
        ([small_batches], "failure", "load", "send smaller batches, or return fewer metrics"),
        ([slow], "warning", "latency", "more than half of its timeout of 1 s"),
        ([TIMED_OUT], "failure", "first batch", "; raise its timeout, or send smaller batches"),
        ([scored, TIMED_OUT], "failure", "determinism", "; raise its timeout"),
        ([scored, scored, THROTTLED], "failure", "reachable", "throttled (Rate Exceeded.)"),
        ([scored, all_or_nothing, TIMED_OUT], "failure", "independence", "raise its timeout"),
        ([lambda rows: [result(row["id"], 0.0) for row in rows]], "warning", "equal rewards",
         "all 4 samples earn 0: a group whose"),
        ([lambda rows: [result(row["id"], 0.0) for row in rows]], "unknown", "dialects",
         "where all samples earn the same"),
        ([{"score": 1}], "failure", "shape", "the response is an object"),
    ],
)  # fmt: skip
def test_what_a_trainer_relies_on_is_checked(served, answers, verdict, question, message):
    one_second = {"Timeout": 1, "MemorySize": 1769, "State": "Active"}
    patient = {} if slow not in answers else {"configuration": one_second}
    report = check(served(*answers, **patient), UNKNOWN, batch_size=16)
    found = failures(report, verdict)
    assert message in found.get(question, ""), report.findings
    assert question == "dialects" or question not in failures(report, "ok")
    assert report.passed == (not failures(report))


def loose_list(rows):
    """An envelope whose body is the list itself: SageMaker's client decodes a string there."""
    return {"statusCode": 200, "body": scored(rows)}


def wordy(rows):
    return {"statusCode": 200, "body": "scored: " + json.dumps(scored(rows))}


def sloppy(value):
    """A Lambda of many a tutorial: nobody thought of such a row, and it earns no number."""

    def answer(rows):
        found = scored(rows)
        for row, each in zip(rows, found, strict=True):
            if row["messages"] is None:
                each["aggregate_reward_score"] = value
        return found

    return answer


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (float("nan"), "1 rewards are nan, which is not JSON"),
        (float("inf"), "1 rewards are inf"),
        (float("-inf"), "1 rewards are -inf"),
        (None, "null, not numbers"),
        ("NaN", "a string, not numbers"),
        ("0.0", "a string, not numbers"),
        (True, "a boolean, not numbers"),
        ([0.0], "not numbers"),
        (10**400, "a number of too many digits"),
        ({}, "not numbers"),
    ],
)
def test_what_a_malformed_row_earns_is_a_finite_number(served, value, message):
    report = check(served(sloppy(value)), UNKNOWN, batch_size=4)
    assert list(failures(report)) == ["malformed row"]
    assert message in failures(report)["malformed row"]


@pytest.mark.parametrize(
    ("answer", "shape"),
    [
        (loose_list, "the envelope's body is a list, not a JSON string"),
        (lambda rows: loose_list(rows) | {"statusCode": 500}, "the envelope's statusCode is 500"),
        (lambda rows: {"body": json.dumps(scored(rows))}, "the envelope's statusCode is None"),
        (lambda rows: loose_list(rows) | {"body": 3}, "the envelope's body is a number"),
        (wordy, "the envelope's body is not JSON"),
        (lambda rows: {"results": scored(rows)}, "the response is an object"),
    ],
)
def test_a_first_response_of_the_wrong_shape_ends_no_check(served, answer, shape):
    function = served(answer)
    report = check(function, UNKNOWN, batch_size=4)
    assert [shape in message for message in failures(report).values()] == [True]  # told once
    assert len(function.asked) > 8
    asked = {found.question for found in report.findings}
    assert {"determinism", "independence", "unusual ids", "malformed row", "latency"} <= asked
    if "unknown" in {found.verdict for found in report.findings if found.question == "dialects"}:
        assert "determinism" not in failures(report, "ok"), "nothing was read, so nothing is ok"


def test_what_else_is_wrong_behind_a_wrong_shape_is_found(served):
    def both(rows):
        return {"statusCode": 200, "body": sloppy(float("nan"))(rows)}

    report = check(served(both), UNKNOWN, batch_size=4)
    assert set(failures(report)) == {"shape", "malformed row"}


def test_another_s_function_is_not_said_to_be_another_version(served):
    """Nobody here knows why it scores otherwise: it may never have been this reward."""
    theirs = "arn:aws:lambda:us-east-1:123456789012:function:SageMaker-theirs:1"
    report = check(served(scored, arn=theirs), expectation_of(get("gsm8k"), {}), batch_size=4)
    assert "here: it is not gsm8k as here" in failures(report)["scores"] or (
        "more examples" in failures(report)["scores"]
    )
    assert "another version" not in " ".join(found.message for found in report.findings)


ACTIVE = {"Timeout": 60, "MemorySize": 1769, "State": "Active"}


@pytest.mark.parametrize(
    ("states", "finding"),
    [
        ([{"State": "Pending"}, {}], None),
        ([{"LastUpdateStatus": "InProgress"}, {"LastUpdateStatus": "Successful"}], None),
        ([{"State": "Pending"}, {"State": "Failed"}], ("failure", "state", "Failed")),
        ([{"LastUpdateStatus": "Failed"}], ("warning", "update", "is Failed: it may answer")),
    ],
)
def test_a_function_that_was_just_updated_is_waited_for(served, monkeypatch, states, finding):
    monkeypatch.setattr(checking, "PAUSE", 0.0)
    seen = iter([ACTIVE | state for state in states])
    arn = "arn:aws:lambda:us-east-1:123456789012:function:SageMaker-x:1"
    report = check(served(scored, arn=arn, configuration=lambda: next(seen)), UNKNOWN, batch_size=4)
    told = {(each.verdict, each.question): each.message for each in report.findings}
    assert next(seen, None) is None
    assert report.passed == (finding is None or finding[0] == "warning")
    if finding:
        assert finding[2] in told[finding[:2]]


def test_a_function_that_stays_pending_is_reported(served, monkeypatch):
    monkeypatch.setattr(checking, "PATIENCE", 0.0)
    pending = ACTIVE | {"State": "Pending"}
    report = check(served(scored, configuration=pending), UNKNOWN, batch_size=4)
    assert failures(report)["state"] == "the function is Pending"


@pytest.mark.parametrize(
    ("arn", "changed", "finding"),
    [
        ("sagemaker-reward:live", {}, ("warning", "name", "no 'SageMaker' in it")),
        ("SageMaker-reward", {}, ("warning", "version", "names the version that is deployed last")),
        (
            "SageMaker-reward:$LATEST",
            {},
            ("warning", "version", "the version that is deployed last"),
        ),
        ("SageMaker-reward:live", {}, ("warning", "version", "'live' moves: a deployment in the")),
        ("SageMaker-x:1", {"Timeout": 3}, ("failure", "timeout", "3 seconds is no more than")),
        ("SageMaker-x:1", {"MemorySize": 128}, ("warning", "memory", "128 MB get a part")),
        ("SageMaker-x:1", {"State": "Failed"}, ("failure", "state", "the function is Failed")),
    ],
)
def test_a_name_and_settings_alone_tell_much(served, arn, changed, finding):
    verdict, question, message = finding
    full = f"arn:aws:lambda:us-east-1:123456789012:function:{arn}"
    settings = {"Timeout": 60, "MemorySize": 1769, "State": "Active"} | changed
    report = check(served(scored, arn=full, configuration=settings), UNKNOWN, batch_size=4)
    assert message in failures(report, verdict)[question]


@pytest.mark.parametrize(
    ("arn", "mode", "warned"),
    [
        ("SageMaker-reward:7", "envelope", True),
        ("SageMaker-reward", "envelope", True),
        ("SageMaker.reward", "envelope", True),
        ("SageMaker-reward-dev-gsm8k--0123abcd", "envelope", False),
        ("SageMaker-reward:7", "list", False),
        ("SageMaker.reward:live", "list", False),
    ],
)
def test_what_sagemakers_client_takes_matters_to_an_envelope_alone(served, arn, mode, warned):
    full = f"arn:aws:lambda:us-east-1:123456789012:function:{arn}"
    report = check(served(handler(response_mode=mode), arn=full), UNKNOWN, batch_size=4)
    assert ("takes no qualifier" in failures(report, "warning").get("ARN", "")) == warned


def test_a_version_that_answers_well_is_warned_of_nothing(served):
    full = "arn:aws:lambda:us-east-1:123456789012:function:SageMaker-reward:7"
    report = check(served(handler(), arn=full), expectation_of(get("gsm8k"), {}), batch_size=16)
    assert failures(report, "warning") == {}


def test_settings_nobody_may_read_are_unknown_and_no_failure(served):
    denied = refusal(403, "AccessDeniedException", "no")
    report = check(served(scored, configuration=denied), UNKNOWN, batch_size=4)
    assert report.passed
    assert "not allowed" in failures(report, "unknown")["configuration"]


def test_a_function_that_is_not_there_is_no_finding(served):
    missing = refusal(404, "ResourceNotFoundException", "Function not found")
    with pytest.raises(AwsFailed, match="no such function"):
        check(served(scored, configuration=missing), UNKNOWN)


def invoked(*seconds, cold=False, bodies=(b"x" * 7, b"x" * 10)):
    made = [SimpleNamespace(seconds=each, cold=cold, body=bodies[0]) for each in seconds]
    made[-1].body = bodies[1]
    return made


@pytest.mark.parametrize(
    ("first", "warm", "timeout", "verdict", "words"),
    [
        (0.5, [0.25, 1.0, 0.999], 2, "ok", "999 ms, 1.0 s at most; the first batch took 500 ms"),
        (0.5, [0.25, 1.0, 1.001], 2, "warning", "more than half of its timeout of 2 s"),
        (1.5, [0.25, 0.25, 0.25], 2, "warning", "250 ms at most; the first batch took 1.5 s"),
        (1.5, [0.25, 0.25, 0.25], None, "ok", "the first batch took 1.5 s"),
    ],
)
def test_a_batch_may_take_half_of_the_timeout(first, warm, timeout, verdict, words):
    (one,) = invoked(first)
    found, *sizes = checking.load_findings([{"a": 1}] * 2, one, invoked(*warm), timeout)
    assert (found.question, found.verdict, words in found.message) == ("latency", verdict, True)
    assert [each.message.partition(":")[0] for each in sizes] == [
        "10 bytes a sample",
        "5 bytes a sample",
    ]
    assert "with a cold start" not in found.message
    (cold,) = invoked(first, cold=True)
    found, *_ = checking.load_findings([{"a": 1}], cold, invoked(*warm), timeout)
    assert "with a cold start" in found.message


@pytest.mark.parametrize("more", [0, 1])
def test_the_largest_step_is_named_where_it_does_not_fit(more):
    size = checking.MAX_PAYLOAD_BYTES // checking.STEP + more
    (one,) = invoked(0.1)
    *_, found = checking.load_findings([{}], one, invoked(0.1, bodies=(b"", b"x" * size)), None)
    assert ("Bedrock's largest step has" in found.message) == bool(more)
