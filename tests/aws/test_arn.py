"""One parser of ARNs: any partition, any service, and what a form finds in a resource."""

from __future__ import annotations

import re

import pytest

from reward_functions.aws.arn import Arn, BadArn, FunctionArn, arn_form

ACCOUNT = "123456789012"

READ = [
    (f"arn:aws:iam::{ACCOUNT}:role/service/a@b", "iam", "", ACCOUNT, "role/service/a@b"),
    (
        f"arn:aws-us-gov:kms:us-gov-west-1:{ACCOUNT}:key/0a-1b",
        "kms",
        "us-gov-west-1",
        ACCOUNT,
        "key/0a-1b",
    ),
    ("arn:aws:s3:::bucket/a:b", "s3", "", "", "bucket/a:b"),
    (
        "arn:aws:sagemaker:us-east-1:aws:hub-content/Hub/Model/m",
        "sagemaker",
        "us-east-1",
        "aws",
        "hub-content/Hub/Model/m",
    ),
    (
        "arn:aws:bedrock:us-east-1::foundation-model/a.b:0",
        "bedrock",
        "us-east-1",
        "",
        "foundation-model/a.b:0",
    ),
    (
        f"arn:aws-cn:logs:cn-north-1:{ACCOUNT}:log-group:/aws/x:*",
        "logs",
        "cn-north-1",
        ACCOUNT,
        "log-group:/aws/x:*",
    ),
]


@pytest.mark.parametrize(("text", "service", "region", "account", "resource"), READ)
def test_an_arn_is_read_in_its_parts(text, service, region, account, resource):
    found = Arn.read(text)
    assert (found.service, found.region, found.account, found.resource) == (
        service,
        region,
        account,
        resource,
    )
    assert str(found) == text
    assert Arn.read(text, service) == found
    assert Arn.read(text, "other") is None


@pytest.mark.parametrize(
    "text",
    [
        None,
        "",
        "arn:",
        "role",
        "arn:aws:iam::1:role/x",
        f"arn:gcp:iam::{ACCOUNT}:role/x",
        f"arn:aws:iam::{ACCOUNT}:",
        f"arn:aws:iam::{ACCOUNT}:role/a b",
        f" arn:aws:iam::{ACCOUNT}:role/x",
        f"arn:aws:iam::{ACCOUNT}:role/x\n",
        f"arn:aws:lambda:us east:{ACCOUNT}:function:x",
    ],
)
def test_what_is_no_arn_reads_as_none(text):
    assert Arn.read(text) is None


def test_a_form_is_that_of_the_whole_resource_and_its_groups_are_named():
    text = f"arn:aws:sagemaker:us-east-1:{ACCOUNT}:hub-content/h/JsonDoc/n"
    form = r"hub-content/(?P<hub>[^/]+)/(?P<kind>[^/]+)/(?P<name>[^/]+)(?:/(?P<version>[^/]+))?"
    found = Arn.read(text, "sagemaker", form)
    assert [found[each] for each in ("hub", "kind", "name", "version")] == ["h", "JsonDoc", "n", ""]
    assert Arn.read(text, "sagemaker", "hub-content/h") is None
    with pytest.raises(KeyError):
        found["other"]


@pytest.mark.parametrize(("text", "service", "region", "account", "resource"), READ)
def test_only_a_functions_arn_is_one(text, service, region, account, resource):
    assert service != "lambda"
    assert resource
    with pytest.raises(BadArn, match="is not the ARN of a Lambda function"):
        FunctionArn.parse(text)


def test_what_must_be_an_arn_and_is_none_is_a_sentence():
    assert str(Arn.of("arn:aws:iam::123456789012:role/x")) == "arn:aws:iam::123456789012:role/x"
    with pytest.raises(BadArn, match="'x' is not an ARN: arn:PARTITION:SERVICE:REGION"):
        Arn.of("x")


@pytest.mark.parametrize(
    ("given", "arn", "taken"),
    [
        ({}, "arn:aws:kms:us-east-1:123456789012:key/a", True),
        ({}, "arn:aws-cn:kms:cn-north-1:123456789012:key/a", True),
        ({}, "arn:aws:kms:us-east-1:12345678901:key/a", False),
        ({}, "arn:aws:kms::123456789012:key/a", False),
        ({}, "arn:aws:s3:us-east-1:123456789012:key/a", False),
        ({"region": ""}, "arn:aws:kms::123456789012:key/a", True),
        ({"account": "aws"}, "arn:aws:kms:us-east-1:aws:key/a", True),
    ],
)
def test_the_form_of_arns_that_a_setting_takes(given, arn, taken):
    form = arn_form("kms", "key/[a-z]", **given)
    assert (re.fullmatch(form, arn) is not None) == taken


@pytest.mark.parametrize(
    ("name", "group"),
    [("SageMaker-reward-dev-math", "SageMaker-reward-dev-math"),
     ("SageMaker-reward-dev-math--01234567", "SageMaker-reward-dev-math"), ("f", "f")],
)  # fmt: skip
def test_functions_of_an_immutable_deployment_share_its_log(name, group):
    arn = FunctionArn("aws", "us-east-1", "123456789012", name)
    assert arn.log_group == f"/aws/lambda/{group}"
