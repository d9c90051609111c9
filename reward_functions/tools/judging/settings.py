"""Who judges, as a person says it: a TOML or JSON file, one JSON object, or recorded answers.

    [[models]]
    model = "anthropic.claude-haiku-4-5"
    region = "us-east-1"

The object is the one a deployment gives its function in `REWARD_JUDGE`.
"""

from __future__ import annotations

import json
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from reward_functions.core.errors import BadJudge, ConfigurationError
from reward_functions.judge_runtime.config import JudgeModel, Judging

if TYPE_CHECKING:
    from reward_functions.core.spec import RewardSpec

RECORDED: Final = "recorded"
"""The model of recorded answers whose lines do not say whose they are."""


def judging_of(told: str | None, replay: str | None = None) -> Judging:
    """Who judges.

    Args:
        told: a JSON object, or the path of a `.toml` or `.json` file.
        replay: a file of recorded answers, which takes the place of any model.

    Raises:
        BadJudge: nobody is named, or what is told cannot be used.
        OSError: the file cannot be read.
    """
    if replay is not None:
        return Judging(models=(JudgeModel(model=RECORDED, backend="replay", answers=replay),))
    if told is None:
        raise BadJudge(
            "no judge model is named, and none is the default: give --judge FILE, or set "
            "REWARD_JUDGE"
        )
    return _validated(_object(told), _where(told))


def judge_only(spec: RewardSpec) -> RewardSpec:
    """The reward, if it asks a judge model.

    Raises:
        ConfigurationError: it does not.
    """
    if not spec.needs.judge:
        raise ConfigurationError(
            f"{spec.name} asks no judge model: it computes. `reward check {spec.name}` tests it"
        )
    return spec


def _inline(told: str) -> bool:
    return told.lstrip().startswith("{")


def _object(told: str) -> Any:
    text = told if _inline(told) else _text(told)
    try:
        return tomllib.loads(text) if told.endswith(".toml") else json.loads(text)
    except (ValueError, RecursionError) as error:  # both decoders' errors are of this kind
        raise BadJudge(f"{_where(told)}: {error}") from None


def _where(told: str) -> str:
    return "the judge's settings" if _inline(told) else told


def _text(file: str) -> str:
    try:
        return Path(file).read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise BadJudge(f"{file}: not UTF-8") from None


def _validated(settings: Any, where: str) -> Judging:
    from pydantic import TypeAdapter, ValidationError  # noqa: PLC0415 - `--help` is instant

    try:
        return TypeAdapter(Judging).validate_python(settings)
    except ValidationError as error:
        (problem, *_) = error.errors(include_url=False, include_context=False)
        at = ".".join(map(str, problem["loc"]))
        raise BadJudge(f"{where}: {': '.join(filter(None, [at, problem['msg']]))}") from None


def forgetful(judging: Judging) -> Judging:
    """The same judges without a memory: they are asked, and a deployment's table stays as it is."""
    return replace(judging, cache_size=0, cache_table="")


def fingerprint(judging: Judging) -> list[Any]:
    """What of the settings decides the answers; limits of time and money do not."""

    def model(each: JudgeModel) -> list[Any]:
        where = [each.backend, each.endpoint, each.called, each.answers]
        return [*where, each.form, each.temperature, each.max_tokens]

    jurors = [model(each) for each in judging.models]
    fallback = model(judging.fallback) if judging.fallback else None
    return [jurors, judging.aggregate, judging.quorum, judging.doubt, fallback]
