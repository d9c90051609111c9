"""A Strands model that exists already becomes one that lives in rollouts."""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING, Any

from strands.models.model import Model
from strands.models.openai import OpenAIModel

from reward_functions.rollouts.policy.openai.client_args import ClientArgs
from reward_functions.rollouts.policy.strands.model import RolloutModel, blank
from reward_functions.rollouts.policy.unsupported import UnsupportedModel

if TYPE_CHECKING:
    from collections.abc import Iterable


def wrap_model(
    model: Any, *, trusted: Iterable[str] = (), recover_tool_calls: bool = False
) -> RolloutModel:
    """A copy of a model whose calls carry the rollout that makes them; the model stays as it is.

    Args:
        model: an `OpenAIModel` of Strands, or of a class of your own below it; one that is wrapped
            already is returned.
        trusted: endpoints that a payload may name beside AWS's.
        recover_tool_calls: see `RolloutModel`.

    Returns:
        A model of the same class, and a `RolloutModel`: see there what each call carries.

    Raises:
        UnsupportedModel: any other model.
    """
    if isinstance(model, RolloutModel):
        return model
    _require_chat_completions(model)
    wrapped = blank(type(model))
    own = vars(model)
    wrapped.__dict__ |= own | {
        "config": deepcopy(own["config"]),
        "client_args": ClientArgs(own["client_args"], trusted),
        "recovers": recover_tool_calls,
    }
    return wrapped


def _require_chat_completions(model: Any) -> None:
    """Nothing, where a model posts chat completions to an address of the caller's."""
    kind = type(model)
    foreign = [
        each.__name__
        for each in kind.__mro__
        if issubclass(each, Model)
        and each not in {OpenAIModel, Model}
        and each.__module__.partition(".")[0] == "strands"
    ]
    if not isinstance(model, OpenAIModel) or foreign:
        name = foreign[0] if foreign else kind.__name__
    elif getattr(model, "_bedrock_mantle_config", None) is not None:
        name = "an OpenAIModel with bedrock_mantle_config"
    else:
        return
    raise UnsupportedModel(
        f"wrap_model adapts Strands' OpenAIModel and classes of your own below it, not {name}: "
        "the runtime of a job speaks OpenAI's chat completions only; "
        'say wrap_model(OpenAIModel(model_id="default")), or RolloutModel()'
    )
