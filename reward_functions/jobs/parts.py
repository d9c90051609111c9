"""What a user writes of a job and a request carries as it is: filters of logs, a network."""

from __future__ import annotations

from typing import Final, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

STRICT: Final = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)
"""Of whatever a user writes: an unknown field is refused."""


class Filter(BaseModel):
    """One condition on the request metadata of an invocation log: exactly one key."""

    model_config = STRICT

    equals: dict[str, str] | None = Field(
        default=None,
        min_length=1,
        max_length=1,
        description="A key of the record's request metadata that has this value.",
        examples=[{"task": "maths"}],
    )
    not_equals: dict[str, str] | None = Field(
        default=None,
        min_length=1,
        max_length=1,
        description="A key that has another value; in the place of `equals`.",
        examples=[{"task": "maths"}],
    )

    @model_validator(mode="after")
    def _one_condition(self) -> Self:
        if (self.equals is None) == (self.not_equals is None):
            raise ValueError("give one of equals and not_equals")
        return self


class Filters(BaseModel):
    """Which records of the logs are used: all of several conditions, or any of them."""

    model_config = STRICT

    match: Literal["all", "any"] = Field(
        default="all", description="Whether all conditions hold, or any.", examples=["any"]
    )
    conditions: tuple[Filter, ...] = Field(
        min_length=1,
        max_length=16,
        description="1 to 16 conditions, each on one key.",
        examples=[[{"equals": {"task": "maths"}}]],
    )


class Serverless(BaseModel):
    """What SageMaker's serverless customization and its multi-turn jobs take beside a job's own."""

    model_config = STRICT

    technique: Literal["RLVR", "RLAIF"] = Field(
        default="RLVR",
        description="Rewards of a function, or of SageMaker's own judge.",
        examples=["RLAIF"],
    )
    peft: Literal["LORA", "FULL"] = Field(
        default="LORA",
        description="Adapters, or every weight. SageMaker takes silence for every weight: ours is "
        "always sent.",
        examples=["FULL"],
    )
    sequence_length: str | None = Field(
        default=None,
        description="Of prompt and answer, which chooses the recipe; else its shortest.",
        examples=["8K"],
    )
    preset_reward: str | None = Field(
        default=None,
        description="SageMaker's own reward, in the place of `deployment`.",
        examples=["prime_math"],
    )
    judge: str | None = Field(
        default=None,
        description="RLAIF alone: the model that judges, on Bedrock.",
        examples=["openai.gpt-oss-120b-1:0"],
    )
    judge_prompt: str | None = Field(
        default=None,
        description="RLAIF alone: a template of the recipe, or the ARN of a RewardPrompt.",
        examples=["evaluate"],
    )
    accept_eula: bool = Field(
        default=False, description="The model's licence is accepted.", examples=[True]
    )
    model_packages: str | None = Field(
        default=None,
        description="The group of model packages for what is made; else one of the job's own name.",
        examples=["math-models"],
    )
    mlflow: str | None = Field(
        default=None,
        description="ARN of the MLflow app for the figures; else the account's default one.",
        examples=["arn:aws:sagemaker:us-east-1:123456789012:mlflow-app/app-0A1B2C3D4E5F"],
    )


class Vpc(BaseModel):
    """The network a job runs in."""

    model_config = STRICT

    subnets: tuple[str, ...] = Field(
        min_length=1,
        max_length=16,
        description="Ids of 1 to 16 subnets.",
        examples=[["subnet-0a1b2c3d"]],
    )
    security_groups: tuple[str, ...] = Field(
        min_length=1,
        max_length=5,
        description="Ids of 1 to 5 security groups.",
        examples=[["sg-0a1b2c3d"]],
    )
