"""Files for a job in the stage's bucket: each is sent once, and never over another.

    s3://BUCKET/rft-data/jobs/NAME.jsonl      with the SHA-256 of its content as metadata

The name of a job holds a digest of its data, so that equal names are equal contents unless somebody
else wrote there.

An object of S3, whole: to a limit of bytes and of time, each failure a sentence.

A client's timeouts are between two pieces; what drips has the time of the whole besides.
"""

from __future__ import annotations

import hashlib
from time import monotonic
from typing import TYPE_CHECKING, Any, Final

from reward_functions.aws import s3 as uploading
from reward_functions.aws.catalogue import DATA_PREFIX
from reward_functions.aws.failures import AwsFailed
from reward_functions.jobs.configuration import BadJob
from reward_functions.jobs.failures import answer

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


FOLDER: Final = f"{DATA_PREFIX}jobs/"
SUFFIX: Final = ".jsonl"
CONTENT: Final = "sha256"


def uploaded_once(
    client: Any,
    bucket: str,
    file: Path,
    name: str,
    progress: Callable[[int], object] | None = None,
) -> str:
    """The address of a file's content, which is sent unless it is there.

    Args:
        client: of S3.
        bucket: the stage's.
        file: JSONL.
        name: of the object, without its suffix.
        progress: called with the bytes sent since its last call.

    Raises:
        BadJob: another content is there under this name.
        AwsFailed: S3 refused it, or could not be reached.
        OSError: the file cannot be read.
    """
    with file.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    placed = uploading.destinations([str(file)], address_of(bucket, name))
    (place,) = placed.values()
    there = _content(client, place)
    if there is not None and there != digest:
        raise BadJob(
            f"{place} holds another file than {file}: remove it, or choose another name for the "
            "job with --name"
        )
    if there is None:
        for _ in uploading.upload(client, placed, progress, {CONTENT: digest}):
            pass
    return str(place)


def address_of(bucket: str, name: str) -> str:
    """Where the file of a name lies.

    Args:
        bucket: the stage's.
        name: of the object, without its suffix.
    """
    return f"s3://{bucket}/{FOLDER}{name}{SUFFIX}"


def discarded(client: Any, address: str) -> None:
    """Remove an object that a refused job leaves; a bucket with versions keeps the old one.

    Raises:
        AwsFailed: S3 refused, or could not be reached.
    """
    bucket, _, key = address.removeprefix("s3://").partition("/")
    if not key.startswith(FOLDER):
        raise BadJob(f"{address} is no file of a job: it is left alone")
    answer(f"removing {address}", client.delete_object, Bucket=bucket, Key=key)


def _content(client: Any, place: uploading.Destination) -> str | None:
    """The SHA-256 of what is there; "" where nobody wrote it down, None where nothing is.

    The list is asked first: who may list some prefixes alone gets 403, and not 404, for an object
    that is not there.
    """
    what = f"looking for {place}"
    listed = answer(
        what, client.list_objects_v2, Bucket=place.bucket, Prefix=place.key, MaxKeys=1
    ).get("Contents", [])
    if not listed or listed[0].get("Key") != place.key:
        return None
    try:
        head = answer(what, client.head_object, Bucket=place.bucket, Key=place.key)
    except AwsFailed as error:
        if error.code == "404":  # it went away meanwhile
            return None
        raise
    return str(head.get("Metadata", {}).get(CONTENT, ""))


CHUNK: Final = 65_536

LONGEST: Final = 120.0
"""Seconds that an object takes at most."""


def whole_object(client: Any, bucket: str, key: str, most: int, what: str) -> bytes:
    """The content of an object.

    Args:
        client: of S3.
        bucket: of the object.
        key: of the object.
        most: bytes.
        what: is tried, for messages.

    Raises:
        AwsFailed: S3 refused or was not reached; the object is larger; it broke off, or was late.
    """
    from botocore.exceptions import BotoCoreError  # noqa: PLC0415 - 100 ms
    from urllib3.exceptions import HTTPError  # noqa: PLC0415

    body = answer(what, client.get_object, Bucket=bucket, Key=key)["Body"]
    end, found = monotonic() + LONGEST, bytearray()
    try:
        while len(found) <= most and (chunk := body.read(CHUNK)):
            found += chunk
            if monotonic() >= end:
                raise AwsFailed(f"{what}: it took over {LONGEST:.0f} seconds; try again")
    except (BotoCoreError, HTTPError, OSError):
        raise AwsFailed(f"{what}: the connection broke off; try again") from None
    finally:
        body.close()
    if len(found) > most:
        raise AwsFailed(f"{what}: it has more than {most:,} bytes")
    return bytes(found)
