"""S3: files sent where a training job reads them, and objects read.

Every object is sent with a checksum that S3 verifies, and appears complete or not at all.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from reward_functions.aws.calls import answer
from reward_functions.aws.failures import AwsFailed, in_words
from reward_functions.aws.shell import aws_session
from reward_functions.core.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

MAX_URI: Final = 1_024
"""Characters Bedrock allows in the address of training data (its service model, `S3Uri`)."""

_BUCKET: Final = r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]"
"""The name of a bucket, by S3's rule."""

_URI: Final = re.compile(rf"s3://({_BUCKET})(?:/([A-Za-z0-9/_.!*'()-]*))?")
"""A bucket and a key of characters that Bedrock's addresses may have: no space, no equals sign."""


NO_CREDENTIALS: Final = (
    "no AWS credentials: set AWS_PROFILE, sign in (aws login), or run where a role is"
)


class Destination(NamedTuple):
    """A place in S3: a bucket, and a key or the beginning of keys."""

    bucket: str
    key: str

    def __str__(self) -> str:
        """As an address."""
        return f"s3://{self.bucket}/{self.key}"


def destinations(files: Sequence[str], uri: str) -> dict[Path, Destination]:
    """Where every file goes: below an address that ends in a slash, or to the address itself.

    Raises:
        ConfigurationError: no such address, or one name for several files.
    """
    match = _URI.fullmatch(uri)
    if match is None:
        raise ConfigurationError(f"{uri}: {_misspelt(uri)}")
    bucket, key = match[1], match[2] or ""
    below = key == "" or key.endswith("/")
    if len(files) > 1 and not below:
        raise ConfigurationError(f"{uri}: several files go below an address that ends in /")
    placed = {
        Path(file): Destination(bucket, key + Path(file).name if below else key) for file in files
    }
    for place in placed.values():
        if not _URI.fullmatch(str(place)) or len(str(place)) > MAX_URI:
            raise ConfigurationError(f"{place}: no address that Bedrock takes; rename the file")
    if len(set(placed.values())) < len(files):
        raise ConfigurationError(f"{uri}: two of the files have the same name")
    return placed


def _misspelt(uri: str) -> str:
    """Which part of an address is not one."""
    if not uri.startswith("s3://"):
        return "an address in S3 is written s3://BUCKET/KEY"
    bucket, _, key = uri.removeprefix("s3://").partition("/")
    if not re.fullmatch(_BUCKET, bucket):
        return (
            f"{bucket!r} is not the name of a bucket: 3 to 63 lower-case letters, digits, hyphens "
            "and full stops, with a letter or a digit at each end"
        )
    return f"a key here has letters, digits and / _ . ! * ' ( ) - alone, and not {key!r}"


def s3_client(profile: str | None = None, region: str | None = None) -> Any:
    """A client of S3, configured as the AWS command line is.

    Raises:
        AwsFailed: there is no such profile, or the configuration cannot be read.
        BadShell: AWS has no such region.
    """
    with in_words("S3"):
        return aws_session(region=region or "", profile=profile).client("s3")


def upload(
    client: Any,
    placed: Mapping[Path, Destination],
    progress: Callable[[int], object] | None = None,
    metadata: Mapping[str, str] | None = None,
) -> Iterator[Destination]:
    """Send the files, one after the other.

    Args:
        client: of S3.
        placed: where each file goes.
        progress: called with the bytes sent since its last call.
        metadata: of every object, as its user's own.

    Yields:
        where a file is now.

    Raises:
        AwsFailed: S3 refused it, could not be reached, or there are no credentials.
        OSError: a file cannot be read.
    """
    from boto3.exceptions import S3UploadFailedError  # noqa: PLC0415 - 0.3 s
    from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415

    extra = {"Metadata": dict(metadata)} if metadata else None
    for file, place in placed.items():
        try:
            client.upload_file(
                str(file), place.bucket, place.key, ExtraArgs=extra, Callback=progress
            )
        except S3UploadFailedError as error:
            raise _unsent(place, error.__context__ or error) from None
        except (ClientError, BotoCoreError) as error:
            raise _unsent(place, error) from None
        yield place


def _unsent(place: Destination, error: BaseException) -> AwsFailed:
    """S3's own error, without the SDK's."""
    if type(error).__name__ in ("NoCredentialsError", "PartialCredentialsError"):
        return AwsFailed(NO_CREDENTIALS, kind="credentials")
    details = (getattr(error, "response", None) or {}).get("Error", {})
    code, message = details.get("Code", ""), details.get("Message", "")
    return AwsFailed(f"{place}: {': '.join(filter(None, [code, message])) or error}", code)


def read_object(client: Any, bucket: str, key: str, what: str, **more: Any) -> bytes:
    """The content of an object.

    Args:
        client: of S3.
        bucket: of the object.
        key: of the object.
        what: is tried, for messages.
        more: arguments of the call, such as a `Range`.

    Raises:
        AwsFailed: S3 refused, was not reached, or broke off.
    """
    from botocore.exceptions import BotoCoreError  # noqa: PLC0415 - 100 ms
    from urllib3.exceptions import HTTPError  # noqa: PLC0415 - 50 ms

    body = answer(what, client.get_object, Bucket=bucket, Key=key, **more)["Body"]
    try:
        with body:
            content: bytes = body.read()
    except (BotoCoreError, HTTPError, OSError):
        raise AwsFailed(f"{what}: the connection broke off; try again", kind="network") from None
    return content
