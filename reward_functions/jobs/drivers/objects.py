"""Files for a job in the stage's bucket: each is sent once, and never over another.

    s3://BUCKET/rft-data/jobs/NAME.jsonl      with the SHA-256 of its content as metadata

The name of a job holds a digest of its data, so that equal names are equal contents unless somebody
else wrote there.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any, Final

from reward_functions.aws import s3
from reward_functions.aws.calls import answer, pages
from reward_functions.aws.catalogue import JOB_DATA_PREFIX
from reward_functions.jobs.configuration import BadJob

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
    placed = s3.destinations([str(file)], address_of(bucket, name))
    (place,) = placed.values()
    there = _content(client, place)
    if there is not None and there != digest:
        raise BadJob(
            f"{place} holds another file than {file}: remove it, or choose another name for the "
            "job with --name"
        )
    if there is None:
        for _ in s3.upload(client, placed, progress, {CONTENT: digest}):
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


def _content(client: Any, place: s3.Destination) -> str | None:
    """The SHA-256 of what is there; "" where nobody wrote it down, None where nothing is."""
    what = f"looking for {place}"
    # Who may list some prefixes alone gets 403, and not 404, for an object that is not there.
    listed = answer(what, client.list_objects_v2, Bucket=place.bucket, Prefix=place.key, MaxKeys=1)
    if [each["Key"] for each in listed.get("Contents", [])] != [place.key]:
        return None
    head = answer(what, client.head_object, Bucket=place.bucket, Key=place.key)
    return str(head.get("Metadata", {}).get(CONTENT, ""))


def objects_below(client: Any, bucket: str, prefix: str, what: str) -> Iterator[dict[str, Any]]:
    """The objects that S3 lists below a prefix; `what` is tried."""

    def listed(NextContinuationToken: str = "") -> dict[str, Any]:  # noqa: N803 - as S3 answers
        more = {"ContinuationToken": NextContinuationToken} if NextContinuationToken else {}
        return {"Contents": [], **client.list_objects_v2(Bucket=bucket, Prefix=prefix, **more)}

    return pages(what, listed, "Contents", marker="NextContinuationToken")
