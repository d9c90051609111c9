"""The message to an agent: the caller's payload, and under `_rollout` where the result goes.

{**payload, "_rollout": {exp_id, input_id, s3_bucket, base_url, model_id, …}}

The region of an ARN, and the ids of sessions.

Source: botocore's model of bedrock-agentcore: a session id has 33 to 256 characters.
"""

from __future__ import annotations

import json
import re
import uuid
from typing import TYPE_CHECKING, Any, Final

from reward_functions.core.jsons import json_kind
from reward_functions.rollouts.request.endpoints import region_in
from reward_functions.rollouts.request.errors import BadRequest
from reward_functions.rollouts.serve.agentcore.results import LARGEST, ROLLOUT

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


SESSION: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{32,255}")


def region_of(arn: str) -> str:
    """The region that an ARN names.

    Raises:
        ValueError: it names none.
    """
    region = region_in(arn)
    if not region:
        raise ValueError(f"Invalid ARN format, cannot extract region: {arn[:256]!r}")
    return region


def session_of(given: str | None) -> str:
    """A session's id: the one given, or a new one.

    Raises:
        BadRequest: AgentCore would not take it.
    """
    session = str(uuid.uuid4()) if given is None else given
    if not isinstance(session, str) or not SESSION.fullmatch(session):
        raise BadRequest(
            "a session id is 33 to 256 letters, digits, '-' and '_', and begins with a letter or "
            "a digit: leave it out for a new one"
        )
    return session
