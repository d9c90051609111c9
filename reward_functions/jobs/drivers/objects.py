"""Files for a job in the stage's bucket: each is sent once, and never over another.

    s3://BUCKET/rft-data/jobs/NAME.jsonl      with the SHA-256 of its content as metadata

The name of a job holds a digest of its data, so that equal names are equal contents unless somebody
else wrote there.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any, Final

from reward_functions.aws import s3 as uploading
from reward_functions.aws.catalogue import JOB_DATA_PREFIX
from reward_functions.aws.failures import AwsFailed
from reward_functions.jobs.configuration import BadJob
from reward_functions.jobs.failures import answer, pages

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

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
        AwsFailed, UploadFailed: S3 refused it, or could not be reached.
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
    """Where the file of a name lies; the name has no suffix."""
    return f"s3://{bucket}/{JOB_DATA_PREFIX}{name}{SUFFIX}"


def discarded(client: Any, address: str) -> None:
    """Remove an object that a refused job leaves; a bucket with versions keeps the old one.

    Raises:
        BadJob: it is no file of a job.
        AwsFailed: S3 refused, or could not be reached.
    """
    bucket, _, key = address.removeprefix("s3://").partition("/")
    if not key.startswith(JOB_DATA_PREFIX):
        raise BadJob(f"{address} is no file of a job: it is left alone")
    answer(f"removing {address}", client.delete_object, Bucket=bucket, Key=key)


def _content(client: Any, place: uploading.Destination) -> str | None:
    """The SHA-256 of what is there; "" where nobody wrote it down, None where nothing is."""
    what = f"looking for {place}"
    # Who may list some prefixes alone gets 403, and not 404, for an object that is not there.
    listed = answer(what, client.list_objects_v2, Bucket=place.bucket, Prefix=place.key, MaxKeys=1)
    if [each["Key"] for each in listed.get("Contents", [])] != [place.key]:
        return None
    head = answer(what, client.head_object, Bucket=place.bucket, Key=place.key)
    return str(head.get("Metadata", {}).get(CONTENT, ""))


def objects_below(client: Any, bucket: str, prefix: str, what: str) -> Iterator[dict[str, Any]]:
    """What S3 lists below a prefix; `what` is tried."""
    return pages(
        what,
        lambda **asked: {"Contents": [], **client.list_objects_v2(**asked)},
        "Contents",
        marker="NextContinuationToken",
        token="ContinuationToken",  # noqa: S106 - the name of a member
        Bucket=bucket,
        Prefix=prefix,
    )


def whole_object(client: Any, bucket: str, key: str, what: str) -> bytes:
    """The content of an object; `what` is tried.

    Raises:
        AwsFailed: S3 refused or was not reached, or the connection broke off.
    """
    from botocore.exceptions import BotoCoreError  # noqa: PLC0415 - 100 ms
    from urllib3.exceptions import HTTPError  # noqa: PLC0415

    body = answer(what, client.get_object, Bucket=bucket, Key=key)["Body"]
    try:
        return bytes(body.read())
    except (BotoCoreError, HTTPError, OSError):
        raise AwsFailed(f"{what}: the connection broke off; try again") from None
