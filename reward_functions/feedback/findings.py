"""The reasons that keep a record from being reported: a table, and the error that names its row.

A failure of ours is tried again until the message was received often enough; any other is a dead
letter at once. Reasons are sentences without a prompt, a response or a reference.

Dead letters: a notification that was not reported, with its reason as attributes.

| attribute | holds |
| --- | --- |
| `kind` | a row of `findings.KINDS` |
| `reason` | one sentence, without a prompt, a response or a reference |
| `from` | the object's address, or the message's id |

The body is what S3 wrote, so that you need no more than the body to send it back.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from reward_functions.core.errors import RewardError


class Kind(NamedTuple):
    """A row: what it is, and whether another attempt may end otherwise."""

    what: str
    again: bool = False


KINDS: Final = {
    "not_a_record": Kind("the message or its object is no record"),
    "not_deferred": Kind("the record's reward is not deferred"),
    "other_bucket": Kind("the object is in a bucket that is not allowed"),
    "missing": Kind("the object is gone"),
    "other_stage": Kind("the record pins no version of this stage's rewards"),
    "other_version": Kind("the pinned version serves another reward than the record says"),
    "gone": Kind("the pinned version was deleted"),
    "untrusted": Kind("the record names a runtime endpoint that is not AWS's"),
    "bad_reference": Kind("the data set's reference cannot be read"),
    "expired": Kind("the rollout's window has closed"),
    "refused": Kind("the job runtime refused the report"),
    "unscored": Kind("we could not score it", again=True),
    "unreported": Kind("we could not report it", again=True),
    "unread": Kind("we could not read it", again=True),
}
"""Kinds of dead letters, by the name that their attribute has."""

EXPIRED: Final = "expired"
UNSCORED: Final = "unscored"

MAX_REASON: Final = 500
"""Characters of a reason."""


class Stopped(RewardError):
    """A record is not reported, for now or for good.

    Args:
        kind: a row of `KINDS`.
        reason: one sentence.
    """

    def __init__(self, kind: str, reason: str) -> None:
        super().__init__(_plain(reason))
        self.kind = kind

    @property
    def again(self) -> bool:
        """Whether the message is tried again."""
        return KINDS[self.kind].again


def _plain(reason: str) -> str:
    """A reason in printable characters, of a bounded length."""
    return ascii(reason[:MAX_REASON])[1:-1][:MAX_REASON]


KIND, REASON, FROM = "kind", "reason", "from"

MAX_FROM: Final = 1_200
"""Characters of an address: a bucket's name and a key of 1,024 bytes."""


def send(client: Any, queue: str, body: str, stopped: Stopped, where: str) -> None:
    """Put a letter into a queue.

    Args:
        client: boto3's for SQS.
        queue: its URL.
        body: of the message.
        stopped: why.
        where: the object's address, or the message's id.
    """
    attributes = {
        KIND: stopped.kind,
        REASON: str(stopped),
        FROM: ascii(where[:MAX_FROM])[1:-1][:MAX_FROM] or "-",
    }
    client.send_message(
        QueueUrl=queue,
        MessageBody=body,
        MessageAttributes={
            name: {"DataType": "String", "StringValue": value} for name, value in attributes.items()
        },
    )
