"""S3 as rollouts use it: the process's own client, and an object that is written once.

An object is written only where none of its key is (`If-None-Match: *`), so that the first one
counts. Source: "Conditional writes", user guide of S3.
"""

from __future__ import annotations

import os
from functools import cache
from typing import Any, Final

THERE: Final = "PreconditionFailed"

TIMES: Final[dict[str, Any]] = {"connect_timeout": 5, "read_timeout": 10}
"""Seconds of an attempt: an agent waits for it."""


class NotTaken(Exception):
    """S3 did not take an object.

    Args:
        code: S3's, or the type of what went wrong before it.
    """

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code

    @property
    def there(self) -> bool:
        """Whether there is one of that key already."""
        return self.code == THERE


def put_once(client: Any, *, bucket: str, key: str, body: bytes) -> None:
    """Write JSON where nothing is.

    Args:
        client: boto3's for S3.
        bucket: an existing one.
        key: of the object.
        body: at most 5 GB.

    Raises:
        NotTaken: something is there, or S3 did not take it.
    """
    from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415 - with boto3

    try:
        client.put_object(
            Bucket=bucket, Key=key, Body=body, ContentType="application/json", IfNoneMatch="*"
        )
    except ClientError as error:
        raise NotTaken(str(error.response.get("Error", {}).get("Code", ""))) from None
    except BotoCoreError as error:
        raise NotTaken(type(error).__name__) from None


@cache
def s3_client() -> Any:
    """The process's own."""
    import boto3  # noqa: PLC0415 - agents that write nothing there never need it
    from botocore.config import Config  # noqa: PLC0415

    retries = {"mode": "standard", "total_max_attempts": 3}
    return boto3.client("s3", config=Config(retries=retries, **TIMES))


os.register_at_fork(after_in_child=s3_client.cache_clear)
