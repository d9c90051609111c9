"""A judge's settings from JSON or TOML data: every mistake is one plain sentence.

    {"models": [{"model": "m", "base_url": "…"}]}
    models.0.base_url is unknown: write endpoint; a model has model, backend, region, …

The annotations of `JudgeConfig` and `JudgeModel` say which values a field takes. The names that
other clients have for a field are a table. Values are never quoted: one may be a key.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from functools import cache
from math import isfinite
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Any, Final, Literal, Union, get_args, get_origin, get_type_hints

from reward_functions.core.errors import BadJudge
from reward_functions.core.suggest import did_you_mean
from reward_functions.judge_runtime.config import JudgeConfig, JudgeModel

if TYPE_CHECKING:
    from collections.abc import Mapping


class Misread(BadJudge):
    """A field of a judge's settings is unknown, missing or of another type."""


CALLED: Final = {JudgeConfig: "the settings have", JudgeModel: "a model has"}

ALIASES: Final[Mapping[type, Mapping[str, tuple[str, ...]]]] = {
    JudgeModel: {
        "model": ("name", "model_name", "model_id", "modelid", "id", "deployment", "engine"),
        "backend": ("provider", "api", "api_type", "type", "kind", "client", "platform"),
        "region": ("aws_region", "region_name", "location"),
        "profile": ("inference_profile", "inference_profile_id", "inference_profile_arn"),
        "tier": ("service_tier",),
        "endpoint": (
            *("base_url", "baseurl", "url", "uri", "api_base", "api_url", "openai_api_base"),
            *("endpoint_url", "host", "server", "address", "api_endpoint"),
        ),
        "key": ("api_key", "apikey", "api_key_env", "key_env", "token", "secret", "secret_arn"),
        "answers": ("file", "path", "recorded", "recording", "replay"),
        "output_mode": ("mode", "response_format", "structured_output", "json_mode", "format"),
        "max_tokens": (
            *("max_new_tokens", "max_completion_tokens", "max_output_tokens", "maxtokens"),
            *("max_length", "num_predict"),
        ),
        "temperature": ("temp",),
        "timeout": ("timeout_s", "timeout_seconds", "request_timeout", "read_timeout"),
        "rpm": ("requests_per_minute", "rate_limit", "max_rpm"),
        "tpm": ("tokens_per_minute", "max_tpm"),
    },
    JudgeConfig: {
        "models": ("model", "judge", "judges", "panel", "members"),
        "aggregate": ("aggregation", "voting", "vote", "reduce", "combine"),
        "min_votes": ("quorum", "votes"),
        "fallback": ("fallback_model", "backup"),
        "concurrency": ("workers", "parallel", "parallelism", "threads", "num_workers"),
        "max_concurrency": ("max_workers", "max_parallel", "connections"),
        "retries": ("max_retries", "num_retries", "attempts"),
        "cache_size": ("cache",),
        "cache_table": ("table", "dynamodb_table"),
        "cache_days": ("cache_ttl", "ttl"),
        "max_usd": ("budget", "max_cost", "max_dollars", "budget_usd", "cost_limit", "max_budget"),
        "prices": ("price", "pricing", "costs"),
    },
}
"""What other clients call a field."""

WRITTEN: Final = {"key": 'key, as "env:NAME" of the variable that holds it'}
"""What to write, where the name of a field does not say it all."""

COMPATIBLE: Final = "OpenAI, vLLM, SGLang, Ollama and LiteLLM are 'openai'"

_EITHER: Final = {
    JudgeModel: (JudgeConfig, "outside of models"),
    JudgeConfig: (JudgeModel, "under [[models]]"),
}


def config_of(data: Any) -> JudgeConfig:
    """The settings of a decoded JSON or TOML object; a `JudgeConfig` as it is.

    Raises:
        Misread: a field is unknown, missing or of another type. The message names it by its path,
            and quotes no value.
        BadJudge: values are out of range, or contradict each other.
    """
    if isinstance(data, JudgeConfig):
        return data
    config: JudgeConfig = _object(JudgeConfig, data, "")
    return config


def _object(kind: Any, data: Any, place: str) -> Any:
    if isinstance(data, kind):
        return data
    if not isinstance(data, dict):
        raise Misread(f"{place or 'a judge'} takes an object of settings, not {_type(data)}")
    hints = _hints(kind)
    for name in data:
        if name not in hints:
            raise Misread(_unknown(kind, str(name), place))
    if kind is JudgeConfig and "models" not in data:
        raise Misread("no judge model is named, and none is the default: add [[models]]")
    if kind is JudgeModel and "model" not in data:
        raise Misread(f"{place}.model is missing: none is the default")
    return kind(
        **{name: _value(hints[name], each, _at(place, name)) for name, each in data.items()}
    )


def _value(kind: Any, value: Any, place: str) -> Any:
    """A value as its field keeps it."""
    if is_dataclass(kind):
        return _object(kind, value, place)
    origin, arguments = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        (inner,) = (each for each in arguments if each is not NoneType)
        return None if value is None else _value(inner, value, place)
    if origin is Literal:
        return _choice(arguments, value, place)
    if origin is tuple:
        if not isinstance(value, list | tuple):
            raise Misread(f"{place} takes a list{_of(arguments[0])}, not {_type(value)}")
        return tuple(_value(arguments[0], each, _at(place, at)) for at, each in enumerate(value))
    if origin is dict:
        if not isinstance(value, dict):
            raise Misread(f"{place} takes an object, not {_type(value)}")
        return {
            str(name): _value(arguments[1], each, _at(place, name)) for name, each in value.items()
        }
    return _plain(kind, value, place)


def _plain(kind: type, value: Any, place: str) -> Any:
    """A string, a number, or true or false."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if kind is float and number:
        try:
            return float(value)
        except OverflowError:
            raise Misread(f"{place} takes a number that is not so large") from None
    if kind is int and number and isfinite(value) and value == int(value):
        return int(value)
    if kind in (str, bool) and isinstance(value, kind):
        return value
    raise Misread(f"{place} takes {_WORDS[kind]}, not {_type(value)}")


def _choice(choices: tuple[str, ...], value: Any, place: str) -> str:
    if isinstance(value, str) and value in choices:
        return value
    named = ", ".join(repr(each) for each in choices if each)
    wrong = "another string" if isinstance(value, str) else _type(value)
    more = f"; {COMPATIBLE}" if place.endswith("backend") else ""
    raise Misread(f"{place} takes one of {named}, not {wrong}{more}")


_WORDS: Final = {str: "a string", int: "a whole number", float: "a number", bool: "true or false"}
_TYPES: Final = (
    (bool, "true or false"),
    (str, "a string"),
    (int, "a whole number"),
    (float, "a number with a fraction"),
    (NoneType, "null"),
    (list | tuple, "a list"),
    (dict, "an object"),
)


def _type(value: Any) -> str:
    return next((words for kind, words in _TYPES if isinstance(value, kind)), type(value).__name__)


def _of(kind: Any) -> str:
    return " of objects, each with a model" if is_dataclass(kind) else ""


def _unknown(kind: Any, name: str, place: str) -> str:
    """A sentence about a field that does not exist: what is meant, and which there are."""
    listed = ", ".join(_hints(kind))
    at = f"{_at(place, name)} is unknown"
    folded = name.lower().replace("-", "_")
    other, where = _EITHER[kind]
    if folded in _hints(kind):
        return f"{at}: write {folded}"
    if (kind, folded) == (JudgeConfig, "model"):
        return f"{at}: write it under [[models]], or in models, a list of objects"
    if folded in _aliases(kind):
        meant = _aliases(kind)[folded]
        return f"{at}: write {WRITTEN.get(meant, meant)}; {CALLED[kind]} {listed}"
    if folded in _hints(other) or folded in _aliases(other):
        meant = _aliases(other).get(folded, folded)
        return f"{at}: write {meant} {where}; {CALLED[kind]} {listed}"
    near = did_you_mean(folded, _hints(kind))
    if near.endswith("?"):
        return f"{at}{near} {CALLED[kind].capitalize()} {listed}"
    return f"{at}; {CALLED[kind]} {listed}"


@cache
def _aliases(kind: Any) -> Mapping[str, str]:
    return {alias: name for name, several in ALIASES[kind].items() for alias in several}


@cache
def _hints(kind: Any) -> Mapping[str, Any]:
    """The fields of a dataclass and their types."""
    hints = get_type_hints(kind)
    return {each.name: hints[each.name] for each in fields(kind)}


def _at(place: str, name: object) -> str:
    return f"{place}.{name}" if place else str(name)
