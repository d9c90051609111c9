"""Reading an engine's answer: its message, tool calls, usage and tokens.

An engine, or an agent's framework between, may send anything. Nothing here raises over it: a part
that is not of OpenAI's form is left out, and its name is in `unread`.

| part | where | source |
| --- | --- | --- |
| message, finish reason | `choices[0]` | OpenAI, "Create chat completion" |
| tool calls | `message.tool_calls[].function`, or the older `function_call` | the same |
| usage | `usage`, with `prompt_tokens_details` and `completion_tokens_details` | the same |
| prompt's token ids | `prompt_token_ids`, or of the choice | vLLM, `return_token_ids` |
| completion's token ids | `choices[0].token_ids` | the same |
| log-probabilities | `choices[0].logprobs.content[].logprob` | OpenAI |
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from reward_functions.rollouts.record.bounded import Full, Unreadable
from reward_functions.rollouts.record.types import (
    MOST_TOKENS,
    TokenTrace,
    TokenUsage,
    ToolCall,
)
from reward_functions.rollouts.request.errors import MisalignedTokens

if TYPE_CHECKING:
    from collections.abc import Callable

    from reward_functions.rollouts.record.bounded import BoundedPool
    from reward_functions.rollouts.record.types import Message

RECOVERED: Final = "recovered_"
"""What the ids of tool calls begin with that were written as text: no engine makes such."""

MOST_CALLS: Final = 1_000
"""Tool calls of one answer that are read; others are left out, and named."""

LONGEST_NAME: Final = 256
"""Characters of a model's, a tool's or a call's name that are kept."""

TOKEN: Final = 40
"""Bytes of a token's id, or of its log-probability, and of the reference to it."""

USAGE: Final = {
    "input": ("prompt_tokens",),
    "output": ("completion_tokens",),
    "cached": ("prompt_tokens_details", "cached_tokens"),
    "reasoning": ("completion_tokens_details", "reasoning_tokens"),
}
"""Fields of `TokenUsage`, and where they are in a response's `usage`."""

NO_PARAMETERS: Final = (
    "messages",
    "tools",
    "stream",
    "stream_options",
    "extra_headers",
    "model",
    "user",
)
"""Fields of a request that are no parameters of sampling; a header may be a credential."""


@dataclass(slots=True)
class AnswerParts:
    """What was read of a response; the fields are those of a `Turn`."""

    response: Message | None = None
    tool_calls: tuple[ToolCall, ...] = ()
    model: str = ""
    finish_reason: str = ""
    usage: TokenUsage = field(default_factory=TokenUsage)
    tokens: TokenTrace | None = None
    unread: list[str] = field(default_factory=list)


def read_response(response: Any, pool: BoundedPool) -> AnswerParts:
    """What there is in a chat completion.

    Args:
        response: as JSON data.
        pool: keeps its message.

    Raises:
        Full: the message does not fit.
    """
    found = AnswerParts()
    if not isinstance(response, Mapping):
        found.unread.append("response")
        return found
    choices = response.get("choices")
    choice = choices[0] if isinstance(choices, list | tuple) and choices else None
    message = choice.get("message") if isinstance(choice, Mapping) else None
    found.model = short(response.get("model"))
    found.usage = _read(found, "usage", lambda: _usage(response.get("usage")), TokenUsage())
    if not isinstance(choice, Mapping) or not isinstance(message, Mapping):
        found.unread.append("response")
        return found
    found.finish_reason = short(choice.get("finish_reason"))
    found.response = _read(found, "response", lambda: pool.message(message), None)
    found.tool_calls = _tool_calls(message, found)
    found.tokens = _read(found, "tokens", lambda: _tokens(response, choice, pool), None)
    return found


def short(value: Any) -> str:
    """A name; "" where it is none."""
    return value[:LONGEST_NAME] if isinstance(value, str) else ""


def parameters_of(request: Mapping[str, Any]) -> dict[str, Any]:
    """The sampling parameters of a request: what is a number, a string or a list of such."""
    plain = (bool, int, float, str)
    return {
        name[:LONGEST_NAME]: value
        for name, value in request.items()
        if isinstance(name, str) and name not in NO_PARAMETERS and type(value) in plain
    }


def function_of(call: Mapping[str, Any]) -> tuple[str, str] | None:
    """Name and arguments of a tool call in OpenAI's form; None where it has no name.

    Arguments are kept as they were written, and as JSON where an engine sends an object.
    """
    function = call.get("function", call)
    name = function.get("name") if isinstance(function, Mapping) else None
    if not isinstance(name, str):
        return None
    arguments = function.get("arguments", "")
    if arguments is None:
        return name[:LONGEST_NAME], ""
    if not isinstance(arguments, str):
        try:
            arguments = json.dumps(arguments, ensure_ascii=False, allow_nan=False)
        except (TypeError, ValueError, RecursionError):
            return None
    return name[:LONGEST_NAME], arguments


def _tool_calls(message: Mapping[str, Any], found: AnswerParts) -> tuple[ToolCall, ...]:
    given = message.get("tool_calls")
    old = message.get("function_call")
    if not given and isinstance(old, Mapping):
        given = [old]
    if not given:
        return ()
    if not isinstance(given, list | tuple):
        found.unread.append("tool_calls")
        return ()
    calls = []
    for each in given[:MOST_CALLS]:
        function = function_of(each) if isinstance(each, Mapping) else None
        if function is not None:
            id_ = short(each.get("id"))
            recovered = id_.startswith(RECOVERED)
            calls.append(
                ToolCall(id=id_, name=function[0], arguments=function[1], recovered=recovered)
            )
    if len(calls) < len(given):
        found.unread.append("tool_calls")
    return tuple(calls)


def _usage(given: Any) -> TokenUsage:
    if given is None:
        return TokenUsage()
    return TokenUsage(**{name: _count(given, path) for name, path in USAGE.items()})


def _count(given: Any, path: tuple[str, ...]) -> int | None:
    """A count of tokens; None where nobody says."""
    for name in path:
        if given is None:
            return None
        if not isinstance(given, Mapping):
            raise Unreadable
        given = given.get(name)
    if given is not None and (type(given) is not int or not 0 <= given <= MOST_TOKENS):
        raise Unreadable
    return given


def _tokens(
    response: Mapping[str, Any], choice: Mapping[str, Any], pool: BoundedPool
) -> TokenTrace | None:
    """The tokens of an answer; None where the engine gave none.

    Raises:
        MisalignedTokens: they do not belong together.
        Full: they do not fit.
    """
    prompt = response.get("prompt_token_ids", choice.get("prompt_token_ids"))
    completion, logprobs = choice.get("token_ids"), choice.get("logprobs")
    if prompt is None and completion is None:
        return None
    content = logprobs.get("content") if isinstance(logprobs, Mapping) else None
    if content is not None:
        content = [each["logprob"] for each in content]
    if content is not None and None in content:
        content = None  # without one of them there are none: 0.0 would say that it was certain
    pool.take(TOKEN * sum(len(each or ()) for each in (prompt, completion, content)))
    return TokenTrace(
        prompt_ids=None if prompt is None else tuple(prompt),
        completion_ids=None if completion is None else tuple(completion),
        logprobs=None if content is None else tuple(content),
    )


def _read(found: AnswerParts, name: str, read: Callable[[], Any], otherwise: Any) -> Any:
    """A part of an answer, or what stands for it where it cannot be read."""
    try:
        return read()
    except Full:
        raise
    except (Unreadable, MisalignedTokens, AttributeError, KeyError, TypeError, RecursionError):
        found.unread.append(name)
        return otherwise
