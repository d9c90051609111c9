"""A deployment moves when its own code or settings do, and then by something new beside the old."""

from __future__ import annotations

import pytest

from reward_functions.cdk.model.deployed_before import DeployedBefore
from reward_functions.core import registry
from reward_functions.serving.descriptions import described

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

SECRET = "arn:aws:secretsmanager:us-east-1:123456789012:secret:key-a1b2c3"

STATEMENT = {"actions": ["s3:GetObject"], "resources": ["arn:aws:s3:::cases/a"]}


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


def unordered(resources):
    """Without what waits for what: all wait for every gate, and a gate moves with its version."""
    left_out = {"DependsOn"}
    return {
        name: {key: value for key, value in each.items() if key not in left_out}
        for name, each in resources.items()
    }


def kind(resources, wanted):
    return {name: each for name, each in resources.items() if each["Type"] == wanted}


@pytest.fixture
def before(stack_of):
    return stack_of({"deployments": DEPLOYMENTS})


def differing(one, other):
    """The deployments of which CloudFormation gets anything else."""
    names = [each.deployment.name for each in one.stack.functions]
    assert all(of(one, name) for name in names)
    return {name for name in names if unordered(of(one, name)) != unordered(of(other, name))}


@pytest.mark.parametrize(
    ("stage", "digests", "moved"),
    [
        ({}, {"math": OTHER, "reference": OTHER}, {"math", "judged"}),
        ({}, {"gsm8k": OTHER}, {"strict", "flexible", "sagemaker"}),
        (
            {
                "deployments": changed(
                    strict={"environment": {"CASES": "x"}},
                    sagemaker={"secrets": {"KEY": SECRET}},
                    judged={"allow": [STATEMENT]},
                )
            },
            {},
            {"strict", "sagemaker", "judged"},
        ),
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
def test_a_version_is_tried_and_outlives_its_successors(before, name):
    resources = of(before, name)
    (version,) = kind(resources, "AWS::Lambda::Version").items()
    (gate,) = kind(resources, "Custom::RewardGate").items()
    assert gate[1]["Properties"] | {"ServiceToken": None} == {
        "ServiceToken": None,
        "ServiceTimeout": "960",
        "Function": {"Ref": version[0]},
        "Deployment": name,
        "Reward": {"judged": "reference"}.get(name, name),
        "Version": str(registry.get({"judged": "reference"}.get(name, name)).version),
        "Judge": "recorded",
    }
    assert version[1]["DeletionPolicy"] == "RetainExceptOnCreate"
    assert version[1]["UpdateReplacePolicy"] == "Retain"


@pytest.mark.parametrize("wanted", ["AWS::Lambda::Alias", "AWS::SSM::Parameter"])
def test_nothing_moves_before_every_gate_of_the_stage(before, wanted):
    """Not through one another: where one fails, CloudFormation has moved none of them."""
    gates = sorted(before.resources("Custom::RewardGate"))
    pointing = before.resources(wanted)
    aliased = [each for each in before.stack.functions if not each.deployment.immutable]
    one_of_the_stage = wanted == "AWS::SSM::Parameter"
    functions = before.stack.functions if one_of_the_stage else aliased
    assert len(pointing) == len(functions) + one_of_the_stage
    assert len(gates) == len(DEPLOYMENTS)
    for each in pointing.values():
        assert sorted(each["DependsOn"]) == gates


def test_a_judge_s_gate_asks_whom_the_stage_says(stack_of):
    stage = stack_of({"deployments": DEPLOYMENTS, "judge_gate": "model"})
    asked = {
        each["Properties"]["Deployment"]: each["Properties"]["Judge"]
        for each in stage.resources("Custom::RewardGate").values()
    }
    assert asked.pop("judged") == "model"
    assert set(asked.values()) == {"recorded"}


def judged(*models, immutable=False, **more):
    given = {"name": "judged", "reward": "reference", "immutable": immutable} | more
    return {"deployments": [given | {"judge": {"models": [{"model": each} for each in models]}}]}


def clearing_of(stage, scope):
    """What deletes roles, by its logical name, of judges (`Rewards`) or of verifiers."""
    found = stage.resources("Custom::RewardRoles").items()
    (made,) = ((name, each) for name, each in found if name.startswith(scope))
    return made


@pytest.mark.parametrize("immutable", [False, True])
def test_a_judge_that_asks_others_has_another_role_and_leaves_the_old_one(stack_of, immutable):
    """A version that a job holds runs as the role, and asks the models, that it was made with."""

    def role_of(*models, **more):
        stage = stack_of(judged(*models, immutable=immutable, **more))
        ((name, role),) = kind(of(stage, "judged"), "AWS::IAM::Role").items()
        clearing, asked = clearing_of(stage, "Rewards")
        assert role["Properties"]["Path"] == "/reward-functions/dev/us-east-1/judged/"
        assert asked["Properties"]["Path"] == role["Properties"]["Path"]
        assert role["DependsOn"] == [clearing]
        assert role["DeletionPolicy"] == "RetainExceptOnCreate"
        assert "RoleName" not in role["Properties"]
        return name

    lite, pro = "amazon.nova-lite-v1:0", "amazon.nova-pro-v1:0"
    first = role_of(lite)
    assert first == role_of(lite) == role_of(lite, memory_mb=4096)
    assert first != role_of(pro)


def test_a_verifier_has_one_role(before):
    ((_, role),) = kind(of(before, "math"), "AWS::IAM::Role").items()
    assert "Path" not in role["Properties"]
    assert "DeletionPolicy" not in role
    assert len(before.resources("Custom::RewardRoles")) == 2  # the judge's, and below


def test_a_verifier_with_other_rights_has_another_role_and_leaves_all_it_had(stack_of, before):
    """Also the one without rights: versions that were published before run as that."""
    names = ("versioned", "immutable")

    def roles(**more):
        """Of each deployment: the plain role, the one that its function runs as, the function."""
        given = [
            {"name": name, "reward": "gsm8k", "immutable": name == "immutable"} | more
            for name in names
        ]
        stage = stack_of({"deployments": given})
        # Of every stage: what came and went with such roles would delete them under the versions.
        clearing, asked = clearing_of(stage, "Custodian")
        assert (clearing, asked) == clearing_of(before, "Custodian")
        return [roles_of(stage, name, clearing, asked, more) for name in names]

    def roles_of(stage, name, clearing, asked, more):
        found = kind(of(stage, name), "AWS::IAM::Role")
        (plain,) = (name for name, each in found.items() if "Path" not in each["Properties"])
        (function,) = kind(of(stage, name), "AWS::Lambda::Function").values()
        *_, path, reference = function["Properties"]["Role"]["Fn::Join"][1]
        runs_as = reference["Ref"]
        assert path.endswith(f":role{found[runs_as]['Properties'].get('Path', '/')}")
        if more:
            assert found[runs_as]["Properties"]["Path"] == asked["Properties"]["Path"]
            assert found[runs_as]["DependsOn"] == [clearing]
            assert found[runs_as]["DeletionPolicy"] == "RetainExceptOnCreate"
            assert "RoleName" not in found[runs_as]["Properties"]
        return plain, runs_as, function["Properties"]["FunctionName"]

    other = STATEMENT | {"actions": ["s3:GetObjectVersion"]}
    states = roles(), roles(allow=[STATEMENT]), roles(allow=[other])
    for name, plain, first, second in zip(names, *states, strict=True):
        assert plain[0] == plain[1] == first[0] == second[0]
        assert len({plain[1], first[1], second[1]}) == 3
        assert len({plain[2], first[2], second[2]}) == (3 if name == "immutable" else 1)


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
