"""The name of `aws_rft_sdk.decorator`."""

from reward_functions.rollouts.compat.aws_rft_sdk import rft_handler

__all__ = ["rft_handler"]
