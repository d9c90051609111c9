"""The names by which a deployment is found again are stable, distinct and legal."""

from __future__ import annotations

import re

import pytest
from pydantic import TypeAdapter, ValidationError

from reward_functions.aws import catalogue
from reward_functions.aws.catalogue import (
    DeployedReward,
    DeployedStage,
    JobRights,
    Name,
    StageName,
)
from reward_functions.aws.names import Names
from reward_functions.serving import descriptions

REWARD = DeployedReward(
    name="gsm8k-strict",
    reward="gsm8k",
    version=1,
    digest="0123456789abcdef",
    parameters={"flexible": False},
    response_mode="list",
    version_arn="arn:aws:lambda:us-east-1:123456789012:function:SageMaker-reward-dev-gsm8k-strict:7",
    alias_arn="arn:aws:lambda:us-east-1:123456789012:function:SageMaker-reward-dev-gsm8k-strict:live",
    function_arn="arn:aws:lambda:us-east-1:123456789012:function:SageMaker-reward-dev-gsm8k-strict",
    timeout_seconds=60,
    memory_mb=1769,
    architecture="arm64",
    python="3.13",
)


def test_a_record_comes_back_from_its_parameter():
    assert DeployedReward.model_validate_json(REWARD.model_dump_json()) == REWARD


def test_people_ask_the_alias_or_the_one_function_of_an_immutable_deployment():
    assert (REWARD.live_arn, REWARD.immutable) == (REWARD.alias_arn, False)
    held = REWARD.model_copy(update={"alias_arn": None})
    assert (held.live_arn, held.immutable) == (REWARD.version_arn, True)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (descriptions.description("acme.length", 12, "0123456789abcdef", "x" * 500),
         ("acme.length", 12, "0123456789abcdef")),
        ("gsm8k 1 0123456789abcdef: a: b", ("gsm8k", 1, "0123456789abcdef")),
        ("gsm8k 1: the final number", None),
        ("gsm8k 1 0123456789ABCDEF: x", None),
        ("", None),
    ],
)  # fmt: skip
def test_a_description_says_which_reward_and_digest_it_is(text, found):
    assert descriptions.described(text) == found
    assert len(text) <= descriptions.MAX_DESCRIPTION


def test_a_newer_deployment_may_tell_more():
    assert DeployedReward.model_validate({**REWARD.model_dump(), "colour": "blue"}) == REWARD


STAGE = {
    "stage": "dev", "region": "us-east-1", "keep_versions": 10, "bucket": "b",
    "training_role_arn": "r", "data_policy_arn": "d", "jobs_policy_arn": "j",
    "evaluate_policy_arn": "e", "operate_policy_arn": "o", "job_events_topic_arn": "t",
    "dashboard": "d",
}  # fmt: skip

RIGHTS = {
    "agents": ["arn:aws:lambda:us-east-1:123456789012:function:SageMaker-agent"],
    "invocation_logs": "s3://logs/bedrock",
    "vpc": {"subnets": ["subnet-01234567"], "security_groups": ["sg-01234567"]},
    "model_key": "arn:aws:kms:us-east-1:123456789012:key/01234567-89ab-cdef-0123-456789abcdef",
}


def test_a_stage_of_before_grants_its_jobs_no_right():
    assert DeployedStage.model_validate(STAGE).job_rights == JobRights()


def test_the_rights_of_jobs_come_back_and_a_newer_deployment_may_grant_more():
    newer = RIGHTS | {"colour": "blue", "vpc": RIGHTS["vpc"] | {"colour": "blue"}}
    found = DeployedStage.model_validate(STAGE | {"job_rights": newer})
    assert found.model_dump(mode="json")["job_rights"] == RIGHTS
    assert DeployedStage.model_validate_json(found.model_dump_json()) == found


def test_the_parameter_of_a_deployment_stands_under_the_path_that_is_read():
    parameter = catalogue.deployment_parameter("dev", "gsm8k")
    assert parameter == "/reward-functions/dev/deployments/gsm8k"
    assert parameter.startswith(catalogue.deployments_path("dev") + "/")
    assert not catalogue.stage_parameter("dev").startswith(catalogue.deployments_path("dev"))


@pytest.mark.parametrize("name", ["gsm8k", "gsm8k-strict", "acme-length", "exact_match", "a1"])
def test_a_name_gives_a_function_that_every_trainer_may_invoke(name):
    assert TypeAdapter(Name).validate_python(name) == name
    function = Names("dev").function(name)
    assert "SageMaker" in function  # HyperPod compares the case as well
    assert re.fullmatch(r"[A-Za-z0-9-_]+", function)  # SageMaker's SDK takes nothing else


@pytest.mark.parametrize(
    "name", ["", "Gsm8k", "8gsm", "acme.length", "a--b", "a-", "-a", "a b", "a/b", "a\n", "x" * 41]
)
def test_a_name_that_no_function_could_carry_is_refused(name):
    with pytest.raises(ValidationError):
        TypeAdapter(Name).validate_python(name)


@pytest.mark.parametrize("stage", ["dev", "my-stage"])
def test_the_stack_has_a_name_cloudformation_takes(stage):
    assert TypeAdapter(StageName).validate_python(stage) == stage
    assert re.fullmatch(r"[a-zA-Z][-a-zA-Z0-9]*", Names(stage).stack)
