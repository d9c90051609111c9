"""What stands in the account is seen where it can be, and never in the way where it cannot."""

from __future__ import annotations

import json

import pytest

from reward_functions.cdk.deployed_before import DeployedBefore, InTheWay, deployed_before
from reward_functions.cdk.stages import Stage
from reward_functions.serving.catalogue import DeployedReward, deployment_parameter

NAME = "before"
STAGE = Stage(name=NAME, region="us-east-1", emulated=True)

FUNCTION = "arn:aws:lambda:us-east-1:000000000000:function:SageMaker-reward-before-gsm8k"

RECORD = DeployedReward(
    name="gsm8k",
    reward="gsm8k",
    version=1,
    digest="0" * 16,
    parameters={},
    response_mode="list",
    version_arn=f"{FUNCTION}:1",
    alias_arn=f"{FUNCTION}:live",
    function_arn=FUNCTION,
    timeout_seconds=900,
    memory_mb=1769,
    architecture="arm64",
    python="3.13",
)


@pytest.mark.parametrize(
    ("now", "told"),
    [
        ({}, False),
        ({"digest": "1" * 16}, True),
        ({"digest": "1" * 16, "version": 2}, False),
        ({"digest": "1" * 16, "reward": "math"}, False),
        ({"digest": "1" * 16, "name": "new"}, False),
    ],
)
def test_code_that_changed_without_its_version_is_reported(now, told):
    sentence = DeployedBefore(records={"gsm8k": RECORD}).unannounced(RECORD.model_copy(update=now))
    assert (sentence is not None) == told
    if sentence:
        for word in ("'gsm8k'", "0" * 16, "1" * 16, "version 1 as before", "raise its version"):
            assert word in sentence


def test_the_warning_stands_in_the_assembly(stack_of):
    stage = stack_of(
        {"deployments": ["gsm8k"]}, before=DeployedBefore(records={"gsm8k": RECORD})
    ).stack
    (warning,) = [each.data for each in stage.node.metadata if each.type == "aws:cdk:warning"]
    assert "the code has changed" in warning


def test_without_an_account_nothing_is_asked(monkeypatch):
    monkeypatch.delenv("CDK_DEFAULT_ACCOUNT", raising=False)
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")  # where nobody listens
    assert deployed_before(STAGE) == DeployedBefore()


def test_an_account_that_does_not_answer_is_no_error(monkeypatch):
    for name, value in {
        "CDK_DEFAULT_ACCOUNT": "000000000000",
        "AWS_ENDPOINT_URL": "http://127.0.0.1:9",
        "AWS_ACCESS_KEY_ID": "none",
        "AWS_SECRET_ACCESS_KEY": "none",
    }.items():
        monkeypatch.setenv(name, value)
    assert deployed_before(STAGE) == DeployedBefore()


@pytest.fixture
def account(local_aws, monkeypatch):
    """A session of the emulator's account, to which the shell points as the CDK has it."""
    for name, value in local_aws.environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("CDK_DEFAULT_ACCOUNT", "000000000000")
    return local_aws.session()


@pytest.fixture
def stack(account):
    """An empty stack under the stage's name."""
    client = account.client("cloudformation")
    topic = {"Resources": {"Topic": {"Type": "AWS::SNS::Topic"}}}
    client.create_stack(StackName=f"RewardFunctions-{NAME}", TemplateBody=json.dumps(topic))
    client.get_waiter("stack_create_complete").wait(
        StackName=f"RewardFunctions-{NAME}", WaiterConfig={"Delay": 1}
    )
    yield
    client.delete_stack(StackName=f"RewardFunctions-{NAME}")


@pytest.fixture
def catalogue(account):
    """Write a record of the stage's catalogue."""
    client, name = account.client("ssm"), deployment_parameter(NAME, "gsm8k")
    yield lambda value: client.put_parameter(Name=name, Value=value, Type="String", Overwrite=True)
    client.delete_parameter(Name=name)


@pytest.mark.usefixtures("stack")
def test_the_catalogue_and_the_functions_of_nobody_are_seen(catalogue, deployed_function):
    kept = f"SageMaker-reward-{NAME}-sagemaker--01234567"
    deployed_function("def handler(event, context): pass", name=kept)
    catalogue(RECORD.model_dump_json())
    before = deployed_before(STAGE)
    assert before.records == {"gsm8k": RECORD}
    assert any("Topic" in name for name in before.owned)
    assert before.keeps(kept)
    assert not before.keeps(f"{kept[:-1]}8")
    assert not before.records.keys() - {"gsm8k"}


@pytest.mark.usefixtures("stack")
def test_a_stack_of_the_day_before_is_taken_away_first(catalogue):
    """CloudFormation makes what has another logical name before it deletes: the names are taken."""
    catalogue(json.dumps({"name": "gsm8k", "reward": "gsm8k", "version": 1}))
    with pytest.raises(
        InTheWay, match=r"run cdk destroy -c stage=before, and deploy again"
    ) as told:
        deployed_before(STAGE)
    assert "\n" not in str(told.value)


@pytest.mark.usefixtures("account")
def test_a_stage_that_does_not_stand_yet_has_nothing():
    never = Stage(name="never", region="us-east-1", emulated=True)
    assert deployed_before(never) == DeployedBefore()
