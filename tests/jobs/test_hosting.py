"""Tuned models and their deployments: made once, waited for, and gone when they are gone."""

from __future__ import annotations

import pytest

from reward_functions.aws.failures import AwsFailed
from reward_functions.jobs.configuration import BadJob
from reward_functions.jobs.hosting import Hosting, NotHosted
from tests.bedrock_service import ARN, MOMENT, NOVA, body, refusal
from tests.loopback import LOST

MODEL = f"{ARN}:custom-model/amazon.nova-2-lite-v1:0:256k/abcdefghijkl"
NAME = "gsm8k-1f0c9a3e-1"


class Clock:
    """Seconds that pass while somebody waits."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now

    def wait(self, seconds):
        self.now += seconds


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def hosting(bedrock, clock):
    for at, name in enumerate((NAME, "other", "third")):
        bedrock.models[name] = {
            "modelArn": MODEL if not at else f"{MODEL[:-1]}{at}",
            "modelName": name,
            "modelStatus": "Active",
            "baseModelArn": f"arn:aws:bedrock:us-east-1::foundation-model/{NOVA}",
            "creationTime": MOMENT,
        }
    return Hosting("us-east-1", pause=clock.wait, clock=clock)


def deployed(hosting):
    return hosting.deploy(NAME, MODEL, token=NAME, tags={"reward": "gsm8k 3"})


def test_models_are_found_and_listed(hosting, bedrock):
    assert hosting.model(NAME) == hosting.model(MODEL)
    assert hosting.model("nobody") is None
    assert [each.name for each in hosting.models()] == ["third", "other", NAME]
    hosting.delete_model(NAME)
    hosting.delete_model(NAME)
    assert NAME not in bedrock.models


def test_a_deployment_is_made_once(hosting, bedrock):
    first = deployed(hosting)
    assert (first.name, first.model, first.status) == (NAME, MODEL, "Creating")
    assert deployed(hosting) == first
    (sent,) = bedrock.sent
    assert sent == {
        "modelDeploymentName": NAME,
        "modelArn": MODEL,
        "clientRequestToken": NAME,
        "tags": [{"key": "reward", "value": "gsm8k 3"}],
    }


def test_a_deployment_whose_answer_was_lost_is_the_one(hosting, bedrock):
    bedrock.fail("CreateCustomModelDeployment", LOST)
    with pytest.raises(AwsFailed):
        deployed(hosting)
    assert deployed(hosting).status == "Creating"
    assert len(bedrock.sent) == 1


def test_a_name_that_hosts_another_model_is_refused(hosting):
    deployed(hosting)
    with pytest.raises(BadJob, match=f"hosts another model, {MODEL}"):
        hosting.deploy(NAME, f"{MODEL[:-1]}1", token="x")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"modelStatus": "Creating"}, "is Creating, and not active"),
        ({"modelStatus": "Failed", "failureMessage": "no space"}, "not active: no space"),
        ({"modelArn": "gone"}, "there is no model"),
    ],
)
def test_a_model_that_is_not_active_is_not_deployed(hosting, bedrock, change, message):
    bedrock.models[NAME] |= change
    with pytest.raises(NotHosted, match=message):
        deployed(hosting)
    assert not bedrock.sent


def test_a_deployment_is_waited_for_with_pauses_that_grow(hosting, bedrock, clock):
    arn = deployed(hosting).arn
    seen, looks = [], []

    def looked(found):
        seen.append(found.status)
        looks.append(clock.now)
        if len(seen) == 6:
            bedrock.deployments[NAME]["status"] = "Active"

    assert hosting.wait(arn, progress=looked).status == "Active"
    assert seen == ["Creating"] * 6 + ["Active"]
    assert looks == [0, 1, 3, 7, 15, 30, 45]


def test_whoever_may_not_delete_a_model_reads_which_policy_it_takes(hosting, bedrock):
    bedrock.fail("DeleteCustomModel", refusal(403, "AccessDeniedException"))
    with pytest.raises(AwsFailed, match=r"not allowed: .*takes the policy of `operate`$") as raised:
        hosting.delete_model(MODEL)
    assert raised.value.denied


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"status": "Failed", "failureMessage": "no capacity"}, "failed, delete it: no capacity"),
        ({"status": "Creating"}, "is Creating after 1 minutes; it goes on"),
        ({"customModelDeploymentArn": f"{ARN}:custom-model-deployment/elsewhere000"}, "is gone"),
    ],
)
def test_a_wait_ends(hosting, bedrock, clock, change, message):
    arn = deployed(hosting).arn
    bedrock.deployments[NAME] |= change
    with pytest.raises(NotHosted, match=message):
        hosting.wait(arn, patience=60)
    assert clock.now <= 60


def test_deployments_are_listed_and_deleted(hosting):
    first = deployed(hosting)
    for at in (1, 2):
        hosting.deploy(f"other-{at}", f"{MODEL[:-1]}{at}", token="x")
    assert [each.name for each in hosting.deployments()] == [NAME, "other-1", "other-2"]
    assert list(hosting.deployments(MODEL)) == [first]
    hosting.undeploy(first.arn)
    hosting.undeploy(first.arn)
    assert hosting.deployment(NAME) is None


@pytest.mark.parametrize(
    ("operation", "call"),
    [
        ("GetCustomModel", lambda hosting: hosting.model(NAME)),
        ("ListCustomModels", lambda hosting: list(hosting.models())),
        ("GetCustomModelDeployment", lambda hosting: hosting.deployment(NAME)),
        ("ListCustomModelDeployments", lambda hosting: list(hosting.deployments())),
    ],
)
@pytest.mark.parametrize("content", [b"<html>", b"[]", b"{}"])
def test_an_answer_of_something_else_is_one_sentence(hosting, bedrock, operation, call, content):
    bedrock.fail(operation, body(content))
    with pytest.raises(AwsFailed, match="is something else at its address"):
        call(hosting)


def test_a_model_that_is_hosted_is_not_deleted(hosting, bedrock):
    message = "the model has a deployment"
    bedrock.fail("DeleteCustomModel", refusal(400, "ConflictException", message))
    with pytest.raises(AwsFailed, match=f"in conflict with what is there: {message}"):
        hosting.delete_model(NAME)
