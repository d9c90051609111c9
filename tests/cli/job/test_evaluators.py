"""`reward job evaluators`: what SageMaker knows, made harmless."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

from reward_functions.cli import app
from reward_functions.cli.job import _options
from reward_functions.jobs import evaluators
from reward_functions.jobs.evaluators import Registry
from tests.jobs.hub_service import ACCOUNT, Service

ROLE = f"arn:aws:iam::{ACCOUNT}:role/sagemaker"


@pytest.fixture
def listed(monkeypatch):
    service = Service()
    stage = SimpleNamespace(region="us-east-1", sagemaker_role_arn=ROLE, training_role_arn=ROLE)
    where = SimpleNamespace(stage=stage, session=None)
    monkeypatch.setattr(evaluators, "client", service.client)
    monkeypatch.setattr(_options, "place", lambda *_: where)
    monkeypatch.setattr(_options, "aws_session", lambda stage: None)

    def run(*arguments):
        return CliRunner().invoke(app, ["job", "evaluators", *arguments])

    return run


def test_no_hub_is_no_evaluators(listed):
    assert listed().stdout == "no evaluators in us-east-1\n"
    assert json.loads(listed("--json").stdout) == []


def test_an_evaluator_is_listed_and_markup_is_text(listed):
    registry = Registry("us-east-1", ACCOUNT, sleep=lambda _: None)
    made = registry.register("kind", "RewardPrompt", "s3://bucket/[red]x.txt")
    assert "[red]x.txt" in listed().stdout
    (found,) = json.loads(listed("--json").stdout)
    assert (found["arn"], found["version"]) == (made.arn, "1.0.0")
