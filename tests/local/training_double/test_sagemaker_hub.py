"""Hubs, recipes, model package groups, tags: through boto3's own client."""

from __future__ import annotations

import json

import pytest
from botocore.exceptions import ClientError

from tests.local.training_double.conftest import ACCOUNT, REGION, allow
from tests.local.training_double.sagemaker_world import NOVA, OLD, QWEN


@pytest.fixture(scope="module")
def person(world):
    return world.user(
        allow("sagemaker:*", "*"), allow("s3:GetObject", "arn:aws:s3:::jumpstart-cache-prod-*/*")
    )


@pytest.fixture(scope="module")
def client(world, person):
    return world.client(person, "sagemaker")


def imported(client, hub, name, **further):
    return client.import_hub_content(
        HubName=hub,
        HubContentType="JsonDoc",
        HubContentName=name,
        DocumentSchemaVersion="2.0.0",
        HubContentDocument="{}",
        **further,
    )["HubContentArn"]


def test_a_hub_its_contents_and_their_versions(client):
    with pytest.raises(client.exceptions.ResourceNotFound):
        client.describe_hub(HubName="mine")
    client.create_hub(HubName="mine", HubDescription="d", Tags=[{"Key": "a", "Value": "b"}])
    with pytest.raises(client.exceptions.ResourceInUse):
        client.create_hub(HubName="mine", HubDescription="d")
    assert client.describe_hub(HubName="mine")["HubStatus"] == "InService"
    keywords = ["method:lambda", "@subtype:aws/evaluator"]
    first = imported(client, "mine", "one", HubContentSearchKeywords=keywords)
    assert first == (f"arn:aws:sagemaker:{REGION}:{ACCOUNT}:hub-content/mine/JsonDoc/one/1.0.0")
    assert imported(client, "mine", "one").endswith("/2.0.0")
    assert imported(client, "mine", "one", HubContentVersion="10.0.0").endswith("/10.0.0")
    with pytest.raises(client.exceptions.ResourceInUse):
        imported(client, "mine", "one", HubContentVersion="2.0.0")
    asked = {"HubName": "mine", "HubContentType": "JsonDoc"}
    named = asked | {"HubContentName": "one"}
    newest = client.describe_hub_content(**named)
    assert newest["HubContentVersion"] == "10.0.0", "versions are compared as text"
    old = client.describe_hub_content(**named, HubContentVersion="1.0.0")
    assert old["HubContentSearchKeywords"] == keywords
    (only,) = client.list_hub_contents(**asked)["HubContentSummaries"]
    assert only["HubContentVersion"] == "10.0.0"
    versions = client.list_hub_content_versions(**named)["HubContentSummaries"]
    assert len(versions) == 3
    pages = client.list_hub_content_versions(**named, MaxResults=2)
    rest = client.list_hub_content_versions(**named, MaxResults=2, NextToken=pages["NextToken"])
    assert len(pages["HubContentSummaries"] + rest["HubContentSummaries"]) == 3


def test_the_public_hub_has_models_with_recipes_whose_files_are_read(world, person, client):
    asked = {"HubName": "SageMakerPublicHub", "HubContentType": "Model"}
    names = {
        each["HubContentName"] for each in client.list_hub_contents(**asked)["HubContentSummaries"]
    }
    assert {QWEN, NOVA, OLD} <= names
    described = client.describe_hub_content(**asked, HubContentName=QWEN)
    assert ":aws:hub-content/SageMakerPublicHub/Model/" in described["HubContentArn"]
    recipes = json.loads(described["HubContentDocument"])["RecipeCollection"]
    (rlvr,) = [each for each in recipes if each.get("CustomizationTechnique") == "RLVR"]
    assert (rlvr["Peft"], rlvr["SequenceLength"]) == ("LORA", "8K")
    bucket, _, key = rlvr["SmtjOverrideParamsS3Uri"].removeprefix("s3://").partition("/")
    s3 = person.client("s3", endpoint_url=world.aws.endpoint, verify=verified(world))
    found = json.load(s3.get_object(Bucket=bucket, Key=key)["Body"])
    assert found["rollout_n"] == {
        "type": "integer",
        "default": 8,
        "min": 1,
        "max": 32,
        "required": True,
    }
    old = client.describe_hub_content(**asked, HubContentName=OLD)
    assert json.loads(old["HubContentDocument"])["RecipeCollection"] == []
    nobody = world.user(allow("sagemaker:*", "*"))
    blind = nobody.client("s3", endpoint_url=world.aws.endpoint, verify=verified(world))
    with pytest.raises(ClientError, match="AccessDenied"):
        blind.get_object(Bucket=bucket, Key=key)


def verified(world):
    return str(world.aws.record.certificate.certificate)


def test_nothing_is_imported_into_the_public_hub(client):
    with pytest.raises(ClientError, match="AWS's own"):
        imported(client, "SageMakerPublicHub", "one")


def test_groups_and_tags(client):
    group = client.create_model_package_group(
        ModelPackageGroupName="group",
        ModelPackageGroupDescription="größer, 大",
        Tags=[{"Key": "team ü", "Value": "a b"}],
    )["ModelPackageGroupArn"]
    with pytest.raises(ClientError, match="already exists"):
        client.create_model_package_group(ModelPackageGroupName="group")
    described = client.describe_model_package_group(ModelPackageGroupName="group")
    assert described["ModelPackageGroupDescription"] == "größer, 大"
    assert client.list_tags(ResourceArn=group)["Tags"] == [{"Key": "team ü", "Value": "a b"}]
    with pytest.raises(ClientError, match="does not exist"):
        client.describe_model_package_group(ModelPackageGroupName=f"{group}s")


def test_rights_are_those_of_the_caller(world):
    nobody = world.client(world.user(), "sagemaker")
    with pytest.raises(ClientError, match="AccessDeniedException") as raised:
        nobody.list_training_jobs()
    assert "sagemaker:ListTrainingJobs" in str(raised.value)
    assert ":user/training-double-" in str(raised.value)


def test_a_signature_is_checked(world):
    credentials = world.user(allow("sagemaker:*", "*")).get_credentials()
    for key, secret in ((credentials.access_key, "wrong"), (ACCOUNT, "wrong")):
        client = world.client(world.keys(key, secret), "sagemaker")
        with pytest.raises(ClientError, match="InvalidSignatureException"):
            client.list_training_jobs()


def test_what_is_not_served_says_so(client):
    with pytest.raises(ClientError, match="does not serve SageMaker's ListEndpoints"):
        client.list_endpoints()


def test_mlflow_apps(client):
    (app,) = client.list_mlflow_apps(AccountDefaultStatus="ENABLED")["Summaries"]
    assert client.list_mlflow_apps(AccountDefaultStatus="DISABLED")["Summaries"] == []
    assert app["Status"] == "Created"
