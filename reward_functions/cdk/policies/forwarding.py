"""What the Lambda between a trainer and an agent may do, and the agent that reads its queue.

    hand_on         a forwarder: send to one queue, read one secret, and use the keys of the two
    read_queues     an agent that is asked by way of a queue of the stage's own

`cdk.policies.own_rights.join_network` is for one that reaches its agent in a VPC.

Sources: "Least-privilege policies" of SQS and "Encryption at rest" of both services
for their keys. None of it has been used on AWS.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from reward_functions.cdk.policies.iam import USE_DATA, allow, document, through
from reward_functions.cdk.policies.own_rights import read_secrets

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reward_functions.cdk.policies.iam import Document, Place


def hand_on(
    place: Place, *, queue_arn: str = "", secret_arn: str = "", key_arn: str = ""
) -> Document:
    """What a forwarder does beside writing its log; without a statement where it needs nothing.

    Args:
        place: where the function runs.
        queue_arn: of the queue that its agent reads; "" where it asks a URL.
        secret_arn: of the secret that holds the agent's key; "" for none.
        key_arn: of the KMS key that encrypts queue or secret; "" for AWS's own.
    """
    if secret_arn:
        return read_secrets(place, [(secret_arn, key_arn)])
    return document(
        allow("SendToAgent", ["sqs:SendMessage"], [queue_arn]),
        through("sqs", place, "EncryptRequests", USE_DATA, key_arn),
    )


def read_queues(place: Place, queue_arns: Sequence[str], key_arns: Sequence[str]) -> list[Document]:
    """The statements by which an agent takes its requests from queues.

    Args:
        place: where the queues are.
        queue_arns: of the queues.
        key_arns: of the KMS keys that encrypt them; none for AWS's own.
    """
    actions = ("sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:ChangeMessageVisibility")
    opening = [
        through("sqs", place, f"OpenRequests{number}", ["kms:Decrypt"], key)
        for number, key in enumerate(dict.fromkeys(key_arns), 1)
    ]
    return [allow("TakeRequests", [*actions, "sqs:GetQueueAttributes"], queue_arns), *opening]
