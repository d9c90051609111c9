"""What tests of jobs and of their commands share: services, models that answer, a stage."""

from __future__ import annotations

import json

import pytest

from reward_functions.aws.catalogue import stage_parameter
from reward_functions.aws.deployed.catalogue import stage_record
from reward_functions.local.emulator.emulator import TRAINING
from tests.bedrock_service import Bedrock, Bucket
from tests.deployed_stage import NUMBERS, StageOnEmulator
from tests.jobs.memory import Service
from tests.jobs.models_service import Models
from tests.loopback import served
from tests.openai_service import OpenAI

GRADER = "arn:aws:lambda:us-east-1:000000000000:function:SageMaker-reward-dev-gsm8k:7"
ROLE = "arn:aws:iam::000000000000:role/training"


@pytest.fixture(scope="session")
def services():
    """One server each for S3, Bedrock and the OpenAI-compatible API."""
    with served(Bucket()) as bucket, served(Bedrock()) as bedrock, served(OpenAI()) as openai:
        yield bucket, bedrock, openai


@pytest.fixture
def service():
    return Service()


@pytest.fixture
def rows(tmp_path):
    """A training file."""
    file = tmp_path / "train.jsonl"
    row = {"messages": [{"role": "user", "content": "1 + 1?"}], "reference_answer": "2"}
    file.write_text("".join(f"{json.dumps(row | {'id': str(at)})}\n" for at in range(3)))
    return file


@pytest.fixture(scope="module")
def standing_stage(local_aws, root_session, deployed_function):
    """A stage with one deployment, `gsm8k`, that tests leave as it is, and its record."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in local_aws.environment.items():
            patch.setenv(name, value)
        stage = StageOnEmulator(root_session, deployed_function, f"stage{next(NUMBERS)}")
        stage.deployment(versions=2, live="2")
        known = stage_record(stage.stage, root_session)
        known = known.model_copy(update={"training_role_arn": ROLE, "bucket": "bucket"})
        stage.put(stage_parameter(stage.stage), known)
        yield stage, known


@pytest.fixture
def control_plane(services, local_aws, monkeypatch):
    """Bedrock beside the emulator, which the environment points at."""
    _, bedrock, _ = services
    bedrock.empty()
    for name, value in local_aws.environment.items():
        monkeypatch.setenv(name, value)
    for service in TRAINING:
        monkeypatch.setenv(f"AWS_ENDPOINT_URL_{service}", bedrock.address)
    return bedrock


@pytest.fixture
def models():
    """Models that can be asked, by Converse and by chat completions."""
    with served(Models()) as served_models:
        yield served_models
