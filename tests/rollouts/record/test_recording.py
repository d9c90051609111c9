"""A recording: whole, bounded, and harmless to the episode."""

import json
import tracemalloc
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reward_functions.rollouts.record.jsonl import read, written
from reward_functions.rollouts.record.recording import NOT_KEPT, Recording, ToolResults
from reward_functions.rollouts.record.types import ToolCall, ToolResult
from tests.growth import assert_linear
from tests.rollouts.record.conftest import TOOLS, Agent, answer, call

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=8,
)
NAMES = (
    "choices message content tool_calls function name arguments id usage prompt_tokens role "
    "token_ids prompt_token_ids logprobs prompt_tokens_details messages tools model tool_call_id"
).split()
HOSTILE = st.recursive(
    JSON,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=4)
    ),
    max_leaves=12,
)


def recorded(recording):
    return recording.trajectory(id="rollout-1")


def test_a_turn_has_what_was_asked_and_what_was_answered():
    clock = iter([10.0, 12.5])
    recording = Recording(clock=lambda: next(clock))
    handle = recording.began(
        {
            "messages": [{"role": "user", "content": "hi"}],
            "tools": TOOLS,
            "temperature": 0.5,
            "stop": ["x"],
            "user": "someone",
            "extra_headers": {"Authorization": "Bearer secret"},
        }
    )
    usage = {
        "prompt_tokens": 7,
        "completion_tokens": 3,
        "prompt_tokens_details": {"cached_tokens": 2},
        "completion_tokens_details": {"reasoning_tokens": 1},
    }
    recording.answered(handle, answer("hello", usage=usage, model="m"))
    (turn,) = recorded(recording).turns
    assert (turn.began, turn.seconds, turn.model, turn.finish_reason) == (10.0, 2.5, "m", "stop")
    assert (turn.usage.input, turn.usage.output) == (7, 3)
    assert (turn.usage.cached, turn.usage.reasoning) == (2, 1)
    assert turn.response == {"role": "assistant", "content": "hello"}
    assert dict(turn.parameters) == {"temperature": 0.5}
    assert [tool["function"]["name"] for tool in turn.tools] == ["calc", "search"]
    assert turn.unread == ()
    assert turn.tokens is None


def test_results_stand_in_the_order_of_the_calls_and_none_is_missing_silently(agent):
    recording = Recording()
    one = agent(recording)
    one.asks(answer(calls=[call("a"), call("b", "search", "no json"), call("c")]))
    recording.tool(ToolResult(call_id="b", content="late", status="error", seconds=0.1))
    one.shows("a", "42")
    one.asks(answer("done"))
    first, _ = recorded(recording).turns
    assert [(each.call_id, each.content, each.status) for each in first.tool_results] == [
        ("a", "42", "success"),
        ("b", "late", "error"),
        ("c", "", "missing"),
    ]
    assert [each.is_json for each in first.tool_calls] == [True, False, True]
    assert first.tool_calls[1].arguments == "no json"


def test_a_result_that_hooks_and_a_request_show_counts_once_as_the_hooks_say(agent):
    recording = Recording()
    one = agent(recording)
    one.asks(answer(calls=[call("a")]))
    recording.tool(ToolResult(call_id="a", status="error", seconds=1.0, discarded=1))
    one.shows("a", "boom")
    one.asks(answer("done"))
    ((result,), _) = (turn.tool_results for turn in recorded(recording).turns)
    assert result == ToolResult(
        call_id="a", content="boom", status="error", seconds=1.0, discarded=1
    )


def test_a_result_that_comes_before_the_answer_is_recorded_finds_its_call():
    recording = Recording()
    handle = recording.began({"messages": []})
    recording.tool(ToolResult(call_id="a", content="42"))
    recording.answered(handle, answer(calls=[call("a")]))
    assert recorded(recording).turns[0].tool_results[0].content == "42"


@pytest.mark.parametrize("id_", ["call_0", ""])
def test_engines_that_number_their_calls_anew_in_each_answer(agent, id_):
    recording = Recording()
    one = agent(recording)
    for number in range(3):
        one.asks(answer(calls=[call(id_, arguments=f'{{"n": {number}}}'), call(id_, "search")]))
        one.shows(id_, f"calc {number}")
        one.shows(id_, f"search {number}")
    one.asks(answer("done"))
    *turns, _ = recorded(recording).turns
    assert [[each.content for each in turn.tool_results] for turn in turns] == [
        [f"calc {number}", f"search {number}"] for number in range(3)
    ]


def test_two_agents_of_an_episode_with_the_same_ids_keep_their_results(agent):
    recording = Recording()
    one, other = agent(recording), agent(recording, {"role": "user", "content": "sub"})
    one.asks(answer(calls=[call("call_0", arguments='{"of": "one"}')]))
    other.asks(answer(calls=[call("call_0", arguments='{"of": "other"}')]))
    one.shows("call_0", "to one")
    other.shows("call_0", "to other")
    one.asks(answer("done"))
    other.asks(answer("done"))
    first, second, *_ = recorded(recording).turns
    assert [first.tool_results[0].content, second.tool_results[0].content] == ["to one", "to other"]


def test_what_was_thrown_away_or_failed_is_marked_and_not_kept():
    recording = Recording()
    first, second, third = (recording.began({"messages": []}) for _ in range(3))
    recording.answered(first, answer(calls=[call("a")]))
    recording.discarded(first)
    recording.failed(second, TimeoutError("secret"))
    recording.answered(third, answer(calls=[call("a")]))
    recording.failed(third, ValueError("behind the answer"))
    recording.tool(ToolResult(call_id="a", content="42"))
    trajectory = recorded(recording)
    assert [(turn.discarded, turn.error) for turn in trajectory.turns] == [
        (True, ""),
        (False, "TimeoutError"),
        (False, ""),
    ]
    assert [turn.index for turn in trajectory.kept] == [2]
    assert trajectory.kept[0].tool_results[0].content == "42"
    assert trajectory.turns[0].tool_results[0].status == "missing"


TEXT = '<tool_call>{"name": "calc", "arguments": {}}</tool_call>'


@pytest.mark.parametrize("engine", ["as text", "changed before it is recorded"])
def test_a_tool_call_that_was_text_is_counted_and_its_result_found(agent, engine):
    from reward_functions.rollouts.record.text_tool_calls import recovered

    recording = Recording()
    one = agent(recording)
    changed = recovered({"role": "assistant", "content": TEXT}, TOOLS)
    given = answer(TEXT) if engine == "as text" else {"choices": [{"message": changed}]}
    one.asks(given)
    one.messages[-1] = changed
    one.shows(changed["tool_calls"][0]["id"], "42")
    one.asks(answer("done"))
    first, second = recorded(recording).turns
    assert [(each.name, each.recovered) for each in first.tool_calls] == [("calc", True)]
    assert first.tool_results[0].content == "42"
    assert (first.changed, second.changed) == (True, False)


def test_tokens_are_the_engines_or_absent():
    recording = Recording()
    response = answer("hi", prompt_token_ids=[1, 2])
    response["choices"][0] |= {
        "token_ids": [3, 4],
        "logprobs": {"content": [{"logprob": -0.5}, {"logprob": 0.0}]},
    }
    recording.answered(recording.began({}), response)
    response["choices"][0]["logprobs"]["content"][1]["logprob"] = None
    recording.answered(recording.began({}), response)
    response["choices"][0]["logprobs"] = {"content": [{"logprob": -0.5}]}
    recording.answered(recording.began({}), response)
    whole, absent, misaligned = recorded(recording).turns
    assert (whole.tokens.prompt_ids, whole.tokens.completion_ids) == ((1, 2), (3, 4))
    assert whole.tokens.logprobs == (-0.5, 0.0)
    assert absent.tokens.logprobs is None
    assert (misaligned.tokens, misaligned.unread) == (None, ("tokens",))


class Broken(dict):
    def get(self, *_):
        raise RuntimeError


@settings(max_examples=60, deadline=None)
@given(HOSTILE, HOSTILE, HOSTILE)
def test_nothing_that_is_sent_raises_into_the_episode(request, response, message):
    recording = Recording(most=5_000)
    for sent in (request, {"messages": [message, request], "tools": response}):
        handle = recording.began(sent)
        recording.answered(handle, response)
        recording.answered(recording.began(sent), {"choices": [{"message": message}]})
    trajectory = recorded(recording)
    assert len(trajectory.turns) == 4
    assert all(len(turn.tool_calls) == len(turn.tool_results) for turn in trajectory.turns)


@pytest.mark.parametrize(
    ("response", "unread"),
    [
        (None, "response"),
        ({"choices": []}, "response"),
        ({"choices": [{"message": None}]}, "response"),
        (Broken(), "response"),
        (answer("hi", usage={"prompt_tokens": -1}), "usage"),
        (answer("hi", usage={"prompt_tokens": "7"}), "usage"),
        (answer("hi", usage={"prompt_tokens": 2**63}), "usage"),
        (answer("hi", usage={"prompt_tokens": True}), "usage"),
        (answer("hi", usage={"completion_tokens": 10**5000}), "usage"),
        (answer(calls=[call("a"), "b"]), "tool_calls"),
        ({"choices": [{"message": {"content": float("nan")}}]}, "response"),
        ({"choices": [{"message": {"content": {1: 2}}}]}, "response"),
    ],
)
def test_what_cannot_be_read_is_named(response, unread):
    recording = Recording()
    recording.answered(recording.began({"messages": []}), response)
    assert unread in recorded(recording).turns[0].unread


def test_messages_nested_without_end_are_named_and_the_next_turn_is_whole():
    deep = []
    for _ in range(100_000):
        deep = [deep]
    recording = Recording()
    recording.began({"messages": [{"content": deep}]})
    recording.began({"messages": [{"content": "hi"}]})
    first, second = recorded(recording).turns
    assert (first.unread, first.messages) == (("messages",), ())
    assert second.messages == ({"content": "hi"},)
    while deep:  # a destructor of Python's would go as deep
        deep = deep[0]


def test_what_the_agent_changes_afterwards_changes_nothing():
    recording = Recording()
    messages = [{"role": "user", "content": ["a"]}]
    recording.began({"messages": messages})
    messages[0]["content"].append("b")
    recording.began({"messages": messages})
    assert [turn.messages[0]["content"] for turn in recorded(recording).turns] == [
        ["a"],
        ["a", "b"],
    ]


def test_equal_messages_are_one_object_and_one_is_not_true():
    recording = Recording()
    for flag in (1, True, 1):
        recording.began({"messages": json.loads(json.dumps([{"role": "user", "flag": flag}]))})
    first, second, third = (turn.messages[0] for turn in recorded(recording).turns)
    assert first is third
    assert first is not second


def test_an_episode_of_40_turns_does_not_hold_40_copies(agent):
    def history(turns):
        recording = Recording()
        one = agent(recording)
        for number in range(turns):
            one.asks(answer("y" * 2000, calls=[call(f"c{number}")]))
            one.shows(f"c{number}", f"{number}" + "z" * 4000)
        return recording

    tracemalloc.start()
    try:
        recording = history(40)
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    whole = sum(len(str(turn.messages)) for turn in recorded(recording).turns)
    assert whole > 4_500_000
    assert held < 1_000_000


def test_what_no_longer_fits_is_left_out_and_the_trajectory_says_so(agent):
    recording = Recording(most=4_000, most_turns=3)
    one = agent(recording)
    one.asks(answer("short"))
    one.asks(answer("x" * 5_000, calls=[call("a")]))
    recording.tool(ToolResult(call_id="a", content="y" * 5_000))
    one.asks(answer("short"))
    assert recording.began({"messages": []}) == NOT_KEPT
    for method, value in (("answered", answer()), ("failed", ValueError())):
        getattr(recording, method)(NOT_KEPT, value)
    recording.discarded(NOT_KEPT)
    trajectory = recorded(recording)
    assert trajectory.truncated
    assert [turn.unread for turn in trajectory.turns] == [(), ("response",), ("messages",)]
    assert "x" * 100 not in repr(trajectory.turns[1].response)


def test_a_recording_is_shared_by_threads():
    recording = Recording()

    def episode(number):
        one = Agent(recording, {"role": "user", "content": f"{number}"})
        one.asks(answer(calls=[call("call_0", arguments=f'{{"n": {number}}}')]))
        recording.tool(ToolResult(call_id=f"other{number}"))
        one.shows("call_0", f"{number}")
        one.asks(answer("done"))

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(episode, range(40)))
    turns = [turn for turn in recorded(recording).turns if turn.tool_calls]
    assert len(turns) == 40
    for turn in turns:
        assert turn.tool_results[0].content == turn.messages[0]["content"]


def test_calls_and_results_are_paired_where_results_are_fewer():
    from reward_functions.rollouts.record.types import Turn

    calls = tuple(ToolCall(id=each, name="calc") for each in "aab")
    results = (ToolResult(call_id="a", content="1"), ToolResult(call_id="b", content="2"))
    turn = Turn(index=0, tool_calls=calls, tool_results=results)
    assert [result.content for _, result in turn.pairs] == ["1", "", "2"]


ENDLESS = [10**400, -(10**400), 10**5000, float("inf"), float("nan")]


@pytest.mark.parametrize("number", ENDLESS, ids=["400", "-400", "5000", "inf", "nan"])
def test_a_number_beyond_a_float_costs_its_part_of_the_turn_and_is_no_warning(number, caplog):
    recording = Recording()
    handle = recording.began({"messages": [{"role": "user"}], "temperature": number})
    choice = {"message": {"role": "assistant", "content": "hi"}, "token_ids": [1]}
    choice |= {"logprobs": {"content": [{"logprob": number}]}}
    recording.answered(handle, {"prompt_token_ids": [1], "choices": [choice]})
    one = recorded(recording)
    assert one.turns[0].unread == ("parameters", "tokens")
    assert one.turns[0].response["content"] == "hi"
    assert read(written(one)) == one
    assert not caplog.records


def test_calls_of_one_id_cost_their_number_and_not_its_square():
    """An engine that numbers its calls from 0 in each answer: 1,000 turns took 80 seconds."""
    called = [ToolCall(id="call_0", name="t")]

    def shown(turns):
        results, messages = ToolResults(), []
        for turn in range(turns):
            results.called(turn, called)
            function = {"name": "t", "arguments": "{}"}
            messages += [
                {"role": "assistant", "tool_calls": [{"id": "call_0", "function": function}]},
                {"role": "tool", "tool_call_id": "call_0", "content": f"{turn}"},
            ]
        for _ in range(5):
            assert list(results.shown(messages)) == []
        found = [results.of(turn, called)[0] for turn in range(turns)]
        assert [result.content for result in found] == [str(turn) for turn in range(turns)]

    assert_linear(shown, 500, 2_000)
