"""The first cell of a notebook on a stage: with RUN_IN = "local" no call leaves this machine.

A proxy stands where every such call would go, and counts what it is asked for.
"""

import os
import socket
from contextlib import suppress
from threading import Thread

import boto3
import pytest

from helpers import here
from helpers.here import Stopped, run_in
from reward_functions.core.errors import ConfigurationError
from reward_functions.local.emulator.emulator import ACCOUNT

LEFT = {"AWS_ACCESS_KEY_ID": "AKIAIOSFODNN7EXAMPLE", "AWS_SECRET_ACCESS_KEY": "of an account"}

CONFIGURED = """
[default]
region = eu-west-1
endpoint_url = https://aws.example.com
services = own

[profile prod]
region = us-west-2
role_arn = arn:aws:iam::123456789012:role/prod
source_profile = default

[services own]
ssm =
  endpoint_url = https://ssm.us-west-2.amazonaws.com
sts =
  endpoint_url = https://sts.us-west-2.amazonaws.com
"""

STORED = """
[default]
aws_access_key_id = AKIAIOSFODNN7EXAMPLE
aws_secret_access_key = of an account

[prod]
aws_access_key_id = AKIAI44QH8DHBEXAMPLE
aws_secret_access_key = of production
"""

GENERAL, IGNORED = "AWS_ENDPOINT_URL", "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS"

SHELLS = {
    # what the shell has beside ~/.aws; EMULATOR becomes the emulator's address
    "keys in a file alone": ({}, "runs"),
    "another profile by habit, at the emulator": (
        {GENERAL: "EMULATOR", "AWS_PROFILE": "prod"},
        "runs",
    ),
    "endpoints are ignored": ({IGNORED: "true"}, "runs"),
    "endpoints are ignored, with keys of an account": (
        LEFT | {GENERAL: "EMULATOR", IGNORED: "true"},
        "refused",
    ),
    "keys of an account, at the emulator": (LEFT | {GENERAL: "EMULATOR"}, "refused"),
    "keys of an account, at another server of this machine": (
        LEFT | {GENERAL: "http://127.0.0.1:9"},
        "runs",
    ),
    "one service of AWS": (
        {GENERAL: "EMULATOR", "AWS_ENDPOINT_URL_STS": "https://sts.amazonaws.com"},
        "stopped",
    ),
    "one service of AWS, and no other address": (
        {"AWS_ENDPOINT_URL_IAM": "https://iam.amazonaws.com"},
        "stopped",
    ),
    "keys of an account": (LEFT, "stopped"),
}


@pytest.fixture
def left(monkeypatch):
    """Where calls asked a proxy to lead, off this machine: the method and the address of each."""
    asked = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def note():
            with suppress(OSError):
                while True:
                    caller, _ = server.accept()
                    with caller:
                        asked.append(caller.recv(1_000).decode().split()[:2])

        Thread(target=note, daemon=True).start()
        proxy = f"http://127.0.0.1:{server.getsockname()[1]}"
        for name in ("HTTP_PROXY", "HTTPS_PROXY"):
            monkeypatch.setenv(name, proxy)
            monkeypatch.setenv(name.lower(), proxy)
        for name in ("NO_PROXY", "no_proxy"):
            monkeypatch.setenv(name, "127.0.0.1")
        yield asked


@pytest.fixture
def shell(monkeypatch, tmp_path):
    """A shell without variables of AWS, on a machine where ~/.aws leads to an account."""
    for name in [name for name in os.environ if name.startswith(("AWS_", "OPENAI_"))]:
        monkeypatch.delenv(name)
    (tmp_path / "config").write_text(CONFIGURED)
    (tmp_path / "credentials").write_text(STORED)
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "credentials"))
    before = dict(os.environ)
    yield monkeypatch
    # What `run_in` set is no business of the next test.
    os.environ.clear()
    os.environ.update(before)


@pytest.mark.parametrize("case", SHELLS)
def test_local_never_asks_an_account(case, trained, shell, left):
    shell.setattr(here, "known", lambda: [trained.aws])
    variables, expected = SHELLS[case]
    for name, value in variables.items():
        shell.setenv(name, trained.aws.endpoint if value == "EMULATOR" else value)
    if expected == "runs":
        found = run_in("local")
        assert (found.local, found.account) == (True, ACCOUNT)
        assert "user/" in found.identity
        assert not {"AWS_PROFILE", IGNORED} & set(os.environ)
    else:
        kind = Stopped if expected == "stopped" else ConfigurationError
        with pytest.raises(kind) as refused:
            run_in("local")
        assert "\n" not in str(refused.value)
        assert "of an account" not in str(refused.value)
    assert left == []


def test_a_profile_comes_before_the_keys_and_the_default_profile_of_the_shell(shell, left):
    for name, value in (LEFT | {"AWS_DEFAULT_PROFILE": "default"}).items():
        shell.setenv(name, value)
    shell.setenv("AWS_CONFIG_FILE", os.devnull)
    shell.setenv("AWS_DEFAULT_REGION", "us-west-2")
    shell.setenv("AWS_MAX_ATTEMPTS", "1")
    with pytest.raises(ConfigurationError):
        run_in("prod")
    # The proxy refused: the call was to be AWS's, and the keys are the profile's.
    assert left[0] == ["CONNECT", "ssm.us-west-2.amazonaws.com:443"]
    assert boto3.Session().get_credentials().access_key == "AKIAI44QH8DHBEXAMPLE"
