"""The driver of SageMaker's serverless customization against the training double."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from reward_functions.jobs import evaluators, recipes
from reward_functions.jobs.configuration import Serverless
from reward_functions.jobs.drivers import base
from reward_functions.jobs.drivers.sagemaker import SageMakerDriver
from reward_functions.jobs.job import JobRequest
from tests.local.training_double.conftest import ACCOUNT, REGION
from tests.local.training_double.sagemaker_world import QWEN, base_arn


@pytest.fixture
def driver(sm, monkeypatch):
    clients = {"sagemaker": sm.client, "s3": sm.world.s3}
    for module in (base, evaluators, recipes):
        monkeypatch.setattr(module, "client", lambda service, *_: clients[service])
    monkeypatch.setattr(evaluators, "INTERVAL", 0.05)
    stage = SimpleNamespace(
        bucket=sm.world.bucket, sagemaker_role_arn=sm.role, training_role_arn=sm.role
    )
    return SageMakerDriver(REGION, stage)


def test_a_job_from_its_recipe_to_its_model_package(sm, driver):
    chosen = Serverless()
    recipe = recipes.recipe_of(QWEN, chosen, REGION, ACCOUNT)
    length = {"sequence_length": recipe.sequence_length}
    request = JobRequest(
        name="sums-0a1b2c3d-1",
        token="sums-0a1b2c3d-1",
        model=base_arn(QWEN).rpartition("/")[0],
        grader=sm.enveloped,
        hyperparameters=recipe.values({"rollout_n": 2}, chosen),
        training=sm.train,
        role=sm.role,
        output=f"s3://{sm.world.bucket}/rft-output/sums-0a1b2c3d-1/",
        sagemaker=chosen.model_copy(update=length),
        tags={"reward-functions:stage": "dev"},
    )
    calls = driver.calls(request)
    assert [call.operation for call in calls][-1] == "CreateTrainingJob"
    assert driver.find(request.name) is None
    job = driver.start(request)
    assert driver.start(request).id == job.id
    assert driver.calls(request)[0].operation == "CreateTrainingJob"  # all else is there
    sm.world.wait(job.id)
    ended = driver.get(job.id)
    assert (ended.status, ended.failure) == ("succeeded", "")
    assert ended.tuned_model.partition("/")[0].endswith(":model-package")
    assert ended.progress.epochs == ended.progress.epoch == 1
    assert ended.mlflow.run
    assert ended.tokens["train"] > 0
    assert ended.tags == {"reward-functions:stage": "dev"}
    assert next(event.message for event in driver.events(ended)) == "created"
    assert request.name in {each.name for each in driver.jobs()}
