"""Bearer tokens of both packages, with fixed credentials at one time: the same bytes."""

from base64 import b64decode
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from urllib.parse import parse_qs

import botocore.auth
import pytest
from botocore.credentials import Credentials

from reward_functions.rollouts.report import credentials
from tests.compat.conftest import ABSENT

pytest.importorskip("sagemaker.train", reason=ABSENT)

NOW = datetime(2026, 11, 22, 9, 0, 0, tzinfo=UTC)
PREFIX = "sagemaker-api-key-"
PROVIDERS = {
    "a user": Credentials("AKIDEXAMPLE", "secret"),
    "a role": Credentials("ASIAEXAMPLE", "secret", "session/token+="),
}


@pytest.fixture(autouse=True)
def _one_time(monkeypatch):
    """botocore reads the time through a name of its own."""
    monkeypatch.setattr(
        botocore.auth,
        "get_current_datetime",
        lambda remove_tzinfo=True: NOW.replace(tzinfo=None) if remove_tzinfo else NOW,
    )


@pytest.fixture
def theirs():
    return pytest.importorskip("sagemaker.core.token_generator").generate_token


def decoded(token):
    """Where a token points, and its query."""
    address, _, query = b64decode(token.removeprefix(PREFIX)).decode().partition("?")
    return address, {name: values[0] for name, values in parse_qs(query).items()}


@pytest.mark.parametrize("minutes", [1, 15, 720])
@pytest.mark.parametrize("region", ["us-west-2", "eu-central-1"])
@pytest.mark.parametrize("who", PROVIDERS)
def test_a_token_is_the_same(theirs, who, region, minutes):
    provider = SimpleNamespace(load=lambda: PROVIDERS[who])
    args = {"aws_credentials_provider": provider, "expiry": timedelta(minutes=minutes)}
    their, our = theirs(region, **args), credentials.generate_token(region, **args)
    assert our.startswith(PREFIX)
    address, query = decoded(our)
    assert (address, query) == decoded(their)
    assert address == "sagemaker.amazonaws.com/"
    assert query["X-Amz-Date"] == "20261122T090000Z"
    assert query["X-Amz-Expires"] == str(60 * minutes)


REFUSED = [
    ({"region": None}, ValueError),
    ({"expiry": timedelta(0)}, ValueError),
    ({"expiry": timedelta(hours=12, seconds=1)}, ValueError),
    ({"aws_credentials_provider": SimpleNamespace(load=lambda: None)}, RuntimeError),
]


@pytest.mark.parametrize(("args", "error"), REFUSED)
def test_what_is_refused_is_the_same(theirs, monkeypatch, args, error):
    monkeypatch.delenv("AWS_REGION")
    args = {
        "region": "us-west-2",
        "aws_credentials_provider": SimpleNamespace(load=lambda: PROVIDERS["a user"]),
    } | args
    for generate in (theirs, credentials.generate_token):
        with pytest.raises(error):
            generate(**args)
