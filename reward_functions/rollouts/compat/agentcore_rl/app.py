"""The app's name of `agentcore_rl_toolkit.app`."""

from reward_functions.rollouts.serve.agentcore.apps import AgentCoreRLApp

__all__ = ["AgentCoreRLApp"]
