"""The vectors of the feedback client, as the published sagemaker-train 1.27.0 answered them.

What the handler returns and raises is in its own tests. Each row is a row of the table of vectors.
"""

import json

import pytest

from reward_functions.rollouts.report.feedback import RolloutFeedbackClient
from reward_functions.rollouts.request.contract import RolloutMetadata
from reward_functions.rollouts.request.headers import get_inference_headers, make_inference_headers
from tests.scripted_runtime import ReporterInMemory

JOB, TRAJECTORY = "X-Amzn-SageMaker-Job-Arn", "X-Amzn-SageMaker-Trajectory-Id"
RUNTIME = "https://job-runtime.sagemaker.{}.api.aws"
IDS = {"JobArn": "A", "TrajectoryId": "r"}


def complete(status):
    return "/complete-rollout", IDS | {"Status": status}


def rewarded(*rewards):
    return "/update-reward", IDS | {"Rewards": list(rewards)}


@pytest.fixture
def posts(monkeypatch, credentials):
    """The bodies that leave by the seam, replaced on the class as the tests of others do."""
    seen = []

    def post(self, path, body_str):
        seen.append((path, json.loads(body_str)))

    monkeypatch.setattr(RolloutFeedbackClient, "_bearer_post", post)
    return seen


def client(metadata, **more):
    return RolloutFeedbackClient(metadata, reporter=ReporterInMemory(), **more)


@pytest.mark.parametrize(
    ("metadata", "headers"),
    [
        ({"jobArn": "A", "rolloutId": "r"}, {JOB: "A", TRAJECTORY: "r"}),
        ({"trajectory_id": "", "rolloutId": "r"}, {TRAJECTORY: "r"}),
        ({}, {}),
    ],
)
def test_headers_of_metadata(metadata, headers):
    assert make_inference_headers(metadata) == headers


def test_headers_without_a_context_are_none_with_a_warning():
    with pytest.warns(UserWarning, match="no headers"):
        assert get_inference_headers() == {}


ENDPOINTS = [
    # the environment, the metadata, the endpoint
    ({"AWS_REGION": "us-east-1"}, {}, RUNTIME.format("us-east-1")),
    ({}, {}, RUNTIME.format("us-west-2")),
    ({"RFT_STAGE": "beta"}, {}, "https://job-runtime.beta.sagemaker.us-west-2.api.aws"),
    ({"RFT_STAGE": "prod"}, {}, RUNTIME.format("us-west-2")),
    ({}, {"region": "eu-west-1"}, RUNTIME.format("eu-west-1")),
    ({"AWS_REGION": "us-east-1"}, {"region": "eu-west-1"}, RUNTIME.format("eu-west-1")),
    ({}, {"endpoint": RUNTIME.format("us-east-1") + "/"}, RUNTIME.format("us-east-1")),
    ({"RFT_RUNTIME_ENDPOINT": "http://localhost:8080/"}, {}, "http://localhost:8080"),
]


@pytest.mark.parametrize(("environment", "metadata", "endpoint"), ENDPOINTS)
def test_the_endpoint_of_a_client(credentials, environment, metadata, endpoint):
    for name, value in environment.items():
        credentials.setenv(name, value)
    made = client({"jobArn": "A", "rolloutId": "r"} | metadata)
    assert made._endpoint == endpoint


@pytest.mark.parametrize(
    ("metadata", "name"),
    [
        ([], "list"),
        (None, "NoneType"),
        ("r", "str"),
        (5, "int"),
        (dict, "type"),
        (print, "builtin"),
    ],
)
def test_metadata_of_another_type_are_a_type_error_that_names_it(credentials, metadata, name):
    with pytest.raises(TypeError, match=name):
        client(metadata)


class Model:
    """An object with a pydantic model's way to its fields."""

    def model_dump(self):
        return {"job_arn": "A", "trajectory_id": "r", "endpoint": "", "region": "us-west-2"}


@pytest.mark.parametrize(
    "metadata",
    [
        {"job_arn": "A", "trajectory_id": "r"},
        {"jobArn": "A", "rolloutId": "r"},
        {"job_arn": "A", "jobArn": "B", "trajectory_id": "r", "rolloutId": "s"},
        {"job_arn": "", "jobArn": "A", "trajectory_id": "", "trajectoryId": "r"},
        RolloutMetadata(job_arn="A", trajectory_id="r"),
        Model(),
    ],
)
def test_the_attributes_that_other_code_reads(credentials, metadata):
    made = client(metadata)
    assert (made._job_arn, made._trajectory_id, made._region) == ("A", "r", "us-west-2")
    assert made._metadata is metadata


REPORTS = [
    # what is called, and what is posted
    (lambda c: c.report_complete(0.5), [complete("ready"), rewarded(0.5)]),
    (lambda c: c.report_complete([0, 1]), [complete("ready"), rewarded(0, 1)]),
    (lambda c: c.complete_rollout(), [complete("ready")]),
    (lambda c: c.complete_rollout("failed"), [complete("failed")]),
    (lambda c: c.update_reward(1), [rewarded(1)]),
    (lambda c: c.update_reward((0.25, 0.75)), [rewarded(0.25, 0.75)]),
    (lambda c: c.report_error("x"), [complete("failed"), rewarded(0)]),
    (lambda c: c.report_error("x", 0.25), [complete("failed"), rewarded(0.25)]),
    (lambda c: c.report_error(ValueError("x"), reward=None), [complete("failed"), rewarded(0)]),
]


@pytest.mark.parametrize(("call", "expected"), REPORTS)
def test_a_report_is_posted_as_published(posts, call, expected):
    call(client({"jobArn": "A", "rolloutId": "r"}))
    assert posts == expected


@pytest.mark.parametrize("metadata", [{}, {"jobArn": "A"}, {"rolloutId": "r"}])
def test_without_ids_there_is_no_post_and_a_warning_for_each_part(posts, caplog, metadata):
    outcomes = client(metadata).report_complete(1.0)
    assert not posts
    assert [type(each).__name__ for each in outcomes] == ["Skipped", "Skipped"]
    assert [record.levelname for record in caplog.records] == ["WARNING", "WARNING"]
