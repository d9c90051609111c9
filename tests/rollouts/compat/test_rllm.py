"""compat.rllm: rLLM's names on what is recorded here, without its bugs (R1 to R6)."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace

import pytest
from pydantic import BaseModel, ValidationError
from strands import Agent, tool
from strands.hooks import AfterModelCallEvent, HookProvider

from reward_functions.core.errors import BadReference
from reward_functions.rollouts.compat import rllm
from reward_functions.rollouts.record.exchange.rllm import rllm_trajectory
from reward_functions.rollouts.request.errors import EnvironmentFailure, InvalidReward
from tests.rollouts.record.exchange.episodes import trajectory, turn

CONFIG = rllm.AgentConfig(base_url="http://127.0.0.1:1/v1", model="m", session_uid="s1")
TASK = rllm.Task(id="q1", instruction="What is 6 × 7?", metadata={"answer": "42"})


@tool
def calculator(expression: str) -> str:
    """Compute.

    Args:
        expression: what to compute.
    """
    return f"{expression} is 42"


def engine(*answers):
    """An engine that gives its answers in turn."""
    left = list(answers)

    async def get_model_response(messages, **parameters):
        seen.append((messages, parameters))
        return left.pop(0)

    seen = []
    return SimpleNamespace(get_model_response=get_model_response, seen=seen)


def output(text="", *calls, finish="stop"):
    return SimpleNamespace(text=text, tool_calls=calls, finish_reason=finish)


CALL = {"name": "calculator", "arguments": {"expression": "6*7"}}


def agent(of, model, **kwargs):
    return of(model=model, tools=[calculator], callback_handler=None, **kwargs)


# ------------------------------------------------------------------------------------- the types


def test_what_is_exported_is_read_by_the_models_and_written_again():
    written = rllm_trajectory(trajectory(turn(0, [1], [2]), turn(1, [1, 2], [3])))
    read = rllm.Trajectory.from_dict(written)
    assert (read.steps[0].response_ids, read.steps[0].logprobs) == ([2], [-1.0])
    assert read.to_dict() == written


def test_a_step_whose_logprobs_belong_to_other_tokens_is_refused():
    with pytest.raises(ValidationError, match="1 log-probabilities for 2 tokens"):
        rllm.Step(response_ids=[1, 2], logprobs=[-1.0])


def test_info_is_metadata():
    step = rllm.Step.from_dict({"info": {"a": 1}})
    step.info["b"] = 2
    assert step.metadata == {"a": 1, "b": 2}
    assert rllm.Step().info == {}


def test_an_engines_output_is_a_step():
    given = SimpleNamespace(content="42", prompt_ids=[1], completion_ids=[2], logprobs=[-0.5])
    step = rllm.Step.from_model_output(given, [{"role": "user", "content": "?"}])
    assert (step.prompt_ids, step.response_ids, step.logprobs) == ([1], [2], [-0.5])
    assert [each["role"] for each in step.chat_completions] == ["user", "assistant"]


def test_ids_are_cut_at_their_colon():
    assert (rllm.Episode(id="a:3").task_id, rllm.Episode(id="a:3").rollout_idx) == ("a", "3")
    assert rllm.Episode(id="a").rollout_idx == ""
    group = rllm.TrajectoryGroup([], group_id="a:solver")
    assert (group.task_id, group.group_role) == ("a", "solver")
    assert rllm.TrajectoryGroup([]).group_role == "all_groups"


def test_a_trajectory_is_cumulative_where_each_step_extends_the_last():
    chat = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]
    steps = [rllm.Step(chat_completions=chat[:1]), rllm.Step(chat_completions=chat)]
    assert rllm.Trajectory(steps=steps).is_cumulative()
    assert not rllm.Trajectory(steps=steps[::-1]).is_cumulative()


# -------------------------------------------------------------------------------- the decorators


def test_a_rollout_is_run_and_awaited_with_and_without_parentheses():
    @rllm.rollout
    def plain(task, config):
        return rllm.Trajectory(output=f"{task.id} {config.model}")

    @rllm.rollout(name="named", register="x")
    async def awaited(task, config, env):
        return rllm.Episode(artifacts={"answer": env})

    episode = plain.run(TASK, CONFIG)
    assert (episode.id, episode.session_id) == ("q1:0", "s1")
    assert asyncio.run(plain.arun(TASK, CONFIG)).trajectories[0].output == "q1 m"
    assert awaited.run(TASK, CONFIG, "e").artifacts == {"answer": "e"}
    assert awaited(TASK, CONFIG).task is TASK
    assert (awaited.name, awaited.registered_as, awaited.__name__) == ("named", "x", "awaited")


def test_a_rollout_that_returns_nothing_has_what_was_recorded():
    assert rllm.rollout(lambda task, config: None).run(TASK, CONFIG).trajectories == []


def test_a_rollout_that_returns_something_else_is_refused_with_a_way_out():
    with pytest.raises(TypeError, match="artifacts="):
        rllm.rollout(lambda task, config: "42").run(TASK, CONFIG)


RESULTS = [
    (0.5, (0.5, True)),
    (0, (0.0, False)),
    (True, (1.0, True)),
    ((0.25, False), (0.25, False)),
    (rllm.EvalOutput(2.0, is_correct=True), (2.0, True)),
]


@pytest.mark.parametrize(("result", "expected"), RESULTS, ids=range(len(RESULTS)))
def test_an_evaluator_returns_a_reward_and_whether_it_is_correct(result, expected):
    found = rllm.evaluator(lambda task, episode: result).evaluate(TASK, rllm.Episode())
    assert (found.reward, found.is_correct) == expected


@pytest.mark.parametrize(
    ("result", "error"), [(float("nan"), InvalidReward), ("1", TypeError), (None, TypeError)]
)
def test_what_is_no_reward_is_refused(result, error):
    with pytest.raises(error):
        rllm.evaluator(lambda task, episode: result).evaluate(TASK, rllm.Episode())


def test_a_reward_of_ours_is_an_evaluator():
    scored = rllm.reward_evaluator("math")
    found = scored(TASK, rllm.Episode(artifacts={"answer": "It is \\boxed{42}."}))
    assert (found.reward, found.is_correct) == (1.0, True)
    steps = [rllm.Step(model_response="\\boxed{41}")]
    assert scored(TASK, rllm.Episode(trajectories=[rllm.Trajectory(steps=steps)])).reward == 0.0
    with pytest.raises(BadReference):
        scored(rllm.Task(id="q", instruction="?"), rllm.Episode())


# --------------------------------------------------------------------------------------- Strands


def test_generation_1_is_one_step_an_invocation_with_all_its_tool_calls():
    asked = engine(output("", CALL, CALL, finish="tool_calls"), output("42"))
    mine = agent(rllm.StrandsAgent, rllm.RLLMModel(asked, model_id="m", temperature=0.5))
    mine("What is 6 × 7?")
    (step,) = mine.trajectory.steps
    assert [call["input"] for call in step.action["tool_calls"]] == [{"expression": "6*7"}] * 2
    assert (step.model_response, step.done, step.observation) == ("42", True, "What is 6 × 7?")
    assert mine.get_tool_call_summary() == step.action["tool_calls"]
    roles = [message["role"] for message in asked.seen[1][0]]
    assert roles == ["user", "assistant", "tool", "tool"]
    assert asked.seen[0][1]["temperature"] == 0.5
    assert asked.seen[0][1]["tools"][0]["function"]["name"] == "calculator"
    mine.update_step_reward(0.5)
    mine.update_step_info({"a": 1})
    assert (mine.trajectory.reward, mine.get_current_state().info) == (0.5, {"a": 1})
    mine.reset()
    assert (mine.messages, mine.trajectory.steps, mine.get_current_state()) == ([], [], None)


def test_agents_that_share_a_model_keep_their_own_tool_calls():
    model = rllm.RLLMModel(engine(output("", CALL, finish="tool_calls"), output("1"), output("2")))
    one, two = (agent(rllm.StrandsAgent, model) for _ in range(2))
    one("a")
    two("b")
    assert (len(one.get_tool_call_summary()), two.get_tool_call_summary()) == (1, [])


def test_an_engine_may_be_a_function_that_returns_a_chat_completion():
    message = {"role": "assistant", "content": "42"}
    usage = {"prompt_tokens": 7, "completion_tokens": 3}

    def answer(messages, **_):
        return {"choices": [{"message": message, "finish_reason": "stop"}], "usage": usage}

    result = agent(Agent, rllm.RLLMModel(answer))("?")
    assert result.metrics.accumulated_usage["inputTokens"] == 7


def test_an_engine_that_returns_no_answer_is_an_environment_failure():
    with pytest.raises(EnvironmentFailure, match="not NoneType"):
        agent(Agent, rllm.RLLMModel(lambda messages, **_: None))("?")


class Sum(BaseModel):
    total: int


def test_an_object_is_asked_for_with_parameters_of_the_engine_alone():
    """Strands' own arguments are nothing that an engine knows."""
    asked = engine(output('It is {"total": 42}.'))
    model = rllm.RLLMModel(asked, temperature=0.5)

    async def found():
        given = {"top_p": 0.9, "stop": None, "invocation_state": {}}
        prompt = [{"role": "user", "content": [{"text": "6 × 7?"}]}]
        return [each async for each in model.structured_output(Sum, prompt, **given)]

    assert asyncio.run(found()) == [{"output": Sum(total=42)}]
    assert asked.seen[0][1] == {"temperature": 0.5, "top_p": 0.9}


class Repeats(HookProvider):
    """Another hook, that has the first answer thrown away."""

    def __init__(self):
        self.left = 1

    def register_hooks(self, registry, **kwargs):
        registry.add_callback(AfterModelCallEvent, self.repeat)

    def repeat(self, event):
        self.left, event.retry = self.left - 1, self.left > 0


def usage_answers():
    calls = [
        {
            "id": "c1",
            "type": "function",
            "function": {"name": "calculator", "arguments": '{"expression": "6*7"}'},
        }
    ]
    for message, finish, used in (
        ({"role": "assistant", "content": "thrown away"}, "stop", 1),
        ({"role": "assistant", "content": None, "tool_calls": calls}, "tool_calls", 10),
        ({"role": "assistant", "content": "42"}, "stop", 20),
    ):
        usage = {"prompt_tokens": used, "completion_tokens": 3}
        yield {"choices": [{"message": message, "finish_reason": finish}], "usage": usage}


def test_generation_2_has_a_step_a_call_with_its_usage_and_its_tools_by_id():
    hooks = rllm.RLLMTrajectoryHookProvider()
    with pytest.raises(ValueError, match="no trajectory yet"):
        hooks.get_trajectory()
    model = rllm.RLLMModel(engine(*usage_answers()), model_id="m")
    agent(Agent, model, hooks=[hooks, Repeats()])("What is 6 × 7?")
    found = hooks.get_trajectory()
    assert found.metadata == {"source": "rllm_trajectory", "model": "m", "num_llm_calls": 2}
    assert (found.input, found.output.strip()) == ({"message": "What is 6 × 7?"}, "42")
    assert [each["tokens"]["prompt"] for each in hooks.get_traces()] == [10, 20]
    (execution,) = found.steps[0].info["tool_executions"]
    assert (execution["tool_call_id"], execution["tool_result"]) == ("c1", "6*7 is 42")
    assert found.steps[0].action[0]["function"]["name"] == "calculator"
    assert found.is_cumulative()
    assert [step.done for step in found.steps] == [False, True]
    assert len(hooks.get_trajectories()) == 1
    hooks.clear()
    assert hooks.get_trajectories() == []


def test_one_provider_serves_agents_at_a_time():
    hooks = rllm.RLLMTrajectoryHookProvider()

    async def both():
        agents = [
            agent(Agent, rllm.RLLMModel(engine(output(str(number)))), hooks=[hooks])
            for number in range(8)
        ]
        await asyncio.gather(*(each.invoke_async(f"ask {at}") for at, each in enumerate(agents)))

    asyncio.run(both())
    pairs = {(each.input["message"], each.output.strip()) for each in hooks.get_trajectories()}
    assert pairs == {(f"ask {number}", str(number)) for number in range(8)}


def test_names_of_strands_are_loaded_when_they_are_used():
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = rllm.nothing
    assert all(hasattr(rllm, name) for name in rllm.__all__)
