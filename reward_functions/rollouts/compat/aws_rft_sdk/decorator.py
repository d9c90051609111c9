"""`rft_handler` of aws-rft-sdk."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reward_functions.rollouts.compat.aws_rft_sdk.client import AlphaClient
from reward_functions.rollouts.episode.handler import RolloutHandler
from reward_functions.rollouts.episode.options import Options

if TYPE_CHECKING:
    from collections.abc import Callable


def rft_handler(func: Callable[..., Any]) -> Callable[..., Any]:
    """Make an agent a rollout handler that reports to the alpha service.

    Args:
        func: called with a payload, and a context where it takes one. It may report by a
            `RolloutFeedbackClient` of its own.

    Raises:
        TypeError: it cannot be called with a payload.
    """
    return RolloutHandler(func, Options(client=AlphaClient)).run
