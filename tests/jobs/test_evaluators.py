"""Evaluators: one version for each content, none for what is there, nothing for what cannot be."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor

import pytest

from reward_functions.aws.arn import FunctionArn
from reward_functions.aws.failures import AwsFailed
from reward_functions.jobs import evaluators
from reward_functions.jobs.configuration import BadJob
from reward_functions.jobs.evaluators import Registry
from tests.jobs.hub_service import ACCOUNT, Service, error

FUNCTION = f"arn:aws:lambda:us-east-1:{ACCOUNT}:function:SageMaker-reward-dev-my_math--0a1b2c3d"
NAME = "SageMaker-reward-dev-my-math"


@pytest.fixture
def hub(monkeypatch):
    service = Service()
    monkeypatch.setattr(evaluators, "client", service.client)
    return service


@pytest.fixture
def registry(hub):
    now = [0.0]
    return Registry(
        "us-east-1",
        ACCOUNT,
        sleep=lambda seconds: now.__setitem__(0, now[0] + seconds),
        clock=lambda: now[0],
    )


def test_the_hub_is_the_one_that_studio_finds():
    """`AIRHub._generate_hub_names` of sagemaker-train 1.27.0, run on these arguments."""
    name = evaluators.hub_name("us-east-1", "123456789012")
    assert name == HUB
    assert len(name) == 52


HUB = evaluators.hub_name("us-east-1", "123456789012")


def test_a_first_evaluator_makes_the_hub_and_its_content(hub, registry):
    made = registry.register(NAME, "RewardFunction", FUNCTION)
    assert hub.made == ["CreateHub", "ImportHubContent"]
    assert made.arn.endswith(f"/JsonDoc/{NAME}/1.0.0")
    ((_, request),) = [each for each in hub.sent if each[0] == "ImportHubContent"]
    document = json.loads(request["HubContentDocument"])
    assert document["SubType"] == "AWS/Evaluator"
    assert json.loads(document["JsonContent"]) == {
        "Reference": FUNCTION,
        "EvaluatorType": "RewardFunction",
    }
    assert request["HubContentSearchKeywords"] == [
        "method:lambda",
        "@subtype:aws/evaluator",
        "@evaluatortype:rewardfunction",
        "@contenttype:byolambda",
    ]


def test_equal_content_makes_no_version_and_other_content_the_next(hub, registry):
    first = registry.register(NAME, "RewardFunction", FUNCTION)
    assert registry.register(NAME, "RewardFunction", FUNCTION) == first
    other = registry.register(NAME, "RewardFunction", FUNCTION.replace("0a1b", "ffff"))
    assert (first.version, other.version) == ("1.0.0", "2.0.0")
    assert registry.register(NAME, "RewardFunction", FUNCTION) == first  # a reward that came back
    prompt = registry.register(NAME, "RewardPrompt", FUNCTION)
    assert prompt.version == "3.0.0"
    assert hub.made.count("ImportHubContent") == 3


def test_what_would_be_made_is_said_and_not_made(hub, registry):
    planned, calls = registry.planned(NAME, "RewardFunction", FUNCTION)
    assert [call.operation for call in calls] == ["CreateHub", "ImportHubContent"]
    assert not hub.made
    assert registry.register(NAME, "RewardFunction", FUNCTION).arn == planned.arn
    assert registry.planned(NAME, "RewardFunction", FUNCTION) == (planned, [])


def test_a_version_that_failed_is_passed_over(hub, registry):
    registry.register(NAME, "RewardFunction", FUNCTION)
    hub.contents[NAME, "1.0.0"]["HubContentStatus"] = "ImportFailed"
    assert registry.register(NAME, "RewardFunction", FUNCTION).version == "2.0.0"


def test_an_import_that_fails_or_never_ends_is_one_sentence(hub, registry):
    registry.register(NAME, "RewardFunction", FUNCTION)
    hub.contents[NAME, "1.0.0"]["HubContentStatus"] = "Importing"
    with pytest.raises(AwsFailed, match="is not ready after 300 s; the same command waits on"):
        registry.register(NAME, "RewardFunction", FUNCTION)


def test_two_starts_at_once_are_one_version(hub, registry):
    with ThreadPoolExecutor(4) as pool:
        made = pool.map(lambda _: registry.register(NAME, "RewardFunction", FUNCTION), range(4))
    assert {each.version for each in made} == {"1.0.0"}


def test_a_version_that_was_taken_meanwhile_is_looked_at_again(hub, registry):
    registry.register(NAME, "RewardFunction", FUNCTION)
    kept = dict(hub.contents)
    hub.contents.clear()

    def taken():
        hub.contents.update(kept)
        yield error("ResourceInUse", "ImportHubContent")

    hub.trouble["ImportHubContent"] = taken()
    assert registry.register(NAME, "RewardFunction", FUNCTION).version == "1.0.0"


def test_a_denied_call_is_one_sentence(hub, registry):
    hub.trouble["ImportHubContent"] = [error("AccessDeniedException", "ImportHubContent")]
    with pytest.raises(AwsFailed, match="registering the evaluator: not allowed"):
        registry.register(NAME, "RewardFunction", FUNCTION)


def test_all_evaluators_are_listed_and_nothing_else(hub, registry):
    assert list(registry.all()) == []
    made = registry.register(NAME, "RewardFunction", FUNCTION)
    hub.contents["other", "1.0.0"] = hub.contents[NAME, "1.0.0"] | {
        "HubContentName": "other",
        "HubContentDocument": "{}",
    }
    assert list(registry.all()) == [made]


@pytest.mark.parametrize(
    ("function", "name"),
    [
        ("SageMaker-reward-dev-gsm8k--0a1b2c3d", "SageMaker-reward-dev-gsm8k"),
        ("SageMaker-reward-dev-a_b--0a1b2c3d", "SageMaker-reward-dev-a-b"),
        ("my.function", "my-function"),
        ("-x-", "x"),
        ("___", "reward"),
    ],
)
def test_a_name_is_one_that_a_hub_takes(function, name):
    arn = FunctionArn("aws", "us-east-1", ACCOUNT, function)
    assert evaluators.name_of(arn) == name


def test_two_long_names_stay_two():
    first, second = (evaluators.content_name("a" * 64 + end) for end in "xy")
    assert first != second
    assert len(first) == len(second) == 63


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"qualifier": "7"}, "has a qualifier, and SageMaker's evaluators take none: leave it out"),
        (
            {"name": "SageMaker-reward-dev-gsm8k", "qualifier": "7"},
            'has a qualifier, and SageMaker\'s evaluators take none: set "immutable": true',
        ),
        ({"qualifier": "live"}, "has a qualifier"),
        ({"qualifier": "$LATEST"}, "has a qualifier"),
        ({"name": "SageMaker-reward-dev-gsm8k"}, '"immutable": true for it in cdk.json'),
    ],
)
def test_a_function_that_no_evaluator_holds_is_one_sentence(changed, sentence):
    parts = {"partition": "aws", "region": "us-east-1", "account": ACCOUNT}
    parts |= {"name": "SageMaker-reward-dev-gsm8k--0a1b2c3d"} | changed
    with pytest.raises(BadJob) as refused:
        evaluators.require_fitting(FunctionArn(**parts))
    assert sentence in str(refused.value)


@pytest.mark.parametrize(
    ("arn", "sentence"),
    [
        (f"arn:aws:sagemaker:us-east-1:{ACCOUNT}:hub-content/H/JsonDoc/n", "is not the ARN of an"),
        (f"arn:aws-cn:sagemaker:us-east-1:{ACCOUNT}:hub-content/H/JsonDoc/n/1.0.0", "is not the"),
        ("arn:aws:sagemaker:us-east-1:111111111111:hub-content/H/JsonDoc/n/1.0.0", "of account 1"),
        (FUNCTION, "is not the ARN of an evaluator"),
        ("arn:", "is not the ARN of an evaluator"),
    ],
)
def test_an_evaluator_of_elsewhere_is_one_sentence(arn, sentence):
    with pytest.raises(BadJob, match=sentence):
        evaluators.require_here(arn, "us-east-1", ACCOUNT, "sagemaker.judge_prompt")
