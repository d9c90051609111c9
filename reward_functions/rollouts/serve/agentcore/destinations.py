"""Where the result of a rollout is written: read from `_rollout`, and refused before it runs.

| `_rollout` | result |
| --- | --- |
| absent, or with none of `exp_id`, `input_id`, `s3_bucket` | nothing is written |
| with all three | `s3://{s3_bucket}/{exp_id}/{input_id}/{session_id}.json` |
| with one or two of them | BadRequest |
| with a bucket that the process does not name | UntrustedBucket |

A request decides which object of its bucket is written, so the process decides which buckets may
be: those of `REWARD_ROLLOUTS_RESULT_BUCKETS`, or of the app's constructor. The parts of a key are
names: no slash, no `.` or `..`, nothing that cannot be printed.

Source: `agentcore_rl_toolkit.app` 0.2.0, its keys and their spelling.

One object of S3 for each result: the first one counts, and a second one is a conflict.

A write whose reply was lost is sent again by boto3, and then finds itself: what is there is read,
and the same bytes are no conflict.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final
from uuid import uuid4

from reward_functions.core.errors import ConfigurationError
from reward_functions.core.jsons import json_kind
from reward_functions.rollouts.request.errors import (
    BadRequest,
    ConflictingReport,
    ResultNotKept,
    UntrustedBucket,
)
from reward_functions.rollouts.request.s3 import NotTaken, put_once, s3_client

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


ROLLOUT: Final = "_rollout"

FIELDS: Final = ("exp_id", "input_id", "s3_bucket")

RESULT_BUCKETS: Final = "REWARD_ROLLOUTS_RESULT_BUCKETS"
"""Names of buckets, with commas between."""

BUCKET: Final = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")

LONGEST_PART: Final = 256
"""Characters of a part of a key; AgentCore's session ids have 33 to 256."""

LONGEST_KEY: Final = 1024
"""Bytes of a key, of S3."""

FORBIDDEN: Final = re.compile(r"[/\\]|\A\.\.?\Z")


@dataclass(frozen=True, slots=True, kw_only=True)
class Destination:
    """One object of S3.

    Args:
        bucket: that the process may write to.
        key: of the object.
        input_id: of the row that was asked, as the request has it.
    """

    bucket: str
    key: str
    input_id: str | int

    @property
    def answer(self) -> dict[str, str]:
        """The answer to a request whose result will be there."""
        return {"status": "processing", "s3_bucket": self.bucket, "result_key": self.key}


def trusted_buckets(given: Iterable[str] | None = None) -> frozenset[str]:
    """The buckets that results may be written to.

    Args:
        given: their names; those of the environment where None.

    Raises:
        ConfigurationError: one is no bucket's name.
    """
    if given is None:
        listed = os.environ.get(RESULT_BUCKETS, "").split(",")
        names = [name.strip() for name in listed if name.strip()]
    else:
        names = [given] if isinstance(given, str) else list(given)
    for name in names:
        if BUCKET.fullmatch(name) is None:
            raise ConfigurationError(f"{name[:80]!r} is not the name of a bucket: {RESULT_BUCKETS}")
    return frozenset(names)


def destination_of(
    payload: Mapping[str, Any], session_id: str | None, buckets: frozenset[str]
) -> Destination | None:
    """Where the result of a request is written; None where nowhere.

    Args:
        payload: of the request.
        session_id: of AgentCore's header; a random one where it is missing or empty.
        buckets: that may be written to.

    Raises:
        BadRequest: `_rollout`, one of its fields, or the session's id is not valid.
        UntrustedBucket: it names another bucket.
    """
    config = payload.get(ROLLOUT)
    if config is None:
        return None
    if not isinstance(config, dict):
        raise BadRequest(f"{ROLLOUT} is {json_kind(config)}, not an object")
    if config.keys().isdisjoint(FIELDS):
        return None
    for name in FIELDS:
        if name not in config:
            raise BadRequest(
                f"Missing required rollout config field: {name!r}: give exp_id, input_id and "
                "s3_bucket, or none of them"
            )
    bucket = config["s3_bucket"]
    if not isinstance(bucket, str) or bucket not in buckets:
        raise UntrustedBucket(
            f"the bucket of {ROLLOUT}.s3_bucket is none that this agent may write results to: "
            f"name it in {RESULT_BUCKETS}, or as result_buckets= of the app"
        )
    key = result_key(config["exp_id"], config["input_id"], session_id or str(uuid4()))
    return Destination(bucket=bucket, key=key, input_id=config["input_id"])


def result_key(exp_id: Any, input_id: Any, session_id: Any) -> str:
    """The key of a result, as an agent writes it and its client looks for it.

    Raises:
        BadRequest: a part is no name, or the key is longer than S3 takes.
    """
    parts = [
        key_part(exp_id, f"{ROLLOUT}.exp_id"),
        key_part(input_id, f"{ROLLOUT}.input_id"),
        key_part(session_id, "the session id"),
    ]
    key = f"{'/'.join(parts)}.json"
    if len(key.encode()) > LONGEST_KEY:
        raise BadRequest(f"the key of the result has more than {LONGEST_KEY} bytes")
    return key


def key_part(value: Any, name: str) -> str:
    """A part of a key: one folder, or the file.

    Raises:
        BadRequest: it is no name. The message says whose.
    """
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise BadRequest(f"{name} is {json_kind(value)}, not a string")
    if isinstance(value, int):
        value = f"{value:d}" if abs(value) < 10**18 else ""
    if not 0 < len(value) <= LONGEST_PART:
        raise BadRequest(f"{name} does not have 1 to {LONGEST_PART} characters")
    if FORBIDDEN.search(value) or not value.isprintable():
        raise BadRequest(
            f"{name} is not a name: it has a slash, is '.' or '..', or cannot be printed"
        )
    return str(value)


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
