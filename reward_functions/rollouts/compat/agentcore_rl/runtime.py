"""The names of `agentcore_rl_toolkit.runtime`."""

from reward_functions.rollouts.collect.invocations import (
    AgentCoreHttpClient,
    InvocationError,
    InvocationHandle,
)
from reward_functions.rollouts.serve.agentcore.apps import AgentCoreRuntimeApp

__all__ = ["AgentCoreHttpClient", "AgentCoreRuntimeApp", "InvocationError", "InvocationHandle"]
