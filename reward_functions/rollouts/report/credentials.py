"""Whose credentials sign a report, and the bearer tokens that they mint.

All threads share one botocore session. sagemaker.train.rft opens a session for every token: 32
rollouts at once starve the provider of a container's credentials, and find none.

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
from threading import Lock, RLock, local
from time import time
from typing import TYPE_CHECKING, Any, Final

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


class NoReply(Exception):
    """No reply came. The message is for people.

    Args:
        message: what happened, without an address or a credential.
        sent: whether the request may have arrived; False where no connection was made.
    """

    def __init__(self, message: str, *, sent: bool = True) -> None:
        super().__init__(message)
        self.sent = sent


class CredentialsMissing(NoReply):
    """Nothing could be signed: no credentials were found, or their provider did not answer."""

    def __init__(self, message: str) -> None:
        super().__init__(message, sent=False)


class Account:
    """A botocore session, opened at first use; shared by threads.

    Args:
        session: boto3's or botocore's; None for a new one of the environment.
    """

    def __init__(self, session: Any = None) -> None:
        self._given = getattr(session, "_session", session)  # boto3 wraps botocore's
        self._session = self._given
        self._used = local()
        self._lock = RLock()

    def session(self) -> Any:
        """The session of botocore."""
        from botocore.session import Session  # noqa: PLC0415 - takes 0.1 seconds

        with self._lock:
            if self._session is None:
                self._session = Session()
            self._used.session = self._session
            return self._session

    def credentials(self) -> Any:
        """Credentials as they are now, frozen: a refresh cannot mix two of them in one signature.

        botocore refreshes them ten minutes before they expire, or raises.

        Raises:
            CredentialsMissing: the shell has no credentials, or their provider failed.
        """
        from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415

        with self._lock:  # one thread asks the provider, the others wait for its answer
            try:
                found = self.session().get_credentials()
                frozen = found.get_frozen_credentials() if found else None
            except (BotoCoreError, ClientError) as error:
                raise CredentialsMissing(
                    f"the credentials' provider failed: {type(error).__name__}"
                ) from None
        if frozen is None or not frozen.access_key or not frozen.secret_key:
            raise CredentialsMissing("no AWS credentials were found")
        return frozen

    @property
    def refreshes(self) -> bool:
        """Whether the session's credentials refresh themselves."""
        from botocore.credentials import RefreshableCredentials  # noqa: PLC0415

        with self._lock:
            return isinstance(self.session().get_credentials(), RefreshableCredentials)

    def ca_bundle(self) -> str | None:
        """The path of `AWS_CA_BUNDLE`, or of a profile's `ca_bundle`."""
        bundle = self.session().get_config_variable("ca_bundle")
        return str(bundle) if bundle else None

    def renew(self) -> None:
        """Open another session for the next use, where the refused one is still the current one.

        Of 64 threads that were refused with one session, the first one's call counts. A session
        that was given stays: it renews its own credentials.
        """
        with self._lock:
            if self._session is getattr(self._used, "session", None):
                self._session = self._given


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
