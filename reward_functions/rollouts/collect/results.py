"""What an agent stored, read whole or refused: half a result is no result.

| what is found | becomes |
| --- | --- |
| strict JSON, an object, of this bucket, key and input | the result |
| a `status_code` other than 200 | `AgentFailed`, with its `stop_reason` |
| no JSON, NaN, another key or input, rewards that are none | `BadResult` |

A result without `rewards` is whole: an agent need not score itself. One without a `status_code` was
stored by an agent's own code, and counts as 200.
"""

from __future__ import annotations

import json
from typing import Any, Final

from reward_functions.core.jsons import json_kind, no_constant
from reward_functions.rollouts.request.errors import AgentFailed, BadResult, InvalidReward
from reward_functions.rollouts.request.rewards import rewards_of

SUCCESS: Final = 200

REASON: Final = 500
"""Characters of an agent's own reason that are kept."""


def strict_json(body: bytes, what: str) -> Any:
    """A value of strict JSON.

    Raises:
        BadResult: it is none, or is nested too deeply.
    """
    try:
        return json.loads(body, parse_constant=no_constant)
    except (ValueError, RecursionError):
        raise BadResult(f"{what} is not whole JSON ({len(body):,} bytes)") from None


def read_result(body: bytes, *, bucket: str, key: str, input_id: str | None) -> dict[str, Any]:
    """The result of one rollout.

    Args:
        body: what S3 has.
        bucket: where it was looked for.
        key: its name there, which ends in the session's id.
        input_id: of the payload; None where nobody knows it.

    Raises:
        BadResult: it is not whole, or belongs to another rollout.
        AgentFailed: the agent reports a failure.
    """
    found = strict_json(body, "the stored result")
    if not isinstance(found, dict):
        raise BadResult(f"the stored result is {json_kind(found)}, not an object")
    expected = {"s3_bucket": bucket, "result_key": key, "input_id": input_id}
    for name, value in expected.items():
        if value is not None and found.get(name, value) != value:
            raise BadResult(f"the stored result is another rollout's: its {name} differs")
    status = found.get("status_code", SUCCESS)
    if isinstance(status, bool) or not isinstance(status, int):
        raise BadResult(f"the stored result has a status_code that is {json_kind(status)}")
    if status != SUCCESS:
        raise AgentFailed(f"the agent failed with status {status}{_reason(found)}", found)
    if "rewards" in found:
        try:
            rewards_of(found["rewards"])
        except InvalidReward as error:
            raise BadResult(f"the stored result's rewards: {error}") from None
    return found


def _reason(found: dict[str, Any]) -> str:
    """The agent's own words, on one line."""
    reason = found.get("stop_reason")
    if not isinstance(reason, str) or not reason.strip():
        return ""
    shown = "".join(each if each.isprintable() else " " for each in reason[:REASON])
    return f": {shown.strip()}"
