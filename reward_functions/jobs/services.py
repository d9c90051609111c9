"""The services that run jobs, a row each: what differs between them and is no call.

A new service takes a row in `services.toml`, its name in `DriverName`, a driver in `drivers/`, and
its hyperparameters in `hyperparameters.toml`. A row that is missing in either file fails at import.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from pydantic import TypeAdapter, ValidationError

from reward_functions.aws.arn import Arn

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reward_functions.aws.catalogue import DeployedStage

DriverName = Literal["bedrock", "openai", "sagemaker", "agent-rft"]
"""Which API a job is started with: Bedrock's control plane, the OpenAI-compatible one, SageMaker's
serverless customization (`CreateTrainingJob`), or its multi-turn jobs (`CreateJob`)."""

HyperparameterValue = int | float | str


class JobRole(NamedTuple):
    """The role of a stage that a service's jobs run as, which preflight simulates."""

    member: Literal["training_role_arn", "sagemaker_role_arn", "agent_role_arn"]
    """Of a stage's record."""

    made_by: str
    """What in `cdk.json` makes it; "" where every stage has it."""

    remedy: str
    """What to do where a stage has no such role; "" where every stage has it."""

    principal: str
    """Which service takes the role on."""

    example: str
    """How the ARN of one of its jobs ends, to IAM."""

    assumes: tuple[str, ...]
    """By which calls the role is taken on."""

    optional: bool
    """Whether only stages with that role have its jobs."""

    def of(self, stage: DeployedStage) -> str:
        """Its ARN in a stage; "" where the stage has no such role."""
        return getattr(stage, self.member) or ""


class Service(NamedTuple):
    """One row. No field has a default, so that a new row is whole."""

    called: str
    """In a sentence."""

    title: str
    """In a table."""

    driver: str
    """Its module in `drivers/`, and its class there."""

    owner: str
    """Whose the ARNs of its jobs are; "" for a service that knows ids alone."""

    form: str
    """Of the resource of those ARNs, or of its own ids."""

    policy: str
    """The policy of a stage that lets its holders list the jobs."""

    role: JobRole | Literal[""]
    """What its jobs run as; "" for a service that takes no role."""

    takes: frozenset[str]
    """Fields of a configuration that it has a place for, of those that some services have not."""

    ranges: Literal["botocore", "recipe", "table"]
    """Who says what a hyperparameter may be: botocore's model of Bedrock, the recipe of each model
    in SageMaker's hub, which takes a reward as an evaluator, or `hyperparameters.toml` alone."""

    makes: Literal["custom model", "model package", "id"]
    """What its jobs make: Bedrock's, SageMaker's, or a model that is asked at once."""

    hosted: tuple[str, ...]
    """What is in the ARN that Converse asks a tuned model by: model packages are imported, too.
    Empty where chat completions ask it by its id, and its base likewise."""

    validation: str
    """What speaks against a validation file, in a sentence; "" where nothing does."""

    listed: str
    """Which row of `aws.deployed.pruning.SERVICES` lists its running jobs; "" for none."""

    log_group: str
    """Where the service logs what its trainer does; "" for one that logs nothing."""

    bucket: bool
    """Whether its jobs read and write the stage's bucket; else the service keeps the files."""

    tags: bool
    """Whether its jobs have tags."""

    graded: bool
    """Whether a function scores the rollouts, and logs figures: an agent rewards itself."""

    @property
    def packages(self) -> bool:
        """Whether its jobs make model packages of SageMaker."""
        return self.makes == "model package"

    @property
    def recipes(self) -> bool:
        """Whether each model has a recipe."""
        return self.ranges == "recipe"

    def arn(self, identifier: str) -> Arn | None:
        """The ARN of one of its jobs; None for every other id, and for a name."""
        return Arn.read(identifier, self.owner, self.form) if self.owner else None

    def has(self, identifier: str) -> bool:
        """Whether an id is one of its own."""
        if self.owner:
            return self.arn(identifier) is not None
        return re.fullmatch(self.form, identifier) is not None


def rows_of(text: str) -> dict[DriverName, Service]:
    """The rows of `services.toml`, by their names.

    Raises:
        ValueError: a row lacks a field, has one that is unknown, or is of no `DriverName`.
    """
    try:
        return TypeAdapter(dict[DriverName, Service]).validate_python(tomllib.loads(text))
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise ValueError(f"jobs/services.toml: {place}: {first['msg']}") from None


SERVICES: Final[Mapping[DriverName, Service]] = rows_of(
    Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")
)
"""In the order in which they are asked for a job's name."""


CUSTOM: Final[DriverName] = "bedrock"
"""Whose an ARN is that no row knows, and a custom model that no row of the models names."""

HUB: Final[DriverName] = "sagemaker"
"""Which service trains a model of SageMaker's hub where no driver is named."""


def names(mark: str = "") -> str:
    """The names of all services in words, each between two marks."""
    *others, last = (f"{mark}{each}{mark}" for each in SERVICES)
    return f"{', '.join(others)} or {last}"


def service_of(identifier: str) -> DriverName | None:
    """The service that an id belongs to; None for a name, which any may have."""
    found = (name for name, service in SERVICES.items() if service.has(identifier))
    return next(found, CUSTOM if identifier.startswith("arn:") else None)
