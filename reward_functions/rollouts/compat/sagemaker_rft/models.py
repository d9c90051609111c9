"""The messages of a trainer, as pydantic models: the names of `sagemaker.train.rft.models`.

The platform's guide documents `{"prompt", "metadata": {"jobArn", "rolloutId"}, "inferenceParams"}`,
and the published models refuse it. These read either spelling:

| field | where it is missing | sagemaker.train.rft |
| --- | --- | --- |
| `instance` | `{"prompt": …}` of the request | refused |
| `metadata.endpoint` | "": the client builds it from the region | refused |
| `metadata.region` | that of the job's ARN, or AWS_REGION, or us-west-2 | us-west-2 |

Attributes are in snake case, and `model_dump()` is as of theirs, with `prompt` beside it.
"""

from __future__ import annotations

import os
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, Field, model_validator

from reward_functions.rollouts.request.contract import (
    JOB_ARN,
    MODEL,
    MODEL_ENDPOINT,
    NUMBERS,
    PARAMETERS,
    TRAJECTORY_ID,
)
from reward_functions.rollouts.request.endpoints import DEFAULT_REGION, region_in

NO_NAMESPACE: Final = ConfigDict(protected_namespaces=())
"""`model_name` is the platform's field; pydantic warns of the prefix."""


class RolloutMetadata(BaseModel):
    """The rollout, its job, and where its runtime is.

    Args:
        job_arn: or `jobArn`.
        trajectory_id: or `trajectoryId`, `rolloutId`; the first that is not empty.
        endpoint: of the runtime; "" for the platform's own.
        region: see above.
    """

    model_config = NO_NAMESPACE

    job_arn: str
    trajectory_id: str
    endpoint: str = ""
    region: str = ""

    @model_validator(mode="before")
    @classmethod
    def _spellings(cls, given: Any) -> Any:
        return _read(given, {"job_arn": JOB_ARN, "trajectory_id": TRAJECTORY_ID})

    @model_validator(mode="after")
    def _region(self) -> RolloutMetadata:
        if not self.region:
            self.region = _region_of(self.job_arn)
        return self


class InferenceParams(BaseModel):
    """How the policy is to be sampled; None where the trainer leaves it open."""

    model_config = NO_NAMESPACE

    temperature: float | None = None
    max_tokens: int | None = None
    top_p: float | None = None

    @model_validator(mode="before")
    @classmethod
    def _spellings(cls, given: Any) -> Any:
        return _read(given, NUMBERS)


class RolloutRequest(BaseModel):
    """One rollout, as a trainer asks for it.

    Args:
        prompt: of the documented request.
        instance: the data set's row; `{"prompt": prompt}` where the request has a prompt alone.
        metadata: which rollout.
        inference_params: or `inferenceParams`.
        model_name: or `modelName`.
        model_endpoint: or `modelEndpoint`.
    """

    model_config = NO_NAMESPACE

    prompt: str = ""
    instance: dict[str, Any] = Field(repr=False)
    metadata: RolloutMetadata
    inference_params: InferenceParams | None = None
    model_name: str | None = None
    model_endpoint: str | None = None

    @model_validator(mode="before")
    @classmethod
    def _spellings(cls, given: Any) -> Any:
        fields = _read(
            given,
            {
                "inference_params": PARAMETERS,
                "model_name": MODEL,
                "model_endpoint": MODEL_ENDPOINT,
            },
        )
        if isinstance(fields, dict) and "instance" not in fields and fields.get("prompt"):
            fields = {**fields, "instance": {"prompt": fields["prompt"]}}
        return fields


def _read(given: Any, spellings: dict[str, tuple[str, ...]]) -> Any:
    """Fields under our names: of each the first spelling that is not empty, else any that is."""
    if not isinstance(given, dict):
        return given
    known = {name for names in spellings.values() for name in names}
    fields = {name: value for name, value in given.items() if name not in known}
    for field, names in spellings.items():
        there = [given[name] for name in (field, *names) if name in given]
        if there:
            fields[field] = next((each for each in there if each not in (None, "")), there[0])
    return fields


def _region_of(job_arn: str) -> str:
    return region_in(job_arn) or os.environ.get("AWS_REGION") or DEFAULT_REGION
