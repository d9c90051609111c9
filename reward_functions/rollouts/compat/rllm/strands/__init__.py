"""Both generations of rLLM's integration with Strands.

`RLLMTrajectoryHookProvider` (February to May 2026): an agent's invocations as rLLM's trajectories.
The waiting state is kept by agent, so that one provider serves any number of them. A call whose
attempt another hook repeats is known as such when the next one begins, and is no step.

`RLLMModel` (September 2025): a model over any generator, rLLM's RolloutEngine or a function. An
engine has `get_model_response(messages, **parameters)`, or is callable like it; either may be a
coroutine. It returns a chat completion in OpenAI's form, or an object with `text` (or `content`),
`tool_calls` and `finish_reason`. It is asked once a turn, and the turn is recorded where an episode
records. Its result is streamed as one piece. rLLM sets `tool_choice="required"` and turns thinking
off by default. An agent that must call a tool never ends, so neither is a default here. Say so with
the model's parameters.

`StrandsAgent` (September 2025): an agent that keeps one Step of rLLM for each invocation. The tool
calls of a step are read from the messages that the invocation added: the model knows no agent, and
a model that agents share records nothing into the wrong one.
"""

from __future__ import annotations

import inspect
import json
import time
from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING, Any, Final
from uuid import uuid4
from weakref import WeakKeyDictionary

from reward_functions.core.extras import require

require("strands", by=__name__)

from strands import Agent
from strands.hooks import (
    AfterInvocationEvent,
    AfterModelCallEvent,
    AfterToolCallEvent,
    BeforeInvocationEvent,
    BeforeModelCallEvent,
    HookProvider,
)
from strands.models.model import Model

from reward_functions.rollouts.compat.rllm.types import Step, Trajectory
from reward_functions.rollouts.policy.calls import policy_call
from reward_functions.rollouts.policy.converse import REASONS
from reward_functions.rollouts.request.errors import EnvironmentFailure

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Iterable, Iterator, Mapping

    from strands.agent.agent_result import AgentResult
    from strands.hooks import HookRegistry

__all__ = ["RLLMModel", "RLLMTrajectoryHookProvider", "StrandsAgent"]

STRANDS_ONLY = frozenset(
    {
        *("system_prompt_content", "invocation_state", "cancel_signal", "agent_metadata"),
        *("structured_output_model", "model_state"),
    }
)
"""Arguments of `stream` that no engine knows."""


class RLLMModel(Model):
    """A model of Strands over an engine.

    Args:
        rollout_engine: asked once a turn.
        kwargs: `model_id`, and parameters of every call.
    """

    def __init__(self, rollout_engine: Any, **kwargs: Any) -> None:
        self.rollout_engine = rollout_engine
        self._model_id = kwargs.pop("model_id", None)
        self._params: dict[str, Any] = kwargs

    def update_config(self, **model_config: Any) -> None:
        """Change the model's id, or add parameters."""
        self._model_id = model_config.pop("model_id", self._model_id)
        self._params = self._params | model_config

    def get_config(self) -> dict[str, Any]:
        """The model's id and its parameters."""
        return {"model_id": self._model_id, "params": dict(self._params)}

    async def stream(
        self,
        messages: Any,
        tool_specs: Any = None,
        system_prompt: str | None = None,
        **kwargs: Any,
    ) -> AsyncGenerator[Any, None]:
        """A turn, as events of Strands.

        Raises:
            EnvironmentFailure: the engine returned nothing that is an answer.
            PolicyFailure: the rollout's window is over.
        """
        tools = [_tool(spec) for spec in tool_specs or ()]
        chat = openai_messages(messages, system_prompt)
        completion = await self._answered(chat, kwargs | ({"tools": tools} if tools else {}))
        for event in _events(completion):
            yield event

    async def structured_output(
        self, output_model: Any, prompt: Any, system_prompt: str | None = None, **kwargs: Any
    ) -> AsyncGenerator[dict[str, Any], None]:
        """An object of a pydantic model, from the one JSON object that the answer is.

        Raises:
            pydantic.ValidationError: it does not fit.
            EnvironmentFailure: the engine returned nothing that is an answer.
        """
        schema = json.dumps(output_model.model_json_schema())
        chat = openai_messages(prompt, system_prompt)
        chat.append(
            {"role": "user", "content": f"Answer with one JSON object of this schema: {schema}"}
        )
        completion = await self._answered(chat, kwargs)
        text = completion["choices"][0]["message"].get("content") or ""
        begin, end = text.find("{"), text.rfind("}")
        yield {"output": output_model.model_validate_json(text[begin : end + 1])}

    async def _answered(
        self, chat: list[dict[str, Any]], given: Mapping[str, Any]
    ) -> dict[str, Any]:
        """The engine's answer as a chat completion, recorded with the parameters that it got."""
        own = {n: v for n, v in given.items() if v is not None and n not in STRANDS_ONLY}
        parameters = self._params | own
        ask = getattr(self.rollout_engine, "get_model_response", self.rollout_engine)
        with policy_call({"messages": chat, "model": self._model_id, **parameters}) as call:
            answer = ask(chat, **parameters)
            completion = _completion(await answer if inspect.isawaitable(answer) else answer)
            call.answered(completion)
        return completion


def _tool(spec: Mapping[str, Any]) -> dict[str, Any]:
    schema = spec["inputSchema"]
    return {
        "type": "function",
        "function": {
            "name": spec["name"],
            "description": spec.get("description", ""),
            "parameters": schema.get("json", schema),
        },
    }


def _completion(answer: Any) -> dict[str, Any]:
    """An engine's answer as a chat completion."""
    if isinstance(answer, dict) and answer.get("choices"):
        return answer
    if isinstance(answer, dict) or not hasattr(answer, "finish_reason"):
        raise EnvironmentFailure(
            "an engine returns a chat completion, or an object with text, tool_calls and "
            f"finish_reason, not {type(answer).__name__}"
        )
    text = getattr(answer, "content", None) or getattr(answer, "text", None)
    calls = [
        _answered_call(each, at)
        for at, each in enumerate(getattr(answer, "tool_calls", None) or ())
    ]
    message = {"role": "assistant", "content": text} | ({"tool_calls": calls} if calls else {})
    return {"choices": [{"index": 0, "message": message, "finish_reason": answer.finish_reason}]}


def _answered_call(given: Any, at: int) -> dict[str, Any]:
    """A tool call of OpenAI's form, or an object with `name` and `arguments`, rLLM's own."""
    if isinstance(given, dict) and isinstance(given.get("function"), dict):
        return {"id": f"call_{at}", "type": "function"} | given
    known = given if isinstance(given, dict) else vars(given)
    arguments = known.get("arguments")
    written = arguments if isinstance(arguments, str) else json.dumps(arguments or {})
    function = {"name": str(known.get("name")), "arguments": written}
    return {"id": str(known.get("id") or f"call_{at}"), "type": "function", "function": function}


def _events(completion: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """A chat completion as events of Strands."""
    choice = completion["choices"][0]
    message = choice["message"]
    calls = message.get("tool_calls") or []
    yield {"messageStart": {"role": "assistant"}}
    if message.get("content") or not calls:
        yield {"contentBlockStart": {"start": {}}}
        yield {"contentBlockDelta": {"delta": {"text": message.get("content") or ""}}}
        yield {"contentBlockStop": {}}
    for call in calls:
        function = call["function"]
        used = {"toolUseId": call["id"], "name": function["name"]}
        yield {"contentBlockStart": {"start": {"toolUse": used}}}
        yield {"contentBlockDelta": {"delta": {"toolUse": {"input": function["arguments"]}}}}
        yield {"contentBlockStop": {}}
    reason = "tool_use" if calls else STOP.get(choice.get("finish_reason"), "end_turn")
    yield {"messageStop": {"stopReason": reason}}
    usage = completion.get("usage") or {}
    counts = [int(usage.get(name) or 0) for name in ("prompt_tokens", "completion_tokens")]
    named = {"inputTokens": counts[0], "outputTokens": counts[1], "totalTokens": sum(counts)}
    yield {"metadata": {"usage": named, "metrics": {"latencyMs": 0}}}


DONE: Final = frozenset({"end_turn", "stop_sequence", "max_tokens"})
"""Stop reasons after which the agent does not go on. rLLM counts the last one as not done."""


class StrandsAgent(Agent):
    """An agent with a trajectory.

    Args:
        model: of Strands, such as an `RLLMModel`.
        kwargs: of `strands.Agent`.
    """

    def __init__(self, model: Any, **kwargs: Any) -> None:
        super().__init__(model=model, **kwargs)
        self._trajectory = Trajectory(reward=0.0)

    @property
    def trajectory(self) -> Trajectory:
        """A step for each invocation."""
        return self._trajectory

    @property
    def chat_completions(self) -> list[dict[str, Any]]:
        """The conversation in OpenAI's form."""
        return openai_messages(self.messages, self.system_prompt)

    def reset(self) -> None:
        """Forget trajectory and conversation, for another episode."""
        self.reset_trajectory()
        self.messages.clear()

    def reset_trajectory(self, task: Any = None) -> None:
        """Begin another trajectory."""
        self._trajectory = Trajectory(task=task, reward=0.0)

    async def invoke_async(self, prompt: Any = None, **kwargs: Any) -> AgentResult:
        """Run; a call of the agent comes here, too. The step is kept where it ends well."""
        before = len(self.messages)
        result = await super().invoke_async(prompt, **kwargs)
        calls = [
            {"id": used["toolUseId"], "name": used["name"], "input": used["input"]}
            for message in self.messages[before:]
            for block in message["content"]
            if (used := block.get("toolUse"))
        ]
        answer = text_of(result.message)
        action: Any = result.message
        if calls:
            action = {"type": "tool_calls", "tool_calls": calls, "final_response": action}
        self._trajectory.steps.append(
            Step(
                observation=prompt,
                chat_completions=self.chat_completions,
                action=action,
                model_response=answer,
                done=result.stop_reason in DONE,
                metadata={},
            )
        )
        return result

    def get_current_state(self) -> Step | None:
        """The last step; None before the first."""
        return self._trajectory.steps[-1] if self._trajectory.steps else None

    def update_step_reward(self, reward: float) -> None:
        """Give the last step a reward; the trajectory has the sum."""
        if step := self.get_current_state():
            step.reward = reward
            self._trajectory.reward = sum(each.reward for each in self._trajectory.steps)

    def update_step_info(self, info: dict[str, Any]) -> None:
        """Add to the metadata of the last step."""
        if step := self.get_current_state():
            step.info.update(info)

    def get_tool_call_summary(self) -> list[dict[str, Any]]:
        """The tool calls of all steps; rLLM's is always empty."""
        actions = (step.action for step in self._trajectory.steps)
        return [
            call
            for action in actions
            if isinstance(action, dict)
            for call in action.get("tool_calls", ())
        ]


@dataclass(slots=True)
class _Call:
    """A call of the model: its event is asked late whether it is repeated."""

    messages: list[dict[str, Any]]
    began: float
    event: AfterModelCallEvent | None = None
    seconds: float = 0.0
    tools: list[AfterToolCallEvent] = field(default_factory=list)


class RLLMTrajectoryHookProvider(HookProvider):
    """Hooks of any number of agents: `Agent(..., hooks=[RLLMTrajectoryHookProvider()])`.

    Args:
        name: of the trajectories' source.
    """

    def __init__(self, name: str = "rllm_trajectory") -> None:
        self._name = name
        self._lock = Lock()
        self._calls: WeakKeyDictionary[Any, list[_Call]] = WeakKeyDictionary()
        self._trajectories: list[Trajectory] = []

    def register_hooks(self, registry: HookRegistry, **_: Any) -> None:
        """Subscribe to what an agent does."""
        registry.add_callback(BeforeInvocationEvent, self._begin)
        registry.add_callback(BeforeModelCallEvent, self._before_model)
        registry.add_callback(AfterModelCallEvent, self._after)
        registry.add_callback(AfterToolCallEvent, self._after)
        registry.add_callback(AfterInvocationEvent, self._end)

    def get_trajectory(self) -> Trajectory:
        """The last one.

        Raises:
            ValueError: no invocation has ended.
        """
        with self._lock:
            if not self._trajectories:
                raise ValueError("no trajectory yet: an agent with these hooks is to be invoked")
            return self._trajectories[-1]

    def get_trajectories(self) -> list[Trajectory]:
        """All of them, one an invocation."""
        with self._lock:
            return list(self._trajectories)

    def get_traces(self) -> list[dict[str, Any]]:
        """The steps of the last one, as rLLM's traces."""
        trajectory = self.get_trajectory()
        return [dict(step.info["trace"]) for step in trajectory.steps]

    def clear(self) -> None:
        """Forget what was recorded."""
        with self._lock:
            self._trajectories.clear()

    def _begin(self, event: BeforeInvocationEvent) -> None:
        with self._lock:
            self._calls[event.agent] = []

    def _before_model(self, event: BeforeModelCallEvent) -> None:
        messages = openai_messages(event.agent.messages, event.agent.system_prompt)
        with self._lock:
            self._calls.setdefault(event.agent, []).append(_Call(messages, time.time()))

    def _after(self, event: AfterModelCallEvent | AfterToolCallEvent) -> None:
        with self._lock:
            calls = self._calls.get(event.agent)
            if not calls:
                return
            if isinstance(event, AfterToolCallEvent):
                calls[-1].tools.append(event)
            else:
                calls[-1].event, calls[-1].seconds = event, time.time() - calls[-1].began

    def _end(self, event: AfterInvocationEvent) -> None:
        with self._lock:
            calls = self._calls.pop(event.agent, [])
        steps = [step for call in calls if (step := _step(call))]
        if steps:
            steps[-1].done = True
        model = _model_of(event.agent)
        trajectory = Trajectory(
            name=event.agent.name,
            steps=steps,
            reward=0.0,  # rLLM's own, until an evaluator writes another one
            input={"message": _question(calls)},
            output=None if event.result is None else str(event.result),
            metadata={"source": self._name, "model": model, "num_llm_calls": len(steps)},
        )
        with self._lock:
            self._trajectories.append(trajectory)


def _step(call: _Call) -> Step | None:
    """A call as a step; None where the agent did not go on with the model's answer."""
    event = call.event
    stopped = None if event is None else event.stop_response
    # A message without metadata is a hook's own.
    if event is None or stopped is None or event.retry or "metadata" not in stopped.message:
        return None
    message = openai_answer(stopped.message)
    usage = stopped.message["metadata"]["usage"]
    trace = {
        "trace_id": f"strands_{uuid4().hex[:16]}",
        "session_name": event.agent.name,
        "name": f"strands/{_model_of(event.agent)}",
        "model": _model_of(event.agent),
        "finish_reason": FINISH.get(stopped.stop_reason, stopped.stop_reason),
        "latency_ms": call.seconds * 1000,
        "timestamp": call.began,
        "tokens": {
            "prompt": usage["inputTokens"],
            "completion": usage["outputTokens"],
            "total": usage["totalTokens"],
        },
    }
    executions = [_execution(each) for each in call.tools if not each.retry]
    return Step(
        input=call.messages,
        output=text_of(stopped.message),
        action=message.get("tool_calls"),
        chat_completions=[*call.messages, message],
        model_response=text_of(stopped.message),
        metadata={"trace": trace, "tool_executions": executions},
    )


def _execution(event: AfterToolCallEvent) -> dict[str, Any]:
    return {
        "tool_call_id": event.tool_use["toolUseId"],
        "tool_name": event.tool_use["name"],
        "tool_result": result_text(event.result),
        "status": event.result["status"],
        "seconds": event.duration,
    }


def _model_of(agent: Any) -> str:
    config = agent.model.get_config()
    return str((config if isinstance(config, dict) else {}).get("model_id") or "unknown")


def _question(calls: list[_Call]) -> str:
    """What the user asked last, before the first call."""
    asked = reversed(calls[0].messages) if calls else iter(())
    return next((str(each["content"]) for each in asked if each["role"] == "user"), "")


# Strands' messages in OpenAI's form: tool calls and results stay what they are.

FINISH: Final = REASONS | {"interrupt": "stop"}
"""Strands' stop reasons, which are Converse's and one of its own, in OpenAI's words."""

STOP: Final = {
    "stop": "end_turn",
    "length": "max_tokens",
    "tool_calls": "tool_use",
    "content_filter": "content_filtered",
}
"""And back."""


def openai_messages(
    messages: Iterable[Mapping[str, Any]], system: Any = None
) -> list[dict[str, Any]]:
    """A conversation of Strands in OpenAI's form, the system prompt first."""
    prompt = system if isinstance(system, str) else _text(system or ())
    first = [{"role": "system", "content": prompt}] if prompt else []
    return first + [each for message in messages for each in _converted(message)]


def openai_answer(message: Mapping[str, Any]) -> dict[str, Any]:
    """A message of the model."""
    blocks = message["content"]
    answer: dict[str, Any] = {"role": "assistant", "content": _text(blocks) or None}
    if reasoning := "".join(_reasoning(blocks)):
        answer["reasoning_content"] = reasoning
    if calls := [_call(block["toolUse"]) for block in blocks if "toolUse" in block]:
        answer["tool_calls"] = calls
    return answer


def text_of(message: Mapping[str, Any] | None) -> str:
    """The text of a message of Strands."""
    return _text((message or {}).get("content") or ())


def _converted(message: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """A message's tool results, and what else it says."""
    blocks = message["content"]
    for block in blocks:
        if "toolResult" in block:
            result = block["toolResult"]
            yield {
                "role": "tool",
                "tool_call_id": result["toolUseId"],
                "content": result_text(result),
            }
    if message["role"] == "assistant":
        yield openai_answer(message)
    elif text := _text(blocks):
        yield {"role": message["role"], "content": text}


def result_text(result: Mapping[str, Any]) -> str:
    """The answer of a tool, as text: each of its blocks."""
    return "\n".join(
        each["text"] if "text" in each else json.dumps(each.get("json"), ensure_ascii=False)
        for each in result.get("content") or ()
        if "text" in each or "json" in each
    )


def _call(used: Mapping[str, Any]) -> dict[str, Any]:
    arguments = json.dumps(used.get("input"), ensure_ascii=False)
    return {
        "id": used["toolUseId"],
        "type": "function",
        "function": {"name": used["name"], "arguments": arguments},
    }


def _text(blocks: Iterable[Mapping[str, Any]]) -> str:
    return "\n".join(block["text"] for block in blocks if "text" in block)


def _reasoning(blocks: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    for block in blocks:
        found = block.get("reasoningContent", {}).get("reasoningText", {})
        yield found.get("text") or ""
