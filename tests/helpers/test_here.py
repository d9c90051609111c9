"""A first cell stops where the shell leads elsewhere than RUN_IN says; nothing is called."""

import os

import pytest

from helpers import here
from helpers.here import Stopped, run_in

EMULATOR = {"AWS_ENDPOINT_URL": "http://127.0.0.1:4566", "AWS_ACCESS_KEY_ID": "000000000000"}

REFUSED = [
    # RUN_IN, what the shell has, what the sentence says
    ("local", {}, "no local AWS runs: type reward local up --enforce --training"),
    ("local", EMULATOR, "no local AWS runs: type "),
    ("local", {"AWS_PROFILE": "prod"}, "leads to a real account by AWS_PROFILE"),
    ("local", {"AWS_ACCESS_KEY_ID": "AKIA"}, "leads to a real account by AWS_ACCESS_KEY_ID"),
    (
        "local",
        {"AWS_ENDPOINT_URL": "https://127.0.0.1.example.com", "AWS_SESSION_TOKEN": "secret"},
        "leads to a real account by AWS_ENDPOINT_URL, AWS_SESSION_TOKEN:",
    ),
    ("local", {"AWS_WEB_IDENTITY_TOKEN_FILE": "/x"}, "by AWS_WEB_IDENTITY_TOKEN_FILE:"),
    ("local", {"AWS_BEARER_TOKEN_BEDROCK": "secret"}, "by AWS_BEARER_TOKEN_BEDROCK:"),
    (
        "local",
        EMULATOR | {"AWS_ENDPOINT_URL_SSM": "https://ssm.us-east-1.amazonaws.com"},
        "leads to a real account by AWS_ENDPOINT_URL_SSM:",
    ),
    ("account", {"AWS_ENDPOINT_URL_STS": "http://127.0.0.1:4566"}, "at the local AWS emulator"),
    ("account", EMULATOR, "'account', and this process points at the local AWS emulator"),
    ("prod", EMULATOR, "'prod', and this process points at the local AWS emulator"),
    ("account", {"AWS_ACCESS_KEY_ID": "000000000000"}, "points at the local AWS emulator"),
]


@pytest.fixture(autouse=True)
def _shell(monkeypatch, tmp_path):
    """Of nobody, on a machine where no emulator was started; and no client is made."""
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.setattr(here, "aws_session", None)


@pytest.mark.parametrize(("where", "shell", "sentence"), REFUSED)
def test_a_shell_that_leads_elsewhere_stops_the_notebook(where, shell, sentence, monkeypatch):
    for name, value in shell.items():
        monkeypatch.setenv(name, value)
    before = dict(os.environ)
    with pytest.raises(Stopped) as stopped:
        run_in(where)
    assert sentence in str(stopped.value)
    assert "secret" not in str(stopped.value)
    assert stopped.value._render_traceback_() == [f"stopped: {stopped.value}"]
    assert dict(os.environ) == before
