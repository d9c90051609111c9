"""When a message that failed comes again: soon, later each time, and while its trainer waits.

The queue hides a message for six times the function's timeout, as Lambda asks of it: that is longer
than a trainer waits for a rollout. So a message that fails is hidden for a pause of our own, and
one whose function dies no longer than that function could have run.
"""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING, Any, Final

from botocore.exceptions import BotoCoreError, ClientError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

PAUSES: Final = (15.0, 60.0)
"""Seconds before the second attempt, and before each later one, give or take a quarter."""

SPARE: Final = 5.0
"""Seconds from an invocation's last moment to when its messages may be received again."""


def pause(receives: int, left: Iterable[float], *, random: float) -> float:
    """Seconds until a message comes again: at most half of what any of its rollouts has left.

    Args:
        receives: how often it was received, 1 or more.
        left: seconds of the windows of its rollouts, as far as they are known.
        random: 0 or more and less than 1.
    """
    usual = PAUSES[min(receives, len(PAUSES)) - 1] * (0.75 + random / 2)
    return max(min([usual, *(each / 2 for each in left)]), 0.0)


def hide(client: Any, queue: str, seconds: Mapping[str, float]) -> str:
    """Hide messages for some seconds each; why not, where SQS hides one for the queue's own time.

    Args:
        client: boto3's for SQS.
        queue: its URL.
        seconds: by the receipts of the messages; whole ones are rounded up to.
    """
    why = ""
    for receipt, each in seconds.items():
        try:
            client.change_message_visibility(
                QueueUrl=queue, ReceiptHandle=receipt, VisibilityTimeout=ceil(each)
            )
        except ClientError as error:
            why = why or str(error.response.get("Error", {}).get("Code", ""))
        except (BotoCoreError, OSError) as error:
            why = why or type(error).__name__
    return why
