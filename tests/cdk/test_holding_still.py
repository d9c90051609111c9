"""A deployment moves when its own code or settings do, and then by something new beside the old."""

from __future__ import annotations

import pytest

from reward_functions.cdk.deployed_before import DeployedBefore
from reward_functions.serving.catalogue import described

DEPLOYMENTS = [
    "math",
    {"name": "strict", "reward": "gsm8k"},
    {"name": "flexible", "reward": "gsm8k", "parameters": {"flexible": True}},
    {"name": "sagemaker", "reward": "gsm8k", "immutable": True},
    {
        "name": "judged",
        "reward": "reference",
        "judge": {"models": [{"model": "amazon.nova-lite-v1:0"}]},
    },
]
"""In no order of names, none of which begins as another does."""

OTHER = "b" * 64


def changed(**more):
    """The deployments with further settings for those named."""
    return [
        each | more.get(each["name"], {}) if isinstance(each, dict) else each
        for each in DEPLOYMENTS
    ]


def of(stage, deployment):
    """What CloudFormation gets for one deployment, by logical name."""
    found = stage.template["Resources"].items()
    return {name: each for name, each in found if name.startswith(f"Rewards{deployment}")}


def kind(resources, wanted):
    return {name: each for name, each in resources.items() if each["Type"] == wanted}


@pytest.fixture
def before(stack_of):
    return stack_of({"deployments": DEPLOYMENTS})


def differing(one, other):
    """The deployments of which CloudFormation gets anything else."""
    names = [each.deployment.name for each in one.stack.functions]
    assert all(of(one, name) for name in names)
    return {name for name in names if of(one, name) != of(other, name)}


@pytest.mark.parametrize(
    ("stage", "digests", "moved"),
    [
        ({}, {"math": OTHER, "reference": OTHER}, {"math", "judged"}),
        ({}, {"gsm8k": OTHER}, {"strict", "flexible", "sagemaker"}),
        (
            {"deployments": changed(strict={"memory_mb": 4096}, sagemaker={"timeout_seconds": 60})},
            {},
            {"strict", "sagemaker"},
        ),
        (
            {"deployments": changed(flexible={"settings": {"on_unscored": "fail"}})},
            {},
            {"flexible"},
        ),
        ({"deployments": [*DEPLOYMENTS, "finqa"], "keep_versions": 3}, {}, set()),
        ({"judge_gate": "model"}, {}, {"judged"}),
    ],
)
def test_only_what_changed_moves_and_by_something_new(stack_of, before, stage, digests, moved):
    """A gate that is changed, and not made, would be asked again in a rollback, about the old."""
    after = stack_of({"deployments": DEPLOYMENTS} | stage, digests)
    assert differing(before, after) == moved
    for name in moved:
        old, new = of(before, name), of(after, name)
        kinds = {"Custom::RewardGate"}
        if "judge_gate" not in stage:
            kinds |= {"AWS::Lambda::Function" if name == "sagemaker" else "AWS::Lambda::Version"}
        for each in kinds:
            assert len(kind(old, each)) == len(kind(new, each)) == 1
            assert not kind(old, each).keys() & kind(new, each).keys()


def test_the_order_of_deployments_changes_nothing(stack_of, before):
    after = stack_of({"deployments": [*reversed(DEPLOYMENTS)]})
    assert after.template == before.template


@pytest.mark.parametrize("name", ["math", "judged"])
def test_nothing_points_to_a_version_before_its_gate(before, name):
    resources = of(before, name)
    (version,) = kind(resources, "AWS::Lambda::Version").items()
    (gate,) = kind(resources, "Custom::RewardGate").items()
    assert gate[1]["Properties"] | {"ServiceToken": None} == {
        "ServiceToken": None,
        "ServiceTimeout": "960",
        "Function": {"Ref": version[0]},
        "Deployment": name,
        "Judge": "recorded",
    }
    for each in ("AWS::Lambda::Alias", "AWS::SSM::Parameter"):
        (pointing,) = kind(resources, each).values()
        assert pointing["DependsOn"] == [gate[0]]
    assert version[1]["DeletionPolicy"] == "RetainExceptOnCreate"
    assert version[1]["UpdateReplacePolicy"] == "Retain"


def test_a_judge_s_gate_asks_whom_the_stage_says(stack_of):
    stage = stack_of({"deployments": DEPLOYMENTS, "judge_gate": "model"})
    asked = {
        each["Properties"]["Deployment"]: each["Properties"]["Judge"]
        for each in stage.resources("Custom::RewardGate").values()
    }
    assert asked.pop("judged") == "model"
    assert set(asked.values()) == {"recorded"}


def test_a_function_says_what_it_holds(stack_of):
    stage = stack_of({"deployments": ["math"]}, {"math": "0123456789abcdef" * 4})
    told = described(stage.rewards()["math"]["Description"])
    assert (told[0], told[2]) == ("math", "0123456789abcdef")


class Lambda:
    """Lambda in an account that has these functions."""

    def __init__(self, *names):
        self.names = names

    def get_function_configuration(self, *, FunctionName):  # noqa: N803 - boto3's
        from botocore.exceptions import ClientError

        if FunctionName not in self.names:
            raise ClientError({"Error": {"Code": "ResourceNotFoundException"}}, "GetFunction")


def physical(stage):
    (found,) = [each["FunctionName"] for each in stage.rewards().values()]
    return found


def test_an_immutable_deployment_is_another_function_for_every_state(stack_of):
    given = {"deployments": [DEPLOYMENTS[3]]}
    first, second = stack_of(given), stack_of(given, {"gsm8k": "b" * 64})
    assert physical(first) != physical(second)
    assert physical(first).startswith("SageMaker-reward-dev-sagemaker--")
    assert not first.resources("AWS::Lambda::Version")
    assert not first.resources("AWS::Lambda::Alias")
    (function,) = kind(of(first, "sagemaker"), "AWS::Lambda::Function").values()
    assert function["DeletionPolicy"] == "RetainExceptOnCreate"


def test_a_function_that_outlived_its_template_is_taken_as_it_is(stack_of):
    """Defined a second time, its name would be taken."""
    given = {"deployments": [DEPLOYMENTS[3]]}
    defined = stack_of(given)
    name = physical(defined)
    back = stack_of(given, before=DeployedBefore(functions=Lambda(name)))
    assert not kind(of(back, "sagemaker"), "AWS::Lambda::Function")
    (gate,) = kind(of(back, "sagemaker"), "Custom::RewardGate").values()
    assert name in str(gate["Properties"]["Function"])
    owned = DeployedBefore(functions=Lambda(name), owned=frozenset([name]))
    assert stack_of(given, before=owned).template == defined.template


def test_the_functions_of_an_immutable_deployment_go_with_it(stack_of):
    stage = stack_of({"deployments": [DEPLOYMENTS[3]]})
    (generations,) = stage.properties("Custom::RewardGenerations")
    assert generations["Prefix"] == "SageMaker-reward-dev-sagemaker--"
