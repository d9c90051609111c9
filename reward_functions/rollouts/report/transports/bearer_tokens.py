"""Bearer tokens of SageMaker: minted here, cached for minutes, made again after a refusal.

A token is a presigned URL: `sagemaker-api-key-` and the base64 of

    sagemaker.amazonaws.com/?Action=CallWithBearerToken&X-Amz-…&X-Amz-Signature=…&Version=1

It lives as long as it says, or as the credentials that signed it, whichever is shorter. The service
refuses a token of another region. botocore logs what it signs at level DEBUG: keep its loggers
above that where logs are kept.

Source: `sagemaker.core.token_generator` 2.27, whose bytes these are.
"""

from __future__ import annotations

import os
from base64 import b64encode
from dataclasses import dataclass, field
from datetime import timedelta
from threading import Lock
from time import time
from typing import TYPE_CHECKING, Any, Final

from reward_functions.rollouts.report.transports import CredentialsMissing
from reward_functions.rollouts.report.transports.account import Account

if TYPE_CHECKING:
    from collections.abc import Callable

HOST: Final = "sagemaker.amazonaws.com"
PREFIX: Final = "sagemaker-api-key-"
UNSIGNED: Final = "&Version=1"

LONGEST: Final = 12 * 3600
"""Seconds that a token may live."""

CACHED: Final = 300.0
"""Seconds for which a token is used again: a deployment cached for an hour, and failed when its
role's credentials rotated."""

LIFETIME: Final = 900
"""Seconds that a cached token lives: its time in the cache, and ten minutes for requests on their
way and for clocks that differ."""

REGIONS: Final = 16
"""Tokens kept at once: more regions than one process reports to."""

_shared = Account()


def generate_token(
    region: str | None = None,
    aws_credentials_provider: Any = None,
    expiry: timedelta = timedelta(hours=12),
) -> str:
    """A new bearer token, as `sagemaker.core.token_generator.generate_token` makes it.

    All calls share one session, and so one answer of the credentials' provider. Credentials that do
    not refresh themselves, such as a file's, are read anew by each call.

    Args:
        region: of the runtime; None for AWS_REGION.
        aws_credentials_provider: its `load()` gives credentials; None for botocore's chain.
        expiry: more than nothing, and at most 12 hours.

    Raises:
        ValueError: no region, or an expiry out of range.
        RuntimeError: no credentials.
    """
    where = region or os.environ.get("AWS_REGION")
    if not where:
        raise ValueError("no region: pass one, or set AWS_REGION")
    seconds = expiry.total_seconds()
    if not 0 < seconds <= LONGEST:
        raise ValueError("a token's expiry is more than nothing and at most 12 hours")
    if aws_credentials_provider is None:
        try:
            found = _shared.credentials()
        except CredentialsMissing as error:
            raise RuntimeError(str(error)) from None
        if not _shared.refreshes:
            _shared.renew()
        return mint(found, where, int(seconds))
    found = aws_credentials_provider.load()
    if found is None:
        raise RuntimeError("no AWS credentials were found by the given provider")
    return mint(found.get_frozen_credentials(), where, int(seconds))


def mint(credentials: Any, region: str, seconds: int) -> str:
    """A token of frozen credentials, for a region and a number of seconds from now."""
    from botocore.auth import SigV4QueryAuth  # noqa: PLC0415 - takes 0.1 seconds
    from botocore.awsrequest import AWSRequest  # noqa: PLC0415

    request = AWSRequest(
        method="POST",
        url=f"https://{HOST}/",
        headers={"host": HOST},
        params={"Action": "CallWithBearerToken"},
    )
    SigV4QueryAuth(credentials, "sagemaker", region, expires=seconds).add_auth(request)
    signed = request.url.removeprefix("https://") + UNSIGNED
    return PREFIX + b64encode(signed.encode()).decode()


@dataclass(frozen=True, slots=True)
class _Minted:
    """A token, and until when it is used, with these credentials."""

    text: str = field(repr=False)
    credentials: Any = field(repr=False)
    until: float


class BearerTokens:
    """Tokens by region, each minted once for all threads.

    A token is used for at most five minutes, and only while its credentials are the session's
    current ones. botocore replaces those ten minutes before they expire, so no token outlives them.

    Args:
        account: whose.
        clock: the time of day: a monotonic clock stands still while a Lambda or a laptop sleeps.
    """

    def __init__(self, account: Account, *, clock: Callable[[], float] = time) -> None:
        self._account = account
        self._clock = clock
        self._lock = Lock()
        self._minted: dict[str, _Minted] = {}

    def get(self, region: str) -> str:
        """A token for a region.

        Raises:
            CredentialsMissing: nothing to sign with.
        """
        with self._lock:
            credentials, now = self._account.credentials(), self._clock()
            known = self._minted.get(region)
            if known and known.credentials == credentials and now < known.until:
                return known.text
            if len(self._minted) >= REGIONS:
                self._minted.clear()
            text = mint(credentials, region, LIFETIME)
            self._minted[region] = _Minted(text, credentials, now + CACHED)
            return text

    def forget(self, token: str | None = None) -> None:
        """Mint anew at the next use: this token where it is still cached, or all of them."""
        with self._lock:
            self._minted = {
                region: each
                for region, each in self._minted.items()
                if token is not None and each.text != token
            }
