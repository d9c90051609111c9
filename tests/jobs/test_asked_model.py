"""Who is asked for a base or a tuned model, and how its answers are limited."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from reward_functions.jobs import asking
from reward_functions.jobs.asking import Sampling, endpoint_of, sampling_of
from reward_functions.jobs.configuration import BadJob
from reward_functions.jobs.drivers import openai
from reward_functions.jobs.models import Base, made_from

NAME = "huggingface-reasoning-qwen3-32b"
IMPORTED = "arn:aws:bedrock:us-east-1:123456789012:imported-model/abcdefghijkl"
DEPLOYED = "arn:aws:bedrock:us-east-1:123456789012:custom-model-deployment/abcdefghijkl"
ENDPOINT = "arn:aws:sagemaker:us-east-1:123456789012:endpoint/qwen"
PLACE = SimpleNamespace(stage=SimpleNamespace(region="us-east-1"), session=None)


def base(driver="sagemaker", *, custom=False):
    return Base(NAME, driver, None, custom, ())


@pytest.mark.parametrize("driver", ["sagemaker", "agent-rft"])
def test_nobody_answers_for_a_base_of_sagemaker_unless_named(driver):
    with pytest.raises(BadJob, match=f"{NAME}.*--ask MODEL"):
        endpoint_of(base(driver), Sampling(), PLACE)


@pytest.mark.parametrize("asked", ["qwen.qwen3-32b-v1:0", IMPORTED, DEPLOYED, ENDPOINT])
def test_who_is_named_is_asked_by_converse(monkeypatch, asked):
    monkeypatch.setattr(asking, "converse_client", lambda *_: "client")
    found = endpoint_of(base(), Sampling(), PLACE, ask=asked)
    assert (found.model, found.client) == (asked, "client")


TUNED = {
    "an imported model": (IMPORTED, base(), None, True),
    "a deployment of Nova's": (DEPLOYED, base(), None, True),
    "of a multi-turn job": (IMPORTED, base("agent-rft"), None, True),
    "an imported model that stands in": (IMPORTED, base(), IMPORTED, False),
    "tuned beside one that stands in": (DEPLOYED, base(), IMPORTED, True),
    "the same weights on Bedrock": ("qwen.qwen3-32b-v1:0", base(), None, False),
    "a Marketplace endpoint": (ENDPOINT, base(), None, False),
    "an import, of a job of Bedrock": (IMPORTED, base("bedrock"), None, False),
    "a deployment, of a job of Bedrock": (DEPLOYED, base("bedrock"), None, True),
    "a base that is custom itself": (DEPLOYED, base("bedrock", custom=True), None, False),
}


@pytest.mark.parametrize(("asked", "of", "stands_in", "tuned"), TUNED.values(), ids=TUNED)
def test_a_tuned_model_is_told_from_the_base(asked, of, stands_in, tuned):
    assert made_from(asked, of, stands_in) == tuned


def test_chat_completions_trust_the_certificates_that_the_aws_sdks_trust(monkeypatch, tmp_path):
    bundle = tmp_path / "proxy.pem"
    monkeypatch.setenv("AWS_CA_BUNDLE", str(bundle))
    trusted = []
    monkeypatch.setattr(
        openai.ssl, "create_default_context", lambda cafile: trusted.append(cafile) or True
    )
    _ = endpoint_of(base("openai"), Sampling(), PLACE).api.sdk
    assert trusted[0] == str(bundle)


LIMITS = {
    "of Bedrock": ({"inferenceMaxTokens": 512}, Sampling(1.0, 512)),
    "of a recipe, as a string": ({"max_response_length": "4096"}, Sampling(1.0, 4_096)),
    "of a multi-turn job": ({"sampling_max_tokens": 1024}, Sampling(1.0, 1_024)),
    "none": ({}, Sampling()),
    "an effort of a recipe": ({"reasoning_effort": "low"}, Sampling(reasoning_effort="low")),
}


@pytest.mark.parametrize(("given", "sampling"), LIMITS.values(), ids=LIMITS)
def test_answers_are_limited_as_the_job_limits_them(given, sampling):
    assert sampling_of(SimpleNamespace(hyperparameters=given)) == sampling


@pytest.mark.parametrize("value", ["many", "1_0", "²", "9" * 5_000, 1.5, True, "-1"])
def test_a_limit_that_is_no_whole_number_is_refused(value):
    with pytest.raises(BadJob, match="max_response_length"):
        sampling_of(SimpleNamespace(hyperparameters={"max_response_length": value}))
