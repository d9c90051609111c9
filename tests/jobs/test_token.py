"""The short-term key: signed as AWS's own generator signs it, renewed in time, never shown."""

from __future__ import annotations

import hashlib
import hmac
from base64 import b64decode
from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qsl, quote

import boto3
import pytest
from botocore.credentials import Credentials, RefreshableCredentials

from reward_functions.core.errors import ConfigurationError
from reward_functions.jobs.clients import (
    LONGEST,
    MARGIN,
    Key,
    KeySource,
    key_source,
    lifetime,
    made,
    signed,
)

NOW = datetime(2026, 11, 22, 9, 0, 0, tzinfo=UTC)
MADE_UP = Credentials("AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY")
OF_A_ROLE = Credentials("ASIAEXAMPLE", "secret", "a/session+token==")


def signature(query, secret, region):
    """Signature Version 4 of a presigned request, from AWS's own description of it."""
    date, *_ = (value for name, value in query if name == "X-Amz-Date")
    scope = f"{date[:8]}/{region}/bedrock/aws4_request"
    rest = sorted((quote(name, safe=""), quote(value, safe="")) for name, value in query)
    canonical = "\n".join(
        [
            "POST",
            "/",
            "&".join(f"{name}={value}" for name, value in rest),
            "host:bedrock.amazonaws.com\n",
            "host",
            hashlib.sha256(b"").hexdigest(),
        ]
    )
    digest = hashlib.sha256(canonical.encode()).hexdigest()
    key = f"AWS4{secret}".encode()
    for part in (*scope.split("/"), f"AWS4-HMAC-SHA256\n{date}\n{scope}\n{digest}"):
        key = hmac.new(key, part.encode(), hashlib.sha256).digest()
    return key.hex()


@pytest.mark.parametrize("credentials", [MADE_UP, OF_A_ROLE], ids=["user", "role"])
def test_a_key_is_a_request_signed_in_advance(credentials):
    key = signed(credentials, "us-west-2", 3600)
    prefix, encoded = key.secret[:16], key.secret[16:]
    assert prefix == "bedrock-api-key-"
    place, _, query = b64decode(encoded, validate=True).decode().partition("?")
    assert place == "bedrock.amazonaws.com/"
    *parts, (last, mark), version = parse_qsl(query)
    assert version == ("Version", "1")  # behind the signature: it is not signed
    assert last == "X-Amz-Signature"
    named = dict(parts)
    assert named["Action"] == "CallWithBearerToken"
    assert named["X-Amz-Expires"] == "3600"
    assert named["X-Amz-Credential"].split("/")[2:] == ["us-west-2", "bedrock", "aws4_request"]
    assert named.get("X-Amz-Security-Token") == credentials.token
    assert mark == signature(parts, credentials.secret_key, "us-west-2")


def test_nothing_that_is_printed_holds_the_key():
    key = signed(MADE_UP, "us-west-2", 60)
    source = KeySource(lambda: key)
    source()
    shown = [repr(key), str(key), f"{key}", f"{key!r}", "%s" % key, repr([key]), repr(source)]  # noqa: UP031
    assert not any(key.secret in each or key.secret[20:60] in each for each in shown)
    assert str(key).startswith("Key(expires=")
    with pytest.raises(TypeError):
        vars(key)


def lasting(seconds):
    """Credentials that end after some seconds, as those of a role do."""
    end = datetime.now(UTC) + timedelta(seconds=seconds)
    fixed = {"access_key": "ASIA", "secret_key": "secret", "token": "token"}
    metadata = {**fixed, "expiry_time": end.isoformat()}
    return RefreshableCredentials("ASIA", "secret", "token", end, lambda: metadata, "test")


@pytest.mark.parametrize(
    ("seconds", "least", "most"),
    [(100_000, LONGEST, LONGEST), (3600, 3500, 3600), (200, 100, 200), (-60, 0, 0)],
)
def test_a_key_lasts_no_longer_than_its_credentials(seconds, least, most):
    assert least <= lifetime(lasting(seconds)) <= most


def test_credentials_without_an_end_last_as_long_as_a_key_may():
    assert lifetime(MADE_UP) == LONGEST


def test_a_key_of_the_environment_says_when_it_ends(nobody):
    key = made("us-west-2")
    left = (key.expires - datetime.now(UTC)).total_seconds()
    assert LONGEST - 60 < left <= LONGEST


def test_without_credentials_there_is_no_key(nobody, monkeypatch):
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    with pytest.raises(ConfigurationError, match="no AWS credentials"):
        made("us-west-2")


def test_credentials_that_ended_are_a_sentence(nobody, monkeypatch):
    session = boto3.Session()
    ended = lasting(-60)
    monkeypatch.setattr(ended, "get_frozen_credentials", lambda: MADE_UP)
    session._session._credentials = ended
    with pytest.raises(ConfigurationError, match="have expired; log in again"):
        made("us-west-2", session)


class Clock:
    """A clock that is set by hand, and keys that it numbers."""

    def __init__(self):
        self.now, self.made = NOW, 0

    def __call__(self):
        return self.now

    def key(self, hours=12):
        self.made += 1
        return Key(f"key-{self.made}", self.now + timedelta(hours=hours))


def test_a_watch_of_a_day_has_a_valid_key_at_every_moment():
    clock = Clock()
    source = KeySource(clock.key, clock=clock)
    for _ in range(24 * 60):
        assert source().expires - clock.now >= MARGIN
        clock.now += timedelta(minutes=1)
    assert clock.made == 3


def test_a_key_that_was_refused_is_replaced_once_for_all_threads():
    clock = Clock()
    source = KeySource(clock.key, clock=clock)
    refused = source()
    second = source.renewed(refused)
    assert source.renewed(refused) is second
    assert source() is second
    assert clock.made == 2


def test_a_given_key_is_used_as_it_is(nobody, monkeypatch):
    monkeypatch.setenv("AWS_BEARER_TOKEN_BEDROCK", "bedrock-api-key-given")
    source = key_source("us-west-2")
    assert source().secret == "bedrock-api-key-given"
    assert source.renewed(source()) is source()
    assert "unset the variable" in source.remedy


def test_without_one_keys_are_made(nobody):
    assert key_source("us-west-2")().secret.startswith("bedrock-api-key-")
