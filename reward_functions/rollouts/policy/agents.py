"""OpenAI's Agents SDK: one model for any number of rollouts, and what their tools did.

The model is the chat-completions one, over a client in rollouts: the SDK's default is the Responses
API, which the runtime of a job does not have.

`Runner.run(agent, …, hooks=RolloutRunHooks())`: the model's client records the turns; these hooks
record the tools, and nothing is kept on them but when a tool started.

| fact of the Agents SDK 0.20 | so here |
| --- | --- |
| what a tool raises is a sentence for the model (`failure_error_function`) | its span has it |
| with tracing disabled there is no span | a failed tool counts as "success" |
| a tool that raises with `failure_error_function=None` ends the run | no result: "missing" |
"""

from __future__ import annotations

from reward_functions.core.extras import EXTRAS, require

require("agents", "openai", by=__name__.replace(".policy", ""), extra=EXTRAS["agents"])

import copy
import time
from threading import Lock
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from agents import OpenAIChatCompletionsModel, RunHooks
from agents.tracing import get_current_span

from reward_functions.rollouts.episode.handler import rollout_handler
from reward_functions.rollouts.policy.calls import UnsupportedModel, require_time, tool_ended
from reward_functions.rollouts.policy.openai import DEFAULT_MODEL, async_rollout_client, wrap_client
from reward_functions.rollouts.record.types import ToolResult

if TYPE_CHECKING:
    from collections.abc import Iterable

    from agents import RunContextWrapper, Tool
    from openai import AsyncOpenAI


__all__ = ["RolloutRunHooks", "UnsupportedModel", "rollout_handler", "rollout_model", "wrap_model"]


def rollout_model(
    model: str = DEFAULT_MODEL,
    client: AsyncOpenAI | None = None,
    *,
    trusted: Iterable[str] = (),
    recover_tool_calls: bool = False,
    **kwargs: Any,
) -> OpenAIChatCompletionsModel:
    """A model whose calls carry the rollout that makes them; shared by any number of rollouts.

    Args:
        model: "default" is the runtime's name of the policy.
        client: of the user's, which is wrapped; a new one where None, which needs no key.
        trusted: endpoints that a payload may name beside AWS's.
        recover_tool_calls: whether tool calls that the policy wrote as text become tool calls.
        kwargs: of `OpenAIChatCompletionsModel`.

    Raises:
        UnsupportedClient: a client that cannot be wrapped.
    """
    if client is None:
        made = async_rollout_client(trusted=trusted, recover_tool_calls=recover_tool_calls)
    else:
        made = wrap_client(client, trusted=trusted, recover_tool_calls=recover_tool_calls)
    return OpenAIChatCompletionsModel(model, made, **kwargs)


def wrap_model(
    model: Any, *, trusted: Iterable[str] = (), recover_tool_calls: bool = False
) -> OpenAIChatCompletionsModel:
    """A copy of a model whose calls carry the rollout that makes them; the model stays as it is.

    Args:
        model: an `OpenAIChatCompletionsModel`, or of a class of your own below it.
        trusted: see `rollout_model`.
        recover_tool_calls: likewise.

    Raises:
        UnsupportedModel: any other model, that of the Responses API above all.
        UnsupportedClient: its client cannot be wrapped.
    """
    if not isinstance(model, OpenAIChatCompletionsModel):
        raise UnsupportedModel(
            f"wrap_model adapts OpenAIChatCompletionsModel, not {type(model).__name__}: the "
            "runtime of a job has no Responses API; say Agent(model=rollout_model())"
        )
    made = copy.copy(model)
    own = vars(made)
    own["_client"] = wrap_client(
        own["_client"], trusted=trusted, recover_tool_calls=recover_tool_calls
    )
    return made


class RolloutRunHooks(RunHooks[Any]):
    """Hooks of any number of runs at a time. Outside an episode they do nothing.

    Raises:
        PolicyFailure: before a model or a tool is called after the deadline of the episode, which
            ends the run.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._began: WeakKeyDictionary[RunContextWrapper[Any], float] = WeakKeyDictionary()

    async def on_llm_start(self, *_: Any, **__: Any) -> None:
        """End the run, where its time is over."""
        require_time()

    async def on_tool_start(self, context: RunContextWrapper[Any], *_: Any) -> None:
        """Note when a tool starts; end the run instead, where its time is over."""
        require_time()
        with self._lock:
            self._began[context] = time.monotonic()

    async def on_tool_end(
        self, context: RunContextWrapper[Any], _agent: Any, tool: Tool, result: object
    ) -> None:
        """Record what a tool gave back."""
        with self._lock:
            began = self._began.pop(context, None)
        call_id = getattr(context, "tool_call_id", None)
        if not isinstance(call_id, str):
            return  # a tool that OpenAI's service runs: a runtime has none
        span = get_current_span()
        tool_ended(
            ToolResult(
                call_id=call_id,
                content=str(result),
                status="error" if span is not None and span.error else "success",
                seconds=None if began is None else time.monotonic() - began,
            ),
            tool.name,
        )
