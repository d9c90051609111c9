"""OpenAI's own client is content with the double: whole and in a stream, with tools and without."""

from __future__ import annotations

import json

import pytest

from reward_functions.local.runtime_double import FaultPlan
from tests.local.runtime_double.conftest import HEADERS, JOB, bearer

openai = pytest.importorskip("openai", reason="OpenAI's client is for development alone")

TOOL = {
    "type": "function",
    "function": {
        "name": "calculator",
        "description": "Evaluates arithmetic.",
        "parameters": {
            "type": "object",
            "properties": {"precision": {"type": "integer"}, "formula": {"type": "string"}},
            "required": ["formula"],
        },
    },
}
USER = {"role": "user", "content": r"What is 12 \times (3 - 1)? Put it into \boxed{}."}


@pytest.fixture
def client_of():
    from contextlib import ExitStack

    with ExitStack() as stack:

        def made(double, **options):
            client = openai.OpenAI(
                base_url=f"{double.endpoint}/v1",
                api_key=bearer(),
                default_headers=HEADERS,
                **options,
            )
            return stack.enter_context(client)

        yield made


def test_an_agent_with_a_calculator(make, client_of):
    double = make()
    create = client_of(double).chat.completions.create
    first = create(model="default", messages=[USER], tools=[TOOL]).choices[0]
    (call,) = first.message.tool_calls
    assert (first.finish_reason, call.function.name) == ("tool_calls", "calculator")
    # The parameter is the first of the tool's schema that is a string.
    assert json.loads(call.function.arguments) == {"formula": "12 * (3 - 1)"}
    result = {"role": "tool", "tool_call_id": call.id, "content": "24"}
    messages = [USER, first.message.model_dump(exclude_none=True), result]
    second = create(model="default", messages=messages, tools=[TOOL]).choices[0]
    assert second.message.content.endswith(r"\boxed{24}.")
    assert len(double.trajectory(JOB, "r").turns) == 2


def test_a_stream_of_text_and_its_usage(make, client_of):
    create = client_of(make()).chat.completions.create
    options = {"stream": True, "stream_options": {"include_usage": True}}
    with create(model="default", messages=[USER], **options) as stream:
        pieces = [*stream]
    text = "".join(piece.choices[0].delta.content or "" for piece in pieces[:-1])
    assert text.endswith(r"\boxed{24}.")
    assert pieces[-2].choices[0].finish_reason == "stop"
    assert pieces[-1].usage.completion_tokens == -(-len(text) // 4)


def test_a_stream_of_a_tool_call(make, client_of):
    create = client_of(make()).chat.completions.create
    with create(model="default", messages=[USER], tools=[TOOL], stream=True) as stream:
        deltas = [piece.choices[0].delta for piece in stream]
    calls = [call for delta in deltas for call in delta.tool_calls or ()]
    assert (calls[0].function.name, calls[0].index) == ("calculator", 0)
    assert json.loads("".join(call.function.arguments for call in calls)) == {
        "formula": "12 * (3 - 1)"
    }


def test_the_limit_of_an_answer(make, client_of):
    create = client_of(make()).chat.completions.create
    for name in ("max_tokens", "max_completion_tokens"):
        answer = create(model="default", messages=[USER], **{name: 2})
        assert answer.choices[0].finish_reason == "length"
        assert len(answer.choices[0].message.content) == 8
        assert answer.usage.completion_tokens == 2


def test_the_names_of_the_older_headers(make, client_of):
    double = make()
    older = {"X-Rft-Job-Arn": JOB, "X-Trajectory-Id": "r", "X-Span-Id": "span-1"}
    nothing = dict.fromkeys(HEADERS, openai.omit)
    client = client_of(double).with_options(default_headers=older | nothing)
    client.chat.completions.create(model="default", messages=[USER])
    assert double.trajectory(JOB, "r").turns[0].span_id == "span-1"


def test_a_refusal_is_one_of_openais_errors(make, client_of):
    client = client_of(make(), max_retries=0)
    with pytest.raises(openai.BadRequestError) as refused:
        client.chat.completions.create(model="default", messages=[USER], n=2)
    assert (refused.value.code, refused.value.param) == ("ValidationException", "n")
    nobody = client.with_options(default_headers={"X-Amzn-SageMaker-Trajectory-Id": "nobody"})
    with pytest.raises(openai.NotFoundError):
        nobody.chat.completions.create(model="default", messages=[USER])
    with pytest.raises(openai.PermissionDeniedError):
        client.with_options(api_key="sk-1").chat.completions.create(model="m", messages=[USER])


def test_openais_retries_get_through_the_faults(make, client_of, monkeypatch):
    monkeypatch.setattr("openai._base_client.INITIAL_RETRY_DELAY", 0.001)
    double = make(faults=FaultPlan.parse("dropped_before=0.5,error=0.5,retry_after=0"))
    client = client_of(double, max_retries=2)
    for _ in range(5):
        client.chat.completions.create(model="default", messages=[USER])
    assert len(double.trajectory(JOB, "r").turns) == 5
    assert sum(double.trajectories.counts()["faults"].values()) == 10
