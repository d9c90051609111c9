"""AWS clients for judges: the only import of boto3 in the runtime.

botocore's own retries are off: they would multiply with those of the pipeline and exceed the
deadline.
"""

from __future__ import annotations

import json
import sys
from typing import Any, Final

from reward_functions.core.aws_region import shell_region
from reward_functions.core.errors import BadJudge
from reward_functions.core.extras import Extra, require

CONNECT_TIMEOUT: Final = 5.0
"""Seconds; a region that takes longer to accept a connection is not reachable."""


def client(
    service: str, *, timeout: float, region: str = "", endpoint: str = "", connections: int = 10
) -> Any:
    """A client of an AWS service.

    Args:
        service: as boto3 names it.
        timeout: seconds of a response.
        region: of AWS; "" for that of the environment.
        endpoint: a URL in place of the service's own; "" for none.
        connections: open at once, at most.

    Raises:
        MissingExtra: boto3 is not installed.
    """
    require("boto3", by="a judge", extra=Extra("aws", f"AWS's SDK, boto3, to call {service}"))
    import boto3  # noqa: PLC0415 - takes a quarter of a second
    from botocore.config import Config  # noqa: PLC0415

    config = Config(
        connect_timeout=min(CONNECT_TIMEOUT, timeout),
        read_timeout=timeout,
        retries={"mode": "standard", "total_max_attempts": 1},
        max_pool_connections=connections,
    )
    where = region or shell_region() or None
    return boto3.client(service, region_name=where, endpoint_url=endpoint or None, config=config)


def forget_session() -> None:
    """Read credentials and settings anew for the next client, if any was made."""
    if boto3 := sys.modules.get("boto3"):
        boto3.setup_default_session()


def secret(arn: str) -> str:
    """The text of a Secrets Manager secret; of a JSON object with one value, that value.

    Raises:
        BadJudge: it cannot be read. The message names the secret and never its content.
    """
    from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415

    parts = arn.split(":")
    region = parts[3] if len(parts) > 3 else ""  # noqa: PLR2004 - arn:partition:service:region
    try:
        manager = client("secretsmanager", timeout=10.0, region=region)
        text = str(manager.get_secret_value(SecretId=arn)["SecretString"])
    except (BotoCoreError, ClientError, KeyError) as error:
        raise BadJudge(f"the secret {arn} cannot be read: {type(error).__name__}") from None
    try:
        decoded = json.loads(text)
    except ValueError:
        return text
    values = list(decoded.values()) if isinstance(decoded, dict) else []
    return values[0] if len(values) == 1 and isinstance(values[0], str) else text
