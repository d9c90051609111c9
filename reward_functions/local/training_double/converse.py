"""Bedrock runtime's Converse: a base by its model's id, a tuned model by an ARN.

The ARN is that of a deployment, or of an imported model.
A model of SageMaker's public hub is asked under the Bedrock id that `sagemaker_public_hub` has.
"""

from __future__ import annotations

import json
from random import Random
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final

from reward_functions.data.lengths import CHARACTERS_PER_TOKEN, prompt_tokens, tokens
from reward_functions.local.loopback_service.requests import invalid, missing
from reward_functions.local.training_double.bases import asked
from reward_functions.local.training_double.bedrock_imports import imported
from reward_functions.local.training_double.policy import GREEDY, Policy
from reward_functions.local.training_double.prompts import point
from reward_functions.local.training_double.tasks import NoTask

if TYPE_CHECKING:
    from reward_functions.local.training_double.service import Call

DEFAULT_TOKENS: Final = 4_096
"""What a response may have where nobody limits it; the service's own limit is each model's."""


def converse(call: Call) -> dict[str, Any]:
    """Converse."""
    begun = perf_counter()
    given = call.parameters
    policy = _policy(call, given["modelId"])
    messages = [
        *({"role": "system", "content": _text([block])} for block in given.get("system", [])),
        *(
            {"role": turn["role"], "content": _text(turn["content"])}
            for turn in given.get("messages", [])
        ),
    ]
    wanted = given.get("inferenceConfig", {})
    text, whole = respond(
        call,
        policy,
        messages,
        temperature=wanted.get("temperature", 1.0),
        most=wanted.get("maxTokens", DEFAULT_TOKENS),
    )
    read, written = prompt_tokens(messages), tokens(text)
    return {
        # A block of text has one character at least.
        "output": {"message": {"role": "assistant", "content": [{"text": text}] if text else []}},
        "stopReason": "end_turn" if whole else "max_tokens",
        "usage": {"inputTokens": read, "outputTokens": written, "totalTokens": read + written},
        "metrics": {"latencyMs": round((perf_counter() - begun) * 1000)},
    }


def respond(
    call: Call, policy: Policy, messages: list[dict[str, str]], *, temperature: float, most: int
) -> tuple[str, bool]:
    """A policy's response to a prompt, and whether it is whole.

    Args:
        call: whose prompt it is.
        policy: what answers.
        messages: with the text of each turn.
        temperature: of the sampling.
        most: tokens of the response, estimated; what is over is cut.

    Raises:
        Refused: no row has this prompt.
    """
    row, place = call.service.prompts.row_of(messages)
    metadata = row.get("metadata")
    further = metadata if isinstance(metadata, dict) else {}
    reference = row.get("reference_answer", further.get("reference_answer"))
    asked_for = json.dumps(messages)
    with call.state.lock:
        call.state.responses[asked_for] += 1
        number = call.state.responses[asked_for]
    # The nth response to a prompt is the same in every run, whatever else is asked meanwhile.
    draws = Random(f"response {number} to {asked_for}")  # noqa: S311
    try:
        where = point(place, number, greedy=temperature < GREEDY)
        text = policy.answer(row["messages"], reference, draws, temperature, where)
    except NoTask as error:
        raise invalid(f"simulation: {error}") from None
    if tokens(text) <= most:
        return text, True
    return text[: most * CHARACTERS_PER_TOKEN], False


def _policy(call: Call, identifier: str) -> Policy:
    if ":imported-model/" in identifier:
        return imported(call, identifier)
    if ":custom-model-deployment/" not in identifier:
        _, resources = asked(identifier, call.place)
        for each in resources:
            call.require("bedrock:InvokeModel", each)
        return Policy.base()
    call.require("bedrock:InvokeModel", identifier)
    deployment = call.state.deployments.get(identifier)
    if deployment is None:
        raise missing(f"The custom model deployment {identifier} does not exist")
    settled = call.state.settled(deployment)
    if not settled and not deployment.before:
        raise invalid(f"The custom model deployment {deployment.name} is not Active yet")
    hosted = deployment.model if settled else deployment.before
    model = call.state.models.get(hosted)
    if model is None:
        raise missing(f"The custom model {hosted} does not exist")
    return model.policy


def _text(blocks: list[dict[str, Any]]) -> str:
    """The text of a turn.

    Raises:
        Refused: it holds something else.
    """
    if any("text" not in block for block in blocks):
        raise invalid("simulation: only content of text is answered")
    return "\n".join(block["text"] for block in blocks)
