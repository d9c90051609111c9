"""Files of any size: what a stage may say of it, and what stands in the template."""

from __future__ import annotations

import json

import pytest

from reward_functions.aws.catalogue import DeployedStage
from reward_functions.cdk.artifact import closure
from reward_functions.cdk.model.stages import BadStage, stage_of
from reward_functions.core.spec import Needs
from reward_functions.scoring.aws import handler
from tests.cdk.conftest import ROOT, STAGES
from tests.cdk.test_feedback_path import flat

NAMES = ["scaled", "everything"]

WRONG = [
    # what a stage says, and the sentence that it gets
    ({"timeout_seconds": 59}, "scale.timeout_seconds: input should be greater than or equal"),
    ({"timeout_seconds": 901}, "scale.timeout_seconds: input should be less than or equal"),
    ({"memory_mb": 256}, "scale.memory_mb: input should be greater than or equal"),
    ({"memory": 512}, "scale.memory is not a setting. did you mean 'memory_mb'?"),
    (True, "scale: must be an object"),
]


@pytest.mark.parametrize(("scale", "sentence"), WRONG, ids=str)
def test_what_cannot_be_is_one_sentence(scale, sentence):
    given = {"dev": {"region": "us-east-1", "deployments": ["gsm8k"], "scale": scale}}
    with pytest.raises(BadStage) as raised:
        stage_of(given, "dev", ROOT)
    assert sentence in str(raised.value).lower()


def test_a_stage_without_the_field_has_nothing_of_it(synthesised):
    stage = synthesised("dev")
    assert stage.stack.scale is None
    assert not [name for name in stage.template["Resources"] if name.startswith("Scale")]


def the(stage, kind):
    """The one resource of a kind."""
    (resource,) = stage.resources(f"AWS::{kind}", path="Scale").values()
    return resource["Properties"]


def definition(stage):
    """The state machine's, with names as they are."""
    return json.loads(flat(the(stage, "StepFunctions::StateMachine")["DefinitionString"]))


@pytest.mark.parametrize("name", NAMES)
def test_shards_go_by_reference_and_their_results_through_no_state(synthesised, name):
    states = definition(synthesised(name))
    text = json.dumps(states)
    assert not [each for each in ("ItemBatcher", "ResultWriter", "ResultSelector") if each in text]
    shards = states["States"]["Shards"]
    assert shards["ResultPath"] is None
    assert shards["MaxConcurrencyPath"] == "$.concurrency"
    assert "MaxConcurrency" not in shards
    assert shards["ItemProcessor"]["ProcessorConfig"]["Mode"] == "DISTRIBUTED"
    assert shards["Next"] == "Next"


def test_the_emulator_which_reads_no_path_is_told_a_number():
    from reward_functions.cdk.constructs.scale import EMULATED
    from reward_functions.cdk.constructs.scale import definition as made
    from reward_functions.cdk.model.scale import Scale

    shards = made("arn", "aws", Scale(), emulated=True)["States"]["Shards"]
    assert shards["MaxConcurrency"] == EMULATED
    assert "MaxConcurrencyPath" not in shards


@pytest.mark.parametrize(
    ("name", "timeout", "memory"), [("scaled", 900, 512), ("everything", 600, 1024)]
)
def test_the_machine_asks_one_numbered_version_of_the_function(synthesised, name, timeout, memory):
    stage = synthesised(name)
    function = the(stage, "Lambda::Function")
    assert function["Handler"] == f"{handler.__name__}.handler"
    assert (function["Timeout"], function["MemorySize"]) == (timeout, memory)
    (version,) = stage.resources("AWS::Lambda::Version", path="Scale")
    states = definition(stage)["States"]
    tasks = [states["Next"], states["Shards"]["ItemProcessor"]["States"]["Shard"]]
    assert [each["Parameters"]["FunctionName"] for each in tasks] == [version] * 2
    assert [each["TimeoutSeconds"] for each in tasks] == [timeout] * 2


RIGHTS = {
    # whose, and what they may by the Sids of their statements
    "shards": {
        "ReadRows": {"s3:GetObject"},
        "WriteParts": {"s3:GetObject", "s3:PutObject", "s3:AbortMultipartUpload"},
        "ClearBegun": {"s3:DeleteObject"},
        "SeeWhatIsThere": {"s3:ListBucket"},
        "AskVersions": {"lambda:InvokeFunction"},
        "AskNothingThatMoves": {"lambda:InvokeFunction"},
    },
    "machine": {
        "AskShards": {"lambda:InvokeFunction"},
        "ReadShards": {"s3:GetObject"},
        "StartShards": {"states:StartExecution"},
        "FollowShards": {"states:DescribeExecution", "states:StopExecution"},
    },
}


@pytest.mark.parametrize("policy", RIGHTS)
def test_each_role_may_do_exactly_this(synthesised, policy):
    roles = synthesised("scaled").resources("AWS::IAM::Role", path="Scale").values()
    (document,) = [
        each["PolicyDocument"]["Statement"]
        for role in roles
        for each in role["Properties"]["Policies"]
        if each["PolicyName"] == policy
    ]
    found = {each["Sid"]: each for each in document}
    found.pop("KeepMachineLog", None)
    assert {sid: {*each["Action"]} for sid, each in found.items()} == RIGHTS[policy]
    for each in found.values():
        assert "*" not in [*map(flat, each["Resource"])]


def test_the_function_asks_numbered_versions_alone(synthesised):
    roles = synthesised("scaled").resources("AWS::IAM::Role", path="Scale").values()
    found = {
        each["Sid"]: [*map(flat, each["Resource"])]
        for role in roles
        for policy in role["Properties"]["Policies"]
        for each in policy["PolicyDocument"]["Statement"]
    }
    assert all(each.endswith((":*", "--*")) for each in found["AskVersions"])
    assert {each.rpartition(":")[2] for each in found["AskNothingThatMoves"]} == {"live", "$LATEST"}


@pytest.mark.parametrize("name", NAMES)
def test_a_failed_run_is_an_alarm_that_reaches_the_topic(synthesised, name):
    alarm = the(synthesised(name), "CloudWatch::Alarm")
    assert (alarm["Namespace"], alarm["MetricName"]) == ("AWS/States", "ExecutionsFailed")
    assert alarm["AlarmActions"]
    assert alarm["TreatMissingData"] == "notBreaching"


@pytest.mark.parametrize("name", NAMES)
def test_the_machine_writes_its_log_without_what_it_was_given(synthesised, name):
    kept = the(synthesised(name), "StepFunctions::StateMachine")["LoggingConfiguration"]
    assert (kept["Level"], kept["IncludeExecutionData"]) == ("ALL", False)


@pytest.mark.parametrize("name", NAMES)
def test_the_catalogue_names_machine_and_policy(synthesised, name):
    stage = synthesised(name)
    (value,) = [
        flat(each["Value"])
        for each in stage.properties("AWS::SSM::Parameter")
        if each["Name"] == f"/reward-functions/{name}/stage"
    ]
    record = DeployedStage.model_validate_json(value.replace("{'Fn::GetAtt':", "GetAtt"))
    assert record.scale_machine_arn
    assert record.score_policy_arn
    assert STAGES[name]["scale"] is not None


def test_the_function_carries_its_rooms_and_no_reward():
    reached = closure.reached([handler.__name__], Needs(), beside=closure.OF_SHARDS)
    rooms = {name.split(".")[1] for name in reached if "." in name}
    assert {"scoring", "aws", "data"} <= rooms
    assert not rooms & {"cdk", "jobs", "local", "cli", "rollouts", "symbolic", "finqa"}


def test_no_other_function_carries_what_it_does():
    other = closure.reached(
        ["reward_functions.feedback.handler"], Needs(), beside=closure.BESIDE_REWARDS
    )
    assert not [name for name in other if closure.row(name) in closure.OF_SHARDS]
