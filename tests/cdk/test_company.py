"""A stage in a company's account: what it brings, how all is called, whom else it answers."""

from __future__ import annotations

import json
import re

import pytest

from reward_functions.cdk.constructs.reward_function import _digest
from reward_functions.cdk.limits import quotas
from reward_functions.cdk.model.stages import BadStage, stage_of
from tests.cdk.conftest import COMPANY, ROOT, STAGES

BUCKET = "acme-sagemaker-data"
PREFIX = "acme-"
KEY, SEALED = COMPANY["key_arn"], COMPANY["read_buckets"][1]["key"]
ROLE = "arn:aws:iam::345678901234:role/trainers/trainer"
ORGANIZATION = "o-a1b2c3d4e5"
IMMUTABLE = "SageMaker-reward-company-held--"
PERMISSION = "AWS::Lambda::Permission"


@pytest.fixture(scope="module")
def company(synthesised):
    """The stage as CloudFormation would get it."""
    return synthesised("company")


def stage(**given):
    return stage_of({"dev": {"region": "us-east-1", **given}}, "dev", ROOT)


def statements(stage):
    """Every statement of a role or managed policy, as text."""
    for role in stage.properties("AWS::IAM::Role"):
        for policy in role["Policies"]:
            yield from policy["PolicyDocument"]["Statement"]
    for policy in stage.properties("AWS::IAM::ManagedPolicy"):
        yield from policy["PolicyDocument"]["Statement"]


def test_a_bucket_that_was_there_is_neither_made_nor_emptied_nor_deleted(company):
    kinds = {each["Type"] for each in company.template["Resources"].values()}
    assert "AWS::KMS::Key" not in kinds
    assert not company.resources("AWS::S3::Bucket")
    assert not company.resources("Custom::EmptyBucket")
    custodian = next(
        role
        for role in company.properties("AWS::IAM::Role")
        if role["Description"] == "What acme-reward-custodian-company runs as"
    )
    emptied = [
        each["Resource"]
        for policy in custodian["Policies"]
        for each in policy["PolicyDocument"]["Statement"]
        if any(action.startswith("s3:") for action in each["Action"])
    ]
    assert emptied
    assert "rollouts" in json.dumps(emptied)
    assert BUCKET not in json.dumps(custodian["Policies"])


def test_results_are_encrypted_with_the_key_of_the_bucket_that_was_there(company):
    """An imported bucket does not say which key it has; the stage does."""
    (results,) = company.resources("AWS::S3::Bucket", path=True).values()
    (rule,) = results["Properties"]["BucketEncryption"]["ServerSideEncryptionConfiguration"]
    assert rule["ServerSideEncryptionByDefault"] == {
        "SSEAlgorithm": "aws:kms",
        "KMSMasterKeyID": KEY,
    }
    used = {each["Sid"]: {*each["Action"]} for each in statements(company) if KEY in str(each)}
    assert used["UseResultsKey"] == {"kms:Decrypt", "kms:GenerateDataKey"}
    (role,) = company.resources("AWS::IAM::Role", path=True).values()
    assert '"Sid": "ReadResultsKey"' in json.dumps(role)


def test_what_was_there_is_granted_by_its_prefixes_and_its_key(company):
    given = [json.dumps(each) for each in statements(company)]
    own = [each for each in given if BUCKET in each]
    assert own
    for each in own:
        assert re.search(r"rft-(data|output)/", each), each
    keyed = [json.loads(each) for each in given if KEY in each]
    # Both roles of jobs, that of imports, the people who bring data, and agents.
    assert len(keyed) == 5
    via = {"StringEquals": {"kms:ViaService": "s3.eu-central-1.amazonaws.com"}}
    assert {json.dumps(each["Condition"]) for each in keyed} == {json.dumps(via)}


def test_the_catalogue_names_what_tools_have_to_know(company):
    (record,) = (
        each["Value"]
        for each in company.properties("AWS::SSM::Parameter")
        if each["Name"] == "/reward-functions/company/stage"
    )
    text = json.dumps(record)
    for said in (BUCKET, "acme-data/rft", "acme-sealed", SEALED, "name_prefix", "acme"):
        assert said in text


NAMED = {
    "AWS::Lambda::Function": "FunctionName",
    "AWS::Logs::LogGroup": "LogGroupName",
    "AWS::CloudWatch::Alarm": "AlarmName",
    "AWS::CloudWatch::Dashboard": "DashboardName",
    "AWS::DynamoDB::Table": "TableName",
    "AWS::IAM::Role": "RoleName",
    "AWS::IAM::ManagedPolicy": "ManagedPolicyName",
    "AWS::SNS::Topic": "TopicName",
    "AWS::SQS::Queue": "QueueName",
    "AWS::Events::Rule": "Name",
}
"""Where a name can be given. CloudFormation begins what it makes itself with the stack's."""


def test_every_name_begins_with_the_prefix(company):
    named = {
        each["Properties"][NAMED[each["Type"]]].removeprefix("/aws/lambda/")
        for each in company.template["Resources"].values()
        if each["Type"] in NAMED and NAMED[each["Type"]] in each.get("Properties", {})
    }
    assert len(named) > 6
    assert {name for name in named if not name.startswith(PREFIX)} == set()
    assert company.stack.stack_name == "acme-RewardFunctions-company"


def test_what_stock_policies_look_for_stays_in_the_names(company):
    functions = {each["FunctionName"] for each in company.rewards().values()}
    assert all("SageMaker-reward-company-" in name for name in functions)
    roles = {role.get("RoleName") for role in company.properties("AWS::IAM::Role")} - {None}
    assert roles == {
        "acme-SageMaker-reward-company-eu-central-1",
        "acme-SageMakerForBedrock-reward-company-eu-central-1",
    }


def test_every_role_lies_under_the_path_and_within_the_boundary(company):
    roles = company.properties("AWS::IAM::Role")
    assert roles
    assert all(role["Path"].startswith("/acme/rewards/") for role in roles)
    bounds = {json.dumps(role["PermissionsBoundary"]) for role in roles}
    assert len(bounds) == 1
    assert ":policy/acme-boundary" in bounds.pop()


def test_the_custodian_deletes_the_judges_roles_where_they_lie(company):
    paths = {
        role["Path"]
        for role in company.properties("AWS::IAM::Role")
        if "reward-functions" in role["Path"]
    }
    assert len(paths) == 2
    (deleting,) = (each for each in statements(company) if each["Sid"] == "DeleteRoles")
    below = "role/acme/rewards/reward-functions/company/eu-central-1/"
    assert all(f"role{path}".startswith(below) for path in paths)
    assert f"{below}*" in json.dumps(deleting["Resource"])


def test_data_elsewhere_is_read_and_never_written(company):
    reading = [each for each in statements(company) if "acme-data" in json.dumps(each)]
    assert {action for each in reading for action in each["Action"]} == {
        *("s3:GetObject", "s3:ListBucket")
    }
    # Both roles of jobs, and the people who bring data: each reads and lists.
    assert len(reading) == 6
    (prefixes,) = {
        json.dumps(each["Condition"]) for each in reading if each["Action"] == ["s3:ListBucket"]
    }
    assert json.loads(prefixes) == {"StringLike": {"s3:prefix": ["rft", "rft/*"]}}
    sealed = [each for each in statements(company) if SEALED in json.dumps(each)]
    assert {action for each in sealed for action in each["Action"]} == {"kms:Decrypt"}


def test_judges_share_the_stage_s_table_unless_they_name_one(company):
    (table,) = company.resources("AWS::DynamoDB::Table").values()
    properties = table["Properties"]
    assert properties["TableName"] == "acme-reward-verdicts-company"
    assert properties["KeySchema"] == [{"AttributeName": "key", "KeyType": "HASH"}]
    assert properties["TimeToLiveSpecification"] == {"AttributeName": "expires", "Enabled": True}
    assert properties["BillingMode"] == "PAY_PER_REQUEST"
    assert table["DeletionPolicy"] == "Delete"
    tables = {
        each.deployment.name: each.settings.judge.cache_table
        for each in company.stack.functions
        if each.settings.judge
    }
    assert tables == {"reference": "acme-reward-verdicts-company", "pandalm": "ours"}
    remembering = [each for each in statements(company) if each["Sid"] == "RememberVerdicts"]
    named = json.dumps(remembering)
    assert "table/acme-reward-verdicts-company" in named
    assert "table/ours" in named


def test_a_judge_asked_twice_asks_its_model_once_through_that_table(
    company, root_session, local_aws, monkeypatch
):
    from reward_functions import get, sample
    from reward_functions.judge_runtime.config import JudgeConfig, JudgeModel
    from reward_functions.judge_runtime.panel import JudgePool
    from reward_functions.testing import FakeAsk

    for name, value in local_aws.environment.items():
        monkeypatch.setenv(name, value)
    template = {"Resources": company.resources("AWS::DynamoDB::Table")}
    stacks = root_session.client("cloudformation")
    stacks.create_stack(StackName="company-verdicts", TemplateBody=json.dumps(template))
    stacks.get_waiter("stack_create_complete").wait(
        StackName="company-verdicts", WaiterConfig={"Delay": 1, "MaxAttempts": 30}
    )
    asks = [FakeAsk({"same": "yes"}), FakeAsk({"same": "no"})]
    for ask in asks:  # two functions, or one that starts again
        model = JudgeModel(model="a", backend="openai", endpoint="http://localhost:1/v1")
        config = JudgeConfig(models=(model,), cache_table="acme-reward-verdicts-company")
        judge = JudgePool(config, asks={"a": ask}).batch(get("reference"), {"answer": "whole"})
        assert judge(sample("Canberra.", "Canberra", prompt="Capital?", id="s")).value == 1.0
    assert [len(each.asked) for each in asks] == [1, 0]
    stacks.delete_stack(StackName="company-verdicts")


def test_in_production_the_table_outlives_the_stack(stack_of):
    table = stack_of({"production": True, "verdict_cache": True, "deployments": ["exact_match"]})
    (made,) = table.resources("AWS::DynamoDB::Table").values()
    assert made["DeletionPolicy"] == "RetainExceptOnCreate"
    recovery = made["Properties"]["PointInTimeRecoverySpecification"]
    assert recovery == {"PointInTimeRecoveryEnabled": True}


def test_a_judge_that_wants_no_table_has_none():
    judge = {"models": [{"model": "amazon.nova-lite-v1:0"}], "cache_table": ""}
    made = stage(verdict_cache=True, deployments=[{"reward": "reference", "judge": judge}])
    assert made.deployments[0].lambda_settings(made.names).judge.cache_table == ""


def test_versions_generations_and_aliases_answer_exactly_the_callers(company):
    permissions = company.properties(PERMISSION)
    assert {each["Principal"] for each in permissions} == {"210987654321", ROLE}
    assert {each["PrincipalOrgID"] for each in permissions} == {ORGANIZATION}
    assert {each["Action"] for each in permissions} == {"lambda:InvokeFunction"}
    asked = [json.dumps(each["FunctionName"]) for each in permissions]
    # Three versions with their aliases, and one generation: each for two callers.
    assert len(asked) == 2 * (3 * 2 + 1)
    assert len({*asked}) == 3 * 2 + 1


def test_permissions_stay_with_versions_and_go_with_aliases(company):
    kept = {True: set(), False: set()}
    for name, each in company.resources(PERMISSION).items():
        asked = json.dumps(each["Properties"]["FunctionName"])
        kept["Alias" in asked].add(each.get("DeletionPolicy"))
        if "Alias" not in asked and "held" not in name.lower():
            version = each["Properties"]["FunctionName"]["Ref"]
            assert name.startswith(version)  # another version has permissions of its own
    assert kept == {True: {None}, False: {"RetainExceptOnCreate"}}


def test_the_order_of_callers_changes_nothing(stack_of):
    accounts = ["210987654321", "345678901234"]
    first, second = (
        stack_of({"deployments": ["exact_match"], "callers": {"accounts": each}})
        for each in (accounts, accounts[::-1])
    )
    assert first.resources(PERMISSION) == second.resources(PERMISSION)
    assert len(first.resources(PERMISSION)) == 4


def test_a_permission_of_another_organization_is_another_one():
    given = [{"organization": ORGANIZATION}, {"organization": f"{ORGANIZATION}0"}]
    given += [each | {"accounts": ["123456789012"]} for each in given]
    every = [stage(callers=each).callers for each in given]
    digests = {_digest(principal, each) for each in every for principal in each.principals}
    assert len(digests) == len(given)


def test_an_organization_alone_is_everybody_in_it():
    assert stage(callers={"organization": ORGANIZATION}).principals == ("*",)
    assert stage().principals == ()


def test_the_longest_role_name_is_the_one_that_is_measured():
    from reward_functions.cdk.constructs.training import ROLES

    assert max((each.physical or "" for each in ROLES.values()), key=len) == quotas.LONGEST_ROLE


def test_the_longest_names_of_a_company_leave_room_for_ten_deployments():
    folders = [
        {"address": f"s3://{n}{'b' * 62}/{'f' * 20}", "key": KEY.replace("eu-central", "us-east")}
        for n in range(4)
    ]
    made = stage(
        bucket="b" * 63,
        key_arn=KEY.replace("eu-central", "us-east"),
        name_prefix="a" * 16,
        role_path=f"/{'p' * 128}/",
        read_buckets=folders,
        sagemaker_role=True,
        deployments=[{"name": f"d-{n}", "reward": "exact_match"} for n in range(10)],
    )
    assert len(made.deployments) == 10


KEY_HERE = "arn:aws:kms:us-east-1:123456789012:key/11111111-89ab-cdef-0123-456789abcdef"

WRONG = [
    # in the stage, and what the sentence says
    ({"bucket": "s3://acme"}, "bucket: write a bucket's name, without s3://"),
    ({"bucket": "acme/rft"}, "bucket: write a bucket's name"),
    ({"bucket": "acme-*"}, "bucket: write a bucket's name"),
    ({"bucket": "acme", "customer_key": True}, "name the key of acme as key_arn, or leave"),
    ({"key_arn": KEY_HERE, "customer_key": True}, "leave one of them out"),
    ({"key_arn": KEY}, "key_arn: a bucket of us-east-1 is encrypted by a key of its own region"),
    ({"key_arn": KEY_HERE.replace("aws:", "aws-cn:", 1)}, "key_arn: a bucket of us-east-1"),
    ({"key_arn": "alias/data"}, "key_arn: write a key's ARN, .* by an alias"),
    ({"name_prefix": "Acme"}, "name_prefix: "),
    ({"name_prefix": "acme-"}, "name_prefix: "),
    ({"name_prefix": "a" * 21}, "name_prefix: "),
    ({"role_path": "acme"}, "role_path: write a path of one to three parts, with a slash"),
    ({"role_path": "/acme"}, "role_path: write a path"),
    ({"role_path": "/*/"}, "role_path: write a path"),
    ({"role_path": "/a/b/c/d/"}, "role_path: write a path"),
    ({"permissions_boundary": "*"}, "permissions_boundary: write a managed policy's ARN"),
    (
        {"permissions_boundary": "arn:aws-cn:iam::123456789012:policy/b"},
        "permissions_boundary: .* is of another partition than us-east-1",
    ),
    ({"read_buckets": ["acme-data"]}, "read_buckets.0.address: write s3://BUCKET/FOLDER"),
    ({"read_buckets": ["s3://acme-data/*"]}, "read_buckets.0.address: write s3://BUCKET"),
    ({"read_buckets": [{"address": "s3://acme", "kye": KEY}]}, "read_buckets.0.kye .*'key'"),
    ({"read_buckets": [{"address": "s3://acme", "key": KEY}]}, "read_buckets.0.key: a bucket of"),
    ({"read_buckets": "s3://acme"}, "read_buckets: "),
    ({"callers": {"accounts": ["*"]}}, "callers.accounts.0: write an account's twelve digits"),
    ({"callers": {"accounts": ["12345678901"]}}, "callers.accounts.0: write an account's twelve"),
    ({"callers": {"roles": ["arn:aws:iam::345678901234:role/*"]}}, "callers.roles.0: write a role"),
    ({"callers": {"roles": ["arn:aws:iam::*:role/x"]}}, "callers.roles.0: write a role's ARN"),
    ({"callers": {"roles": ["arn:aws:iam::345678901234:root"]}}, "callers.roles.0: write a role"),
    ({"callers": {"roles": [ROLE.replace("aws", "aws-cn")]}}, "callers.roles.0: .* partition"),
    ({"callers": {"roles": [ROLE, ROLE]}}, "callers: a caller stands there twice"),
    ({"callers": {"organization": "*"}}, "callers.organization: write an organization's id"),
    ({"callers": {"organisation": ORGANIZATION}}, "callers.organisation .*'organization'"),
    (
        {"callers": {"accounts": [f"{n:012}" for n in range(11)]}},
        "callers.accounts: must name 10 at most",
    ),
    ({"verdict_cache": "verdicts"}, "verdict_cache: must be true or false"),
]


@pytest.mark.parametrize(("given", "expected"), WRONG, ids=[expected for _, expected in WRONG])
def test_what_cannot_be_used_is_one_sentence(given, expected):
    with pytest.raises(BadStage) as caught:
        stage(**given)
    message = str(caught.value)
    assert message.startswith("stage 'dev'")
    assert "\n" not in message
    assert re.search(expected, message), message


def test_a_prefix_that_makes_names_too_long_is_refused_by_the_length_that_is_left():
    given = {"region": "us-east-1", "name_prefix": "a" * 20, "bucket": "acme"}
    given["deployments"] = [{"name": "x", "reward": "exact_match"}]
    with pytest.raises(
        BadStage, match=r"name of its roles in us-east-1 would be \d+ char.* name_prefix"
    ):
        stage_of({"s" * 20: given}, "s" * 20, ROOT)


def test_a_stage_without_any_of_it_is_called_as_before():
    assert stage_of(STAGES, "dev", ROOT).names.function("gsm8k") == "SageMaker-reward-dev-gsm8k"
