"""What a hostile agent, engine or disk can send a relay: refused or marked, within bounds."""

import gzip
import json
import socket
from copy import deepcopy
from itertools import chain
from urllib.parse import urlsplit

import pytest

from reward_functions.rollouts.record import jsonl
from reward_functions.rollouts.record.relay.anthropic_requests import tool_arguments, tool_input
from reward_functions.rollouts.record.relay.bounded_json import Malformed, read_object, written
from reward_functions.rollouts.record.relay.calls import GONE
from reward_functions.rollouts.record.relay.capture import TokenCapture
from reward_functions.rollouts.record.relay.completions import (
    LONGEST_NAME,
    MOST_CALLS,
    Assembly,
    require_completion,
)
from reward_functions.rollouts.record.relay.dialects import Anthropic, OpenAI
from reward_functions.rollouts.record.relay.engine import ENGINES
from reward_functions.rollouts.record.relay.record import Record
from reward_functions.rollouts.record.relay.requests import to_engine
from reward_functions.rollouts.record.relay.sessions import Limits, Sessions
from reward_functions.rollouts.relay import Relay
from reward_functions.rollouts.request.errors import BadRequest
from reward_functions.rollouts.request.headers import JOB_HEADER
from tests.rollouts.record.relay.engines import Engine, completion
from tests.rollouts.record.relay.load import Caller

ODD = [
    *(None, True, 0, -1, 1.5, 1e308, 10**30, "", "x", "\ud800"),
    *([], [1], [[]], [None], [{}], {}, {"a": 1}),
]
"""What may stand in the place of any field."""

OPENAI = {
    "model": "m",
    "messages": [
        {"role": "system", "content": "s"},
        {"role": "user", "content": [{"type": "text", "text": "a"}]},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "c", "type": "function", "function": {"name": "f"}}],
        },
        {"role": "tool", "tool_call_id": "c", "content": "r"},
    ],
    "tools": [{"type": "function", "function": {"name": "f", "parameters": {}}}],
    "n": 1,
    "best_of": 1,
    "stream": True,
    "stream_options": {"include_usage": True},
    "stop": ["x"],
    "temperature": 1,
}
ANTHROPIC = {
    "model": "m",
    "max_tokens": 5,
    "system": [{"type": "text", "text": "s"}],
    "messages": [
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "a"},
                {"type": "image", "source": {"type": "base64", "media_type": "i", "data": "d"}},
            ],
        },
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "t"},
                {"type": "tool_use", "id": "c", "name": "f", "input": {"a": 1}},
            ],
        },
        {
            "role": "user",
            "content": [
                {
                    "type": "tool_result",
                    "tool_use_id": "c",
                    "content": [{"type": "text", "text": "r"}],
                }
            ],
        },
    ],
    "tools": [{"name": "f", "description": "d", "type": "custom", "input_schema": {}}],
    "tool_choice": {"type": "tool", "name": "f", "disable_parallel_tool_use": True},
    "thinking": {"type": "enabled"},
    "stop_sequences": ["x"],
}


def places(value, here=()):
    yield here
    if isinstance(value, dict | list):
        for name in value if isinstance(value, dict) else range(len(value)):
            yield from places(value[name], (*here, name))


def replaced(value, place, by):
    found = deepcopy(value)
    inner = found
    for name in place[:-1]:
        inner = inner[name]
    inner[place[-1]] = by
    return found


@pytest.mark.parametrize("dialect", [OpenAI, Anthropic])
def test_any_value_in_any_place_of_a_request_is_refused_or_recorded(dialect):
    body = OPENAI if dialect is OpenAI else ANTHROPIC
    record = Record()
    refused = 0
    for place in (each for each in places(body) if each):
        for odd in ODD:
            try:
                content = read_object(written(replaced(body, place, odd)))
                asked = to_engine(
                    dialect().request(content), ENGINES["vllm"], model="", sampling={}
                )
            except Malformed:
                refused += 1
                continue
            asked["messages"] = record.as_written(asked["messages"])
            number, _ = record.began(asked)
            record.answered(number, completion("tool"), TokenCapture().captured(None))
    assert refused > 100
    line = jsonl.written(record.trajectory(id="x"))
    assert len(jsonl.read(line).turns) == len(record.trajectory(id="x").turns) > 100


NUMBERS = [
    # as an engine writes a log-probability, as a line of the trajectory has it
    ("-0.30000001192092896", "-0.30000001192092896"),
    ("-1e-07", "-1e-07"),
    ("-0.0", "-0.0"),
    ("0", "0.0"),
    ("-3", "-3.0"),
    ("-9999.0", "-9999.0"),
    ("-5e-324", "-5e-324"),
    ("-2.2250738585072014e-308", "-2.2250738585072014e-308"),
    ("-1.5e299", "-1.5e+299"),
    ("-0.1", "-0.1"),
    ("-0.1000000000000000055511151231257827", "-0.1"),
    ("-1.0000000000000002", "-1.0000000000000002"),
    ("-17.25", "-17.25"),
]


@pytest.mark.parametrize(("engine", "kept"), NUMBERS)
def test_a_log_probability_is_the_engines_number_to_the_last_bit(engine, kept):
    reply = read_object(
        b'{"choices": [{"token_ids": [5], "logprobs": {"content": [{"logprob": %b}]}}]}'
        % engine.encode()
    )
    tokens = TokenCapture()
    tokens.add(reply)
    (found,) = tokens.captured(1).trace.logprobs
    assert json.dumps(found) == kept
    assert found.hex() == float(engine).hex()
    if "." in engine or "e" in engine:  # who asked for it gets the same number
        assert float(written(reply["choices"]).partition(b'"logprob":')[2].rstrip(b"}]")) == found


@pytest.mark.parametrize("number", ["1e999", "-1e400", "1" + "0" * 400 + ".0", "NaN", "-Infinity"])
def test_a_number_that_would_be_written_as_no_json_is_refused(number):
    with pytest.raises(Malformed):
        read_object(f'{{"a": [{number}]}}')


@pytest.mark.parametrize("given", [2**31, 2**63, 10**400, -1, 1.0, "1", True, None])
def test_an_id_that_no_trainer_can_keep_is_none(given):
    tokens = TokenCapture()
    tokens.add({"choices": [{"token_ids": [1, given]}]})
    trace, reason = tokens.captured(2)
    assert trace is None
    assert reason == "one of the ids is null or not valid"


@pytest.mark.parametrize("text", ["\ud83d", "a\udc00b", "✓", "\U0001f600", "\x00\x7f"])
def test_what_is_written_is_utf_8_and_the_same_text(text):
    assert json.loads(written({"a": text}).decode("utf-8")) == {"a": text}


def test_halves_of_a_letter_that_a_stream_cut_are_joined():
    assembly = Assembly()
    for half in ("\ud83d", "\ude00"):
        assembly.add({"choices": [{"delta": {"content": half}}]})
    assembly.add({"choices": [{"delta": {}, "finish_reason": "stop"}]})
    text = json.loads(written(assembly.completion()))["choices"][0]["message"]["content"]
    assert text == "\U0001f600"


ARGUMENTS = [
    *('{"a": NaN}', '{"a": 1e999}', '{"a": Infinity}', "[1]", '"x"', "1", "null", "{", ""),
    *('{"a":' * 150 + "1" + "}" * 150, '{"__arguments__": "x"}', '{"__arguments__": 1, "b": 2}'),
]


@pytest.mark.parametrize("arguments", ARGUMENTS)
def test_arguments_that_are_no_object_come_back_as_the_policy_wrote_them(arguments):
    given = tool_input(arguments)
    assert json.loads(written(given), parse_constant=pytest.fail) == given
    assert tool_arguments(given) == (arguments or "{}")


def calls(name, count=1):
    return [{"id": "c", "function": {"name": name, "arguments": "{}"}}] * count


@pytest.mark.parametrize("wrong", [calls("f" * (LONGEST_NAME + 1)), calls("f", MOST_CALLS + 1)])
def test_tool_calls_of_an_answer_are_bounded(wrong):
    with pytest.raises(Malformed):
        require_completion({"choices": [{"message": {"content": "x", "tool_calls": wrong}}]})


def test_a_name_in_pieces_without_end_is_refused():
    assembly = Assembly()
    pieces = [{"index": 0, "function": {"name": f"{at:04}"}} for at in range(LONGEST_NAME)]
    with pytest.raises(Malformed, match="name of a tool"):
        assembly.add({"choices": [{"delta": {"tool_calls": pieces}}]})


MANY = {"role": "user", "content": ""}
KEPT = [
    # what a call brings, the bytes that it is charged at least
    ({"messages": [MANY] * 5000}, 5000 * 8),
    ({"messages": [MANY], "stop": "x" * 10_000}, 10_000),
    ({"messages": [MANY], "temperature": "x" * 10_000}, 10_000),
    ({"messages": [MANY], "model": "m" * 10_000}, 10_000),
    ({"messages": [MANY], "tools": [{"a": "x" * 10_000}]}, 10_000),
]


@pytest.mark.parametrize(("asked", "least"), KEPT)
def test_whatever_a_turn_keeps_is_charged(asked, least):
    record = Record()
    record.began(asked | {"messages": asked["messages"][:1]})
    assert record.began(asked)[1] >= least or "tools" in asked
    assert Record().began(asked)[1] >= least


def test_whatever_an_answer_keeps_is_charged():
    record = Record()
    number, _ = record.began({"messages": [MANY]})
    reply = completion("x") | {"model": "m" * 10_000}
    reply["choices"][0]["finish_reason"] = "f" * 10_000
    assert record.answered(number, reply, TokenCapture().captured(None)) > 20_000


def test_results_of_many_tools_and_turns_take_no_look_at_every_turn(monkeypatch):
    record = Record()
    for at in range(200):
        number, _ = record.began({"messages": [MANY]})
        record.answered(number, completion(f"tool {at}"), TokenCapture().captured(None))
    looks = []
    monkeypatch.setattr(
        "reward_functions.rollouts.record.relay.record._with_result",
        lambda turn, identity, _: looks.append((turn.index, identity)) or turn,
    )
    results = [
        {"role": "tool", "tool_call_id": each, "content": "r"}
        for each in (*map(str, range(5000)), "call-tool 7")
    ]
    record.began({"messages": results})
    assert looks == [(7, "call-tool 7")]


def test_a_call_that_failed_is_nobodys_caller():
    record = Record()
    for text in ("tool", "tool"):
        number, _ = record.began({"messages": [MANY]})
        record.answered(number, completion(text), TokenCapture().captured(None))
    record.failed(number, GONE)
    record.began({"messages": [{"role": "tool", "tool_call_id": "call-tool", "content": None}]})
    first, second, _ = record.trajectory(id="x").turns
    assert [each.content for each in first.tool_results] == [""]
    assert not second.tool_results


@pytest.mark.parametrize("value", ["é", "✓", "a b", "", "a\r\nb", "x" * 5000, 1, None])
def test_a_header_of_a_session_can_stand_in_a_request(value):
    with pytest.raises(BadRequest):
        Sessions(Limits()).create("http://127.0.0.1:1", headers={JOB_HEADER: value})


def test_a_sink_that_fails_ends_nothing(tmp_path):
    every = Sessions(Limits(), tmp_path)  # a folder is no file
    mine, other = every.create("u", "a"), every.create("u", "b")
    mine.close()
    every.close()
    assert (every.lost, every.ended, len(every)) == (2, 2, 0)
    assert other.trajectory().id == "b"


def test_a_relay_writes_lines_that_its_readers_read(tmp_path):
    path = tmp_path / "t.jsonl"
    with (
        Engine().serving() as engine,
        Relay(engine.url, admin_key="owner", ended=path).serving() as relay,
    ):
        session = relay.session("a")
        agent = Caller(session.base_url, session.key)
        assert agent.chat("tool", stream=True)[0] == 200
        agent.close()
        owner = Caller(relay.url, "owner")
        owner._connection.request("DELETE", "/sessions/a", headers=owner._headers)
        shown = owner._connection.getresponse().read()
        owner.close()
    assert list(jsonl.TrajectoryFile(path)) == [jsonl.read(shown)] == [session.trajectory()]


def test_who_has_sent_nothing_holds_no_place_for_long(monkeypatch):
    monkeypatch.setattr("reward_functions.core.http_server.server.IDLE_SECONDS", 0.1)
    with (
        Engine().serving() as engine,
        Relay(engine.url).serving() as relay,
        relay.session() as session,
    ):
        where = urlsplit(relay.url)
        agent = Caller(session.base_url, session.key)
        assert agent.chat("x", stream=False)[0] == 200
        with socket.create_connection((where.hostname, where.port), timeout=20) as nobody:
            assert nobody.recv(1) == b""  # closed
        assert agent.chat("y", stream=False)[0] == 200
        agent.close()
    assert engine.connections == 1


def test_an_engine_that_packs_its_answer_is_refused():
    bomb = gzip.compress(b'{"a":"' + b"x" * 10**6 + b'"}')
    kind = {"Content-Type": "application/json", "Content-Encoding": "gzip"}
    with (
        Engine(lambda _: (200, kind, [bomb])).serving() as engine,
        Relay(engine.url).serving() as relay,
        relay.session() as session,
    ):
        agent = Caller(session.base_url, session.key)
        assert agent.chat("x", stream=False)[0] == 502
        agent.close()


def test_an_error_that_never_ends_is_left_at_its_first_bytes():
    def endless():
        yield from chain([b"{"], (b" " * 1024 for _ in range(10**9)))

    with (
        Engine(
            lambda _: (500, {"Content-Type": "application/json"}, endless())
        ).serving() as engine,
        Relay(engine.url).serving() as relay,
        relay.session() as session,
    ):
        agent = Caller(session.base_url, session.key)
        assert agent.chat("x", stream=False)[0] == 500
        agent.close()
