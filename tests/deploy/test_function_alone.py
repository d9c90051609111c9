"""The app of docs/deploy.md with one reward in a stack of its own, deployed and asked."""

from __future__ import annotations

import json

import pytest

from reward_functions.local.emulator.cdk import Cdk
from tests.deploy.what import ROOT
from tests.generated import python_blocks


@pytest.fixture(scope="module")
def deployed(bootstrapped, command_line, tmp_path_factory):
    """The stack's output and its functions; the emulator's account is bootstrapped already."""
    (app,) = [
        block
        for block in python_blocks(ROOT / "docs/deploy.md")
        if "import RewardFunction" in block
    ]
    here = app.replace('reward="gsm8k"', 'reward="gsm8k", emulated=True')
    assert here != app
    folder = tmp_path_factory.mktemp("alone")
    (folder / "app.py").write_text(here)
    (folder / "cdk.json").write_text(json.dumps({"app": "python app.py"}))
    cdk = Cdk(bootstrapped, folder, stage="alone")
    cdk.command = command_line
    cdk.deploy()
    session = bootstrapped.session()
    yield session
    cdk.destroy()
    assert not functions(session)


def functions(session):
    """The names of the functions that the app made."""
    pages = session.client("lambda").get_paginator("list_functions").paginate()
    names = [each["FunctionName"] for page in pages for each in page["Functions"]]
    return sorted(name for name in names if "-training-" in name)


def test_one_reward_in_a_stack_of_its_own_is_deployed_and_answers(deployed):
    custodian, reward = sorted(functions(deployed), reverse=True)
    assert custodian.startswith("reward-custodian-training-")
    assert reward.startswith("SageMaker-reward-training-")
    cloudformation = deployed.client("cloudformation")
    (stack,) = cloudformation.describe_stacks(StackName="Training")["Stacks"]
    (output,) = stack["Outputs"]
    assert output["OutputValue"].endswith(f"{reward}:1")
    client = deployed.client("lambda")
    alias = client.get_alias(FunctionName=reward, Name="live")
    assert alias["FunctionVersion"] == "1", "the gate held it"
    row = {"id": "1", "messages": [{"role": "user", "content": "1 + 1?"}], "reference_answer": "2"}
    row["messages"].append({"role": "assistant", "content": "#### 2"})
    answer = client.invoke(FunctionName=output["OutputValue"], Payload=json.dumps([row]))
    (result,) = json.load(answer["Payload"])
    assert result["aggregate_reward_score"] == 1.0
    alarms = deployed.client("cloudwatch").describe_alarms(AlarmNamePrefix="reward-training-")
    about = [each["AlarmDescription"].partition(":")[0] for each in alarms["MetricAlarms"]]
    assert about == ["Gsm8k (gsm8k)"] * 6
    named = {each["AlarmName"] for each in alarms["MetricAlarms"]}
    assert f"{reward.removeprefix('SageMaker-')}-errors" in named
