"""The settings of one deployed function: one record, written at deployment, read by the handler.

Each field is an environment variable, `REWARD_` and the field's name in capitals; the three that
Powertools reads itself carry Powertools' names. `from_env` and `to_env` are inverse to each other.
A variable that starts with `REWARD_` and is not a setting is an error: a misspelt parameter must
not become a silent default.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, get_args

from reward_functions.core.errors import ConfigurationError
from reward_functions.core.settings import (
    JSON_OBJECT,
    STRING,
    EnvSettings,
    SettingKind,
    chosen_from,
    number_within,
    object_in,
    setting,
)
from reward_functions.judge_runtime.config_reading import Misread, config_of
from reward_functions.serving.contract import MAX_SAMPLES, ResponseMode
from reward_functions.serving.imputation import OnUnscored

if TYPE_CHECKING:
    from reward_functions.judge_runtime.config import JudgeConfig

MAX_WORKERS: Final = 256
"""Threads of one function: more wait for the same processor, or for the same model's quota."""

LogLevel = Literal["DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"]


class BadSettings(ConfigurationError):
    """Settings that are missing, unknown or wrong. The message names their variables."""


def _judge(value: Any) -> JudgeConfig:
    try:
        return config_of(value)
    except Misread as error:
        raise ValueError(f"is wrong: {error}") from None


JUDGE: Final = SettingKind("JSON object", _judge, lambda text: _judge(object_in(text)))
"""A judge's settings: a `JudgeConfig`, or a JSON object of its fields."""


@dataclass(frozen=True, kw_only=True)
class LambdaSettings(EnvSettings):
    """The configuration of one deployed reward function.

    Parameters are checked for their shape here, and against the reward's own declaration when the
    function binds it.

    Raises:
        BadSettings: a value is of the wrong type or out of range; the message names each.
    """

    PREFIX: ClassVar = "REWARD_"
    NAMED: ClassVar = {
        "log_level": "POWERTOOLS_LOG_LEVEL",
        "service": "POWERTOOLS_SERVICE_NAME",
        "metrics_namespace": "POWERTOOLS_METRICS_NAMESPACE",
    }
    ERROR: ClassVar = BadSettings

    name: str = field(metadata=setting(STRING))
    """The reward function, as `reward list` names it."""

    parameters: dict[str, Any] = field(default_factory=dict, metadata=setting(JSON_OBJECT))
    """Its keyword arguments; one JSON object in the environment."""

    composite: dict[str, Any] | None = field(default=None, metadata=setting(JSON_OBJECT))
    """What the reward is made of, where it is a composite that is declared with the deployment;
    one JSON object in the environment."""

    judge: JudgeConfig | None = field(default=None, metadata=setting(JUDGE))
    """Who judges, for a reward that asks a model; one JSON object in the environment. There is
    no default model."""

    response_mode: ResponseMode = field(
        default="list", metadata=setting(chosen_from(get_args(ResponseMode)))
    )
    """`list` for Bedrock and for SageMaker training of Nova models, `envelope` for SageMaker
    serverless customization of open-weight models."""

    max_samples: int = field(default=MAX_SAMPLES, metadata=setting(number_within(1, whole=True)))
    """The most samples in an event."""

    on_unscored: OnUnscored = field(
        default="impute", metadata=setting(chosen_from(get_args(OnUnscored)))
    )
    """What a sample becomes that we failed to score: the mean of its group, the minimum of the
    scale, or a failed invocation."""

    max_unscored: float = field(default=0.2, metadata=setting(number_within(0, 1)))
    """The share of a batch that may be our failures before the invocation fails."""

    deadline_margin_ms: int = field(default=1000, metadata=setting(number_within(0, whole=True)))
    """Milliseconds before Lambda's timeout at which a batch is over: no sample is begun any
    more. One sample of a reward of ours and the encoding of the response must fit in."""

    workers: int | None = field(
        default=None, metadata=setting(number_within(1, MAX_WORKERS, whole=True))
    )
    """Threads of a batch; what the reward declares where unset."""

    log_text_rate: float = field(default=0.0, metadata=setting(number_within(0, 1)))
    """The share of samples whose texts are logged. Zero: no text, ever."""

    log_level: LogLevel = field(
        default="INFO", metadata=setting(chosen_from(get_args(LogLevel), upper=True))
    )
    """The least severe log line that is written."""

    service: str = field(default="reward-functions", metadata=setting(STRING))
    """The deployment: a field of every log line, a dimension of every metric."""

    metrics_namespace: str = field(default="RewardFunctions", metadata=setting(STRING))
    """CloudWatch's namespace of the metrics."""

    deployed_stage: str | None = field(default=None, metadata=setting(STRING))
    """The stage: a dimension of the metrics by version, which a function without it leaves out."""

    deployed_name: str | None = field(default=None, metadata=setting(STRING))
    """The deployment's name in its stage: another dimension of those metrics."""

    def _problem(self, name: str, value: Any, error: ValueError) -> str:
        shown = f", not {value!r}" if isinstance(value, str | int | float) else ""
        return f"{name} {error}{shown}"
