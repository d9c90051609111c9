"""One completion is one recorded turn: through the relay and through every policy client."""

import json
from contextlib import suppress

import httpx
import pytest

from reward_functions.rollouts.relay import Relay
from tests.rollouts.adapters import ask, request
from tests.rollouts.crossing import episode
from tests.rollouts.record.relay import engines

RELAYED = ("relay_whole", "relay_stream")
WAYS = (
    *(*RELAYED, "httpx_sync", "httpx_async", "openai_sync", "openai_stream", "agents_model"),
    *("langchain_sync", "langchain_stream", "strands", "boto3_sample", "boto3_stream"),
)
JSON, EVENTS = {"Content-Type": "application/json"}, {"Content-Type": "text/event-stream"}
HEAD = {"id": "c", "created": 1, "model": "m"}
USAGE = {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}


def call(index, id="", **function):
    more = {"id": id, "type": "function"} if id else {}
    return ({"index": index} if index is not None else {}) | more | {"function": function}


ONE = call(None, "a", name="calculator", arguments='{"expression": "1"}')
TWO = call(None, "b", name="calculator", arguments='{"expression": "2"}')


def delta(finish=None, more=None, **fields):
    choice = {"index": 0, "delta": fields, "finish_reason": finish} | (more or {})
    return HEAD | {"object": "chat.completion.chunk", "choices": [choice]}


def whole(finish="stop", more=None, message=None, top=None):
    said = {"role": "assistant", "content": None} | (message or {})
    choice = {"index": 0, "message": said, "finish_reason": finish} | (more or {})
    return HEAD | {"object": "chat.completion", "choices": [choice], "usage": USAGE} | (top or {})


def end(finish="stop"):
    return [
        delta(finish),
        HEAD | {"object": "chat.completion.chunk", "choices": [], "usage": USAGE},
    ]


def logprobs(*numbers):
    items = [{"token": "t", "logprob": each, "bytes": None, "top_logprobs": []} for each in numbers]
    return {"logprobs": {"content": items}}


TRACED = {"token_ids": [7, 8]} | logprobs(-0.5, 0.0)

CASES = {
    # The whole completion, and the chunks of the same.
    "text": (
        whole(message={"content": "é 42"}),
        [delta(role="assistant", content=""), delta(content="é "), delta(content="42"), *end()],
    ),
    "two calls, in pieces": (
        whole("tool_calls", message={"tool_calls": [ONE, TWO]}),
        [
            delta(role="assistant", tool_calls=[call(0, "a", name="calculator", arguments="")]),
            delta(tool_calls=[call(0, arguments='{"expression"')]),
            delta(tool_calls=[call(1, "b", name="calculator", arguments='{"expression": "2"}')]),
            delta(tool_calls=[call(0, arguments=': "1"}')]),
            *end("tool_calls"),
        ],
    ),
    "tokens": (
        whole(more=TRACED, message={"content": "42"}, top={"prompt_token_ids": [1, 2, 3]}),
        [
            delta(role="assistant", content="") | {"prompt_token_ids": [1, 2, 3]},
            delta(content="4", more={"token_ids": [7]} | logprobs(-0.5)),
            delta(content="2", more={"token_ids": [8]} | logprobs(0.0)),
            *end(),
        ],
    ),
    "as many tokens as log-probabilities there are not": (
        whole(more={"token_ids": [7]} | logprobs(-0.5, 0.0), message={"content": "42"}),
        [
            delta(role="assistant", content="42", more={"token_ids": [7]} | logprobs(-0.5, 0.0)),
            *end(),
        ],
    ),
    "a null for a log-probability": (
        whole(more={"token_ids": [7, 8]} | logprobs(None, 0.0), message={"content": "42"}),
        [
            delta(role="assistant", content="42", more={"token_ids": [7, 8]} | logprobs(None, 0.0)),
            *end(),
        ],
    ),
    "cut off": (b'{"choices": [{"mess', [delta(role="assistant", content="4"), None]),
    "no JSON": (b"<html>", [b"data: <html>\n\n"]),
    "no choices": (HEAD | {"choices": []}, [HEAD | {"choices": 7}]),
    "a message of another type": (
        HEAD | {"choices": [{"index": 0, "message": 7}]},
        [HEAD | {"choices": [{"index": 0, "delta": 7}]}],
    ),
    "too deep": (b'{"a":' * 20_000 + b"1" + b"}" * 20_000, [b"data: " + b"[" * 20_000 + b"\n\n"]),
    "refused": ((400, {"error": {"message": "no", "type": "t"}}),) * 2,
}


def answer(case, *, stream):
    """(status, headers, pieces) of an engine."""
    given = CASES[case][stream]
    if isinstance(given, tuple):
        return given[0], JSON, [json.dumps(given[1]).encode()]
    if not stream:
        return 200, JSON, [given if isinstance(given, bytes) else json.dumps(given).encode()]
    return 200, EVENTS, [*map(piece, given), b"data: [DONE]\n\n"]


def piece(given):
    if given is None or isinstance(given, bytes):
        return given
    return b"data: " + json.dumps(given).encode() + b"\n\n"


def recorded(case, way):
    """The trajectory of one call, whatever its caller thinks of the answer."""
    engine = engines.Engine(lambda body: answer(case, stream=bool(body.get("stream"))))
    with engine.serving():
        if way not in RELAYED:
            of = episode()
            with of, suppress(Exception):
                ask(way, engine.url.removesuffix("/v1"), "solve 0")
            return of.recording.trajectory(id="t")
        with Relay(engine.url).serving() as relay, relay.session() as session:
            body = request("solve 0", stream=way == "relay_stream")
            key = {"Authorization": f"Bearer {session.key}"}
            httpx.post(f"{session.base_url}/chat/completions", json=body, headers=key)
            return session.trajectory()


def said(case, way):
    """What is the same in every record of a completion."""
    trajectory = recorded(case, way)
    (turn, *_) = [turn for turn in trajectory.turns if not turn.error] or trajectory.turns
    message = turn.response and {name: each for name, each in turn.response.items() if each}
    tokens = turn.tokens
    return {
        "message": message,
        "calls": [(each.id, each.name, each.arguments) for each in turn.tool_calls],
        "finish": turn.finish_reason,
        "usage": (turn.usage.input, turn.usage.output),
        "tokens": tokens and (tokens.prompt_ids, tokens.completion_ids, tokens.logprobs),
        "failed": bool(turn.error),
    }


FAILED = {
    "message": None,
    "calls": [],
    "finish": "",
    "usage": (None, None),
    "tokens": None,
    "failed": True,
}
TEXT = FAILED | {
    "message": {"role": "assistant", "content": "42"},
    "finish": "stop",
    "usage": (3, 2),
    "failed": False,
}
SAID = {
    "text": TEXT | {"message": {"role": "assistant", "content": "é 42"}},
    "two calls, in pieces": TEXT
    | {
        "message": {"role": "assistant", "tool_calls": [ONE, TWO]},
        "calls": [
            ("a", "calculator", '{"expression": "1"}'),
            ("b", "calculator", '{"expression": "2"}'),
        ],
        "finish": "tool_calls",
    },
    "tokens": TEXT | {"tokens": ((1, 2, 3), (7, 8), (-0.5, 0.0))},
    "as many tokens as log-probabilities there are not": TEXT,
    "a null for a log-probability": TEXT | {"tokens": (None, (7, 8), None)},
}
"""What is recorded; `FAILED` where nothing stands here."""

DIFFERENT = {
    # OpenAI's client refuses a call whose arguments come in turns, and reads no further.
    ("two calls, in pieces", "openai_stream"),
    # A client that reads the type of an answer as it comes takes it for an empty one.
    ("a message of another type", "langchain_sync"),
    *(
        ("a message of another type", way)
        for way in ("openai_stream", "langchain_stream", "strands", "boto3_stream")
    ),
}
"""What a framework makes of an answer before it can be recorded."""


@pytest.mark.parametrize("case", CASES)
@pytest.mark.usefixtures("credentials")
def test_a_completion_is_one_turn_whichever_way_it_comes(case):
    found = {way: said(case, way) for way in WAYS if (case, way) not in DIFFERENT}
    assert found == dict.fromkeys(found, SAID.get(case, FAILED))
