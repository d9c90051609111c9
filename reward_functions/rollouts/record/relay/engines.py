"""Kinds of inference engines: what each is asked for tokens, and what it cannot do.

| kind | asked for | gives |
| --- | --- | --- |
| `vllm` | `logprobs`, `return_token_ids` | `prompt_token_ids`; `token_ids` of a choice |
| `sglang` | `logprobs`, `return_prompt_token_ids`, `return_meta_info` | its own words |
| `openai` | `logprobs` | log-probabilities without ids: no trainer can use them |
| `plain` | nothing | messages alone |

SGLang's words are `prompt_token_ids` and `meta_info.output_token_logprobs` of a choice; it refuses
them with a stream. Where an engine does not stream, the relay asks for the whole answer and streams
that to the agent.

Sources: "OpenAI-Compatible Server" of vLLM's documentation; `ChatCompletionRequest` of SGLang
0.5.13. No engine of either kind ran against this relay: scripted ones with these shapes did.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

LOGPROBS: Final = {"logprobs": True}


@dataclass(frozen=True, slots=True)
class EngineKind:
    """What an engine is asked and can do.

    Args:
        asks: fields that the relay adds to every request.
        streams: whether it streams with them.
        stream_usage: whether it takes `stream_options`, which bring a stream's usage.
        tokenize: where it counts the tokens of messages, from its root; "" for nowhere.
    """

    asks: Mapping[str, Any] = field(default_factory=dict)
    streams: bool = True
    stream_usage: bool = True
    tokenize: str = ""


ENGINES: Final = {
    "vllm": EngineKind(LOGPROBS | {"return_token_ids": True}, tokenize="/tokenize"),
    "sglang": EngineKind(
        LOGPROBS | {"return_prompt_token_ids": True, "return_meta_info": True}, streams=False
    ),
    "openai": EngineKind(LOGPROBS),
    "plain": EngineKind(streams=False, stream_usage=False),
}

SWITCHES: Final = {
    "prompt_token_ids": ("return_token_ids", "return_prompt_token_ids"),
    "token_ids": ("return_token_ids",),
    "logprobs": ("logprobs",),
    "meta_info": ("return_meta_info",),
}
"""Fields of a reply and its choices, and those of a request that ask for them."""


def stripped(reply: Mapping[str, Any], asked: Mapping[str, Any]) -> dict[str, Any]:
    """A completion, or a chunk of one, without what its agent did not ask for.

    Args:
        reply: of the engine; it is not changed.
        asked: the agent's request.
    """
    extra = [name for name, by in SWITCHES.items() if not any(asked.get(each) for each in by)]
    found = {name: value for name, value in reply.items() if name not in extra}
    if "choices" in found:
        found["choices"] = [_without(choice, extra) for choice in found["choices"]]
    return found


def _without(choice: dict[str, Any], extra: list[str]) -> dict[str, Any]:
    kept = {name: value for name, value in choice.items() if name not in extra}
    if "logprobs" in choice:
        kept.setdefault("logprobs", None)
    return kept
