"""A stage and the AWS that the shell points at: told apart before anything is deployed."""

from __future__ import annotations

import socket
from time import monotonic, sleep

import pytest

from reward_functions.cdk.shell import check_shell, is_loopback
from reward_functions.cdk.stages import BadStage, Stage

REAL = Stage(name="dev", region="us-east-1")
LOCAL = Stage(name="local", region="us-east-1", emulated=True)

HERE = "http://127.0.0.1:4566"
THERE = "https://vpce-1.example.com"

NAMES = {
    "emulator.example": ["127.0.0.1"],
    "emulator6.example": ["10.0.0.1", "::1"],
    "proxy.example": ["10.0.0.1", "fe80::1%eth0"],
    "ip6-localhost": ["::1"],
    "emulator.amazonaws.com": ["127.0.0.1"],
    "emulator.api.aws": ["127.0.0.1"],
}


@pytest.fixture(autouse=True)
def name_server(monkeypatch):
    """Nothing is asked beside these names."""

    def found(host, *_, **__):
        if host not in NAMES:
            raise socket.gaierror
        return [(None, None, 0, "", (address, 0)) for address in NAMES[host]]

    monkeypatch.setattr("socket.getaddrinfo", found)


def test_a_name_server_that_does_not_answer_is_not_waited_for(monkeypatch):
    monkeypatch.setattr("reward_functions.cdk.shell.RESOLVES_WITHIN", 0.05)
    monkeypatch.setattr("socket.getaddrinfo", lambda *_, **__: sleep(5))
    began = monotonic()
    assert not is_loopback("http://proxy.example")
    assert monotonic() - began < 2


@pytest.mark.parametrize(
    ("stage", "variables"),
    [
        (REAL, {}),
        (REAL, {"CDK_DEFAULT_ACCOUNT": "123456789012"}),
        (REAL, {"AWS_ENDPOINT_URL": THERE}),
        (REAL, {"AWS_ENDPOINT_URL": ""}),
        (REAL, {"AWS_ENDPOINT_URL": HERE, "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS": "true"}),
        (LOCAL, {"AWS_ENDPOINT_URL": HERE}),
        (LOCAL, {"AWS_ENDPOINT_URL": HERE, "CDK_DEFAULT_ACCOUNT": "000000000000"}),
        (LOCAL, {"AWS_ENDPOINT_URL": HERE, "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS": "false"}),
        (LOCAL, {"AWS_ENDPOINT_URL": HERE, "AWS_ENDPOINT_URL_S3": HERE}),
    ],
)
def test_a_stage_is_synthesised_for_the_aws_that_it_is_for(stage, variables):
    check_shell(stage, variables)


@pytest.mark.parametrize(
    ("stage", "variables", "message"),
    [
        (REAL, {"AWS_ENDPOINT_URL": HERE}, "AWS_ENDPOINT_URL points to this machine"),
        (REAL, {"AWS_ENDPOINT_URL_LAMBDA": HERE}, "AWS_ENDPOINT_URL_LAMBDA points to this machine"),
        (REAL, {"CDK_DEFAULT_ACCOUNT": "000000000000"}, "credentials are the local emulator's"),
        (LOCAL, {}, "this shell points elsewhere"),
        (
            LOCAL,
            {"AWS_ENDPOINT_URL": HERE, "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS": "TRUE"},
            "this shell points elsewhere",
        ),
        (
            LOCAL,
            {"AWS_ENDPOINT_URL": HERE, "CDK_DEFAULT_ACCOUNT": "123456789012"},
            "credentials are those of an account of AWS",
        ),
        (REAL, {"AWS_ENDPOINT_URL": "http://0.0.0.0:4566"}, "points to this machine"),
        (REAL, {"AWS_ENDPOINT_URL": "http://emulator.example:1"}, "points to this machine"),
        (LOCAL, {"AWS_ENDPOINT_URL": THERE}, "this shell points elsewhere"),
        (LOCAL, {"AWS_ENDPOINT_URL_S3": HERE}, "this shell points elsewhere"),
        (LOCAL, {"AWS_ENDPOINT_URL": HERE, "AWS_ENDPOINT_URL_S3": THERE}, "points elsewhere"),
        (LOCAL, {"CDK_DEFAULT_ACCOUNT": "123456789012"}, "this shell points elsewhere"),
    ],
)
def test_no_stage_reaches_the_other_aws(stage, variables, message):
    with pytest.raises(BadStage, match=message) as raised:
        check_shell(stage, variables)
    way = "up" if stage.emulated else "down"
    assert f'eval "$(reward local {way} --print-env)"' in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("url", "loopback"),
    [
        ("http://localhost:4566", True),
        ("https://localhost", True),
        ("http://aws.localhost:1", True),
        ("http://127.0.0.1:4566", True),
        ("http://127.1.2.3", True),
        ("http://[::1]:4566", True),
        ("127.0.0.1:4566", True),
        ("https://s3.us-east-1.amazonaws.com", False),
        ("http://10.0.0.1:4566", False),
        ("http://localhost.example.com", False),
        ("http://LOCALHOST.:1", True),
        ("http://0.0.0.0:4566", True),
        ("http://[::]:4566", True),
        ("http://[::ffff:127.0.0.1]:1", True),
        ("http://[::ffff:10.0.0.1]:1", False),
        ("http://127.1:1", True),
        ("http://0x7f.1:1", True),
        ("http://10.1:1", False),
        ("http://emulator.example:4566", True),
        ("http://emulator6.example.", True),
        ("http://ip6-localhost:1", True),
        ("http://proxy.example", False),
        ("http://nobody.example", False),
        ("http://127.0.0.1:1@proxy.example", False),
        ("https://emulator.amazonaws.com", False),
        ("https://emulator.api.aws", False),
        ("http://[::1", False),
        ("", False),
    ],
)
def test_loopback_is_this_machine_alone(url, loopback):
    assert is_loopback(url) == loopback
