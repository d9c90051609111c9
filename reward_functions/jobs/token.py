"""The short-term key of Bedrock's OpenAI-compatible API: made here, renewed in time, never shown.

A key is a request to Bedrock that the caller's credentials have signed in advance. Whoever holds it
is the caller, in one region, for at most twelve hours and never longer than the credentials last.

Source: AWS's package aws-bedrock-token-generator 1.1.0; `AWS_BEARER_TOKEN_BEDROCK` is botocore's.
"""

from __future__ import annotations

import os
import re
from base64 import b64encode
from bisect import bisect_left
from datetime import UTC, datetime, timedelta
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, Protocol

from reward_functions.aws.failures import AwsFailed, in_words
from reward_functions.aws.shell import aws_session

if TYPE_CHECKING:
    from collections.abc import Callable

    from boto3.session import Session

HOST: Final = "bedrock.amazonaws.com"
PREFIX: Final = "bedrock-api-key-"
SECRET: Final = re.compile(rf"{PREFIX}[A-Za-z0-9+/=_-]*")
"""A key of ours, also an earlier one, or a part of one."""

UNSIGNED: Final = "&Version=1"
"""What follows the signed request, and is no part of what is signed."""

LONGEST: Final = 43_200
"""Seconds, twelve hours."""

MARGIN: Final = timedelta(minutes=5)
"""How long before its end a key is replaced: longer than any request takes."""

VARIABLE: Final = "AWS_BEARER_TOKEN_BEDROCK"
"""A key that the caller has already; boto3's own clients of Bedrock prefer it, too."""


class Key:
    """A key that no message shows: neither `repr`, `str` nor a format holds it.

    Args:
        secret: what is sent.
        expires: when it ends; None where nobody knows.
    """

    __slots__ = ("_secret", "expires")

    def __init__(self, secret: str, expires: datetime | None) -> None:
        self._secret = secret
        self.expires = expires

    @property
    def secret(self) -> str:
        """What is sent, as a bearer token."""
        return self._secret

    def __repr__(self) -> str:
        return f"Key(expires={self.expires})"


class KeySource(Protocol):
    """Where keys come from. `remedy` says what to do about one that is refused."""

    remedy: str

    def __call__(self) -> Key:
        """A key that is valid now, as far as this machine can know."""

    def renewed(self, refused: Key) -> Key:
        """Another key than one that the service refused; the same where there is no other."""


class Refreshing:
    """Keys that are made when they are needed; threads may share one.

    Args:
        make: makes one.
        margin: how long before its end a key is replaced.
        clock: the time now, in UTC.
    """

    remedy = (
        "the key made from these AWS credentials is refused: they have expired, or belong to "
        "nobody; log in again, such as with `aws sso login`"
    )

    def __init__(
        self,
        make: Callable[[], Key],
        margin: timedelta = MARGIN,
        clock: Callable[[], datetime] | None = None,
    ) -> None:
        self._make = make
        self._margin = margin
        self._clock = clock or _now
        self._key: Key | None = None
        self._lock = Lock()

    def __call__(self) -> Key:
        """The key in use, or a new one shortly before its end."""
        with self._lock:
            key = self._key
            if key is None or key.expires is None or key.expires - self._clock() < self._margin:
                key = self._key = self._make()
            return key

    def renewed(self, refused: Key) -> Key:
        """A new key, unless another thread has made one meanwhile."""
        with self._lock:
            if self._key is None or self._key is refused:
                self._key = self._make()
            return self._key


class Given:
    """A key that somebody else made, and that cannot be replaced from here."""

    remedy = (
        f"the key in {VARIABLE} is refused: it has expired, or is unknown; unset the variable, and "
        "a key is made from your AWS credentials"
    )

    def __init__(self, key: Key) -> None:
        self._key = key

    def __call__(self) -> Key:
        """The key."""
        return self._key

    def renewed(self, refused: Key) -> Key:
        """The same."""
        return refused


def key_source(region: str, session: Session | None = None) -> KeySource:
    """Keys of the caller, for as long as the credentials can be refreshed.

    Args:
        region: where the keys are valid.
        session: boto3's; the caller's own where not given.
    """
    given = os.environ.get(VARIABLE)
    if given:
        return Given(Key(given, None))
    return Refreshing(lambda: made(region, session))


def made(region: str, session: Session | None = None) -> Key:
    """A new key, which lasts as long as it may.

    Raises:
        AwsFailed: there are no credentials, or they have expired.
    """
    with in_words("making a key of the OpenAI-compatible API"):
        credentials = (session or aws_session()).get_credentials()
        if credentials is None:
            raise AwsFailed("no AWS credentials; log in, or set AWS_PROFILE")
        frozen = credentials.get_frozen_credentials()  # refreshed, where that is due
        seconds = lifetime(credentials)
        if not seconds:
            raise AwsFailed("the AWS credentials have expired; log in again")
        return signed(frozen, region, seconds)


def signed(credentials: Any, region: str, seconds: int) -> Key:
    """The key that some credentials sign.

    Args:
        credentials: botocore's, or any with `access_key`, `secret_key` and `token`.
        region: where it is valid.
        seconds: for how long, from 1 to `LONGEST`.
    """
    from botocore.auth import SigV4QueryAuth  # noqa: PLC0415 - 0.2 s
    from botocore.awsrequest import AWSRequest  # noqa: PLC0415

    expires = _now() + timedelta(seconds=seconds)
    action = {"Action": "CallWithBearerToken"}
    request = AWSRequest("POST", f"https://{HOST}/", headers={"host": HOST}, params=action)
    SigV4QueryAuth(credentials, "bedrock", region, expires=seconds).add_auth(request)
    whole = request.url.removeprefix("https://") + UNSIGNED
    return Key(PREFIX + b64encode(whole.encode()).decode(), expires)


def lifetime(credentials: Any) -> int:
    """Seconds that credentials last, at most `LONGEST`; those without an end last so long.

    botocore answers whether credentials end within some seconds, and not when they end.
    """
    ends_within = getattr(credentials, "refresh_needed", None)
    if ends_within is None:
        return LONGEST
    seconds = range(1, LONGEST + 1)
    return bisect_left(seconds, True, key=lambda each: bool(ends_within(refresh_in=each)))


def without(key: Key, message: str) -> str:
    """A message of a service, which may repeat the key that it was sent, or the end of one.

    A key is a signed request in Base64: what follows its prefix is never shown.
    """
    return SECRET.sub("(the key)", message.replace(key.secret, "(the key)"))


def _now() -> datetime:
    return datetime.now(UTC)
