"""The name of `sagemaker.train.rft.feedback`."""

from reward_functions.rollouts.compat.sagemaker_rft import RolloutFeedbackClient

__all__ = ["RolloutFeedbackClient"]
