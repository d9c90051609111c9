"""What stands in the account is seen where it can be, and never in the way where it cannot."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import contextmanager

import pytest

from reward_functions.aws.catalogue import DeployedReward, deployment_parameter
from reward_functions.cdk.model.deployed_before import DeployedBefore, InTheWay, deployed_before
from reward_functions.cdk.model.stages import Stage
from reward_functions.core import registry

NAME = "before"
STAGE = Stage(name=NAME, region="us-east-1", emulated=True)

FUNCTION = "arn:aws:lambda:us-east-1:000000000000:function:SageMaker-reward-before-gsm8k"

GSM8K = registry.get("gsm8k").version
RECORD = DeployedReward(
    name="gsm8k",
    reward="gsm8k",
    version=GSM8K,
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
        ({"digest": "1" * 16, "version": GSM8K + 1}, False),
        ({"digest": "1" * 16, "reward": "math"}, False),
        ({"digest": "1" * 16, "name": "new"}, False),
    ],
)
def test_code_that_changed_without_its_version_is_reported(now, told):
    sentence = DeployedBefore(records={"gsm8k": RECORD}).unannounced(RECORD.model_copy(update=now))
    assert (sentence is not None) == told
    if sentence:
        for word in (
            "'gsm8k'",
            "0" * 16,
            "1" * 16,
            f"version {GSM8K} as before",
            "raise its version",
        ):
            assert word in sentence


def test_the_warning_stands_in_the_assembly(stack_of):
    stage = stack_of(
        {"deployments": ["gsm8k"]}, before=DeployedBefore(records={"gsm8k": RECORD})
    ).stack
    (warning,) = [each.data for each in stage.node.metadata if each.type == "aws:cdk:warning"]
    assert "the code has changed" in warning


HELD = RECORD.model_copy(update={"alias_arn": None})


@pytest.mark.parametrize(
    ("then", "now", "told"),
    [
        ([RECORD], [RECORD], {}),
        ([], [RECORD], {}),
        ([RECORD], [], {"goes:gsm8k": "no longer in the stage: its function goes with all its"}),
        ([RECORD], [HELD], {"goes:gsm8k": "with immutable false, and this turns it"}),
        ([HELD], [RECORD], {"goes:gsm8k": "with immutable true, and this turns it"}),
        ([HELD], [HELD], {}),
        (
            [RECORD],
            [HELD.model_copy(update={"digest": "1" * 16})],
            {"unannounced:gsm8k": "raise its version", "goes:gsm8k": "those that a job uses"},
        ),
    ],
)
def test_a_function_that_goes_with_its_versions_is_reported(then, now, told):
    before = DeployedBefore(records={each.name: each for each in then})
    warnings = dict(before.warnings(now))
    assert warnings.keys() == told.keys()
    assert all(words in warnings[kind] for kind, words in told.items())
    assert not any("\n" in each for each in warnings.values())


def test_a_rollback_that_a_deployment_would_undo_is_reported():
    before = DeployedBefore(
        records={"gsm8k": RECORD}, moved={"gsm8k": (f"{FUNCTION}:1", f"{FUNCTION}:2")}
    )
    ((kind, sentence),) = before.warnings([RECORD])
    assert kind == "rolled-back:gsm8k"
    assert "`live` was moved to version 1, and the stack's is 2" in sentence


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


PROFILES = """
[profile typed]
role_arn = arn:aws:iam::000000000000:role/x
source_profile = base
mfa_serial = arn:aws:iam::000000000000:mfa/me
[profile on-typed]
role_arn = arn:aws:iam::000000000000:role/y
source_profile = typed
[profile base]
aws_access_key_id = none
aws_secret_access_key = none
[profile slow]
credential_process = sh -c "sleep 5; touch ended"
"""


@pytest.mark.parametrize(
    "shell",
    [
        {"AWS_PROFILE": "typed"},
        {"AWS_PROFILE": "on-typed"},
        {"AWS_PROFILE": "slow"},
        {"AWS_PROFILE": "nosuch"},
        {"AWS_ENDPOINT_URL": "proxy.example:8080"},
        {"AWS_CA_BUNDLE": "nowhere.pem", "AWS_ENDPOINT_URL": "https://127.0.0.1:9"},
        {"AWS_DEFAULTS_MODE": "odd"},
        {"AWS_MAX_ATTEMPTS": "odd"},
    ],
    ids=str,
)
def test_no_shell_keeps_anybody_from_a_synthesis(shell, monkeypatch, tmp_path):
    """Nor does a program that hands out credentials, however long it takes."""
    (tmp_path / "config").write_text(PROFILES)
    given = {
        "CDK_DEFAULT_ACCOUNT": "000000000000",
        "AWS_ENDPOINT_URL": "http://127.0.0.1:9",
        "AWS_CONFIG_FILE": str(tmp_path / "config"),
        "AWS_EC2_METADATA_DISABLED": "true",
    }
    for name, value in (given | shell).items():
        monkeypatch.setenv(name, value)
    if "AWS_PROFILE" not in shell:
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", "none")
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "none")

    monkeypatch.setattr("reward_functions.cdk.model.deployed_before.SECONDS", 1.0)
    monkeypatch.chdir(tmp_path)  # where the program says that it has ended
    assert deployed_before(STAGE) == DeployedBefore()
    assert not (tmp_path / "ended").exists()


@pytest.mark.parametrize("profile", ["typed", "on-typed"])
def test_nobody_is_asked_to_type_a_code(profile, monkeypatch, tmp_path):
    (tmp_path / "config").write_text(PROFILES)
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    monkeypatch.setenv("AWS_PROFILE", profile)
    monkeypatch.setenv("CDK_DEFAULT_ACCOUNT", "000000000000")
    made = []
    monkeypatch.setattr("botocore.session.Session.create_client", lambda *_, **__: made.append(1))
    assert deployed_before(STAGE) == DeployedBefore()
    assert not made


def test_regions_are_known_whatever_the_profile_is():
    script = (
        "from reward_functions.aws.regions import aws_regions, partition_of\n"
        "print(partition_of('us-east-1'), len(aws_regions()))"
    )
    shell = os.environ | {"AWS_PROFILE": "nosuch"}
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, env=shell, check=True
    )
    partition, regions = done.stdout.split()
    assert partition == "aws"
    assert int(regions) > 30


@pytest.mark.usefixtures("stack")
@pytest.mark.parametrize(
    "value",
    [
        *("do not touch, ask Ann", "7", "[]", "null", '"alias_arn"', "{}", '{"digest": 1}'),
        '{"name": "x", "digest": "0", "alias_arn": "y"}',
        '{"name": "gsm8k", "reward": "gsm8k"}',
    ],
)
def test_what_is_no_record_is_passed_over(catalogue, value):
    catalogue(value)
    assert deployed_before(STAGE).records == {}


@pytest.fixture
def account(local_aws, monkeypatch):
    """A session of the emulator's account, to which the shell points as the CDK has it."""
    for name, value in local_aws.environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("CDK_DEFAULT_ACCOUNT", "000000000000")
    return local_aws.session()


@contextmanager
def standing(session, **more):
    """A stack under the stage's name, with a topic in it."""
    client = session.client("cloudformation")
    topic = {"Resources": {"Topic": {"Type": "AWS::SNS::Topic"}}}
    name = f"RewardFunctions-{NAME}"
    client.create_stack(StackName=name, TemplateBody=json.dumps(topic | more))
    client.get_waiter("stack_create_complete").wait(StackName=name, WaiterConfig={"Delay": 1})
    yield
    client.delete_stack(StackName=name)


@pytest.fixture
def stack(account):
    with standing(account):
        yield


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
    assert not before.moved


def test_what_was_rolled_back_is_seen(account, catalogue, deployed_function):
    """The catalogue follows a rollback; the stack's outputs still say what was deployed."""
    name, client = f"SageMaker-reward-{NAME}-gsm8k", account.client("lambda")
    deployed_function("def handler(event, context): pass", name=name)
    for version in "12":
        client.update_function_configuration(FunctionName=name, Description=version)
        client.publish_version(FunctionName=name)
    client.create_alias(FunctionName=name, Name="live", FunctionVersion="1")
    catalogue(RECORD.model_dump_json())
    with standing(account, Outputs={"RewardGsm8kVersionArn": {"Value": f"{FUNCTION}:2"}}):
        assert deployed_before(STAGE).moved == {"gsm8k": (f"{FUNCTION}:1", f"{FUNCTION}:2")}
        client.update_alias(FunctionName=name, Name="live", FunctionVersion="2")
        assert not deployed_before(STAGE).moved


@pytest.mark.usefixtures("stack")
def test_a_stack_of_the_day_before_is_taken_away_first(catalogue):
    """CloudFormation makes what has another logical name before it deletes: the names are taken."""
    catalogue(json.dumps({"name": "gsm8k", "reward": "gsm8k", "alias_arn": f"{FUNCTION}:live"}))
    with pytest.raises(
        InTheWay, match=r"run cdk destroy -c stage=before, and deploy again"
    ) as told:
        deployed_before(STAGE)
    assert "\n" not in str(told.value)


@pytest.mark.usefixtures("account")
def test_a_stage_that_does_not_stand_yet_has_nothing():
    never = Stage(name="never", region="us-east-1", emulated=True)
    assert deployed_before(never) == DeployedBefore()
