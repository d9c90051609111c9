"""The models that can be tuned by reinforcement: a dated table, for no call of AWS lists them.

A model is named by its id, by another id of the same model, by its foundation model's ARN, or, on
Bedrock's control plane, by the ARN of a custom model that was tuned before. Where the table says
no, a user who has read a newer page has the last word, and gets a warning in the place of the
error: `driver` names the API of a model that the table does not know, and an ARN is taken for one
that it has in another region or, with `driver`, on the other API.
"""

from __future__ import annotations

import re
import tomllib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from pydantic import BaseModel, ConfigDict, Field

from reward_functions.aws.arn import Arn
from reward_functions.core.suggest import did_you_mean
from reward_functions.jobs.configuration import BadJob
from reward_functions.jobs.services import CUSTOM, HUB, SERVICES, DriverName

if TYPE_CHECKING:
    from collections.abc import Iterator

TABLE: Final = Path(__file__).with_name("models.toml")

API: Final = {name: each.called for name, each in SERVICES.items()}
"""What the services are called in sentences."""

BASE: Final = (
    "foundation-model/(?P<id>[A-Za-z0-9.:_-]{1,256})"
    "|custom-model/(?P<base>[A-Za-z0-9.:_-]{1,256})/[a-z0-9]{12}"
)
"""The resource of `BaseModelIdentifier` of botocore's model of Bedrock."""

HUB_BASE: Final = (
    "hub-content/SageMakerPublicHub/Model/(?P<name>[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)"
    "(?:/(?P<version>[0-9]{1,4}\\.[0-9]{1,4}\\.[0-9]{1,4}))?"
)
"""That of a model of SageMaker's public hub (`ServerlessJobBaseModelArn`)."""

HUB_NAME: Final = re.compile(r"[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?")
"""Its name there (`HubContentName`)."""

SHOWN: Final = 80
"""Characters of a refused name in a message."""


class Price(BaseModel):
    """What a model costs.

    Args:
        inference: dollars per million tokens, input and output, on demand.
        as_of: when that was read.
        source: where.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    inference: tuple[float, float]
    as_of: str
    source: str


class TunableModel(BaseModel):
    """A row of the table.

    Args:
        id: what a job's request names.
        name: the model's own.
        driver: which API trains it.
        regions: where.
        aliases: other ids that AWS's documents have for it.
        inference_id: what asks the base model itself, before any training: Converse on Bedrock,
            chat completions on the OpenAI-compatible API.
        context: tokens of a prompt and its answer together.
        max_output: tokens of an answer at most.
        source: where this was read.
        price: None where none is published.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    name: str
    driver: DriverName
    regions: tuple[str, ...] = Field(min_length=1)
    aliases: tuple[str, ...] = ()
    inference_id: str
    context: int
    max_output: int
    source: str
    price: Price | None = None


class _Table(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    as_of: str
    models: tuple[TunableModel, ...]


class Base(NamedTuple):
    """The model that a job starts from.

    Args:
        identifier: what the request names: as it was typed, for the service decides.
        driver: which API trains it.
        known: its row of the table; None for a model that the table does not know.
        custom: whether it is the result of an earlier job.
        warnings: what speaks against it, in sentences.
    """

    identifier: str
    driver: DriverName
    known: TunableModel | None
    custom: bool
    warnings: tuple[str, ...]


@cache
def _table() -> _Table:
    return _Table.model_validate(tomllib.loads(TABLE.read_text(encoding="utf-8")))


def models() -> tuple[TunableModel, ...]:
    """Every model of the table."""
    return _table().models


def as_of() -> str:
    """The day on which the table was last compared with AWS's pages, as YYYY-MM-DD."""
    return _table().as_of


def hub_model(model: str) -> Arn | None:
    """The ARN of a model of SageMaker's public hub; None for anything else."""
    found = Arn.read(model, "sagemaker", HUB_BASE)
    return found if found and found.account == "aws" else None


def find(model: str, region: str | None = None, driver: DriverName | None = None) -> Base:
    """The base of a job.

    Args:
        model: an id or an ARN.
        region: where the stage is; None compares no regions.
        driver: the API that was named by hand; the table decides where none was.

    Raises:
        BadJob: the table does not know the model and no driver is named, or has it in other regions
            or on the other API; an ARN is of another region, or of no model.
    """
    hub = driver and SERVICES[driver].packages
    if hub or (driver is None and hub_model(model)):
        return _of_the_hub(model, region, driver or HUB)
    arn = Arn.read(model, "bedrock", BASE)
    if arn and arn.account.isdigit() != bool(arn["base"]):  # a foundation model is in no account
        arn = None
    if model.startswith("arn:") and arn is None:
        raise BadJob(
            f"model: {model!r} is not the ARN of a model: "
            "arn:aws:bedrock:REGION::foundation-model/ID, or …:ACCOUNT:custom-model/BASE/ID"
        )
    _require_region(model, arn, region)
    custom = bool(arn and arn["base"])
    name = (arn["id"] or arn["base"]) if arn else model
    known = next((each for each in models() if name in (each.id, *each.aliases)), None)
    if known is None and not custom and driver is None:
        raise _unknown(name)
    chosen = driver or (known.driver if known else CUSTOM)
    if custom and SERVICES[chosen].makes != "custom model":
        raise BadJob(
            f"model: {API[chosen]} starts from no custom model; leave out --driver, or name a "
            "model of the table"
        )
    if known and region and region not in known.regions and arn is None:
        raise BadJob(
            f"model: {known.id} is trained in {', '.join(known.regions)}, as of {as_of()}, and the "
            f"stage is in {region}; if AWS trains it there by now, and to rehearse, name it by its "
            f"ARN there: arn:aws:bedrock:{region}::foundation-model/{known.id}"
        )
    if known and chosen != known.driver and arn is None:
        raise BadJob(
            f"model: {known.id} is trained on {API[known.driver]}, as of {as_of()}: leave out "
            "the driver; if AWS trains it on the other API by now, name it by its ARN"
        )
    identifier = model if SERVICES[chosen].owner else name
    doubts = _doubts(name, known, chosen, region, custom=custom)
    return Base(identifier, chosen, known, custom, tuple(doubts))


def made_from(asked: str, base: Base, stands_in: str | None = None) -> bool:
    """Whether what is asked is a model that a job made, and not the base that the job began with.

    Args:
        asked: what Converse or chat completions are asked for.
        base: of the job; where it is a custom model itself, a deployment of it is the base.
        stands_in: what the configuration says answers for the base, `ask`.
    """
    if asked == stands_in:
        return False
    if hosted := SERVICES[base.driver].hosted:
        return any(form in asked for form in hosted) and not base.custom
    known = (base.known.inference_id, *base.known.aliases) if base.known else ()
    return asked not in {base.identifier, *known}


def _of_the_hub(model: str, region: str | None, driver: DriverName) -> Base:
    """A model of SageMaker's hub, by its ARN there; without a version the service takes its newest.

    Raises:
        BadJob: it is of another region, or named as no model of the hub is.
    """
    arn = hub_model(model)
    if arn is None and not HUB_NAME.fullmatch(model):
        raise BadJob(
            f"model: {model[:SHOWN]!r} is no model of SageMaker's hub: write its name there, such "
            "as huggingface-reasoning-qwen3-32b, or its ARN, arn:aws:sagemaker:REGION:aws:"
            "hub-content/SageMakerPublicHub/Model/NAME"
        )
    _require_region(model, arn, region)
    identifier = model
    if arn is None and region:
        identifier = f"arn:aws:sagemaker:{region}:aws:hub-content/SageMakerPublicHub/Model/{model}"
    return Base(identifier, driver, None, custom=False, warnings=())


def _require_region(model: str, arn: Arn | None, region: str | None) -> None:
    if arn and region and arn.region != region:
        raise BadJob(
            f"model: {model} is in {arn.region}, and the stage in {region}: a job has one region; "
            "name a model there, or another stage"
        )


def _unknown(name: str) -> BadJob:
    every = {each for model in models() for each in (model.id, *model.aliases)}
    hint = did_you_mean(name, every).rstrip("?")
    closed = "?" if hint.startswith(".") else "."
    return BadJob(
        f"model: the table of {as_of()} has no {name!r}{hint}{closed} "
        "For a newer model, name its API with --driver"
    )


def _doubts(
    name: str, known: TunableModel | None, driver: DriverName, region: str | None, *, custom: bool
) -> Iterator[str]:
    """Where the request goes beyond the table or AWS's documents."""
    if custom:
        yield (
            "a custom model as the base has a place in the API, and no page of AWS says that "
            "reinforcement fine-tuning takes one"
        )
    if known is None:
        yield (
            f"the table of {as_of()} does not know {name}: its region, its context and its price "
            "are not checked"
        )
        return
    if known.driver != driver:
        yield f"{known.id} is trained on {API[known.driver]}, as of {as_of()}"
    if region and region not in known.regions:
        yield f"{known.id} is trained in {', '.join(known.regions)}, as of {as_of()}"
