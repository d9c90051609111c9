"""Tokens are kept as the engine gave them, or not at all; streams come to their completion."""

import pytest

from reward_functions.rollouts.record.completion import (
    Assembly,
    TokenCapture,
    chunks_of,
    require_completion,
)
from reward_functions.rollouts.record.relay.wire import Malformed, read_object
from tests.rollouts.record.relay.engines import completion, message_of


def captured(choice, head=None, counted=None):
    tokens = TokenCapture()
    tokens.add({"choices": [choice], **(head or {})})
    return tokens.captured(counted)


def items(*values):
    return {"content": [{"token": "t", "logprob": value} for value in values]}


KEPT = [
    # what a choice holds, ids, log-probabilities
    ({"token_ids": [1, 2], "logprobs": items(-0.5, 0)}, (1, 2), (-0.5, 0.0)),
    ({"token_ids": [1], "logprobs": items(-9999.0)}, (1,), (-9999.0,)),  # vLLM's for minus infinity
    ({"token_ids": [1, 2]}, (1, 2), None),
    ({"token_ids": [], "logprobs": items()}, (), ()),
    ({"token_ids": [1, 2], "logprobs": items(-0.5, None)}, (1, 2), None),
    ({"token_ids": [1, 2], "logprobs": items(-0.5, "x")}, (1, 2), None),
    ({"token_ids": [1, 2], "logprobs": items(-0.5, True)}, (1, 2), None),
    ({"meta_info": {"output_token_logprobs": [[-0.5, 7, "a"], [-1, 8, None]]}}, (7, 8), (-0.5, -1)),
]


@pytest.mark.parametrize(("choice", "ids", "logprobs"), KEPT)
def test_tokens_are_kept_as_they_came(choice, ids, logprobs):
    trace, reason = captured(choice)
    assert (trace.completion_ids, trace.logprobs) == (ids, logprobs)
    assert bool(reason) == (logprobs is None and "logprobs" in choice)


NOT_KEPT = [
    ({}, None, ""),
    ({"logprobs": items(-0.5)}, None, "log-probabilities came without ids"),
    ({"token_ids": [1, None]}, None, "one of the ids is null or not valid"),
    ({"token_ids": [1, -1]}, None, "one of the ids is null or not valid"),
    ({"token_ids": [1, True]}, None, "one of the ids is null or not valid"),
    ({"token_ids": [1, 2], "logprobs": items(-0.5)}, None, "misaligned: 1 log-prob"),
    ({"token_ids": [1], "logprobs": items(-0.5, -0.5)}, None, "misaligned: 2 log-prob"),
    ({"token_ids": [1, 2], "logprobs": items(-0.5, -0.5)}, 3, "misaligned: 2 ids for 3"),
    ({"meta_info": {"output_token_logprobs": [[-0.5]]}}, None, "null or not valid"),
]


@pytest.mark.parametrize(("choice", "counted", "reason"), NOT_KEPT)
def test_nothing_is_kept_of_tokens_that_do_not_belong_together(choice, counted, reason):
    found = captured(choice, counted=counted)
    assert found.trace is None
    assert reason in found.reason
    assert bool(reason) == bool(found.reason)


def test_the_prompt_is_read_where_each_engine_writes_it():
    assert captured({}, {"prompt_token_ids": [5]}).trace.prompt_ids == (5,)
    assert captured({"prompt_token_ids": [6]}).trace.prompt_ids == (6,)
    assert captured({}, {"prompt_token_ids": [5, None]}).trace is None


def call(index=None, **fields):
    function = {name: fields.pop(name) for name in ("name", "arguments") if name in fields}
    found = fields | {"function": function}
    return found if index is None else {"index": index} | found


MERGED = [
    # deltas of tool calls, the calls that they come to
    (
        [
            call(0, id="a", name="f", arguments=""),
            call(0, arguments='{"x"'),
            call(0, arguments=": 1}"),
        ],
        [("a", "f", '{"x": 1}')],
    ),
    (
        [
            call(0, id="a", name="f"),
            call(1, id="b", name="g"),
            call(0, arguments="1"),
            call(1, arguments="2"),
        ],
        [("a", "f", "1"), ("b", "g", "2")],
    ),
    ([call(1, id="b", name="g"), call(0, id="a", name="f")], [("a", "f", ""), ("b", "g", "")]),
    ([call(0, id="a", name="f"), call(0, id="a", name="f", arguments="1")], [("a", "f", "1")]),
    ([call(0, id="a", name="fe"), call(0, name="tch")], [("a", "fetch", "")]),
    (
        [call(id="a", name="f"), call(arguments="1"), call(id="b", name="g")],
        [("a", "f", "1"), ("b", "g", "")],
    ),
]


@pytest.mark.parametrize(("deltas", "calls"), MERGED)
def test_pieces_of_tool_calls_are_merged(deltas, calls):
    assembly = Assembly(strict=True)
    for delta in deltas:
        assembly.add({"choices": [{"index": 0, "delta": {"tool_calls": [delta]}}]})
    assembly.add({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]})
    message = assembly.completion()["choices"][0]["message"]
    assert [
        (each["id"], each["function"]["name"], each["function"]["arguments"])
        for each in message["tool_calls"]
    ] == calls


def said_again(**later):
    """A choice whose chunk says all, and whose last chunk says something of it again."""
    call = {"index": 0, "id": "a", "type": "function", "function": {"name": "f"}}
    delta = {"role": "assistant", "tool_calls": [call]}
    first = {"index": 0, "delta": delta, "finish_reason": "stop", "stop_reason": "</s>"}
    usage = {"completion_tokens": 2}
    assembly = Assembly(strict=True)
    assembly.add({"choices": [first], "model": "m", "usage": usage})
    head = {name: later.pop(name) for name in ("model", "usage") if name in later}
    assembly.add(head | {"choices": [{"index": 0, "delta": {}} | later]})
    return assembly.completion()


@pytest.mark.parametrize(
    "later",
    [
        {},
        {"usage": {}, "model": ""},
        {"usage": False},
        {"finish_reason": ""},
        {"finish_reason": 0},
        {"finish_reason": []},
        {"finish_reason": 7},
        {"finish_reason": "stop", "stop_reason": "</s>"},
        {"stop_reason": ""},
        {"delta": {"role": 10**12}},
        {"delta": {"role": []}},
        {"delta": {"role": "assistant", "tool_calls": [{"index": 0, "type": []}]}},
    ],
)
def test_what_a_stream_repeats_or_leaves_empty_changes_nothing(later):
    assert said_again(**later) == said_again()


@pytest.mark.parametrize("stopped", ["###", 13, 0])
def test_what_an_engine_stopped_at_is_a_text_or_a_token(stopped):
    (choice,) = said_again(stop_reason=stopped)["choices"]
    assert choice["stop_reason"] == stopped


BROKEN = [
    {},
    {"choices": None},
    {"choices": [{"index": 1, "delta": {}}]},
    {"choices": [{"index": 0, "delta": {}}, {"index": 1, "delta": {}}]},
    {"choices": [{"index": 0, "delta": "x"}]},
    {"choices": [{"index": 0, "delta": {"content": 1}}]},
    {"choices": [{"index": 0, "delta": {"tool_calls": {"x": 1}}}]},
    {"choices": [{"index": 0, "delta": {"tool_calls": [{"index": 10**9}]}}]},
    {"choices": [{"index": 0, "delta": {"tool_calls": [{"index": 0, "function": "f"}]}}]},
]


@pytest.mark.parametrize("choice", [{}, {"delta": None}, {"index": 0}, {"delta": {}}])
def test_a_choice_that_says_nothing_adds_nothing(choice):
    assembly = Assembly(strict=True)
    assembly.add({"choices": [{"index": 0, "delta": {"content": "42"}, "finish_reason": "stop"}]})
    before = assembly.completion()
    assembly.add({"choices": [choice]})
    assert assembly.completion() == before


@pytest.mark.parametrize("chunk", BROKEN)
def test_a_chunk_that_is_none_is_refused(chunk):
    with pytest.raises(Malformed):
        Assembly(strict=True).add(chunk)


@pytest.mark.parametrize(
    "reply",
    [
        {"choices": []},
        {"choices": [{"message": None}]},
        {"choices": [{"message": {"content": 1}}]},
        {"choices": [{"message": {"content": "x"}}] * 2},
        {"choices": [{"message": {"tool_calls": [{"function": {"name": 1}}]}}]},
        {"choices": [{"message": {"tool_calls": [{"function": {"name": "f", "arguments": {}}}]}}]}
        | {"choices": [{"message": {"tool_calls": "x"}}]},
    ],
)
def test_a_reply_that_is_no_completion_is_refused(reply):
    with pytest.raises(Malformed):
        require_completion(reply)


def test_a_stream_that_ends_early_is_no_completion():
    assembly = Assembly(strict=True)
    assembly.add({"choices": [{"index": 0, "delta": {"content": "half"}}]})
    with pytest.raises(Malformed, match="before the answer did"):
        assembly.completion()


@pytest.mark.parametrize("text", ["hello", "tool"])
def test_a_whole_completion_streams_to_itself(text):
    assembly = Assembly(strict=True)
    for chunk in chunks_of(completion(text)):
        assembly.add(chunk)
    (choice,) = assembly.completion()["choices"]
    assert (choice["message"], choice["finish_reason"]) == message_of(text)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"[]",
        b"\xff",
        b'{"a": NaN}',
        b'{"a": 1',
        b'{"a":' * 500 + b"1" + b"}" * 500,
        b"[" * 10**6,
    ],
)
def test_hostile_json_is_refused(content):
    with pytest.raises(Malformed):
        read_object(content)


def test_json_of_many_openings_is_read_where_it_is_not_deep():
    assert read_object(b'{"a": [' + b"[]," * 300 + b'"' + b"{" * 300 + b'"]}')
