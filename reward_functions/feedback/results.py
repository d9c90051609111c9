"""Records, read from S3: the version that was announced, from allowed buckets alone.

A bucket that lets the function list it says 404 of an object that is gone; to others S3 says 403.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from botocore.exceptions import BotoCoreError, ClientError

from reward_functions.feedback.findings import Stopped
from reward_functions.rollouts.report.deferred import (
    LARGEST,
    BadRecord,
    DeferredRecord,
    NotDeferred,
    read_record,
)

if TYPE_CHECKING:
    from collections.abc import Collection

    from reward_functions.feedback.messages import Arrival

MISSING: Final = frozenset({"NoSuchKey", "NoSuchVersion", "NoSuchBucket", "404"})


def read(client: Any, arrival: Arrival, *, buckets: Collection[str]) -> DeferredRecord:
    """The record that S3 announced.

    Args:
        client: boto3's for S3.
        arrival: where it is.
        buckets: that may be read.

    Raises:
        Stopped: another bucket, no object, no record, or S3 out of reach.
    """
    if arrival.bucket not in buckets:
        raise Stopped("other_bucket", "the object is in a bucket that FEEDBACK_BUCKETS leaves out")
    try:
        record = read_record(_body(client, arrival))
    except NotDeferred as error:
        raise Stopped("not_deferred", str(error)) from None
    except BadRecord as error:
        raise Stopped("not_a_record", str(error)) from None
    if not f"/{arrival.key}".endswith(f"/{record.key}"):
        raise Stopped("not_a_record", "the object's key does not follow from its job and rollout")
    return record


def _body(client: Any, arrival: Arrival) -> bytes:
    """The bytes of an object, one more than a record has at most."""
    version = {"VersionId": arrival.version_id} if arrival.version_id else {}
    try:
        found = client.get_object(Bucket=arrival.bucket, Key=arrival.key, **version)
        with found["Body"] as body:
            return bytes(body.read(LARGEST + 1))
    except ClientError as error:
        code = str(error.response.get("Error", {}).get("Code", ""))
        if code in MISSING:
            raise Stopped("missing", "the object is gone") from None
        raise Stopped("unread", f"S3 did not give the object: {code}") from None
    except BotoCoreError as error:
        raise Stopped("unread", f"S3 was out of reach: {type(error).__name__}") from None
