"""What tests of the handler share: a process's reporter, and what leaves by the client's seam."""

import json
from collections import defaultdict
from itertools import count
from threading import Condition

import pytest

from reward_functions.rollouts.report.feedback import RolloutFeedbackClient
from reward_functions.rollouts.report.outbox.sqlite import MemoryOutbox
from reward_functions.rollouts.report.reporter import Reporter
from reward_functions.rollouts.report.settings import RolloutSettings
from reward_functions.rollouts.report.transports import open_transport

JOB = "arn:aws:sagemaker:us-west-2:123456789012:job/AgentRFT/agent"
LIMIT = 60.0
"""Seconds that a test waits for what is to happen: the machine may be busy."""

NUMBERS = count()


class Posts:
    """What a process sent, by rollout: (path, what it says).

    Args:
        replies: by path, what the service answers in place of 200.
    """

    def __init__(self):
        self.replies = {}
        self._sent = defaultdict(list)
        self._changed = Condition()

    def add(self, path, body):
        fields = json.loads(body)
        assert fields.pop("JobArn") == JOB
        with self._changed:
            self._sent[fields.pop("TrajectoryId")].append((path, fields))
            self._changed.notify_all()
        return self.replies.get(path)

    def of(self, payload, number=0):
        """The reports of a payload's rollout, once there are so many."""
        with self._changed:
            sent = self._sent[payload["metadata"]["rolloutId"]]
            assert self._changed.wait_for(lambda: len(sent) >= number, LIMIT)
            return list(sent)

    def everything(self):
        with self._changed:
            return {trajectory: list(sent) for trajectory, sent in self._sent.items() if sent}


@pytest.fixture
def account(monkeypatch, tmp_path):
    """Credentials that are nobody's, and nothing of the machine's."""
    for name in ("AWS_REGION", "AWS_PROFILE", "RFT_RUNTIME_ENDPOINT", "RFT_STAGE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIAEXAMPLE")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret/EXAMPLE")
    for name in ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"):
        monkeypatch.setenv(name, str(tmp_path / name))
    return monkeypatch


@pytest.fixture
def posts(account):
    """What leaves, by the seam that agentcore-rl-toolkit's own test replaces on the class."""
    posts = Posts()
    account.setattr(RolloutFeedbackClient, "_bearer_post", lambda _, *post: posts.add(*post))
    return posts


@pytest.fixture
def process(posts):
    """A process's reporter."""
    made = Reporter(RolloutSettings(transport="bearer"), MemoryOutbox(), transports=open_transport)
    yield made
    made.close(patience=0)


@pytest.fixture
def new():
    """Payloads, each of a rollout of its own."""

    def payload(**more):
        metadata = {"jobArn": JOB, "rolloutId": f"r{next(NUMBERS)}"}
        parameters = {"temperature": 0.5, "maxTokens": 64}
        return {"prompt": "2 + 2?", "metadata": metadata, "inferenceParams": parameters} | more

    return payload
