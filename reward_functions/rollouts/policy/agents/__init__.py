"""OpenAI's Agents SDK: one model for any number of rollouts, and what their tools did.

model.py    `rollout_model`, `wrap_model`: the chat-completions model over a client in rollouts

`rollout_handler` stands here too, so that an agent is adapted by one import.
"""

from reward_functions.core.extras import EXTRAS, require

require("agents", "openai", by=__name__.replace(".policy", ""), extra=EXTRAS["agents"])

from reward_functions.rollouts.episode.handler import rollout_handler
from reward_functions.rollouts.policy.agents.model import RolloutRunHooks, rollout_model, wrap_model
from reward_functions.rollouts.policy.calls import UnsupportedModel

__all__ = [
    "RolloutRunHooks",
    "UnsupportedModel",
    "rollout_handler",
    "rollout_model",
    "wrap_model",
]
