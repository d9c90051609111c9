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
    ConfigDict,
    Field,
    JsonValue,
    ValidationError,
    field_validator,
    model_validator,
)

from reward_functions.cdk.interpreter import here
from reward_functions.cdk.job_rights import BadRight, JobRights, JobVpc, check_rights
from reward_functions.cdk.judges import check_judge
from reward_functions.cdk.limits import OverLimit, check_function, check_stage
from reward_functions.cdk.packages import Package, normalised
from reward_functions.cdk.regions import aws_regions
from reward_functions.cdk.sentences import sentence
from reward_functions.core import registry
from reward_functions.core.errors import ConfigurationError
from reward_functions.core.suggest import did_you_mean
from reward_functions.serving.catalogue import Architecture, Name, StageName, function_name
from reward_functions.serving.contract import ResponseMode
from reward_functions.serving.settings import LambdaSettings

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

ONE_PROCESSOR_MB: Final = 1769
"""Memory at which Lambda gives one whole processor (Lambda developer guide, "Configure memory")."""

MAX_MEMORY_MB: Final = 10_240

MAX_TIMEOUT_SECONDS: Final = 900

EMULATED_ACCOUNT: Final = "000000000000"
"""Whose an emulator is, and no account of AWS."""

RESERVED_TAG: Final = "aws:"
RESERVED_NAMESPACE: Final = "AWS/"
"""Prefixes that AWS keeps for itself, in any case of letters: it refuses the one, and loses the
metrics that are sent to the other."""

PYTHONS: Final = ("3.12", "3.13", "3.14")
"""Lambda's runtimes that this library runs on and whose end is not near."""


class BadStage(ConfigurationError):
    """Something in `cdk.json` is missing, unknown or impossible. The message says where."""


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class Deployment(_Model):
    """One function: a reward, its parameters, and the trainer it answers.

    A string is a reward with its defaults. `name` defaults to the reward's, `reward` to the name.
    """

    name: Name = Field(description="Unique in the stage: lower case, digits, `-` and `_`.")
    reward: str = Field(min_length=1, description="The reward, as `reward list` names it.")
    parameters: dict[str, JsonValue] = Field(
        default={}, description="Its parameters, checked at synth."
    )
    response_mode: ResponseMode = Field(
        default="list",
        description="`list` for Bedrock and for SageMaker training of Nova models, `envelope` for "
        "SageMaker serverless customization of open-weight models.",
    )
    immutable: bool = Field(
        default=False,
        description="A function of its own for every state of code and settings, its digest in "
        "the name, for SageMaker's client, which takes no version.",
    )
    memory_mb: int = Field(
        default=ONE_PROCESSOR_MB,
        ge=ONE_PROCESSOR_MB,
        le=MAX_MEMORY_MB,
        description="Lambda's memory size, which buys its processors too: the least is one.",
    )
    timeout_seconds: int = Field(
        default=MAX_TIMEOUT_SECONDS,
        ge=1,
        le=MAX_TIMEOUT_SECONDS,
        description="Lambda's timeout; the deadline of a batch is shortly before.",
    )
    reserved_concurrency: int | None = Field(
        default=None,
        ge=1,
        description="Invocations at a time, kept for this function and its most. A new account's "
        "limit may refuse any.",
    )
    judge: dict[str, JsonValue] | None = Field(
        default=None,
        description="The judge of a reward that asks a model: the panel as `models`, and the other "
        "[settings of a judge](judges.md). There is no default model.",
    )
    settings: dict[str, JsonValue] = Field(
        default={},
        description="Other settings of the function by their names there, such as `on_unscored`.",
    )

    @field_validator("settings")
    @classmethod
    def _no_contradiction(cls, settings: dict[str, JsonValue]) -> dict[str, JsonValue]:
        if taken := sorted(
            {"name", "parameters", "judge", "response_mode", "service"} & set(settings)
        ):
            raise ValueError(f"{taken[0]!r} is a field of the deployment itself")
        namespace = settings.get("metrics_namespace")
        if isinstance(namespace, str) and namespace.lower().startswith(RESERVED_NAMESPACE.lower()):
            raise ValueError(
                f"CloudWatch takes no metrics of one's own in {namespace!r}: choose a "
                f"metrics_namespace that does not begin with {RESERVED_NAMESPACE!r}"
            )
        return settings

    @model_validator(mode="before")
    @classmethod
    def _complete(cls, given: Any) -> Any:
        if isinstance(given, str):
            given = {"reward": given}
        if not isinstance(given, dict):
            return given
        given = dict(given)
        if isinstance(given.get("reward"), str):
            given.setdefault("name", given["reward"].replace(".", "-"))
        elif isinstance(given.get("name"), str):
            given.setdefault("reward", given["name"])
        return given

    def lambda_settings(self, stage: str) -> LambdaSettings:
        """The settings of the function.

        Raises:
            BadSettings: `settings` or `judge` holds an unknown setting, or a wrong value.
            BadJudge: the judge contradicts itself.
        """
        ours = {
            "name": self.reward,
            "parameters": self.parameters,
            "judge": self.judge,
            "response_mode": self.response_mode,
            "service": function_name(stage, self.name),
        }
        return LambdaSettings.of(ours | self.settings)


class Stage(_Model):
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
        default=False, description="Make an execution role for SageMaker training jobs as well."
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
        BrokenPlugin: an installed package's entry point cannot be used.
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
        check_rights(stage.job_rights, stage.region)
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
    return tuple(
        Deployment.model_validate(spec.name)
        for spec in registry.specs().values()
        if _source(spec.name) in {None, *carried}
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
        try:
            spec = registry.get(each.reward)
            spec.bind(each.parameters)
            settings = each.lambda_settings(stage.name)
            check_judge(spec, settings.judge, regions)
            check_function(
                stage.name,
                each,
                settings,
                timeout=each.timeout_seconds,
                workers=spec.needs.workers,
            )
        except ConfigurationError as error:
            raise BadStage(f"{where}: {error}") from error
        if not spec.examples:
            raise BadStage(
                f"{where}: {each.reward} declares no examples, so that its gate would prove "
                "nothing: give @reward_function some, as `reward new` does"
            )
        missing = [
            parameter.name
            for parameter in spec.parameters.values()
            if not parameter.has_default and parameter.name not in each.parameters
        ]
        if missing:
            raise BadStage(f"{where}: {each.reward} needs the parameter {missing[0]!r}")
        source = _source(each.reward)
        if source is not None and source not in carried:
            raise BadStage(
                f"{where}: {each.reward} comes from {source}, "
                "which the stage's packages do not name"
            )


def _source(reward: str) -> str | None:
    """The package that registers a reward; None for our own."""
    found = registry.distribution(reward)
    return normalised(found) if found is not None else None
