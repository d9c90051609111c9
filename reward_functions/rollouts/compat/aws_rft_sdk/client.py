"""The name of `aws_rft_sdk.client`."""

from reward_functions.rollouts.compat.aws_rft_sdk import RolloutFeedbackClient

__all__ = ["RolloutFeedbackClient"]
