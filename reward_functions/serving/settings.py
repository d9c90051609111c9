"""What one deployed function is told: one model, read by the handler and written by the deployment.

Each field is an environment variable, `REWARD_` and the field's name in capitals; the three that
Powertools reads itself carry Powertools' names. `from_env` and `to_env` are inverse to each other.
A variable that starts with `REWARD_` and is no setting is an error: a misspelt knob must not become
a silent default.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError, field_validator

from reward_functions.core.errors import ConfigurationError
from reward_functions.core.suggest import did_you_mean
from reward_functions.judges import Judging
from reward_functions.serving.contract import MAX_SAMPLES, ResponseMode
from reward_functions.serving.imputation import OnUnscored

if TYPE_CHECKING:
    from collections.abc import Mapping

PREFIX: Final = "REWARD_"

MAX_WORKERS: Final = 256
"""Threads of one function: more wait for the same processor, or for the same model's quota."""

POWERTOOLS: Final = {
    "log_level": "POWERTOOLS_LOG_LEVEL",
    "service": "POWERTOOLS_SERVICE_NAME",
    "metrics_namespace": "POWERTOOLS_METRICS_NAMESPACE",
}


class BadSettings(ConfigurationError):
    """Environment variables that are missing, unknown or wrong. The message names them."""


class LambdaSettings(BaseModel):
    """The configuration of one deployed reward function.

    Knobs are checked for their shape here, and against the reward's own declaration when the
    function binds it.

    Raises:
        pydantic.ValidationError: a value is of the wrong type or out of range.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    name: str = Field(min_length=1, description="The reward function, as `reward list` names it.")
    knobs: dict[str, JsonValue] = Field(
        default={}, description="Its keyword arguments; one JSON object in the environment."
    )
    judge: Judging | None = Field(
        default=None,
        description="Who judges, for a reward that asks a model; one JSON object in the "
        "environment. There is no default model.",
    )
    response_mode: ResponseMode = Field(
        default="list",
        description="`list` for Bedrock and for SageMaker training of Nova models, `envelope` for "
        "SageMaker serverless customization of open-weight models.",
    )
    max_samples: int = Field(default=MAX_SAMPLES, ge=1, description="The most samples in an event.")
    on_unscored: OnUnscored = Field(
        default="impute",
        description="What a sample becomes that we failed to score: the mean of its siblings, the "
        "floor of the scale, or a failed invocation.",
    )
    max_unscored: float = Field(
        default=0.2,
        ge=0,
        le=1,
        description="The share of a batch that may be our failures before the invocation fails.",
    )
    deadline_margin_ms: int = Field(
        default=1000,
        ge=0,
        description="Milliseconds before Lambda's timeout after which no sample is begun. The "
        "longest sample and the encoding of the response must fit in.",
    )
    workers: int | None = Field(
        default=None,
        ge=1,
        le=MAX_WORKERS,
        description="Threads of a batch; what the reward declares where unset.",
    )
    log_text_rate: float = Field(
        default=0.0,
        ge=0,
        le=1,
        description="The share of samples whose texts are logged. Zero: no text, ever.",
    )
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"] = Field(
        default="INFO", description="The least severe log line that is written."
    )
    service: str = Field(
        default="reward-functions",
        min_length=1,
        description="The deployment: a field of every log line, a dimension of every metric.",
    )
    metrics_namespace: str = Field(
        default="RewardFunctions",
        min_length=1,
        description="CloudWatch's namespace of the metrics.",
    )

    @field_validator("log_level", mode="before")
    @classmethod
    def _upper(cls, level: Any) -> Any:
        """Powertools takes either case."""
        return level.upper() if isinstance(level, str) else level

    @field_validator("knobs", "judge", mode="before")
    @classmethod
    def _parse_object(cls, given: Any) -> Any:
        if not isinstance(given, str):
            return given
        try:
            return json.loads(given)
        except (ValueError, RecursionError):
            raise ValueError("not a JSON object") from None

    @classmethod
    def from_env(cls, environ: Mapping[str, str]) -> Self:
        """The settings in an environment; what it does not name keeps its default.

        Raises:
            BadSettings: a variable is missing, unknown or wrong; the message names each.
            BadJudge: the judge's settings contradict themselves.
        """
        fields = {variable(field): field for field in cls.model_fields}
        unknown = sorted(key for key in environ if key.startswith(PREFIX) and key not in fields)
        if unknown:
            raise BadSettings(f"{unknown[0]} is no setting{did_you_mean(unknown[0], fields)}")
        given = {field: environ[key] for key, field in fields.items() if key in environ}
        try:
            return cls.model_validate(given)
        except ValidationError as error:
            problems = error.errors(include_url=False, include_input=False, include_context=False)
            raise BadSettings(
                "; ".join(
                    f"{variable(str(bad['loc'][0]))}: {_inside(bad['loc'][1:])}"
                    f"{_in_words(bad['msg'])}"
                    for bad in problems
                )
            ) from None

    def to_env(self) -> dict[str, str]:
        """The environment that says the same, every value written out but those that are unset."""
        values = self.model_dump(exclude_none=True)
        return {
            variable(field): value if isinstance(value, str) else json.dumps(value)
            for field, value in values.items()
        }


def _inside(place: tuple[int | str, ...]) -> str:
    """Where in an object a problem is: `models.0.model: `."""
    return f"{'.'.join(map(str, place))}: " if place else ""


def _in_words(message: str) -> str:
    """Pydantic's message without the name of the exception behind it."""
    message = message.removeprefix("Value error, ")
    return message[:1].lower() + message[1:]


def variable(field: str) -> str:
    """The environment variable of a setting."""
    return POWERTOOLS.get(field, PREFIX + field.upper())
