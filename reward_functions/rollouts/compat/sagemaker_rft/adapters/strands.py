"""`wrap_model` of `sagemaker.train.rft.adapters.strands`: a copy of the model, and not a proxy.

One model serves any number of rollouts. `LiteLLMModel`, which theirs takes, is refused: the runtime
speaks OpenAI's chat completions, so say `OpenAIModel`.
"""

from reward_functions.rollouts.policy.strands import wrap_model

__all__ = ["wrap_model"]
