"""The calls of tools of a message, over every wire: `core.function_calls`."""

import json
from dataclasses import replace
from types import SimpleNamespace as Fields

import pytest

from reward_functions.adapters._scoring import sample_of
from reward_functions.adapters._single import calls_of, last_calls, messages_of, sampled
from reward_functions.core.batch import score_batch
from reward_functions.core.function_calls import UNREADABLE, calls_in, turn_of
from reward_functions.core.registry import get
from reward_functions.core.types import FunctionCall, Message, Sample, Scored, sample
from reward_functions.data.rows.shapes import BY_NAME, canonical
from reward_functions.judge_runtime.material import shown_response
from reward_functions.judge_runtime.prefilter import prefilter
from reward_functions.reports.score_report.digest import EMPTY, facts_of
from reward_functions.serving.contract import decode, decode_row
from reward_functions.serving.handler import bind
from reward_functions.serving.settings import LambdaSettings

ARGUMENTS = {"city": "Bern", "days": 3}
TEXT = json.dumps(ARGUMENTS)
CALL = FunctionCall("weather", TEXT)
OPENAI = {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": TEXT}}
OBJECT = {"type": "function", "function": {"name": "weather", "arguments": ARGUMENTS}}
FLAT = {"id": "c1", "name": "weather", "arguments": TEXT}
CONVERSE = {"toolUse": {"toolUseId": "t1", "name": "weather", "input": ARGUMENTS}}
ANTHROPIC = {"type": "tool_use", "id": "t1", "name": "weather", "input": ARGUMENTS}
USER = {"role": "user", "content": "How is the weather in Bern?"}

TURNS = {
    "OpenAI": {"content": None, "tool_calls": [OPENAI]},
    "Bedrock RFT, no content": {"tool_calls": [OPENAI]},
    "TRL": {"content": "", "tool_calls": [OBJECT]},
    "verifiers": {"content": None, "tool_calls": [FLAT]},
    "Converse": {"content": [CONVERSE]},
    "Converse, text": {"content": [{"text": "I look."}, CONVERSE]},
    "Anthropic": {"content": [{"type": "text", "text": "I look."}, ANTHROPIC]},
}


def row(turn, **fields):
    turns = [USER, {"role": "assistant", **turn}]
    return {"id": "a", "messages": turns, "reference_answer": "x", **fields}


@pytest.mark.parametrize("turn", TURNS.values(), ids=TURNS)
def test_a_call_is_read_from_every_wire(turn):
    expected = (CALL,)
    for event in ([row(turn)], {"body": json.dumps([row(turn)])}, {"batch": [row(turn)]}):
        (read,) = decode(event)
        assert read.tool_calls == expected
        assert all(not each.tool_calls for each in read.context)
    assert sample_of("a", [{"role": "assistant", **turn}], "x", "q", {}).tool_calls == expected


@pytest.mark.parametrize(
    "calls",
    ["", 0, {}, [], None, False],
)
def test_no_calls_are_none(calls):
    assert calls_in({"content": "42", "tool_calls": calls}) == ()


@pytest.mark.parametrize(
    "calls",
    [
        "[]",
        5,
        {"name": "weather"},
        [None],
        ["weather"],
        [{}],
        [{"function": None}],
        [{"function": "weather"}],
        [{"function": {"arguments": "{}"}}],
        [{"function": {"name": 5, "arguments": "{}"}}],
        [{"function": {"name": "f", "arguments": {"x": float("nan")}}}],
        [{"function": {"name": "f", "arguments": {"x": {1, 2}}}}],
        [{"function": {"name": "f", "arguments": {"x": 10**5000}}}],
    ],
)
def test_a_malformed_call_is_a_call_and_harms_no_neighbour(calls):
    broken = row({"content": None, "tool_calls": calls}, id="b")
    read = decode([row({"content": "x"}), broken, row({"content": "x"}, id="c")])
    assert [each.id for each in read] == ["a", "b", "c"]
    assert read[1].tool_calls == (UNREADABLE,)
    results = score_batch(get("exact_match").bind({}), read)
    assert [each.score.value for each in results if isinstance(each, Scored)] == [1.0, 0.0, 1.0]


def test_a_deep_call_is_unreadable():
    deep: dict = {}
    for _ in range(100_000):
        deep = {"x": deep}
    assert calls_in({"tool_calls": [{"function": {"name": "f", "arguments": deep}}]}) == (
        UNREADABLE,
    )


def test_calls_are_written_back_where_there_are_any():
    assert turn_of(Message("user", "x")) == {"role": "user", "content": "x"}
    written = turn_of(Message("assistant", "", (CALL,)))
    assert calls_in(written) == (CALL,)
    assert decode_row(row(written), 0).tool_calls == (CALL,)


def test_an_answer_in_the_place_of_another_has_its_calls_no_more():
    one = decode_row(row(TURNS["OpenAI"]), 0)
    assert one.answered("42").tool_calls == ()
    assert sample("42").tool_calls == ()
    assert Sample(id="a", messages=one.context).tool_calls == ()


def test_the_calls_of_a_context_tell_groups_apart():
    turn = {"role": "assistant", "content": "", "tool_calls": [OPENAI]}
    other = {**turn, "tool_calls": [OPENAI, OPENAI]}
    tail = [{"role": "tool", "content": "sunny"}, {"role": "assistant", "content": "It is."}]
    rows = [{"id": "a", "messages": [USER, each, *tail]} for each in (turn, turn, other)]
    one, same, different = decode(rows)
    assert one.context == same.context
    assert hash(one.context) == hash(same.context)
    assert one.context != different.context


def test_hosts_own_objects():
    verifiers = Fields(role="assistant", content=None, tool_calls=[Fields(**FLAT)])
    inspect = Fields(function="weather", arguments=ARGUMENTS, id="c")
    sdk = Fields(function=Fields(name="weather", arguments=TEXT))
    turns = messages_of([USER, verifiers])
    assert last_calls(turns) == (CALL,)
    assert last_calls(turns[:1]) == ()
    for call in (inspect, sdk, OPENAI):
        assert calls_of(Fields(role="assistant", content="", tool_calls=[call])) == (CALL,)
    assert calls_of(Fields(role="assistant", content="", tool_calls=[Fields(x=1)])) == (UNREADABLE,)
    assert sampled("a", turns[:1], None, "x", {}, calls=(CALL,)).tool_calls == (CALL,)


RESPONSES = [
    {"type": "reasoning", "summary": []},
    {
        "type": "message",
        "role": "assistant",
        "content": [{"type": "output_text", "text": "I look."}],
    },
    {"type": "function_call", "call_id": "c1", "name": "weather", "arguments": TEXT},
]


@pytest.mark.parametrize("items", [RESPONSES, RESPONSES[::2]], ids=["with text", "calls alone"])
def test_items_of_openais_responses(items):
    columns = BY_NAME["trl"].columns._replace(prompt=("q",), response=("out",), needed=())
    (one,) = canonical({"q": "?", "out": items}, columns)
    assert decode_row(one, 0).tool_calls == (CALL,)


@pytest.mark.parametrize("mode", ["list", "envelope"])
def test_a_function_scores_the_calls_of_every_wire(mode, tmp_path):
    file = tmp_path / "tools.json"
    file.write_text(json.dumps([{"type": "function", "function": {"name": "weather"}}]))
    settings = LambdaSettings(
        name="tool_calls", parameters={"tools": str(file)}, response_mode=mode
    )
    gold = {"tool_calls": [{"name": "weather", "arguments": ARGUMENTS}]}
    wrong = {"content": "", "tool_calls": "junk"}, {"content": ""}, {"content": "It is sunny."}
    rows = [
        row(turn, id=str(at), reference_answer=gold)
        for at, turn in enumerate([*TURNS.values(), *wrong])
    ]
    answered = bind(settings)(rows)
    results = answered if mode == "list" else json.loads(answered["body"])
    values = [each["aggregate_reward_score"] for each in results]
    assert values == [1.0] * len(TURNS) + [0.0] * len(wrong)


def test_a_row_with_a_call_holds_a_response():
    exact = get("exact_match")
    for turn, signs in ((TURNS["OpenAI"], 0), ({"content": " "}, EMPTY)):
        one = decode_row(row(turn), 0)
        assert facts_of(exact, one, score_batch(exact.bind({}), [one])[0]).signs == signs


def test_a_call_is_no_empty_response():
    spoken = decode_row(row(TURNS["OpenAI"]), 0)
    assert not prefilter(spoken)
    assert '"weather"' in shown_response(spoken)
    assert prefilter(replace(spoken, messages=spoken.context)) == "the response is empty"
    unreadable = decode_row(row({"content": "", "tool_calls": ["x"]}), 0)
    assert prefilter(unreadable) == "nothing is answered"
    assert shown_response(sample("42")) == "42"
    (result,) = score_batch(get("exact_match").bind({}), [spoken])
    assert result.score.reason == "the response has no text"
