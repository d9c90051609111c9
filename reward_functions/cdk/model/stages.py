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

import re
from collections import Counter
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, Self

from pydantic import (
    BaseModel,
    Field,
    ValidationError,
    field_validator,
    model_validator,
)

from reward_functions.aws.catalogue import (  # noqa: TC001 - pydantic
    Architecture,
    KeyArn,
    NamePrefix,
    StageName,
)
from reward_functions.aws.names import Names
from reward_functions.aws.regions import aws_regions
from reward_functions.cdk.artifact.interpreter import here
from reward_functions.cdk.artifact.packages import Package, normalised
from reward_functions.cdk.limits.quotas import OverLimit, check_role, check_stage
from reward_functions.cdk.limits.starts import check_starts
from reward_functions.cdk.model.brought import (
    MOST_FOLDERS,
    BadRight,
    Boundary,
    Bucket,
    Callers,
    Foreign,
    JobRights,
    JobVpc,
    ReadFolder,
    RolePath,
    check_brought,
    check_rights,
)
from reward_functions.cdk.model.deployment import Deployment, Settings, check_deployment, source_of
from reward_functions.cdk.model.inheritance import EXTENDS, BadInheritance, inherited
from reward_functions.cdk.model.rollouts import (
    Agent,
    BadAgent,
    BadFeedback,
    BadForwarder,
    Feedback,
    Forwarder,
    check_agents,
    check_feedback,
    check_forwarders,
)
from reward_functions.cdk.model.scale import Scale
from reward_functions.cdk.policies.grants import pinnable
from reward_functions.cdk.policies.own_rights import Secret, Statement, check_reach
from reward_functions.cdk.policies.services import clients
from reward_functions.core import registry
from reward_functions.core.errors import ConfigurationError
from reward_functions.core.suggest import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from pydantic import BaseModel

    from reward_functions.core.spec import RewardSpec

EMULATED_ACCOUNT: Final = "000000000000"
"""Whose an emulator is, and no account of AWS."""

RESERVED_TAG: Final = "aws:"
"""A prefix that AWS keeps for itself, in any case of letters, and refuses."""

NO_STAGES: Final = 'cdk.json names no stages: its context needs "stages": {"dev": {…}}'

PYTHONS: Final = ("3.12", "3.13", "3.14")
"""Lambda's runtimes that this library runs on and whose end is not near."""


class BadStage(ConfigurationError):
    """Something in `cdk.json` is missing, unknown or impossible. The message says where."""


class Stage(Settings):
    """One environment in one account and region, and what stands in it.

    Fields stand together that are about one thing: the place, functions, jobs, rollouts, data, and
    what surrounds the stage.
    """

    name: StageName = Field(description="Its key in `stages`.")
    region: str = Field(description="AWS's name of the region.")
    account: Annotated[str, Field(pattern=r"^\d{12}$")] | None = Field(
        default=None,
        description="Twelve digits; else the account that you deploy with, or with `emulated` "
        "`000000000000`.",
    )
    emulated: bool = Field(
        default=False,
        description="For the local AWS emulator (ministack): functions run on this machine's "
        "processor and interpreter.",
    )
    production: bool = Field(
        default=False,
        description="What was stored and logged outlives the stack, which is protected from "
        "deletion; logs are kept for a year instead of a month.",
    )
    tags: dict[str, str] = Field(default={}, description="On everything in the stack.")

    deployments: tuple[Deployment, ...] = Field(
        default=(), description="The functions; else every reward that needs no configuration."
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
    strict: bool = Field(
        default=False,
        description="Refuse differences between two machines' artifacts: no bytecode, no "
        "lock, a package compiled where it is built.",
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
        description="How a judge is tried before `live` moves: by `recorded` answers, or by its "
        "`model` itself.",
    )
    verdict_cache: bool = Field(
        default=False,
        description="Make a table of verdicts for all judges that name no `cache_table`.",
    )

    sagemaker_role: bool = Field(
        default=False,
        description="Make a role for SageMaker's serverless jobs as well, and a policy for "
        "people who start them.",
    )
    training_job_role: bool = Field(
        default=False,
        description="Make a role for SageMaker's training jobs on instances, such as Nova's "
        "recipes, and a policy for people who start them.",
    )
    hyperpod: bool = Field(
        default=False,
        description="Make a policy for the role that a HyperPod cluster's jobs run as, and one for "
        "people who submit them.",
    )
    job_rights: JobRights = Field(
        default=JobRights(),
        json_schema_extra={"default": {}},
        description="More rights of jobs, beside bucket and rewards, below.",
    )
    job_events: Literal["stage", "account"] = Field(
        default="stage",
        description="Whose jobs the subscribers hear of: those that run as a role of the `stage`, "
        "or all of the `account` and region.",
    )
    subscriptions: tuple[
        Annotated[str, Field(pattern=r"^(https://\S+|[^@\s/:]+@[^@\s/:]+\.[^@\s/:]+)$")], ...
    ] = Field(
        default=(), description="E-mail and https addresses that receive job events and alarms."
    )

    forwarders: tuple[Forwarder, ...] = Field(
        default=(),
        description="Functions that hand a trainer's requests to agents of your own, "
        "[below](#forwarders).",
    )
    agents: tuple[Agent, ...] = Field(
        default=(),
        description="Agents of your own on Bedrock AgentCore, in [a stack of their "
        "own](how-to/agentcore.md).",
    )
    feedback: Feedback | None = Field(
        default=None,
        description="The path by which rewards that agents defer reach the trainer, below; `{}` "
        "with its defaults.",
    )

    scale: Scale | None = Field(
        default=None,
        description="A state machine and a function that score files of any size, below; `{}` with "
        "their defaults.",
    )

    customer_key: bool = Field(
        default=False, description="Encrypt the bucket with a KMS key of the stage's own."
    )
    key_arn: KeyArn | None = Field(
        default=None, description="ARN of an existing KMS key that encrypts the bucket."
    )
    bucket: Bucket | None = Field(
        default=None,
        description="An existing bucket instead of the stage's own, by its name: never emptied and "
        "never deleted here.",
    )
    read_buckets: tuple[ReadFolder, ...] = Field(
        default=(),
        max_length=MOST_FOLDERS,
        description="Data elsewhere that jobs, and people of `data`, may read: "
        "`s3://BUCKET/FOLDER` each, or an object of `address` and `key`, below.",
    )

    name_prefix: NamePrefix | None = Field(
        default=None,
        description="Before every name and a hyphen: `acme` makes `acme-SageMaker-reward-…`.",
    )
    role_path: RolePath | None = Field(
        default=None,
        description="The path of all roles, as `/acme/`; else `/service-role/` for those of jobs.",
    )
    permissions_boundary: Boundary | None = Field(
        default=None,
        description="ARN or name of a managed policy that bounds every role of the stack.",
    )
    callers: Callers = Field(
        default=Callers(),
        json_schema_extra={"default": {}},
        description="Other accounts and roles that may invoke the functions, below.",
    )

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

    @property
    def names(self) -> Names:
        """The names of its resources."""
        return Names(self.name, self.name_prefix or "")

    @property
    def principals(self) -> tuple[str, ...]:
        """Whom of other accounts its functions answer."""
        return self.callers.principals

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
    "agents": Agent,
    "deployments": Deployment,
    "forwarders": Forwarder,
    "job_rights": JobRights,
    "vpc": JobVpc,
    "allow": Statement,
    "secrets": Secret,
    "read_buckets": ReadFolder,
    "callers": Callers,
    "feedback": Feedback,
    "scale": Scale,
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
        raise BadStage(NO_STAGES)
    if name not in stages:
        raise BadStage(f"there is no stage {name!r} in cdk.json{did_you_mean(name, stages)}")
    given = stages[name]
    if not isinstance(given, dict) or "name" in given:
        raise BadStage(
            f"stage {name!r} is not an object of settings, or names itself a second time"
        )
    try:
        given = inherited(stages, name).settings
    except BadInheritance as error:
        raise BadStage(str(error)) from None
    try:
        stage = Stage.model_validate(given | {"name": name})
    except ValidationError as error:
        raise BadStage(f"stage {name!r}: {sentence(error, MODELS)}") from None
    _check_region(stage)
    _check_services(stage)
    packages = [Package.of(text, folder) for text in stage.packages]
    if "deployments" not in given:
        stage = stage.model_copy(update={"deployments": unconfigured(packages)})
    if stage.verdict_cache:
        remembered = remembering(stage.deployments, stage.names.verdicts)
        stage = stage.model_copy(update={"deployments": remembered})
    _check_deployments(stage, packages)
    try:
        check_brought(stage)
        check_rights(stage.job_rights, stage.region, stage.account)
        check_forwarders(
            stage.forwarders, names=stage.names, region=stage.region, emulated=stage.emulated
        )
        check_agents(stage.agents, names=stage.names, emulated=stage.emulated)
        alone = bool(pinnable(stage))
        check_feedback(stage.feedback, pinnable=alone, emulated=stage.emulated)
        check_stage(stage)
    except (BadAgent, BadFeedback, BadForwarder, BadRight, Foreign, OverLimit) as error:
        raise BadStage(f"stage {stage.name!r}: {error}") from None
    return stage


def _check_region(stage: Stage) -> None:
    known = aws_regions()
    if stage.region not in known:
        near = did_you_mean(stage.region, known).partition(";")[0]
        raise BadStage(f"stage {stage.name!r}: AWS has no region {stage.region!r}{near}")


def _check_services(stage: Stage) -> None:
    for each in stage.aws_services:
        if each not in clients():
            near = did_you_mean(each, clients()).partition(";")[0]
            raise BadStage(
                f"stage {stage.name!r}: aws_services: botocore has no service {each!r}{near}"
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
            check_deployment(each, stage.names, regions, carried)
            check_reach(each, stage.region, stage.account)
            check_role(stage, each)
            check_starts(each, stage)
        except ConfigurationError as error:
            raise BadStage(f"{where}: {error}") from error


WITHHELD: Final = frozenset({"secret", "secrets", "environment", "endpoint"})
"""Fields whose values are not shown: somebody may have written a key there, or a password."""

WITH_A_USER: Final = re.compile(r"://[^/\s]*@")
"""A URL that names a user, and so may hold a password."""

LONGEST_SHOWN: Final = 200
"""Characters of a value that a sentence repeats."""

LONGEST: Final = 600
"""Characters of a sentence; what somebody wrote may be a file."""

OF_JSON: Final = {
    "bool_parsing": "true or false",
    "bool_type": "true or false",
    "dict_type": "an object",
    "int_parsing": "a whole number",
    "int_type": "a whole number",
    "list_type": "a list",
    "model_type": "an object",
    "string_type": "a string",
    "tuple_type": "a list",
}
"""What a field must be, by the error of a model that speaks of Python's types."""

OF_LENGTH: Final = {
    "too_long": "must name {max_length} at most",
    "too_short": "must name {min_length} at least",
}
"""The same of lists and objects, by their bounds."""


def sentence(error: ValidationError, models: Mapping[str, type[BaseModel]]) -> str:
    """The first problem.

    Args:
        error: of the model that `models` has under "".
        models: what fields hold, by their names.
    """
    problem = _problem(error, models)
    if len(problem) <= LONGEST:
        return problem
    return f"{problem[: LONGEST // 2]} … {problem[-LONGEST // 2 :]}"


def _problem(error: ValidationError, models: Mapping[str, type[BaseModel]]) -> str:
    first = error.errors(include_url=False, include_input=True, include_context=True)[0]
    where = ".".join(str(part) for part in first["loc"])
    if first["type"] == "extra_forbidden":
        *path, unknown = first["loc"]
        holder = next(
            (part for part in reversed(path) if isinstance(part, str) and part in models), ""
        )
        known = set(models[holder].model_fields)
        if not holder:
            known = known - {"name"} | {EXTENDS}
        return f"{where} is not a setting{did_you_mean(str(unknown), known)}"
    if first["type"] == "literal_error":
        allowed = first["ctx"]["expected"].replace("'", "").replace(" or ", ", ").split(", ")
        return f"{where}: {first['input']!r} is unknown{did_you_mean(str(first['input']), allowed)}"
    if first["type"] == "missing":
        return f"{where} is missing"
    if wanted := OF_JSON.get(first["type"]):
        first["msg"] = f"must be {wanted}"
    if bounded := OF_LENGTH.get(first["type"]):
        first["msg"] = bounded.format(**first["ctx"])
    message = first["msg"].removeprefix("Value error, ")
    message = message[:1].lower() + message[1:]
    shown = f", not {first['input']!r}" if _may_be_shown(first["input"], first["loc"]) else ""
    return f"{where}: {message}{shown}" if where else message


def _may_be_shown(value: Any, path: tuple[int | str, ...]) -> bool:
    """Whether a value is plain and short, and no key that somebody wrote in the wrong place."""
    if not isinstance(value, str | int | float) or WITHHELD & {*path}:
        return False
    return len(str(value)) <= LONGEST_SHOWN and WITH_A_USER.search(str(value)) is None


def unconfigured(packages: Iterable[Package]) -> tuple[Deployment, ...]:
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


def remembering(deployments: Iterable[Deployment], table: str) -> tuple[Deployment, ...]:
    """The same with a table of verdicts for every judge that does not say which."""
    named = {"cache_table": table}
    return tuple(
        each.model_copy(update={"judge": named | each.judge}) if each.judge else each
        for each in deployments
    )
