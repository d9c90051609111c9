"""A chat model of LangChain that exists already becomes one that lives in rollouts."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

from langchain_core.language_models import BaseChatModel
from langchain_openai import ChatOpenAI

from reward_functions.rollouts.policy.calls import UnsupportedModel
from reward_functions.rollouts.policy.langchain.model import RolloutChatOpenAI, in_rollouts

if TYPE_CHECKING:
    from collections.abc import Iterable


def wrap_chat_model(
    model: Any, *, trusted: Iterable[str] = (), recover_tool_calls: bool = False
) -> RolloutChatOpenAI:
    """A copy of a chat model whose calls carry the rollout that makes them; it stays as it is.

    Args:
        model: a `ChatOpenAI` of LangChain, or of a class of your own below it, before tools are
            bound to it; one that is wrapped already is returned.
        trusted: endpoints that a payload may name beside AWS's.
        recover_tool_calls: see `RolloutChatOpenAI`.

    Returns:
        A model of the same class, and a `RolloutChatOpenAI`: see there what each call carries.

    Raises:
        UnsupportedModel: any other model.
    """
    if isinstance(model, RolloutChatOpenAI):
        return model
    _require_chat_completions(model)
    kind: type[RolloutChatOpenAI] = in_rollouts(model.__class__)
    made = kind.__new__(kind)
    made.__setstate__(copy.copy(model).__getstate__())
    vars(made).update(
        trusted=tuple(trusted),
        recover_tool_calls=recover_tool_calls,
        model_kwargs=copy.deepcopy(model.model_kwargs),
    )
    return made


def _require_chat_completions(model: Any) -> None:
    """Nothing, where a chat model posts chat completions to an address of the caller's."""
    kind = type(model)
    foreign = [
        each.__name__
        for each in kind.__mro__
        if issubclass(each, ChatOpenAI)
        and each is not ChatOpenAI
        and each.__module__.startswith("langchain")
    ]
    if isinstance(getattr(model, "bound", None), BaseChatModel):
        name = "a model with tools bound to it, which is wrapped before that"
    elif not isinstance(model, ChatOpenAI) or foreign:
        name = foreign[0] if foreign else kind.__name__
    elif model.use_responses_api:
        name = "a ChatOpenAI that uses the Responses API"
    else:
        return
    raise UnsupportedModel(
        "wrap_chat_model adapts LangChain's ChatOpenAI and classes of your own below it, not "
        f"{name}: the runtime of a job speaks OpenAI's chat completions only; "
        'say wrap_chat_model(ChatOpenAI(model="default")), or RolloutChatOpenAI()'
    )
