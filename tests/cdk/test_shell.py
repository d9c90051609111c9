"""A stage and the AWS that the shell points at: told apart before anything is deployed."""

from __future__ import annotations

import socket

import pytest

from reward_functions.cdk.app.shell import check_shell
from reward_functions.cdk.model.stages import BadStage, Stage

REAL = Stage(name="dev", region="us-east-1")
LOCAL = Stage(name="local", region="us-east-1", emulated=True)

HERE = "http://127.0.0.1:4566"
THERE = "https://vpce-1.example.com"


@pytest.fixture(autouse=True)
def name_server(monkeypatch):
    """One name leads to this machine."""

    def found(host, *_, **__):
        if host != "emulator.example":
            raise socket.gaierror
        return [(None, None, 0, "", ("127.0.0.1", 0))]

    monkeypatch.setattr("socket.getaddrinfo", found)


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
    with pytest.raises(BadStage, match=r"stage with --stage NAME$"):
        check_shell(stage, variables, "--stage NAME")
    assert str(raised.value).endswith("stage with -c stage=NAME")
    way = "up" if stage.emulated else "down"
    assert f'eval "$(reward local {way} --print-env)"' in str(raised.value)
    assert "\n" not in str(raised.value)
