"""A trainer's request for one rollout, in every spelling seen, and how it is written again.

| the platform's guide | sagemaker.train.rft | others |
| --- | --- | --- |
| `prompt`: str | `instance`: dict | both |
| `metadata.jobArn` | `metadata.job_arn` | |
| `metadata.rolloutId` | `metadata.trajectory_id` | `metadata.trajectoryId` |
| `inferenceParams.{temperature, topP, maxTokens}` | `inference_params.{temperature, top_p, max_tokens}` | |
| – | `model_name`, `model_endpoint` | `modelName`, `modelEndpoint` |

An empty string counts as missing, as `sagemaker.train.rft` has it. A payload is a mapping, a JSON
object as text or bytes, or a Lambda event that carries one under `body`.

Source: the SageMaker developer guide, "Preparing your agent"; the published models of
sagemaker-train 1.27.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from sys import float_info
from typing import TYPE_CHECKING, Any, Final

from reward_functions.core.jsons import json_kind
from reward_functions.rollouts.request.errors import BadRequest

if TYPE_CHECKING:
    from collections.abc import Mapping

LARGEST: Final = 6 * 1024 * 1024
"""Bytes of a payload that is read: what a Lambda is given at most."""

MAX_FLOAT: Final = float_info.max

JOB_ARN: Final = ("job_arn", "jobArn")
TRAJECTORY_ID: Final = ("trajectory_id", "trajectoryId", "rolloutId", "rollout_id")
"""In the order of sagemaker.train.rft: the first that is not empty counts."""
PARAMETERS: Final = ("inferenceParams", "inference_params")
MODEL: Final = ("modelName", "model_name")
MODEL_ENDPOINT: Final = ("modelEndpoint", "model_endpoint")
NUMBERS: Final = {
    "temperature": ("temperature",),
    "top_p": ("topP", "top_p"),
    "max_tokens": ("maxTokens", "max_tokens"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class RolloutMetadata:
    """The rollout, its job, and where its runtime is.

    Args:
        job_arn: "" where the payload has none.
        trajectory_id: likewise.
        endpoint: of the job's runtime; "" for the platform's own.
        region: "" for the environment's.
    """

    job_arn: str = ""
    trajectory_id: str = ""
    endpoint: str = ""
    region: str = ""

    @property
    def complete(self) -> bool:
        """Whether a reward can be reported for it."""
        return bool(self.job_arn and self.trajectory_id)

    def wire(self) -> dict[str, str]:
        """As the platform's guide writes it."""
        names = ("jobArn", "rolloutId", "endpoint", "region")
        values = (self.job_arn, self.trajectory_id, self.endpoint, self.region)
        return {name: value for name, value in zip(names, values, strict=True) if value}


@dataclass(frozen=True, slots=True, kw_only=True)
class InferenceParams:
    """How the policy is to be sampled; None where the trainer leaves it open.

    Args:
        temperature: 0 or more.
        top_p: of nucleus sampling.
        max_tokens: of one answer.
    """

    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None

    def openai(self) -> dict[str, float | int]:
        """As the fields of an OpenAI chat completion."""
        return {name: value for name in NUMBERS if (value := getattr(self, name)) is not None}

    def wire(self) -> dict[str, float | int]:
        """As the platform's guide writes it."""
        return {NUMBERS[name][0]: value for name, value in self.openai().items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class RolloutRequest:
    """One rollout, as a trainer asks for it.

    Args:
        prompt: the data set's cell, which may itself be JSON; "" where the request has an instance.
        instance: the data set's row; empty where the request has a prompt alone.
        metadata: which rollout.
        inference_params: how to sample.
        model: "" for the runtime's own, which is called "default".
        model_endpoint: "" for the runtime's own.
        payload: as it came.
    """

    prompt: str = field(default="", repr=False)
    instance: Mapping[str, Any] = field(default_factory=dict, repr=False)
    metadata: RolloutMetadata = RolloutMetadata()
    inference_params: InferenceParams = InferenceParams()
    model: str = ""
    model_endpoint: str = ""
    payload: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    def wire(self) -> dict[str, Any]:
        """As the platform's guide writes it; what is empty is left out."""
        fields: dict[str, Any] = {
            "prompt": self.prompt,
            "instance": dict(self.instance),
            "metadata": self.metadata.wire(),
            "inferenceParams": self.inference_params.wire(),
            "modelName": self.model,
            "modelEndpoint": self.model_endpoint,
        }
        return {name: value for name, value in fields.items() if value}

    def json(self) -> str:
        """The same as strict JSON.

        Raises:
            BadRequest: it holds what JSON cannot, such as NaN.
        """
        try:
            return json.dumps(self.wire(), allow_nan=False, separators=(",", ":"))
        except (TypeError, ValueError) as error:
            raise BadRequest(f"the request is not JSON: {error}") from None


def read_request(given: Any) -> RolloutRequest:
    """A request from a payload, JSON text or bytes, or a Lambda event with either under `body`.

    Ids may be missing: `RolloutMetadata.complete` says so. Fields that are present must be
    well-formed.

    Raises:
        BadRequest: not an object, too large, or a field of the wrong type. The message names it.
    """
    payload = _object(given, "the payload")
    if "body" in payload and not {"prompt", "instance", "metadata"} & payload.keys():
        payload = _object(_decoded(payload), "the body of the event")
    instance = payload.get("instance")
    if instance is not None and not isinstance(instance, dict):
        raise BadRequest(f"instance is {json_kind(instance)}, not an object")
    return RolloutRequest(
        prompt=_text(payload, ("prompt",), "prompt"),
        instance=instance or {},
        metadata=read_metadata(payload.get("metadata")),
        inference_params=read_params(_first(payload, PARAMETERS)),
        model=_text(payload, MODEL, "modelName"),
        model_endpoint=_text(payload, MODEL_ENDPOINT, "modelEndpoint"),
        payload=payload,
    )


def read_metadata(given: Any) -> RolloutMetadata:
    """Metadata from a mapping in any spelling, or as they are; None is empty.

    Raises:
        BadRequest: another type, or a field of the wrong type.
    """
    if isinstance(given, RolloutMetadata):
        return given
    fields = _mapping(given, "metadata")
    return RolloutMetadata(
        job_arn=_name(fields, JOB_ARN, "metadata.jobArn"),
        trajectory_id=_name(fields, TRAJECTORY_ID, "metadata.rolloutId"),
        endpoint=_name(fields, ("endpoint",), "metadata.endpoint"),
        region=_name(fields, ("region",), "metadata.region"),
    )


def read_params(given: Any) -> InferenceParams:
    """Sampling parameters from a mapping in any spelling, or as they are; None is empty.

    Raises:
        BadRequest: another type, or a field that is no finite number of 0 or more.
    """
    if isinstance(given, InferenceParams):
        return given
    fields = _mapping(given, "inferenceParams")
    found = {name: _number(fields, spellings) for name, spellings in NUMBERS.items()}
    most = found.pop("max_tokens")
    if most is not None and most != int(most):
        raise BadRequest("inferenceParams.maxTokens is not a whole number")
    return InferenceParams(max_tokens=None if most is None else int(most), **found)


def _decoded(event: Mapping[str, Any]) -> Any:
    body = event["body"]
    if not event.get("isBase64Encoded"):
        return body
    from base64 import b64decode  # noqa: PLC0415 - a function's URL does so, and nobody else
    from binascii import Error  # noqa: PLC0415

    try:
        return b64decode(body, validate=True)
    except (Error, TypeError, ValueError):
        raise BadRequest("the body of the event is not base64") from None


def _object(given: Any, what: str) -> dict[str, Any]:
    """A mapping, or the object that JSON holds."""
    if isinstance(given, str | bytes | bytearray):
        if len(given) > LARGEST:
            raise BadRequest(f"{what} has more than {LARGEST} bytes")
        try:
            given = json.loads(given)
        except (ValueError, RecursionError):
            raise BadRequest(f"{what} is not JSON") from None
    if not isinstance(given, dict):
        raise BadRequest(f"{what} is {json_kind(given)}, not an object")
    return given


def _mapping(given: Any, what: str) -> Mapping[str, Any]:
    """The fields of a mapping, or of an object that has them as attributes, such as a model."""
    if given is None:
        return {}
    if isinstance(given, dict):
        return given
    dump = getattr(given, "model_dump", None)
    fields = dump() if callable(dump) else getattr(given, "__dict__", None)
    if not isinstance(fields, dict) or isinstance(given, type):
        raise BadRequest(f"{what} is {json_kind(given)}, not an object")
    return fields


def _first(fields: Mapping[str, Any], spellings: tuple[str, ...]) -> Any:
    """The first value that is there and not empty."""
    return next((fields[name] for name in spellings if fields.get(name) not in (None, "")), None)


def _text(fields: Mapping[str, Any], spellings: tuple[str, ...], what: str) -> str:
    value = _first(fields, spellings)
    if value is not None and not isinstance(value, str):
        raise BadRequest(f"{what} is {json_kind(value)}, not a string")
    return value or ""


def _name(fields: Mapping[str, Any], spellings: tuple[str, ...], what: str) -> str:
    """A text that can be stored and sent: JSON may hold half a character of UTF-16."""
    value = _text(fields, spellings, what)
    try:
        value.encode()
    except UnicodeEncodeError:
        raise BadRequest(f"{what} is not Unicode: it has half a character") from None
    return value


def _number(fields: Mapping[str, Any], spellings: tuple[str, ...]) -> float | None:
    value = _first(fields, spellings)
    if value is None:
        return None
    known = isinstance(value, int | float) and not isinstance(value, bool)
    # A whole number too large for a float is compared before it is converted.
    if not known or not 0 <= value <= MAX_FLOAT:
        raise BadRequest(f"inferenceParams.{spellings[0]} is not a number of 0 or more")
    return float(value)
