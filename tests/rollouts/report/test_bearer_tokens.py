"""Bearer tokens: their bytes, who mints them, and how long one is used."""

from base64 import b64decode
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from threading import Barrier

import pytest
from botocore.credentials import Credentials, RefreshableCredentials
from botocore.session import Session

from reward_functions.rollouts.report.credentials import (
    CACHED,
    LIFETIME,
    Account,
    BearerTokens,
    CredentialsMissing,
    generate_token,
    mint,
)

REGION = "us-east-1"


@pytest.fixture
def noon(monkeypatch):
    """The time of a signature."""
    at = datetime(2026, 11, 22, 12, tzinfo=UTC).replace(tzinfo=None)
    monkeypatch.setattr("botocore.auth.get_current_datetime", lambda *_: at)


def decoded(token):
    assert token.startswith("sagemaker-api-key-")
    return b64decode(token.removeprefix("sagemaker-api-key-"), validate=True).decode()


TOKEN = (
    "sagemaker.amazonaws.com/?Action=CallWithBearerToken&X-Amz-Algorithm=AWS4-HMAC-SHA256"
    "&X-Amz-Credential=AKIAEXAMPLE%2F20261122%2Fus-east-1%2Fsagemaker%2Faws4_request"
    "&X-Amz-Date=20261122T120000Z&X-Amz-Expires=900&X-Amz-SignedHeaders=host{}"
    "&X-Amz-Signature={}&Version=1"
)
PUBLISHED = [
    # session token, its part of the URL, the signature: of `sagemaker.core.token_generator` 2.27.0
    (None, "", "fda844515b6b658f980a7f87d8e0df7203063b7bc0cda85e64db12c30fbc6b72"),
    (
        "SESSION/TOKEN==",
        "&X-Amz-Security-Token=SESSION%2FTOKEN%3D%3D",
        "aa6d7833d9c3c36ec58300e97095507cd2bd30ff7dd5ff8afa7c0b0f8dd0c723",
    ),
]


@pytest.mark.parametrize(("session", "part", "signature"), PUBLISHED)
def test_a_token_has_the_bytes_of_the_published_package(noon, session, part, signature):
    frozen = Credentials("AKIAEXAMPLE", "secret", session).get_frozen_credentials()
    assert decoded(mint(frozen, REGION, 900)) == TOKEN.format(part, signature)


class Given:
    """A provider of credentials, as botocore has them."""

    def __init__(self, found):
        self.found = found

    def load(self):
        return self.found


@pytest.mark.parametrize(
    ("expiry", "seconds"),
    [(None, 43200), (timedelta(minutes=15), 900), (timedelta(seconds=1.5), 1)],
)
def test_a_token_of_ones_own_lives_as_long_as_it_is_asked_to(credentials, expiry, seconds):
    more = {"expiry": expiry} if expiry else {}
    assert f"X-Amz-Expires={seconds}&" in decoded(generate_token(REGION, **more))


def test_the_region_is_that_of_the_environment_where_none_is_given(credentials):
    credentials.setenv("AWS_REGION", "eu-west-1")
    assert "%2Feu-west-1%2F" in decoded(generate_token())
    assert "%2Fus-east-1%2F" in decoded(generate_token("us-east-1"))


def test_a_provider_of_ones_own(credentials):
    token = generate_token(REGION, aws_credentials_provider=Given(Credentials("AKIAOWN", "s")))
    assert "AKIAOWN" in decoded(token)


def test_credentials_that_do_not_refresh_themselves_are_read_anew(credentials):
    assert "AKIAEXAMPLE" in decoded(generate_token(REGION))
    credentials.setenv("AWS_ACCESS_KEY_ID", "AKIAROTATED")
    assert "AKIAROTATED" in decoded(generate_token(REGION))


BAD = [
    ({}, ValueError, "region"),
    ({"region": REGION, "expiry": timedelta(0)}, ValueError, "12 hours"),
    ({"region": REGION, "expiry": timedelta(hours=12, seconds=1)}, ValueError, "12 hours"),
    ({"region": REGION, "expiry": timedelta(days=-1)}, ValueError, "12 hours"),
    ({"region": REGION, "aws_credentials_provider": Given(None)}, RuntimeError, "credentials"),
]


@pytest.mark.parametrize(("given", "error", "message"), BAD)
def test_what_no_token_can_be_made_of(credentials, given, error, message):
    with pytest.raises(error, match=message):
        generate_token(**given)


def test_no_credentials_at_all(credentials):
    credentials.delenv("AWS_ACCESS_KEY_ID")
    with pytest.raises(RuntimeError, match="no AWS credentials"):
        generate_token(REGION)


class Provider:
    """The endpoint of a container's credentials: counts who asks."""

    def __init__(self, clock, life=3600.0):
        self.clock, self.life = clock, life
        self.asked = 0

    def __call__(self):
        self.asked += 1
        expires = datetime.now(UTC) + timedelta(seconds=self.life)
        return {
            "access_key": f"AKIA{self.asked}",
            "secret_key": "secret",
            "token": "session",
            "expiry_time": expires.isoformat(),
        }


class ContainerSession(Session):
    """A session whose credentials come from such an endpoint, at first use."""

    def __init__(self, provider):
        super().__init__()
        self.provider = provider
        self.found = None

    def get_credentials(self):
        if self.found is None:
            self.found = RefreshableCredentials.create_from_metadata(
                metadata=self.provider(), refresh_using=self.provider, method="container"
            )
        return self.found


class Now:
    """A clock that is set."""

    now = 1000.0

    def __call__(self):
        return self.now


@pytest.fixture
def now():
    return Now()


def test_64_threads_mint_one_token_and_ask_the_provider_once(now):
    provider = Provider(now)
    tokens = BearerTokens(Account(ContainerSession(provider)), clock=now)
    barrier = Barrier(64)

    def get(_):
        barrier.wait(60)
        return tokens.get(REGION)

    with ThreadPoolExecutor(64) as pool:
        minted = set(pool.map(get, range(64)))
    assert len(minted) == 1
    assert provider.asked == 1


@pytest.mark.parametrize(
    ("seconds", "again"), [(0.0, False), (CACHED - 1, False), (CACHED, True), (CACHED + 1, True)]
)
def test_a_token_is_used_for_minutes_and_lives_longer(monkeypatch, now, seconds, again):
    tokens = BearerTokens(Account(ContainerSession(Provider(now))), clock=now)
    monkeypatch.setattr(
        "botocore.auth.get_current_datetime",
        lambda *_: datetime.fromtimestamp(now(), UTC).replace(tzinfo=None),
    )
    first = tokens.get(REGION)
    now.now += seconds
    assert (tokens.get(REGION) != first) == again
    assert f"X-Amz-Expires={LIFETIME}&" in decoded(first)
    assert LIFETIME > CACHED


def test_a_token_is_not_used_beyond_the_credentials_that_signed_it(now):
    provider = Provider(now, life=300.0)  # within the ten minutes in which botocore must refresh
    tokens = BearerTokens(Account(ContainerSession(provider)), clock=now)
    first = tokens.get(REGION)
    assert tokens.get(REGION) != first
    assert provider.asked > 1


def test_each_region_has_its_token(now):
    tokens = BearerTokens(Account(ContainerSession(Provider(now))), clock=now)
    assert tokens.get("us-east-1") != tokens.get("us-west-2")
    assert tokens.get("us-east-1") == tokens.get("us-east-1")
    for number in range(100):
        tokens.get(f"us-east-{number}")
    assert len(tokens._minted) <= 16


def test_a_refused_token_is_forgotten_and_a_newer_one_is_not(credentials, now):
    account = Account()
    tokens = BearerTokens(account, clock=now)
    first = tokens.get(REGION)
    credentials.setenv("AWS_ACCESS_KEY_ID", "AKIAROTATED")
    tokens.forget(first)
    account.renew()
    second = tokens.get(REGION)
    assert "AKIAROTATED" in decoded(second)
    tokens.forget(first)  # by a thread that was refused with the first one, later
    assert tokens.get(REGION) is second
    tokens.forget()
    assert tokens.get(REGION) is not second


def test_a_session_is_opened_again_once_for_all_who_were_refused_with_it(credentials):
    account = Account()
    refused = Barrier(16)

    def meets_a_refusal(_):
        account.session()
        refused.wait(60)
        account.renew()
        return id(account.session())

    with ThreadPoolExecutor(16) as pool:
        sessions = set(pool.map(meets_a_refusal, range(16)))
    assert len(sessions) == 1


def test_a_failing_provider_is_credentials_that_are_missing(now):
    class Failing(Provider):
        def __call__(self):
            from botocore.exceptions import CredentialRetrievalError

            raise CredentialRetrievalError(provider="container", error_msg="secret detail")

    tokens = BearerTokens(Account(ContainerSession(Failing(now))), clock=now)
    with pytest.raises(CredentialsMissing, match="CredentialRetrievalError") as raised:
        tokens.get(REGION)
    assert "secret" not in str(raised.value)


def test_no_token_is_in_a_repr(credentials, now):
    tokens = BearerTokens(Account(), clock=now)
    token = tokens.get(REGION)
    assert token not in repr(tokens) + repr(vars(tokens))
    assert "wJalr" not in repr(vars(tokens))
