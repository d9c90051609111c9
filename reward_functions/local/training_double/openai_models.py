"""Models of the OpenAI-compatible API, and chat completions with them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import uuid4

from reward_functions.data.lengths import prompt_tokens, tokens
from reward_functions.data.records import text_of
from reward_functions.local.loopback_service.requests import missing
from reward_functions.local.training_double.bases import OPENAI
from reward_functions.local.training_double.converse import DEFAULT_TOKENS, respond
from reward_functions.local.training_double.openai_shapes import CHAT, require_request, seconds
from reward_functions.local.training_double.policy import Policy
from reward_functions.local.training_double.state import now

if TYPE_CHECKING:
    from reward_functions.local.training_double.service import Call


def complete(call: Call) -> dict[str, Any]:
    """A chat completion."""
    given = call.parameters
    require_request(CHAT, given)
    policy = _policy(call, given["model"])
    prompt = [
        {"role": turn["role"], "content": text_of(turn["content"])} for turn in given["messages"]
    ]
    most = given.get("max_completion_tokens") or given.get("max_tokens") or DEFAULT_TOKENS
    heat = given.get("temperature")
    answers = [
        respond(call, policy, prompt, temperature=1.0 if heat is None else heat, most=most)
        for _ in range(given.get("n") or 1)
    ]
    read, written = prompt_tokens(prompt), sum(tokens(text) for text, _ in answers)
    return {
        "id": f"chatcmpl-{uuid4().hex}",
        "object": "chat.completion",
        "created": seconds(now()),
        "model": given["model"],
        "choices": [
            {
                "index": index,
                "finish_reason": "stop" if whole else "length",
                "message": {"role": "assistant", "content": text, "refusal": None},
                "logprobs": None,
            }
            for index, (text, whole) in enumerate(answers)
        ],
        "usage": {
            "prompt_tokens": read,
            "completion_tokens": written,
            "total_tokens": read + written,
        },
    }


def _policy(call: Call, model: str) -> Policy:
    tuned = call.state.models.get(model)
    if tuned is not None and tuned.job.path == "openai" and tuned.place == call.place:
        return tuned.policy
    if model not in OPENAI:
        raise missing(f"The model `{model[:128]}` does not exist or you do not have access to it.")
    return Policy.base()


def list_(call: Call) -> dict[str, Any]:
    """The base models, and those that jobs made."""
    with call.state.lock:
        tuned = [
            model
            for model in call.state.models.values()
            if model.job.path == "openai" and model.place == call.place
        ]
    bases = [_shown(base, 0, "simulation") for base in OPENAI]
    made = [_shown(model.id, seconds(model.created), model.place.account) for model in tuned]
    data = [*bases, *made]
    ends = {"first_id": data[0]["id"], "last_id": data[-1]["id"]}
    return {"object": "list", "data": data, "has_more": False} | ends


def retrieve(call: Call) -> dict[str, Any]:
    """One model."""
    wanted = call.parameters["model"]
    found = [model for model in list_(call)["data"] if model["id"] == wanted]
    if not found:
        raise missing(f"The model '{wanted[:128]}' does not exist")
    model: dict[str, Any] = found[0]
    return model


def _shown(identifier: str, created: int, owner: str) -> dict[str, Any]:
    return {"id": identifier, "object": "model", "created": created, "owned_by": owner}
