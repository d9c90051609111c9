"""The vectors of sagemaker.train.rft, through both packages: one table, a column for each.

Source: rows executed against sagemaker-train 1.27.0. A row whose columns differ says why.
"""

import warnings
from typing import NamedTuple

import pytest

from tests.compat.conftest import ABSENT, METADATA, THEIRS, quietly

pytest.importorskip("sagemaker.train", reason=ABSENT)

JOB, ROLLOUT = METADATA["jobArn"], METADATA["rolloutId"]
JOB_HEADER, ROLLOUT_HEADER = "X-Amzn-SageMaker-Job-Arn", "X-Amzn-SageMaker-Trajectory-Id"
HOST = "https://job-runtime{}.sagemaker.{}.api.aws"

HEADERS = [
    ({"jobArn": "A", "rolloutId": "r"}, {JOB_HEADER: "A", ROLLOUT_HEADER: "r"}),
    ({"job_arn": "A", "trajectory_id": "r"}, {JOB_HEADER: "A", ROLLOUT_HEADER: "r"}),
    ({"trajectory_id": "", "rolloutId": "r"}, {ROLLOUT_HEADER: "r"}),
    ({"trajectoryId": "t", "rolloutId": "r"}, {ROLLOUT_HEADER: "t"}),
    ({}, {}),
]


@pytest.mark.parametrize(("metadata", "headers"), HEADERS)
def test_headers_of_metadata(either, metadata, headers):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert either.make_inference_headers(metadata) == headers


def test_headers_outside_a_rollout_are_none_with_a_warning(either):
    with pytest.warns(UserWarning, match=r"(?i)rollout"):
        assert either.get_inference_headers() == {}


ENDPOINTS = [
    ({}, {"AWS_REGION": "us-east-1"}, HOST.format("", "us-east-1")),
    ({}, {"AWS_REGION": ""}, HOST.format("", "us-west-2")),
    ({}, {"RFT_STAGE": "beta"}, HOST.format(".beta", "us-west-2")),
    ({}, {"RFT_STAGE": "prod"}, HOST.format("", "us-west-2")),
    ({"region": "eu-west-1"}, {}, HOST.format("", "eu-west-1")),
    ({"endpoint": HOST.format("", "us-west-2") + "/"}, {}, HOST.format("", "us-west-2")),
    ({}, {"RFT_RUNTIME_ENDPOINT": "http://127.0.0.1:9/"}, "http://127.0.0.1:9"),
]


@pytest.mark.parametrize(("more", "environment", "endpoint"), ENDPOINTS)
def test_endpoints(either, monkeypatch, more, environment, endpoint):
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert either.client(METADATA | more)._endpoint == endpoint


@pytest.mark.parametrize("given", [[], "x", 3], ids=["list", "str", "int"])
def test_metadata_of_another_type_are_a_type_error_that_names_it(either, given):
    with pytest.raises(TypeError, match=type(given).__name__):
        either.client(given)


COMPLETE = ("/complete-rollout", {"Status": "ready"})
FAILED = [("/complete-rollout", {"Status": "failed"}), ("/update-reward", {"Rewards": [0.0]})]


def rewarded(*rewards):
    return [COMPLETE, ("/update-reward", {"Rewards": list(rewards)})]


class Returned(NamedTuple):
    """What an agent returns, and what is posted then.

    Args:
        result: of the agent.
        theirs: posts of sagemaker.train.rft.
        ours: None for the same.
        reason: why ours differ.
    """

    result: object
    theirs: list
    ours: list | None = None
    reason: str = ""


LOST = "theirs leaves the rollout open, and its job waits for it until the window closes"
RESULTS = [
    Returned({"reward": 0.5}, rewarded(0.5)),
    Returned({"reward": 1}, rewarded(1)),
    Returned({"reward": [0, 1]}, rewarded(0, 1)),
    Returned({}, [COMPLETE]),
    Returned({"foo": 1}, [COMPLETE]),
    Returned({"status": "error", "error": "x", "reward": 1}, FAILED),
    Returned({"status": "skipped"}, []),
    Returned(3.0, [], rewarded(3.0), LOST),
    Returned(None, [], [COMPLETE], LOST),
    Returned("x", [], [COMPLETE], LOST),
]


def without_ids(posts):
    """The posts, less what each of them carries."""
    shared = {"JobArn": JOB, "TrajectoryId": ROLLOUT}
    assert all(shared.items() <= post.body.items() for post in posts)
    return [
        (
            post.path,
            {key: value for key, value in post.body.items() if key not in {*shared, "ClientToken"}},
        )
        for post in posts
    ]


@pytest.mark.parametrize("row", RESULTS, ids=lambda row: repr(row.result))
def test_results(either, service, row):
    result = either.handler(lambda payload: row.result)({"prompt": "p", "metadata": METADATA})
    assert result == row.result
    wanted = row.theirs if either.name == THEIRS or row.ours is None else row.ours
    assert without_ids(service.posts) == wanted
    assert (row.ours is None) == (not row.reason)


@pytest.mark.parametrize("row", RESULTS[:3], ids=lambda row: repr(row.result))
def test_results_of_a_coroutine(either, service, row):
    import asyncio

    async def agent(payload):
        return row.result

    assert asyncio.run(either.handler(agent)({"prompt": "p", "metadata": METADATA})) == row.result
    assert without_ids(service.posts) == row.theirs


def test_an_exception_fails_the_rollout_and_is_raised_again(either, service):
    @either.handler
    def agent(payload):
        raise ValueError("no such page")

    with pytest.raises(ValueError, match="no such page"):
        agent({"prompt": "p", "metadata": METADATA})
    assert without_ids(service.posts) == FAILED


def test_a_payload_without_metadata_runs_and_posts_nothing(either, service):
    agent = either.handler(lambda payload: {"reward": 1.0})
    assert quietly(agent, {"prompt": "p"}) == {"reward": 1.0}
    assert service.posts == []
