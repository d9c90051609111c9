"""The published vectors of `sagemaker_rft_handler`, as sagemaker-train 1.27.0 answered them.

A row that says "deviates" has its reason in the table of `results`: there, sagemaker.train.rft
reports nothing, and the rollout waits for ever.
"""

import logging

import pytest

from reward_functions.rollouts.episode import handler
from reward_functions.rollouts.episode.handler import rollout_handler


def complete(status):
    return "/complete-rollout", {"Status": status}


def rewarded(*rewards):
    return "/update-reward", {"Rewards": list(rewards)}


READY = complete("ready")
FAILED = [complete("failed"), rewarded(0.0)]

RETURNED = [
    ({"reward": 0.5}, [READY, rewarded(0.5)]),
    ({"reward": [0, 1]}, [READY, rewarded(0, 1)]),
    ({}, [READY]),
    ({"foo": 1}, [READY]),
    ({"status": "error", "error": "x", "reward": 1}, FAILED),
    ({"status": "skipped"}, []),
    (3.0, [READY, rewarded(3.0)]),  # deviates
    (None, [READY]),  # deviates
    ("x", [READY]),  # deviates
]


@pytest.mark.parametrize(("result", "sent"), RETURNED)
@pytest.mark.parametrize("name", ["rollout_handler", "sagemaker_rft_handler", "rft_handler"])
def test_what_an_agent_returns_is_reported_and_returned(posts, process, new, result, sent, name):
    agent = getattr(handler, name)(reporter=process)(lambda payload: result)
    payload = new()
    assert agent(payload) is result
    assert posts.of(payload) == sent


def test_what_an_agent_raises_is_reported_as_failed_and_raised(posts, process, new):
    @rollout_handler(reporter=process)
    def agent(payload):
        raise ValueError(
            "not in valid status"
        )  # a text of sagemaker.train.rft's: it decides nothing

    payload = new()
    with pytest.raises(ValueError, match="not in valid status"):
        agent(payload)
    assert posts.of(payload) == FAILED


@pytest.mark.parametrize(
    "metadata", [{}, None, {"jobArn": "A"}, {"rolloutId": "r"}, {"trajectory_id": ""}]
)
def test_a_payload_without_ids_runs_its_agent_and_reports_nothing(posts, process, caplog, metadata):
    agent = rollout_handler(lambda payload: payload["prompt"].upper(), reporter=process)
    with caplog.at_level(logging.WARNING):
        assert agent({"prompt": "hello", "metadata": metadata}) == "HELLO"
    assert "nothing is reported" in caplog.text
    assert posts.everything() == {}
    assert agent({"prompt": "without any"}) == "WITHOUT ANY"
