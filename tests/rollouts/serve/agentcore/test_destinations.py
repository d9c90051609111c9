"""Buckets that the process names, and keys; `test_rollouts` sends what is refused."""

import pytest

from reward_functions.core.errors import ConfigurationError
from reward_functions.rollouts.request.errors import UntrustedBucket
from reward_functions.rollouts.serve.agentcore.results import destination_of, trusted_buckets

ROLLOUT = {"exp_id": "e", "input_id": "i", "s3_bucket": "results"}


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ("", set()),
        ("results", {"results"}),
        (" results , more.results-2 ,", {"results", "more.results-2"}),
    ],
)
def test_the_environment_names_buckets(monkeypatch, given, found):
    monkeypatch.setenv("REWARD_ROLLOUTS_RESULT_BUCKETS", given)
    assert trusted_buckets() == found
    assert trusted_buckets("results") == trusted_buckets(["results"]) == {"results"}
    assert trusted_buckets([]) == set()


@pytest.mark.parametrize("name", ["*", "s3://results", "results/exp", "Results", "re", "x" * 64])
def test_what_is_no_bucket_is_refused_at_the_start(name):
    with pytest.raises(ConfigurationError, match="REWARD_ROLLOUTS_RESULT_BUCKETS"):
        trusted_buckets([name])


@pytest.mark.parametrize(
    ("more", "session", "key"),
    [
        ({}, "s-1", "e/i/s-1.json"),
        ({"input_id": 7}, "s", "e/7/s.json"),
        ({"exp_id": "run 2:α=½ (a)"}, "s", "run 2:α=½ (a)/i/s.json"),
        ({"exp_id": "..x", "input_id": "..."}, "s", "..x/.../s.json"),
    ],
)
def test_a_key_is_the_peers(more, session, key):
    found = destination_of({"_rollout": ROLLOUT | more}, session, frozenset({"results"}))
    assert found.key == key
    assert found.answer == {"status": "processing", "s3_bucket": "results", "result_key": key}


def test_a_message_quotes_no_bucket_of_the_request():
    with pytest.raises(UntrustedBucket) as refused:
        destination_of({"_rollout": ROLLOUT | {"s3_bucket": "somebody-elses"}}, "s", frozenset())
    assert "somebody" not in str(refused.value)
