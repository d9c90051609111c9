"""Policies as data: what each may do, and in which order nothing else can slip in."""

from __future__ import annotations

import json
import re

import pytest

from reward_functions.judge_runtime.config import JudgeConfig, JudgeModel
from reward_functions.serving import iam, people, permissions
from reward_functions.serving.iam import Place

HERE = Place("aws-cn", "cn-north-1", "123456789012")
FUNCTION = HERE.arn("lambda", "function:SageMaker-reward-dev-gsm8k")
BUCKET = "arn:aws-cn:s3:::data"
PROFILE = HERE.arn("bedrock", "inference-profile/cn.nova")
SECRET = HERE.arn("secretsmanager", "secret:key-a1b2c3")
JUDGING = JudgeConfig(
    models=(
        JudgeModel(model="nova"),
        JudgeModel(model="nova", tier="flex"),
        JudgeModel(model="nova", profile="cn.nova", destinations=("cn-north-1", "cn-northwest-1")),
    ),
    fallback=JudgeModel(
        model="qwen", backend="openai", endpoint="https://models.example.com/v1", key=SECRET
    ),
    cache_table="verdicts",
)
ROLE = "arn:aws-cn:iam::123456789012:role/training"

REWARDS = [*iam.versions_of(FUNCTION), *iam.generations_of(f"{FUNCTION}-own")]

DOCUMENTS = {
    "trust_lambda": permissions.trust_lambda(),
    "trust_bedrock": permissions.trust_bedrock(HERE),
    "trust_sagemaker": permissions.trust_sagemaker(HERE),
    "write_logs": permissions.write_logs(HERE.arn("logs", "log-group:/aws/lambda/f")),
    "ask_judge": permissions.ask_judge(HERE, JUDGING),
    "train": permissions.train(REWARDS, BUCKET),
    "use_key": permissions.use_key(HERE.arn("kms", "key/k"), HERE),
    "prepare_data": people.prepare_data(HERE, stage="dev", bucket_arn=BUCKET),
    "run_jobs": people.run_jobs(
        HERE, stage="dev", role_arns={"bedrock.amazonaws.com": ROLE}, rewards=REWARDS
    ),
    "evaluate": people.evaluate(HERE, stage="dev", rewards=REWARDS),
    "operate": people.operate(HERE, stage="dev", function_arns=[FUNCTION], rewards=REWARDS),
    "keep_house": permissions.keep_house(HERE, stage="dev", rewards=REWARDS, bucket_arn=BUCKET),
}

PEOPLE = ("prepare_data", "run_jobs", "evaluate", "operate")


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_document_is_plain_data_that_only_allows(name):
    document = DOCUMENTS[name]
    assert json.loads(json.dumps(document)) == document
    assert document["Version"] == "2012-10-17"
    assert {statement["Effect"] for statement in document["Statement"]} == {"Allow"}


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


@pytest.mark.parametrize("name", ["trust_bedrock", "trust_sagemaker"])
def test_a_service_acts_for_this_account_only(name):
    (statement,) = DOCUMENTS[name]["Statement"]
    assert statement["Condition"]["StringEquals"] == {"aws:SourceAccount": "123456789012"}


def test_a_role_is_handed_to_its_own_service_only():
    _, passing, *_ = DOCUMENTS["run_jobs"]["Statement"]
    assert (passing["Action"], passing["Resource"]) == (["iam:PassRole"], [ROLE])
    assert passing["Condition"] == {
        "StringEquals": {"iam:PassedToService": "bedrock.amazonaws.com"}
    }


WRITES = ("Create", "Put", "Delete", "Update", "Stop", "Cancel", "Tag", "Pass", "Invoke")


@pytest.mark.parametrize(
    ("name", "writes"),
    [
        ("prepare_data", {"s3:PutObject"}),
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
            },
        ),
        ("operate", {"ssm:PutParameter", "lambda:UpdateAlias", "lambda:DeleteFunction"}),
        (
            "keep_house",
            {
                "lambda:InvokeFunction",
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


def test_a_production_s_custodian_deletes_no_object():
    house = permissions.keep_house(HERE, stage="dev", rewards=REWARDS, bucket_arn="")
    assert not [each for each in house["Statement"] if "s3" in json.dumps(each)]


# Who may do what, decided by the documents themselves where no emulator knows service or condition.
# What the emulator decides stands in tests/deploy/test_permissions.py.
ROLES = f"arn:{HERE.partition}:iam::{HERE.account}:role/reward-functions"
JOB = HERE.arn("bedrock", "model-customization-job/x")
HOSTED = HERE.arn("bedrock", "custom-model-deployment/x")
TUNED = HERE.arn("bedrock", "custom-model/x")
NOVA = "arn:aws-cn:bedrock:cn-north-1::foundation-model/nova"
PROJECT = HERE.arn("bedrock-mantle", "project/default")
TO_BEDROCK = {"iam:PassedToService": "bedrock.amazonaws.com"}
TO_LAMBDA = {"iam:PassedToService": "lambda.amazonaws.com"}
OWN, OTHER = {"aws:SourceAccount": "123456789012"}, {"aws:SourceAccount": "999999999999"}
OF_A_JOB = {"aws:SourceArn": JOB}
THROUGH_S3 = {"kms:ViaService": "s3.cn-north-1.amazonaws.com"}
BEHIND = {"bedrock:InferenceProfileArn": PROFILE}

DECIDED = [
    # whose document, what, on what, with which context keys, whether
    ("run_jobs", "iam:PassRole", ROLE, TO_BEDROCK, True),
    ("run_jobs", "iam:PassRole", ROLE, TO_LAMBDA, False),
    ("run_jobs", "iam:PassRole", ROLE, {}, False),
    ("run_jobs", "iam:PassRole", f"{ROLE}-of-another", TO_BEDROCK, False),
    ("run_jobs", "bedrock:CreateModelCustomizationJob", JOB, {}, True),
    ("run_jobs", "bedrock:DeleteCustomModel", TUNED, {}, False),
    ("run_jobs", "bedrock-mantle:CallWithBearerToken", "*", {}, True),
    ("run_jobs", "bedrock-mantle:CreateFineTuningJob", PROJECT, {}, True),
    ("run_jobs", "bedrock-mantle:CancelFineTuningJob", PROJECT, {}, True),
    ("run_jobs", "bedrock-mantle:CreateFile", PROJECT, {}, True),
    ("run_jobs", "bedrock-mantle:CreateProject", PROJECT, {}, False),
    ("run_jobs", "lambda:InvokeFunction", f"{FUNCTION}:7", {}, True),
    ("run_jobs", "lambda:InvokeFunction", f"{FUNCTION}-own--01234567", {}, True),
    ("run_jobs", "lambda:InvokeFunction", f"{FUNCTION}-of-another", {}, False),
    ("run_jobs", "lambda:DeleteFunction", f"{FUNCTION}:7", {}, False),
    ("evaluate", "bedrock:CreateCustomModelDeployment", TUNED, {}, True),
    ("evaluate", "bedrock:InvokeModel", HOSTED, {}, True),
    ("evaluate", "bedrock:InvokeModel", NOVA, {}, True),
    ("evaluate", "bedrock:CreateModelCustomizationJob", JOB, {}, False),
    ("evaluate", "lambda:GetFunctionConfiguration", f"{FUNCTION}:live", {}, True),
    ("evaluate", "lambda:UpdateAlias", FUNCTION, {}, False),
    ("operate", "lambda:UpdateAlias", FUNCTION, {}, True),
    ("operate", "lambda:DeleteFunction", f"{FUNCTION}:7", {}, True),
    ("operate", "lambda:DeleteFunction", FUNCTION, {}, False),
    ("operate", "lambda:InvokeFunction", FUNCTION, {}, False),
    ("operate", "sagemaker:DescribeTrainingJob", HERE.arn("sagemaker", "training-job/x"), {}, True),
    ("operate", "sagemaker:StopTrainingJob", HERE.arn("sagemaker", "training-job/x"), {}, False),
    ("train", "s3:ListBucket", BUCKET, {"s3:prefix": "rft-data/x"}, True),
    ("train", "s3:ListBucket", BUCKET, {"s3:prefix": "elsewhere"}, False),
    ("train", "s3:ListBucket", BUCKET, {}, False),
    ("use_key", "kms:Decrypt", HERE.arn("kms", "key/k"), THROUGH_S3, True),
    ("use_key", "kms:Decrypt", HERE.arn("kms", "key/k"), {}, False),
    ("ask_judge", "bedrock:InvokeModel", NOVA.replace("north-1", "northwest-1"), BEHIND, True),
    ("ask_judge", "bedrock:InvokeModel", NOVA.replace("north-1", "northwest-1"), {}, False),
    ("trust_bedrock", "sts:AssumeRole", "", OWN | OF_A_JOB, True),
    ("trust_bedrock", "sts:AssumeRole", "", OTHER | OF_A_JOB, False),
    ("trust_bedrock", "sts:AssumeRole", "", OWN, False),
    ("keep_house", "lambda:InvokeFunction", f"{FUNCTION}:7", {}, True),
    ("keep_house", "lambda:InvokeFunction", FUNCTION, {}, False),
    ("keep_house", "lambda:DeleteFunction", f"{FUNCTION}-gone--01234567", {}, True),
    ("keep_house", "lambda:DeleteFunction", FUNCTION, {}, False),
    ("keep_house", "iam:ListRoles", "*", {}, True),
    *(
        ("keep_house", action, f"{ROLES}/{path}x", {}, may)
        for action in ("iam:ListRolePolicies", "iam:DeleteRolePolicy", "iam:DeleteRole")
        for path, may in (
            (f"dev/{HERE.region}/judged/", True),
            (f"dev-eu/{HERE.region}/judged/", False),
            ("dev/another-region-1/judged/", False),
            ("", False),
        )
    ),
    ("keep_house", "iam:PutRolePolicy", f"{ROLES}/dev/{HERE.region}/judged/x", {}, False),
    ("keep_house", "lambda:DeleteFunction", f"{FUNCTION}:7", {}, False),
]  # fmt: skip


@pytest.mark.parametrize("row", DECIDED, ids=lambda row: " ".join(map(str, row)))
def test_a_document_decides(row):
    name, action, resource, context, allowed = row
    assert decided(DOCUMENTS[name], action, resource, context) == allowed


def decided(document, action, resource, context):
    """Whether a document allows something, as IAM reads what documents here are made of."""
    return any(
        action in actions(statement)
        and any(like(resource, each) for each in statement.get("Resource", [resource]))
        and all(
            key in context and any(COMPARED[operator](context[key], each) for each in among(values))
            for operator, keys in statement.get("Condition", {}).items()
            for key, values in keys.items()
        )
        for statement in document["Statement"]
    )


def like(value, pattern):
    """IAM's comparison: a star is anything, colons and slashes as well."""
    return re.fullmatch(re.escape(pattern).replace(r"\*", ".*"), value) is not None


COMPARED = {"StringEquals": str.__eq__, "StringLike": like, "ArnLike": like}


def among(values):
    return [values] if isinstance(values, str) else values


def actions(statement):
    return among(statement["Action"])


def test_a_key_is_used_through_s3_only():
    place = Place("aws", "eu-west-1", "123456789012")
    (statement,) = permissions.use_key(place.arn("kms", "key/k"), place)["Statement"]
    assert statement["Condition"] == {
        "StringEquals": {"kms:ViaService": "s3.eu-west-1.amazonaws.com"}
    }


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


def test_two_jurors_behind_one_profile_share_its_condition():
    jurors = [
        JudgeModel(model="nova", profile="cn.nova", destinations=(region,))
        for region in ("cn-north-1", "cn-northwest-1")
    ]
    _, behind = permissions.ask_judge(HERE, JudgeConfig(models=tuple(jurors)))["Statement"]
    assert behind["Resource"] == [nova("cn-north-1"), nova("cn-northwest-1")]
