"""Requests as pydantic models: what the platform documents, and what sagemaker-train publishes."""

import pytest
from pydantic import ValidationError

from reward_functions.rollouts.compat.sagemaker_rft import (
    InferenceParams,
    RolloutMetadata,
    RolloutRequest,
)

EAST = "arn:aws:sagemaker:us-east-1:123456789012:job/AgentRFT/j"
DOCUMENTED = {
    "prompt": "What is 6*7?",
    "metadata": {"jobArn": EAST, "rolloutId": "r"},
    "inferenceParams": {"temperature": 1.0, "topP": 0.9, "maxTokens": 256},
}
PUBLISHED = {
    "instance": {"question": "What is 6*7?"},
    "metadata": {"job_arn": EAST, "trajectory_id": "r", "endpoint": "https://e", "region": "x"},
    "inference_params": {"temperature": 1.0, "top_p": 0.9, "max_tokens": 256},
    "model_name": "m",
    "model_endpoint": "https://m",
    "more": "is ignored",
}


def test_the_documented_request_is_read():
    request = RolloutRequest.model_validate(DOCUMENTED)
    assert request.instance == {"prompt": "What is 6*7?"}
    assert (request.metadata.job_arn, request.metadata.trajectory_id) == (EAST, "r")
    assert (request.metadata.endpoint, request.metadata.region) == ("", "us-east-1")
    assert request.inference_params == InferenceParams(temperature=1.0, top_p=0.9, max_tokens=256)


def test_the_published_request_is_read_and_dumped_as_theirs():
    request = RolloutRequest(**PUBLISHED)
    dumped = request.model_dump()
    assert dumped.pop("prompt") == ""
    assert dumped == {name: value for name, value in PUBLISHED.items() if name != "more"}


REGIONS = [
    ({"region": "eu-west-1"}, "us-east-2", "eu-west-1"),
    ({}, "us-east-2", "us-east-1"),
    ({"job_arn": "j"}, "us-east-2", "us-east-2"),
    ({"job_arn": "j"}, None, "us-west-2"),
]


@pytest.mark.parametrize(("more", "environment", "region"), REGIONS)
def test_a_region_that_is_missing_is_that_of_the_job(account, more, environment, region):
    if environment:
        account.setenv("AWS_REGION", environment)
    known = RolloutMetadata(**{"job_arn": EAST, "trajectory_id": "r"} | more)
    assert known.region == region


SPELLINGS = [
    ({"trajectory_id": "", "rolloutId": "r"}, "r"),
    ({"trajectoryId": "t", "rolloutId": "r"}, "t"),
    ({"trajectory_id": ""}, ""),
]


@pytest.mark.parametrize(("fields", "trajectory"), SPELLINGS)
def test_the_first_spelling_that_is_not_empty_counts(fields, trajectory):
    assert RolloutMetadata(jobArn="A", **fields).trajectory_id == trajectory


WRONG = [
    {},
    {"prompt": "p"},
    {"metadata": DOCUMENTED["metadata"]},
    {"instance": "no object", "metadata": DOCUMENTED["metadata"]},
    {"prompt": "p", "metadata": {"jobArn": EAST}},
    {"prompt": "p", "metadata": "m"},
    {"prompt": "p", "metadata": DOCUMENTED["metadata"], "inferenceParams": {"maxTokens": "many"}},
    [],
]


@pytest.mark.parametrize("given", WRONG, ids=repr)
def test_what_is_no_request_is_refused(given):
    with pytest.raises(ValidationError):
        RolloutRequest.model_validate(given)
