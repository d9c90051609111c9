"""Trajectories of Strands: what the policy wrote, what tools gave back, what was thrown away."""

import asyncio
import json
from concurrent.futures import ThreadPoolExecutor

import pytest
from pydantic import BaseModel
from strands import Agent, tool
from strands.event_loop import _retry
from strands.hooks import AfterModelCallEvent, AfterToolCallEvent
from strands.models.openai import OpenAIModel
from strands.multiagent import GraphBuilder, Swarm

from reward_functions.core.errors import ConfigurationError
from reward_functions.rollouts.episode.episode import RolloutContext, current_rollout
from reward_functions.rollouts.policy.strands import OVER
from reward_functions.rollouts.strands import (
    RolloutHooks,
    UnsupportedModel,
    adapt_agent,
    wrap_model,
)
from tests.loopback import served
from tests.rollouts.acting_policy import ActingPolicy, Record
from tests.rollouts.policy.strands.conftest import HELLO, JOB, agent, calculator, metadata
from tests.rollouts.policy.strands.test_hooks import Repeats

AT_ONCE = 64


@pytest.fixture
def policy():
    service = ActingPolicy()
    with served(service):
        yield service


@pytest.fixture
def plain(policy):
    args = {"base_url": f"{policy.address}/v1", "api_key": "key", "max_retries": 0}
    return OpenAIModel(model_id="default", client_args=args)


def episode_of(number=0, parameters=None):
    return RolloutContext(metadata(number), parameters, recording=Record())


def recorded(model, *hooks, tools=(calculator,), prompt="solve 0"):
    """The record of an episode of one invocation."""
    episode = episode_of()
    with episode:
        made = Agent(
            model=model,
            tools=[*tools],
            callback_handler=None,
            hooks=[RolloutHooks(), *hooks],
            retry_strategy=None,
        )
        made(prompt)
    return episode.recording, episode


def test_an_answer_is_recorded_as_the_policy_wrote_it(plain, policy):
    policy.thought = "Let me compute."
    record, _ = recorded(wrap_model(plain))
    first, last = record.messages
    assert first["reasoning_content"] == "Let me compute."
    assert first["content"] is None
    assert record.called == [("call_0_0", "calculator", '{"expression": "0"}')]
    assert last["content"] == policy.answer_text
    assert [reply["choices"][0]["finish_reason"] for reply in record.replies.values()] == [
        "tool_calls",
        "stop",
    ]
    assert record.replies[0]["usage"]["prompt_tokens"] == 7
    assert record.requests[0]["tools"][0]["function"]["name"] == "calculator"
    assert record.requests[1]["messages"][-1]["role"] == "tool"


def test_several_calls_of_one_step_each_have_their_result(plain, policy):
    policy.names = ("calculator",) * 3
    record, episode = recorded(wrap_model(plain))
    assert [call[0] for call in record.called] == ["call_0_0", "call_0_1", "call_0_2"]
    assert sorted(record.tools) == ["call_0_0", "call_0_1", "call_0_2"]
    assert {each.status for each in record.tools.values()} == {"success"}
    assert all(each.seconds is not None for each in record.tools.values())
    assert episode.turns == 2


@tool
def failing(expression: str) -> str:
    """Fail.

    Args:
        expression: anything.
    """
    raise RuntimeError(f"no {expression}")


@pytest.mark.parametrize(
    ("names", "arguments", "content"),
    [
        (("failing",), None, "no 0"),
        (("rm_rf",), None, "Unknown tool"),
        (("calculator",), '{"expression": ', "expression"),
    ],
    ids=["fails", "is invented", "arguments are no JSON"],
)
def test_a_tool_that_gives_no_result_gives_an_error(plain, policy, names, arguments, content):
    policy.names, policy.arguments = names, arguments
    record, _ = recorded(wrap_model(plain), tools=[calculator, failing])
    assert record.tools["call_0_0"].status == "error"
    assert content in record.tools["call_0_0"].content
    assert record.called[0][2] == (arguments or '{"expression": "0"}'), "kept as written"


def test_an_answer_that_a_hook_has_repeated_is_marked(plain):
    record, episode = recorded(wrap_model(plain), Repeats(AfterModelCallEvent))
    assert record.thrown_away == [0]
    assert (len(record.replies), episode.turns) == (3, 3)


def test_a_tool_that_a_hook_has_repeated_has_one_result(plain):
    record, _ = recorded(wrap_model(plain), Repeats(AfterToolCallEvent))
    assert record.tools["call_0_0"].discarded == 1


def test_a_throttled_call_that_is_made_again_failed_and_is_no_turn(plain, policy, monkeypatch):
    async def at_once(seconds):
        pass

    monkeypatch.setattr(_retry.asyncio, "sleep", at_once)
    policy.fail("v1/chat/completions", (429, {}, b"{}"))
    episode = episode_of()
    with episode:
        agent(wrap_model(plain), [RolloutHooks()])("solve 0")
    assert episode.recording.errors == {0: "CallRefused"}
    assert (sorted(episode.recording.replies), episode.turns) == ([1, 2], 2)


class Answer(BaseModel):
    """What a structured output is to be."""

    number: int


@pytest.mark.parametrize(("text", "fits"), [('{"number": 42}', True), ("forty-two", False)])
def test_a_structured_output_is_recorded_whether_it_fits_or_not(plain, policy, text, fits):
    policy.answer_text = text
    episode = episode_of()

    async def outputs():
        return [each async for each in wrap_model(plain).structured_output(Answer, HELLO)]

    with episode:
        if fits:
            asyncio.run(outputs())
        else:
            with pytest.raises(ValueError, match="Invalid JSON"):
                asyncio.run(outputs())
    assert [each["content"] for each in episode.recording.messages] == [text]
    assert episode.recording.errors == {}
    assert episode.turns == 1


def test_a_stream_that_is_left_leaves_nothing_in_its_reader(plain):
    """Its steps run in a context of their own, and whichever task may close it."""
    model, episode = wrap_model(plain), episode_of()

    async def leave():
        events = model.stream(HELLO)
        await anext(events)
        assert [each async for each in model.stream(HELLO)], "a call of its own, between two events"
        await asyncio.create_task(events.aclose())

    with episode:
        asyncio.run(leave())
    assert sorted(episode.recording.replies) == [1]
    assert episode.recording.errors == {0: "UnreadableAnswer"}, "nothing was read of it"
    assert episode.turns == 2


WRITTEN = '<tool_call>{"name": "calculator", "arguments": {"expression": "6*7"}}</tool_call>'


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize(("recovers", "turns"), [(True, 2), (False, 1)])
def test_tool_calls_in_the_text_are_calls_where_that_is_asked_for(
    plain, policy, recovers, turns, stream
):
    policy.written = f"I compute.\n{WRITTEN}"
    plain.update_config(stream=stream)
    record, episode = recorded(wrap_model(plain, recover_tool_calls=recovers))
    assert record.messages[0]["content"] == policy.written, "recorded as it was written"
    assert (episode.turns, len(record.tools)) == (turns, turns - 1)


def test_a_text_that_calls_no_tool_passes_as_it_is(plain, policy):
    policy.written = "It is 42."
    episode = episode_of()
    with episode:
        assert str(agent(wrap_model(plain, recover_tool_calls=True))("solve 0")) == "It is 42.\n"


def parameters(number):
    return {"temperature": number / 100}


def assert_own(policy, episodes):
    """Every call with its own headers and parameters, every record with its own calls."""
    assert len(policy.calls) == 2 * len(episodes)
    for call in policy.calls:
        number = int(call.prompt.removeprefix("solve "))
        assert call.identity == (JOB, f"rollout-{number}")
        assert call.parameters == parameters(number)
    for number, episode in enumerate(episodes):
        record = episode.recording
        wanted = json.dumps({"expression": str(number)})
        assert record.called == [
            (f"call_{number}_{index}", "calculator", wanted) for index in range(2)
        ]
        assert sorted(record.tools) == [f"call_{number}_0", f"call_{number}_1"]
        assert episode.turns == 2


def test_tasks_over_one_model_have_trajectories_of_their_own(plain, policy):
    policy.names = ("calculator",) * 2
    model, hooks = wrap_model(plain), RolloutHooks()
    episodes = [episode_of(number, parameters(number)) for number in range(AT_ONCE // 4)]

    async def one(number):
        with episodes[number]:
            await agent(model, [hooks]).invoke_async(f"solve {number}")

    async def everyone():
        await asyncio.gather(*map(one, range(AT_ONCE // 4)))

    asyncio.run(everyone())
    assert_own(policy, episodes)


def test_threads_over_one_model_have_trajectories_of_their_own(plain, policy):
    policy.names = ("calculator",) * 2
    model, hooks = wrap_model(plain), RolloutHooks()
    episodes = [episode_of(number, parameters(number)) for number in range(AT_ONCE // 4)]

    def one(number):
        with episodes[number]:
            agent(model, [hooks])(f"solve {number}")

    with ThreadPoolExecutor(len(episodes)) as pool:
        list(pool.map(one, range(len(episodes))))
    assert_own(policy, episodes)


# Several agents of one episode


def test_the_agents_of_a_graph_are_one_episode(plain, policy):
    model, hooks, episode = wrap_model(plain), RolloutHooks(), episode_of()
    builder = GraphBuilder().set_max_node_executions(9)
    for name in ("first", "second", "third"):
        builder.add_node(agent(model, [hooks]), name)
    builder.add_edge("first", "third")
    builder.add_edge("second", "third")
    with episode:
        builder.build()("solve 0")
    assert episode.turns == len(episode.recording.replies) == 6, "two run at once, one behind them"
    assert hooks.of(episode).tools["calculator"].calls == 3
    assert {call.identity for call in policy.calls} == {(JOB, "rollout-0")}


def test_the_agents_of_a_swarm_are_one_episode(plain, policy):
    policy.names = ("handoff_to_agent",)
    policy.arguments = json.dumps({"agent_name": "second", "message": "yours"})
    model, hooks, episode = wrap_model(plain), RolloutHooks(), episode_of()
    with episode:
        Swarm([agent(model, [hooks], name=name) for name in ("first", "second")])("solve 0")
    called = {name for _, name, _ in episode.recording.called}
    assert called == {"handoff_to_agent"}
    assert episode.turns == len(episode.recording.replies) == len(policy.calls)


# Middleware


def test_an_agent_that_exists_is_adapted_and_its_model_stays(plain, policy):
    made, episode = adapt_agent(agent(plain)), episode_of(3, {"temperature": 0.3})
    with episode:
        made("solve 3")
    assert made.model is plain
    assert {(call.identity, call.parameters["temperature"]) for call in policy.calls} == {
        ((JOB, "rollout-3"), 0.3)
    }
    assert (episode.turns, len(episode.recording.replies)) == (2, 2)
    policy.calls.clear()
    agent(plain)("solve 3")
    assert policy.calls[0].identity == (None, None)


def test_an_adapted_agent_whose_model_is_another_kind_is_refused_at_its_call():
    from strands.models.bedrock import BedrockModel

    model = BedrockModel.__new__(BedrockModel)
    model.config = {"model_id": "m"}
    model._model_state = {}
    with episode_of(), pytest.raises(UnsupportedModel, match="not BedrockModel"):
        adapt_agent(agent(model))("solve 0")


def test_a_deadline_within_a_tool_ends_an_adapted_agent(plain, policy):
    @tool
    def slow(expression: str) -> str:
        """Take too long.

        Args:
            expression: anything.
        """
        current_rollout().cancelled.set()
        return "late"

    policy.names = ("slow",)
    made = Agent(model=plain, tools=[slow], callback_handler=None)
    with episode_of():
        assert str(adapt_agent(made)("solve 0")).strip() == OVER
    assert len(policy.calls) == 1


def test_an_adapted_agent_has_the_hooks_too(plain):
    hooks, episode = RolloutHooks(), episode_of()
    with episode:
        adapt_agent(agent(plain), hooks=hooks)("solve 0")
    assert hooks.of(episode).tools["calculator"].calls == 1
    assert list(episode.recording.tools) == ["call_0_0"]


def test_a_strands_without_middleware_is_answered_with_what_to_say():
    with pytest.raises(ConfigurationError, match="wrap_model"):
        adapt_agent(object())
