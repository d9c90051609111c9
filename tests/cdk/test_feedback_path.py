"""The path of deferred rewards: what a stage may say of it, and what stands in the template."""

from __future__ import annotations

import json
from itertools import chain

import pytest

from reward_functions.aws.catalogue import DeployedStage
from reward_functions.aws.regions import aws_regions
from reward_functions.cdk.limits.quotas import OverLimit, _check_feedback, check_stage
from reward_functions.cdk.model.deployment import Deployment
from reward_functions.cdk.model.rollouts import BadFeedback, Feedback, check_feedback
from reward_functions.cdk.model.stages import BadStage, Stage, stage_of
from reward_functions.cdk.policies import deferred
from reward_functions.cdk.policies.grants import pinnable_arns
from reward_functions.cdk.policies.iam import Place
from reward_functions.feedback import handler
from reward_functions.feedback.settings import FeedbackSettings
from reward_functions.rollouts.report.outbox.dynamodb import ACTIONS, DEFINITION
from tests.cdk.conftest import ROOT, STAGES

PLAIN = {"region": "us-east-1", "deployments": ["gsm8k"]}

NAMES = ["deferred", "everything"]


def given(feedback, **fields):
    return {"dev": PLAIN | {"feedback": feedback} | fields}


WRONG = [
    # what a stage says, and the sentence that it gets
    ({"timeout_seconds": 59}, "feedback.timeout_seconds: input should be greater than or equal"),
    ({"timeout_seconds": 121}, "feedback.timeout_seconds: input should be less than or equal"),
    ({"timeout_seconds": "soon"}, "feedback.timeout_seconds: must be a whole number"),
    ({"batch_size": 0}, "feedback.batch_size: input should be greater"),
    ({"batch_size": 11}, "feedback.batch_size: input should be less"),
    ({"concurrency": 1}, "feedback.concurrency: input should be greater"),
    ({"concurrency": 1001}, "feedback.concurrency: input should be less"),
    ({"keep_results_days": 0}, "feedback.keep_results_days: input should be greater"),
    ({"memory_mb": 128}, "feedback.memory_mb: input should be greater"),
    ({"timeout": 60}, "feedback.timeout is not a setting. did you mean 'timeout_seconds'?"),
    (True, "feedback: must be an object"),
    ({"endpoint": ""}, "feedback.endpoint is not the address of a job runtime"),
    ({"endpoint": "runtime.example.com"}, "feedback.endpoint is not the address"),
    ({"endpoint": "ftp://runtime.example.com"}, "feedback.endpoint is not the address"),
    ({"endpoint": "https://me:secret@example.com"}, "feedback.endpoint is not the address"),
    ({"endpoint": "https://example.com/?key=1"}, "feedback.endpoint is not the address"),
    ({"endpoint": "https://example.com:port"}, "feedback.endpoint is not the address"),
    ({"endpoint": "https://[::1"}, "feedback.endpoint is not the address"),
    ({"endpoint": "https://exa mple.com"}, "feedback.endpoint is not the address"),
    ({"endpoint": "http://runtime.example.com"}, "feedback.endpoint is not encrypted"),
    ({"endpoint": "http://127.0.0.1:8765"}, "feedback.endpoint is this machine"),
    ({"endpoint": "https://localhost"}, "feedback.endpoint is this machine"),
]


@pytest.mark.parametrize(("feedback", "sentence"), WRONG, ids=str)
def test_what_cannot_be_is_one_sentence(feedback, sentence):
    with pytest.raises(BadStage) as raised:
        stage_of(given(feedback), "dev", ROOT)
    said = str(raised.value).lower()
    assert sentence.lower() in said
    assert "\n" not in said


RIGHT = [
    ({}, False),
    ({"endpoint": "https://runtime.example.com"}, False),
    ({"endpoint": "https://runtime.example.com:8443/v1"}, True),
    ({"endpoint": "http://127.0.0.1:8765"}, True),
    ({"endpoint": "http://[::1]:8765"}, True),
]


@pytest.mark.parametrize(("feedback", "emulated"), RIGHT)
def test_the_trainer_is_aws_s_or_named(feedback, emulated):
    check_feedback(Feedback.model_validate(feedback), pinnable=True, emulated=emulated)


def test_an_endpoint_in_the_clear_is_refused_on_the_emulator_as_well():
    with pytest.raises(BadFeedback, match="not encrypted"):
        check_feedback(Feedback(endpoint="http://10.0.0.1"), pinnable=True, emulated=True)


def test_a_stage_without_the_field_has_no_path(synthesised):
    stage = synthesised("dev")
    assert stage.stack.feedback is None
    assert not [name for name in stage.template["Resources"] if name.startswith("Feedback")]


@pytest.mark.parametrize("region", sorted(aws_regions()))
def test_a_bucket_s_name_is_as_long_as_s3_takes_or_refused(region):
    longest = 63 - len(f"sagemaker-rollouts--{'1' * 12}-{region}")
    for length in (min(longest, 20), longest + 1):
        stage = Stage.model_validate(
            PLAIN | {"name": "dev", "region": region, "feedback": {}}
        ).model_copy(update={"name": "s" * length})
        if length <= longest:
            check_stage(stage)
        else:
            with pytest.raises(OverLimit, match="bucket"):
                check_stage(stage)


def the(stage, kind, *, ends=""):
    """The one resource of a kind in the path, by its name in the tree: its properties."""
    found = [
        each
        for name, each in stage.resources(f"AWS::{kind}", path=True).items()
        if name.startswith(f"Feedback{ends}")
    ]
    (resource,) = found
    return resource


@pytest.mark.parametrize(("name", "timeout"), [("deferred", 120), ("everything", 60)])
def test_a_message_is_hidden_for_six_timeouts_and_a_dead_letter_after_three(
    synthesised, name, timeout
):
    stage = synthesised(name)
    queues = stage.resources("AWS::SQS::Queue", path=True)
    (letters,) = [each for each in queues if "DeadLetters" in each]
    (queue,) = [
        each["Properties"] for each in queues.values() if "RedrivePolicy" in each["Properties"]
    ]
    assert the(stage, "Lambda::Function")["Properties"]["Timeout"] == timeout
    assert queue["VisibilityTimeout"] == 6 * timeout
    assert queue["RedrivePolicy"] == {
        "deadLetterTargetArn": {"Fn::GetAtt": [letters, "Arn"]},
        "maxReceiveCount": 3,
    }
    kept = queues[letters]["Properties"]["MessageRetentionPeriod"]
    assert kept == 14 * 24 * 3600
    assert queue["MessageRetentionPeriod"] < kept  # a letter is as old as its message
    assert all(each["Properties"]["SqsManagedSseEnabled"] for each in queues.values())


@pytest.mark.parametrize("name", NAMES)
def test_s3_announces_one_prefix_of_one_bucket_once_the_queue_lets_it(synthesised, name):
    stage = synthesised(name)
    bucket = the(stage, "S3::Bucket")
    (told,) = bucket["Properties"]["NotificationConfiguration"]["QueueConfigurations"]
    assert told["Event"] == "s3:ObjectCreated:*"
    assert told["Filter"]["S3Key"]["Rules"] == [{"Name": "prefix", "Value": "rollouts/"}]
    policies = stage.resources("AWS::SQS::QueuePolicy", path=True)
    (policy,) = [each for each in policies if "DeadLetters" not in each]
    assert policy in bucket["DependsOn"]
    allowed, denied = {}, []
    documents = [each["Properties"]["PolicyDocument"] for each in policies.values()]
    for each in chain(*(document["Statement"] for document in documents)):
        if each["Effect"] == "Allow":
            allowed[each["Sid"]] = each
        else:
            denied.append(each["Condition"])
    assert denied == [{"Bool": {"aws:SecureTransport": "false"}}] * 2
    (announce,) = allowed.values()
    assert announce["Principal"] == {"Service": "s3.amazonaws.com"}
    assert announce["Action"] == "sqs:SendMessage"
    account = flat(STAGES[name].get("account", {"Ref": "AWS::AccountId"}))
    said = announce["Condition"]
    assert {how: [*map(flat, each.values())] for how, each in said.items()} == {
        "ArnEquals": [f"arn:aws:s3:::{flat(bucket['Properties']['BucketName'])}"],
        "StringEquals": [account],
    }
    assert "BucketNotifications" not in json.dumps(stage.template)  # CDK's own function for it


@pytest.mark.parametrize("name", NAMES)
def test_results_are_private_encrypted_and_expire(synthesised, name):
    stage, production = synthesised(name), name == "everything"
    bucket = the(stage, "S3::Bucket")
    properties = bucket["Properties"]
    assert set(properties["PublicAccessBlockConfiguration"].values()) == {True}
    assert properties["VersioningConfiguration"] == {"Status": "Enabled"}
    (rule,) = properties["LifecycleConfiguration"]["Rules"]
    assert (rule["ExpirationInDays"], rule["Status"]) == (14, "Enabled")
    encrypted = json.dumps(properties["BucketEncryption"])
    assert ("TrainingKey" in encrypted) == production
    assert bucket["DeletionPolicy"] == ("RetainExceptOnCreate" if production else "Delete")
    (emptying,) = stage.resources("Custom::EmptyBucket", path=True).values()
    assert emptying["DeletionPolicy"] == ("Retain" if production else "Delete")


def test_the_custodian_may_empty_both_buckets_and_neither_in_production(synthesised):
    for name, many in {"deferred": 2, "everything": 0}.items():
        statements = [
            each
            for role in synthesised(name).properties("AWS::IAM::Role")
            for policy in role["Policies"]
            for each in policy["PolicyDocument"]["Statement"]
            if each["Sid"] == "EmptyBucket"
        ]
        assert sum(len(each["Resource"]) for each in statements) == many


@pytest.mark.parametrize("name", NAMES)
def test_the_queue_is_read_for_one_published_version_once_every_gate_is_passed(synthesised, name):
    stage = synthesised(name)
    mapping = the(stage, "Lambda::EventSourceMapping")
    (version,) = stage.resources("AWS::Lambda::Version", path=True)
    assert version in json.dumps(mapping["Properties"]["FunctionName"])
    assert mapping["Properties"]["FunctionResponseTypes"] == ["ReportBatchItemFailures"]
    gates = {*stage.resources("Custom::RewardGate")}
    assert gates <= set(mapping["DependsOn"])
    wanted = Stage.model_validate(STAGES[name] | {"name": name}).feedback
    assert mapping["Properties"]["BatchSize"] == wanted.batch_size
    assert mapping["Properties"]["ScalingConfig"] == {"MaximumConcurrency": wanted.concurrency}


def flat(value):
    """A template's value as text, the account as digits and names as they are."""
    match value:
        case {"Fn::Join": [between, parts]}:
            return between.join(map(flat, parts))
        case {"Ref": "AWS::AccountId"}:
            return "1" * 12
        case {"Ref": "AWS::Partition"}:
            return "aws"
        case {"Ref": name}:
            return name
        case _:
            return str(value)


@pytest.mark.parametrize("name", NAMES)
def test_the_function_reads_back_what_the_stage_says(synthesised, name):
    stage = synthesised(name)
    function = the(stage, "Lambda::Function")["Properties"]
    variables = {name: flat(each) for name, each in function["Environment"]["Variables"].items()}
    settings = FeedbackSettings.from_env(variables)
    assert settings.stage == name
    assert len(settings.functions) == len(stage.stack.functions)
    held = [each for each in stage.stack.functions if each.deployment.immutable]
    assert len([each for each in settings.functions if each.endswith("--*")]) == len(held) == 1
    account = STAGES[name].get("account", "1" * 12)
    assert all(f":{account}:function:" in each for each in settings.functions)
    assert settings.receives == 3
    assert function["Handler"] == f"{handler.__name__}.handler"


JUDGE = {"models": [{"model": "amazon.nova-lite-v1:0"}]}
COMPARING = [{"reward": "group", "judge": JUDGE}, {"reward": "pairwise", "judge": JUDGE}]


def test_a_batch_of_the_queue_is_no_group_and_what_ranks_a_group_is_not_asked():
    stage = stage_of(given({}, deployments=[*COMPARING, "gsm8k"]), "dev", ROOT)
    place = Place("aws", "us-east-1", "123456789012")
    (asked,) = pinnable_arns(place, stage)
    assert asked.endswith("-gsm8k")
    document = json.dumps(deferred.report(place, stage))
    assert "reward-dev-gsm8k:*" in document
    assert "reward-dev-group" not in document


def test_a_stage_that_only_ranks_groups_has_no_deferred_rewards():
    with pytest.raises(BadStage, match="feedback: all deployments compare the responses"):
        stage_of(given({}, deployments=COMPARING), "dev", ROOT)


def many(count, length):
    """A stage of so many deployments whose names have so many characters."""
    names = [f"{'d' * (length - 2)}{at:02}" for at in range(count)]
    deployments = [Deployment(name=each, reward="gsm8k", immutable=True) for each in names]
    return Stage.model_validate(PLAIN | {"name": "dev", "feedback": {}}).model_copy(
        update={"deployments": tuple(deployments)}
    )


FITS = [(35, 32, True), (64, 32, True), (90, 32, False), (90, 10, True)]


@pytest.mark.parametrize(("count", "length", "fits"), FITS)
def test_the_settings_name_as_many_rewards_as_lambda_takes_variables(count, length, fits):
    if fits:
        _check_feedback(many(count, length))
    else:
        with pytest.raises(OverLimit, match=f"{count} deployments .* 4096 bytes"):
            _check_feedback(many(count, length))


@pytest.mark.parametrize("name", NAMES)
def test_the_outbox_is_the_table_that_an_outbox_makes(synthesised, name):
    table = the(synthesised(name), "DynamoDB::Table")["Properties"]
    assert {each: table[each] for each in DEFINITION} == DEFINITION
    assert table["TimeToLiveSpecification"] == {"AttributeName": "forget", "Enabled": True}
    recovered = "PointInTimeRecoverySpecification" in table
    assert recovered == (name == "everything")


RIGHTS = {
    "ReceiveResults": {
        *("sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes"),
        "sqs:ChangeMessageVisibility",
    },
    "SendDeadLetters": {"sqs:SendMessage"},
    "ReadResults": {"s3:GetObject", "s3:GetObjectVersion"},
    "SeeWhatIsGone": {"s3:ListBucket"},
    "AskVersions": {"lambda:InvokeFunction", "lambda:GetFunctionConfiguration"},
    "AskNothingThatMoves": {"lambda:InvokeFunction"},
    "ReportRewards": {"sagemaker:CompleteRollout", "sagemaker:UpdateReward"},
    "KeepReports": {*ACTIONS},
}


@pytest.mark.parametrize("name", NAMES)
def test_the_function_may_do_exactly_this(synthesised, name):
    (role,) = synthesised(name).resources("AWS::IAM::Role", path=True).values()
    documents = {
        each["PolicyName"]: each["PolicyDocument"]["Statement"]
        for each in role["Properties"]["Policies"]
    }
    assert {*documents} == {"logs", "report"}
    found = {each["Sid"]: each for each in documents["report"]}
    key = {"ReadResultsKey": {"kms:Decrypt"}} if name == "everything" else {}
    assert {sid: {*each["Action"]} for sid, each in found.items()} == RIGHTS | key
    asked = [flat(each) for each in found["AskVersions"]["Resource"]]
    assert all(each.endswith((":*", "--*")) for each in asked)
    refused = {flat(each) for each in found["AskNothingThatMoves"]["Resource"]}
    moving = {each[:-1] for each in asked if each.endswith(":*")}
    assert refused == {f"{each}{name}" for each in moving for name in ("live", "$LATEST")}
    assert found["AskNothingThatMoves"]["Effect"] == "Deny"


ALARMS = {
    # a metric, from what, and above which value something is wrong
    ("AWS/SQS", "ApproximateAgeOfOldestMessage"): 300,
    ("AWS/SQS", "ApproximateNumberOfMessagesVisible"): 0,
    ("AWS/Lambda", "Errors"): 0,
    ("AWS/Lambda", "Throttles"): 0,
    ("RewardFunctions", "expired"): 0,
}


@pytest.mark.parametrize("name", NAMES)
def test_alarms_watch_what_is_emitted_and_reach_the_topic(synthesised, name):
    resources = synthesised(name).resources("AWS::CloudWatch::Alarm", path=True)
    alarms = [each["Properties"] for each in resources.values()]
    found = {(each["Namespace"], each["MetricName"]): each["Threshold"] for each in alarms}
    assert found == ALARMS
    for each in alarms:
        assert each["AlarmActions"]
        assert each["TreatMissingData"] == "notBreaching"
        assert each["Period"] == 60
        if each["Namespace"] == "RewardFunctions":
            assert each["MetricName"] in handler.METRICS
            dimensions = {one["Name"]: one["Value"] for one in each["Dimensions"]}
            assert dimensions == {"service": handler.SERVICE, "stage": name}


def test_the_dashboard_has_a_row_of_the_path(synthesised):
    (dashboard,) = synthesised("deferred").properties("AWS::CloudWatch::Dashboard")
    assert json.dumps(dashboard).count("deferred rewards: ") == 3


@pytest.mark.parametrize("name", NAMES)
def test_the_catalogue_and_the_outputs_name_the_path(synthesised, name):
    stage = synthesised(name)
    (value,) = [
        flat(each["Value"])
        for each in stage.properties("AWS::SSM::Parameter")
        if each["Name"] == f"/reward-functions/{name}/stage"
    ]
    record = DeployedStage.model_validate_json(value.replace("{'Fn::GetAtt':", "GetAtt")).feedback
    assert record is not None
    assert set(record.model_dump()) == {
        *("results_bucket", "queue_url", "dead_letters_url", "function_arn", "outbox_table")
    }
    outputs = [each for each in stage.template["Outputs"] if each.startswith("StageFeedback")]
    assert len(outputs) == 5


def test_another_reward_moves_no_function_that_reports(stack_of):
    """Its settings name deployments, and none of their versions."""

    def version(digest):
        made = stack_of(given({})["dev"], digests={"gsm8k": digest * 64})
        (name,) = made.resources("AWS::Lambda::Version", path=True)
        return name

    assert version("c") == version("d")
