"""Policies as data: what each may do, and in which order nothing else can slip in."""

from __future__ import annotations

import json

import pytest

from reward_functions.serving import permissions
from reward_functions.serving.permissions import Place

HERE = Place("aws-cn", "cn-north-1", "123456789012")
FUNCTION = HERE.arn("lambda", "function:SageMaker-reward-dev-gsm8k")
BUCKET = "arn:aws-cn:s3:::data"
ROLE = "arn:aws-cn:iam::123456789012:role/training"

DOCUMENTS = {
    "trust_lambda": permissions.trust_lambda(),
    "trust_bedrock": permissions.trust_bedrock(HERE),
    "trust_sagemaker": permissions.trust_sagemaker(HERE),
    "write_logs": permissions.write_logs(HERE.arn("logs", "log-group:/aws/lambda/f")),
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
