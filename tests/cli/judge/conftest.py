"""The command line over judges, and the model server of the judges' own tests."""

import json

import pytest
from typer.testing import CliRunner

from reward_functions.cli import app
from tests.judge_runtime.conftest import serve

__all__ = ["serve"]


@pytest.fixture(autouse=True)
def nobody_judges(monkeypatch):
    """Whoever runs the tests may have a judge in the environment."""
    monkeypatch.delenv("REWARD_JUDGE", raising=False)


@pytest.fixture
def reward():
    def run(*arguments, stdin=None):
        return CliRunner().invoke(app, [str(argument) for argument in arguments], input=stdin)

    return run


@pytest.fixture
def write(tmp_path):
    """A file of rows, a line each."""

    def written(name, rows):
        path = tmp_path / name
        path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
        return path

    return written


@pytest.fixture
def settings():
    """Who judges, as one JSON object: a model behind a server."""

    def told(server, **model):
        model = {"model": "some-judge", "backend": "openai", "endpoint": f"{server.url}/v1"} | model
        return json.dumps({"models": [model], "retries": 0})

    return told
