"""Deployed versions that run in this process, behind Lambda's API on the loopback interface.

`served` gives a reward the ARN of a version and the stage's record of it; what is invoked is the
Lambda's own handler.
"""

from __future__ import annotations

from functools import cache

from reward_functions.aws.arn import FunctionArn
from reward_functions.aws.catalogue import DeployedReward
from reward_functions.aws.deployed.scorer import VersionScorer
from reward_functions.core.registry import get
from reward_functions.serving.handler import bind
from reward_functions.serving.settings import LambdaSettings
from tests.lambda_api import Function

FUNCTION = "arn:aws:lambda:us-east-1:123456789012:function:SageMaker-reward-dev-x"


@cache
def handler(name):
    """The handler of a reward, as it is deployed."""
    return bind(LambdaSettings(name=name))


def deployed(reward, **changed):
    """The stage's record of a version."""
    known = {
        "name": "x", "reward": reward, "version": get(reward).version, "digest": "0" * 16,
        "parameters": {}, "response_mode": "list", "version_arn": f"{FUNCTION}:7",
        "alias_arn": f"{FUNCTION}:live", "function_arn": FUNCTION, "timeout_seconds": 60,
        "memory_mb": 1769, "architecture": "x86_64", "python": "3.13",
    }  # fmt: skip
    return DeployedReward.model_validate(known | changed)


def serve(functions, *answers, known=None):
    """A scorer of a function that answers so; `known` is what the catalogue says of it."""
    arn = FunctionArn.parse(f"{FUNCTION}:7")
    functions[str(arn)] = Function(list(answers))
    return VersionScorer(arn, known)
