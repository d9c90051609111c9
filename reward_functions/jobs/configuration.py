"""The request for a training job: one TOML file, or the options of a command.

    model = "amazon.nova-2-lite-v1:0:256k"
    deployment = "gsm8k"
    data = "train.jsonl"
    validation = "dev.jsonl"

    [hyperparameters]
    batchSize = 64
    learningRate = 1e-4

Hyperparameters have the names of the service that runs the job. Paths in the file begin at the
file's own folder, and typed ones at the working directory. The request is checked here and against
the tables of `models` and `hyperparameters`; `preflight` asks whether the stage may do it.

Fields that a request carries as you write them: filters of logs, a network.

The fault of a written configuration, in one sentence that names the field and the remedy.

pydantic finds it; `SENTENCES` says it, a row for each kind of error.
"""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    SkipValidation,
    StrictBool,
    StringConstraints,
    ValidationError,
    model_validator,
)

from reward_functions.aws.shell import DEFAULT_STAGE
from reward_functions.core.errors import ConfigurationError
from reward_functions.core.suggest import did_you_mean
from reward_functions.jobs.services import SERVICES, DriverName, HyperparameterValue, names

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


STRICT: Final = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)
"""Of whatever a user writes: an unknown field is refused."""


def required(description: str, *examples: Any, **rules: Any) -> Any:
    """A field that a user has to write.

    Args:
        description: what it is, for the table of fields.
        examples: of its value.
        rules: of its value, as pydantic names them.
    """
    return Field(description=description, examples=list(examples) or None, **rules)


def optional(description: str, *examples: Any, default: Any = None, **rules: Any) -> Any:
    """A field that a user may write; the rest is as `required` has it."""
    return required(description, *examples, default=default, **rules)


class Filter(BaseModel):
    """One condition on the request metadata of an invocation log: exactly one key."""

    model_config = STRICT

    equals: dict[str, str] | None = optional(
        "A key of the record's request metadata that has this value.",
        {"task": "maths"},
        min_length=1,
        max_length=1,
    )
    not_equals: dict[str, str] | None = optional(
        "A key that has another value; in the place of `equals`.",
        {"task": "maths"},
        serialization_alias="notEquals",
        min_length=1,
        max_length=1,
    )

    @model_validator(mode="after")
    def _one_condition(self) -> Self:
        if (self.equals is None) == (self.not_equals is None):
            raise ValueError("give one of equals and not_equals")
        return self


class Filters(BaseModel):
    """The records of the logs that are used: all of several conditions, or any of them."""

    model_config = STRICT

    match: Literal["all", "any"] = optional(
        "Whether all conditions hold, or any.", "any", default="all"
    )
    conditions: tuple[Filter, ...] = required(
        "1 to 16 conditions, each on one key.",
        [{"equals": {"task": "maths"}}],
        min_length=1,
        max_length=16,
    )


class Serverless(BaseModel):
    """The fields of SageMaker's serverless and multi-turn jobs, beside a job's own."""

    model_config = STRICT

    technique: Literal["RLVR", "RLAIF"] = optional(
        "Rewards of a function, or of SageMaker's own judge.", "RLAIF", default="RLVR"
    )
    peft: Literal["LORA", "FULL"] = optional(
        "Adapters, or every weight. SageMaker takes silence for every weight: ours is always sent.",
        "FULL",
        default="LORA",
    )
    sequence_length: str | None = optional(
        "Of prompt and answer, which chooses the recipe; else its shortest.", "8K"
    )
    preset_reward: str | None = optional(
        "SageMaker's own reward, in the place of `deployment`.", "prime_math"
    )
    judge: str | None = optional(
        "RLAIF alone: the model that judges, on Bedrock.", "openai.gpt-oss-120b-1:0"
    )
    judge_prompt: str | None = optional(
        "RLAIF alone: a template of the recipe, or the ARN of a RewardPrompt.", "evaluate"
    )
    accept_eula: StrictBool = optional("The model's licence is accepted.", True, default=False)
    model_packages: str | None = optional(
        "The group of model packages for what is made; else one of the job's own name.",
        "math-models",
    )
    mlflow: str | None = optional(
        "ARN of the MLflow app for the figures; else the account's default one.",
        "arn:aws:sagemaker:us-east-1:123456789012:mlflow-app/app-0A1B2C3D4E5F",
    )


class Vpc(BaseModel):
    """The network a job runs in."""

    model_config = STRICT

    subnets: tuple[str, ...] = required(
        "Ids of 1 to 16 subnets.", ["subnet-0a1b2c3d"], min_length=1, max_length=16
    )
    security_groups: tuple[str, ...] = required(
        "Ids of 1 to 5 security groups.", ["sg-0a1b2c3d"], min_length=1, max_length=5
    )


SHOWN: Final = 40
"""Characters of a refused value in a sentence."""

SENTENCES: Final[Mapping[str, str]] = {
    "bool_parsing": "{at} is {value}: write true or false",
    "bool_type": "{at} is {value}: write true or false",
    "dict_type": "{at} is {value}: write a table, [{at}]",
    "literal_error": "{at} is {value}: write {expected}",
    "model_type": "{at} is {value}: write a table, [{at}]",
    "path_type": "{at} is {value}: write the path of a file, in quotes",
    "string_pattern_mismatch": "{at} is {value}: write letters and digits, with single hyphens "
    "between them",
    "string_too_long": "{at} has more than {max_length} characters",
    "string_type": "{at} is {value}: write a text, in quotes",
    "too_long": "{at} takes {max_length} entries at most",
    "too_short": "{at} needs {min_length} or more entries",
    "tuple_type": "{at} is {value}: write a list, in square brackets",
    "value_error": "{at}: {error}",
}
"""By pydantic's names of errors (docs.pydantic.dev/latest/errors/validation_errors)."""

OPTIONS: Final = {"model": "--model, or ", "deployment": "--deployment, or "}
"""What names a field on the command line."""


def complaint(
    error: ValidationError, model: type[BaseModel], file: str, elsewhere: Mapping[str, str]
) -> str:
    """The sentence for the first thing that is wrong.

    Args:
        error: of validating the configuration.
        model: of the whole configuration.
        file: that holds it, or would.
        elsewhere: fields that belong somewhere else, each with the remedy.
    """
    problems = error.errors(include_url=False)
    # A misspelt field is why another is missing.
    first = min(problems, key=lambda each: each["type"] != "extra_forbidden")
    place = first["loc"]
    at = ".".join(map(str, place)) or "the configuration"
    if first["type"] == "missing":
        *above, name = place
        below = f" below [{'.'.join(map(str, above))}]" if above else ""
        return f"{at} is missing: {OPTIONS.get(at, '')}{name} = …{below} in {file}"
    if first["type"] == "extra_forbidden":
        return _unknown(at, list(place), model, file, elsewhere)
    sentence = SENTENCES.get(first["type"], f"{{at}} is {{value}}: {first['msg']}")
    return sentence.format(at=at, value=_shown(first["input"]), **first.get("ctx", {}))


def _unknown(
    at: str,
    place: list[int | str],
    model: type[BaseModel],
    file: str,
    elsewhere: Mapping[str, str],
) -> str:
    *above, name = place
    if at in elsewhere:
        return f"{at} {elsewhere[at]}"
    inside = model
    for part in above:
        if isinstance(part, str):  # a number counts the entries of a list
            inside = next(table_of(inside.model_fields[part].annotation), inside)
    return f"{file} has no field {at!r}{did_you_mean(str(name), inside.model_fields)}"


def table_of(annotation: Any) -> Iterator[type[BaseModel]]:
    """The models in the type of a field: itself, or inside of `| None` and `tuple[…]`."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in getattr(annotation, "__args__", ()):
        yield from table_of(part)


def _shown(value: Any) -> str:
    text = str(value).lower() if isinstance(value, bool) else repr(value)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}…"


HYPERPARAMETERS: Final = Path(__file__).with_name("hyperparameters.toml")

DIGEST_DIGITS: Final = 8
"""Hexadecimal digits of the configuration in a job's name."""

MISSING_DEPLOYMENT: Final = "deployment is missing: --deployment, or deployment = … in {file}"

FILES: Final = ("data", "validation")
"""Fields that hold the path of a file."""

Prefix = Annotated[
    str,
    StringConstraints(pattern=re.compile(r"\A[a-zA-Z0-9]+(-[a-zA-Z0-9]+)*\Z"), max_length=40),
]
"""How the names of jobs and of their models begin: what both of Bedrock's patterns take."""


class BadJob(ConfigurationError):
    """A job that cannot be started as it is asked for. The message names the field."""


class InvocationLogs(BaseModel):
    """Data from Bedrock's model invocation logs in place of a file."""

    model_config = STRICT

    source: str = required(
        "`s3://BUCKET/PREFIX` that the logs are written to.", "s3://acme-logs/bedrock"
    )
    use_prompt_response: StrictBool = optional(
        "Keep the logged responses beside their prompts.", True, default=False
    )
    filters: Filters | None = optional("Which records are used.")


class JobConfiguration(BaseModel):
    """The request of a user, before anything is looked up or uploaded."""

    model_config = STRICT

    model: str = required(
        "The base: an id of the table of models, a custom model's ARN, or a name or "
        "ARN of SageMaker's hub.",
        "amazon.nova-2-lite-v1:0:256k",
    )
    deployment: str | None = optional(
        "The reward: a deployment of the stage, or a function's ARN.", "gsm8k"
    )
    agent: str | None = optional(
        "Multi-turn jobs alone: ARN of the forwarder (Lambda) or AgentCore runtime, or "
        "the name of one of the stage's forwarders.",
        "arn:aws:lambda:us-east-1:123456789012:function:SageMaker-agent",
    )
    ask: str | None = optional(
        "Who answers for the base before training; else the table of models says.",
        "qwen.qwen3-32b-v1:0",
    )
    sagemaker: Serverless | None = optional("Of SageMaker's jobs alone.")
    stage: str = optional("A stage of `cdk.json` that is deployed.", "prod", default=DEFAULT_STAGE)
    driver: DriverName | None = optional(
        f"{names('`')}; else what the table says of the model.",
        "bedrock",
    )
    name: Prefix | None = optional(
        "How the job's name begins; else the deployment's name.", "first-try"
    )
    data: Path | None = optional("The training file, JSONL.", "data/train.jsonl")
    validation: Path | None = optional("The validation file, JSONL.", "data/dev.jsonl")
    invocation_logs: InvocationLogs | None = optional("Logs in place of the training file.")
    # `hyperparameters.check` has the sentence for a wrong one; pydantic would make 1 of `true`.
    hyperparameters: dict[str, SkipValidation[HyperparameterValue]] = optional(
        "By the service's own names; the rest is the service's choice.",
        {"batchSize": 64, "learningRate": 1e-4},
        default={},
    )
    model_key: str | None = optional(
        "ARN of the KMS key for the model.", "arn:aws:kms:us-east-1:123456789012:key/0a1b2c3d"
    )
    vpc: Vpc | None = optional("The network the job runs in.")
    tags: dict[str, str] = optional(
        "On the job and the model, beside ours.", {"team": "maths"}, default={}
    )


def load(
    file: Path | None, given: dict[str, Any], *, stage: str = DEFAULT_STAGE
) -> JobConfiguration:
    """The configuration of a file, where there is one, with what was typed over it.

    Args:
        file: TOML; the paths in it begin at its own folder.
        given: fields by name, without those that were not typed; hyperparameters are merged, and
            paths begin at the working directory.
        stage: where neither names one.

    Raises:
        BadJob: a field is missing, unknown or wrong; one sentence that names it.
        OSError: the file cannot be read.
    """
    found = {} if file is None else _read(file)
    merged = {"stage": stage} | found | given
    if isinstance(found.get("hyperparameters"), dict) and "hyperparameters" in given:
        merged["hyperparameters"] = found["hyperparameters"] | given["hyperparameters"]
    named = "the job's file" if file is None else str(file)
    try:
        asked = JobConfiguration.model_validate(merged)
    except ValidationError as error:
        raise BadJob(complaint(error, JobConfiguration, named, _astray())) from None
    if asked.deployment is None and not _on_sagemaker(asked):
        raise BadJob(MISSING_DEPLOYMENT.format(file=named))
    return asked


def _on_sagemaker(asked: JobConfiguration) -> bool:
    """Whether it may be a job whose reward is no function: `options` knows what it needs then."""
    named = asked.driver and SERVICES[asked.driver].packages
    return bool(named) or ":hub-content/" in asked.model


def _read(file: Path) -> dict[str, Any]:
    """The fields of a file, with its paths as they are seen from here."""
    try:
        found = tomllib.loads(file.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadJob(f"{file} is not TOML: {error}") from None
    except (ValueError, RecursionError):
        raise BadJob(
            f"{file} is no configuration of a job: a number has thousands of digits, or "
            "brackets stand within hundreds of brackets"
        ) from None
    for name in FILES:
        if isinstance(path := found.get(name), str):
            if not path or "\0" in path:
                raise BadJob(f"{name} is {_shown(path)}: write the path of a file in {file}")
            found[name] = file.parent / path
    return found


def _astray() -> dict[str, str]:
    """Hyperparameters, which stand in a table of their own."""
    table = tomllib.loads(HYPERPARAMETERS.read_text(encoding="utf-8"))
    here = "is a hyperparameter: write it below [hyperparameters], or as --set"
    names = [each["name"] for rows in table.values() for each in rows]
    return {name: f"{here} {name}=VALUE" for name in names}


def digest(*, grader: str, contents: dict[str, str], asked: JobConfiguration) -> str:
    """The digest in a job's name: equal configurations, data and graders have equal digests.

    Args:
        grader: the ARN of the version.
        contents: the SHA-256 of each file, by the field that names it: a file's path is no part.
        asked: the configuration; its name, its tags, its stage and who answers for the base are no
            part either.
    """
    rest = asked.model_dump(
        mode="json", exclude={"name", "tags", *FILES, "deployment", "stage", "ask"}
    )
    whole = json.dumps([grader, contents, rest], sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(whole.encode()).hexdigest()[:DIGEST_DIGITS]
