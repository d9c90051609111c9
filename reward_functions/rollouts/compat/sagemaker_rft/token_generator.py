"""Bearer tokens: the names of `sagemaker.core.token_generator`."""

from reward_functions.rollouts.compat.sagemaker_rft import SageMakerTokenGenerator, generate_token

__all__ = ["SageMakerTokenGenerator", "generate_token"]
