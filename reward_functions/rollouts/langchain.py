"""LangChain and LangGraph in rollouts: the names of `rollouts.policy.langchain`."""

from reward_functions.rollouts.policy.langchain import (
    RolloutCallbacks,
    RolloutChatOpenAI,
    UnsupportedModel,
    rollout_handler,
    wrap_chat_model,
)

__all__ = [
    "RolloutCallbacks",
    "RolloutChatOpenAI",
    "UnsupportedModel",
    "rollout_handler",
    "wrap_chat_model",
]
