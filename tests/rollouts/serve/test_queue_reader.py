"""An agent behind a queue: what a forwarder has put there, on the emulator's SQS."""

import json
import logging
import threading
import time
from contextlib import contextmanager
from itertools import count

import pytest
from botocore.stub import Stubber

from reward_functions.core.errors import ConfigurationError
from reward_functions.rollouts import rollout_handler
from reward_functions.rollouts.episode.background import Background
from reward_functions.rollouts.serve.app import CannotRead, QueueReader, RolloutApp
from reward_functions.rollouts.serve.forwarder import Forwarder, ForwarderSettings
from tests.rollouts.reporters import reporter_of
from tests.waiting import until

NUMBERS = count()
ARN = "arn:aws:sagemaker:us-east-1:111122223333:job/AgentRFT/a-job"
HIDDEN = 60
"""Seconds that a message is hidden once it was taken: longer than any of these tests."""


def event(name="r-1", **more):
    return {"prompt": "6 × 7?", "metadata": {"jobArn": ARN, "rolloutId": name}, **more}


@pytest.fixture
def sqs(root_session, local_aws, monkeypatch):
    for name, value in local_aws.environment.items():
        monkeypatch.setenv(name, value)
    return root_session.client("sqs")


class Queue:
    """A queue of its own, as a forwarder and a test see it."""

    def __init__(self, sqs):
        self.sqs = sqs
        given = {"VisibilityTimeout": str(HIDDEN)}
        name = f"requests-{next(NUMBERS)}"
        self.url = sqs.create_queue(QueueName=name, Attributes=given)["QueueUrl"]

    def forward(self, *events):
        forwarder = Forwarder(ForwarderSettings(queue=self.url))
        assert [forwarder.answer(each) for each in events] == [{}] * len(events)

    def put(self, body):
        self.sqs.send_message(QueueUrl=self.url, MessageBody=body)

    @property
    def messages(self):
        """How many wait, and how many are hidden."""
        names = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"]
        found = self.sqs.get_queue_attributes(QueueUrl=self.url, AttributeNames=names)
        return tuple(int(found["Attributes"][name]) for name in names)


@pytest.fixture
def queue(sqs):
    return Queue(sqs)


class Agent:
    """A rollout handler whose episodes last until they may end."""

    def __init__(self):
        self.go, self.seen = threading.Event(), []
        self.reporter = reporter_of(clock=time.time)

        @rollout_handler(reporter=self.reporter)
        def handler(payload, ctx):
            self.seen.append(payload["metadata"]["rolloutId"])
            assert self.go.wait(60)
            return 1.0

        self.handler = handler

    def app(self, workers=64):
        return RolloutApp(self.handler, background=Background(workers), api_key="")


@pytest.fixture
def agent():
    agent = Agent()
    yield agent
    agent.go.set()
    agent.reporter.close()


@contextmanager
def reading(app, queue, **given):
    """A reader at work; returns once it has ended."""
    ended, reader = threading.Event(), QueueReader(app, queue.url, client=queue.sqs, **given)
    thread = threading.Thread(target=reader.read, args=(ended,))
    thread.start()
    try:
        yield reader
    finally:
        ended.set()
        thread.join(60)
        assert not thread.is_alive()


@pytest.fixture(autouse=True)
def _short(monkeypatch):
    monkeypatch.setattr("reward_functions.rollouts.serve.app.WAIT_SECONDS", 0)


def test_a_request_is_deleted_once_its_episode_is_durable_and_before_it_ends(queue, agent):
    queue.forward(event())
    with reading(agent.app(), queue):
        until(lambda: queue.messages == (0, 0))
        until(lambda: agent.seen == ["r-1"])


def test_a_rollout_that_comes_twice_runs_once(queue, agent):
    queue.forward(event(), event(), event("r-2"))
    agent.go.set()
    with reading(agent.app(), queue):
        until(lambda: queue.messages == (0, 0))
        until(lambda: sorted(agent.seen) == ["r-1", "r-2"])


def test_an_agent_that_is_full_leaves_the_rest_to_others(queue, agent):
    queue.forward(*(event(f"r-{number}") for number in range(3)))
    with reading(agent.app(workers=1), queue):
        until(lambda: queue.messages == (2, 0))
        agent.go.set()
        until(lambda: len(agent.seen) == 3)
        until(lambda: queue.messages == (0, 0))


BAD = {
    "no JSON": "{",
    "a list": "[]",
    "no ids": json.dumps({"prompt": "a secret prompt"}),
    "half the ids": json.dumps({"prompt": "a secret prompt", "metadata": {"jobArn": ARN}}),
    "an endpoint of somebody": json.dumps(
        event() | {"metadata": event()["metadata"] | {"endpoint": "https://evil.example"}}
    ),
}


@pytest.mark.parametrize("body", BAD.values(), ids=BAD)
def test_what_is_no_request_stays_for_the_dead_letters(queue, agent, caplog, body):
    queue.put(body)
    with caplog.at_level(logging.WARNING), reading(agent.app(), queue):
        until(lambda: "is left to the queue" in caplog.text)
    assert queue.messages == (0, 1)
    assert "a secret prompt" not in caplog.text
    assert agent.seen == []


def test_what_comes_while_it_ends_goes_back_at_once(queue, agent):
    queue.forward(event())
    reader, ended = QueueReader(agent.app(), queue.url, client=queue.sqs), threading.Event()
    received = queue.sqs.receive_message

    def late(**given):
        found = received(**given)
        ended.set()
        return found

    queue.sqs.receive_message = late
    reader.read(ended)
    assert queue.messages == (1, 0)
    assert agent.seen == []


def test_the_window_of_a_rollout_runs_since_its_message_was_sent(queue, agent):
    """It waited in the queue for an hour, and its trainer for ten minutes."""
    queue.forward(event())
    received = queue.sqs.receive_message

    def aged(**given):
        found = received(**given)
        for each in found.get("Messages", ()):
            sent = int(each["Attributes"]["SentTimestamp"])
            each["Attributes"]["SentTimestamp"] = str(sent - 3_600_000)
        return found

    queue.sqs.receive_message = aged
    app = agent.app()
    with reading(app, queue):
        until(lambda: queue.messages == (0, 0))
        assert app.background.join(60)
    assert agent.seen == []


def test_only_an_agent_that_reports_reads_a_queue(queue):
    with pytest.raises(ConfigurationError, match="is a rollout_handler"):
        QueueReader(RolloutApp(lambda payload: 1.0, api_key=""), queue.url, client=queue.sqs)


def test_a_queue_that_is_not_there_ends_the_agent_in_one_sentence(queue, agent, sqs):
    sqs.delete_queue(QueueUrl=queue.url)
    reader = QueueReader(agent.app(), queue.url, client=sqs)
    with pytest.raises(CannotRead, match=r"the queue \S+ cannot be read: \S*NonExistentQueue$"):
        reader.read(threading.Event())


REFUSALS = [
    ("AccessDenied", 403, True),
    ("KMS.AccessDeniedException", 400, True),
    ("ThrottlingException", 400, False),
    ("RequestThrottled", 403, False),
    ("RequestLimitExceeded", 400, False),
    ("InternalFailure", 500, False),
    ("ServiceUnavailable", 503, False),
]


@pytest.mark.parametrize(("code", "status", "stays"), REFUSALS)
def test_what_passes_is_tried_again(queue, agent, code, status, stays):
    ended = threading.Event()
    pauses = []
    ended.wait = lambda seconds: (pauses.append(seconds), ended.set())
    with Stubber(queue.sqs) as stub:
        stub.add_client_error("receive_message", code, http_status_code=status)
        reader = QueueReader(agent.app(), queue.url, client=queue.sqs)
        if stays:
            with pytest.raises(CannotRead, match=code):
                reader.read(ended)
        else:
            reader.read(ended)
    assert pauses == ([] if stays else [1.0])


def test_a_client_is_of_the_region_of_its_queue(agent, sqs, monkeypatch):
    monkeypatch.delenv("AWS_ENDPOINT_URL")
    url = "https://sqs.eu-west-1.amazonaws.com/123456789012/requests"
    assert QueueReader(agent.app(), url)._sqs.meta.region_name == "eu-west-1"
