"""The chat-completions model of the Agents SDK, over a client in rollouts.

The SDK's default is the Responses API, which the runtime of a job does not have.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any, Final

from agents import OpenAIChatCompletionsModel

from reward_functions.rollouts.policy.openai.wrap import async_rollout_client, wrap_client
from reward_functions.rollouts.policy.unsupported import UnsupportedModel

if TYPE_CHECKING:
    from collections.abc import Iterable

    from openai import AsyncOpenAI

DEFAULT_MODEL: Final = "default"
"""What the runtime calls the policy."""


def rollout_model(
    model: str = DEFAULT_MODEL,
    client: AsyncOpenAI | None = None,
    *,
    trusted: Iterable[str] = (),
    recover_tool_calls: bool = False,
    **kwargs: Any,
) -> OpenAIChatCompletionsModel:
    """A model whose calls carry the rollout that makes them; shared by any number of rollouts.

    Args:
        model: "default" is the runtime's name of the policy.
        client: of the user's, which is wrapped; a new one where None, which needs no key.
        trusted: endpoints that a payload may name beside AWS's.
        recover_tool_calls: whether tool calls that the policy wrote as text become tool calls.
        kwargs: of `OpenAIChatCompletionsModel`.

    Raises:
        UnsupportedClient: a client that cannot be wrapped.
    """
    if client is None:
        made = async_rollout_client(trusted=trusted, recover_tool_calls=recover_tool_calls)
    else:
        made = wrap_client(client, trusted=trusted, recover_tool_calls=recover_tool_calls)
    return OpenAIChatCompletionsModel(model, made, **kwargs)


def wrap_model(
    model: Any, *, trusted: Iterable[str] = (), recover_tool_calls: bool = False
) -> OpenAIChatCompletionsModel:
    """A copy of a model whose calls carry the rollout that makes them; the model stays as it is.

    Args:
        model: an `OpenAIChatCompletionsModel`, or of a class of your own below it.
        trusted: see `rollout_model`.
        recover_tool_calls: likewise.

    Raises:
        UnsupportedModel: any other model, that of the Responses API above all.
        UnsupportedClient: its client cannot be wrapped.
    """
    if not isinstance(model, OpenAIChatCompletionsModel):
        raise UnsupportedModel(
            f"wrap_model adapts OpenAIChatCompletionsModel, not {type(model).__name__}: the "
            "runtime of a job has no Responses API; say Agent(model=rollout_model())"
        )
    made = copy.copy(model)
    own = vars(made)
    own["_client"] = wrap_client(
        own["_client"], trusted=trusted, recover_tool_calls=recover_tool_calls
    )
    return made
