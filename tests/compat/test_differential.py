"""One rollout through both packages, request by request: ours adds, and changes nothing."""

import asyncio

import pytest

from tests.compat.conftest import ABSENT, METADATA, strands_agent
from tests.policy_service import IDENTITY

pytest.importorskip("sagemaker.train", reason=ABSENT)

PAYLOAD = {
    "prompt": "What is 6*7?",
    "metadata": METADATA,
    "inferenceParams": {"temperature": 0.7, "topP": 0.9, "maxTokens": 64},
}

ADDED = {"ClientToken"}
"""Members of a report's body that theirs does not send: the modelled API's idempotency token."""

ADDED_HEADERS = {"x-span-id"}
"""Headers of a policy call that theirs does not send: which call it is, as aws-rft-sdk had it."""

SHARED = ("content-type", "host")


def recorded(package, service):
    """The result, and the paths, policy calls and reports of a rollout."""
    service.empty()
    result = asyncio.run(strands_agent(package, service.address)(PAYLOAD))
    return result, service.asked, service.calls, service.posts


@pytest.fixture
def recordings(both, service):
    theirs, ours = both
    return recorded(theirs, service), recorded(ours, service)


def test_the_result_and_the_order_of_requests_are_the_same(recordings):
    (their_result, their_order, *_), (our_result, our_order, *_) = recordings
    assert our_result == their_result == {"reward": 1.0}
    assert our_order == their_order
    assert len(our_order) == 4, "two turns, a completion and a reward"


def test_policy_calls_are_the_same(recordings):
    (_, _, theirs, _), (_, _, ours, _) = recordings
    assert [call.body for call in ours] == [call.body for call in theirs]
    for name in (*IDENTITY, *SHARED, "authorization"):
        assert [call.headers[name] for call in ours] == [call.headers[name] for call in theirs]
    assert {name for call in ours for name in call.headers} - ADDED_HEADERS == {
        name for call in theirs for name in call.headers
    }
    assert all(call.headers.keys() >= ADDED_HEADERS for call in ours)


def test_reports_have_their_members_and_the_token_of_the_model(recordings):
    (*_, theirs), (*_, ours) = recordings
    assert [(post.path, without(post.body, ADDED)) for post in ours] == [
        (post.path, post.body) for post in theirs
    ]
    assert all(post.body.keys() >= ADDED for post in ours)


def test_reports_have_their_headers(recordings):
    (*_, theirs), (*_, ours) = recordings
    for their, our in zip(theirs, ours, strict=True):
        assert [our.headers[name] for name in SHARED] == [their.headers[name] for name in SHARED]
        for post in (their, our):
            assert post.headers["authorization"].startswith("Bearer sagemaker-api-key-")


def without(body, names):
    return {name: value for name, value in body.items() if name not in names}
