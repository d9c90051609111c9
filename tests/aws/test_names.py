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
