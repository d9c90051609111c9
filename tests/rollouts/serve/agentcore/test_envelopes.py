"""What is stored of a rollout, and what never is."""

import json
import math

import pytest

from reward_functions.rollouts.request.errors import RefusedResult
from reward_functions.rollouts.serve.agentcore import results
from reward_functions.rollouts.serve.agentcore.results import (
    REDACTED,
    Destination,
    known_secrets,
    stored,
    trace_of,
    without_secrets,
)

DESTINATION = Destination(bucket="results", key="e/i/s.json", input_id="i")
ROLLOUT = {"exp_id": "e", "input_id": "i", "s3_bucket": "results"}


class Scalar:
    """As numpy's: of no dimension, and of JSON no number."""

    ndim = 0

    def item(self):
        return 0.5


def kept(result, payload=None, **options):
    return json.loads(stored(result, DESTINATION, payload or {}, **options))


@pytest.mark.parametrize(
    ("given", "found"),
    [
        (1, 1.0),
        (0.25, 0.25),
        ([1, 0.5], [1.0, 0.5]),
        ((1,), [1.0]),
        (Scalar(), 0.5),
    ],
)
def test_rewards_keep_their_form(given, found):
    assert kept({"rewards": given})["rewards"] == found


@pytest.mark.parametrize("given", [math.nan, "1", True, None, [], [None], {"a": 1}, {1.0}, [[1]]])
def test_rewards_that_are_none_are_refused(given):
    with pytest.raises(RefusedResult, match="rewards of the result"):
        kept({"rewards": given})


def test_what_the_agent_says_of_its_end_stays():
    found = kept({"status_code": 206, "stop_reason": "max_tokens", "rewards": 1})
    assert (found["status_code"], found["stop_reason"]) == (206, "max_tokens")


def test_names_of_the_envelope_are_not_overwritten_in_silence(caplog):
    found = kept({"input_id": "mine", "payload": {"x": 1}, "result_key": None, "rewards": 1})
    assert (found["input_id"], found["result_key"]) == ("i", "e/i/s.json")
    assert found["agent_fields"] == {"input_id": "mine", "payload": {"x": 1}, "result_key": None}
    assert "input_id, result_key, payload" in caplog.text


PAYLOAD = {
    "id": "row-1",
    "prompt": "6 × 7?",
    "answer": "42",
    "headers": {"Authorization": "Bearer x"},
    "_rollout": ROLLOUT
    | {
        "model_id": "m",
        "base_url": "http://user:pass@host/v1",
        "api_key": "sk-x",
        "sampling_params": {"temperature": 1.0, "api_key": "sk-x"},
        "anything": "else",
    },
}


def test_the_copy_of_the_request_has_allowed_fields_alone():
    config = ROLLOUT | {
        "model_id": "m",
        "sampling_params": {"temperature": 1.0, "api_key": REDACTED},
    }
    assert kept({}, PAYLOAD)["payload"] == {
        "id": "row-1",
        "prompt": "6 × 7?",
        "_rollout": config,
    }
    found = kept({}, PAYLOAD, names=("answer", "headers"))["payload"]
    assert found == {
        "answer": "42",
        "headers": {"Authorization": REDACTED},
        "_rollout": config,
    }


SECRETS = """
    api_key API-KEY apikey x-api-key Authorization Proxy-Authorization access_token refreshToken
    session_token aws_session_token aws_secret_access_key SecretAccessKey password secret
    client_secret X-Amz-Security-Token cookie Set-Cookie credentials
    OPENAI_API_KEY openaiApiKey anthropic-api-key HF_TOKEN github_token DB_PASSWORD
    AWS_SECRET_ACCESS_KEY privateKey tls.private_key Ocp-Apim-Subscription-Key webhook_secret
    oauthToken
""".split()
NOT_SECRETS = """
    tokens token_ids prompt_token_ids max_tokens token_usage secretary password_length key keys
    api monkey_id completion_tokens authorizations_count
    eos_token pad_token stop_token token max_token secrets_found cookies_eaten public_key
    primary_key password_hint monkey
""".split()


@pytest.mark.parametrize("name", SECRETS)
def test_a_secret_in_a_result_is_replaced(name):
    found = kept({"rollout_data": [{"deep": ({name: "sk-x"},)}], name: "sk-x"})
    assert found["rollout_data"] == [{"deep": [{name: REDACTED}]}]
    assert found[name] == REDACTED


@pytest.mark.parametrize("name", NOT_SECRETS)
def test_what_only_looks_like_one_stays(name):
    assert kept({"rollout_data": {name: [1, 2]}})["rollout_data"] == {name: [1, 2]}


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ([["Authorization", "x"], ["Accept", "y"]], [["Authorization", REDACTED], ["Accept", "y"]]),
        ([{"name": "api_key", "value": "x"}], [{"name": "api_key", "value": REDACTED}]),
        ([{"key": "Set-Cookie", "value": "x"}], [{"key": "Set-Cookie", "value": REDACTED}]),
        ([{"name": "colour", "value": "x"}], [{"name": "colour", "value": "x"}]),
        (["Authorization", "x", "y"], ["Authorization", "x", "y"]),
        ({"password": ""}, {"password": ""}),
        ({"a" * 10**6 + "_password": "x"}, {"a" * 10**6 + "_password": "x"}),
    ],
)
def test_a_secret_beside_its_name_is_replaced(given, found):
    assert without_secrets(given) == found


KEY = "sk-0123456789abcdef"
QUOTED = [
    # where a request or the environment has it, where a result quotes it
    ({"_rollout": {"api_key": KEY}}, {}, {"error": f"401 for {KEY}: refused"}),
    ({"headers": {"Authorization": f"Bearer {KEY}"}}, {}, {"log": [f"sent {KEY}"]}),
    ({"headers": [["Authorization", f"Bearer {KEY}"]]}, {}, {"log": ({"deep": [KEY]},)}),
    ({}, {"OPENAI_API_KEY": KEY}, {"rollout_data": [{"content": f"echo {KEY}"}]}),
    ({}, {"AWS_SESSION_TOKEN": KEY}, {"stop_reason": f"boto3 said {KEY}{KEY}"}),
]


@pytest.mark.parametrize(("payload", "environ", "result"), QUOTED)
def test_a_secret_that_a_result_quotes_is_replaced(payload, environ, result, monkeypatch):
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    found = json.dumps(kept(result, PAYLOAD | payload))
    assert KEY not in found
    assert REDACTED in found


def test_a_short_value_is_looked_for_nowhere():
    assert known_secrets({"api_key": "EMPTY", "password": "x" * 15}, {}) == ()
    assert known_secrets({"api_key": "a" * 16, "b": {"secret": "b" * 17}}, {}) == (
        "b" * 17,
        "a" * 16,
    )


def endless():
    loop = {}
    loop["x"] = loop
    return loop


@pytest.mark.parametrize(
    "result", [{"x": math.inf}, {"x": object()}, {"x": b""}, {("a",): 1}, endless()]
)
def test_what_is_not_strict_json_is_refused(result):
    with pytest.raises(RefusedResult, match="strict JSON"):
        kept(result)


def test_a_result_has_a_largest_size(monkeypatch):
    monkeypatch.setattr(results, "LARGEST", 100)
    with pytest.raises(RefusedResult, match="100 bytes"):
        kept({"x": "y" * 100})


def test_the_agents_object_is_not_changed():
    result = {"input_id": "mine", "api_key": "sk-x"}
    kept(result)
    assert result == {"input_id": "mine", "api_key": "sk-x"}


def deep(levels):
    secret = "the model's words"
    return deep(levels - 1) if levels else int(secret)


def test_a_trace_has_types_and_places_alone_and_an_end():
    try:
        deep(200)
    except ValueError as error:
        first, *places = trace_of(error).splitlines()
    assert first == "ValueError"
    assert len(places) == results.FRAMES
    assert all(place.startswith("  serve/agentcore/test_envelopes.py:") for place in places)
