"""An agent that exists already becomes one whose calls live in rollouts, by Strands' middleware.

Middleware has `Agent.add_middleware` from Strands 1.62 on. For an older one wrap the model by
`wrap_model`, and hand `RolloutHooks()` to the agent: that is the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from reward_functions.core.errors import ConfigurationError
from reward_functions.rollouts.policy.strands.hooks import RolloutHooks
from reward_functions.rollouts.policy.strands.wrap import wrap_model

if TYPE_CHECKING:
    from collections.abc import Iterable

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
