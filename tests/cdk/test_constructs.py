"""A company's stacks around ours: what they grant is there, or the synth fails."""

from __future__ import annotations

import json
from functools import partial

import pytest

from reward_functions.cdk.model.deployed_before import DeployedBefore
from reward_functions.cdk.model.stages import stage_of
from tests.cdk.conftest import CDK_JSON, ROOT, FakeArtifacts
from tests.generated import python_blocks

NAME = "SageMaker-reward-dev-gsm8k"


def policies(template):
    """The statements of every policy that a grant made, by the role it is attached to."""
    return {
        each["Properties"]["Roles"][0]["Ref"]: each["Properties"]["PolicyDocument"]["Statement"]
        for each in template["Resources"].values()
        if each["Type"] == "AWS::IAM::Policy"
    }


@pytest.fixture(scope="module")
def documented():
    """The example of docs/deploy.md, as it stands there, with artifacts that are not built."""
    import aws_cdk as cdk

    (example,) = [
        each for each in python_blocks(ROOT / "docs" / "deploy.md") if "RewardStack" in each
    ]
    names = {}
    quick = partial(cdk.App, builtin_cloud_formation_validation=False)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(ROOT)
        patch.setattr(cdk, "App", quick)
        patch.setattr(
            "reward_functions.cdk.constructs.artifacts.Artifacts", lambda *_: FakeArtifacts({})
        )
        exec(example, names)
    assembly = names["app"].synth()  # made once
    return {each.stack_name: each.template for each in assembly.stacks}


def test_what_is_granted_to_a_function_reaches_its_role(documented):
    template = documented["RewardFunctions-dev"]
    ((role, statements),) = policies(template).items()
    reading, own = statements
    assert "dynamodb:GetItem" in reading["Action"]
    assert own == {
        "Sid": "ReadCases",
        "Action": "s3:GetObject",
        "Effect": "Allow",
        "Resource": "arn:aws:s3:::cases/*",
    }
    (function,) = [
        each["Properties"]
        for each in template["Resources"].values()
        if each.get("Properties", {}).get("FunctionName") == NAME
    ]
    assert {"Ref": role} in function["Role"]["Fn::Join"][1]
    own_documents = template["Resources"][role]["Properties"]["Policies"]
    assert [each["PolicyName"] for each in own_documents] == ["logs"]


def test_whoever_is_granted_an_invocation_may_use_any_version(documented):
    (statements,) = policies(documented["Own"]).values()
    (statement,) = statements
    assert statement["Action"] == "lambda:InvokeFunction"
    named = json.dumps(statement["Resource"])
    assert f"function:{NAME}" in named
    assert f"function:{NAME}:*" in named


@pytest.fixture(scope="module")
def judged():
    """A judge, and an immutable deployment whose function outlived its template, with grants."""
    import aws_cdk as cdk
    from aws_cdk import aws_iam as iam

    from reward_functions.cdk.constructs.stack import RewardStack

    judge = {"models": [{"model": "amazon.nova-lite-v1:0"}]}
    given = {
        "region": "us-east-1",
        "account": "123456789012",
        "deployments": [
            {"name": "gsm8k", "reward": "gsm8k", "immutable": True},
            {"name": "judged", "reward": "reference", "judge": judge},
        ],
    }
    stage = stage_of({"dev": given}, "dev", ROOT)
    app = cdk.App(context=CDK_JSON["context"], builtin_cloud_formation_validation=False)
    before = DeployedBefore()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(DeployedBefore, "keeps", lambda *_: True)
        stack = RewardStack(app, stage=stage, artifacts=FakeArtifacts({}), before=before)
    for each in stack.functions:
        for sid in ("One", "Other"):
            statement = iam.PolicyStatement(sid=sid, actions=["s3:GetObject"], resources=["*"])
            each.function.add_to_role_policy(statement)
    caller = iam.Role(stack, "Caller", assumed_by=iam.ServicePrincipal("ec2.amazonaws.com"))
    immutable, _ = stack.functions
    immutable.grant_invoke(caller)
    with pytest.raises(RuntimeError, match="could not be added"):
        immutable.grant_invoke(iam.ServicePrincipal("events.amazonaws.com"))
    return app.synth().get_stack_by_name(stack.stack_name).template


@pytest.mark.parametrize("deployment", ["gsm8k", "judged"])
def test_statements_with_names_stay_as_they_are_of_a_judge_and_of_what_came_back(
    judged, deployment
):
    (statements,) = [
        each for role, each in policies(judged).items() if role.startswith(f"Rewards{deployment}")
    ]
    assert [each["Sid"] for each in statements] == ["One", "Other"]


def test_a_judge_runs_as_the_role_of_its_path(judged):
    (function,) = [
        each["Properties"]
        for each in judged["Resources"].values()
        if each.get("Properties", {}).get("FunctionName") == "SageMaker-reward-dev-judged"
    ]
    parts = function["Role"]["Fn::Join"][1]
    assert parts[0] == "arn:aws:iam::123456789012:role/reward-functions/dev/us-east-1/judged/"
    assert judged["Resources"][parts[1]["Ref"]]["Type"] == "AWS::IAM::Role"


def test_an_immutable_deployment_is_invoked_in_every_state(judged):
    (statements,) = [each for role, each in policies(judged).items() if role.startswith("Caller")]
    assert statements[0]["Resource"] == (
        f"arn:aws:lambda:us-east-1:123456789012:function:{NAME}--*"
    )


def test_a_wildcard_of_ours_without_a_reason_ends_the_synth():
    import aws_cdk as cdk

    from reward_functions.cdk.constructs.roles import managed_policy
    from reward_functions.cdk.policies.iam import allow, document

    stack = cdk.Stack()
    new = document(allow("SomethingNew", ["s3:ListAllMyBuckets"], ["*"]))
    with pytest.raises(KeyError, match="SomethingNew"):
        managed_policy(stack, "Policy", description="", document=new)
