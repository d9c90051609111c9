"""Policies as data: what each may do, and in which order nothing else can slip in."""

from __future__ import annotations

import json
import re
from functools import cache
from importlib.resources import files

import pytest

from reward_functions.cdk.policies import (
    custodian,
    people,
    permissions,
    sagemaker,
)
from reward_functions.cdk.policies.documents import AGENTS as OF_AGENTS
from reward_functions.cdk.policies.documents import BEDROCK, SAGEMAKER, TRAINING
from reward_functions.cdk.policies.grants import Made
from reward_functions.cdk.policies.iam import Place
from reward_functions.judge_runtime.config import JudgeConfig, JudgeModel
from tests.cdk.policies.policies import (
    AGENT_ROLE,
    AGENTS,
    BUCKET,
    DOCUMENTS,
    FUNCTION,
    HERE,
    IMPORT_ROLE,
    JOB_ROLE,
    MADE,
    PEOPLE,
    PLAIN,
    PROFILE,
    REWARDS,
    ROLE,
    SECRET,
    TRAINING_JOB_ROLE,
    TRUSTS,
    stage_with,
)

DENYING = {
    "join_network",  # what Lambda does for a function in a network, to its code
    "report",  # to ask what moves
}


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_document_is_plain_data_that_only_allows(name):
    document = DOCUMENTS[name]
    assert json.loads(json.dumps(document)) == document
    assert document["Version"] == "2012-10-17"
    effects = {statement["Effect"] for statement in document["Statement"]}
    assert effects == ({"Allow", "Deny"} if name in DENYING else {"Allow"})


@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_arn_is_of_the_partition_it_was_asked_for(name):
    assert "arn:aws:" not in json.dumps(DOCUMENTS[name])


@pytest.mark.parametrize("name", DOCUMENTS)
def test_statements_have_names_of_their_own(name):
    sids = [statement.get("Sid") for statement in DOCUMENTS[name]["Statement"]]
    assert len(set(sids)) == len(sids)


def test_a_function_is_granted_with_its_versions_and_none_that_begins_as_it_does():
    assert [FUNCTION, f"{FUNCTION}:*", f"{FUNCTION}-own--*"] == REWARDS


@pytest.mark.parametrize("name", PEOPLE)
def test_whatever_people_do_they_find_it_in_the_catalogue(name):
    assert DOCUMENTS[name]["Statement"][0]["Sid"] == "ReadCatalogue"


@pytest.mark.parametrize("name", TRUSTS)
def test_a_service_acts_for_this_account_only(name):
    (statement,) = DOCUMENTS[name]["Statement"]
    assert statement["Condition"]["StringEquals"] == {"aws:SourceAccount": "123456789012"}


@pytest.mark.parametrize(
    ("name", "role", "service"),
    [
        ("run_jobs", ROLE, "bedrock.amazonaws.com"),
        ("evaluate", IMPORT_ROLE, "bedrock.amazonaws.com"),
        ("run_customization", JOB_ROLE, "sagemaker.amazonaws.com"),
        ("run_multi_turn", AGENT_ROLE, "job.sagemaker.amazonaws.com"),
        ("run_training_jobs", TRAINING_JOB_ROLE, "sagemaker.amazonaws.com"),
    ],
)
def test_a_role_is_handed_to_its_own_service_only(name, role, service):
    (passing,) = [
        each for each in DOCUMENTS[name]["Statement"] if each["Action"] == ["iam:PassRole"]
    ]
    assert (passing["Action"], passing["Resource"]) == (["iam:PassRole"], [role])
    assert passing["Condition"] == {"StringEquals": {"iam:PassedToService": service}}


WRITES = (
    *("Create", "Put", "Delete", "Update", "Stop", "Cancel", "Tag", "Pass", "Invoke", "Abort"),
    *("Add", "Import", "Complete"),
)


@pytest.mark.parametrize(
    ("name", "writes"),
    [
        ("prepare_data", {"s3:PutObject", "s3:AbortMultipartUpload", "s3:DeleteObject"}),
        (
            "run_jobs",
            {
                "iam:PassRole",
                "bedrock:CreateModelCustomizationJob",
                "bedrock:StopModelCustomizationJob",
                "bedrock:TagResource",
                "bedrock-mantle:CreateFile",
                "bedrock-mantle:DeleteFile",
                "bedrock-mantle:CreateFineTuningJob",
                "bedrock-mantle:CancelFineTuningJob",
                "bedrock-mantle:CreateInference",
                "kms:CreateGrant",  # of the key that encrypts models
                "lambda:InvokeFunction",
            },
        ),
        (
            "evaluate",
            {
                "lambda:InvokeFunction",
                "bedrock:InvokeModel",
                "bedrock:CreateCustomModelDeployment",
                "bedrock:DeleteCustomModelDeployment",
                "bedrock:TagResource",
                "iam:PassRole",
                "bedrock:CreateModelImportJob",
                "bedrock:CreateCustomModel",
                "bedrock:DeleteImportedModel",
            },
        ),
        (
            "run_customization",
            {
                "iam:PassRole",
                "sagemaker:CreateTrainingJob",
                "sagemaker:StopTrainingJob",
                "sagemaker:CreateHub",
                "sagemaker:ImportHubContent",
                "sagemaker:CreateModelPackageGroup",
                "sagemaker:CreatePresignedMlflowAppUrl",
                "sagemaker:AddTags",
            },
        ),
        (
            "run_multi_turn",
            {
                "iam:PassRole",
                "sagemaker:CreateJob",
                "sagemaker:StopJob",
                "sagemaker:DeleteJob",
                "sagemaker:CreateModelPackageGroup",
                "sagemaker:CreatePresignedMlflowAppUrl",
                "sagemaker:AddTags",
                "lambda:InvokeFunction",
                "bedrock-agentcore:InvokeAgentRuntime",
                "kms:CreateGrant",
            },
        ),
        (
            "run_training_jobs",
            {
                "iam:PassRole",
                "sagemaker:CreateTrainingJob",
                "sagemaker:StopTrainingJob",
                "sagemaker:CreatePresignedMlflowAppUrl",
                "sagemaker:AddTags",
            },
        ),
        ("submit_to_hyperpod", {"sagemaker:CreatePresignedMlflowAppUrl"}),
        ("import_from_escrow", set()),
        ("publish_events", set()),  # sns:Publish begins with none of these
        ("run_agent", {"sagemaker:CompleteRollout", "sagemaker:UpdateReward"}),
        ("import_model", set()),
        (
            "operate",
            {
                "ssm:PutParameter",
                "lambda:UpdateAlias",
                "lambda:DeleteFunction",
                "bedrock:DeleteCustomModel",
                "sagemaker:DeleteModelPackage",
            },
        ),
        (
            "join_vpc",
            {
                "ec2:CreateNetworkInterface",
                "ec2:CreateNetworkInterfacePermission",
                "ec2:DeleteNetworkInterface",
                "ec2:DeleteNetworkInterfacePermission",
                "ec2:CreateTags",
            },
        ),
        ("read_invocation_logs", set()),
        ("send_traces", {"xray:PutTraceSegments", "xray:PutTelemetryRecords"}),
        (
            "keep_house",
            {
                "lambda:InvokeFunction",
                "lambda:PutProvisionedConcurrencyConfig",
                "lambda:DeleteProvisionedConcurrencyConfig",
                "lambda:DeleteFunction",
                "iam:DeleteRole",
                "iam:DeleteRolePolicy",
                "s3:DeleteObject",
                "s3:DeleteObjectVersion",
            },
        ),
    ],
)
def test_each_task_changes_this_and_reads_beside_it(name, writes):
    actions = {action for each in DOCUMENTS[name]["Statement"] for action in each["Action"]}
    assert {each for each in actions if each.partition(":")[2].startswith(WRITES)} == writes


@pytest.mark.parametrize("name", ["operate", "keep_house"])
def test_nobody_deletes_a_function_with_its_versions(name):
    resources = [
        resource
        for each in DOCUMENTS[name]["Statement"]
        if "lambda:DeleteFunction" in each["Action"]
        for resource in each["Resource"]
    ]
    assert resources
    assert all(each.endswith((":*", "--*")) for each in resources)


MADE_FOR_THE_STAGE = "arn:aws-cn:s3:::sagemaker-{}-dev-123456789012-cn-north-1"
DATA, RESULTS = MADE_FOR_THE_STAGE.format("reward"), MADE_FOR_THE_STAGE.format("rollouts")


@pytest.mark.parametrize(
    ("given", "emptied"),
    [
        ({}, [DATA]),
        ({"feedback": "path"}, [DATA, RESULTS]),
        ({"bucket": "acme-data"}, []),
        ({"bucket": "acme-data", "feedback": "path"}, [RESULTS]),
        ({"production": True, "feedback": "path"}, []),
    ],
)
def test_the_custodian_empties_the_buckets_that_do_not_outlive_the_stack(given, emptied):
    house = custodian.keep_house(HERE, stage_with(**given))
    found = {
        action: each["Resource"]
        for each in house["Statement"]
        for action in each["Action"]
        if action.startswith("s3:")
    }
    objects = [f"{each}/*" for each in emptied]
    rights = {"s3:ListBucketVersions": emptied}
    rights |= {"s3:DeleteObject": objects, "s3:DeleteObjectVersion": objects}
    assert found == (rights if emptied else {})


def test_a_stage_without_sagemaker_s_jobs_grants_none_of_their_rights():
    documents = [
        people.run_jobs(HERE, PLAIN, ROLE),
        people.evaluate(HERE, PLAIN),
    ]
    assert "sagemaker" not in json.dumps(documents)
    assert "imported-model" not in json.dumps(documents)


@pytest.mark.parametrize("kind", [None, SAGEMAKER, OF_AGENTS, TRAINING])
def test_people_start_the_jobs_for_which_their_stage_has_a_role(kind):
    more = {kind} if kind else set()
    documents = people.of_people(HERE, PLAIN, MADE, dict.fromkeys({BEDROCK} | more, ROLE))
    assert documents.keys() == {"data", "jobs", "evaluate", "operate"} | more


@pytest.mark.parametrize(
    ("grant", "through"),
    [
        (permissions.use_key, "s3.eu-west-1.amazonaws.com"),
        (permissions.use_model_key, "bedrock.eu-west-1.amazonaws.com"),
    ],
)
def test_a_key_is_used_through_one_service_only(grant, through):
    place = Place("aws", "eu-west-1", "123456789012")
    (statement,) = grant(place.arn("kms", "key/k"), place)["Statement"]
    assert statement["Condition"] == {"StringEquals": {"kms:ViaService": through}}


def test_without_keys_nobody_is_granted_one():
    documents = [
        people.prepare_data(HERE, PLAIN, Made(BUCKET)),
        people.run_jobs(HERE, PLAIN, ROLE),
        people.evaluate(HERE, PLAIN),
        people.run_multi_turn(HERE, stage_with(agents=tuple(AGENTS)), ROLE),
        sagemaker.run_agent(HERE, PLAIN),
    ]
    assert "kms" not in json.dumps(documents)


@cache
def reference():
    """The Service Authorization Reference, as CloudFormation's linter carries it."""
    data = files("cfnlint.data").joinpath("AdditionalSpecs", "Policies.json")
    return json.loads(data.read_text())


def kinds(action):
    """What an action can be granted on: patterns of ARNs; "*" for one that knows no resource."""
    service, _, name = action.partition(":")
    if service == "sagemaker-mlflow":
        # The reference knows servers alone; AWS's own policies, "Prerequisites" of multi-turn
        # reinforcement learning among them, grant these on apps.
        assert name.lower() in reference()[service]["Actions"]
        return [r"arn:[^:]*:sagemaker:[^:]*:[^:]*:mlflow-app/.*"]
    if action in {"cloudwatch:PutMetricData", *people.SEE_ALARMS}:
        # Of data sets, which metrics need not be of; alarms are listed.
        return [r"\*"]
    known = reference()[service]
    named = known["Actions"][name.lower()].get("Resources", [])
    if action == people.LIST_PACKAGES:
        return [r"\*", "arn:[^:]*:sagemaker:[^:]*:[^:]*:model-package/.*"]
    forms = [form for each in named for form in known["Resources"][each.lower()]["ARNFormats"]]
    return [re.sub(r"\$\{\w+\}", "[^:]*", form) for form in forms] or [r"\*"]


# Named by "Create and manage Bedrock jobs with Step Functions" or "IAM Permissions for AgentCore
# Runtime", and not by the reference.
ALSO = {
    ("FindLogGroups", HERE.arn("logs", "log-group:*")),
    ("CreateJob", HERE.arn("bedrock", "model-customization-job/*")),
    ("KeepInterfaces", HERE.arn("ec2", "*/*")),
    ("NeverFromTheCode", "*"),
}


WIDER = {"KeepInterfaces", "NeverFromTheCode", "FindLogGroups"}
"""Statements on other than their actions know, as AWS asks for them: of Lambda's network, and of
AgentCore's logs."""


@pytest.mark.parametrize("name", [name for name in DOCUMENTS if not name.startswith("trust_")])
def test_every_action_is_granted_on_what_it_knows_and_nothing_else(name):
    for statement in DOCUMENTS[name]["Statement"]:
        for action in statement["Action"] if statement["Sid"] not in WIDER else ():
            assert any(
                re.fullmatch(kind, resource)
                for kind in kinds(action)
                for resource in statement["Resource"]
            ), (statement["Sid"], action)
        for resource in statement["Resource"]:
            assert (statement["Sid"], resource) in ALSO or any(
                re.fullmatch(kind, resource)
                for action in statement["Action"]
                for kind in kinds(action)
            ), (statement["Sid"], resource)


def nova(region):
    return f"arn:aws-cn:bedrock:{region}::foundation-model/nova"


def test_a_judge_asks_its_models_and_reads_its_key_and_its_table():
    assert [
        (each["Action"], each["Resource"], each.get("Condition"))
        for each in DOCUMENTS["ask_judge"]["Statement"]
    ] == [
        (["bedrock:InvokeModel"], [nova("cn-north-1")], None),
        (["bedrock:InvokeModel"], [PROFILE], None),
        (
            ["bedrock:InvokeModel"],
            [nova("cn-north-1"), nova("cn-northwest-1")],
            {"StringEquals": {"bedrock:InferenceProfileArn": PROFILE}},
        ),
        (["secretsmanager:GetSecretValue"], [SECRET], None),
        (["dynamodb:GetItem", "dynamodb:PutItem"], [HERE.arn("dynamodb", "table/verdicts")], None),
    ]


@pytest.mark.parametrize(
    ("model", "resources"),
    [
        # what a model says, and every ARN that may be invoked for it
        ({"model": "nova"}, [nova("cn-north-1")]),
        ({"model": "nova", "region": "cn-northwest-1"}, [nova("cn-northwest-1")]),
        (
            {"model": "nova", "profile": "cn.nova", "destinations": ["cn-north-1"]},
            [PROFILE, nova("cn-north-1")],
        ),
        (
            {
                "model": "nova",
                "profile": "cn.nova",
                "region": "cn-northwest-1",
                "destinations": ["cn-north-1"],
            },
            [PROFILE.replace("cn-north-1", "cn-northwest-1"), nova("cn-north-1")],
        ),
        (
            {
                "model": "nova",
                "profile": HERE.arn("bedrock", "application-inference-profile/x"),
                "destinations": ["cn-north-1"],
            },
            [HERE.arn("bedrock", "application-inference-profile/x"), nova("cn-north-1")],
        ),
        (
            {"model": HERE.arn("bedrock", "custom-model-deployment/x")},
            [HERE.arn("bedrock", "custom-model-deployment/x")],
        ),
        ({"model": "qwen", "backend": "openai", "endpoint": "http://localhost/v1"}, []),
    ],
)
def test_a_model_is_asked_where_it_is(model, resources):
    document = permissions.ask_judge(HERE, JudgeConfig(models=(JudgeModel(**model),)))
    named = [arn for statement in document["Statement"] for arn in statement["Resource"]]
    assert named == resources


def test_profiles_are_counted_from_one():
    jurors = [
        JudgeModel(model="nova", profile=f"{name}.nova", destinations=("cn-north-1",))
        for name in ("cn", "apac")
    ]
    _, *behind = permissions.ask_judge(HERE, JudgeConfig(models=tuple(jurors)))["Statement"]
    assert [each["Sid"] for each in behind] == ["AskBehindProfile1", "AskBehindProfile2"]


def test_two_jurors_behind_one_profile_share_its_condition():
    jurors = [
        JudgeModel(model="nova", profile="cn.nova", destinations=(region,))
        for region in ("cn-north-1", "cn-northwest-1")
    ]
    _, behind = permissions.ask_judge(HERE, JudgeConfig(models=tuple(jurors)))["Statement"]
    assert behind["Resource"] == [nova("cn-north-1"), nova("cn-northwest-1")]
