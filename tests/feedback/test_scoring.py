"""Whatever a call raises is one record's failure, and never that of the whole batch of messages."""

from __future__ import annotations

import json
import ssl
from http.client import IncompleteRead
from io import BytesIO

import pytest
from botocore.exceptions import EndpointConnectionError

from reward_functions.core.types import Sample
from reward_functions.feedback import findings
from reward_functions.feedback.findings import Stopped
from reward_functions.feedback.path import Message, Path, hide
from reward_functions.feedback.scoring import PinnedRewards
from reward_functions.rollouts.report.deferred import DeferredRecord, PinnedReward
from reward_functions.rollouts.request.contract import RolloutMetadata
from tests.feedback.conftest import MATH, graded
from tests.rollouts.report.outbox.reports import JOB, NOW, WINDOW

POISON = "POISON"

RAISED = [
    OSError("Connection reset by peer"),
    ConnectionResetError(104, "Connection reset by peer"),
    TimeoutError("timed out"),
    ssl.SSLError("bad record mac"),
    IncompleteRead(b"[", 10),
    RuntimeError("cannot schedule new futures after shutdown"),
    ValueError("I/O operation on closed file"),
    KeyError("Payload"),
    MemoryError(),
    RecursionError("maximum recursion depth exceeded"),
    EndpointConnectionError(endpoint_url="https://lambda"),
]


class Body(BytesIO):
    """A payload that breaks off."""

    def __init__(self, content, raised=None):
        super().__init__(content)
        self.raised = raised

    def read(self, *_):
        if self.raised:
            raise self.raised
        return super().read()


class Lambda:
    """Lambda's client, which raises where a batch holds the poisoned row.

    Args:
        raised: what it raises.
        where: by the call, or as the answer is read.
    """

    def __init__(self, raised, where):
        self.raised, self.where = raised, where
        self.sizes = []

    def invoke(self, *, FunctionName, Payload):  # noqa: N803 - boto3's names
        rows = json.loads(Payload)
        self.sizes.append(len(rows))
        poisoned = POISON in Payload.decode()
        if poisoned and self.where == "call":
            raise self.raised
        content = json.dumps(graded(rows)).encode()
        version = FunctionName.rpartition(":")[2]
        return {
            "ExecutedVersion": version,
            "Payload": Body(content, self.raised if poisoned else None),
        }


def record(name, text):
    return DeferredRecord(
        scorer=PinnedReward(arn=f"{MATH}:7"),
        metadata=RolloutMetadata(job_arn=JOB, trajectory_id=name),
        sample=Sample(id="row", messages=(), reference="42").answered(text),
        created=NOW,
        expires=NOW + WINDOW,
    )


def judged(client, *texts):
    """What becomes of records of these responses, by the number of each."""
    records = [record(f"r{at}", text) for at, text in enumerate(texts)]
    found = {
        given.metadata.trajectory_id: value
        for given, value in PinnedRewards(client, [MATH]).score(records, seconds=lambda: 60.0)
    }
    return [found[f"r{at}"] for at in range(len(texts))]


@pytest.mark.parametrize("where", ["call", "answer"])
@pytest.mark.parametrize("raised", RAISED, ids=lambda each: type(each).__name__)
def test_an_exception_of_one_row_is_one_unscored_record(raised, where):
    client = Lambda(raised, where)
    first, *others, last = judged(client, "42", POISON, "43", "44")
    ours = isinstance(raised, EndpointConnectionError)  # Lambda out of reach is nobody's row
    assert isinstance(others[0], Stopped)
    assert others[0].kind == "unscored"
    assert type(raised).__name__ in str(others[0])
    assert (first, *others[1:], last) == ((others[0],) * 3 if ours else (1.0, 1.0, 1.0))
    assert client.sizes == ([4] if ours else [4, 1, 1, 1, 1])


def test_every_row_may_raise_and_each_is_told_apart():
    assert [each.kind for each in judged(Lambda(OSError("gone"), "call"), POISON, POISON)] == [
        "unscored",
        "unscored",
    ]


class Queue:
    """SQS's client on a connection that breaks."""

    def __init__(self, raised):
        self.raised = raised

    def change_message_visibility(self, **_):
        raise self.raised

    def send_message(self, **_):
        raise self.raised


BROKEN = [each for each in RAISED if isinstance(each, OSError)]


@pytest.mark.parametrize("raised", BROKEN, ids=lambda each: type(each).__name__)
def test_a_queue_that_breaks_off_hides_a_message_for_the_queues_own_time(raised):
    assert hide(Queue(raised), "q", {"r1": 1.0, "r2": 2.0}) == type(raised).__name__


@pytest.mark.parametrize("raised", BROKEN, ids=lambda each: type(each).__name__)
def test_a_letter_that_is_not_sent_keeps_its_message_alone(raised, monkeypatch):
    """The neighbour's letter is sent, and the message of this one comes again."""
    sent = []

    def send(_client, _queue, body, *_):
        if body == POISON:
            raise raised
        sent.append(body)

    monkeypatch.setattr(findings, "send", send)

    class Settings:
        queue = dead_letters = "q"
        receives = 3

    class Rewards:
        def score(self, records, **_):
            assert records == []
            return []

    path = Path(Settings(), s3=None, sqs=Queue(raised), rewards=Rewards(), reports=None)
    messages = [Message(id=text, body=text, receives=1, receipt=text) for text in ("{}", POISON)]
    failed, counts = path.settle(messages, remaining=lambda: 60.0)
    assert {name: each.kind for name, each in failed.items()} == {POISON: "unreported"}
    assert (sent, counts["dead_letters"]) == (["{}"], 1)
