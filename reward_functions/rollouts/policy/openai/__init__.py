"""OpenAI's SDK: clients whose every call belongs to the rollout that makes it.

wrap.py           `wrap_client`, `rollout_client`: an `OpenAI` or `AsyncOpenAI` in rollouts
client_args.py    for what builds a client a call: where it goes and with which credential

`rollout_handler` stands here too, so that an agent is adapted by one import.
"""

from reward_functions.core.extras import require

require("openai", by=__name__.replace(".policy", ""))

from reward_functions.rollouts.episode.handler import rollout_handler
from reward_functions.rollouts.policy.calls import UnsupportedClient
from reward_functions.rollouts.policy.openai.wrap import (
    async_rollout_client,
    rollout_client,
    wrap_client,
)

__all__ = [
    "UnsupportedClient",
    "async_rollout_client",
    "rollout_client",
    "rollout_handler",
    "wrap_client",
]
