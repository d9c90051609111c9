"""A judge's settings from data: what people type wrongly is answered with what to type."""

import json
import re

import pytest

from reward_functions.core.errors import BadJudge
from reward_functions.judge_runtime.config import JudgeConfig, JudgeModel
from reward_functions.judge_runtime.config_reading import ALIASES, Misread, config_of

SERVER = {"model": "m", "backend": "openai", "endpoint": "http://localhost:8000/v1"}

NAMES = [
    # what is typed, in the settings or in a model; what the sentence says
    ({"base_url": "u"}, "models.0.base_url is unknown: write endpoint; a model has model, backend"),
    ({"url": "u"}, "models.0.url is unknown: write endpoint"),
    ({"api_base": "u"}, "models.0.api_base is unknown: write endpoint"),
    ({"api_key": "k"}, 'models.0.api_key is unknown: write key, as "env:NAME"'),
    ({"model_name": "m"}, "models.0.model_name is unknown: write model"),
    ({"provider": "openai"}, "models.0.provider is unknown: write backend"),
    ({"max_new_tokens": 9}, "models.0.max_new_tokens is unknown: write max_tokens"),
    ({"Max-Tokens": 9}, "models.0.Max-Tokens is unknown: write max_tokens"),
    ({"temprature": 0}, "models.0.temprature is unknown. Did you mean 'temperature'? A model has"),
    ({"max_usd": 1}, "models.0.max_usd is unknown: write max_usd outside of models"),
    ({"max_retries": 1}, "models.0.max_retries is unknown: write retries outside of models"),
    ({"top_p": 1}, "models.0.top_p is unknown; a model has model, backend"),
]
SETTINGS = [
    ({"model": "gpt-4o"}, "model is unknown: write it under [[models]]"),
    ({"base_url": "u"}, "base_url is unknown: write endpoint under [[models]]"),
    ({"temperature": 0}, "temperature is unknown: write temperature under [[models]]"),
    ({"budget": 1}, "budget is unknown: write max_usd; the settings have models, aggregate"),
    ({"workers": 1}, "workers is unknown: write concurrency"),
    ({"fallbck": {}}, "fallbck is unknown. Did you mean 'fallback'? The settings have"),
    ({"fallback": {"url": "u"}}, "fallback.url is unknown: write endpoint"),
    ({"fallback": {}}, "fallback.model is missing: none is the default"),
    ({"models": []}, "no judge model is named"),
    ({"models": "m"}, "models takes a list of objects, each with a model, not a string"),
    (
        {"models": {"model": "m"}},
        "models takes a list of objects, each with a model, not an obj",
    ),
    ({"models": ["gpt-4o"]}, "models.0 takes an object of settings, not a string"),
    ({"models": [{}]}, "models.0.model is missing"),
    ({"escalate": 1}, "escalate takes true or false, not a whole number"),
    ({"retries": 1.5}, "retries takes a whole number, not a number with a fraction"),
    ({"retries": float("nan")}, "retries takes a whole number"),
    ({"max_usd": "2"}, "max_usd takes a number, not a string"),
    ({"max_usd": 10**400}, "max_usd takes a number that is not so large"),
    ({"max_usd": True}, "max_usd takes a number, not true or false"),
    ({"prices": {"m": 1.0}}, "prices.m takes a list, not a number"),
    ({"prices": {"m": ["1", 2]}}, "prices.m.0 takes a number, not a string"),
    ({"aggregate": "avg"}, "aggregate takes one of 'mean', 'median'"),
]
VALUES = [
    ({"backend": "vllm"}, "OpenAI, vLLM, SGLang, Ollama and LiteLLM are 'openai'"),
    ({"backend": 3}, "models.0.backend takes one of 'bedrock', 'openai', 'replay', not a whole"),
    ({"model": 5}, "models.0.model takes a string, not a whole number"),
    ({"temperature": "hot"}, "models.0.temperature takes a number, not a string"),
    ({"rpm": None}, "models.0.rpm takes a whole number, not null"),
    ({"destinations": "us-east-1"}, "models.0.destinations takes a list, not a string"),
    ({"backend": "bedrock"}, 'backend is "bedrock" by default: for an OpenAI-compatible server'),
    ({"endpoint": "localhost:8000"}, "endpoint is the server's http or https URL"),
    ({"endpoint": "http://h/v1/chat/completions"}, "endpoint ends with /v1"),
    ({"key": "sk-SECRET"}, "a key is named env:NAME or by a secret's ARN, not given"),
]
CASES = [
    *(({"models": [SERVER | typed]}, said) for typed, said in NAMES + VALUES),
    *(({"models": [SERVER]} | typed, said) for typed, said in SETTINGS),
    ({}, "no judge model is named, and none is the default: add [[models]]"),
    ([], "a judge takes an object of settings, not a list"),
    (None, "a judge takes an object of settings, not null"),
]


@pytest.mark.parametrize(("typed", "said"), CASES, ids=[said for _, said in CASES])
def test_what_is_typed_wrongly_is_one_sentence(typed, said):
    with pytest.raises(BadJudge, match=re.escape(said)) as refused:
        config_of(typed)
    assert "\n" not in str(refused.value)
    assert "SECRET" not in str(refused.value)


@pytest.mark.parametrize("kind", ALIASES, ids=lambda kind: kind.__name__)
def test_an_alias_means_one_field_that_exists(kind):
    names = [alias for several in ALIASES[kind].values() for alias in several]
    assert len(set(names)) == len(names)
    assert not set(names) & set(kind.__dataclass_fields__)
    assert ALIASES[kind].keys() <= kind.__dataclass_fields__.keys()


def test_what_is_right_is_read_whatever_its_json_type():
    typed = {"models": [SERVER | {"temperature": 1, "max_tokens": 64.0}], "prices": {"m": [1, 2]}}
    assert config_of(json.loads(json.dumps(typed))) == JudgeConfig(
        models=(JudgeModel(**SERVER, temperature=1.0, max_tokens=64),), prices={"m": (1.0, 2.0)}
    )
    config = config_of(typed)
    assert config_of(config) is config
    assert config_of({"models": [SERVER | {"temperature": None}]}).models[0].temperature is None


def test_a_misread_field_is_a_judge_that_cannot_be_used():
    assert issubclass(Misread, BadJudge)
