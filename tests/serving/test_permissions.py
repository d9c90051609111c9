"""Policies as data: what each may do, and in which order nothing else can slip in."""

from __future__ import annotations

import json

import pytest

from reward_functions.judge_runtime.config import JudgeConfig, JudgeModel
from reward_functions.serving import permissions
from reward_functions.serving.permissions import Place

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

DOCUMENTS = {
    "trust_lambda": permissions.trust_lambda(),
    "trust_bedrock": permissions.trust_bedrock(HERE),
    "trust_sagemaker": permissions.trust_sagemaker(HERE),
    "write_logs": permissions.write_logs(HERE.arn("logs", "log-group:/aws/lambda/f")),
    "ask_judge": permissions.ask_judge(HERE, JUDGING),
    "invoke": permissions.invoke([FUNCTION]),
    "train": permissions.train([FUNCTION], BUCKET),
    "use_key": permissions.use_key(HERE.arn("kms", "key/k"), HERE),
    "submit_jobs": permissions.submit_jobs(
        HERE,
        stage="dev",
        role_arns={"bedrock.amazonaws.com": ROLE},
        function_arns=[FUNCTION],
        bucket_arn=BUCKET,
    ),
}


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


def test_a_function_may_be_invoked_by_its_name_and_by_its_alias_and_no_version():
    (statement,) = DOCUMENTS["invoke"]["Statement"]
    assert statement["Resource"] == [FUNCTION, f"{FUNCTION}:live"]


@pytest.mark.parametrize("name", ["trust_bedrock", "trust_sagemaker"])
def test_a_service_acts_for_this_account_only(name):
    (statement,) = DOCUMENTS[name]["Statement"]
    assert statement["Condition"]["StringEquals"] == {"aws:SourceAccount": "123456789012"}


def test_a_role_is_handed_to_its_own_service_only():
    passing = DOCUMENTS["submit_jobs"]["Statement"][0]
    assert (passing["Action"], passing["Resource"]) == (["iam:PassRole"], [ROLE])
    assert passing["Condition"] == {
        "StringEquals": {"iam:PassedToService": "bedrock.amazonaws.com"}
    }


def test_who_starts_jobs_neither_deletes_nor_administers():
    actions = {
        action for each in DOCUMENTS["submit_jobs"]["Statement"] for action in each["Action"]
    }
    assert not {each for each in actions if "Delete" in each or "Put" in each} - {"s3:PutObject"}
    assert {each.partition(":")[0] for each in actions} == {"iam", "bedrock", "lambda", "ssm", "s3"}


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
