"""`wrap_model` of `aws_rft_sdk.adapters.strands`: the alpha's headers, and the current ones."""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING, Any

from reward_functions.rollouts.compat.aws_rft_sdk import SpanHeaders
from reward_functions.rollouts.policy.strands import wrap_model as wrapped

if TYPE_CHECKING:
    from reward_functions.rollouts.policy.strands import RolloutModel


def wrap_model(model: Any) -> RolloutModel:
    """A copy of a model whose every request carries `RFTContext.get_headers()`.

    Args:
        model: an `OpenAIModel` of Strands. One that was made with `client=` sends the current
            headers alone: its requests take no others.

    Raises:
        UnsupportedModel: any other model.
    """
    args = getattr(model, "client_args", None)
    if isinstance(args, dict):
        model = copy(model)
        model.client_args = args | {"default_headers": SpanHeaders(args.get("default_headers"))}
    return wrapped(model)
