"""The name of `agentcore_rl_toolkit.reward_function`."""

from reward_functions.rollouts.serve.agentcore.reward_function import RewardFunction

__all__ = ["RewardFunction"]
