"""Dead letters: a notification that was not reported, with its reason as attributes.

| attribute | holds |
| --- | --- |
| `kind` | a row of `findings.KINDS` |
| `reason` | one sentence, without a prompt, a response or a reference |
| `from` | the object's address, or the message's id |

The body is what S3 wrote, so that whoever sends it back needs no more than the body.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from reward_functions.feedback.findings import Stopped

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
