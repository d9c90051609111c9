"""The stages of `cdk.json` and their deployments, validated before anything is built.

    "stages": {
      "dev": {
        "region": "us-east-1",
        "deployments": ["gsm8k", {"name": "gsm8k-flexible", "reward": "gsm8k", "parameters": {"flexible": true}}]
      }
    }

A deployment is one Lambda function: a reward with its parameters, for one kind of trainer. Nothing here
touches AWS or CDK. Each error is one sentence that names its place.
"""  # noqa: E501

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, Self

from pydantic import (
    BaseModel,
    Field,
    ValidationError,
    field_validator,
    model_validator,
)

from reward_functions.cdk.deployment import Deployment, Settings, check_deployment, source_of
from reward_functions.cdk.interpreter import here
from reward_functions.cdk.job_rights import BadRight, JobRights, JobVpc, check_rights
from reward_functions.cdk.limits import OverLimit, check_stage
from reward_functions.cdk.packages import Package, normalised
from reward_functions.cdk.regions import aws_regions
from reward_functions.cdk.sentences import sentence
from reward_functions.core import registry
from reward_functions.core.errors import ConfigurationError
from reward_functions.core.suggest import did_you_mean
from reward_functions.serving.catalogue import Architecture, StageName  # noqa: TC001 - pydantic

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from reward_functions.core.spec import RewardSpec

EMULATED_ACCOUNT: Final = "000000000000"
"""Whose an emulator is, and no account of AWS."""

RESERVED_TAG: Final = "aws:"
"""A prefix that AWS keeps for itself, in any case of letters, and refuses."""

PYTHONS: Final = ("3.12", "3.13", "3.14")
"""Lambda's runtimes that this library runs on and whose end is not near."""


class BadStage(ConfigurationError):
    """Something in `cdk.json` is missing, unknown or impossible. The message says where."""


class Stage(Settings):
    """One environment in one account and region, and what stands in it."""

    name: StageName = Field(description="Its key in `stages`.")
    region: str = Field(description="AWS's name of the region.")
    account: Annotated[str, Field(pattern=r"^\d{12}$")] | None = Field(
        default=None,
        description="Twelve digits; else the account of whoever deploys, or with `emulated` "
        "`000000000000`.",
    )
    deployments: tuple[Deployment, ...] = Field(
        default=(), description="The functions; else every reward that needs no configuration."
    )
    production: bool = Field(
        default=False,
        description="The bucket and its key outlive the stack, and logs are kept for a year "
        "instead of a month.",
    )
    emulated: bool = Field(
        default=False,
        description="For the local AWS emulator (ministack): functions run on this machine's "
        "processor and interpreter.",
    )
    architecture: Architecture = Field(default="arm64", description="The functions' processor.")
    python: Literal["3.11", "3.12", "3.13", "3.14"] = Field(
        default="3.13", description="The functions' runtime; 3.11 with `emulated` only."
    )
    keep_versions: int = Field(
        default=10,
        ge=1,
        description="Published versions of a function that `reward deployed prune` keeps at least.",
    )
    judge_gate: Literal["recorded", "model"] = Field(
        default="recorded",
        description="What a judge is tried with before `live` moves: `recorded` answers, or its "
        "`model` itself.",
    )
    strict: bool = Field(
        default=False,
        description="Whatever lets two machines build two artifacts is an error: no bytecode, no "
        "lock, a package compiled where it is built.",
    )
    packages: tuple[str, ...] = Field(
        default=(),
        description="Packages of the artifact: paths of projects or wheels, and requirements "
        "pinned with `==`. Install them where the stack is synthesised, too.",
    )
    aws_services: tuple[str, ...] = Field(
        default=(),
        description="Further AWS services that these packages call, by botocore's names.",
    )
    subscriptions: tuple[
        Annotated[str, Field(pattern=r"^(https://\S+|[^@\s/:]+@[^@\s/:]+\.[^@\s/:]+)$")], ...
    ] = Field(
        default=(), description="E-mail and https addresses that receive job events and alarms."
    )
    sagemaker_role: bool = Field(
        default=False,
        description="Make a role for SageMaker's serverless jobs as well, and a policy for who "
        "starts them.",
    )
    customer_key: bool = Field(
        default=False, description="Encrypt the bucket with a KMS key of the stage's own."
    )
    job_rights: JobRights = Field(
        default=JobRights(),
        json_schema_extra={"default": {}},
        description="What jobs may use beside bucket and rewards, below.",
    )
    tags: dict[str, str] = Field(default={}, description="On everything in the stack.")

    @model_validator(mode="before")
    @classmethod
    def _emulator(cls, given: Any) -> Any:
        """The local AWS emulator runs functions on its own interpreter, not the template's."""
        if isinstance(given, dict) and given.get("emulated") is True:
            own = dict(zip(("architecture", "python"), here(), strict=True))
            if clash := [key for key in own if given.get(key, own[key]) != own[key]]:
                raise ValueError(f"a stage with 'emulated' takes this machine's own {clash[0]}")
            if given.get("account", EMULATED_ACCOUNT) != EMULATED_ACCOUNT:
                raise ValueError(
                    f"a stage with 'emulated' belongs to the account {EMULATED_ACCOUNT}: "
                    "leave its account out"
                )
            return given | own | {"account": EMULATED_ACCOUNT}
        return given

    @field_validator("tags")
    @classmethod
    def _tags_of_ones_own(cls, tags: dict[str, str]) -> dict[str, str]:
        if reserved := [key for key in tags if key.lower().startswith(RESERVED_TAG)]:
            raise ValueError(f"{reserved[0]!r}: AWS keeps tags beginning with {RESERVED_TAG!r}")
        return tags

    @model_validator(mode="after")
    def _emulators_own_account(self) -> Self:
        if self.account == EMULATED_ACCOUNT and not self.emulated:
            raise ValueError(
                f"account: {EMULATED_ACCOUNT} is the local AWS emulator's: say 'emulated', "
                "or name your own"
            )
        return self

    @model_validator(mode="after")
    def _python_runs_on_lambda(self) -> Self:
        if not self.emulated and self.python not in PYTHONS:
            raise ValueError(
                f"python: rewards run on Lambda's {', '.join(PYTHONS)}, not {self.python!r}"
            )
        return self

    def spec(self, reward: str) -> RewardSpec:
        """The reward of this name, as a deployment declares it or as it is registered.

        Raises:
            ConfigurationError: it is not registered, or cannot be made.
        """
        declaring = (each for each in self.deployments if each.reward == reward and each.composite)
        found = next(declaring, None)
        return found.spec() if found else registry.get(reward)


MODELS: Final[dict[str, type[BaseModel]]] = {
    "": Stage,
    "deployments": Deployment,
    "job_rights": JobRights,
    "vpc": JobVpc,
}
"""What the fields of `cdk.json` hold, by the field."""


def stage_of(stages: Any, name: str, folder: Path) -> Stage:
    """One stage of `cdk.json`, with its deployments completed and everything checked.

    Args:
        stages: the context value `stages`.
        name: which one.
        folder: where relative paths of packages begin.

    Raises:
        BadStage: the stage, or something in it, is missing, unknown or impossible.
        BrokenPlugin: an entry point of a package that the stage names cannot be used.
    """
    if not isinstance(stages, dict) or not all(isinstance(key, str) for key in stages):
        raise BadStage('cdk.json names no stages: its context needs "stages": {"dev": {…}}')
    if name not in stages:
        raise BadStage(f"there is no stage {name!r} in cdk.json{did_you_mean(name, stages)}")
    given = stages[name]
    if not isinstance(given, dict) or "name" in given:
        raise BadStage(
            f"stage {name!r} is not an object of settings, or names itself a second time"
        )
    try:
        stage = Stage.model_validate(given | {"name": name})
    except ValidationError as error:
        raise BadStage(f"stage {name!r}: {sentence(error, MODELS)}") from None
    _check_region(stage)
    packages = [Package.of(text, folder) for text in stage.packages]
    if "deployments" not in given:
        stage = stage.model_copy(update={"deployments": _unconfigured(packages)})
    _check_deployments(stage, packages)
    try:
        check_rights(stage.job_rights, stage.region, stage.account)
        check_stage(stage)
    except (BadRight, OverLimit) as error:
        raise BadStage(f"stage {stage.name!r}: {error}") from None
    return stage


def _check_region(stage: Stage) -> None:
    known = aws_regions()
    if stage.region not in known:
        near = did_you_mean(stage.region, known).partition(";")[0]
        raise BadStage(f"stage {stage.name!r}: AWS has no region {stage.region!r}{near}")


def _unconfigured(packages: Iterable[Package]) -> tuple[Deployment, ...]:
    """Every reward that works as it is: ours, and those of the stage's packages.

    A judge does not: somebody has to name the model it asks.
    """
    carried = {package.name for package in packages}
    found = registry.installed()
    for broken in found.broken:  # left out, it would be missed in no list
        if normalised(broken.package) in carried:
            raise broken
    return tuple(
        Deployment.model_validate(spec.name)
        for spec in found.specs.values()
        if source_of(spec.name) in {None, *carried}
        and not spec.needs.judge
        and all(parameter.has_default for parameter in spec.parameters.values())
    )


def _check_deployments(stage: Stage, packages: Iterable[Package]) -> None:
    if not stage.deployments:
        raise BadStage(f"stage {stage.name!r} has no deployments")
    # The names of outputs drop hyphens and underscores.
    plain = Counter(each.name.replace("-", "").replace("_", "") for each in stage.deployments)
    carried = {package.name for package in packages}
    regions = aws_regions()
    for each in stage.deployments:
        where = f"stage {stage.name!r}, deployment {each.name!r}"
        if plain[each.name.replace("-", "").replace("_", "")] > 1:
            raise BadStage(f"{where}: two deployments have this name")
        if any(
            other.reward == each.reward and other.composite != each.composite
            for other in stage.deployments
        ):
            raise BadStage(f"{where}: two rewards are called {each.reward}: name one otherwise")
        try:
            check_deployment(each, stage.name, regions, carried)
        except ConfigurationError as error:
            raise BadStage(f"{where}: {error}") from error
