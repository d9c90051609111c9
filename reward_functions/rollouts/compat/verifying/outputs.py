"""What the published toolkits take as an output: pydantic's reading of three fields.

It takes NaN, `"0.5"`, True and any id: `strictness` is what a trainer needs.
"""

from __future__ import annotations

import json
from typing import Any, Literal

from pydantic import BaseModel, ValidationError

SUCCESS = 200


class RewardMetric(BaseModel):
    """One metric, or one part of a reward."""

    name: str
    value: int | float
    type: Literal["Metric", "Reward"]


class RewardFunctionOutput(BaseModel):
    """What a reward function says of one sample."""

    id: Any
    aggregate_reward_score: int | float
    metrics_list: list[RewardMetric] | None = None


def errors_of(output: Any, index: int) -> list[str]:
    """What is wrong with an output, as sentences that name it; empty where nothing is."""
    if not isinstance(output, dict):
        return [f"Output {index}: Expected dict, got {type(output).__name__}"]
    try:
        RewardFunctionOutput.model_validate(output)
    except ValidationError as error:
        return [
            f"Output {index}: {'.'.join(map(str, each['loc']))} - {each['msg']}"
            for each in error.errors(include_input=False, include_url=False)
        ]
    return []


def unwrapped(payload: Any) -> Any:
    """What the envelope of open-weight models holds: `{"statusCode": 200, "body": JSON}`.

    Raises:
        ValueError: it is no such envelope.
    """
    if not isinstance(payload, dict):
        kind = type(payload).__name__
        raise ValueError(f"OSS reward function returns 'statusCode' and 'body', not {kind}")  # noqa: TRY004 - theirs
    if payload.get("statusCode") != SUCCESS:
        status = payload.get("statusCode")
        raise ValueError(f"OSS reward function returned non-200 status code: {status!r}")
    body = payload.get("body")
    if body is None:
        raise ValueError("OSS reward function returned no 'body'")
    if not isinstance(body, str):
        return body
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        raise ValueError("OSS reward function 'body' is not valid JSON") from None
