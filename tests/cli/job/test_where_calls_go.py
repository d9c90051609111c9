"""A shell that points to two kinds of AWS is refused before any command's first call."""

from __future__ import annotations

import socket

import pytest
from typer.testing import CliRunner

from reward_functions.cli import app
from reward_functions.cli.job import ROWS
from reward_functions.local.emulator.emulator import TRAINING

ARGUMENTS = {
    "plan": ("-d", "gsm8k", "-m", "amazon.nova-2-lite-v1:0:256k", "--rows", "200"),
    "baseline": ("-d", "gsm8k", "-m", "amazon.nova-2-lite-v1:0:256k", "--data", "FILE", "--yes"),
    "preflight": ("-d", "gsm8k", "-m", "amazon.nova-2-lite-v1:0:256k", "--data", "FILE"),
    "start": ("-d", "gsm8k", "-m", "amazon.nova-2-lite-v1:0:256k", "--data", "FILE"),
    "list": (),
    "show": ("gsm8k-0a1b2c3d-1",),
    "watch": ("gsm8k-0a1b2c3d-1",),
    "metrics": ("gsm8k-0a1b2c3d-1",),
    "stop": ("gsm8k-0a1b2c3d-1", "--yes"),
    "diagnose": ("gsm8k-0a1b2c3d-1",),
    "deploy-model": ("gsm8k-0a1b2c3d-1",),
    "cleanup": ("gsm8k-0a1b2c3d-1", "--yes"),
    "evaluate": ("gsm8k-0a1b2c3d-1", "--data", "FILE", "--yes"),
    "evaluators": (),
    "recipe": ("-d", "gsm8k", "-m", "nova-lite-v2", "--for", "training-job"),
}


@pytest.fixture
def trap(monkeypatch, tmp_path):
    """Every address of AWS leads here, through a proxy; whoever connects is waiting to be read."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        address = f"http://127.0.0.1:{listening.getsockname()[1]}"
        for name in (
            "AWS_PROFILE",
            "AWS_SESSION_TOKEN",
            "AWS_ENDPOINT_URL",
            "NO_PROXY",
            "no_proxy",
        ):
            monkeypatch.delenv(name, raising=False)
        for name in ("HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy"):
            monkeypatch.setenv(name, address)
        for name, value in {
            "AWS_ACCESS_KEY_ID": "AKIDEXAMPLE",
            "AWS_SECRET_ACCESS_KEY": "nobodys-secret",
            "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_CONFIG_FILE": str(tmp_path / "config"),
            "AWS_SHARED_CREDENTIALS_FILE": str(tmp_path / "credentials"),
        }.items():
            monkeypatch.setenv(name, value)
        for name in TRAINING:
            monkeypatch.setenv(f"AWS_ENDPOINT_URL_{name}", address)
        listening.setblocking(False)
        yield listening


def test_every_command_is_here():
    assert ARGUMENTS.keys() == set(ROWS)


@pytest.mark.parametrize("command", ARGUMENTS)
def test_no_request_leaves_a_half_pointed_shell(trap, rows, command):
    words = [str(rows) if word == "FILE" else word for word in ARGUMENTS[command]]
    ran = CliRunner().invoke(app, ["job", command, *words, "--stage", "dev"])
    assert ran.exit_code == 2
    assert "point to this machine, and AWS_ENDPOINT_URL to AWS" in ran.stderr
    with pytest.raises(BlockingIOError):
        trap.accept()
