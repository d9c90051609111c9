"""Strands: a shared model whose every call belongs to the rollout that makes it.

client_args.py    where a policy call goes and with which credential, read when it is made
tokens.py         its bearer token, minted here and made again when it is refused
model.py          `RolloutModel`: Strands' own OpenAI model, in whichever rollout calls it
wrap.py           `wrap_model`: a model that exists already becomes one
hooks.py          `RolloutHooks`: what an agent did in an episode, and its end at the deadline

The model counts the turns of an episode and the hooks never do, so that no turn counts twice. What
is no policy call, such as a summary by another model, is no turn either. `rollout_handler` stands
here too, so that an agent is adapted by one import.
"""

from reward_functions.core.extras import require

require("strands", "openai", by=__name__)

from reward_functions.rollouts.episodes.handler import rollout_handler
from reward_functions.rollouts.strands.hooks import AgentStatistics, RolloutHooks
from reward_functions.rollouts.strands.model import RolloutModel
from reward_functions.rollouts.strands.wrap import UnsupportedModel, wrap_model

__all__ = [
    "AgentStatistics",
    "RolloutHooks",
    "RolloutModel",
    "UnsupportedModel",
    "rollout_handler",
    "wrap_model",
]
