"""The three policies: one that calculates, one that follows a script, and a model behind."""

from __future__ import annotations

import json
from contextlib import contextmanager

import pytest

from reward_functions.core.errors import ConfigurationError
from reward_functions.local.loopback_service.server import Refused
from reward_functions.local.runtime_double import (
    Answer,
    CalculatorPolicy,
    RelayPolicy,
    ScriptedPolicy,
    ToolCall,
)
from reward_functions.local.runtime_double.chat import Usage, read_chat
from tests.hostile_peers import BROKEN, HELD_UP, LARGE, peer
from tests.loopback import LOST, Service, served


def chat(*messages, **more):
    return read_chat(json.dumps({"messages": messages, **more}).encode())


def user(text):
    return {"role": "user", "content": text}


def tool(name, properties=None):
    schema = {} if properties is None else {"parameters": {"properties": properties}}
    return {"type": "function", "function": {"name": name, **schema}}


CALL = {"role": "assistant", "content": None, "tool_calls": []}
SUM = user("What is 2 + 3?")

CALCULATED = [
    # messages, tools, content, arguments of a tool call
    ([SUM], [], r"2 + 3 = 5. The answer is \boxed{5}.", None),
    ([user("Hello")], [], "I find no arithmetic expression in the prompt.", None),
    ([SUM], [tool("weather", {"city": {"type": "string"}})], r"\boxed{5}", None),
    ([SUM], [tool("Calculator", {"expr": {"type": "string"}})], "", {"expr": "2 + 3"}),
    ([SUM], [tool("calc")], "", {"expression": "2 + 3"}),
    ([SUM], [tool("calc", {"n": {"type": "integer"}})], "", {"expression": "2 + 3"}),
    # What the tool returns is the answer, right or wrong.
    ([SUM, CALL, {"role": "tool", "content": "Result: 6"}], [tool("calc")], r"\boxed{6}", None),
    (
        [SUM, CALL, {"role": "tool", "content": [{"type": "text", "text": "5"}]}],
        [tool("calc")],
        r"\boxed{5}",
        None,
    ),
    ([SUM, CALL, {"role": "tool", "content": "error"}], [tool("calc")], r"\boxed{5}", None),
    # A result of a question before is not of this one.
    (
        [SUM, CALL, {"role": "tool", "content": "5"}, user("And 4 * 4?")],
        [tool("calc")],
        "",
        {"expression": "4 * 4"},
    ),
    ([user([{"type": "text", "text": "2 + 3"}])], [], r"\boxed{5}", None),
]


@pytest.mark.parametrize(("messages", "tools", "content", "arguments"), CALCULATED)
def test_what_the_calculator_policy_answers(messages, tools, content, arguments):
    answer = CalculatorPolicy().answer(chat(*messages, tools=tools), "r")
    if arguments is None:
        assert content in answer.content
        assert not answer.tool_calls
    else:
        (call,) = answer.tool_calls
        assert json.loads(call.arguments) == arguments
        assert answer.finish_reason == "tool_calls"


def test_a_choice_of_no_tool_is_honoured():
    asked = chat(SUM, tools=[tool("calc")], tool_choice="none")
    assert not CalculatorPolicy().answer(asked, "r").tool_calls


def test_a_share_of_the_trajectories_is_wrong_and_the_same_ones_again():
    def wrong(policy, count=100):
        answers = [policy.answer(chat(SUM), f"r{n}").content for n in range(count)]
        return [r"\boxed{6}" in content for content in answers]

    found = wrong(CalculatorPolicy(wrong=0.2), 1_000)
    # Five standard deviations of a fifth in 1,000 draws are 63.
    assert 137 <= sum(found) <= 263
    assert wrong(CalculatorPolicy(wrong=0.2)) == found[:100]
    assert wrong(CalculatorPolicy(wrong=0.2, seed=1)) != found[:100]
    assert not any(wrong(CalculatorPolicy()))
    assert all(wrong(CalculatorPolicy(wrong=1.0)))


@pytest.mark.parametrize("share", [-0.1, 1.1, float("nan")])
def test_a_share_is_from_0_to_1(share):
    with pytest.raises(ConfigurationError, match="from 0 to 1"):
        CalculatorPolicy(share)


ROWS = [
    {
        "prompt": "2 + 2",
        "turns": [{"tool_calls": [{"name": "calc", "arguments": {"e": "2 + 2"}}]}, "It is 4."],
    },
    {"prompt": "What is 2 + 2, by heart?", "turns": ["4"]},
    {"turns": ["I do not know."]},
]
SCRIPTED = [
    ([user("What is 2 + 2?")], Answer("", (ToolCall("calc", '{"e": "2 + 2"}'),), "tool_calls")),
    ([user("What is 2 + 2?"), CALL, {"role": "tool", "content": "4"}], Answer("It is 4.")),
    # Behind the last turn it stays.
    ([user("What is 2 + 2?"), CALL, CALL, CALL], Answer("It is 4.")),
    ([user("What is 2 + 2, by heart?")], Answer("4")),
    ([user("Who are you?")], Answer("I do not know.")),
    ([{"role": "system", "content": "2 + 2"}], Answer("I do not know.")),
]


@pytest.mark.parametrize(("messages", "answer"), SCRIPTED)
def test_a_script_is_followed_by_the_conversation(messages, answer, tmp_path):
    file = tmp_path / "script.jsonl"
    file.write_text("".join(f"{json.dumps(row)}\n" for row in ROWS))
    for script in (ROWS, file):
        assert ScriptedPolicy(script).answer(chat(*messages), "r") == answer


def test_a_script_of_one_answer_and_of_turns_alone():
    assert ScriptedPolicy("Yes.").answer(chat(SUM), "r") == Answer("Yes.")
    turns = ScriptedPolicy(["First.", "Second."])
    assert turns.answer(chat(SUM, CALL), "r") == Answer("Second.")


def test_a_prompt_that_no_row_is_for():
    with pytest.raises(Refused, match="no row for this prompt") as refused:
        ScriptedPolicy(ROWS[:1]).answer(chat(user("Who are you?")), "r")
    assert refused.value.status == 400


NO_SCRIPTS = [
    ([], "is empty"),
    ([{"turns": []}], "row 1 of the script: turns is not a list"),
    ([{"turns": "x"}], "turns is not a list"),
    ([{"prompt": 1, "turns": ["x"]}], "prompt is a number, not a string"),
    ([{"promt": "", "turns": ["x"]}], "a field 'promt'. Did you mean 'prompt'?"),
    ([{"turns": [1]}], "a turn is a number, not an object"),
    ([{"turns": [{"content": 1}]}], "a turn's content is a string"),
    ([{"turns": [{"tool_calls": [{"arguments": {}}]}]}], "a tool call has a name"),
    ([{"turns": [{"tool_calls": [{"name": "f", "arguments": "{}"}]}]}], "arguments as an object"),
    ([7], "row 1 of the script is a number, not an object"),
]


@pytest.mark.parametrize(("script", "words"), NO_SCRIPTS)
def test_what_is_no_script_names_the_row(script, words):
    with pytest.raises(ConfigurationError) as refused:
        ScriptedPolicy(script)
    assert words in str(refused.value)


class Model(Service):
    """A model that answers what it is given."""

    def __init__(self, **more):
        super().__init__(**more)
        self.reply = {}
        self.requests = []

    def operation(self, asked):
        def do():
            self.requests.append(asked)
            return 200, {"Content-Type": "application/json"}, self.reply

        return "/".join(asked.path), do


@contextmanager
def model(reply):
    with served(Model()) as service:
        service.reply = reply if isinstance(reply, bytes) else json.dumps(reply).encode()
        yield service


def completion(message, finish="stop", **more):
    return {"choices": [{"message": message, "finish_reason": finish}], **more}


CALLED = {"id": "1", "type": "function", "function": {"name": "f", "arguments": "{broken"}}

RELAYED = [
    (completion({"content": "Hi"}), Answer("Hi")),
    (completion({"content": "Hi"}, "length"), Answer("Hi", (), "length")),
    (completion({"content": "Hi"}, "end_turn"), Answer("Hi")),
    (
        completion({"content": "Hi"}, usage={"prompt_tokens": 7, "completion_tokens": 2}),
        Answer("Hi", usage=Usage(7, 2)),
    ),
    # What a model writes for arguments is the agent's to read, JSON or not.
    (
        completion({"content": None, "tool_calls": [CALLED]}, "tool_calls"),
        Answer("", (ToolCall("f", "{broken"),), "tool_calls"),
    ),
]


@pytest.mark.parametrize(("reply", "answer"), RELAYED)
def test_a_model_behind_the_double_answers(reply, answer):
    with model(reply) as service:
        assert RelayPolicy(service.address).answer(chat(SUM), "r") == answer


def test_a_request_is_cut_down_to_what_engines_take():
    blocks = user([{"type": "text", "text": "2 + "}, {"type": "text", "text": "3"}])
    image = user([{"type": "image_url", "image_url": {"url": "data:"}}])
    more = {"stream": True, "stream_options": {"include_usage": True}, "store": True}
    asked = chat(blocks, image, model="default", temperature=0.5, max_tokens=9, **more)
    with model(completion({"content": "5"})) as service:
        environ = {"KEY": "sk-1"}
        policy = RelayPolicy(f"{service.address}/v1/", "KEY", model="qwen", environ=environ)
        policy.answer(asked, "r")
        (request,) = service.requests
    assert request.path == ("v1", "chat", "completions")
    assert request.headers["authorization"] == "Bearer sk-1"
    assert json.loads(request.body) == {
        "model": "qwen",
        "messages": [user("2 + \n3"), image],
        "temperature": 0.5,
        "max_tokens": 9,
    }


FAILED = [
    # reply or its fault, what the agent is answered
    ((400, {}, b"{}"), 400, "answers 400"),
    ((429, {}, b"{}"), 429, "answers 429"),
    ((503, {}, b"secret"), 500, "answers 503"),
    ((302, {"Location": "http://127.0.0.1:1/"}, b""), 500, "answers 302"),
    (LOST, 500, "does not answer"),
    (b"[]", 500, "no chat completion"),
    (b"{", 500, "no chat completion"),
    ({"choices": []}, 500, "no chat completion"),
    (completion({"content": 7}), 500, "no chat completion"),
    (completion({"tool_calls": [{"function": {"name": 1}}]}), 500, "no chat completion"),
    (b" " * (8 * 1024 * 1024 + 1), 500, "more than 8388608 bytes"),
]


@pytest.mark.parametrize(("reply", "status", "words"), FAILED, ids=range(len(FAILED)))
def test_a_model_that_fails_is_a_failure_of_the_service(reply, status, words):
    whole = isinstance(reply, (bytes, dict))
    with model(reply if whole else {}) as service:
        if not whole:
            service.fail("v1/chat/completions", reply)
        with pytest.raises(Refused, match=words) as refused:
            RelayPolicy(service.address).answer(chat(SUM), "r")
    assert refused.value.status == status
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize(
    ("url", "key", "words"),
    [
        ("ftp://x", "", "begins with http"),
        ("http://", "", "begins with http"),
        ("http://[x", "", "cannot be read"),
        ("http://user:word@x", "", "no user"),
        ("http://x", "NO_KEY", "NO_KEY"),
    ],
)
def test_a_model_that_cannot_be_asked(url, key, words):
    with pytest.raises(ConfigurationError, match=words):
        RelayPolicy(url, key, environ={})


STUCK = {name: HELD_UP[name] for name in ("says nothing", "drips its body")}
"""Of the others no timeout runs out: the operator has named a model that is no model."""


NO_ANSWERS = [(STUCK, 0.2), (BROKEN, 60.0)]


@pytest.mark.parametrize(
    ("acts", "seconds"),
    [pytest.param(acts, s, id=name) for peers, s in NO_ANSWERS for name, acts in peers.items()],
)
def test_a_model_that_gives_no_answer_is_a_failure_of_the_service(acts, seconds):
    with peer(acts) as (url, asked):
        with pytest.raises(Refused, match="the model that the double asks") as refused:
            RelayPolicy(url, seconds=seconds).answer(chat(SUM), "r")
        assert refused.value.code == "InternalServiceError"
        assert len(asked()) == 1


@pytest.mark.parametrize("acts", LARGE.values(), ids=LARGE)
def test_a_reply_that_is_too_large_is_one(acts):
    with peer(acts) as (url, _), pytest.raises(Refused, match="the double asks"):
        RelayPolicy(url, seconds=60.0).answer(chat(SUM), "r")


def test_the_key_of_a_model_goes_nowhere_else():
    with peer(lambda *_: None) as (other, asked_of_other):
        redirect = b"HTTP/1.1 307 x\r\nContent-Length: 0\r\nLocation: %b/v1\r\n\r\n"
        moved = redirect % other.encode()
        with peer(lambda connection, _: connection.sendall(moved)) as (url, asked):
            policy = RelayPolicy(url, "KEY", environ={"KEY": "secret"})
            with pytest.raises(Refused, match="answers 307"):
                policy.answer(chat(SUM), "r")
            assert b"Bearer secret" in asked()[0]
        assert not asked_of_other()


TOKENS = [(3, 4), (0, 0), (10**9, 1)]
NO_TOKENS = [(-1, 1), (True, 1), (1.5, 1), ("3", 1), (10**12, 1), (None, 1)]


@pytest.mark.parametrize("counts", TOKENS + NO_TOKENS, ids=repr)
def test_a_models_count_of_tokens_is_believed_where_it_is_one(counts):
    usage = dict(zip(("prompt_tokens", "completion_tokens"), counts, strict=True))
    reply = json.dumps({"choices": [{"message": {"content": "4"}}], "usage": usage}).encode()
    answer = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(reply), reply)
    with peer(lambda connection, _: connection.sendall(answer)) as (url, _):
        found = RelayPolicy(url).answer(chat(SUM), "r").usage
    assert found == (Usage(*counts) if counts in TOKENS else None)
