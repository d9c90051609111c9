"""Policies as data: what each may do, and in which order nothing else can slip in."""

from __future__ import annotations

import json
import re
from functools import cache
from importlib.resources import files

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
KEY = HERE.arn("kms", "key/k")

REWARDS = [*iam.versions_of(FUNCTION), *iam.generations_of(f"{FUNCTION}-own")]

DOCUMENTS = {
    "trust_lambda": permissions.trust_lambda(),
    "trust_bedrock": permissions.trust_bedrock(HERE),
    "trust_sagemaker": permissions.trust_sagemaker(HERE),
    "write_logs": permissions.write_logs(HERE.arn("logs", "log-group:/aws/lambda/f")),
    "ask_judge": permissions.ask_judge(HERE, JUDGING),
    "train": permissions.train(REWARDS, BUCKET),
    "use_key": permissions.use_key(KEY, HERE),
    "use_model_key": permissions.use_model_key(KEY, HERE),
    "read_invocation_logs": permissions.read_invocation_logs(HERE, "s3://logs/bedrock/"),
    "read_a_whole_bucket": permissions.read_invocation_logs(HERE, "s3://logs"),
    "join_vpc": permissions.join_vpc(HERE, subnets=["subnet-1"], security_groups=["sg-1"]),
    "prepare_data": people.prepare_data(
        HERE, stage="dev", bucket_arn=BUCKET, rewards=REWARDS, key_arn=KEY
    ),
    "run_jobs": people.run_jobs(
        HERE,
        stage="dev",
        role_arns={"bedrock.amazonaws.com": ROLE},
        rewards=REWARDS,
        model_key=KEY,
    ),
    "evaluate": people.evaluate(HERE, stage="dev", rewards=REWARDS, model_key=KEY),
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
    (passing,) = [
        each for each in DOCUMENTS["run_jobs"]["Statement"] if each["Action"] == ["iam:PassRole"]
    ]
    assert (passing["Action"], passing["Resource"]) == (["iam:PassRole"], [ROLE])
    assert passing["Condition"] == {
        "StringEquals": {"iam:PassedToService": "bedrock.amazonaws.com"}
    }


WRITES = ("Create", "Put", "Delete", "Update", "Stop", "Cancel", "Tag", "Pass", "Invoke", "Abort")


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
            },
        ),
        (
            "operate",
            {
                "ssm:PutParameter",
                "lambda:UpdateAlias",
                "lambda:DeleteFunction",
                "bedrock:DeleteCustomModel",
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
THROUGH_S3 = {"kms:ViaService": "s3.cn-north-1.amazonaws.com.cn"}
THROUGH_BEDROCK = {"kms:ViaService": "bedrock.cn-north-1.amazonaws.com.cn"}
PROFILES = HERE.arn("bedrock", "inference-profile/us.nova")
ELSEWHERE = "arn:aws-cn:bedrock:cn-northwest-1::foundation-model/nova"
LOG_GROUP = HERE.arn("logs", "log-group:/aws/lambda/SageMaker-reward-dev-gsm8k")
INTERFACE = HERE.arn("ec2", "network-interface/eni-1")
INSIDE = {"ec2:Subnet": HERE.arn("ec2", "subnet/subnet-1")}
TAGS = {"BedrockManaged": "true", "BedrockModelCustomizationJobArn": JOB}
ASKED_WITH_TAGS = {f"aws:RequestTag/{name}": value for name, value in TAGS.items()}
TAGGED = {f"ec2:ResourceTag/{name}": value for name, value in TAGS.items()}
MADE = {"ec2:CreateAction": "CreateNetworkInterface"}
BEHIND = {"bedrock:InferenceProfileArn": PROFILE}

DECIDED = [
    # whose document, what, on what, with which context keys, whether
    ("prepare_data", "s3:PutObject", f"{BUCKET}/rft-data/jobs/x.jsonl", {}, True),
    ("prepare_data", "s3:AbortMultipartUpload", f"{BUCKET}/rft-data/jobs/x.jsonl", {}, True),
    ("prepare_data", "s3:DeleteObject", f"{BUCKET}/rft-data/jobs/x.jsonl", {}, True),
    ("prepare_data", "s3:DeleteObject", f"{BUCKET}/rft-output/job/metrics.csv", {}, True),
    ("prepare_data", "s3:DeleteObject", f"{BUCKET}/rft-data/shared.jsonl", {}, False),
    ("prepare_data", "s3:DeleteObjectVersion", f"{BUCKET}/rft-data/jobs/x.jsonl", {}, False),
    *(
        ("prepare_data", action, KEY, through, may)
        for action in ("kms:GenerateDataKey", "kms:Decrypt")
        for through, may in ((THROUGH_S3, True), (THROUGH_BEDROCK, False), ({}, False))
    ),
    *(
        ("prepare_data", "logs:FilterLogEvents", group, {}, may)
        for group, may in (
            (LOG_GROUP, True),
            (f"{LOG_GROUP}:*", True),
            (f"{LOG_GROUP}-own--01234567", True),
            (f"{LOG_GROUP}-own--01234567:*", True),
            (f"{LOG_GROUP}-own", False),
            (f"{LOG_GROUP}-of-another:*", False),
        )
    ),
    ("prepare_data", "logs:GetQueryResults", LOG_GROUP, {}, False),
    ("run_jobs", "iam:SimulatePrincipalPolicy", ROLE, {}, True),
    ("run_jobs", "iam:GetRole", ROLE, {}, True),
    ("run_jobs", "iam:GetRole", f"{ROLE}-of-another", {}, False),
    ("run_jobs", "iam:GetRolePolicy", ROLE, {}, False),
    ("run_jobs", "bedrock:GetCustomModel", TUNED, {}, True),
    ("run_jobs", "bedrock:ListTagsForResource", JOB, {}, True),
    ("run_jobs", "bedrock:TagResource", HOSTED, {}, False),
    ("run_jobs", "lambda:GetFunctionConcurrency", FUNCTION, {}, True),
    ("run_jobs", "lambda:GetFunctionConfiguration", f"{FUNCTION}:7", {}, True),
    ("run_jobs", "lambda:ListVersionsByFunction", FUNCTION, {}, True),
    ("run_jobs", "lambda:PutFunctionConcurrency", FUNCTION, {}, False),
    ("run_jobs", "lambda:GetFunction", FUNCTION, {}, False),  # has the address of its code
    ("run_jobs", "lambda:GetAccountSettings", "*", {}, True),
    ("run_jobs", "kms:CreateGrant", KEY, THROUGH_BEDROCK, True),
    ("run_jobs", "kms:CreateGrant", KEY, {}, False),
    ("run_jobs", "kms:CreateGrant", f"{KEY}2", THROUGH_BEDROCK, False),
    ("run_jobs", "bedrock:InvokeModel", NOVA, {}, False),
    ("evaluate", "bedrock:TagResource", HOSTED, {}, True),
    ("evaluate", "bedrock:TagResource", TUNED, {}, False),
    ("evaluate", "bedrock:ListCustomModels", "*", {}, True),
    ("evaluate", "bedrock:DeleteCustomModelDeployment", HOSTED, {}, True),
    ("evaluate", "bedrock:DeleteCustomModel", TUNED, {}, False),
    ("evaluate", "bedrock:InvokeModel", PROFILES, {}, True),
    ("evaluate", "bedrock:InvokeModel", ELSEWHERE, {"bedrock:InferenceProfileArn": PROFILES}, True),
    ("evaluate", "bedrock:InvokeModel", ELSEWHERE, {}, False),
    (
        "evaluate",
        "bedrock:InvokeModel",
        ELSEWHERE,
        {"bedrock:InferenceProfileArn": PROFILES.replace("123456789012", "999999999999")},
        False,
    ),
    ("evaluate", "kms:Decrypt", KEY, THROUGH_BEDROCK, True),
    ("evaluate", "kms:CreateGrant", KEY, THROUGH_BEDROCK, False),
    ("operate", "bedrock:DeleteCustomModel", TUNED, {}, True),
    ("operate", "bedrock:DeleteCustomModel", HOSTED, {}, False),
    ("use_model_key", "kms:CreateGrant", KEY, THROUGH_BEDROCK, True),
    ("use_model_key", "kms:Decrypt", KEY, THROUGH_S3, False),
    ("read_invocation_logs", "s3:GetObject", "arn:aws-cn:s3:::logs/bedrock/x.json.gz", {}, True),
    ("read_invocation_logs", "s3:GetObject", "arn:aws-cn:s3:::logs/bedrock-of-others/x", {}, False),
    *(
        ("read_invocation_logs", "s3:ListBucket", "arn:aws-cn:s3:::logs", context, may)
        for context, may in (
            ({"s3:prefix": "bedrock"}, True),
            ({"s3:prefix": "bedrock/AWSLogs/"}, True),
            ({"s3:prefix": "bedrock-of-others/"}, False),
            ({}, False),
        )
    ),
    ("read_invocation_logs", "s3:PutObject", "arn:aws-cn:s3:::logs/bedrock/x", {}, False),
    ("read_a_whole_bucket", "s3:GetObject", "arn:aws-cn:s3:::logs/any/where", {}, True),
    ("read_a_whole_bucket", "s3:ListBucket", "arn:aws-cn:s3:::logs", {}, True),
    ("read_a_whole_bucket", "s3:GetObject", "arn:aws-cn:s3:::logs-of-others/x", {}, False),
    ("join_vpc", "ec2:DescribeSubnets", "*", {}, True),
    ("join_vpc", "ec2:CreateNetworkInterface", HERE.arn("ec2", "subnet/subnet-1"), {}, True),
    ("join_vpc", "ec2:CreateNetworkInterface", HERE.arn("ec2", "subnet/subnet-2"), {}, False),
    ("join_vpc", "ec2:CreateNetworkInterface", HERE.arn("ec2", "security-group/sg-1"), {}, True),
    ("join_vpc", "ec2:CreateNetworkInterface", INTERFACE, ASKED_WITH_TAGS, True),
    ("join_vpc", "ec2:CreateNetworkInterface", INTERFACE, {}, False),
    *(
        ("join_vpc", f"ec2:{action}", INTERFACE, context, may)
        for action in (
            "CreateNetworkInterfacePermission",
            "DeleteNetworkInterface",
            "DeleteNetworkInterfacePermission",
        )
        for context, may in ((TAGGED | INSIDE, True), (INSIDE, False), (TAGGED, False))
    ),
    ("join_vpc", "ec2:CreateTags", INTERFACE, MADE | {"aws:TagKeys": [*TAGS]}, True),
    ("join_vpc", "ec2:CreateTags", INTERFACE, MADE | {"aws:TagKeys": [*TAGS, "Name"]}, False),
    ("join_vpc", "ec2:CreateTags", INTERFACE, {"aws:TagKeys": [*TAGS]}, False),
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
            holds(operator, context.get(key), among(values))
            for operator, keys in statement.get("Condition", {}).items()
            for key, values in keys.items()
        )
        for statement in document["Statement"]
    )


def holds(operator, value, allowed):
    """Whether a key of the context is one of those allowed; of several, whether each is."""
    for_all, _, operator = operator.rpartition(":")
    values = value if for_all else [value]
    return value is not None and all(
        any(COMPARED[operator](each, other) for other in allowed) for each in values
    )


def like(value, pattern):
    """IAM's comparison: a star is anything, colons and slashes as well."""
    return re.fullmatch(re.escape(pattern).replace(r"\*", ".*"), value) is not None


COMPARED = {"StringEquals": str.__eq__, "StringLike": like, "ArnLike": like}


def among(values):
    return [values] if isinstance(values, str) else values


def actions(statement):
    return among(statement["Action"])


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
        people.prepare_data(HERE, stage="dev", bucket_arn=BUCKET, rewards=REWARDS),
        people.run_jobs(HERE, stage="dev", role_arns={}, rewards=REWARDS),
        people.evaluate(HERE, stage="dev", rewards=REWARDS),
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
    known = reference()[service]
    named = known["Actions"][name.lower()].get("Resources", [])
    forms = [form for each in named for form in known["Resources"][each.lower()]["ARNFormats"]]
    return [re.sub(r"\$\{\w+\}", "[^:]*", form) for form in forms] or [r"\*"]


# Named by "Create and manage Bedrock jobs with Step Functions", and not by the reference.
ALSO = {("CreateJob", HERE.arn("bedrock", "model-customization-job/*"))}


@pytest.mark.parametrize("name", [name for name in DOCUMENTS if not name.startswith("trust_")])
def test_every_action_is_granted_on_what_it_knows_and_nothing_else(name):
    for statement in DOCUMENTS[name]["Statement"]:
        for action in statement["Action"]:
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


def test_two_jurors_behind_one_profile_share_its_condition():
    jurors = [
        JudgeModel(model="nova", profile="cn.nova", destinations=(region,))
        for region in ("cn-north-1", "cn-northwest-1")
    ]
    _, behind = permissions.ask_judge(HERE, JudgeConfig(models=tuple(jurors)))["Statement"]
    assert behind["Resource"] == [nova("cn-north-1"), nova("cn-northwest-1")]
