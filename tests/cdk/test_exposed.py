"""A key that stands in `cdk.json`: no sentence repeats it, and variables are warned of."""

from __future__ import annotations

from pathlib import Path

import pytest

from reward_functions.cdk.model.exposed import exposed, looks_like_a_key
from reward_functions.cdk.model.stages import stage_of
from reward_functions.core.errors import ConfigurationError

HERE = Path(__file__).parent

KEY = "sk-live-0123456789abcdefghij"


def stage(**given):
    return stage_of({"dev": {"region": "us-east-1", "deployments": ["gsm8k"]} | given}, "dev", HERE)


def forwarder(**given):
    return {"forwarders": [{"name": "a"} | given]}


def deployment(**given):
    return {"deployments": [{"reward": "gsm8k"} | given]}


def agent(**given):
    return {"agents": [{"name": "a", "entry": "a:b", "packages": ["a==1"]} | given]}


IN_THE_WRONG_PLACE = [
    forwarder(endpoint="https://agent.example.com", secret=KEY),
    forwarder(endpoint=f"https://user:{KEY}@agent.example.com"),
    forwarder(endpoint=KEY),
    forwarder(queue=f"https://user:{KEY}@sqs.us-east-1.amazonaws.com/123456789012/requests"),
    {"feedback": {"endpoint": f"https://user:{KEY}@runtime.example.com"}},
    {"feedback": {"endpoint": KEY * 20}},
    agent(environment=KEY),
    agent(environment={"API_KEY": [KEY]}),
    deployment(environment=KEY),
    deployment(secrets={"LOOKUP": KEY}),
    deployment(secrets={"LOOKUP": {"arn": KEY}}),
    deployment(
        secrets={
            "LOOKUP": {
                "arn": "arn:aws:secretsmanager:us-east-1:123456789012:secret:lookup-a1b2c3",
                "key": KEY,
            }
        }
    ),
    {"subscriptions": [f"http://user:{KEY}@example.com/hook"]},
    {"packages": [f"git+https://{KEY}@example.com/acme/rewards"]},
    {"packages": [f"acme @ https://user:{KEY}@example.com/acme.whl"]},
]


@pytest.mark.parametrize("given", IN_THE_WRONG_PLACE, ids=str)
def test_a_key_in_the_wrong_place_is_refused_and_not_repeated(given):
    with pytest.raises(ConfigurationError) as refused:
        stage(**given)
    assert KEY not in str(refused.value)


def test_a_number_in_an_environment_is_not_repeated_either():
    with pytest.raises(ConfigurationError, match="must be a string") as refused:
        stage(**deployment(environment={"PIN": 83917264}))
    assert "83917264" not in str(refused.value)


LOOKS = [
    ("MODEL", KEY, True),
    ("MODEL", "AKIAIOSFODNN7EXAMPLE", True),
    ("PEM", "-----BEGIN PRIVATE KEY-----", True),
    ("WHO", "eyJhbGciOiJIUzI1NiJ9.e30.x", True),
    ("LOOKUP_KEY", "9f86d081884c7d659a2feaa0c55ad015", True),
    ("db_password", "correct horse battery", True),
    ("TOKEN", "a" * 16, True),
    ("TOKEN", "a" * 15, False),
    ("MAX_TOKENS", "a" * 40, False),
    ("TOKEN", "4096.0000000000000", False),
    ("MONKEY", "a" * 40, False),
    ("SORT_KEY", "created", False),
    ("SECRET_NAME", "arn:aws:secretsmanager:us-east-1:123456789012:secret:a-a1b2c3", False),
    ("KEY_FILE", "s3://acme-cases/keys.json", False),
    ("KEY_FILE", "/opt/keys/public/key.pem", False),
    ("CASES", "s3://acme-cases/capitals.json", False),
    ("", "", False),
]


@pytest.mark.parametrize(("name", "value", "looks"), LOOKS)
def test_what_looks_like_a_key(name, value, looks):
    assert looks_like_a_key(name, value) is looks


def test_a_variable_that_looks_like_a_key_is_named_and_not_shown():
    given = deployment(environment={"API_KEY": KEY, "CASES": "s3://acme-cases/a.json"})
    said = list(exposed(stage(**given, **agent(environment={"HUB": KEY}))))
    assert [sentence.partition(": the value of ")[2].split()[0] for sentence in said] == [
        "API_KEY",
        "HUB",
    ]
    assert said[0].startswith("deployment 'gsm8k'")
    assert "`secrets`" in said[0]
    assert said[1].startswith("agent 'a'")
    assert KEY not in "".join(said)
