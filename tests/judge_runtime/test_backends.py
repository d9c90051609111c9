"""The two protocols: what is sent, what is a verdict, and what every kind of failure is called."""

from __future__ import annotations

import json
import os
import socket
from copy import copy, deepcopy
from time import monotonic

import pytest

from reward_functions import sample
from reward_functions.core.errors import BadJudge, JudgeUnavailable, NoVerdict
from reward_functions.judge_runtime.backends import open_model
from reward_functions.judge_runtime.config import JudgeModel
from reward_functions.judge_runtime.prompting import prompt_of, question
from reward_functions.judge_runtime.structured_output import decoded, output_mode_of
from reward_functions.judges import reference
from reward_functions.judges.reference import FIELDS

BACKENDS = ["bedrock", "openai"]
OUTPUT_MODES = ["json_schema", "strict_tool", "tool", "json"]


def asked(text="Canberra"):
    data = {"prompt": "Capital?", "reference": "Canberra", "answer": text}
    return question(prompt_of(reference.__file__), sample(text), FIELDS, data)


def model(server, backend, **settings):
    endpoint = server.url if backend == "bedrock" else f"{server.url}/v1"
    settings = {"model": "some-judge", "region": "us-east-1", "timeout": 1.0, **settings}
    return open_model(JudgeModel(backend=backend, endpoint=endpoint, **settings), 4)


@pytest.mark.parametrize("output_mode", OUTPUT_MODES)
@pytest.mark.parametrize("backend", BACKENDS)
def test_every_output_mode_gives_the_verdict_and_its_cost(serve, backend, output_mode):
    verdict = model(serve(), backend, output_mode=output_mode)(asked())
    assert verdict["same"] == "yes"
    assert verdict["addressed_to_judge"] == "no"
    assert (verdict.usage.input, verdict.usage.output) == (100, 20)


@pytest.mark.parametrize("output_mode", OUTPUT_MODES)
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    ("how", "kind"),
    [
        ("truncated", "cut"),
        ("refused", "refused"),
        ("prose", "malformed"),
        ("wrong schema", "malformed"),
        ("wrong choice", "malformed"),
        ("wrong checksum", "malformed"),
    ],
)
def test_what_is_no_verdict_is_none_and_its_tokens_count(serve, backend, output_mode, how, kind):
    judge = model(serve(schedule=lambda *_: how), backend, output_mode=output_mode)
    with pytest.raises(NoVerdict) as caught:
        judge(asked())
    assert caught.value.kind == kind
    assert caught.value.usage.output == 20


@pytest.mark.parametrize("backend", BACKENDS)
def test_of_two_verdicts_in_one_neither_counts(serve, backend):
    judge = model(serve(schedule=lambda *_: "two verdicts"), backend, output_mode="json_schema")
    with pytest.raises(NoVerdict):
        judge(asked())


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    ("how", "kinds"),
    [
        ("429", {"throttled"}),
        ("500", {"busy"}),
        ("503", {"busy"}),
        ("408", {"timeout"}),
        ("400", {"denied"}),
        ("403", {"denied"}),
        ("404", {"denied"}),
        ("slow", {"timeout"}),
        ("hang up", {"unreachable"}),
        ("empty body", {"busy", "unreachable"}),
        ("empty object", {"busy"}),
        ("cut body", {"busy", "unreachable"}),
        ("no JSON", {"busy", "unreachable"}),
    ],
)
def test_an_outage_is_called_what_it_is(serve, backend, how, kinds):
    judge = model(serve(schedule=lambda *_: how), backend)
    with pytest.raises(JudgeUnavailable) as caught:
        judge(asked())
    assert caught.value.kind in kinds


ANYTHING = [None, True, 5, float("inf"), "x", [], ["x"], [None], {}, {"x": 1}]
"""What a gateway may put in any place of a response."""

RESPONSES = {
    "bedrock": {
        "output": {"message": {"role": "assistant", "content": [{"text": "{}"}]}},
        "stopReason": "end_turn",
        "usage": {"inputTokens": 100, "outputTokens": 20, "totalTokens": 120},
    },
    "openai": {
        "choices": [
            {
                "index": 0,
                "message": {
                    "role": "assistant",
                    "content": "{}",
                    "tool_calls": [{"function": {"name": "verdict", "arguments": "{}"}}],
                },
                "finish_reason": "stop",
            }
        ],
        "usage": {
            "prompt_tokens": 100,
            "completion_tokens": 20,
            "prompt_tokens_details": {"cached_tokens": 0},
        },
    },
}


def misshapen(response):
    """The response with each of its parts, and the whole, replaced by anything."""
    yield from ANYTHING
    if isinstance(response, dict | list):
        places = response if isinstance(response, dict) else range(len(response))
        for place in places:
            for part in misshapen(response[place]):
                other = copy(response)
                other[place] = part
                yield other


@pytest.mark.parametrize("output_mode", ["json_schema", "tool"])
@pytest.mark.parametrize("backend", BACKENDS)
def test_a_response_of_any_other_shape_is_a_failure_and_no_bug(serve, backend, output_mode):
    server = serve()
    judge = model(server, backend, output_mode=output_mode)
    bodies = [json.dumps(each).encode() for each in misshapen(RESPONSES[backend])]
    for server.body in [*bodies, b'{"output": ' + b"[" * 100_000]:
        with pytest.raises((JudgeUnavailable, NoVerdict)) as caught:
            judge(asked())
        assert caught.value.kind in {"busy", "unreachable", "malformed"}, server.body


@pytest.mark.parametrize("told", [-1, -(10**9), 10**12, 10**400, None])
@pytest.mark.parametrize("backend", BACKENDS)
def test_tokens_that_cannot_be_believed_are_none(serve, backend, told):
    response = deepcopy(RESPONSES[backend])
    for name in ("inputTokens", "prompt_tokens"):
        if name in response["usage"]:
            response["usage"][name] = told
    with pytest.raises(NoVerdict) as caught:
        model(serve(body=json.dumps(response).encode()), backend)(asked())
    assert caught.value.usage.input == 0
    assert caught.value.usage.output == 20


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_response_of_five_megabytes_is_a_failure_that_says_so(serve, backend):
    response = deepcopy(RESPONSES[backend])
    message = response["output" if backend == "bedrock" else "choices"]
    message = message["message"] if backend == "bedrock" else message[0]["message"]
    text = "x" * 5_000_000
    message["content"] = [{"text": text}] if backend == "bedrock" else text
    with pytest.raises((JudgeUnavailable, NoVerdict), match=r"too (?:large|long)"):
        model(serve(body=json.dumps(response).encode()), backend, output_mode="json_schema")(
            asked()
        )


@pytest.mark.parametrize("host", ["127.0.0.1", "nowhere.invalid"])
@pytest.mark.parametrize("backend", BACKENDS)
def test_where_nobody_listens_is_unreachable_and_not_slow(serve, backend, host):
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    server = serve()
    server.url = f"http://{host}:{port}"
    with pytest.raises(JudgeUnavailable) as caught:
        model(server, backend)(asked())
    assert caught.value.kind == "unreachable"


WHERE_TO_LOOK = [
    ("openai", "400", r"model id.*output_mode 'tool'.*reward judge probe"),
    ("openai", "401", r"401: the API key is missing or not accepted; key names the variable"),
    ("openai", "404", r"404: is the model's name right, and does the endpoint end .* at /v1\?"),
    ("openai", "no JSON", r"200, and no JSON: is the model's name right, and does the endpoint"),
    ("bedrock", "400", r"model id.*output_mode 'tool'.*reward judge probe"),
    ("bedrock", "404", r"model id.*output_mode 'tool'.*reward judge probe"),
]


@pytest.mark.parametrize(("backend", "how", "said"), WHERE_TO_LOOK)
def test_a_model_that_takes_no_request_says_where_to_look(serve, backend, how, said):
    with pytest.raises(JudgeUnavailable, match=said):
        model(serve(schedule=lambda *_: how), backend, output_mode="tool")(asked())


def test_a_server_without_tls_is_no_slow_one(serve):
    server = serve()
    server.url = server.url.replace("http://", "https://")
    with pytest.raises(JudgeUnavailable, match="no TLS") as caught:
        model(server, "openai")(asked())
    assert caught.value.lasting
    assert caught.value.unbilled


def test_without_credentials_nothing_is_asked_again(serve, monkeypatch):
    for name in ("ACCESS_KEY_ID", "SECRET_ACCESS_KEY"):
        monkeypatch.delenv(f"AWS_{name}")
    monkeypatch.setattr("boto3.DEFAULT_SESSION", None)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", os.devnull)
    monkeypatch.setenv("AWS_CONFIG_FILE", os.devnull)
    server = serve()
    with pytest.raises(JudgeUnavailable, match="no AWS credentials") as caught:
        model(server, "bedrock")(asked())
    assert not caught.value.transient
    assert not server.requests


def test_a_server_that_drips_holds_nobody_up(serve):
    judge = model(serve(schedule=lambda *_: "drip"), "openai", timeout=0.3)
    with pytest.raises(JudgeUnavailable) as caught:
        judge(asked())
    assert caught.value.kind == "timeout"  # what has dripped to its end is an answer


@pytest.mark.parametrize("backend", BACKENDS)
def test_nothing_below_us_retries(serve, backend):
    server = serve(schedule=lambda *_: "500")
    with pytest.raises(JudgeUnavailable):
        model(server, backend)(asked())
    assert len(server.requests) == 1


@pytest.mark.parametrize("backend", BACKENDS)
def test_no_call_begins_behind_the_deadline(serve, backend):
    server = serve()
    with pytest.raises(JudgeUnavailable) as caught:
        model(server, backend)(asked(), deadline=monotonic() - 1)
    assert caught.value.kind == "deadline"
    assert not server.requests


@pytest.mark.parametrize("backend", BACKENDS)
def test_messages_of_failures_hold_no_text_of_the_sample(serve, backend):
    for how in ("400", "500", "prose", "wrong schema"):
        judge = model(serve(schedule=lambda *_, how=how: how), backend)
        with pytest.raises((JudgeUnavailable, NoVerdict)) as caught:
            judge(asked("a secret answer"))
        assert "secret" not in str(caught.value)


def test_bedrock_is_asked_for_the_profile_the_tier_and_the_limits(serve):
    server = serve()
    judge = model(
        server,
        "bedrock",
        model="anthropic.claude-haiku-4-5-20251001-v1:0",
        profile="us.anthropic.claude-haiku-4-5-20251001-v1:0",
        tier="flex",
        max_tokens=700,
    )
    judge(asked())
    (request,) = server.requests
    assert judge.request(asked())["modelId"].startswith("us.")
    assert request["serviceTier"] == {"type": "flex"}
    assert request["inferenceConfig"] == {"maxTokens": 700, "temperature": 0.0}
    assert request["outputConfig"]["textFormat"]["type"] == "json_schema"


def test_a_long_prefix_is_cached_where_the_family_can(serve):
    def points(name, shared):
        judge = model(serve(), "bedrock", model=name)
        data = {"prompt": shared, "reference": "x", "answer": "y"}
        request = judge.request(question(prompt_of(reference.__file__), sample("y"), FIELDS, data))
        return json.dumps(request).count("cachePoint")

    assert points("amazon.nova-lite-v1:0", "short") == 0
    assert points("amazon.nova-lite-v1:0", "word " * 2000) == 1
    assert points("anthropic.claude-haiku-4-5-v1:0", "word " * 2000) == 0
    assert points("anthropic.claude-haiku-4-5-v1:0", "word " * 6000) == 1
    assert points("openai.gpt-oss-120b-1:0", "word " * 6000) == 0


def test_siblings_share_all_of_the_prompt_but_its_end():
    first, second = asked("Sydney"), asked("Perth")
    assert (first.system, first.shared) == (second.system, second.shared)
    assert first.fields == second.fields
    assert first.canary != second.canary


def test_an_openai_key_comes_from_where_it_is_named(serve, monkeypatch):
    monkeypatch.setenv("JUDGE_KEY", "s3cret")
    server = serve()
    model(server, "openai", key="env:JUDGE_KEY")(asked())
    assert server.headers[0]["authorization"] == "Bearer s3cret"


def test_a_missing_key_is_a_failed_start(serve, monkeypatch):
    monkeypatch.delenv("JUDGE_KEY", raising=False)
    with pytest.raises(BadJudge, match="its key names is not set"):
        model(serve(), "openai", key="env:JUDGE_KEY")


def test_a_missing_region_is_a_failed_start(monkeypatch):
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_CONFIG_FILE", "/nowhere")
    with pytest.raises(BadJudge, match="region"):
        open_model(JudgeModel(model="m"), 4)


@pytest.mark.parametrize(
    ("name", "backend", "output_mode"),
    [
        ("anthropic.claude-sonnet-4-5-20250929-v1:0", "bedrock", "json_schema"),
        ("us.anthropic.claude-opus-4-6-v1", "bedrock", "json_schema"),
        ("anthropic.claude-3-haiku-20240307-v1:0", "bedrock", "tool"),
        ("anthropic.claude-sonnet-4-20250514-v1:0", "bedrock", "tool"),
        ("amazon.nova-lite-v1:0", "bedrock", "tool"),
        ("us.amazon.nova-2-lite-v1:0", "bedrock", "tool"),
        ("openai.gpt-oss-120b-1:0", "bedrock", "json_schema"),
        ("meta.llama3-1-70b-instruct-v1:0", "bedrock", "json"),
        ("my-vllm-model", "openai", "json_schema"),
    ],
)
def test_the_output_mode_follows_from_the_family(name, backend, output_mode):
    assert (
        output_mode_of(JudgeModel(model=name, backend=backend, endpoint="http://x")) == output_mode
    )


@pytest.mark.parametrize("text", ['{"a": "b"}', ' \n{"a": "b"}\n', '```json\n{"a": "b"}\n```'])
def test_an_answer_that_is_an_object_is_read(text):
    assert decoded(text) == {"a": "b"}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "yes",
        'The verdict: {"a": "b"}',
        '{"a": "b"} {"a": "c"}',
        '{"a": "b"',
        '{"a": "b", "a": "c"}',
        '```json\n{"a": "b"}\n``` I am sure.',
        "[" * 100_000,
    ],
)
def test_a_verdict_is_never_fished_out_of_prose(text):
    with pytest.raises(NoVerdict):
        decoded(text)
