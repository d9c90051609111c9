"""What a job of SageMaker measured and made, read and hosted by `jobs` from the double."""

from __future__ import annotations

from urllib.parse import urlsplit

import pytest

from reward_functions.jobs import hosting
from reward_functions.jobs.drivers.mlflow import MlflowApp
from reward_functions.jobs.figures import read_as, series
from reward_functions.jobs.hosting import Hosting
from tests.local.training_double.conftest import REGION, rows
from tests.local.training_double.sagemaker_world import NOVA, channel


@pytest.fixture
def service(sm, monkeypatch):
    """Hosting by the person, whose clients lead to the double, and to the emulator's S3."""

    def client(name, region, session=None):
        return sm.world.s3 if name == "s3" else sm.world.client(sm.person, name)

    monkeypatch.setattr(hosting, "client", client)
    return Hosting(REGION, sm.person, pause=lambda _: None)


def test_the_figures_of_a_job_are_read_and_known(sm, trained):
    app = MlflowApp(sm.app, sm.world.double.endpoint, REGION, sm.person)
    found = series(app.points(trained["MlflowDetails"]["MlflowRunId"]))
    assert urlsplit(sm.world.double.endpoint).hostname == "127.0.0.1"
    read = {(each.split, read_as(each.name)) for each in found}
    assert {("training", "reward_mean"), ("training", "entropy")} <= read
    assert ("validation", "reward_mean") in read


def test_open_weights_are_imported_asked_and_removed(sm, trained, service):
    package = trained["OutputModelPackageArn"]
    hosted = service.host(package, "tuned-open", sm.role, tags={"team": "maths"})
    assert (hosted.kind, hosted.status) == ("imported model", "Active")
    assert service.host(package, "tuned-open", sm.role, tags={}) == hosted
    (turn, *_) = next(rows(1))["messages"]
    turns = [{"role": "user", "content": [{"text": turn["content"]}]}]
    answer = sm.runtime.converse(modelId=hosted.arn, messages=turns)
    assert answer["output"]["message"]["content"][0]["text"]
    made = list(service.made_from(service.package(package)))
    assert [each.arn for each in made] == [hosted.arn]
    service.remove(hosted.arn)
    assert not list(service.made_from(service.package(package)))


def test_a_package_of_nova_is_deployed_and_removed(sm, service):
    done = sm.run(
        model=NOVA,
        TrainingJobName="results-nova",
        serverless={"EvaluatorArn": sm.bare_evaluator},
        HyperParameters={},
        InputDataConfig=[channel("train", sm.nova_train)],
    )
    package = done["OutputModelPackageArn"]
    hosted = service.host(package, "tuned-nova", sm.role, tags={"team": "maths"})
    assert (hosted.kind, hosted.status) == ("deployment", "Active")
    assert service.host(package, "tuned-nova", sm.role, tags={}) == hosted
    made = list(service.made_from(service.package(package)))
    assert [each.kind for each in made] == ["deployment", "custom model"]
    for each in made:
        service.remove(each.arn)
    assert not list(service.made_from(service.package(package)))
