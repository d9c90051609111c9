"""`RLLMModel`: a model of Strands over whatever generates, rLLM's RolloutEngine or a function.

An engine has `get_model_response(messages, **parameters)`, or is callable like it; either may be a
coroutine. It returns a chat completion in OpenAI's form, or an object with `text` (or `content`),
`tool_calls` and `finish_reason`. It is asked once a turn, and the turn is recorded where an episode
records. What it returns is streamed as one piece.

rLLM sets `tool_choice="required"` and turns thinking off unless told otherwise: an agent that must
call a tool never ends, so neither is a default here. Say so with the model's parameters.
"""

from __future__ import annotations

import inspect
import json
from typing import TYPE_CHECKING, Any

from strands.models.model import Model

from reward_functions.rollouts.compat.rllm.strands.messages import STOP, openai_messages
from reward_functions.rollouts.policy.calls import policy_call
from reward_functions.rollouts.request.errors import EnvironmentFailure

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Iterator, Mapping

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
        given = {name: value for name, value in kwargs.items() if name not in STRANDS_ONLY}
        parameters = self._params | {n: v for n, v in given.items() if v is not None}
        if tool_specs:
            parameters["tools"] = [_tool(spec) for spec in tool_specs]
        chat = openai_messages(messages, system_prompt)
        with policy_call({"messages": chat, "model": self._model_id, **parameters}) as call:
            completion = _completion(await self._asked(chat, parameters))
            call.answered(completion)
        for event in _events(completion):
            yield event

    async def structured_output(
        self, output_model: Any, prompt: Any, system_prompt: str | None = None, **kwargs: Any
    ) -> AsyncGenerator[dict[str, Any], None]:
        """An object of a pydantic model, from the one JSON object that the answer is.

        Raises:
            pydantic.ValidationError: it is none.
            EnvironmentFailure: the engine returned nothing that is an answer.
        """
        schema = json.dumps(output_model.model_json_schema())
        chat = openai_messages(prompt, system_prompt)
        chat.append(
            {"role": "user", "content": f"Answer with one JSON object of this schema: {schema}"}
        )
        with policy_call({"messages": chat, "model": self._model_id, **self._params}) as call:
            completion = _completion(await self._asked(chat, self._params | kwargs))
            call.answered(completion)
        text = completion["choices"][0]["message"].get("content") or ""
        begin, end = text.find("{"), text.rfind("}")
        yield {"output": output_model.model_validate_json(text[begin : end + 1])}

    async def _asked(self, chat: list[dict[str, Any]], parameters: Mapping[str, Any]) -> Any:
        ask = getattr(self.rollout_engine, "get_model_response", self.rollout_engine)
        answer = ask(chat, **parameters)
        return await answer if inspect.isawaitable(answer) else answer


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
    calls = [_call(each, at) for at, each in enumerate(getattr(answer, "tool_calls", None) or ())]
    message = {"role": "assistant", "content": text} | ({"tool_calls": calls} if calls else {})
    return {"choices": [{"index": 0, "message": message, "finish_reason": answer.finish_reason}]}


def _call(given: Any, at: int) -> dict[str, Any]:
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
