"""What the tools of an agent did, and the agent's end at the deadline.

`Runner.run(agent, …, hooks=RolloutRunHooks())`. The model's client records the turns; these hooks
record the tools, and nothing is kept on them but when a tool started.

| fact of the Agents SDK 0.20 | so here |
| --- | --- |
| what a tool raises is a sentence for the model (`failure_error_function`) | its span has it |
| with tracing disabled there is no span | a failed tool counts as "success" |
| a tool that raises with `failure_error_function=None` ends the run | no result: "missing" |
"""

from __future__ import annotations

import time
from threading import Lock
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from agents import RunHooks
from agents.tracing import get_current_span

from reward_functions.rollouts.policy.calls import require_time
from reward_functions.rollouts.policy.tools import tool_ended
from reward_functions.rollouts.record.types import ToolResult

if TYPE_CHECKING:
    from agents import RunContextWrapper, Tool


class RolloutRunHooks(RunHooks[Any]):
    """Hooks of any number of runs at a time. Outside an episode they do nothing.

    Raises:
        PolicyFailure: before a model or a tool is called behind the deadline of the episode, which
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
