"""Conditions that are resolved before the emulator's simulator is asked."""

import pytest

from reward_functions.aws.iam_matching import resolved

PASSED = {"iam:PassedToService": "bedrock.amazonaws.com"}
JOB = "arn:aws:bedrock:us-east-1:000000000000:model-customization-job/m/abc"
SOURCE = {"aws:SourceAccount": "000000000000", "aws:SourceArn": JOB}
JOBS = "arn:aws:bedrock:us-east-1:000000000000:model-customization-job/*"

GONE = "the statement goes"
TABLE = [
    # what is known, the condition, and what is left of it
    (PASSED, {"StringEquals": PASSED}, {}),
    (PASSED, {"StringEquals": {"iam:passedtoservice": "bedrock.amazonaws.com"}}, {}),
    (PASSED, {"StringEquals": {"iam:PassedToService": "lambda.amazonaws.com"}}, GONE),
    (PASSED, {"StringEquals": {"iam:PassedToService": ["x", "bedrock.amazonaws.com"]}}, {}),
    (PASSED, {"StringLike": {"iam:PassedToService": "*.amazonaws.com"}}, {}),
    (PASSED, {"StringLike": {"iam:PassedToService": "bedrock?amazonaws.co"}}, GONE),
    (PASSED, {"StringNotEquals": {"iam:PassedToService": "lambda.amazonaws.com"}}, {}),
    (PASSED, {"StringNotEquals": {"iam:PassedToService": ["x", "bedrock.amazonaws.com"]}}, GONE),
    (PASSED, {"StringEqualsIfExists": PASSED}, {}),
    (PASSED, {"StringEqualsIgnoreCase": {"iam:PassedToService": "Bedrock.AmazonAWS.com"}}, {}),
    (SOURCE, {"ArnLike": {"aws:SourceArn": JOBS}}, {}),
    (SOURCE, {"ArnEquals": {"aws:SourceArn": JOBS.replace("us-east-1", "eu-west-1")}}, GONE),
    (SOURCE, {"StringEquals": {"aws:SourceAccount": "111111111111"}}, GONE),
    (SOURCE, {"StringEquals": {"aws:SourceAccount": 0}}, GONE),
    # What is not known is the simulator's.
    ({}, {"StringEquals": PASSED}, {"StringEquals": PASSED}),
    (PASSED, {"Bool": {"aws:SecureTransport": "true"}}, {"Bool": {"aws:SecureTransport": "true"}}),
    (
        PASSED,
        {"Null": {"iam:PassedToService": "false"}},
        {"Null": {"iam:PassedToService": "false"}},
    ),
    (
        SOURCE,
        {"StringEquals": {"aws:SourceAccount": "000000000000", "aws:userid": "x"}},
        {"StringEquals": {"aws:userid": "x"}},
    ),
    # One that does not hold is enough, whatever else is unknown.
    (SOURCE, {"StringEquals": {"aws:userid": "x", "aws:SourceAccount": "1"}}, GONE),
]


@pytest.mark.parametrize("effect", ["Allow", "Deny"])
@pytest.mark.parametrize(("known", "condition", "left"), TABLE)
def test_a_condition_that_is_known_is_resolved(effect, known, condition, left):
    statement = {"Effect": effect, "Action": "*", "Resource": "*"}
    found = resolved({"Statement": statement | {"Condition": condition}}, known)["Statement"]
    rest = {"Condition": left} if left else {}
    assert found == ([] if left == GONE else [statement | rest])


def test_a_pattern_of_many_stars_takes_no_time():
    many = {"StringLike": {"iam:PassedToService": "*" * 5000 + "x"}}
    statement = {"Effect": "Allow", "Condition": many}
    assert (
        resolved({"Statement": [statement]}, {"iam:PassedToService": "a" * 5000})["Statement"] == []
    )
