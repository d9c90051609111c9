"""What an agent did in an episode: one object for all agents, nothing counted twice."""

import asyncio
from weakref import ref

import pytest
from strands.hooks import AfterModelCallEvent, AfterToolCallEvent, HookProvider
from strands.models.openai import OpenAIModel

from reward_functions.rollouts.episode.episode import RolloutContext
from reward_functions.rollouts.policy.strands import OVER, UNKNOWN_TOOL, ModelCall
from reward_functions.rollouts.strands import RolloutHooks, wrap_model
from tests.rollouts.policy.strands.conftest import agent, metadata
from tests.waiting import until_gone

CALLS = [ModelCall("tool_use", 7, 3), ModelCall("end_turn", 7, 3)]
"""Of one invocation over the policy: what it says of each call's tokens is not summed up."""


class Repeats(HookProvider):
    """Another hook, that has the first attempt of each thrown away."""

    def __init__(self, event):
        self.event = event
        self.left = 1

    def register_hooks(self, registry, **kwargs):
        registry.add_callback(self.event, self.repeat)

    def repeat(self, event):
        self.left, event.retry = self.left - 1, self.left > 0


class Cancels(HookProvider):
    """Another hook, that ends the episode when a model has answered for the first time."""

    def __init__(self, event):
        self.event = event

    def register_hooks(self, registry, **kwargs):
        registry.add_callback(self.event, self.cancel)

    def cancel(self, event):
        self.episode.cancelled.set()


@pytest.fixture
def model(policy):
    args = {"base_url": f"{policy.address}/v1", "api_key": "key"}
    return OpenAIModel(model_id="default", client_args=args)


def run(model, *hooks, episode=None):
    """An episode of one invocation, and what the hooks have of it."""
    episode = episode or RolloutContext(metadata())
    mine = RolloutHooks()
    with episode:
        result = agent(model, [mine, *hooks])("solve 0")
    return episode, mine.of(episode), result


def test_an_episode_has_its_calls_and_its_tools(model):
    _, statistics, _ = run(model)
    assert statistics.model_calls == CALLS
    assert (statistics.input_tokens, statistics.output_tokens) == (14, 6)
    assert list(statistics.tools) == ["calculator"]
    assert (statistics.tools["calculator"].calls, statistics.tools["calculator"].failures) == (1, 0)


@pytest.mark.parametrize(
    ("wrap", "turns"), [(wrap_model, 2), (lambda model: model, 0)], ids=["wrapped", "not"]
)
def test_the_model_counts_turns_and_the_hooks_never_do(model, wrap, turns):
    episode, statistics, _ = run(wrap(model))
    assert episode.turns == turns, "what no runtime captures is no turn"
    assert len(statistics.model_calls) == 2


@pytest.mark.parametrize("order", [1, -1], ids=["behind", "before"])
def test_an_answer_that_was_repeated_is_a_turn_and_no_call(model, order):
    """The runtime has captured it; the agent never saw it."""
    episode, statistics = RolloutContext(metadata()), RolloutHooks()
    hooks = [statistics, Repeats(AfterModelCallEvent)][::order]
    with episode:
        agent(wrap_model(model), hooks)("solve 0")
    assert statistics.of(episode).model_calls == CALLS
    assert statistics.of(episode).discarded == 1
    assert episode.turns == 3


def test_a_tool_call_that_was_repeated_is_discarded(model):
    _, statistics, _ = run(model, Repeats(AfterToolCallEvent))
    assert (statistics.tools["calculator"].calls, statistics.tools["calculator"].discarded) == (
        1,
        1,
    )


def test_tools_that_a_model_invents_have_one_name(model, policy):
    policy.tool = "rm_rf"
    _, statistics, _ = run(model)
    assert list(statistics.tools) == [UNKNOWN_TOOL]
    assert (statistics.tools[UNKNOWN_TOOL].calls, statistics.tools[UNKNOWN_TOOL].failures) == (1, 1)


def test_a_call_without_an_answer_is_a_failure(model, policy):
    policy.fail("v1/chat/completions", (400, {}, b"{}"))
    episode, hooks = RolloutContext(metadata()), RolloutHooks()
    with episode, pytest.raises(Exception, match="400"):
        agent(wrap_model(model), [hooks])("solve 0")
    assert (hooks.of(episode).model_calls, hooks.of(episode).failures, episode.turns) == ([], 1, 0)


@pytest.mark.parametrize(
    ("behind", "calls", "tools"),
    [(AfterModelCallEvent, 1, 0), (AfterToolCallEvent, 1, 1)],
    ids=["before the tool", "before the model"],
)
def test_behind_the_deadline_nothing_is_called_any_more(model, policy, behind, calls, tools):
    cancels = Cancels(behind)
    cancels.episode = RolloutContext(metadata())
    _, statistics, result = run(model, cancels, episode=cancels.episode)
    assert str(result).strip() == OVER
    assert (len(policy.calls), len(statistics.model_calls)) == (calls, calls)
    assert sum(tool.calls for tool in statistics.tools.values()) == tools


def test_agents_at_once_share_one_object(model):
    hooks, model = RolloutHooks(), wrap_model(model)
    episodes = [RolloutContext(metadata(number)) for number in range(16)]

    async def one(number):
        with episodes[number]:
            await agent(model, [hooks]).invoke_async(f"solve {number}")

    async def everyone():
        await asyncio.gather(*map(one, range(16)))

    asyncio.run(everyone())
    for episode in episodes:
        assert hooks.of(episode).model_calls == CALLS
        assert hooks.of(episode).tools["calculator"].calls == 1
        assert episode.turns == 2


def test_an_episode_that_is_gone_is_forgotten(model):
    hooks = RolloutHooks()
    with RolloutContext(metadata()) as episode:
        agent(model, [hooks])("solve 0")
    alive = ref(episode)
    del episode
    until_gone(alive)
    assert len(hooks._episodes) == 0
    assert len(hooks._waiting) == 0


def test_outside_an_episode_they_do_nothing(model):
    hooks = RolloutHooks()
    agent(model, [hooks])("solve 0")
    with pytest.raises(LookupError, match="rollout_handler"):
        hooks.of()
