"""The judge settings of a command: a TOML or JSON file, one JSON object, or recorded answers.

    [[models]]
    model = "anthropic.claude-haiku-4-5"
    region = "us-east-1"

The object is the one that a deployed function has in `REWARD_JUDGE`. The files in `starts` are
what docs/judges.md shows first; their comments say what to change.
"""

from __future__ import annotations

import json
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from reward_functions.core.errors import BadJudge, ConfigurationError
from reward_functions.judge_runtime.config import JudgeConfig, JudgeModel
from reward_functions.judge_runtime.config_reading import config_of

if TYPE_CHECKING:
    from reward_functions.core.spec import RewardSpec


RECORDED: Final = "recorded"
"""The model id of recorded answers that name none."""


def load_judge_config(source: str | None, replay: str | None = None) -> JudgeConfig:
    """The settings of a judge.

    Args:
        source: a JSON object, or the path of a `.toml` or `.json` file.
        replay: a file of recorded answers, used in place of any model.

    Raises:
        BadJudge: no model is named, or the settings are invalid.
        OSError: the file cannot be read.
    """
    if replay is not None:
        return JudgeConfig(models=(JudgeModel(model=RECORDED, backend="replay", answers=replay),))
    if source is None:
        raise BadJudge(
            "no judge model is named, and none is the default: give --judge FILE, or set "
            "REWARD_JUDGE; `reward judge init -o judge.toml` writes such a file"
        )
    inline = source.lstrip().startswith("{")
    where = "the judge's settings" if inline else source
    try:
        text = source if inline else Path(source).read_text(encoding="utf-8")
        return config_of(tomllib.loads(text) if source.endswith(".toml") else json.loads(text))
    except UnicodeDecodeError:
        raise BadJudge(f"{where}: not UTF-8") from None
    except (BadJudge, ValueError, RecursionError) as error:  # ValueError: of both decoders
        raise BadJudge(f"{where}: {error}") from None


def require_judge(spec: RewardSpec) -> RewardSpec:
    """The reward, checked to be a judge.

    Raises:
        ConfigurationError: it asks no judge model.
    """
    if not spec.needs.judge:
        raise ConfigurationError(
            f"{spec.name} asks no judge model: it computes. `reward audit {spec.name}` tests it"
        )
    return spec


def without_cache(config: JudgeConfig) -> JudgeConfig:
    """The same settings without caches: every question reaches a model, and no table changes."""
    return replace(config, cache_size=0, cache_table="")


def fingerprint(config: JudgeConfig) -> list[Any]:
    """The settings that decide the answers, as JSON data; limits of time and money do not."""

    def model(each: JudgeModel) -> list[Any]:
        where = [each.backend, each.endpoint, each.called, each.answers]
        return [*where, each.output_mode, each.temperature, each.max_tokens]

    panel = [model(each) for each in config.models]
    fallback = model(config.fallback) if config.fallback else None
    return [panel, config.aggregate, config.min_votes, config.escalate, fallback]


def settings_for(kind: str) -> str:
    """The file to begin with, by what serves the model, such as "vllm"."""
    return (Path(__file__).parent / "starts" / f"{kind}.toml").read_text(encoding="utf-8")
