"""What the tools of an episode gave back, by LangChain's callbacks; and no tool behind its end.

A tool that a model invents, or calls with arguments that do not fit, runs no callback in LangGraph:
its result is read from the next request.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING, Any, Final

from langchain_core.callbacks import BaseCallbackHandler

from reward_functions.rollouts.episode.episode import current_rollout
from reward_functions.rollouts.policy.calls import require_time, tool_ended
from reward_functions.rollouts.record.types import ToolResult

if TYPE_CHECKING:
    from uuid import UUID

    from reward_functions.rollouts.record.types import ToolStatus

RUNNING: Final = 4096
"""Tools that are remembered at once; the oldest is one whose end never came."""


@dataclass(frozen=True, slots=True)
class _Run:
    """A tool that runs.

    Args:
        name: of the tool.
        call_id: of its tool call; "" where no model called it.
        began: in seconds, of any origin.
    """

    name: str
    call_id: str
    began: float


class RolloutCallbacks(BaseCallbackHandler):
    """Callbacks of any number of agents at a time, synchronous or not.

        agent.invoke(state, {"callbacks": [RolloutCallbacks()]})

    Once an episode is cancelled no tool is called any more: the agent ends with `PolicyFailure`, as
    the wrapped model ends it at a call. Outside a `rollout_handler` they do nothing.
    """

    raise_error = True
    """What `on_tool_start` raises ends the agent."""
    run_inline = True
    """In the task of the agent, not on a thread beside it."""

    def __init__(self) -> None:
        super().__init__()
        self._lock = Lock()
        self._runs: dict[UUID, _Run] = {}

    def on_tool_start(
        self,
        serialized: dict[str, Any],
        input_str: str,  # noqa: ARG002 — LangChain's signature
        *,
        run_id: UUID,
        **kwargs: Any,
    ) -> None:
        """A tool begins; refused behind the deadline."""
        episode = current_rollout()
        if episode is None:
            return
        require_time()
        with self._lock:
            if len(self._runs) >= RUNNING:
                del self._runs[next(iter(self._runs))]
            self._runs[run_id] = _Run(
                name=str(serialized.get("name") or ""),
                call_id=str(kwargs.get("tool_call_id") or ""),
                began=time.perf_counter(),
            )

    def on_tool_end(self, output: Any, *, run_id: UUID, **kwargs: Any) -> None:  # noqa: ARG002
        """A tool gave its result."""
        failed = getattr(output, "status", None) == "error"
        content = output if isinstance(output, str) else getattr(output, "content", "")
        self._record(
            run_id,
            content=content if isinstance(content, str) else _text(content),
            status="error" if failed else "success",
            call_id=getattr(output, "tool_call_id", None) or "",
        )

    def on_tool_error(self, error: BaseException, *, run_id: UUID, **kwargs: Any) -> None:
        """A tool raised; what the policy is shown of it is in the next request."""
        self._record(
            run_id,
            content=type(error).__name__,
            status="error",
            call_id=str(kwargs.get("tool_call_id") or ""),
        )

    def _record(self, run_id: UUID, *, content: str, status: ToolStatus, call_id: str) -> None:
        with self._lock:
            run = self._runs.pop(run_id, None)
        if run is None:
            return
        call_id = call_id or run.call_id
        if call_id:
            took = time.perf_counter() - run.began
            tool_ended(
                ToolResult(call_id=call_id, content=content, status=status, seconds=took), run.name
            )


def _text(blocks: Any) -> str:
    """The text of a message's blocks."""
    if not isinstance(blocks, list):
        return ""
    texts = (each if isinstance(each, str) else each.get("text", "") for each in blocks)
    return "\n".join(text for text in texts if text)
