"""What an agent is sent: the caller's payload, and under `_rollout` where the result goes.

{**payload, "_rollout": {exp_id, input_id, s3_bucket, base_url, model_id, …}}
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from reward_functions.core.jsons import json_kind
from reward_functions.rollouts.request.errors import BadRequest
from reward_functions.rollouts.serve.agentcore.destinations import ROLLOUT
from reward_functions.rollouts.serve.agentcore.limits import LARGEST

if TYPE_CHECKING:
    from collections.abc import Mapping


def rollout_payload(payload: Mapping[str, Any], rollout: Mapping[str, Any]) -> bytes:
    """The bytes that are sent for one rollout.

    Raises:
        BadRequest: the payload is no object, names `_rollout` itself, or cannot be sent.
    """
    if not isinstance(payload, dict):
        raise BadRequest(f"a payload is an object, not {json_kind(payload)}")
    if ROLLOUT in payload:
        raise BadRequest(f"a payload has no {ROLLOUT} of its own: give what belongs there by name")
    return encoded({**payload, ROLLOUT: dict(rollout)})


def encoded(payload: Mapping[str, Any]) -> bytes:
    """Strict JSON.

    Raises:
        BadRequest: it holds what JSON cannot, or is larger than AgentCore takes.
    """
    try:
        body = json.dumps(payload, allow_nan=False).encode()
    except (TypeError, ValueError, RecursionError):
        raise BadRequest("a payload holds what JSON cannot, such as NaN or an object") from None
    if len(body) > LARGEST:
        raise BadRequest(f"a payload has {len(body):,} bytes: AgentCore takes {LARGEST:,}")
    return body
