"""An answer as one chat completion: of JSON, of a stream's pieces, and of neither."""

import json
import random

import pytest

from reward_functions.rollouts.policy import answers
from reward_functions.rollouts.policy.answers import (
    Answer,
    UnreadableAnswer,
    as_events,
    completion_of,
    joined,
)
from reward_functions.rollouts.policy.calls import PolicyCall
from tests.rollouts.crossing import episode, turns

CALLS = [
    {"id": "a", "type": "function", "function": {"name": "f", "arguments": '{"x": 1}'}},
    {"id": "b", "type": "function", "function": {"name": "g", "arguments": "{}"}},
]


def delta(**fields):
    return {"id": "c", "model": "m", "choices": [{"index": 0, "delta": fields}]}


def call(index, **function):
    more = {"id": function.pop("id"), "type": "function"} if "id" in function else {}
    return {"index": index, "function": function} | more


def end(reason, **more):
    return {"choices": [{"index": 0, "delta": {}, "finish_reason": reason} | more]}


JOINED = {
    "text": (
        [delta(role="assistant", content="4"), delta(content="2"), end("stop")],
        {"role": "assistant", "content": "42"},
    ),
    "two calls, their arguments in turns": (
        [
            delta(tool_calls=[call(0, id="a", name="f", arguments='{"x"')]),
            delta(tool_calls=[call(1, id="b", name="g", arguments="{")]),
            delta(tool_calls=[call(0, arguments=": 1}"), call(1, arguments="}")]),
            end("tool_calls"),
        ],
        {"role": "assistant", "content": None, "tool_calls": CALLS},
    ),
    "reasoning": (  # vLLM, SGLang
        [delta(reasoning_content="2*"), delta(reasoning_content="21"), delta(content="42")],
        {"role": "assistant", "content": "42", "reasoning_content": "2*21"},
    ),
    "pieces that are none": (
        [delta(content="42"), {"choices": None}, {"choices": [7, {"delta": 7}]}, end("stop")],
        {"role": "assistant", "content": "42"},
    ),
}


@pytest.mark.parametrize("name", JOINED)
def test_pieces_of_a_stream_are_one_message(name):
    events, message = JOINED[name]
    assert joined(events)["choices"][0]["message"] == message


def test_ids_and_log_probabilities_of_all_chunks_are_one_list():
    """As vLLM streams them: `token_ids` beside `delta`, `prompt_token_ids` in the first chunk."""
    first = {"prompt_token_ids": [1, 2]}
    chunks = [
        first | {"choices": [{"index": 0, "delta": {"content": "4"}, "token_ids": [7]}]},
        {
            "choices": [
                {
                    "index": 0,
                    "delta": {"content": "2"},
                    "token_ids": [8],
                    "logprobs": {"content": [{"token": "2", "logprob": -0.5}]},
                }
            ]
        },
        {"choices": [], "usage": {"completion_tokens": 2}},
    ]
    whole = joined(chunks)
    [choice] = whole["choices"]
    assert (whole["prompt_token_ids"], choice["token_ids"]) == ([1, 2], [7, 8])
    assert choice["logprobs"] == {"content": [{"token": "2", "logprob": -0.5}]}
    assert whole["usage"] == {"completion_tokens": 2}


def completion(message, reason="stop"):
    choice = {"index": 0, "finish_reason": reason, "message": message}
    return {"id": "c", "object": "chat.completion", "choices": [choice], "usage": {"x": 1}}


@pytest.mark.parametrize(
    "whole",
    [
        completion({"role": "assistant", "content": "4\n\n2 é"}),
        completion({"role": "assistant", "content": None, "tool_calls": CALLS}, "tool_calls"),
    ],
    ids=["text", "calls"],
)
def test_a_completion_as_a_stream_is_the_same_completion(whole):
    assert completion_of(as_events(whole), streamed=True) == whole


UNREADABLE = {
    "empty": b"",
    "no JSON": b"oops",
    "no object": b"[]",
    "no choices": b"{}",
    "no message": b'{"choices": [{}]}',
    "choices of another kind": b'{"choices": {"0": 1}}',
    "too deep": b"[" * 100_000,
    "no text": b"\xff\xfe",
}


@pytest.mark.parametrize(
    ("name", "streamed"),
    [
        (name, streamed)
        for name in UNREADABLE
        for streamed in (False, True)
        if (name, streamed) != ("no message", True)  # a chunk may have no piece of it
    ],
)
def test_what_is_no_completion_is_recorded_as_such_and_is_a_turn(name, streamed):
    body = UNREADABLE[name]
    with pytest.raises(UnreadableAnswer):
        completion_of(body, streamed=False)
    with episode() as one:
        made = PolicyCall(one, {"messages": []})
    made.answering()
    answer = Answer(made, "text/event-stream; charset=utf-8" if streamed else "application/json")
    answer.read(b"data: " + body + b"\n\n" if streamed else body)
    answer.end()
    answer.end()
    assert (one.turns, turns(one)) == (1, [(None, "UnreadableAnswer")])


def test_of_a_huge_answer_nothing_is_kept(monkeypatch):
    monkeypatch.setattr(answers, "LARGEST", 10)
    with episode() as one:
        answer = Answer(PolicyCall(one, {"messages": []}), "application/json")
    for _ in range(5):
        answer.read(b"12345")
    assert len(answer._kept) <= 10
    answer.end()
    assert turns(one) == [(None, "UnreadableAnswer")]


def test_a_stream_that_broke_off_is_what_was_whole():
    body = as_events(completion({"role": "assistant", "content": "42"}))
    cut = body[: body.index(b"data: ", 10) + 20]
    assert completion_of(cut, streamed=True)["choices"][0]["message"]["content"] == "42"


def test_bytes_of_anything_are_read_or_refused():
    numbers = random.Random(19)
    alphabet = [b"data: ", b"\n\n", b"{", b"}", b'"choices"', b":", b"[", b"]", b'"delta"', b"1"]
    for _ in range(500):
        body = b"".join(numbers.choices(alphabet, k=20))
        try:
            completion_of(body, streamed=numbers.random() < 0.5)
        except UnreadableAnswer:
            continue


def called(*pieces):
    """The tool calls of a stream with these pieces of them, as (id, name, arguments)."""
    message = joined([*(delta(tool_calls=[piece]) for piece in pieces), end("tool_calls")])
    calls = message["choices"][0]["message"]["tool_calls"]
    return [(each["id"], *each["function"].values()) for each in calls]


def piece(id=None, name=None, arguments="", **more):
    return {"id": id, "function": {"name": name, "arguments": arguments}} | more


@pytest.mark.parametrize(
    ("pieces", "calls"),
    [
        (
            [piece("a", "add", "{}"), piece("b", "sub", "{}")],
            [("a", "add", "{}"), ("b", "sub", "{}")],
        ),
        (
            [piece("a", "add", '{"x"', index=0), piece("a", "add", ":1}", index=0)],
            [("a", "add", '{"x":1}')],
        ),
        (
            [piece("a", "multi", "{", index=0), piece(None, "ply", "}", index=0)],
            [("a", "multiply", "{}")],
        ),
        (
            [
                piece("b", "sub", "{", index=1),
                piece("a", "add", "{}", index=0),
                piece("b", None, "}", index=1),
            ],
            [("a", "add", "{}"), ("b", "sub", "{}")],
        ),
    ],
    ids=["no index", "a name in each chunk", "a name in pieces", "two calls in turns"],
)
def test_the_calls_of_a_stream_stay_apart(pieces, calls):
    assert called(*pieces) == calls


@pytest.mark.parametrize("id", [[], {}, 1, True, None, "\ud800"])
def test_an_id_that_is_no_text_harms_nothing(id):
    assert len(called(piece(id, "add", "{}"))) == 1


def test_a_message_is_json_again():
    json.dumps(joined([delta(content="42"), end("stop")]))
