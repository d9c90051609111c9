"""Lines for Nova's recipes: parsed back, and refused where such a job would fail."""

from __future__ import annotations

import pytest
import yaml

from reward_functions.aws.arn import FunctionArn
from reward_functions.jobs.configuration import BadJob
from reward_functions.jobs.grader import AccountLimits
from reward_functions.jobs.recipes import SETTINGS, recipe_lines

NOVA = "amazon.nova-2-lite-v1:0:256k"
ARN = "arn:aws:lambda:us-east-1:123456789012:function:SageMaker-reward-dev-gsm8k--0a1b2c3d4e5f"
ENOUGH = AccountLimits(concurrency=1_000, unreserved=1_000)


def lines(place="hyperpod", given=(), arn=ARN, limits=ENOUGH, model=NOVA):
    return recipe_lines(place, model, FunctionArn.parse(arn), dict(given), limits)


def endpoint(found):
    return found["training_config"]["rollout"]["rewards"]["api_endpoint"]


@pytest.mark.parametrize(("place", "limit"), [("training-job", 12), ("hyperpod", 100)])
def test_the_function_and_its_concurrency_stand_where_the_recipes_have_them(place, limit):
    found = yaml.safe_load(lines(place).yaml())
    assert found["run"] == {"model_type": NOVA, "reward_lambda_arn": ARN}
    assert endpoint(found) == {"lambda_arn": ARN, "lambda_concurrency_limit": limit}


GIVEN = {
    "replicas": 4,
    "rollout_worker_replicas": 2,
    "global_batch_size": 256,
    "number_generation": 8,
    "reasoning_effort": "high",
    "max_length": 10_240,
    "max_new_tokens": 8_192,
    "temperature": 1,
    "top_k": 0,
    "max_steps": 100,
    "ent_coeff": 0.001,
    "lr": 7e-7,
    "weight_decay": 0.0,
}


def test_settings_stand_at_their_places_and_are_read_back_as_they_were_given():
    text = lines(given=GIVEN).yaml()
    found = yaml.safe_load(text)
    training = found["training_config"]
    assert (found["run"]["replicas"], found["run"]["rollout_worker_replicas"]) == (4, 2)
    assert training["global_batch_size"] == 256
    assert training["rollout"]["advantage_strategy"] == {"number_generation": 8}
    assert training["rollout"]["generator"] == {
        "max_new_tokens": 8_192, "temperature": 1, "top_k": 0
    }  # fmt: skip
    assert training["trainer"]["optim_config"] == {"lr": 7e-7, "weight_decay": 0.0}
    assert "256 / 8 = 32 prompts a step" in text
    assert endpoint(found)["lambda_concurrency_limit"] == 128, "two workers of 64 requests"


def test_what_a_value_holds_cannot_leave_its_place():
    text = lines(model='nova"\nrun: {reward_lambda_arn: "x"}').yaml()
    assert yaml.safe_load(text)["run"]["reward_lambda_arn"] == ARN


REFUSED = {
    "an effort of Bedrock": ({"reasoning_effort": "medium"}, "medium is Bedrock's"),
    "a misspelt name": ({"global_batchsize": 64}, "Did you mean"),
    "a name of Bedrock's": ({"batchSize": 64}, "no setting of these recipes"),
    "a share of a row": ({"global_batch_size": 1.5}, "no whole number"),
    "a truth": ({"max_steps": True}, "no whole number"),
    "words": ({"max_steps": "ten"}, "no whole number"),
    "none at all": ({"number_generation": 1}, "from 2"),
    "too hot": ({"temperature": 2.5}, "from 0 to 2"),
    "no number": ({"lr": float("nan")}, "no number"),
    "endless": ({"lr": float("inf")}, "no number"),
    "more than any": ({"max_steps": 10**400}, "no whole number"),
    "a limit below its workers": (
        {"rollout_worker_replicas": 3, "lambda_concurrency_limit": 128},
        "less than the 192 requests",
    ),
}


@pytest.mark.parametrize(("given", "words"), REFUSED.values(), ids=REFUSED)
def test_a_setting_that_the_recipe_would_not_take_is_refused(given, words):
    with pytest.raises(BadJob, match=words):
        lines(given=given)


FRACTIONS = {"temperature", "kl_loss_coef", "ent_coeff", "lr", "weight_decay"}


@pytest.mark.parametrize("setting", SETTINGS.values(), ids=SETTINGS)
def test_a_setting_takes_a_fraction_where_the_recipe_does(setting):
    given = {setting.name: 0.5 if setting.name in FRACTIONS else 8.5}
    (place, *_) = setting.places
    if setting.name in FRACTIONS:
        assert lines(place, given).values
    else:
        with pytest.raises(BadJob, match=f"{setting.name}: 8.5"):
            lines(place, given)


def test_a_setting_of_the_other_recipe_is_refused():
    with pytest.raises(BadJob, match="training-job have no such setting"):
        lines("training-job", {"rollout_worker_replicas": 1})


def test_a_model_that_is_none_of_novas_is_refused():
    with pytest.raises(BadJob, match="none of Nova's"):
        lines(model="qwen3-32b")


CONCURRENCY = {
    "reserved too little": (AccountLimits(1_000, 900, reserved=50), "hyperpod", "reserved_concur"),
    "reserved nothing": (AccountLimits(1_000, 900, reserved=0), "training-job", "reserved_concur"),
    "a new account": (AccountLimits(10, 10), "training-job", "Service Quotas"),
    "just enough": (AccountLimits(1_000, 900, reserved=100), "hyperpod", None),
    "enough for a training job": (AccountLimits(1_000, 900, reserved=12), "training-job", None),
}


@pytest.mark.parametrize(("limits", "place", "words"), CONCURRENCY.values(), ids=CONCURRENCY)
def test_a_function_that_may_not_run_so_often_is_refused(limits, place, words):
    if words is None:
        assert not lines(place, limits=limits).warnings
    else:
        with pytest.raises(BadJob, match=words):
            lines(place, limits=limits)


def test_what_was_not_measured_is_said():
    limits = AccountLimits(unmeasured=("lambda:GetAccountSettings is not allowed here",))
    (warning,) = lines(limits=limits).warnings
    assert "GetAccountSettings" in warning


def test_hyperpod_invokes_what_carries_sagemaker_alone():
    for name in ("reward", "sagemaker-reward"):
        with pytest.raises(BadJob, match="HyperPod invokes"):
            lines(arn=f"arn:aws:lambda:us-east-1:123456789012:function:{name}")
    with pytest.raises(BadJob, match="HyperPod invokes"):
        lines(arn=ARN.replace("arn:aws:", "arn:aws-cn:"))
    plain = lines("training-job", arn="arn:aws:lambda:us-east-1:123456789012:function:reward")
    assert "stock policies" in plain.warnings[0]


def test_a_version_behind_the_arn_is_warned_of():
    (warning,) = lines(arn=f"{ARN}:7").warnings
    assert "immutable" in warning
