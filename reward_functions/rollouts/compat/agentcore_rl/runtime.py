"""The names of `agentcore_rl_toolkit.runtime`; its app is imported when it is first used."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reward_functions.rollouts.collect.invocations import (
    AgentCoreHttpClient,
    InvocationError,
    InvocationHandle,
)

if TYPE_CHECKING:
    from reward_functions.rollouts.serve.agentcore.apps import AgentCoreRuntimeApp

__all__ = [
    "AgentCoreHttpClient",
    "AgentCoreRuntimeApp",
    "InvocationError",
    "InvocationHandle",
]


def __getattr__(name: str) -> Any:
    if name != "AgentCoreRuntimeApp":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from reward_functions.rollouts.serve.agentcore import apps  # noqa: PLC0415 - an extra of its own

    return apps.AgentCoreRuntimeApp
