"""OpenAI's Agents SDK: one model for many rollouts, and the tools of each in its own record."""

import asyncio

import openai
import pytest
from agents import Agent, OpenAIChatCompletionsModel, OpenAIResponsesModel, Runner, function_tool
from agents import RunConfig as Config
from agents.tracing import get_trace_provider

from reward_functions.core.errors import ConfigurationError
from reward_functions.rollouts.agents import (
    RolloutRunHooks,
    UnsupportedModel,
    rollout_model,
    wrap_model,
)
from reward_functions.rollouts.episode.results import response_of
from reward_functions.rollouts.request.errors import PolicyFailure
from tests.rollouts.crossing import AT_ONCE, JOB, assert_one_span_a_call, crossed, episode, turns

ANSWER = "The answer is 42."


@function_tool
def calculator(expression: str) -> str:
    """Compute."""
    if expression == "fail":
        raise ValueError("no such number")
    return "42"


@pytest.fixture(autouse=True)
def _no_spans_to_openai(monkeypatch):
    """The SDK's own spans stay here: its exporter would send prompts to OpenAI."""
    monkeypatch.setattr(get_trace_provider()._multi_processor, "_processors", ())


def own_client(policy, **kwargs):
    return openai.AsyncOpenAI(base_url=f"{policy.address}/v1", api_key="key", **kwargs)


async def run(model, number=0, **kwargs):
    agent = Agent(name="solver", model=model, tools=[calculator])
    return await Runner.run(agent, f"solve {number}", **kwargs)


def results(episode):
    turns = episode.recording.trajectory(id="").turns
    return [each for turn in turns for each in turn.tool_results]


def test_runs_over_one_model_are_as_many_rollouts(policy):
    episodes, hooks = [episode(number) for number in range(AT_ONCE)], RolloutRunHooks()

    async def one(model, number):
        with episodes[number]:
            result = await run(model, number, hooks=hooks)
        return response_of(result)

    async def everyone():
        async with own_client(policy) as client:
            model = rollout_model(client=client)
            return await asyncio.gather(*(one(model, number) for number in range(AT_ONCE)))

    assert asyncio.run(everyone()) == [ANSWER] * AT_ONCE
    assert len(policy.calls) == 2 * AT_ONCE
    assert crossed(policy.calls) == []
    assert_one_span_a_call(policy.calls)
    for each in episodes:
        assert turns(each) == [(["calculator"], ""), (ANSWER, "")]
        assert each.turns == 2
        [result] = results(each)
        assert (result.call_id, result.content, result.status) == ("call_1", "42", "success")
        assert result.seconds >= 0
    assert len(hooks._began) == 0


def test_a_streamed_run_is_recorded_too(policy):
    one = episode()

    async def streamed():
        async with own_client(policy) as client:
            agent = Agent(name="s", model=rollout_model(client=client), tools=[calculator])
            with one:
                result = Runner.run_streamed(agent, "solve 0", hooks=RolloutRunHooks())
                return [event async for event in result.stream_events()], result.final_output

    events, output = asyncio.run(streamed())
    assert events
    assert output == ANSWER
    assert turns(one) == [(["calculator"], ""), (ANSWER, "")]


@pytest.mark.parametrize(
    ("tracing", "status"), [(True, "error"), (False, "success")], ids=["traced", "not traced"]
)
def test_a_tool_that_raises_is_a_failed_one_where_the_sdk_says_so(policy, tracing, status):
    one = episode()
    policy.arguments = {"expression": "fail"}

    async def failing():
        async with own_client(policy) as client:
            config = Config(tracing_disabled=not tracing)
            with one:
                await run(rollout_model(client=client), hooks=RolloutRunHooks(), run_config=config)

    asyncio.run(failing())
    [result] = results(one)
    assert result.status == status


def test_the_run_ends_at_the_deadline_before_the_next_tool(policy):
    one, seen = episode(), []

    class Cancels(RolloutRunHooks):
        async def on_llm_end(self, *_):
            one.cancelled.set()

        async def on_tool_end(self, *args):
            seen.append(args)

    async def late():
        async with own_client(policy) as client:
            with one:
                await run(rollout_model(client=client), hooks=Cancels())

    with pytest.raises(Exception, match="window is over") as raised:
        asyncio.run(late())
    assert PolicyFailure in {type(raised.value), type(raised.value.__cause__)}
    assert len(policy.calls) == 1
    assert seen == []


def test_the_model_that_is_wrapped_stays_as_it_was(policy):
    async def both():
        async with own_client(policy) as client:
            model = OpenAIChatCompletionsModel("default", client)
            before = dict(vars(model))
            wrapped = wrap_model(model)
            with episode():
                await run(wrapped)
                await run(model)
            return before == vars(model)

    assert asyncio.run(both())
    assert [each.identity for each in policy.calls] == [(JOB, "rollout-0")] * 2 + [(None, None)] * 2


@pytest.mark.parametrize(
    "model", [lambda client: OpenAIResponsesModel("m", client), lambda client: "gpt"]
)
def test_another_model_is_refused_with_what_to_say(model):
    with pytest.raises(UnsupportedModel, match=r"rollout_model\(\)") as raised:
        wrap_model(model(openai.AsyncOpenAI(api_key="k")))
    assert isinstance(raised.value, ConfigurationError)


def test_outside_an_episode_the_hooks_do_nothing(policy):
    async def outside():
        async with own_client(policy) as client:
            return await run(rollout_model(client=client), hooks=RolloutRunHooks())

    assert asyncio.run(outside()).final_output == ANSWER
