"""One deployment of a stage: a reward with its parameters, validated before anything is built."""

from __future__ import annotations

import json
import re
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, Final

from pydantic import BaseModel, ConfigDict, Field, JsonValue, field_validator, model_validator

from reward_functions.aws.arn import arn_form
from reward_functions.aws.catalogue import Name
from reward_functions.cdk.artifact.closure import rewards_in
from reward_functions.cdk.artifact.packages import normalised
from reward_functions.cdk.limits.quotas import check_function
from reward_functions.cdk.limits.starts import (
    LEAST_MEMORY_MB,
    MAX_ENVIRONMENTS,
    MAX_STORAGE_MB,
    ONE_PROCESSOR_MB,
    STORAGE_MB,
)
from reward_functions.cdk.policies.own_rights import (
    SECRET,
    Environment,
    FunctionVpc,
    Secrets,
    Statement,
    without_end,
)
from reward_functions.cdk.policies.permissions import is_global
from reward_functions.core import registry
from reward_functions.core.declared import composite_of
from reward_functions.core.errors import BadComposite, BadJudge, ConfigurationError, UnknownReward
from reward_functions.core.files import files_named
from reward_functions.core.spec import lacking
from reward_functions.core.suggest import did_you_mean
from reward_functions.serving.contract import ResponseMode
from reward_functions.serving.settings import LambdaSettings

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from reward_functions.aws.names import Names
    from reward_functions.core.spec import RewardSpec
    from reward_functions.judge_runtime.config import JudgeConfig, JudgeModel

MAX_MEMORY_MB: Final = 10_240

MAX_TIMEOUT_SECONDS: Final = 900

RESERVED_NAMESPACE: Final = "AWS/"
"""A prefix that AWS keeps for itself, in any case of letters: metrics sent there are lost."""

OF_DEPLOYMENT: Final = frozenset(
    "name parameters composite judge response_mode service deployed_stage deployed_name".split()
)
"""Settings of a function that its deployment decides."""

REFERENCE: Final = re.compile(r"\{\{resolve:|[$#]\{Token\[")
"""How a template refers to what it does not hold ("Using dynamic references" in CloudFormation's
user guide), and CDK to what it does not know yet."""


class BadDeployment(ConfigurationError):
    """A deployment cannot be made. The message says why, and the stage says where."""


class Settings(BaseModel):
    """An object of `cdk.json`."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class Deployment(Settings):
    """One function: a reward, its parameters, and the trainer it answers.

    A string is a reward with its defaults. `name` defaults to the reward's, `reward` to the name.
    """

    name: Name = Field(description="Unique in the stage: lower case, digits, `-` and `_`.")
    reward: str = Field(
        min_length=1,
        description="The reward, as `reward list` names it; or an object that declares "
        "[a composite](composites.md).",
    )
    composite: dict[str, JsonValue] | None = Field(
        default=None, description="Such an object, where `reward` is its name."
    )
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
        ge=LEAST_MEMORY_MB,
        le=MAX_MEMORY_MB,
        description="Lambda's memory size, which buys its processors too: 1769 MB is one. With a "
        "part of one the same rewards come [so much later](how-to/cold-starts.md#less-memory).",
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
    provisioned_concurrency: int | None = Field(
        default=None,
        strict=True,  # `true` would be one
        ge=1,
        le=MAX_ENVIRONMENTS,
        description="Environments of the version that are [kept ready](how-to/cold-starts.md), "
        "which cost while nobody calls.",
    )
    snap_start: bool = Field(
        default=False,
        description="Environments are [restored from a snapshot](how-to/cold-starts.md) of a "
        "started one; every version that stays costs.",
    )
    ephemeral_storage_mb: int = Field(
        default=STORAGE_MB,
        ge=STORAGE_MB,
        le=MAX_STORAGE_MB,
        description="Of `/tmp`, anew in every environment.",
    )
    tracing: bool = Field(
        default=False, description="Invocations are traced by X-Ray: how long start and call took."
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
    allow: tuple[Statement, ...] = Field(
        default=(),
        min_length=1,
        description="[Rights](how-to/rights.md) of the function beside its log, as statements.",
    )
    environment: Environment = Field(
        default={}, description="Further variables of the function, by their names."
    )
    secrets: Secrets = Field(
        default={},
        json_schema_extra={"default": {}},
        description="Secrets that the function may read, by the variables that hold their ARNs.",
    )
    vpc: FunctionVpc | None = Field(
        default=None,
        description="`subnets` and `security_groups`, by their ids, that the function is in.",
    )

    @field_validator("settings")
    @classmethod
    def _no_contradiction(cls, settings: dict[str, JsonValue]) -> dict[str, JsonValue]:
        if taken := sorted(OF_DEPLOYMENT & settings.keys()):
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
        for field, value in given.items():
            if found := REFERENCE.search(json.dumps(value, default=str)):
                raise ValueError(
                    f"{field}: {found[0]}…: CDK or CloudFormation would put something else there, "
                    "such as a secret's value for all to read: write it out, or name it under "
                    "`secrets`"
                )
        given = dict(given)
        if isinstance(given.get("reward"), dict):
            given["composite"] = given["reward"]
            given["reward"] = given["reward"].get("name")
            if not isinstance(given["reward"], str):
                raise ValueError("a composite needs a name, such as acme.tutor")  # noqa: TRY004 - pydantic
        if isinstance(given.get("reward"), str):
            given.setdefault("name", given["reward"].replace(".", "-"))
        elif isinstance(given.get("name"), str):
            given.setdefault("reward", given["name"])
        return given

    @property
    def compares(self) -> bool:
        """Whether a response's score depends on the other responses of its group."""
        return self.spec().needs.group

    def spec(self) -> RewardSpec:
        """The reward: registered, or declared here.

        Raises:
            UnknownReward: it is not registered, or a part of it is not.
            BadComposite: it cannot be made of these parts; or a registered reward has its name.
        """
        if self.composite is None:
            return registry.get(self.reward)
        try:
            made = composite_of({**self.composite, "name": self.reward})
        except ValueError as error:  # a declaration that contradicts itself
            raise BadComposite(str(error)) from error
        if registered(self.reward):
            raise BadComposite(f"{self.reward} is the name of a registered reward: choose another")
        return made

    def lambda_settings(self, names: Names) -> LambdaSettings:
        """The settings of the function.

        Raises:
            BadSettings: `settings` or `judge` holds an unknown setting, or a wrong value.
            BadJudge: the judge contradicts itself.
        """
        ours = {
            "name": self.reward,
            "parameters": self.parameters,
            "composite": self.composite,
            "judge": self.judge,
            "response_mode": self.response_mode,
            "service": names.function(self.name),
            "deployed_stage": names.stage,
            "deployed_name": self.name,
        }
        return LambdaSettings.of(ours | self.settings)

    def variables(self) -> dict[str, str]:
        """The function's variables beside its settings: those given, and the ARNs of secrets."""
        return self.environment | {name: each.arn for name, each in self.secrets.items()}


def check_deployment(
    each: Deployment, names: Names, regions: Iterable[str], carried: Collection[str]
) -> None:
    """Whether a deployment can be made.

    Args:
        each: the deployment.
        names: of the stage.
        regions: the names of AWS's regions.
        carried: the packages of the stage.

    Raises:
        ConfigurationError: it cannot; the message is one sentence.
    """
    spec = each.spec()
    spec.bind(each.parameters)
    settings = each.lambda_settings(names)
    check_judge(spec, settings.judge, regions)
    check_function(
        names,
        each,
        settings,
        timeout=each.timeout_seconds,
        workers=spec.needs.workers,
        variables=each.variables(),
    )
    if not spec.examples:
        raise BadDeployment(
            f"{each.reward} declares no examples, so that its gate would prove nothing: give "
            "@reward_function some, as `reward init --reward-only` does"
        )
    if missing := lacking(spec):
        raise BadDeployment(
            f"{each.reward} is a prototype: before it is deployed it needs {'; '.join(missing)}"
        )
    for parameter in spec.parameters.values():
        if not parameter.has_default and parameter.name not in each.parameters:
            raise BadDeployment(f"{each.reward} needs the parameter {parameter.name!r}")
    for name in files_named(spec, each.parameters):
        path = PurePosixPath(name)
        inside = path.parts and ".." not in path.parts and path.parts[0] != "reward_functions"
        if path.is_absolute() or not inside:
            raise BadDeployment(
                f"{each.name} names the file {name!r}, which its zip cannot hold: give a path "
                "below the folder of cdk.json, and not in a folder reward_functions"
            )
    for name in rewards_in(spec, each.reward):
        source = source_of(name)
        if source is not None and source not in carried:
            raise BadDeployment(
                f"{name} comes from {source}, which the stage's packages do not name"
            )


def registered(name: str) -> bool:
    """Whether a reward of this name is registered."""
    try:
        registry.get(name)
    except UnknownReward:
        return False
    return True


def source_of(reward: str) -> str | None:
    """The package that registers a reward; None for our own."""
    found = registry.distribution(reward)
    return normalised(found) if found is not None else None


PLAIN: Final = re.compile(r"[\w.:/-]+")
"""Ids and ARNs that name one thing: no wildcard of IAM's is among their characters."""

PROFILE_ID: Final = re.compile(r"(?:us|us-gov|eu|apac|jp|au|ca|sa|me|af|il|mx|uk|global)\.")
"""How ids of Bedrock's own inference profiles begin, and those of models do not."""

TABLE_NAME: Final = "[A-Za-z0-9_.-]{3,255}"

TABLE: Final = re.compile(f"{TABLE_NAME}|{arn_form('dynamodb', f'table/{TABLE_NAME}')}")


def check_judge(spec: RewardSpec, config: JudgeConfig | None, regions: Iterable[str]) -> None:
    """Whether a reward can be deployed with this judge.

    Args:
        spec: the reward.
        config: the judge's settings; None without a judge.
        regions: the names of AWS's regions.

    Raises:
        BadJudge: it cannot; the message is one sentence.
    """
    if config is None:
        if spec.needs.judge:
            raise BadJudge(f"{spec.name} asks a judge model, and its judge names none")
        return
    if not spec.needs.judge:
        raise BadJudge(f"{spec.name} asks no judge model, and its judge names one")
    fallback = [config.fallback] if config.fallback else []
    for model in (*config.models, *fallback):
        if model.backend == "bedrock":
            _check_bedrock(model, set(regions))
        else:
            _check_elsewhere(model)
    if config.cache_table and not TABLE.fullmatch(config.cache_table):
        raise BadJudge(f"cache_table: {config.cache_table!r} is not a DynamoDB table's name or ARN")


def _check_bedrock(model: JudgeModel, regions: set[str]) -> None:
    for named in filter(None, (model.model, model.profile)):
        if not PLAIN.fullmatch(named):
            raise BadJudge(f"{named!r} does not name one model or profile")
    if PROFILE_ID.match(model.model) or "inference-profile/" in model.model:
        raise BadJudge(
            f"{model.model} is an inference profile: name it as profile, its model as model, and "
            "where it routes to as destinations"
        )
    if model.profile:
        _check_profile(model)
    elif model.destinations:
        raise BadJudge(f"{model.model}: destinations are an inference profile's, and none is named")
    for region in filter(None, (model.region, *model.destinations)):
        if region not in regions:
            near = did_you_mean(region, regions).partition(";")[0]
            raise BadJudge(f"{model.model}: AWS has no region {region!r}{near}")
    if model.key:
        raise BadJudge(
            f"{model.model}: Bedrock is asked with the function's rights, not with a key"
        )


def _check_profile(model: JudgeModel) -> None:
    if is_global(model.profile):
        if model.destinations:
            raise BadJudge(
                f"{model.profile} routes to every commercial region: leave its destinations out"
            )
    elif not model.destinations:
        raise BadJudge(f"{model.profile}: destinations name no region that this profile routes to")
    if model.model.startswith("arn:"):
        raise BadJudge(f"{model.profile}: the model of a profile is named by its id, not by ARN")


def _check_elsewhere(model: JudgeModel) -> None:
    if model.backend == "replay":
        raise BadJudge(f"{model.model}: recorded answers are for tests; a function asks a model")
    if model.key.startswith("env:"):
        raise BadJudge(
            f"{model.model}: a function's environment holds no key; keep it in Secrets Manager and "
            "name the secret's ARN"
        )
    if model.key and not SECRET.fullmatch(model.key):
        otherwise = "its key is not the ARN of a Secrets Manager secret"
        raise BadJudge(f"{model.model}: {without_end(model.key) or otherwise}")
