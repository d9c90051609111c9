"""Where the runtime of a job is, and which hosts may be given a credential.

A payload may name an endpoint, and a forged payload would be sent a valid bearer token. So a
credential goes to AWS's own runtime hosts, over TLS, and to what the operator of the agent named:
by `RFT_RUNTIME_ENDPOINT`, boto3's own `AWS_ENDPOINT_URL_SAGEMAKERJOBRUNTIME`, or an argument.

| where the endpoint comes from | in this order |
| --- | --- |
| the payload's `metadata.endpoint` | if it may be trusted |
| `RFT_RUNTIME_ENDPOINT` | the name that sagemaker.train.rft reads |
| `AWS_ENDPOINT_URL_SAGEMAKERJOBRUNTIME` | boto3's |
| `https://job-runtime[.RFT_STAGE].sagemaker.REGION.api.aws` | |
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from reward_functions.rollouts.request.errors import UntrustedEndpoint

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from reward_functions.rollouts.request.contract import RolloutMetadata

DEFAULT_REGION: Final = "us-west-2"
"""Of sagemaker.train.rft."""

NAMED: Final = ("RFT_RUNTIME_ENDPOINT", "AWS_ENDPOINT_URL_SAGEMAKERJOBRUNTIME")

REGION: Final = re.compile(r"[a-z]{2,3}(?:-[a-z]{1,12}){1,3}-[0-9]{1,2}")
REGION_AT: Final = 3
"""Which part of `arn:PARTITION:SERVICE:REGION:…` it is."""

STAGE: Final = re.compile(r"[a-z0-9-]{1,32}")

AWS_HOSTS: Final = re.compile(
    r"(?:finetuning-)?job-runtime(?:\.[a-z0-9-]{1,32})?\.sagemaker(?:-fips)?"
    r"\.([a-z0-9-]{4,32})\.(?:api\.aws|amazonaws\.com|amazonaws\.com\.cn|api\.amazonwebservices\.com\.cn)"
)
"""The runtime of current jobs and the alpha's `finetuning-job-runtime.alpha.…`."""


def region_in(arn: str) -> str:
    """The region that an ARN names; "" where it names none."""
    named = (arn.split(":", REGION_AT + 1) + [""] * REGION_AT)[REGION_AT]
    return named if REGION.fullmatch(named) else ""


def region_of(metadata: RolloutMetadata, environ: Mapping[str, str] = os.environ) -> str:
    """The region that requests are signed for.

    Raises:
        UntrustedEndpoint: the payload's region is malformed: it would become part of a host.
    """
    region = metadata.region or environ.get("AWS_REGION") or DEFAULT_REGION
    if not REGION.fullmatch(region):
        raise UntrustedEndpoint("metadata.region is not the name of a region")
    return region


def endpoint_of(
    metadata: RolloutMetadata,
    *,
    trusted: Iterable[str] = (),
    environ: Mapping[str, str] = os.environ,
) -> str:
    """The endpoint of a rollout's runtime, without a slash at its end.

    Args:
        metadata: of the rollout.
        trusted: endpoints that may be named beside AWS's.
        environ: the variables.

    Raises:
        UntrustedEndpoint: the payload names another host.
    """
    if metadata.endpoint:
        require_trusted(metadata.endpoint, trusted=trusted, environ=environ)
        return metadata.endpoint.rstrip("/")
    for name in NAMED:
        if environ.get(name):
            return environ[name].rstrip("/")
    stage = environ.get("RFT_STAGE", "")
    middle = f".{stage}" if STAGE.fullmatch(stage) and stage != "prod" else ""
    return f"https://job-runtime{middle}.sagemaker.{region_of(metadata, environ)}.api.aws"


def signing_region(endpoint: str, otherwise: str) -> str:
    """The region that an endpoint takes signatures of: of AWS's hosts the one in their name.

    A token of another region is refused there.
    """
    origin = _origin(endpoint)
    named = AWS_HOSTS.fullmatch(origin[1]) if origin else None
    return named[1] if named else otherwise


def require_trusted(
    endpoint: str, *, trusted: Iterable[str] = (), environ: Mapping[str, str] = os.environ
) -> None:
    """Refuse an endpoint to which a credential may not be sent.

    Raises:
        UntrustedEndpoint: it may not.
    """
    named = {_origin(environ[name]) for name in NAMED if environ.get(name)}
    origin = _origin(endpoint)
    if origin is not None and origin in named | {_origin(each) for each in trusted}:
        return
    if origin is None or origin[0] != "https" or not AWS_HOSTS.fullmatch(origin[1]) or origin[2]:
        raise UntrustedEndpoint(
            "the payload names a runtime endpoint that is not AWS's: no credential is sent there; "
            "if it is yours, set RFT_RUNTIME_ENDPOINT to it where the agent runs"
        )


def _origin(endpoint: str) -> tuple[str, str, int | None] | None:
    """Scheme, host and port; None where two parsers might read them in two ways."""
    if not re.fullmatch(r"https?://[A-Za-z0-9.\-\[\]:]+(?:/[!-~]*)?", endpoint):
        return None
    try:
        parts = urlsplit(endpoint)
        port = parts.port
    except ValueError:
        return None
    default = {"https": 443, "http": 80}[parts.scheme]
    return parts.scheme, (parts.hostname or "").rstrip("."), None if port == default else port
