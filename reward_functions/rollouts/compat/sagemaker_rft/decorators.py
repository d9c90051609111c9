"""The name of `sagemaker.train.rft.decorators`, and the one that its docstrings promise."""

from reward_functions.rollouts.compat.sagemaker_rft import rft_handler, sagemaker_rft_handler

__all__ = ["rft_handler", "sagemaker_rft_handler"]
