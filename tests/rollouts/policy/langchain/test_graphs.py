"""LangGraph: parallel tools, tools that fail, executors, the deadline, and what is scored."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.runnables import RunnableLambda, RunnableParallel
from langchain_core.tools import tool

from reward_functions.rollouts.episode.episode import current_rollout
from reward_functions.rollouts.episode.results import response_of
from reward_functions.rollouts.langchain import RolloutCallbacks, wrap_chat_model
from reward_functions.rollouts.policy.langchain import RUNNING
from reward_functions.rollouts.record import spans
from reward_functions.rollouts.request.errors import PolicyFailure
from tests.rollouts.policy.langchain.conftest import (
    JOB,
    asked,
    calculator,
    episode_of,
    failing,
    graph,
)


def run(agent, number=0, *, waits=False):
    """The record of an episode of one invocation, and its result."""
    episode, config = episode_of(number), {"callbacks": [RolloutCallbacks()]}
    with episode:
        if waits:
            result = asyncio.run(agent.ainvoke(asked(number), config))
        else:
            result = agent.invoke(asked(number), config)
    return episode.recording, result


@pytest.mark.parametrize("waits", [False, True])
def test_tools_that_run_at_once_each_have_their_result(policy, plain, waits):
    policy.names = ("calculator",) * 3
    record, result = run(graph(wrap_chat_model(plain)), waits=waits)
    assert sorted(record.tools) == ["call_0_0", "call_0_1", "call_0_2"]
    assert {(each.content, each.status) for each in record.tools.values()} == {("42", "success")}
    assert all(each.seconds is not None for each in record.tools.values())
    assert response_of(result) == policy.answer_text


@pytest.mark.parametrize("waits", [False, True])
def test_a_tool_that_fails_has_an_error(policy, plain, waits):
    policy.names = ("failing",)
    record, _ = run(graph(wrap_chat_model(plain), [calculator, failing]), waits=waits)
    assert record.tools["call_0_0"].status == "error"
    assert record.tools["call_0_0"].content == "RuntimeError", "the policy's view is in its request"
    assert "no 0" in record.requests[1]["messages"][-1]["content"]


@pytest.mark.parametrize(
    ("names", "arguments", "shown"),
    [(("rm_rf",), None, "not a valid tool"), (("calculator",), '{"expr": 1}', "expression")],
    ids=["is invented", "arguments do not fit"],
)
def test_a_call_that_runs_no_tool_is_seen_in_the_next_request(
    policy, plain, names, arguments, shown
):
    policy.names, policy.arguments = names, arguments
    record, _ = run(graph(wrap_chat_model(plain)))
    assert shown in record.requests[1]["messages"][-1]["content"]


def test_arguments_that_are_no_json_are_kept_as_they_were_written(policy, plain):
    policy.arguments = '{"expression": '
    record, _ = run(graph(wrap_chat_model(plain)))
    assert record.called == [("call_0_0", "calculator", '{"expression": ')]
    assert record.tools == {}, "LangChain calls no tool"


@pytest.mark.parametrize("waits", [False, True])
def test_a_deadline_within_a_tool_ends_the_agent(policy, plain, waits):
    @tool
    def slow(expression: str) -> str:
        """Take too long."""
        current_rollout().cancelled.set()
        return "late"

    policy.names = ("slow",)
    with pytest.raises(PolicyFailure, match="window is over"):
        run(graph(wrap_chat_model(plain), [slow], handles=False), waits=waits)
    assert len(policy.calls) == 1


def test_behind_the_deadline_no_tool_is_called():
    episode = episode_of()
    episode.cancelled.set()
    with episode, pytest.raises(PolicyFailure, match="window is over"):
        calculator.invoke({"expression": "1"}, {"callbacks": [RolloutCallbacks()]})


def test_branches_on_threads_are_calls_of_the_same_rollout(policy, plain):
    """LangChain copies the context into its executors; a bare thread has none."""
    model, episode = wrap_chat_model(plain), episode_of(4)
    branches = RunnableParallel(one=model, two=RunnableLambda(model.invoke))
    with episode:
        branches.invoke("hello")
        model.batch(["hello", "hello"])
        with ThreadPoolExecutor(1) as bare:
            bare.submit(model.invoke, "hello").result()
    identities = [call.identity for call in policy.calls]
    assert identities == [(JOB, "rollout-4")] * 4 + [(None, None)]
    assert episode.turns == len(episode.recording.replies) == 4


class Tools(type(spans.NOTHING)):
    """A hook that keeps the names of tools, and how each ended."""

    def __init__(self):
        self.seen = []

    def begin(self, name, attributes, began, /):
        if name == "tool":
            self.seen.append((attributes["gen_ai.tool.name"], attributes["rollout.status"]))
        return self


def test_a_tool_that_langchain_runs_is_a_span():
    hook = Tools()
    spans.use(hook)
    try:
        with episode_of():
            for each in (calculator, failing):
                call = {
                    "name": each.name,
                    "args": {"expression": "1"},
                    "id": "c",
                    "type": "tool_call",
                }
                with suppress(RuntimeError):
                    each.invoke(call, {"callbacks": [RolloutCallbacks()]})
    finally:
        spans.use(None)
    assert hook.seen == [("calculator", "success"), ("failing", "error")]


def test_outside_an_episode_callbacks_do_nothing(policy, plain):
    callbacks = RolloutCallbacks()
    graph(wrap_chat_model(plain)).invoke(asked(0), {"callbacks": [callbacks]})
    assert callbacks._runs == {}


def test_runs_whose_end_never_comes_are_forgotten():
    callbacks = RolloutCallbacks()
    with episode_of():
        for run_id in range(RUNNING + 5):
            callbacks.on_tool_start({}, "", run_id=run_id)
    assert len(callbacks._runs) == RUNNING


ASKED, CALLING = HumanMessage("q"), AIMessage("", tool_calls=[{"name": "t", "args": {}, "id": "i"}])


@pytest.mark.parametrize(
    ("messages", "response"),
    [
        ([ASKED, AIMessage("forty-two")], "forty-two"),
        (
            [ASKED, AIMessage([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}])],
            "a\nb",
        ),
        ([ASKED, CALLING], ""),
        ([ASKED, CALLING, ToolMessage("42", tool_call_id="i")], "42"),
        ([{"role": "user", "content": "q"}, {"role": "assistant", "content": "plain"}], "plain"),
    ],
    ids=["text", "blocks", "only a call", "a tool's", "mappings"],
)
def test_the_state_of_a_graph_is_a_result_whose_last_message_is_scored(messages, response):
    assert response_of({"messages": messages}) == response
