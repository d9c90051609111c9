"""A Strands model that exists already becomes one that lives in rollouts.

An agent that exists already becomes one whose calls live in rollouts, by Strands' middleware.

Middleware has `Agent.add_middleware` from Strands 1.62 on. For an older one wrap the model by
`wrap_model`, and hand `RolloutHooks()` to the agent: that is the same.
"""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING, Any, TypeVar

from strands.models.model import Model
from strands.models.openai import OpenAIModel

from reward_functions.core.errors import ConfigurationError
from reward_functions.rollouts.policy.calls import UnsupportedModel
from reward_functions.rollouts.policy.openai.client_args import ClientArgs
from reward_functions.rollouts.policy.strands.hooks import RolloutHooks
from reward_functions.rollouts.policy.strands.model import RolloutModel, blank

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


Agent = TypeVar("Agent", bound=Any)


def adapt_agent(
    agent: Agent,
    *,
    hooks: RolloutHooks | None = None,
    trusted: Iterable[str] = (),
    recover_tool_calls: bool = False,
) -> Agent:
    """Have every model call of an agent carry the rollout that makes it; its model stays as it is.

    A call's model is a copy, made when the call is, of whichever model the agent has then. Behind
    the deadline neither model nor tool is called, and the agent ends. What `structured_output` of
    an agent asks passes no middleware, and so carries nothing: use `structured_output_model=`, or
    `wrap_model`.

    Args:
        agent: of Strands 1.62 or newer.
        hooks: that are shared by agents; hooks of its own where None.
        trusted: endpoints that a payload may name beside AWS's.
        recover_tool_calls: see `RolloutModel`.

    Returns:
        The same agent.

    Raises:
        ConfigurationError: this Strands has no middleware.
        UnsupportedModel: at a call, where the model speaks no chat completions.
    """
    if not hasattr(agent, "add_middleware"):
        raise ConfigurationError(
            "this Strands has no middleware, which 1.62 has: "
            "say Agent(model=wrap_model(model), hooks=[RolloutHooks()])"
        )
    from strands.middleware import InvokeModelStage  # noqa: PLC0415 — from 1.62

    def with_wrapped_model(context: Any) -> Any:
        model = wrap_model(context.model, trusted=trusted, recover_tool_calls=recover_tool_calls)
        return context.replace(model=model)

    agent.add_middleware(InvokeModelStage.Input, with_wrapped_model)
    agent.hooks.add_hook(hooks or RolloutHooks())
    return agent
