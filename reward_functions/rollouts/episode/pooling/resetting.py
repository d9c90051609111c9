"""How an agent becomes as new, when its task is over.

| an agent | becomes as new by |
| --- | --- |
| with a `reset` method | that method, awaited where it is asynchronous |
| of Strands | its messages, state, conversation and counts as they were when it was made |
| a compiled graph of LangGraph | a thread id for each task, whose checkpoints are deleted |
| any other | nothing: it is made anew for each task |

Frameworks are known by what their objects have, and not imported.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, Final
from uuid import uuid4

Reset = Callable[[], Any]
"""Makes an agent as new, or raises; what it returns is awaited where it can be."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """An agent, ready for one task.

    Args:
        agent: what the task gets.
        reset: makes it as new behind the task; None where nothing does.
    """

    agent: Any
    reset: Reset | None


def preparing(agent: Any) -> Callable[[], Prepared]:
    """What makes an agent ready for each of its tasks."""
    return next(kind for holds, kind in KINDS if holds(agent))(agent)


def _by_method(agent: Any) -> Callable[[], Prepared]:
    return lambda: Prepared(agent, agent.reset)


def _is_strands(agent: Any) -> bool:
    return all(hasattr(agent, name) for name in ("messages", "state", "event_loop_metrics"))


STRANDS: Final = ("messages", "_model_state")
"""Attributes of an agent of Strands that are copied as they are."""


def _strands(agent: Any) -> Callable[[], Prepared]:
    """Without `take_snapshot`, which leaves out the counts and is not in every version."""
    first = {name: deepcopy(getattr(agent, name)) for name in STRANDS if hasattr(agent, name)}
    state, conversation = deepcopy(agent.state.get()), agent.conversation_manager.get_state()

    def reset() -> None:
        for name, value in first.items():
            setattr(agent, name, deepcopy(value))
        agent.state = type(agent.state)(deepcopy(state))
        agent.conversation_manager.restore_from_session(deepcopy(conversation))
        agent.event_loop_metrics = type(agent.event_loop_metrics)()
        interrupts = getattr(agent, "_interrupt_state", None)
        if interrupts is not None:
            interrupts.deactivate()

    return lambda: Prepared(agent, reset)


def _is_langgraph(agent: Any) -> bool:
    return all(hasattr(agent, name) for name in ("get_graph", "checkpointer", "with_config"))


def _langgraph(agent: Any) -> Callable[[], Prepared]:
    def prepare() -> Prepared:
        thread = str(uuid4())

        def reset() -> None:
            delete = getattr(agent.checkpointer, "delete_thread", None)
            if delete is not None:
                delete(thread)

        return Prepared(agent.with_config(configurable={"thread_id": thread}), reset)

    return prepare


def _used_once(agent: Any) -> Callable[[], Prepared]:
    return lambda: Prepared(agent, None)


KINDS: Final[tuple[tuple[Callable[[Any], bool], Callable[[Any], Callable[[], Prepared]]], ...]] = (
    (lambda agent: callable(getattr(agent, "reset", None)), _by_method),
    (_is_strands, _strands),
    (_is_langgraph, _langgraph),
    (lambda _: True, _used_once),
)
"""The first that holds."""
