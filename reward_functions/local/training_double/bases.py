"""The base models that the double has, each answered for by the same simulated policy.

They are those of `reward job`'s own table, `jobs/models.toml`, with all their ids; only the
region is not looked at, for a stage on the emulator has one alone.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from reward_functions.jobs.models import models
from reward_functions.local.loopback_service.requests import invalid, missing
from reward_functions.local.training_double.sagemaker_public_hub import MODELS as HUB_MODELS

if TYPE_CHECKING:
    from reward_functions.cdk.policies.iam import Place
    from reward_functions.jobs.job import DriverName


def _ids(driver: DriverName) -> tuple[str, ...]:
    """Every id of the models that an API trains."""
    rows = [model for model in models() if model.driver == driver]
    return tuple(each for model in rows for each in (model.id, *model.aliases))


BEDROCK: Final = _ids("bedrock")
"""Tuned by Bedrock's control plane."""

OPENAI: Final = _ids("openai")
"""Tuned by the OpenAI-compatible API."""

_ARN: Final = re.compile(r"arn:aws[a-z-]*:bedrock:([a-z0-9-]{1,20})::foundation-model/(.{1,200})")
_PROFILE: Final = re.compile(
    r"(?:arn:aws[a-z-]*:bedrock:[a-z0-9-]{1,20}:[0-9]{12}:inference-profile/)?"
    r"(us|eu|apac|global)\.(.{1,200})"
)


ASKED: Final = frozenset(
    {*BEDROCK, *OPENAI, *(model.asked for model in HUB_MODELS.values() if model.asked)}
    | {_PROFILE.sub(r"\2", model.inference_id) for model in models()}
)
"""What Converse takes: a model's own ids, and the one that its inference profiles end with."""


def foundation_arn(place: Place, base: str) -> str:
    """The ARN of a base model."""
    return f"arn:{place.partition}:bedrock:{place.region}::foundation-model/{base}"


def tunable(identifier: str, place: Place) -> str:
    """The id of a base model that Bedrock's control plane can tune.

    Args:
        identifier: its id or its ARN.
        place: where it is to be tuned.

    Raises:
        Refused: there is no such model here.
    """
    found = _ARN.fullmatch(identifier)
    region, base = found.groups() if found else (place.region, identifier)
    if base not in BEDROCK or region != place.region:
        raise invalid(
            f"The provided model identifier is invalid: {identifier} cannot be customized by "
            f"reinforcement fine-tuning in {place.region} (simulation: {', '.join(BEDROCK)} can)"
        )
    return base


def asked(identifier: str, place: Place) -> tuple[str, list[str]]:
    """The base model that Converse is asked for, and the resources that must be allowed.

    Args:
        identifier: an id, an ARN, or an inference profile of one.
        place: where it is asked.

    Raises:
        Refused: there is no such model here.
    """
    profile = _PROFILE.fullmatch(identifier)
    found = _ARN.fullmatch(identifier)
    base = profile[2] if profile else found[2] if found else identifier
    if base not in ASKED:
        raise missing(
            f"The provided model identifier is invalid: {identifier} (simulation: "
            f"{', '.join(sorted(ASKED))} answer)"
        )
    resources = [foundation_arn(place, base)]
    if profile:
        resources.append(place.arn("bedrock", f"inference-profile/{profile[1]}.{base}"))
    return base, resources
