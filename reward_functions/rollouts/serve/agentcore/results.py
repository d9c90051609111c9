"""One object of S3 for each result: the first one counts, and a second one is a conflict.

A write whose reply was lost is sent again by boto3, and then finds itself: what is there is read,
and the same bytes are no conflict.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reward_functions.rollouts.request.errors import ConflictingReport, ResultNotKept
from reward_functions.rollouts.request.s3 import NotTaken, put_once, s3_client

if TYPE_CHECKING:
    from reward_functions.rollouts.serve.agentcore.destinations import Destination


def write_result(destination: Destination, body: bytes, client: Any = None) -> None:
    """Make a result durable.

    Args:
        destination: where.
        body: JSON.
        client: boto3's for S3; the process's own where None.

    Raises:
        ConflictingReport: another result is there.
        ResultNotKept: S3 did not take it.
    """
    client = s3_client() if client is None else client
    try:
        put_once(client, bucket=destination.bucket, key=destination.key, body=body)
    except NotTaken as error:
        if not error.there:
            raise ResultNotKept(
                f"s3://{destination.bucket}/{destination.key} was not written: {error.code}"
            ) from None
        if not _is_there(client, destination, body):
            raise ConflictingReport(
                f"s3://{destination.bucket}/{destination.key} has a result already: the first "
                "one counts"
            ) from None


def _is_there(client: Any, destination: Destination, body: bytes) -> bool:
    """Whether what is there is this; no, where it may not be read."""
    from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415 - with boto3

    try:
        found = client.get_object(Bucket=destination.bucket, Key=destination.key)
        return bool(found["Body"].read(len(body) + 1) == body)
    except (BotoCoreError, ClientError):
        return False
