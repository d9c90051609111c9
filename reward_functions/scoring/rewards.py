"""The reward that a name means, ready to score: a registered name, or the path of a file.

A .py file holds a function, a .toml or .json file declares a composite. A file makes a reward
usable between `reward init --reward-only` and the package it may end up in.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from reward_functions.core.errors import ConfigurationError, NoJudge
from reward_functions.core.registry import get
from reward_functions.core.spec import RewardSpec

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reward_functions.core.asking import Ask, Question, Verdict
    from reward_functions.core.spec import RewardFunction
    from reward_functions.judge_runtime.verdict_store import VerdictStore

    Parameters = Mapping[str, Any] | Sequence[str]

SUFFIXES: Final = (".toml", ".json")
"""Of files that declare a composite."""

EXAMPLE: Final = (
    '{"models": [{"backend": "openai", "endpoint": "http://localhost:8000/v1", '
    '"model": "Qwen/Qwen3-8B"}]}'
)
"""The settings of a judge behind an OpenAI-compatible server."""


def is_path(name: str) -> bool:
    """Whether a NAME is meant as the path of a file."""
    return name.endswith((".py", *SUFFIXES)) or "/" in name or "\\" in name


def reward_named(name: str) -> RewardSpec:
    """The reward of a registered name, or in the file of a path.

    Raises:
        UnknownReward: no reward has this name.
        ConfigurationError: the file cannot be imported, or it is not clear which reward is meant.
        OSError: the file cannot be read.
    """
    if name.endswith(SUFFIXES):
        from reward_functions.core.declared import composite_file  # noqa: PLC0415 - few are

        return composite_file(Path(name))
    return _in_file(Path(name)) if is_path(name) else get(name)


def ready(
    spec: RewardSpec,
    parameters: Parameters,
    judge: str | None = None,
    *,
    answers: Ask | None = None,
    store: VerdictStore | None = None,
    max_usd: float | None = None,
) -> RewardFunction:
    """The reward with its parameters, and with somebody to ask if it is a judge.

    Args:
        spec: the reward.
        parameters: by name, or as typed, `k=v` each.
        judge: its settings, as `--judge` takes them.
        answers: recorded ones, in place of any judge.
        store: verdicts of earlier runs, which are not asked for again.
        max_usd: dollars that its models may cost, in place of what the settings say.

    Raises:
        NoJudge: it is a judge, or a part of it is, and no model is named.
        BadParameter: an unknown parameter, or a value of the wrong type.
        BadJudge: the judge's settings cannot be used.
    """
    values = parameters if isinstance(parameters, Mapping) else parameter_values(spec, parameters)
    if not spec.needs.judge or answers is not None:
        return spec.bind(values, ask=answers)
    if judge is None:
        raise no_judge(spec.name)
    from reward_functions.calibration.settings import load_judge_config  # noqa: PLC0415
    from reward_functions.judge_runtime.panel import JudgePool  # noqa: PLC0415 - of judges alone

    config = load_judge_config(judge)
    if max_usd is not None:
        config = replace(config, max_usd=max_usd)
    return JudgePool(config, store=store).batch(spec, values)


def nobody(spec: RewardSpec) -> Ask | None:
    """The stand-in for a judge without a model: a response that needs no model is scored."""
    return partial(_unanswered, spec.name) if spec.needs.judge else None


def no_judge(name: str) -> NoJudge:
    """The error of a judge without a model, with one to copy."""
    return NoJudge(
        f"{name} asks a judge model, and none is the default: give --judge FILE, or set "
        f"REWARD_JUDGE; such as --judge '{EXAMPLE}', or a file that `reward judge init` writes"
    )


def _unanswered(name: str, question: Question, /, *, deadline: float = inf) -> Verdict:  # noqa: ARG001
    raise no_judge(name)


def parameter_values(spec: RewardSpec, settings: Sequence[str]) -> dict[str, object]:
    """The values of parameters as typed, `k=v` each.

    Raises:
        BadParameter: an unknown parameter, or a value of the wrong type.
        ConfigurationError: a setting without "=", or a parameter set twice.
    """
    values: dict[str, object] = {}
    for setting in settings:
        name, equals, value = setting.partition("=")
        if not equals:
            raise ConfigurationError(f"a parameter is written name=value, not {setting!r}")
        if name in values:
            raise ConfigurationError(f"parameter {name!r} is set twice")
        values[name] = spec.parameter(name).parse(value)
    return values


def _in_file(path: Path) -> RewardSpec:
    from reward_functions.core.importing import imported  # noqa: PLC0415 - few are a file

    module = imported(path)
    found = {id(spec): spec for spec in vars(module).values() if isinstance(spec, RewardSpec)}
    namesakes = [spec for spec in found.values() if spec.name.rpartition(".")[2] == path.stem]
    candidates = namesakes or list(found.values())
    if len(candidates) == 1:
        return candidates[0]
    if not candidates:
        raise ConfigurationError(
            f"{path}: no function in it is decorated with @reward_function; `reward audit` takes a "
            f"plain one by its name, {path}:NAME"
        )
    names = ", ".join(sorted(spec.name for spec in candidates))
    raise ConfigurationError(f"{path}: none of {names} is named like the file")
