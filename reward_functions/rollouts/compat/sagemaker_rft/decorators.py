"""`sagemaker_rft_handler` of sagemaker.train.rft, and the name that its docstrings promise.

Any form of agent is one, with one parameter or two; `reward_functions.rollouts.rollout_handler`
has options, a reward among them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reward_functions.rollouts.compat.sagemaker_rft.feedback import RolloutFeedbackClient
from reward_functions.rollouts.episode.handler import RolloutHandler
from reward_functions.rollouts.episode.options import Options

if TYPE_CHECKING:
    from collections.abc import Callable


def sagemaker_rft_handler(func: Callable[..., Any]) -> Callable[..., Any]:
    """Make an agent a rollout handler that reports as sagemaker.train.rft does.

    Args:
        func: called with a payload, and a context where it takes one.

    Returns:
        The same kind of callable; it returns what the agent returns, and raises what it raises.

    Raises:
        TypeError: it cannot be called with a payload.
    """
    return RolloutHandler(func, Options(client=RolloutFeedbackClient)).run


rft_handler = sagemaker_rft_handler
"""What docstrings of sagemaker.train.rft call it."""
