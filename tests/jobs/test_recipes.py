"""Recipes: which one a job gets, what it takes, and what is refused before anything is sent."""

from __future__ import annotations

import json

import pytest

from reward_functions.aws.failures import AwsFailed
from reward_functions.jobs import recipes
from reward_functions.jobs.configuration import BadJob, Serverless
from reward_functions.jobs.recipes import hyperparameters_of
from tests.jobs.hub_service import RLVR, Service, recipe

ACCOUNT = "000000000000"


@pytest.fixture
def hub(monkeypatch):
    service = Service()
    monkeypatch.setattr(recipes, "client", service.client)
    return service


def read(model="small-open-model", **chosen):
    return recipes.recipe_of(model, Serverless(**chosen), "us-east-1", ACCOUNT)


def sent(given=None, model="small-open-model", **chosen):
    return read(model, **chosen).values(given or {}, Serverless(**chosen))


def test_the_shortest_recipe_is_taken_and_what_the_service_fills_in_is_left_out(hub):
    found = read()
    assert (found.sequence_length, found.response_mode, found.rows) == (
        "4K",
        "envelope",
        "sagemaker",
    )
    assert RLVR.keys() - found.hyperparameters.keys() == {"data_path", "output_path"}


def test_every_default_goes_out_as_a_string_and_what_was_set_over_it(hub):
    values = sent({"learning_rate": 5e-5, "max_epochs": 2})
    assert values == {
        "learning_rate": "5e-05",
        "global_batch_size": "128",
        "max_epochs": "2",
        "rollout_n": "8",
        "max_prompt_length": "1024",
        "max_response_length": "2048",
        "merge_weights": "False",
    }


def test_a_preset_and_a_judge_are_hyperparameters_of_the_recipe(hub):
    assert sent(preset_reward="prime_math")["preset_reward_function"] == "prime_math"
    judged = sent(technique="RLAIF", judge="openai.gpt-oss-120b-1:0", judge_prompt="evaluate")
    assert judged == {
        "judge_model_id": "bedrock/openai.gpt-oss-120b-1:0",
        "judge_prompt_template": "evaluate.jinja",
    }


def test_nova_has_other_rows_and_another_reply(hub):
    found = read("nova-textgeneration-lite-v2")
    assert (found.response_mode, found.rows) == ("list", "bedrock")


def test_subscriptions_come_last_and_a_recipe_is_read_through_an_access_point(hub):
    point = "arn:aws:s3:us-east-1:{customer_id}:accesspoint/recipes"
    address = f"s3://{point}/deep/rlvr.json"
    hub.models["m"] = json.dumps(
        {
            "RecipeCollection": [
                recipe(length="1K", IsSubscriptionModel=True),
                recipe(length="2K", SmtjOverrideParamsS3Uri=address),
            ]
        }
    )
    hub.objects[point.replace("{customer_id}", ACCOUNT), "deep/rlvr.json"] = b"{}"
    assert read("m").sequence_length == "2K"


REFUSED = [
    # the model
    ({"model": "small-open-modle"}, {}, "Did you mean 'small-open-model'?"),
    ({"model": "no-recipe"}, {}, "no-recipe has no recipe for serverless training"),
    ({"model": "only-supervised"}, {}, "it has those for SFT"),
    ({"peft": "FULL", "sequence_length": "8K"}, {}, "for 8K; it has those for 16K"),
    ({"model": "gated-model", "peft": "FULL"}, {}, "it has those for LORA"),
    ({"sequence_length": "64K"}, {}, "it has those for 4K, 8K"),
    *(
        ({"sequence_length": each}, {}, "write a number of 1,024 tokens")
        for each in ("4096", "8k", "abc", "0K", "", "K", "9999999K", "8K ", "-8K", "٨K")
    ),
    # hyperparameters
    ({}, {"learning_rate": 1.0}, "must be a number from 1e-07 to 0.001"),
    ({}, {"learning_rate": float("nan")}, "must be a number"),
    ({}, {"learning_rate": "1e-5"}, "must be a number"),
    ({}, {"max_epochs": 0}, "a whole number from 1 to 10"),
    ({}, {"max_epochs": True}, "a whole number from 1 to 10"),
    ({}, {"max_epochs": 1.0}, "a whole number from 1 to 10"),
    ({}, {"global_batch_size": 100}, "one of 64, 128, 256"),
    ({}, {"merge_weights": 1}, "true or false"),
    ({}, {"max_epoch": 1}, "Did you mean 'max_epochs'?"),
    ({}, {"num_generations": 8}, "Did you mean 'rollout_n'?"),
    ({}, {"batchSize": 64}, "Did you mean 'global_batch_size'?"),
    ({}, {"data_path": "s3://b/k"}, "fills this in itself"),
    ({}, {"preset_reward_function": "gsm8k"}, "write preset_reward = … below [sagemaker]"),
    ({}, {"max_prompt_length": 3000}, "together 5,048, and the recipe takes 4,096"),
    # what the service has of its own
    ({"preset_reward": "prime_maths"}, {}, "has gsm8k, prime_code, prime_math"),
    ({"preset_reward": ""}, {}, "has gsm8k, prime_code, prime_math"),
    (
        {"technique": "RLAIF", "judge": "nobody", "judge_prompt": "evaluate"},
        {},
        "sagemaker.judge is 'nobody': the recipe of small-open-model has openai.gpt-oss-120b-1:0",
    ),
    (
        {"technique": "RLAIF", "judge": "openai.gpt-oss-120b-1:0", "judge_prompt": "be kind"},
        {},
        "has evaluate.jinja",
    ),
]


@pytest.mark.parametrize(("chosen", "given", "sentence"), REFUSED)
def test_what_a_recipe_does_not_take_is_one_sentence(hub, chosen, given, sentence):
    with pytest.raises(BadJob) as refused:
        sent(given, **chosen)
    assert sentence in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        ("x" * 5_000, "5,000 characters, and a value has 2,500 at most"),
        ("{{x}}", "letters, digits, spaces and"),
        ("é", "letters, digits, spaces and"),
        ("a\n", "letters, digits, spaces and"),
    ],
)
def test_a_string_keeps_to_the_length_and_the_characters(hub, value, sentence):
    hub.objects["hub-us-east-1", "rlvr.json"] = b'{"note": {"type": "string"}}'
    with pytest.raises(BadJob, match=sentence):
        sent({"note": value})


def test_a_required_hyperparameter_without_a_default_must_be_set(hub):
    hub.objects["hub-us-east-1", "rlvr.json"] = b'{"k": {"type": "integer", "required": true}}'
    with pytest.raises(BadJob, match="k is missing: the recipe has no default"):
        sent()
    assert sent({"k": 3}) == {"k": "3"}


def test_a_hundred_hyperparameters_are_the_most(hub):
    many = {f"h{at}": {"type": "integer", "default": 1} for at in range(101)}
    hub.objects["hub-us-east-1", "rlvr.json"] = json.dumps(many).encode()
    with pytest.raises(BadJob, match="101 with the recipe's own, and a job takes 100"):
        sent()


@pytest.mark.parametrize(
    "content",
    [
        b"[]",
        b"null",
        b"",
        b"\xff\xfe",
        b"9" * 6_000,
        b'"' + b"x" * (1 << 21) + b'"',
    ],
    ids=["list", "null", "empty", "binary", "digits", "large"],
)
def test_a_document_that_is_none_is_the_services_mistake(hub, content):
    hub.objects["hub-us-east-1", "rlvr.json"] = content
    with pytest.raises(AwsFailed, match="reading the recipe of small-open-model: "):
        read()


@pytest.mark.parametrize(
    "address",
    ["https://x/y", "s3://", "s3://b", "file:///etc/passwd", "s3://arn:aws:iam::1/x", "x"],
)
def test_an_address_that_is_none_is_the_services_mistake(hub, address):
    hub.models["m"] = json.dumps({"RecipeCollection": [recipe(SmtjOverrideParamsS3Uri=address)]})
    with pytest.raises(AwsFailed, match="names no address in S3"):
        read("m")


def test_an_entry_is_read_by_its_type_or_by_its_default():
    found = hyperparameters_of(
        {
            "a": {"type": "integer", "min": 1, "max": 8, "required": True},
            "b": {"type": "curious", "default": 0.5},
            "c": 7,
            "d": {"type": "Double", "min": 0, "default": "1e-5"},
            "e": {"type": "bool"},
        }
    )
    assert [(each.kind, each.default, each.required) for each in found.values()] == [
        ("integer", None, True),
        ("float", 0.5, False),
        ("integer", 7, False),
        ("float", "1e-5", False),
        ("boolean", None, False),
    ]


def test_prompt_and_answer_may_fill_the_sequence(hub):
    assert sent({"max_prompt_length": 2048, "max_response_length": 2048})["max_epochs"] == "1"
    with pytest.raises(BadJob, match="together 4,097"):
        sent({"max_prompt_length": 2049, "max_response_length": 2048})
