"""What a user asks of a training job: one TOML file, or the options of a command.

    model = "amazon.nova-2-lite-v1:0:256k"
    deployment = "gsm8k"
    data = "train.jsonl"
    validation = "dev.jsonl"

    [hyperparameters]
    batchSize = 64
    learningRate = 1e-4

Hyperparameters have the names of the service that runs the job. Paths in the file begin at the
file's own folder, and typed ones at the working directory. What is asked is checked here and
against the tables of `models` and `hyperparameters`; whether the stage may do it, `preflight` asks.
"""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import BaseModel, Field, SkipValidation, StringConstraints, ValidationError

from reward_functions.aws.shell import DEFAULT_STAGE
from reward_functions.core.errors import ConfigurationError
from reward_functions.jobs.complaints import complaint
from reward_functions.jobs.job import DriverName, HyperparameterValue
from reward_functions.jobs.parts import STRICT, Filters, Serverless, Vpc

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

    source: str = Field(
        description="`s3://BUCKET/PREFIX` that the logs are written to.",
        examples=["s3://acme-logs/bedrock"],
    )
    use_prompt_response: bool = Field(
        default=False,
        description="Keep the logged responses beside their prompts.",
        examples=[True],
    )
    filters: Filters | None = Field(default=None, description="Which records are used.")


class JobConfiguration(BaseModel):
    """What a user asks for, before anything is looked up or uploaded."""

    model_config = STRICT

    model: str = Field(
        description="The base: an id of the table of models, a custom model's ARN, or a name or "
        "ARN of SageMaker's hub.",
        examples=["amazon.nova-2-lite-v1:0:256k"],
    )
    deployment: str | None = Field(
        default=None,
        description="The reward: a deployment of the stage, or a function's ARN.",
        examples=["gsm8k"],
    )
    agent: str | None = Field(
        default=None,
        description="Multi-turn jobs alone: ARN of the forwarder (Lambda) or AgentCore runtime, or "
        "the name of one of the stage's forwarders.",
        examples=["arn:aws:lambda:us-east-1:123456789012:function:SageMaker-agent"],
    )
    ask: str | None = Field(
        default=None,
        description="Who answers for the base before training; else the table of models says.",
        examples=["qwen.qwen3-32b-v1:0"],
    )
    sagemaker: Serverless | None = Field(default=None, description="Of SageMaker's jobs alone.")
    stage: str = Field(
        default=DEFAULT_STAGE,
        description="A stage of `cdk.json` that is deployed.",
        examples=["prod"],
    )
    driver: DriverName | None = Field(
        default=None,
        description="`bedrock`, `openai`, `sagemaker` or `agent-rft`; else what the table says of "
        "the model.",
        examples=["bedrock"],
    )
    name: Prefix | None = Field(
        default=None,
        description="How the job's name begins; else the deployment's name.",
        examples=["first-try"],
    )
    data: Path | None = Field(
        default=None, description="The training file, JSONL.", examples=["data/train.jsonl"]
    )
    validation: Path | None = Field(
        default=None, description="The validation file, JSONL.", examples=["data/dev.jsonl"]
    )
    invocation_logs: InvocationLogs | None = Field(
        default=None, description="Logs in place of the training file."
    )
    # `hyperparameters.check` has the sentence for a wrong one; pydantic would make 1 of `true`.
    hyperparameters: dict[str, SkipValidation[HyperparameterValue]] = Field(
        default={},
        description="By the service's own names; the rest is the service's choice.",
        examples=[{"batchSize": 64, "learningRate": 1e-4}],
    )
    model_key: str | None = Field(
        default=None,
        description="ARN of the KMS key for the model.",
        examples=["arn:aws:kms:us-east-1:123456789012:key/0a1b2c3d"],
    )
    vpc: Vpc | None = Field(default=None, description="The network the job runs in.")
    tags: dict[str, str] = Field(
        default={},
        description="On the job and the model, beside ours.",
        examples=[{"team": "maths"}],
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
    return asked.driver in ("sagemaker", "agent-rft") or ":hub-content/" in asked.model


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
        if isinstance(found.get(name), str):
            found[name] = file.parent / found[name]
    return found


def _astray() -> dict[str, str]:
    """Hyperparameters, which stand in a table of their own."""
    table = tomllib.loads(HYPERPARAMETERS.read_text(encoding="utf-8"))
    here = "is a hyperparameter: write it below [hyperparameters], or as --set"
    names = [each["name"] for rows in table.values() for each in rows]
    return {name: f"{here} {name}=VALUE" for name in names}


def digest(*, grader: str, contents: dict[str, str], asked: JobConfiguration) -> str:
    """What a job's name carries: equal configurations, data and graders have equal digests.

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
