"""Notifications of S3 in the bodies of SQS's messages.

    {"Records": [{"eventName": "ObjectCreated:Put", "s3": {"bucket": {"name": …},
                  "object": {"key": …, "size": …, "versionId": …}}}, …]}

A key is written as in a form: `+` is a space. S3 sends a test when a notification is set up, which
names no object: it is no record, and no error. Source: "Event message structure", user guide of S3.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import unquote_plus

from reward_functions.feedback.findings import Stopped

TEST: Final = "s3:TestEvent"

CREATED: Final = "ObjectCreated:"


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrival:
    """An object that S3 announces.

    Args:
        bucket: its name.
        key: decoded.
        version_id: of a bucket with versions; "" in another.
        notification: as it came, for a dead letter that can be sent again.
    """

    bucket: str
    key: str
    version_id: str = ""
    notification: Any = field(default=None, repr=False, compare=False)

    @property
    def where(self) -> str:
        """Its address, for people."""
        return f"s3://{self.bucket}/{self.key}"

    @property
    def body(self) -> str:
        """The body of a message that announces this object alone."""
        return json.dumps({"Records": [self.notification]})


def arrivals_of(body: str) -> list[Arrival]:
    """The objects that a message announces; none of S3's test.

    Raises:
        Stopped: it is no notification of S3's.
    """
    try:
        event = json.loads(body)
        if isinstance(event, dict) and event.get("Event") == TEST:
            return []
        arrivals = [_arrival(each) for each in event["Records"]]
    except (ValueError, TypeError, KeyError, RecursionError):
        raise Stopped("not_a_record", "the message is no notification of S3's") from None
    if not arrivals:
        raise Stopped("not_a_record", "the message announces no object")
    return arrivals


def _arrival(record: Any) -> Arrival:
    """One object; another form is a TypeError or a KeyError."""
    stored = record["s3"]["object"]
    name, bucket, key = record["eventName"], record["s3"]["bucket"]["name"], stored["key"]
    version = stored.get("versionId") or ""
    if not all(isinstance(each, str) for each in (name, bucket, key, version)):
        raise TypeError
    if not name.removeprefix("s3:").startswith(CREATED):
        raise TypeError
    return Arrival(bucket=bucket, key=unquote_plus(key), version_id=version, notification=record)
