"""Calls of AWS: one sentence for each failure, pages to their end, and one loop that waits."""

from __future__ import annotations

from threading import Event

import pytest
from botocore.exceptions import (
    ClientError,
    EndpointConnectionError,
    NoCredentialsError,
    ParamValidationError,
    ReadTimeoutError,
    SSOTokenLoadError,
)
from botocore.parsers import ResponseParserError

from reward_functions.aws.calls import FOREIGN, answer, pages, present, wait
from reward_functions.aws.failures import OF_FUNCTIONS, AwsFailed, in_words
from reward_functions.aws.request_validation import RefusedRequest, check_request


def refusal(code, message="because"):
    return ClientError({"Error": {"Code": code, "Message": message}}, "Operation")


def raises(error):
    def call(**_):
        raise error

    return call


SENTENCES = [
    (refusal("AccessDenied"), "denied", "not allowed: because"),
    (refusal("AccessDeniedException", ""), "denied", "not allowed: AccessDeniedException"),
    (refusal("ResourceNotFoundException"), "missing", "not found: because"),
    (refusal("ParameterNotFound"), "missing", "because (ParameterNotFound)"),
    (refusal("ThrottlingException"), "throttled", "throttled (because); nothing is lost"),
    (
        refusal("TooManyRequestsException"),
        "throttled",
        "AWS takes no more of these calls for now (because)",
    ),
    (refusal("ExpiredToken"), "expired", "the AWS credentials have expired"),
    (
        refusal("InvalidClientTokenId"),
        "credentials",
        "AWS does not know these credentials (InvalidClientTokenId)",
    ),
    (refusal("ValidationException"), "invalid", "refused: because"),
    (refusal("ConflictException"), "conflict", "in conflict with what is there: because"),
    (refusal("ServiceQuotaExceededException"), "limit", "a quota of the account is used up"),
    (refusal("InternalServerException"), "service", "the service failed (because)"),
    (refusal("Strange"), "other", "because (Strange)"),
    (refusal("Strange", ""), "other", "Strange"),
    (NoCredentialsError(), "credentials", "no AWS credentials"),
    (SSOTokenLoadError(error_msg="x"), "expired", "the AWS login has expired"),
    (
        EndpointConnectionError(endpoint_url="https://x.example"),
        "network",
        "nobody answers: Could not connect",
    ),
    (
        ReadTimeoutError(endpoint_url="https://x.example"),
        "network",
        "no answer within the function's longest time",
    ),
    (
        ParamValidationError(report="Missing\n  name"),
        "invalid",
        "not a request that the service takes: Missing name",
    ),
    (ResponseParserError("x"), "other", FOREIGN),
    (KeyError("x"), "other", FOREIGN),
]


@pytest.mark.parametrize(("error", "kind", "words"), SENTENCES)
def test_a_failure_is_classified_once_and_said_in_a_sentence(error, kind, words):
    with pytest.raises(AwsFailed) as raised:
        answer("starting x", raises(error))
    assert raised.value.kind == kind
    assert str(raised.value).startswith(f"starting x: {words}")


ABSENT = [
    refusal("ResourceNotFoundException"),
    refusal("ParameterNotFound", "x is there"),
    refusal("ValidationException", "Requested resource not found."),
    refusal("ValidationException", "The job x does not exist"),
    refusal("ValidationException", "Could not find training job x"),
]
UNKNOWN = [
    refusal("ValidationException", "x is no name"),
    refusal("ValidationException", "not-found is no name of a job"),
    refusal("AccessDeniedException", "the role could not find its policy: not found"),
    refusal("InternalServerException", "the shard does not exist"),
    refusal("ThrottlingException"),
    EndpointConnectionError(endpoint_url="https://x.example/not found"),
]


@pytest.mark.parametrize("error", ABSENT, ids=str)
@pytest.mark.parametrize("name", ["x", "e", "not", "found"])
def test_what_is_not_there_is_nothing_however_it_is_called(error, name):
    assert present(f"reading {name}", raises(error), Name=name) is None


@pytest.mark.parametrize("error", UNKNOWN, ids=str)
def test_what_may_be_there_and_cannot_be_read_is_a_failure(error):
    with pytest.raises(AwsFailed, match="reading what is not found"):
        present("reading what is not found", raises(error), Name="not-found")


def test_what_is_there_is_answered():
    assert present("reading x", lambda **asked: asked, Name="x") == {"Name": "x"}


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("RequestTimeTooSkewed", "The difference between the request time and ours is too large."),
        ("InvalidSignatureException", "Signature expired: 20261128T1 is now earlier than 2026"),
        ("SignatureDoesNotMatch", "Signature not yet current: 20261128T1 is still later than 2026"),
    ],
)
def test_a_clock_that_is_wrong_is_no_key_that_is_unknown(code, message):
    with pytest.raises(AwsFailed, match="this machine's clock differs from AWS's") as raised:
        answer("asking", raises(refusal(code, message)))
    assert raised.value.kind == "clock"
    assert message in str(raised.value)


def test_a_message_of_aws_is_no_template():
    with pytest.raises(AwsFailed, match=r"asking: a \{brace\} \(Strange\)"):
        answer("asking", raises(refusal("Strange", "a {brace}")))
    with (
        pytest.raises(AwsFailed, match="there is no such function"),
        in_words("invoking", OF_FUNCTIONS),
    ):
        raise refusal("ResourceNotFoundException", "{x}")


def test_pages_are_read_to_the_last():
    answers = {None: {"Items": [1, 2], "next": "b"}, "b": {"Items": [], "next": "c"}}
    answers["c"] = {"Items": [3]}

    def call(**arguments):
        assert arguments.pop("Of") == "x"
        return answers[arguments.get("next")]

    assert [*pages("listing", call, "Items", marker="next", Of="x")] == [1, 2, 3]


def test_an_answer_without_its_list_is_something_elses():
    with pytest.raises(AwsFailed, match="is something else at its address"):
        list(pages("listing", lambda **_: {"ResponseMetadata": {}}, "Items"))


class Clock:
    """A time that passes in pauses alone."""

    def __init__(self):
        self.now, self.pauses = 0.0, []

    def sleep(self, seconds):
        self.now += seconds
        self.pauses.append(seconds)

    def __call__(self):
        return self.now


def waited(looks, **options):
    clock, seen, found = Clock(), [], iter(looks)
    last = wait(
        lambda: next(found),
        lambda look: look == "done",
        progress=seen.append,
        sleep=clock.sleep,
        clock=clock,
        **options,
    )
    return last, seen, clock.pauses


def test_a_wait_ends_when_it_is_done_or_the_time_is_over():
    assert waited(["done"]) == ("done", ["done"], [])
    assert waited(["a", "b", "done"]) == ("done", ["a", "b", "done"], [2.0, 2.0])
    assert waited("abcd", seconds=5) == ("d", [*"abcd"], [2.0, 2.0, 1.0])
    assert waited("abcdef", seconds=9, pause=1, longest=3)[2] == [1, 2, 3, 3]


def test_a_shutdown_ends_a_wait():
    ending = Event()
    ending.set()
    assert wait(lambda: "a", lambda _: False, sleep=ending.wait) == "a"


def test_a_request_is_held_to_its_services_model():
    check_request("sagemaker", "DescribeTrainingJob", {"TrainingJobName": "x"})
    with pytest.raises(
        RefusedRequest, match="the service would refuse DescribeTrainingJob: Value at"
    ):
        check_request("sagemaker", "DescribeTrainingJob", {"TrainingJobName": "x" * 80})
