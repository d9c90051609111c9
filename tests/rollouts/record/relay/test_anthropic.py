"""Anthropic's Messages become chat completions and back, and what cannot is refused."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reward_functions.rollouts.record.completion import Assembly, chunks_of
from reward_functions.rollouts.record.relay.anthropic import MessageEvents, to_anthropic, to_openai
from reward_functions.rollouts.record.relay.wire import Malformed
from tests.rollouts.record.relay.engines import chunks, completion


def asked(*messages, **more):
    return to_openai({"model": "m", "max_tokens": 9, "messages": list(messages), **more})


def text(words, **more):
    return {"type": "text", "text": words, **more}


USE = {"type": "tool_use", "id": "t1", "name": "add", "input": {"a": 1}}
CALL = {"id": "t1", "type": "function", "function": {"name": "add", "arguments": '{"a":1}'}}
IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AA=="}}
PART = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}

MESSAGES = [
    # Anthropic's message, OpenAI's messages. Source: Anthropic's API reference, "Messages".
    ({"role": "user", "content": "hi"}, [{"role": "user", "content": "hi"}]),
    (
        {"role": "user", "content": [text("a", cache_control={"type": "ephemeral"}), text("b")]},
        [{"role": "user", "content": "a\nb"}],
    ),
    (
        {"role": "assistant", "content": [text("so"), USE]},
        [{"role": "assistant", "content": "so", "tool_calls": [CALL]}],
    ),
    (
        {"role": "assistant", "content": [USE | {"input": {"__arguments__": "{not"}}]},
        [
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [CALL | {"function": {"name": "add", "arguments": "{not"}}],
            }
        ],
    ),
    (
        {"role": "assistant", "content": [{"type": "thinking", "thinking": "hm", "signature": ""}]},
        [{"role": "assistant", "content": None, "reasoning_content": "hm"}],
    ),
    (
        {
            "role": "user",
            "content": [
                text("next"),
                {"type": "tool_result", "tool_use_id": "t1", "content": [text("3")]},
                {"type": "tool_result", "tool_use_id": "t2", "is_error": True},
            ],
        },
        [
            {"role": "tool", "tool_call_id": "t1", "content": "3"},
            {"role": "tool", "tool_call_id": "t2", "content": ""},
            {"role": "user", "content": "next"},
        ],
    ),
    (
        {"role": "user", "content": [text("see"), IMAGE]},
        [{"role": "user", "content": [text("see"), PART]}],
    ),
]


@pytest.mark.parametrize(("message", "expected"), MESSAGES)
def test_a_message_is_translated(message, expected):
    assert asked(message)["messages"] == expected


FIELDS = [
    # a field of Anthropic's, fields of OpenAI's
    ({"stop_sequences": ["\n"]}, {"stop": ["\n"]}),
    ({"temperature": 0.0, "top_p": 0.9, "top_k": 5, "stream": True}, None),
    ({"metadata": {"user_id": "u"}, "thinking": {"type": "enabled", "budget_tokens": 9}}, {}),
    ({"tool_choice": {"type": "any"}}, {"tool_choice": "required"}),
    (
        {"tool_choice": {"type": "auto", "disable_parallel_tool_use": True}},
        {"tool_choice": "auto", "parallel_tool_calls": False},
    ),
    (
        {"tool_choice": {"type": "tool", "name": "add"}},
        {"tool_choice": {"type": "function", "function": {"name": "add"}}},
    ),
    (
        {"tools": [{"name": "add", "description": "d", "input_schema": {"type": "object"}}]},
        {
            "tools": [
                {
                    "type": "function",
                    "function": {
                        "name": "add",
                        "description": "d",
                        "parameters": {"type": "object"},
                    },
                }
            ]
        },
    ),
]


@pytest.mark.parametrize(("given_fields", "expected"), FIELDS)
def test_a_field_is_translated(given_fields, expected):
    found = asked({"role": "user", "content": "x"}, **given_fields)
    rest = {name: found[name] for name in found.keys() - {"model", "max_tokens", "messages"}}
    assert rest == (given_fields if expected is None else expected)


def test_the_system_prompt_stands_first():
    found = asked({"role": "user", "content": "x"}, system=[text("be"), text("brief")])
    assert found["messages"][0] == {"role": "system", "content": "be\nbrief"}


REFUSED = [
    {"messages": "x"},
    {"messages": [{"role": "tool", "content": "x"}]},
    {"messages": [{"role": "user", "content": 1}]},
    {"messages": [{"role": "user", "content": [{"type": "document"}]}]},
    {"messages": [{"role": "user", "content": [{"type": ["x"]}]}]},
    {"messages": [{"role": "user", "content": [{"type": "image", "source": {"type": "file"}}]}]},
    {"messages": [{"role": "assistant", "content": [USE | {"input": "x"}]}]},
    {"messages": [], "tools": [{"type": "web_search_20250305", "name": "web_search"}]},
    {"messages": [], "tools": {}} | {"tools": "x"},
    {"messages": [], "tool_choice": {"type": "mine"}},
    {"messages": [], "system": [{"type": "image"}]},
]


@pytest.mark.parametrize("body", REFUSED)
def test_what_the_engine_cannot_have_is_refused(body):
    with pytest.raises(Malformed):
        to_openai(body)


STOPS = [
    ({"finish_reason": "stop"}, "end_turn", None),
    ({"finish_reason": "length"}, "max_tokens", None),
    ({"finish_reason": "content_filter"}, "refusal", None),
    ({"finish_reason": "stop", "stop_reason": "END"}, "stop_sequence", "END"),
    ({"finish_reason": "stop", "stop_reason": 151645}, "end_turn", None),
    ({"finish_reason": None}, "end_turn", None),
]


@pytest.mark.parametrize(("choice", "reason", "sequence"), STOPS)
def test_a_stop_reason_is_translated(choice, reason, sequence):
    found = to_anthropic({"choices": [{"message": {"content": "x"}} | choice]}, thinking=False)
    assert (found["stop_reason"], found["stop_sequence"]) == (reason, sequence)


def test_reasoning_is_shown_to_who_asked():
    reply = {"choices": [{"message": {"content": "x", "reasoning_content": "hm"}}]}
    thought = {"type": "thinking", "thinking": "hm", "signature": ""}
    assert to_anthropic(reply, thinking=True)["content"] == [thought, text("x")]
    assert to_anthropic(reply, thinking=False)["content"] == [text("x")]


def assembled(stream):
    """The message that a client of Anthropic's API makes of events."""
    blocks, inputs, stop, usage = [], {}, None, {}
    for part in stream.decode().split("\n\n")[:-1]:
        name, data = part.split("\n", 1)
        each = json.loads(data.removeprefix("data: "))
        assert name == f"event: {each['type']}"
        if each["type"] == "content_block_start":
            assert each["index"] == len(blocks)
            blocks.append(each["content_block"])
        elif each["type"] == "content_block_delta":
            delta = each["delta"]
            kind = delta["type"].removesuffix("_delta")
            if kind == "input_json":
                inputs[each["index"]] = inputs.get(each["index"], "") + delta["partial_json"]
            else:
                blocks[each["index"]][kind] += delta[kind]
        elif each["type"] == "message_delta":
            stop, usage = each["delta"]["stop_reason"], each["usage"]
    for index, written in inputs.items():
        blocks[index]["input"] = json.loads(written)
    return blocks, stop, usage


@pytest.mark.parametrize("words", ["hello", "a tool"])
@pytest.mark.parametrize("whole", [True, False], ids=["from a whole", "from a stream"])
def test_events_come_to_the_whole_message(words, whole):
    answer = completion(words)
    events, assembly = MessageEvents(thinking=False), Assembly(strict=True)
    stream = b""
    for chunk in chunks_of(answer) if whole else chunks(words):
        assembly.add(chunk)
        stream += events.chunk(chunk)
    stream += events.end(assembly.completion())
    expected = to_anthropic(answer, thinking=False)
    assert assembled(stream) == (expected["content"], expected["stop_reason"], expected["usage"])


WORDS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=5,
)
CALLS = st.builds(
    lambda identity, name, arguments: {
        "id": identity,
        "type": "function",
        "function": {"name": name, "arguments": arguments},
    },
    WORDS,
    WORDS,
    st.dictionaries(WORDS, VALUES, max_size=3).map(
        lambda value: json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    )
    | st.sampled_from(["{not", "[1]", "1"]),
)


@given(WORDS | st.none(), WORDS | st.none(), st.lists(CALLS, max_size=3))
def test_an_answer_that_is_echoed_is_what_the_policy_wrote(content, thought, calls):
    message = {"role": "assistant", "content": content}
    message |= {"reasoning_content": thought} if thought else {}
    message |= {"tool_calls": calls} if calls else {}
    reply = {"choices": [{"message": message, "finish_reason": "stop"}]}
    blocks = to_anthropic(reply, thinking=True)["content"]
    assert asked({"role": "assistant", "content": blocks})["messages"] == [message]
