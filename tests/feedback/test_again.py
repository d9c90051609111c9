"""When a message that failed comes again: on the emulator's queue, and by the clock."""

from __future__ import annotations

import pytest
from botocore.exceptions import ClientError

from reward_functions.feedback import path
from reward_functions.feedback.path import Message, hide, pause
from tests.feedback.conftest import MATH, graded
from tests.rollouts.report.outbox.reports import WINDOW
from tests.waiting import until

PAUSED = [
    # receives, seconds left, random, the pause
    (1, [], 0.0, 11.25),
    (1, [600.0], 0.5, 15.0),
    (1, [600.0], 0.999, 18.75),
    (2, [580.0], 0.5, 60.0),
    (9, [580.0], 0.5, 60.0),
    (2, [580.0, 40.0], 0.5, 20.0),
    (1, [3.0], 0.5, 1.5),
    (1, [-5.0], 0.5, 0.0),
]


@pytest.mark.parametrize(("receives", "left", "random", "seconds"), PAUSED)
def test_a_pause_grows_and_ends_while_the_trainer_waits(receives, left, random, seconds):
    assert pause(receives, left, random=random) == pytest.approx(seconds, abs=0.02)


class Queue:
    """What it was asked to hide; it answers as SQS does."""

    def __init__(self, refused=()):
        self.hidden, self.refused = [], refused

    def change_message_visibility(self, **asked):
        self.hidden.append((asked["ReceiptHandle"], asked["VisibilityTimeout"]))
        if asked["ReceiptHandle"] in self.refused:
            raise ClientError({"Error": {"Code": "AccessDenied"}}, "ChangeMessageVisibility")


def test_what_sqs_does_not_hide_is_named_and_keeps_no_other():
    queue = Queue(["a"])
    assert hide(queue, "q", {"a": 0.5, "b": 2.0}) == "AccessDenied"
    assert queue.hidden == [("a", 1), ("b", 2)]
    assert hide(queue, "q", {"b": 0.0}) == ""


def received(way, receives):
    """The message of the queue, once it is not hidden."""
    asked = {"QueueUrl": way.queue, "WaitTimeSeconds": 1}
    found = until(
        lambda: way.sqs.receive_message(**asked).get("Messages"), "the message does not come again"
    )[0]
    return Message(id="m", receives=receives, body=found["Body"], receipt=found["ReceiptHandle"])


def test_what_fails_once_is_received_again_while_its_rollout_waits(way, monkeypatch):
    """The queue would hide it for 720 seconds, and the rollout's window has 600."""
    monkeypatch.setattr(path, "PAUSES", (0.5,))
    way.functions[f"{MATH}:7"].answers = [lambda rows: graded(rows, unscored=1), graded]
    way.sqs.send_message(QueueUrl=way.queue, MessageBody=way.put(way.record("r1")))
    failed, _ = way.path.settle([received(way, 1)], remaining=lambda: 120.0)
    assert str(failed["m"]) == "the reward could not score it"
    assert way.path.settle([received(way, 2)], remaining=lambda: 120.0)[0] == {}
    assert way.rewards() == {"r1": [1.0]}


def test_a_message_is_hidden_no_longer_than_the_function_can_run_and_half_of_the_window(way):
    """A function that dies leaves it to the next one."""
    queue = Queue()
    way.path._sqs = queue
    way.functions[f"{MATH}:7"].answers = [lambda rows: graded(rows, unscored=1)]
    way.clock.now += WINDOW - 14.0
    way.settle(way.put(way.record("r1")), remaining=120.0)
    assert queue.hidden == [("r0", 125), ("r0", 7)]


def test_a_message_that_cannot_be_hidden_says_so_beside_its_own_reason(way):
    way.path._sqs = Queue(["r"])
    way.functions[f"{MATH}:7"].answers = [lambda rows: graded(rows, unscored=1)]
    messages = [Message(id="m", body=way.put(way.record()), receives=1, receipt="r")]
    failed, _ = way.path.settle(messages, remaining=lambda: 120.0)
    assert (failed["m"].kind, "AccessDenied" in str(failed["m"])) == ("unscored", True)
    assert str(failed["m"]).startswith("the reward could not score it; ")


def test_what_is_settled_is_not_hidden_again(way):
    queue = Queue()
    way.path._sqs = queue
    way.settle(way.put(way.record()))
    assert len(queue.hidden) == 1
