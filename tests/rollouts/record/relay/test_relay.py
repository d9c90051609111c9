"""The relay over HTTP: OpenAI's SDK and bare connections before it, a scripted engine behind it."""

import json
import socket
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.client import HTTPConnection
from threading import Event
from urllib.parse import urlsplit

import openai
import pytest

from reward_functions.core.errors import ConfigurationError
from reward_functions.rollouts.record import jsonl
from reward_functions.rollouts.relay import Limits, Relay
from reward_functions.rollouts.request.headers import JOB_HEADER, TRAJECTORY_HEADER
from tests.rollouts.record.relay.engines import (
    Engine,
    chunks,
    completion,
    events,
    message_of,
    tokens_of,
)
from tests.rollouts.record.relay.load import Caller, load
from tests.waiting import until

SSE = {"Content-Type": "text/event-stream"}
JSON = {"Content-Type": "application/json"}


@contextmanager
def relaying(script=None, **options):
    with Engine(script).serving() as engine, Relay(engine.url, **options).serving() as relay:
        yield relay, engine


@contextmanager
def client(session):
    with openai.OpenAI(base_url=session.base_url, api_key=session.key, max_retries=0) as found:
        yield found


@contextmanager
def caller(session, key=None, url=None):
    found = Caller(url or session.base_url, session.key if key is None else key)
    try:
        yield found
    finally:
        found.close()


def user(text):
    return {"model": "m", "messages": [{"role": "user", "content": text}]}


def test_openais_sdk_gets_what_it_asked_for_and_the_session_keeps_the_tokens():
    with relaying() as (relay, engine), relay.session() as session, client(session) as sdk:
        answer = sdk.chat.completions.create(**user("hello"))
        asked = sdk.chat.completions.create(**user("again"), logprobs=True)
        stream = list(sdk.chat.completions.create(**user("a tool"), stream=True))
        models = sdk.models.list().data
    assert answer.choices[0].message.content == message_of("hello")[0]["content"]
    assert answer.choices[0].logprobs is None
    assert not {"prompt_token_ids"} & answer.model_dump().keys()
    assert "token_ids" not in answer.choices[0].model_dump()
    assert [each.logprob for each in asked.choices[0].logprobs.content] == tokens_of("again")[2]
    assert all(chunk.choices and chunk.usage is None for chunk in stream)
    assert [each.id for each in models] == ["scripted"]
    trajectory = session.trajectory()
    for turn, text in zip(trajectory.turns, ("hello", "again", "a tool"), strict=True):
        trace = turn.tokens
        kept = (trace.prompt_ids, trace.completion_ids, trace.logprobs)
        assert [*map(list, kept)] == [*tokens_of(text)]
        assert turn.response == message_of(text)[0]
        assert turn.finish_reason == message_of(text)[1]
        assert turn.usage.output == len(trace.completion_ids)
        assert turn.seconds > 0
    assert engine.connections == 1
    assert "token_gaps" not in trajectory.metadata


def test_a_stream_has_its_usage_where_it_was_asked_for():
    with relaying() as (relay, _), relay.session() as session, client(session) as sdk:
        options = {"include_usage": True}
        stream = list(sdk.chat.completions.create(**user("x"), stream=True, stream_options=options))
    assert stream[-1].usage.completion_tokens == len(tokens_of("x")[1])


def test_the_engine_gets_what_it_takes():
    body = {
        "model": "other",
        "messages": [
            {"role": "developer", "content": "be brief", "name": None},
            {"role": "user", "content": [{"type": "text", "text": "a"}] * 2},
        ],
        "temperature": 0.1,
        "max_completion_tokens": 99,
        "stream_options": {"include_usage": True},
        "store": True,
        "user": "u",
        "seed": None,
    }
    metadata = {JOB_HEADER: "arn", TRAJECTORY_HEADER: "t-1"}
    options = {"model": "pinned", "token": lambda: "engine-key"}
    with relaying(**options) as (relay, engine):
        sampling = {"temperature": 1.0, "max_tokens": 7}
        with (
            relay.session(sampling=sampling, headers=metadata) as session,
            caller(session) as agent,
        ):
            assert agent.post("/chat/completions", body)[0] == 200
    assert engine.requests == [
        {
            "model": "pinned",
            "messages": [
                {"role": "system", "content": "be brief"},
                {"role": "user", "content": "a\na"},
            ],
            "temperature": 1.0,
            "max_tokens": 7,
            "logprobs": True,
            "return_token_ids": True,
        }
    ]
    (head,) = engine.heads
    assert head["Authorization"] == "Bearer engine-key"
    assert (head[JOB_HEADER], head[TRAJECTORY_HEADER]) == ("arn", "t-1")
    assert session.key not in json.dumps(head)
    assert session.trajectory().turns[0].parameters == sampling


def test_anthropics_messages_are_answered_in_their_own_words():
    body = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "tool"}]}
    with relaying() as (relay, _), relay.session() as session, caller(session) as agent:
        key = {"x-api-key": session.key, "anthropic-version": "2023-06-01"}
        status, whole = agent.post("/messages", body, key)
        streamed = agent.post("/messages", body | {"stream": True}, key)[1].decode()
        counted = json.loads(agent.post("/messages/count_tokens", body, key)[1])
    message = json.loads(whole)
    assert (status, message["stop_reason"]) == (200, "tool_use")
    (block,) = message["content"]
    assert (block["name"], block["input"]) == ("add", {"a": 1, "b": 2})
    assert streamed.startswith("event: message_start\n")
    assert streamed.endswith('event: message_stop\ndata: {"type":"message_stop"}\n\n')
    assert counted == {"input_tokens": 7}
    first, second = session.traces()
    assert first == second
    assert list(first.completion_ids) == tokens_of("tool")[1]


def test_tokens_are_not_counted_where_the_engine_has_no_tokenizer():
    with (
        relaying(kind="sglang") as (relay, _),
        relay.session() as session,
        caller(session) as agent,
    ):
        body = {"model": "m", "messages": [{"role": "user", "content": "x"}]}
        status, content = agent.post("/messages/count_tokens", body)
    assert (status, json.loads(content)["type"]) == (501, "error")


def sglang(body):
    """SGLang's words; it does not stream them."""
    assert "stream" not in body
    prompt, ids, logprobs = tokens_of(body["messages"][-1]["content"])
    reply = completion(body["messages"][-1]["content"])
    (choice,) = reply["choices"]
    del reply["prompt_token_ids"], choice["token_ids"]
    pairs = [[logprob, each, None] for logprob, each in zip(logprobs, ids, strict=True)]
    choice |= {"prompt_token_ids": prompt, "meta_info": {"output_token_logprobs": pairs}}
    return 200, JSON, [json.dumps(reply).encode()]


def test_an_engine_that_cannot_stream_tokens_is_asked_whole():
    with (
        relaying(sglang, kind="sglang") as (relay, engine),
        relay.session() as session,
        client(session) as sdk,
    ):
        stream = list(sdk.chat.completions.create(**user("hello"), stream=True))
    text = "".join(chunk.choices[0].delta.content or "" for chunk in stream)
    assert text == message_of("hello")[0]["content"]
    assert list(session.traces()[0].logprobs) == tokens_of("hello")[2]
    assert engine.requests[0]["return_meta_info"]


def test_foreign_unknown_and_ended_sessions_are_refused():
    with relaying(admin_key="owner") as (relay, engine):
        mine, foreign, ended = (relay.session(name) for name in ("mine", "foreign", "ended"))
        ended.close()
        other = f"{relay.url}/sessions/none/v1"
        plain = f"{relay.url}/v1"
        cases = [
            (mine.base_url, foreign.key, 401),
            (mine.base_url, "", 401),
            (mine.base_url, "mine", 401),
            (mine.base_url, "owner", 401),
            (plain, "default", 401),
            (plain, ended.key, 401),
            (other, mine.key, 404),
            (ended.base_url, ended.key, 410),
            (f"{relay.url}/v2", mine.key, 404),
            (plain, mine.key, 200),
        ]
        for url, key, expected in cases:
            with caller(mine, key, url) as agent:
                status, content = agent.post("/chat/completions", user("x"))
            assert (status, url) == (expected, url)
            assert expected == 200 or json.loads(content)["error"]["message"]
            assert not key or expected == 200 or key not in content.decode()
        with caller(mine, foreign.key) as agent:
            error = json.loads(agent.post("/messages", user("x"))[1])
        assert (error["type"], error["error"]["type"]) == ("error", "authentication_error")
        assert len(engine.requests) == 1
        assert not foreign.trajectory().turns


HOSTILE_BODIES = [
    b"",
    b"[]",
    b"{",
    b"\xff",
    b'{"messages": []}',
    b'{"messages": "x", "model": "m"}',
    b'{"messages": [1], "model": "m"}',
    b'{"messages": [{"role": 1}], "model": "m"}',
    b'{"messages": [{"role": "user", "content": "x"}]}',
    json.dumps(user("x") | {"n": 2}).encode(),
    json.dumps(user("x") | {"tools": "x"}).encode(),
    b'{"messages":' + b"[" * 2000 + b"]" * 2000 + b"}",
]


def test_a_hostile_client_is_refused_and_nothing_is_recorded():
    with relaying() as (relay, engine), relay.session() as session:
        for body in HOSTILE_BODIES:
            with caller(session) as agent:
                status, content = agent.post("/chat/completions", body)
            assert (status, body[:40]) == (400, body[:40])
            assert json.loads(content)["error"]["type"] == "invalid_request_error"
        assert not engine.requests
        assert not session.trajectory().turns


ENGINES = {
    # what a hostile engine answers, the status that the agent sees
    "not JSON": ((200, JSON, [b"<html>"]), 502),
    "a list": ((200, JSON, [b"[]"]), 502),
    "no choices": ((200, JSON, [b"{}"]), 502),
    "two choices": ((200, JSON, [json.dumps({"choices": [{}, {}]}).encode()]), 502),
    "deep": ((200, JSON, [b'{"a":' * 5000 + b"1" + b"}" * 5000]), 502),
    "a refusal": ((429, {"Retry-After": "7"}, [b'{"error": {"message": "slow down"}}']), 429),
    "a failure": ((500, JSON, [b"oops"]), 500),
    "a redirect": ((302, {"Location": "http://127.0.0.1:1/"}, [b""]), 502),
    "gone half-way": ((200, JSON, [b'{"choi', None]), 502),
    "NaN": ((200, JSON, [b'{"choices": [], "x": NaN}']), 502),
}


@pytest.mark.parametrize("name", sorted(ENGINES))
@pytest.mark.parametrize("path", ["/chat/completions", "/messages"])
def test_a_hostile_engine_is_a_failed_turn(name, path):
    script, expected = ENGINES[name]
    with (
        relaying(lambda _: script) as (relay, _),
        relay.session() as session,
        caller(session) as agent,
    ):
        status, content = agent.post(path, user("x") | {"max_tokens": 5})
    assert status == expected
    assert json.loads(content)["error"]
    assert (name == "a refusal") == (b"slow down" in content)
    (turn,) = session.trajectory().turns
    assert (turn.error, turn.response, turn.tokens) == ("EngineFailed", None, None)
    assert session.traces() == []


STREAMS = {
    "an error": [b'data: {"error": {"message": "out of memory"}}\n\n', b"data: [DONE]\n\n"],
    "not JSON": [b"data: x\n\n"],
    "early end": list(events(chunks("x")))[:3],
    "gone half-way": [*list(events(chunks("x")))[:3], None],
    "two choices": [b'data: {"choices": [{}, {}]}\n\n'],
    "nothing": [],
}


@pytest.mark.parametrize("name", sorted(STREAMS))
def test_a_stream_that_breaks_is_a_failed_turn(name):
    script = (200, SSE, STREAMS[name])
    with relaying(lambda _: script) as (relay, _), relay.session() as session:
        with client(session) as sdk, pytest.raises(openai.APIError):
            list(sdk.chat.completions.create(**user("x"), stream=True))
        with caller(session) as agent:
            body = agent.post("/messages", user("x") | {"stream": True})[1]
    assert b"event: error" in body
    assert [turn.error for turn in session.trajectory().turns] == ["EngineFailed"] * 2
    assert session.traces() == []


def test_an_engine_that_cannot_be_reached_is_tried_again_and_then_named():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
        with Relay(url).serving() as relay, relay.session() as session, caller(session) as agent:
            status, content = agent.post("/chat/completions", user("x"))
    assert status == 502
    assert "does not answer (NewConnectionError)" in content.decode()


def test_an_engine_that_never_ends_is_left_after_a_time():
    held = Event()

    def script(_):
        held.wait(20)
        return 200, JSON, [b"{}"]

    with relaying(script, seconds=0.2) as (relay, _), relay.session() as session:
        with caller(session) as agent:
            status, _ = agent.post("/chat/completions", user("x"))
        held.set()
    assert status == 504
    assert session.trajectory().turns[0].error == "EngineFailed"


@pytest.mark.parametrize("stream", [True, False], ids=["stream", "whole"])
def test_a_client_that_goes_away_leaves_a_marked_turn(stream):
    arrived, gone = Event(), Event()

    def slow():
        first, *rest = events(chunks("x"))
        yield first
        arrived.set()
        assert gone.wait(20)
        yield from rest

    def script(_):
        if stream:
            return 200, SSE, slow()
        arrived.set()
        assert gone.wait(20)
        return 200, JSON, [json.dumps(completion("x")).encode()]

    with relaying(script) as (relay, _), relay.session() as session:
        parts = urlsplit(session.base_url)
        body = json.dumps(user("x") | {"stream": stream}).encode()
        head = f"POST {parts.path}/chat/completions HTTP/1.1\r\nHost: {parts.netloc}\r\n"
        head += f"Authorization: Bearer {session.key}\r\nContent-Length: {len(body)}\r\n\r\n"
        with socket.create_connection((parts.hostname, parts.port)) as agent:
            agent.sendall(head.encode() + body)
            assert arrived.wait(20)
        gone.set()
        until(lambda: session.trajectory().turns[0].error)
    (turn,) = session.trajectory().turns
    assert (turn.error, turn.response, turn.tokens) == ("ClientGone", None, None)


def test_a_session_that_closes_amid_a_call_is_not_written_to():
    arrived, closed = Event(), Event()

    def script(_):
        arrived.set()
        assert closed.wait(20)

    ended = []
    with relaying(script, ended=ended.append) as (relay, _):
        session = relay.session()
        with ThreadPoolExecutor(1) as pool, caller(session) as agent:
            waiting = pool.submit(agent.post, "/chat/completions", user("x"))
            assert arrived.wait(20)
            session.close()
            closed.set()
            assert waiting.result()[0] == 200
    assert [turn.error for each in ended for turn in each.turns] == ["SessionClosed"]
    assert ended == [session.trajectory()]


def test_turns_of_a_session_are_bounded_and_not_tried_again():
    with (
        relaying() as (relay, _),
        relay.session(max_turns=1) as session,
        openai.OpenAI(base_url=session.base_url, api_key=session.key) as sdk,
    ):
        sdk.chat.completions.create(**user("x"))
        with pytest.raises(openai.RateLimitError, match="has made its 1 calls"):
            sdk.chat.completions.create(**user("y"))
    assert session.calls == 1
    assert session.trajectory().truncated


def test_sessions_are_made_over_http_with_the_admin_key():
    with relaying(admin_key="owner", limits=Limits(sessions=1)) as (relay, _):
        owner = Caller(relay.url, "owner")
        status, content = owner.post("/sessions", {"id": "s", "sampling": {"temperature": 1}})
        made = json.loads(content)
        assert (status, made["session_id"]) == (201, "s")
        with caller(None, made["api_key"], made["url"]) as agent:
            assert agent.chat("hello", stream=False)[0] == 200
            assert agent.post("/../trace", {})[0] == 404
        refusals = [
            (owner, {"id": "s"}, 400),
            (owner, {"id": "t"}, 503),
            (owner, {"ids": 1}, 400),
            (owner, {"sampling": "x"}, 400),
            (Caller(relay.url, made["api_key"]), {}, 401),
            (Caller(relay.url, ""), {}, 401),
        ]
        for asker, body, expected in refusals:
            assert (asker.post("/sessions", body)[0], body) == (expected, body)
            asker.close()
        shown = get(relay, "/sessions/s", "owner")
        assert shown == (200, {"session_id": "s", "calls": 1, "bytes": shown[1]["bytes"]})
        status, trace = get(relay, "/sessions/s/trace", "owner")
        kept = jsonl.read(json.dumps(trace))
        assert list(kept.turns[0].tokens.completion_ids) == tokens_of("hello")[1]
        assert get(relay, "/sessions/s/trace", made["api_key"])[0] == 401
        assert get(relay, "/sessions/s", "owner", "DELETE")[1] == trace
        assert get(relay, "/sessions/s/trace", "owner")[0] == 410
        assert get(relay, "/sessions/t", "owner")[0] == 404
        assert get(relay, "/health", "") == (200, {"status": "healthy"})


def get(relay, path, key, method="GET"):
    parts = urlsplit(relay.url)
    connection = HTTPConnection(parts.hostname, parts.port, timeout=20)
    connection.request(method, path, headers={"Authorization": f"Bearer {key}"})
    reply = connection.getresponse()
    content = json.loads(reply.read())
    connection.close()
    return reply.status, content


def test_without_an_admin_key_nobody_makes_sessions_over_http():
    with relaying() as (relay, _):
        assert Caller(relay.url, "").post("/sessions", {})[0] == 401


def test_many_calls_at_a_time_keep_their_own_tokens():
    with relaying() as (relay, _):
        found = load(relay, sessions=64, calls=4)
    assert found == (256, [])


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({"engine": "ftp://x"}, "http://"),
        ({"engine": "http://u:p@x"}, "no user"),
        ({"engine": "http://x", "kind": "other"}, "one of vllm"),
        ({"engine": "http://x", "admin_key": "a b"}, "printable"),
    ],
)
def test_a_relay_that_cannot_be_is_refused(wrong, why):
    with pytest.raises(ConfigurationError, match=why):
        Relay(**wrong)


def test_it_listens_on_loopback_unless_it_is_told():
    relay = Relay("http://127.0.0.1:1")
    with pytest.raises(ConfigurationError, match="exposed"), relay.serving("0.0.0.0"):
        pass
    with relay.serving("0.0.0.0", exposed=True):
        assert relay.url.startswith("http://0.0.0.0:")
    with pytest.raises(ConfigurationError, match="does not serve"):
        relay.session()
