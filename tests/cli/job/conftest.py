"""`reward job` against a stage on the emulator, with services in memory in the drivers' place."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from reward_functions.cli import app
from reward_functions.local.emulator.emulator import TRAINING
from tests.jobs.memory import Driver

DOUBLE = "http://127.0.0.1:1"
"""Where a training double would be: the drivers that ask it are in memory."""


@pytest.fixture
def job(standing_stage, service, monkeypatch):
    """Run a command on that stage."""
    stage, _ = standing_stage
    monkeypatch.setenv("COLUMNS", "160")
    monkeypatch.setenv("TZ", "UTC")
    for name in TRAINING:
        monkeypatch.setenv(f"AWS_ENDPOINT_URL_{name}", DOUBLE)
    monkeypatch.setattr(
        "reward_functions.jobs.lookup.driver_for",
        lambda name, region, session, stage: Driver(service, name, region),
    )

    def run(command, *arguments, stage=stage.stage, **options):
        words = ["job", command, *map(str, arguments), "--stage", stage]
        return CliRunner().invoke(app, words, **options)

    return run


@pytest.fixture
def grader(standing_stage):
    stage, _ = standing_stage
    return f"arn:aws:lambda:us-east-1:000000000000:function:SageMaker-reward-{stage.stage}-gsm8k:2"


@pytest.fixture
def begun(service, grader):
    """A job that made three of four steps."""
    made = service.begun(
        name="gsm8k-0a1b2c3d-1", grader=grader, model="m", hyperparameters={"batchSize": 64},
        tags={"team": "maths"},
    )  # fmt: skip
    service.clock.sleep(200)
    return made
