"""LangChain and LangGraph: a shared chat model whose every call belongs to its rollout.

model.py        `RolloutChatOpenAI`: LangChain's own OpenAI model, in whichever rollout calls it
clients.py      the OpenAI clients of one call: address, headers, bearer token
wrap.py         `wrap_chat_model`: a chat model that exists already becomes one
callbacks.py    `RolloutCallbacks`: what the tools of an episode gave back, and its end

The model counts the turns of an episode and the callbacks never do. `rollout_handler` stands here
too, so that an agent is adapted by one import.
"""

from reward_functions.core.extras import EXTRAS, require

require(
    "langchain_openai",
    "openai",
    by=__name__.replace(".policy", ""),
    extra=EXTRAS["langchain_openai"],
)

from reward_functions.rollouts.episode.handler import rollout_handler
from reward_functions.rollouts.policy.calls import UnsupportedModel
from reward_functions.rollouts.policy.langchain.callbacks import RolloutCallbacks
from reward_functions.rollouts.policy.langchain.model import RolloutChatOpenAI
from reward_functions.rollouts.policy.langchain.wrap import wrap_chat_model

__all__ = [
    "RolloutCallbacks",
    "RolloutChatOpenAI",
    "UnsupportedModel",
    "rollout_handler",
    "wrap_chat_model",
]
