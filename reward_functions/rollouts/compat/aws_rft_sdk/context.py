"""The name of `aws_rft_sdk.context`."""

from reward_functions.rollouts.compat.aws_rft_sdk import RFTContext

__all__ = ["RFTContext"]
