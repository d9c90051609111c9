"""The template: what stands in the account, who may do what, what is watched."""

from __future__ import annotations

import json
import re
from hashlib import sha256
from importlib.metadata import version

import pytest

from reward_functions.aws.catalogue import DeployedReward, DeployedStage, JobRights
from reward_functions.aws.names import Names
from reward_functions.aws.regions import aws_regions
from reward_functions.cdk.app.preview import alarms
from reward_functions.cdk.limits.quotas import (
    MAX_ROLE_NAME,
    most_resources,
    policy_sizes,
)
from reward_functions.cdk.model.stages import stage_of
from reward_functions.local.emulator.people import MADE_BY
from reward_functions.serving.settings import LambdaSettings
from tests.cdk.conftest import ROOT, STAGES

LINTED = ROOT / "build" / "linted"
"""What the linter found nothing in: of each stage a digest."""

NAMES = ["local", "dev", "prod", "everything", "judged", "agents", "deferred"]


@pytest.fixture
def everything(synthesised):
    return synthesised("everything")


def variables(properties):
    return properties["Environment"]["Variables"]


def flat(value):
    """A template's value as text, with `<Name.Arn>` for what deployment decides."""
    match value:
        case {"Fn::Join": [between, parts]}:
            return between.join(map(flat, parts))
        case {"Ref": name}:
            return f"<{name}>"
        case {"Fn::GetAtt": [name, attribute]}:
            return f"<{name}.{attribute}>"
        case _:
            return value


def statements(stage):
    """Every statement of every policy in a template."""
    for name, each in stage.template["Resources"].items():
        properties = each.get("Properties", {})
        documents = [
            properties.get("PolicyDocument"),
            *(policy["PolicyDocument"] for policy in properties.get("Policies", [])),
        ]
        for document in filter(None, documents):
            if each["Type"] in ("AWS::IAM::Role", "AWS::IAM::ManagedPolicy", "AWS::IAM::Policy"):
                yield from ((name, statement) for statement in document["Statement"])


@pytest.mark.parametrize("name", NAMES)
def test_every_function_is_published_under_its_alias(synthesised, name):
    stage = synthesised(name)
    functions = stage.rewards().values()
    published = [each for each in stage.stack.functions if not each.deployment.immutable]
    versions = [*stage.resources("AWS::Lambda::Version")]
    assert len(published) == sum(each.startswith("Rewards") for each in versions)
    aliases = stage.properties("AWS::Lambda::Alias")
    assert [alias["Name"] for alias in aliases] == ["live"] * len(published)
    assert all("SageMaker" in function["FunctionName"] for function in functions)
    assert all(function["MemorySize"] >= 1769 for function in functions)
    assert all(function["LoggingConfig"]["LogFormat"] == "JSON" for function in functions)


def test_a_function_is_what_the_stage_says(everything):
    flexible, _, strict, math = everything.rewards().values()
    assert (flexible["MemorySize"], flexible["Timeout"]) == (3538, 120)
    assert flexible["ReservedConcurrentExecutions"] == 64
    assert "ReservedConcurrentExecutions" not in strict  # a new account's limit refuses any
    assert {each["Runtime"] for each in (math, strict, flexible)} == {"python3.12"}
    assert {each["Architectures"][0] for each in (math, strict, flexible)} == {"x86_64"}


def test_a_function_reads_back_what_the_stage_says(everything):
    reported = {
        name: LambdaSettings.from_env(variables(each))
        for name, each in everything.rewards().items()
    }
    assert {
        name: (each.name, each.parameters, each.response_mode) for name, each in reported.items()
    } == {
        "gsm8k-flexible": ("gsm8k", {"flexible": True}, "envelope"),
        "gsm8k-sagemaker": ("gsm8k", {}, "list"),
        "gsm8k-strict": ("gsm8k", {}, "list"),
        "math": ("math", {}, "list"),
    }
    assert reported["gsm8k-flexible"].on_unscored == "fail"


def test_a_verifier_may_write_its_own_log_and_nothing_else(everything):
    roles = [
        role
        for role in everything.properties("AWS::IAM::Role")
        if role["Description"].startswith("What SageMaker-reward-") and "Path" not in role
    ]
    assert len(roles) == 4
    for role in roles:
        # The traces of the one that is traced stand in tests/cdk/test_starts.py.
        (policy,) = [each for each in role["Policies"] if each["PolicyName"] != "traces"]
        (statement,) = policy["PolicyDocument"]["Statement"]
        assert statement["Action"] == ["logs:CreateLogStream", "logs:PutLogEvents"]
        (resource,) = statement["Resource"]
        assert resource.startswith("arn:aws:logs:eu-central-1:123456789012:log-group:/aws/lambda/")
        assert "ManagedPolicyArns" not in role


HAIKU = "anthropic.claude-haiku-4-5-20251001-v1:0"

PROFILE = f"arn:aws:bedrock:us-west-2:123456789012:inference-profile/us.{HAIKU}"

RIGHTS = [
    # which function may do what beside writing its log, on what, and when
    ("exact_match", None, None, None),
    (
        "reference",
        "bedrock:InvokeModel",
        "arn:aws:bedrock:us-east-1::foundation-model/amazon.nova-lite-v1:0",
        None,
    ),
    (
        "math_then_judge",
        "bedrock:InvokeModel",
        "arn:aws:bedrock:us-east-1::foundation-model/amazon.nova-lite-v1:0",
        None,
    ),
    (
        "pandalm",
        "bedrock:InvokeModel",
        "arn:aws:bedrock:us-east-2::foundation-model/amazon.nova-pro-v1:0",
        None,
    ),
    ("pandalm", "bedrock:InvokeModel", PROFILE, None),
    *[
        (
            "pandalm",
            "bedrock:InvokeModel",
            f"arn:aws:bedrock:{region}::foundation-model/{HAIKU}",
            {"StringEquals": {"bedrock:InferenceProfileArn": PROFILE}},
        )
        for region in ("us-east-1", "us-west-2")
    ],
    *[
        (
            "pandalm",
            f"dynamodb:{action}",
            "arn:aws:dynamodb:us-east-1:123456789012:table/verdicts",
            None,
        )
        for action in ("GetItem", "PutItem")
    ],
    (
        "faithful",
        "secretsmanager:GetSecretValue",
        "arn:aws:secretsmanager:us-east-1:123456789012:secret:vllm-a1b2c3",
        None,
    ),
]


@pytest.mark.parametrize(
    "name", ["exact_match", "reference", "math_then_judge", "pandalm", "faithful"]
)
def test_a_judge_may_ask_what_its_settings_name_and_nothing_else(synthesised, name):
    physical = f"SageMaker-reward-judged-{name}"
    (role,) = [
        role
        for role in synthesised("judged").properties("AWS::IAM::Role")
        if role.get("Description") == f"What {physical} runs as"
    ]
    logs, *others = [
        statement
        for policy in role["Policies"]
        for statement in policy["PolicyDocument"]["Statement"]
    ]
    assert logs["Sid"] == "WriteLogs"
    may = [
        (name, action, flat(resource), statement.get("Condition"))
        for statement in others
        for resource in statement["Resource"]
        for action in statement["Action"]
    ]
    assert sorted(may, key=str) == sorted(
        (row for row in RIGHTS if row[0] == name and row[1]), key=str
    )


@pytest.mark.parametrize("name", NAMES)
def test_only_an_emulator_is_granted_the_action_it_asks_about(synthesised, name):
    """It authorises Converse by an action of that name, which AWS does not have."""
    granted = {action for _, each in statements(synthesised(name)) for action in each["Action"]}
    assert ("bedrock:Converse" in granted) == (name == "local")


def test_a_judge_reads_back_whom_it_asks(synthesised):
    reported = {
        settings.name: settings.judge
        for each in synthesised("judged").rewards().values()
        for settings in [LambdaSettings.from_env(variables(each))]
    }
    assert reported["exact_match"] is None
    assert reported["reference"].models[0].tier == "flex"
    assert reported["math_then_judge"].models[0].model == "amazon.nova-lite-v1:0"
    assert reported["pandalm"].models[0].called == f"us.{HAIKU}"
    assert reported["pandalm"].fallback.region == "us-east-2"
    assert reported["rubric"].models[0].backend == "openai"


def service_role(stage, service):
    """What one service's jobs run as; of Bedrock's two, what its training jobs do."""
    role, *_ = [
        role
        for role in stage.properties("AWS::IAM::Role")
        if f'"{service}"' in json.dumps(role["AssumeRolePolicyDocument"])
        and "model-import-job" not in json.dumps(role["AssumeRolePolicyDocument"])
    ]
    return role


@pytest.mark.parametrize("service", ["bedrock.amazonaws.com", "sagemaker.amazonaws.com"])
def test_a_training_role_invokes_exactly_the_catalogue_with_its_versions(everything, service):
    policy = service_role(everything, service)["Policies"][0]["PolicyDocument"]["Statement"]
    (invoke,) = [each for each in policy if "lambda:InvokeFunction" in each["Action"]]
    ours = "arn:aws:lambda:eu-central-1:123456789012:function:SageMaker-reward-everything-"
    assert invoke["Resource"] == [
        *(f"{ours}gsm8k-flexible", f"{ours}gsm8k-flexible:*"),
        f"{ours}gsm8k-sagemaker--*",
        *(f"{ours}gsm8k-strict", f"{ours}gsm8k-strict:*"),
        *(f"{ours}math", f"{ours}math:*"),
    ]


JOBS_OF = ["bedrock.amazonaws.com", "sagemaker.amazonaws.com", "job.sagemaker.amazonaws.com"]


@pytest.mark.parametrize("service", JOBS_OF)
def test_a_training_role_lies_where_stock_policies_look_for_it(everything, service):
    assert service_role(everything, service)["Path"] == "/service-role/"


def test_sagemaker_s_role_carries_its_name_however_long_the_stage_s_is(everything):
    from reward_functions.cdk.constructs.training import ROLES, role_name

    role = service_role(everything, "sagemaker.amazonaws.com")
    assert role["RoleName"] == "SageMaker-reward-everything-eu-central-1"
    longest = [role_name(kind, Names("s" * 20), max(aws_regions(), key=len)) for kind in ROLES]
    assert max(len(name) for name in longest if name) <= MAX_ROLE_NAME


def test_a_training_role_reads_and_writes_exactly_its_prefixes(everything):
    policy = service_role(everything, "bedrock.amazonaws.com")["Policies"][0]["PolicyDocument"]
    may = {
        (action, flat(resource).partition(".Arn>")[2])
        for statement in policy["Statement"]
        for action in statement["Action"]
        if action.startswith("s3:")
        for resource in statement["Resource"]
    }
    assert may == {
        ("s3:GetObject", "/rft-data/*"),
        ("s3:GetObject", "/rft-output/*"),
        ("s3:PutObject", "/rft-output/*"),
        ("s3:ListBucket", ""),
    }
    (listing,) = [each for each in policy["Statement"] if each["Action"] == ["s3:ListBucket"]]
    assert listing["Condition"] == {"StringLike": {"s3:prefix": ["rft-data/*", "rft-output/*"]}}


def test_no_other_account_s_job_can_borrow_the_role(everything):
    role = service_role(everything, "bedrock.amazonaws.com")
    (trust,) = role["AssumeRolePolicyDocument"]["Statement"]
    assert trust["Condition"] == {
        "StringEquals": {"aws:SourceAccount": "123456789012"},
        "ArnLike": {
            "aws:SourceArn": "arn:aws:bedrock:eu-central-1:123456789012:model-customization-job/*"
        },
    }


def policy_of(stage, task):
    """The managed policy for people with one task."""
    (policy,) = [
        each
        for name, each in stage.resources("AWS::IAM::ManagedPolicy").items()
        if name.startswith(f"Training{task.capitalize()}Policy")
    ]
    return policy["Properties"]


@pytest.mark.parametrize(
    ("task", "service", "role"),
    [
        ("data", None, None),
        ("jobs", "bedrock.amazonaws.com", "TrainingBedrockRole"),
        ("evaluate", "bedrock.amazonaws.com", "TrainingImportRole"),
        ("operate", None, None),
        ("sagemaker", "sagemaker.amazonaws.com", "TrainingSageMakerRole"),
        ("agents", "job.sagemaker.amazonaws.com", "TrainingAgentRole"),
        ("training", "sagemaker.amazonaws.com", "TrainingTrainingJobRole"),
        ("hyperpod", None, None),
    ],
)
def test_a_task_hands_over_one_role_at_most_and_to_its_service_only(
    everything, task, service, role
):
    policy = policy_of(everything, task)
    passed = {
        each["Condition"]["StringEquals"]["iam:PassedToService"]: [*map(flat, each["Resource"])]
        for each in policy["PolicyDocument"]["Statement"]
        if each["Action"] == ["iam:PassRole"]
    }
    assert [*passed] == ([service] if service else [])
    assert all(len(arns) == 1 and role in arns[0] for arns in passed.values())


MADE_WHERE = {
    # a resource of what a stage asks for, by how its name begins
    "TrainingSageMakerRole": "sagemaker_role",
    "TrainingSagemakerPolicy": "sagemaker_role",
    "TrainingAgentRole": "agents",
    "TrainingAgentsPolicy": "agents",
    "TrainingAgentRuntimePolicy": "agent",
    "TrainingTrainingJobRole": "training_job_role",
    "TrainingTrainingPolicy": "training_job_role",
    "TrainingHyperpodPolicy": "hyperpod",
    "TrainingHyperpodRuntimePolicy": "hyperpod",
    "TrainingImportRole": "any",
}


def asks_agents(given):
    """Whether a stage of `cdk.json` has multi-turn jobs."""
    return bool(given.get("job_rights", {}).get("agents") or given.get("forwarders"))


@pytest.mark.parametrize("name", NAMES)
def test_roles_and_policies_of_sagemaker_stand_where_a_stage_asks_for_them(synthesised, name):
    stage, given = synthesised(name), STAGES[name]
    asked = {
        **{
            field: bool(given.get(field))
            for field in ("sagemaker_role", "training_job_role", "hyperpod")
        },
        "agents": asks_agents(given),
    }
    asked["any"] = any(asked.values())
    asked["agent"] = asked["agents"] or "feedback" in given
    made = [*stage.resources("AWS::IAM::Role"), *stage.resources("AWS::IAM::ManagedPolicy")]
    for begins, reason in MADE_WHERE.items():
        assert any(each.startswith(begins) for each in made) == asked[reason], begins


@pytest.mark.parametrize(
    ("service", "policies"),
    [
        ("bedrock.amazonaws.com", {"train", "key", "invocation-logs", "vpc", "model-key"}),
        ("sagemaker.amazonaws.com", {"train", "customize", "key", "vpc", "model-key"}),
        ("job.sagemaker.amazonaws.com", {"roll-out", "key", "vpc", "model-key", "see-key"}),
    ],
)
def test_each_role_has_the_rights_of_jobs_that_its_service_takes(everything, service, policies):
    role = service_role(everything, service)
    documents = {each["PolicyName"]: each["PolicyDocument"] for each in role["Policies"]}
    assert {*documents} == policies
    (joining,) = [
        each["Resource"]
        for each in documents["vpc"]["Statement"]
        if each["Sid"] in ("JoinNetwork", "JoinWithin")
    ]
    named = [each.rpartition("/")[2] for each in joining]
    assert [each for each in named if each != "*"] == [
        *("subnet-0123456789abcdef0", "subnet-0123456789abcdef1", "sg-0123456789abcdef0")
    ]


def test_a_multi_turn_job_asks_exactly_the_agents_and_no_reward(everything):
    role = service_role(everything, "job.sagemaker.amazonaws.com")
    statements = role["Policies"][0]["PolicyDocument"]["Statement"]
    asked = {each["Sid"]: each["Resource"] for each in statements if each["Sid"].startswith("Ask")}
    forwarder, runtime = STAGES["everything"]["job_rights"]["agents"]
    assert asked == {
        "AskForwarders": [forwarder, f"{forwarder}:*"],
        "AskRuntimes": [runtime, f"{runtime}/runtime-endpoint/*"],
    }
    assert "function:SageMaker-reward-" not in json.dumps(role["Policies"])
    (trust,) = role["AssumeRolePolicyDocument"]["Statement"]
    assert trust["Action"] == ["sts:AssumeRole", "sts:TagSession"]


@pytest.mark.parametrize(("name", "has"), [("everything", True), ("dev", False)])
def test_who_brings_data_may_use_the_bucket_s_key(synthesised, name, has):
    stage = synthesised(name)
    document = policy_of(stage, "data")["PolicyDocument"]
    keys = [each["Resource"] for each in document["Statement"] if each["Sid"] == "UseKey"]
    made = [[{"Fn::GetAtt": [key, "Arn"]}] for key in stage.resources("AWS::KMS::Key")]
    assert keys == made
    assert bool(keys) == has


def test_who_starts_jobs_encrypts_models_and_who_evaluates_only_asks_them(everything):
    used = {
        task: each["Action"]
        for task in ("jobs", "evaluate")
        for each in policy_of(everything, task)["PolicyDocument"]["Statement"]
        if each["Sid"] == "UseKey"
    }
    assert "kms:CreateGrant" in used["jobs"]
    assert used["evaluate"] == ["kms:Decrypt"]


def whole(value):
    """A document with every value as text."""
    shown = flat(value)
    if isinstance(shown, dict):
        return {key: whole(each) for key, each in shown.items()}
    return [whole(each) for each in shown] if isinstance(shown, list) else shown


@pytest.mark.parametrize("name", NAMES)
def test_no_policy_is_longer_than_it_was_measured(synthesised, name):
    measured = policy_sizes(stage_of(STAGES, name, ROOT))
    for task in {"data", "jobs", "evaluate", "operate", *MADE_BY} & {*measured}:
        document = policy_of(synthesised(name), task)["PolicyDocument"]
        written = json.dumps(whole(document), separators=(",", ":"))
        written = written.replace("<AWS::AccountId>", "1" * 12)
        assert len(written) <= measured[task][0], task


READS = ("Get", "List", "Describe", "Query", "Simulate")

KNOW_NO_RESOURCE = {
    "bedrock-mantle:CallWithBearerToken",  # says who asks, and does nothing
    "sagemaker:CallWithBearerToken",
    "bedrock:CreateModelImportJob",  # reads what the role that is handed over may
    "bedrock:CreateCustomModel",
    "xray:PutTraceSegments",
    "xray:PutTelemetryRecords",
    "cloudwatch:PutMetricData",  # in one namespace alone
    "logs:CreateLogDelivery",  # of the state machine's own log
    "logs:UpdateLogDelivery",
    "logs:DeleteLogDelivery",
    "logs:PutResourcePolicy",
}


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_written_to_whatever_there_is(synthesised, name):
    wide = [
        (where, action)
        for where, statement in statements(synthesised(name))
        if "*" in [*map(flat, statement["Resource"])] and statement["Effect"] == "Allow"
        for action in statement["Action"]
        if not action.partition(":")[2].startswith(READS) and action not in KNOW_NO_RESOURCE
    ]
    assert not wide


@pytest.mark.parametrize("name", NAMES)
def test_no_action_is_a_wildcard_unless_a_deployment_states_it(synthesised, name):
    found = [each for each in statements(synthesised(name)) if "Stated" not in each[1]["Sid"]]
    assert found
    assert not [action for _, each in found for action in each["Action"] if "*" in action]


def test_every_wildcard_has_a_reason_and_every_reason_a_wildcard(synthesised):
    from reward_functions.cdk.constructs.roles import WILDCARDS

    wide = {
        each["Sid"]
        for name in ("everything", "company", "dev", "local", "agents")
        for _, each in statements(synthesised(name))
        if any("*" in flat(resource) for resource in each["Resource"])
    }
    wide |= {"KeepRuntimeLog", "WriteRuntimeLog", "FindLogGroups"}  # of the agents' own stack
    wide |= {"KeepResults"}  # likewise, and of those alone that keep results
    assert wide - {"Stated1", "Stated2"} == set(WILDCARDS)


@pytest.mark.parametrize("name", NAMES)
def test_data_is_private_encrypted_versioned_and_travels_by_tls(synthesised, name):
    stage = synthesised(name)
    (bucket,) = stage.properties("AWS::S3::Bucket")
    assert set(bucket["PublicAccessBlockConfiguration"].values()) == {True}
    assert bucket["VersioningConfiguration"] == {"Status": "Enabled"}
    assert bucket["BucketEncryption"]
    denied = [
        each
        for policy in stage.properties("AWS::S3::BucketPolicy")
        for each in policy["PolicyDocument"]["Statement"]
        if each["Effect"] == "Deny"
    ]
    assert [each["Condition"] for each in denied] == [{"Bool": {"aws:SecureTransport": "false"}}]


@pytest.mark.parametrize(
    ("name", "kept"), [("local", False), ("dev", False), ("prod", True), ("everything", True)]
)
def test_production_keeps_what_it_stored_and_others_leave_nothing(synthesised, name, kept):
    stage = synthesised(name)
    kinds = {"AWS::S3::Bucket", "AWS::S3::BucketPolicy", "AWS::KMS::Key", "AWS::Logs::LogGroup"}
    stored = [each for each in stage.template["Resources"].values() if each["Type"] in kinds]
    assert {each["DeletionPolicy"] for each in stored} == {
        "RetainExceptOnCreate" if kept else "Delete"
    }
    assert stage.stack.termination_protection is kept
    outliving = {
        each["Type"]
        for each in stage.template["Resources"].values()
        if each.get("DeletionPolicy", "").startswith("Retain")
    } - kinds
    # Versions end with their function, and generations and judges' roles by what deletes them.
    ended = {"AWS::Lambda::Version", "AWS::Lambda::Function", "AWS::IAM::Role"}
    assert outliving - ended == ({"Custom::EmptyBucket"} if kept else set())


def test_no_alarm_of_an_emulator_computes(synthesised):
    """It takes none that does."""
    assert "Metrics" not in json.dumps(synthesised("local").properties("AWS::CloudWatch::Alarm"))


@pytest.mark.parametrize("name", NAMES)
def test_a_bucket_is_emptied_by_nobody_in_production_and_else_by_the_custodian(synthesised, name):
    stage = synthesised(name)
    production = name in ("prod", "everything")
    (emptying,) = stage.resources("Custom::EmptyBucket").values()
    (bucket,) = stage.resources("AWS::S3::Bucket")
    assert emptying["Properties"]["Bucket"] == {"Ref": bucket}
    # It stays in the template of production: what leaves a template is asked to do its work.
    assert emptying["DeletionPolicy"] == ("Retain" if production else "Delete")
    deleting = [each for _, each in statements(stage) if "s3:DeleteObjectVersion" in each["Action"]]
    assert len(deleting) == (0 if production else 1)


@pytest.mark.parametrize("name", NAMES)
def test_the_catalogue_is_read_back_as_it_was_written(synthesised, name):
    stage = synthesised(name)
    parameters = {
        each["Name"]: flat(each["Value"]) for each in stage.properties("AWS::SSM::Parameter")
    }
    shared = DeployedStage.model_validate_json(parameters.pop(f"/reward-functions/{name}/stage"))
    assert shared.stage == name
    asked = {
        *(["sagemaker"] if STAGES[name].get("sagemaker_role") else []),
        *(["training"] if STAGES[name].get("training_job_role") else []),
        *(["hyperpod"] if STAGES[name].get("hyperpod") else []),
        *(["agents"] if asks_agents(STAGES[name]) else []),
    }
    assert {
        "sagemaker": bool(shared.sagemaker_role_arn and shared.sagemaker_policy_arn),
        "agents": bool(shared.agent_role_arn and shared.agents_policy_arn),
        "training": bool(shared.training_job_role_arn and shared.training_policy_arn),
        "hyperpod": bool(shared.hyperpod_runtime_policy_arn and shared.hyperpod_policy_arn),
        "agent": bool(shared.agent_runtime_policy_arn),
        "import": bool(shared.import_role_arn),
    } == {
        "sagemaker": "sagemaker" in asked,
        "agents": "agents" in asked,
        "training": "training" in asked,
        "hyperpod": "hyperpod" in asked,
        "agent": "agents" in asked or "feedback" in STAGES[name],
        "import": bool(asked),
    }
    granted = JobRights.model_validate(STAGES[name].get("job_rights", {}))
    assert shared.job_rights == granted
    records = [DeployedReward.model_validate_json(value) for value in parameters.values()]
    assert [*parameters] == [
        f"/reward-functions/{name}/deployments/{each.name}" for each in records
    ]
    assert [each.name for each in records] == [
        each.deployment.name for each in stage.stack.functions
    ]
    for record in records:
        arns = {record.version_arn, record.alias_arn, record.function_arn}
        assert arns == {record.function_arn, None} if record.immutable else len(arns) == 3


def test_outputs_name_what_a_job_is_given_and_what_it_holds(everything):
    outputs = {name: flat(each["Value"]) for name, each in everything.template["Outputs"].items()}
    versions = everything.resources("AWS::Lambda::Version")
    assert {outputs[f"Reward{name}VersionArn"] for name in PASCAL} == {
        f"<{name}>" for name in versions
    }
    aliases = everything.resources("AWS::Lambda::Alias")
    assert {outputs[f"Reward{name}AliasArn"] for name in PASCAL} == {
        f"<{name}>" for name in aliases
    }
    (generation,) = [
        name
        for name, each in everything.resources("AWS::Lambda::Function").items()
        if "--" in each["Properties"]["FunctionName"]
    ]
    assert outputs["RewardGsm8kSagemakerVersionArn"] == f"<{generation}.Arn>"
    assert "RewardGsm8kSagemakerAliasArn" not in outputs
    assert re.fullmatch(r"math \d+ 0{16}", outputs["RewardMathContent"])


PASCAL = ["Math", "Gsm8kStrict", "Gsm8kFlexible"]


def test_every_alarm_watches_what_exists(everything):
    """A metric's name and dimensions are the handler's own, or AWS/Lambda's."""
    from reward_functions.cdk.model.operating import ALARMS
    from tests.test_generated import emitted

    alarms = everything.properties("AWS::CloudWatch::Alarm")
    functions = len(everything.stack.functions)
    assert len(alarms) == functions * len(ALARMS["deployment"]) + 1
    for alarm in alarms:
        assert alarm["AlarmActions"]
        assert alarm["TreatMissingData"] == "notBreaching"
        dimensions = {each["Name"]: each["Value"] for each in alarm["Dimensions"]}
        if alarm["Namespace"] == "RewardFunctions":
            assert alarm["MetricName"] in emitted()
            assert set(dimensions) == {"service", "reward"}
            assert dimensions["service"].startswith("SageMaker-reward-everything-")
        elif alarm["Namespace"] == "AWS/SQS":
            (queue,) = everything.resources("AWS::SQS::Queue")
            assert flat(dimensions["QueueName"]) == f"<{queue}.QueueName>"
        else:
            assert (alarm["Namespace"], *dimensions) == ("AWS/Lambda", "FunctionName")


def test_a_slow_batch_is_reported_before_the_timeout(everything):
    slow = [
        alarm["Threshold"]
        for alarm in everything.properties("AWS::CloudWatch::Alarm")
        if alarm["MetricName"] == "Duration"
    ]
    assert slow == [96_000, 720_000, 720_000, 720_000]


def test_job_events_reach_the_subscribers_or_the_dead_letter_queue(everything):
    (queue,) = everything.resources("AWS::SQS::Queue")
    (topic,) = everything.resources("AWS::SNS::Topic")
    for rule in everything.properties("AWS::Events::Rule"):
        (target,) = rule["Targets"]
        assert flat(target["Arn"]) == f"<{topic}>"
        assert flat(target["DeadLetterConfig"]["Arn"]) == f"<{queue}.Arn>"
    subscribed = {
        (each["Protocol"], each["Endpoint"])
        for each in everything.properties("AWS::SNS::Subscription")
    }
    assert subscribed == {("email", "team@example.com"), ("https", "https://example.com/hook")}


def test_what_waits_in_the_dead_letter_queue_raises_an_alarm(everything):
    (alarm,) = [
        each
        for each in everything.properties("AWS::CloudWatch::Alarm")
        if each["Namespace"] == "AWS/SQS"
    ]
    assert alarm["MetricName"] == "ApproximateNumberOfMessagesVisible"
    assert (alarm["Statistic"], alarm["Threshold"]) == ("Maximum", 0)
    assert alarm["ComparisonOperator"] == "GreaterThanThreshold"


def test_alarms_may_publish_to_the_topic_and_what_the_rules_publish_as(everything):
    (policy,) = everything.properties("AWS::SNS::TopicPolicy")
    alarms, rules = [
        each for each in policy["PolicyDocument"]["Statement"] if each["Effect"] == "Allow"
    ]
    assert alarms["Principal"] == {"Service": "cloudwatch.amazonaws.com"}
    assert alarms["Condition"] == {"StringEquals": {"aws:SourceAccount": "123456789012"}}
    assert flat(rules["Principal"]["AWS"]).startswith("<JobEventsPublisherRole")


BEDROCKS, SAGEMAKERS = (
    {"source": ["aws.bedrock"], "detail-type": ["Model Customization Job State Change"]},
    {"source": ["aws.sagemaker"], "detail-type": ["SageMaker Training Job State Change"]},
)


def patterns(stage):
    """What the rules of a stage hear, by their names."""
    return {
        each["Name"]: {
            **each["EventPattern"],
            "detail": {
                field: sorted(re.sub(r"[0-9A-F]{8}(?=\.Arn>)", "", flat(arn)) for arn in arns)
                for field, arns in each["EventPattern"].get("detail", {}).items()
            },
        }
        for each in stage.properties("AWS::Events::Rule")
    }


@pytest.mark.parametrize(
    ("name", "heard"),
    [
        (
            "everything",  # imports and multi-turn jobs have no documented events
            {
                "RewardFunctions-everything-bedrock": BEDROCKS
                | {"detail": {"roleArn": ["<TrainingBedrockRole.Arn>"]}},
                "RewardFunctions-everything-sagemaker": SAGEMAKERS
                | {
                    "detail": {
                        "RoleArn": [
                            "<TrainingSageMakerRole.Arn>",
                            "<TrainingTrainingJobRole.Arn>",
                        ]
                    }
                },
            },
        ),
        (
            "judged",  # job_events: account
            {
                "RewardFunctions-judged-bedrock": BEDROCKS | {"detail": {}},
                "RewardFunctions-judged-sagemaker": SAGEMAKERS | {"detail": {}},
            },
        ),
        (
            "dev",
            {
                "RewardFunctions-dev-bedrock": BEDROCKS
                | {"detail": {"roleArn": ["<TrainingBedrockRole.Arn>"]}}
            },
        ),
    ],
)
def test_subscribers_hear_of_the_stage_s_jobs_or_of_the_account_s(synthesised, name, heard):
    assert patterns(synthesised(name)) == heard


def test_the_rules_of_the_stage_alone_publish_to_its_topic(everything):
    ((name, publisher),) = [
        (name, each["Properties"])
        for name, each in everything.resources("AWS::IAM::Role").items()
        if name.startswith("JobEventsPublisherRole")
    ]
    (trust,) = publisher["AssumeRolePolicyDocument"]["Statement"]
    rules = "arn:aws:events:eu-central-1:123456789012:rule/RewardFunctions-everything"
    assert trust["Principal"] == {"Service": "events.amazonaws.com"}
    assert trust["Condition"] == {
        "StringEquals": {"aws:SourceAccount": "123456789012"},
        "ArnEquals": {"aws:SourceArn": [f"{rules}-bedrock", f"{rules}-sagemaker"]},
    }
    for rule in everything.properties("AWS::Events::Rule"):
        assert flat(rule["Targets"][0]["RoleArn"]) == f"<{name}.Arn>"


def test_the_name_of_a_rule_is_one_that_eventbridge_takes():
    from reward_functions.cdk.constructs.job_events import STATE_CHANGES, rule_name

    longest = stage_of({"s" * 20: {"region": "us-east-1"}}, "s" * 20, ROOT)
    assert max(len(rule_name(longest, each)) for each in STATE_CHANGES) <= 64


def test_tags_stand_on_the_stack(everything):
    assert everything.stack.tags.tag_values() == {"team": "rewards"}


@pytest.mark.parametrize("name", STAGES)
def test_a_stack_has_no_more_resources_than_the_limits_count(synthesised, name):
    assert len(synthesised(name).template["Resources"]) <= most_resources(
        stage_of(STAGES, name, ROOT)
    )


@pytest.mark.parametrize("name", STAGES)
def test_a_stack_has_the_alarms_that_its_price_counts(synthesised, name):
    made = synthesised(name).template["Resources"].values()
    watched = [each for each in made if each["Type"] == "AWS::CloudWatch::Alarm"]
    assert len(watched) == alarms(stage_of(STAGES, name, ROOT))


UNLUCKY = [
    *("training", "monitoring", "job-events", "stage", "bucket", "dashboard", "training-role-arn"),
    *("catalogue-gsm8k", "catalogue", "rewards", "custodian", "gsm8k", "gsm8k-version", "version"),
    *("alias", "content", "function", "stage-bucket", "x", "x-content"),
]


def test_a_deployment_may_be_called_as_anything_else_is(stack_of):
    given = [{"name": name, "reward": "gsm8k"} for name in UNLUCKY]
    stage = stack_of({"deployments": given})
    outputs = [name for name in stage.template["Outputs"] if name.startswith("Reward")]
    assert len(outputs) == 3 * len(UNLUCKY)
    assert stage.rewards().keys() == {*UNLUCKY}


@pytest.fixture(scope="module")
def linted():
    """What CloudFormation's linter finds in a template; its rules are loaded once."""
    from cfnlint.config import ConfigMixIn
    from cfnlint.decode.decode import decode_str
    from cfnlint.runner import Runner

    runner = Runner(ConfigMixIn())

    def found(template, **chosen):
        runner.config = ConfigMixIn(**chosen)
        decoded, errors = decode_str(json.dumps(template))
        return [str(each) for each in (*errors, *runner.validate_template(decoded))]

    return found


def test_cloudformation_s_linter_finds_what_is_wrong(linted):
    wrong = {"Resources": {"A": {"Type": "AWS::S3::Bucket", "Properties": {"BucketNam": "a"}}}}
    (found,) = linted(wrong, regions=["us-east-1"])
    assert found.startswith("[E3002")


@pytest.mark.parametrize("name", ["everything", "merged"])
def test_cloudformation_s_own_linter_finds_nothing(synthesised, linted, name):
    """`make options` has it read every option by itself, an emulator's among them.

    A checkout has it read the same templates once.
    """
    stage = synthesised(name)
    templates = [stack.template for stack in stage.stack.node.root.synth().stacks]
    # CDK says what depends on what even where a reference says it already (W3005).
    asked = {"ignore_checks": ["W3005"], "regions": [stage.stack.region]}
    read = json.dumps([version("cfn-lint"), asked, templates])
    digest, clean = sha256(read.encode()).hexdigest(), LINTED / name
    if clean.is_file() and clean.read_text() == digest:
        return
    for template in templates:
        assert linted(template, **asked) == []
    LINTED.mkdir(parents=True, exist_ok=True)
    clean.write_text(digest)


def test_the_linter_reads_every_kind_of_resource_that_a_stage_has(synthesised):
    kinds = {
        name: {
            each["Type"]
            for stack in synthesised(name).stack.node.root.synth().stacks
            for each in stack.template["Resources"].values()
        }
        for name in STAGES
    }
    assert set().union(*kinds.values()) == kinds["everything"] | kinds["merged"]
