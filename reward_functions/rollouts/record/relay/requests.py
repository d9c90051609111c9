"""What of an agent's chat completion goes to the engine, and in which form.

Engines refuse, or render wrongly, what only OpenAI's own service knows:

| of the agent | to the engine |
| --- | --- |
| a field of `TAKEN` | as it is; null is left out |
| a field of `SAMPLING` that the session fixes | the session's value, under all of its names |
| `model` | the relay's, where it has one |
| `n` of more than 1 | refused with 400: a turn has one answer |
| `stream_options` | the relay's own, where the engine takes them |
| any other field | left out |
| a message whose content is blocks of text | one text; the blocks are joined by a line's end |
| the role `developer` | `system` |
| arguments of a tool call that the policy wrote, as the same JSON | as the policy wrote them |
| fields of a message that are null, other than its content | left out |

Sources: OpenAI's API reference; reports of agents that ran before other engines.
"""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, Any, Final

from reward_functions.rollouts.record.relay.bounded_json import Malformed
from reward_functions.rollouts.request.errors import BadRequest

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reward_functions.rollouts.record.relay.engine import EngineKind

NUMBERS: Final = (
    *("temperature", "top_p", "top_k", "min_p", "max_tokens", "max_completion_tokens", "seed"),
    *("presence_penalty", "frequency_penalty", "repetition_penalty"),
)

SAMPLING: Final = (*NUMBERS, "stop")
"""Fields that say how the policy is sampled; a session may fix them."""

ALIASES: Final = {
    "max_tokens": "max_completion_tokens",
    "max_completion_tokens": "max_tokens",
}

TAKEN: Final = (
    *("messages", "tools", "tool_choice", "parallel_tool_calls", "response_format"),
    *("logit_bias", "logprobs", "top_logprobs", "reasoning_effort", "chat_template_kwargs"),
    *SAMPLING,
)

ROLES: Final = {"developer": "system"}

ONE: Final = (None, 1)
"""A tuple: it is compared with what may have no hash, as everything that an agent sends."""


def to_engine(
    body: Mapping[str, Any], kind: EngineKind, *, model: str, sampling: Mapping[str, Any]
) -> dict[str, Any]:
    """The request that the engine is sent.

    Args:
        body: the agent's, in OpenAI's form; it is not changed.
        kind: of the engine.
        model: "" for the one that the agent names.
        sampling: of the session.

    Raises:
        Malformed: it is no request of one chat completion.
    """
    if any(body.get(name) not in ONE for name in ("n", "best_of")):
        raise Malformed("a call has one answer: leave out `n`, or set it to 1")
    found = {name: body[name] for name in TAKEN if body.get(name) is not None}
    found["messages"] = _messages(body.get("messages"))
    found["model"] = model or _named(body)
    tools = found.get("tools", [])
    if not isinstance(tools, list) or not all(isinstance(each, dict) for each in tools):
        raise Malformed("`tools` is not a list of objects")
    for name in sampling:
        found.pop(ALIASES.get(name, name), None)
    found |= sampling
    found |= kind.asks
    if body.get("stream") and kind.streams:
        found["stream"] = True
        if kind.stream_usage:
            found["stream_options"] = {"include_usage": True}
    return found


def read_sampling(given: Mapping[str, Any]) -> dict[str, Any]:
    """Sampling parameters that a session fixes; null is left out.

    Raises:
        BadRequest: a name or a value is none of a sampling parameter.
    """
    found = {name: value for name, value in given.items() if value is not None}
    for name, value in found.items():
        number = type(value) in {int, float} and isfinite(value)
        texts = value if isinstance(value, list) else [value]
        text = all(isinstance(each, str) for each in texts)
        if not (text if name == "stop" else number and name in NUMBERS):
            raise BadRequest(f"a session fixes numbers of {', '.join(NUMBERS)}, and texts of stop")
    return found


def _named(body: Mapping[str, Any]) -> str:
    if not isinstance(body.get("model"), str):
        raise Malformed("`model` is not a string")
    return str(body["model"])


def _messages(given: Any) -> list[dict[str, Any]]:
    if not isinstance(given, list) or not given:
        raise Malformed("`messages` is not a list of messages")
    return [_message(each) for each in given]


def _message(given: Any) -> dict[str, Any]:
    if not isinstance(given, dict) or not isinstance(given.get("role"), str):
        raise Malformed("a message is not an object with a role")
    role = given["role"]
    kept = {name: value for name, value in given.items() if value is not None or name == "content"}
    return kept | {"role": ROLES.get(role, role), "content": _flat(given.get("content"))}


def _flat(content: Any) -> Any:
    """One text where all blocks are text."""
    if not isinstance(content, list):
        return content
    texts = [
        block["text"]
        for block in content
        if isinstance(block, dict)
        and block.get("type") == "text"
        and isinstance(block.get("text"), str)
    ]
    return "\n".join(texts) if len(texts) == len(content) else content
