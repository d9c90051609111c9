"""What a stage's resources are called: no stage takes another's functions for its own."""

from __future__ import annotations

from fnmatch import fnmatchcase
from itertools import permutations

import pytest

from reward_functions.aws.names import Names
from reward_functions.cdk.policies.iam import generations_in
from tests.cdk.policies.policies import HERE

STAGES = [
    Names("dev"),
    Names("dev", "acme"),
    Names("dev", "acme-two"),
    Names("dev", "two"),
    Names("two", "acme-dev"),
    Names("prod", "sagemaker"),
    Names("prod", "reward"),
    Names("prod"),
]


@pytest.mark.parametrize(("mine", "other"), [*permutations(STAGES, 2)])
def test_nobody_s_generations_are_another_prefix_s(mine, other):
    theirs = HERE.arn("lambda", f"function:{other.immutable('math', 'a' * 8)}")
    assert not fnmatchcase(theirs, generations_in(HERE, mine))
    assert not other.immutable("math", "a" * 8).startswith(mine.function(""))


@pytest.mark.parametrize("mine", STAGES)
def test_its_own_are(mine):
    own = HERE.arn("lambda", f"function:{mine.immutable('math-strict', 'a' * 8)}")
    assert fnmatchcase(own, generations_in(HERE, mine))


@pytest.mark.parametrize("prefix", ["", "acme", "a-1"])
def test_what_stock_policies_look_for_stays(prefix):
    names = Names("dev", prefix)
    assert "SageMaker" in names.function("math")
    assert "SageMaker" in names.rollouts("forwarder")
    assert "sagemaker" in names.bucket("123456789012", "us-east-1")
    beginning = f"{prefix}-" if prefix else ""
    for name in (names.stack, names.custodian, names.verdicts, names.rollouts("x")):
        assert name.startswith(beginning)


@pytest.mark.parametrize(("prefix", "begin"), [("", ""), ("acme", "acme-")])
def test_every_name_of_a_stage_has_its_prefix(prefix, begin):
    names = Names("dev", prefix)
    found = [names.stack, names.agents_stack, names.custodian, names.verdicts, names.scale]
    found += [names.function("math"), names.immutable("math", "0123456789"), names.rollouts("x")]
    found += [names.bucket("1", "r"), names.results("1", "r"), names.of("x")]
    assert found == [
        f"{begin}{each}"
        for each in (
            "RewardFunctions-dev",
            "RewardAgents-dev",
            "reward-custodian-dev",
            "reward-verdicts-dev",
            "reward-scale-dev",
            "SageMaker-reward-dev-math",
            "SageMaker-reward-dev-math--01234567",
            "SageMaker-rollouts-dev-x",
            "sagemaker-reward-dev-1-r",
            "sagemaker-rollouts-dev-1-r",
            "x",
        )
    ]
    assert names.runtime("my-agent") == f"{begin}reward_dev__my-agent".replace("-", "_")
