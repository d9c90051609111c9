"""The dated table of models: what it finds, what it refuses, and who overrules it."""

from datetime import date

import pytest

from reward_functions.jobs.configuration import BadJob
from reward_functions.jobs.models import as_of, find, made_from, models
from reward_functions.judge_runtime.config import JudgeConfig, JudgeModel
from reward_functions.judge_runtime.usage import price_of

NOVA = "amazon.nova-2-lite-v1:0:256k"
FOUNDATION = "arn:aws:bedrock:{}::foundation-model/" + NOVA
CUSTOM = f"arn:aws:bedrock:us-east-1:123456789012:custom-model/{NOVA}/abcdefghijkl"
ARN = FOUNDATION.format("us-east-1")

FOUND = [
    # model, region of the stage, driver by hand; what the request names, and the API
    (NOVA, "us-east-1", None, NOVA, "bedrock"),
    (ARN, "us-east-1", None, ARN, "bedrock"),
    (NOVA, None, None, NOVA, "bedrock"),
    (NOVA, "us-east-1", "bedrock", NOVA, "bedrock"),
    ("openai.gpt-oss-20b", "us-west-2", None, "openai.gpt-oss-20b", "openai"),
    # AWS's notebook has this id, AWS's guide the other: as it was typed.
    ("qwen.qwen3-32b-v1:0", "us-west-2", None, "qwen.qwen3-32b-v1:0", "openai"),
    (
        "arn:aws:bedrock:us-west-2::foundation-model/qwen.qwen3-32b",
        *("us-west-2", None, "qwen.qwen3-32b", "openai"),
    ),
]


@pytest.mark.parametrize(("model", "region", "driver", "identifier", "api"), FOUND)
def test_a_model_of_the_table_is_found_by_each_of_its_names(model, region, driver, identifier, api):
    base = find(model, region, driver)
    assert (base.identifier, base.driver, base.warnings) == (identifier, api, ())
    assert base.known in models()


REFUSED = [
    ("amazon.nova-2-lite-v1:0", None, None, f"Did you mean {NOVA!r}? For a newer model, name its"),
    ("gpt-5", None, None, "has no 'gpt-5'; there are amazon.nova-2-lite"),
    (NOVA, "eu-west-1", None, "is trained in us-east-1, as of"),
    # A driver does not overrule a region: a file names it for every stage.
    (NOVA, "eu-west-1", "bedrock", f"its ARN there: {ARN.replace('us-east-1', 'eu-west-1')}"),
    (NOVA, "us-east-1", "openai", "is trained on Bedrock's control plane, as of"),
    (ARN, "eu-west-1", None, "is in us-east-1, and the stage in eu-west-1"),
    (CUSTOM, "eu-west-1", None, "is in us-east-1, and the stage in eu-west-1"),
    (CUSTOM, None, "openai", "starts from no custom model"),
    ("arn:aws:bedrock:us-east-1::inference-profile/x", None, None, "is not the ARN of a model"),
    (ARN.replace("::", ":000000000000:"), None, None, "is not the ARN of a model"),
    ("arn:" + "a" * 100_000, None, None, "is not the ARN of a model"),
]


@pytest.mark.parametrize(("model", "region", "driver", "sentence"), REFUSED)
def test_what_no_job_can_start_from_is_refused_with_the_remedy(model, region, driver, sentence):
    with pytest.raises(BadJob) as refused:
        find(model, region, driver)
    assert str(refused.value).startswith("model: ")
    assert sentence in str(refused.value)


DOUBTED = [
    ("gpt-5", "us-west-2", "openai", ["does not know gpt-5"]),
    (FOUNDATION.format("us-east-1"), "us-east-1", "openai", ["is trained on Bedrock's control"]),
    (FOUNDATION.format("eu-west-1"), "eu-west-1", None, ["is trained in us-east-1"]),
    (CUSTOM, "us-east-1", None, ["no page of AWS says"]),
]


@pytest.mark.parametrize(("model", "region", "driver", "sentences"), DOUBTED)
def test_whoever_read_a_newer_page_overrules_the_table_and_is_warned(
    model, region, driver, sentences
):
    base = find(model, region, driver)
    assert [sentence in each for each, sentence in zip(base.warnings, sentences, strict=True)] == [
        True
    ]


def test_a_custom_model_has_the_limits_of_what_it_was_made_of():
    base = find(CUSTOM, "us-east-1")
    assert base.custom
    assert base.known == find(NOVA).known


def test_ids_are_unique_dates_are_dates_and_a_table_is_not_older_than_its_rows():
    names = [name for model in models() for name in (model.id, *model.aliases)]
    assert len(set(names)) == len(names)
    priced = [date.fromisoformat(model.price.as_of) for model in models() if model.price]
    assert max(priced) <= date.fromisoformat(as_of())


@pytest.mark.parametrize("model", models(), ids=lambda model: model.id)
def test_two_tables_of_prices_agree_where_both_have_a_model(model):
    judge = JudgeModel(model=model.inference_id, region="us-east-1")
    price = price_of(judge, JudgeConfig(models=(judge,)))
    if price is not None:
        assert (price.input, price.output) == model.price.inference


HOSTED = "arn:aws:bedrock:us-east-1:123456789012:custom-model-deployment/abcdefghijkl"
GPT = "openai.gpt-oss-20b"


@pytest.mark.parametrize(
    ("base", "asked", "tuned"),
    [
        (NOVA, "us.amazon.nova-2-lite-v1:0", False),
        (NOVA, "global.amazon.nova-2-lite-v1:0", False),
        (NOVA, HOSTED, True),
        (CUSTOM, HOSTED, False),  # what a job began with is asked by a deployment of it
        (GPT, GPT, False),
        (GPT, "openai.gpt-oss-20b-1:0", False),
        (GPT, "openai.gpt-oss-20b:ft-simulation-abc", True),
    ],
)
def test_what_a_job_made_is_told_from_what_it_began_with(base, asked, tuned):
    assert made_from(asked, find(base)) == tuned
