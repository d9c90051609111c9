"""Both generations of rLLM's integration with Strands.

hooks.py       RLLMTrajectoryHookProvider (February to May 2026)
model.py       RLLMModel (September 2025), over any callable engine
agent.py       StrandsAgent (September 2025)
messages.py    Strands' messages in OpenAI's form
"""

from reward_functions.core.extras import require

require("strands", by=__name__)

from reward_functions.rollouts.compat.rllm.strands.agent import StrandsAgent
from reward_functions.rollouts.compat.rllm.strands.hooks import RLLMTrajectoryHookProvider
from reward_functions.rollouts.compat.rllm.strands.model import RLLMModel

__all__ = ["RLLMModel", "RLLMTrajectoryHookProvider", "StrandsAgent"]
