"""Strands: a shared model whose every call belongs to the rollout that makes it.

model.py          `RolloutModel`: Strands' own OpenAI model, in whichever rollout calls it
wrap.py           `wrap_model`: a model that exists already becomes one
hooks.py          `RolloutHooks`: what an agent did in an episode, and its end at the deadline
answers.py        stream events as one completion in OpenAI's form, and back

The model counts the turns of an episode and the hooks never do, so that no turn counts twice. What
is no policy call, such as a summary by another model, is no turn either. `rollout_handler` stands
here too, so that an agent is adapted by one import.
"""

from reward_functions.core.extras import EXTRAS, require

require("strands", "openai", by=__name__.replace(".policy", ""), extra=EXTRAS["strands"])

from reward_functions.rollouts.episode.handler import rollout_handler
from reward_functions.rollouts.policy.calls import UnsupportedModel
from reward_functions.rollouts.policy.strands.hooks import AgentStatistics, RolloutHooks
from reward_functions.rollouts.policy.strands.model import RolloutModel
from reward_functions.rollouts.policy.strands.wrap import adapt_agent, wrap_model

__all__ = [
    "AgentStatistics",
    "RolloutHooks",
    "RolloutModel",
    "UnsupportedModel",
    "adapt_agent",
    "rollout_handler",
    "wrap_model",
]
