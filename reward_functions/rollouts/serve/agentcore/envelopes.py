"""What is stored of a rollout: its agent's result in the envelope that agentcore-rl-toolkit reads.

| field | of a result | of a failure |
| --- | --- | --- |
| `status_code` | the agent's own, or 200 | 500 |
| `stop_reason` | the agent's own, or "end_turn" | one sentence, with no text of agent or model |
| `input_id`, `s3_bucket`, `result_key` | of the request | the same |
| `payload` | a copy of the request, of allowed fields | the same |
| `rewards` | a finite number or a list of them, where there are any | absent |
| `agent_fields` | the agent's own `input_id`, …, `payload`, where it had any | absent |
| `traceback` | absent | the type that was raised, and file:line of each frame |
| the rest | as the agent returned it | absent |

The copy of the request has `_rollout` with `STORED_CONFIG`, and of its other fields those that the
app names, by default `STORED`: neither a reference nor what a trainer adds. Credentials are
replaced in the copy and in the result alike: see `secrets`.

It is strict JSON. NaN, an infinite number, bytes, a reward that is a string or a boolean make the
result a failure, whose sentence says so.

What AgentCore carries at most: an agent's app and its clients refuse the same.
"""

from __future__ import annotations

import json
import logging
from pathlib import PurePath
from traceback import extract_tb
from typing import TYPE_CHECKING, Any, Final

from reward_functions.core.jsons import json_kind
from reward_functions.rollouts.request.errors import InvalidReward, RefusedResult
from reward_functions.rollouts.request.rewards import rewards_of
from reward_functions.rollouts.serve.agentcore.destinations import ROLLOUT
from reward_functions.rollouts.serve.agentcore.secrets import known_secrets, without_secrets

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from reward_functions.rollouts.serve.agentcore.destinations import Destination


LARGEST: Final = 100_000_000
"""Bytes of a payload, and so of a result that a client reads again (botocore's model of
InvokeAgentRuntime)."""


RESERVED: Final = ("input_id", "s3_bucket", "result_key", "payload")
"""Of the envelope: what an agent returns under these names is kept under `AGENT_FIELDS`."""

AGENT_FIELDS: Final = "agent_fields"

STORED: Final = ("id", "prompt")
"""Fields of a request that are stored unless the app names others."""

STORED_CONFIG: Final = ("exp_id", "input_id", "s3_bucket", "model_id", "sampling_params")
"""Of `_rollout`; never its `api_key` or `base_url`, which may carry a credential."""

FRAMES: Final = 64
"""Of a traceback, the innermost ones."""

_log = logging.getLogger(__name__)


def stored(
    result: Any,
    destination: Destination,
    payload: Mapping[str, Any],
    names: Collection[str] = STORED,
) -> bytes:
    """The object that is stored of a result.

    Args:
        result: what the agent returned.
        destination: where it goes.
        payload: of the request.
        names: of the fields of the request that are stored beside `_rollout`.

    Raises:
        RefusedResult: it is no object, or holds what JSON cannot.
    """
    if not isinstance(result, dict):
        raise RefusedResult(
            "Return value must be a dict when S3 save is configured, got "
            f"{type(result).__name__[:80]}"
        )
    content = dict(result)
    own = {name: content.pop(name) for name in RESERVED if name in content}
    if own:
        _log.warning("the agent returns %s, of the envelope's: in %s", ", ".join(own), AGENT_FIELDS)
        content[AGENT_FIELDS] = own
    content.setdefault("status_code", 200)
    content.setdefault("stop_reason", "end_turn")
    if isinstance(content["status_code"], bool) or not isinstance(content["status_code"], int):
        raise RefusedResult(f"status_code is {json_kind(content['status_code'])}, not a number")
    if "rewards" in content:
        content["rewards"] = _rewards(content["rewards"])
    try:
        known = known_secrets(payload)
        content = without_secrets(content, known)
        content |= {
            "input_id": destination.input_id,
            "s3_bucket": destination.bucket,
            "result_key": destination.key,
            "payload": without_secrets(_copy(payload, names), known),
        }
        body = json.dumps(content, indent=2, allow_nan=False).encode()
    except (TypeError, ValueError, RecursionError):
        raise RefusedResult(
            "the result is not strict JSON: it holds NaN, or an object that JSON does not know"
        ) from None
    if len(body) > LARGEST:
        raise RefusedResult(f"the result has more than {LARGEST:,} bytes")
    return body


def failure(sentence: str, error: BaseException | None = None) -> dict[str, Any]:
    """The content of a failure.

    Args:
        sentence: that says what went wrong, and quotes nothing.
        error: what was raised, for its type and frames.
    """
    return {
        "status_code": 500,
        "stop_reason": sentence,
        "traceback": "" if error is None else trace_of(error),
    }


def trace_of(error: BaseException) -> str:
    """The type of an error and its frames as file:line; no message, no source, no locals."""
    frames = extract_tb(error.__traceback__)[-FRAMES:]
    places = (f"  {_short(frame.filename)}:{frame.lineno}" for frame in frames)
    return "\n".join([type(error).__name__, *places])


def _short(filename: str) -> str:
    """A file without the folders that name a machine."""
    return "/".join(PurePath(filename).parts[-3:])


def _rewards(given: Any) -> float | list[float]:
    """The rewards of a result in the form they have."""
    try:
        rewards = rewards_of(given)
    except InvalidReward as error:
        raise RefusedResult(f"rewards of the result: {error}") from None
    listed = hasattr(given, "__iter__") and getattr(given, "ndim", 1) != 0
    return list(rewards) if listed else rewards[0]


def _copy(payload: Mapping[str, Any], names: Collection[str]) -> dict[str, Any]:
    """The fields of a request that are stored."""
    copy = {name: value for name, value in payload.items() if name in names and name != ROLLOUT}
    config = payload.get(ROLLOUT)
    if isinstance(config, dict):
        copy[ROLLOUT] = {name: config[name] for name in STORED_CONFIG if name in config}
    return copy
