"""Where a notebook runs, read from the environment without a call."""

import boto3
import pytest

from helpers.where import where_am_i


@pytest.fixture(autouse=True)
def _no_configuration(monkeypatch, tmp_path):
    for name in ("AWS_PROFILE", "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_STS", "AWS_REGION"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.delenv("AWS_DEFAULT_REGION", raising=False)
    for name in ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"):
        monkeypatch.setenv(name, str(tmp_path / "none"))


def test_an_account(monkeypatch):
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")
    here = where_am_i(stage="prod")
    assert (here.region, here.stage, here.is_local) == ("eu-central-1", "prod", False)
    assert str(here).startswith("AWS at https://sts.eu-central-1.")


@pytest.mark.parametrize("host", ["http://127.0.0.1:4566", "https://localhost:1"])
def test_the_local_emulator_has_its_own_stage(host, monkeypatch):
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    monkeypatch.setenv("AWS_ENDPOINT_URL", host)
    here = where_am_i()
    assert (here.stage, here.is_local, here.endpoint) == ("local", True, host)
    assert "local AWS emulator" in str(here)


def test_a_host_that_only_begins_like_loopback_is_not_local(monkeypatch):
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    monkeypatch.setenv("AWS_ENDPOINT_URL", "https://localhost.example.com")
    assert not where_am_i().is_local


def test_without_a_region_the_endpoint_is_the_global_one():
    here = where_am_i(boto3.Session())
    assert (here.region, here.endpoint) == (None, "https://sts.amazonaws.com")
    assert not here.is_local


def test_the_account_is_asked_of_sts(local_aws):
    here = where_am_i(local_aws.session())
    assert here.account() == "000000000000"
