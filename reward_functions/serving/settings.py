"""The settings of one deployed function: one record, written at deployment, read by the handler.

Each field is an environment variable, `REWARD_` and the field's name in capitals; the three that
Powertools reads itself carry Powertools' names. `from_env` and `to_env` are inverse to each other.
A variable that starts with `REWARD_` and is not a setting is an error: a misspelt parameter must
not become a silent default.
"""

from __future__ import annotations

import json
from dataclasses import MISSING, Field, asdict, dataclass, field, fields
from typing import TYPE_CHECKING, Any, Final, Literal, Self, get_args

from reward_functions.core.errors import ConfigurationError
from reward_functions.core.suggest import did_you_mean
from reward_functions.serving.contract import MAX_SAMPLES, ResponseMode
from reward_functions.serving.imputation import OnUnscored
from reward_functions.serving.setting_types import Choice, JsonObject, JudgeObject, Number, String

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reward_functions.judge_runtime.config import JudgeConfig
    from reward_functions.serving.setting_types import Kind

PREFIX: Final = "REWARD_"

MAX_WORKERS: Final = 256
"""Threads of one function: more wait for the same processor, or for the same model's quota."""

POWERTOOLS: Final = {
    "log_level": "POWERTOOLS_LOG_LEVEL",
    "service": "POWERTOOLS_SERVICE_NAME",
    "metrics_namespace": "POWERTOOLS_METRICS_NAMESPACE",
}


LogLevel = Literal["DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"]


class BadSettings(ConfigurationError):
    """Settings that are missing, unknown or wrong. The message names their variables."""


def _setting(kind: Kind, description: str) -> dict[str, Any]:
    """The metadata of a setting: its type and its description."""
    return {"kind": kind, "description": description}


@dataclass(frozen=True, kw_only=True)
class LambdaSettings:
    """The configuration of one deployed reward function.

    Parameters are checked for their shape here, and against the reward's own declaration when the
    function binds it.

    Raises:
        BadSettings: a value is of the wrong type or out of range; the message names each.
    """

    name: str = field(
        metadata=_setting(String(), "The reward function, as `reward list` names it."),
    )
    parameters: dict[str, Any] = field(
        default_factory=dict,
        metadata=_setting(
            JsonObject(), "Its keyword arguments; one JSON object in the environment."
        ),
    )
    composite: dict[str, Any] | None = field(
        default=None,
        metadata=_setting(
            JsonObject(optional=True),
            "What the reward is made of, where it is a composite that is declared with the "
            "deployment; one JSON object in the environment.",
        ),
    )
    judge: JudgeConfig | None = field(
        default=None,
        metadata=_setting(
            JudgeObject(),
            "Who judges, for a reward that asks a model; one JSON object in the environment. "
            "There is no default model.",
        ),
    )
    response_mode: ResponseMode = field(
        default="list",
        metadata=_setting(
            Choice(get_args(ResponseMode)),
            "`list` for Bedrock and for SageMaker training of Nova models, `envelope` for "
            "SageMaker serverless customization of open-weight models.",
        ),
    )
    max_samples: int = field(
        default=MAX_SAMPLES,
        metadata=_setting(Number(1, whole=True), "The most samples in an event."),
    )
    on_unscored: OnUnscored = field(
        default="impute",
        metadata=_setting(
            Choice(get_args(OnUnscored)),
            "What a sample becomes that we failed to score: the mean of its group, the "
            "minimum of the scale, or a failed invocation.",
        ),
    )
    max_unscored: float = field(
        default=0.2,
        metadata=_setting(
            Number(0, 1),
            "The share of a batch that may be our failures before the invocation fails.",
        ),
    )
    deadline_margin_ms: int = field(
        default=1000,
        metadata=_setting(
            Number(0, whole=True),
            "Milliseconds before Lambda's timeout at which a batch is over: no sample is begun any "
            "more. One sample of a reward of ours and the encoding of the response must fit in.",
        ),
    )
    workers: int | None = field(
        default=None,
        metadata=_setting(
            Number(1, MAX_WORKERS, whole=True, optional=True),
            "Threads of a batch; what the reward declares where unset.",
        ),
    )
    log_text_rate: float = field(
        default=0.0,
        metadata=_setting(
            Number(0, 1), "The share of samples whose texts are logged. Zero: no text, ever."
        ),
    )
    log_level: LogLevel = field(
        default="INFO",
        metadata=_setting(
            Choice(get_args(LogLevel), upper=True), "The least severe log line that is written."
        ),
    )
    service: str = field(
        default="reward-functions",
        metadata=_setting(
            String(), "The deployment: a field of every log line, a dimension of every metric."
        ),
    )
    metrics_namespace: str = field(
        default="RewardFunctions",
        metadata=_setting(String(), "CloudWatch's namespace of the metrics."),
    )

    def __post_init__(self) -> None:
        problems = []
        for setting in fields(self):
            value = getattr(self, setting.name)
            try:
                object.__setattr__(self, setting.name, setting.metadata["kind"].accept(value))
            except ValueError as error:
                shown = f", not {value!r}" if isinstance(value, str | int | float) else ""
                problems.append(f"{setting.name} {error}{shown}")
        if problems:
            raise BadSettings("; ".join(problems))

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Self:
        """The settings of these names; what is not named keeps its default.

        Raises:
            BadSettings: one is missing, unknown or wrong; the message names it.
        """
        known = [setting.name for setting in fields(cls)]
        for name in given:
            if name not in known:
                raise BadSettings(f"{name} is not a setting{did_you_mean(name, known)}")
        return cls(**given)

    @classmethod
    def from_env(cls, environ: Mapping[str, str]) -> Self:
        """The settings in an environment; what it does not name keeps its default.

        Raises:
            BadSettings: a variable is missing, unknown or wrong; the message names each.
            BadJudge: the judge's settings contradict themselves.
        """
        settings = {variable(setting.name): setting for setting in fields(cls)}
        unknown = sorted(key for key in environ if key.startswith(PREFIX) and key not in settings)
        if unknown:
            raise BadSettings(f"{unknown[0]} is not a setting{did_you_mean(unknown[0], settings)}")
        values, problems = {}, []
        for key, setting in settings.items():
            try:
                if key in environ:
                    values[setting.name] = setting.metadata["kind"].read(environ[key])
                elif _required(setting):
                    raise ValueError("is required")  # noqa: TRY301 - reported with the others
            except ValueError as error:
                problems.append(f"{key} {error}")
        if problems:
            raise BadSettings("; ".join(problems))
        return cls(**values)

    def to_env(self) -> dict[str, str]:
        """The environment that says the same, every value written out but those that are unset."""
        values = {setting.name: getattr(self, setting.name) for setting in fields(self)}
        return {
            variable(name): value if isinstance(value, str) else json.dumps(value, default=asdict)
            for name, value in values.items()
            if value is not None
        }


def _required(setting: Field[Any]) -> bool:
    return setting.default is MISSING and setting.default_factory is MISSING


def variable(field: str) -> str:
    """The environment variable of a setting."""
    return POWERTOOLS.get(field, PREFIX + field.upper())
