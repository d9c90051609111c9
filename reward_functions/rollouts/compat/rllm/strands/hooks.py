"""`RLLMTrajectoryHookProvider`: an agent's invocations as rLLM's trajectories.

What waits is kept by agent, so that one provider serves any number of them. A call whose attempt
another hook repeats is known as such when the next one begins, and is no step.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING, Any
from uuid import uuid4
from weakref import WeakKeyDictionary

from strands.hooks import (
    AfterInvocationEvent,
    AfterModelCallEvent,
    AfterToolCallEvent,
    BeforeInvocationEvent,
    BeforeModelCallEvent,
    HookProvider,
)

from reward_functions.rollouts.compat.rllm.strands.messages import (
    FINISH,
    openai_answer,
    openai_messages,
    result_text,
    text_of,
)
from reward_functions.rollouts.compat.rllm.types import Step, Trajectory

if TYPE_CHECKING:
    from strands.hooks import HookRegistry


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
        registry.add_callback(AfterModelCallEvent, self._after_model)
        registry.add_callback(AfterToolCallEvent, self._after_tool)
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

    def _after_model(self, event: AfterModelCallEvent) -> None:
        with self._lock:
            calls = self._calls.get(event.agent)
            if calls:
                calls[-1].event = event
                calls[-1].seconds = time.time() - calls[-1].began

    def _after_tool(self, event: AfterToolCallEvent) -> None:
        with self._lock:
            calls = self._calls.get(event.agent)
            if calls:
                calls[-1].tools.append(event)

    def _end(self, event: AfterInvocationEvent) -> None:
        with self._lock:
            calls = self._calls.pop(event.agent, [])
        steps = [_step(call, call.event) for call in calls if call.event and _counts(call.event)]
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


def _counts(event: AfterModelCallEvent) -> bool:
    """Whether the agent went on with the answer; a hook's own message is none of the model's."""
    answered = event.stop_response
    return answered is not None and not event.retry and "metadata" in answered.message


def _step(call: _Call, event: AfterModelCallEvent) -> Step:
    stopped = event.stop_response
    if stopped is None:
        raise TypeError("a call that was not answered is no step")
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
