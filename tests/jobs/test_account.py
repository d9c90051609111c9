"""What the account allows a grader, and what of it the caller may not read."""

import json

import pytest

from reward_functions.aws.deployed import DeployedFunction
from reward_functions.aws.failures import AwsFailed
from reward_functions.jobs.grader import AccountLimits, account_limits, deployed_judge
from tests.lambda_api import Function, lambda_api, refusal

PLAIN = "arn:aws:lambda:us-east-1:000000000000:function:SageMaker-reward-dev-gsm8k"
VERSION = f"{PLAIN}:7"
SETTINGS = {"AccountLimit": {"ConcurrentExecutions": 1000, "UnreservedConcurrentExecutions": 900}}
DENIED = refusal(403, "AccessDeniedException", "not authorized")
JUDGE = {"models": [{"model": "amazon.nova-lite-v1:0", "region": "us-east-1"}]}


@pytest.fixture
def lambda_of(monkeypatch):
    """Lambda's API with these answers: of the account, of the function, of its version."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "key")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    monkeypatch.delenv("AWS_PROFILE", raising=False)
    functions = {}
    with lambda_api(functions) as address:
        monkeypatch.setenv("AWS_ENDPOINT_URL_LAMBDA", address)

        def served(account=SETTINGS, own=None, version=None):
            functions["account-settings"] = Function([], account)
            functions[PLAIN] = Function([], {} if own is None else own)
            functions[VERSION] = Function([], {} if version is None else version)
            return DeployedFunction(VERSION, attempts=1)

        yield served


LIMITS = [
    ({}, AccountLimits(1000, 900), 900),
    ({"ReservedConcurrentExecutions": 5}, AccountLimits(1000, 900, 5), 5),
    ({"ReservedConcurrentExecutions": 0}, AccountLimits(1000, 900, 0), 0),
]


@pytest.mark.parametrize(("own", "limits", "available"), LIMITS)
def test_reserved_concurrency_is_the_functions_and_not_its_versions(
    lambda_of, own, limits, available
):
    found = account_limits(lambda_of(own=own))
    assert (found, found.available) == (limits, available)


def test_what_the_caller_may_not_read_is_unmeasured_and_says_so(lambda_of):
    found = account_limits(lambda_of(DENIED, DENIED))
    assert found.available is None
    assert not found.reserved_measured
    assert account_limits(lambda_of()).reserved_measured
    assert found.unmeasured == (
        "lambda:GetAccountSettings is not allowed here",
        "lambda:GetFunctionConcurrency is not allowed here",
    )


def test_another_failure_is_one(lambda_of):
    missing = refusal(404, "ResourceNotFoundException", "Function not found")
    with pytest.raises(AwsFailed, match="no such function"):
        account_limits(lambda_of(own=missing))


def environment(value):
    return {"Environment": {"Variables": {"REWARD_JUDGE": value}}}


JUDGES = [
    (environment(json.dumps(JUDGE)), "amazon.nova-lite-v1:0"),
    (environment(""), None),
    ({"Environment": {"Variables": {}}}, None),
    ({}, None),
    (DENIED, None),
]


@pytest.mark.parametrize(("version", "model"), JUDGES)
def test_the_judge_is_that_of_the_version(lambda_of, version, model):
    found = deployed_judge(lambda_of(version=version))
    assert (found.models[0].model if found else None) == model
