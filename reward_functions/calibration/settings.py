"""The judge settings of a command: a TOML or JSON file, one JSON object, or recorded answers.

    [[models]]
    model = "anthropic.claude-haiku-4-5"
    region = "us-east-1"

The object is the one that a deployed function has in `REWARD_JUDGE`.

The settings to begin with, by where a model is served: what docs/judges.md shows first.

Each is a whole TOML file, whose comments say what to change.
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
    return _validated(_object(source), _where(source))


def require_judge(spec: RewardSpec) -> RewardSpec:
    """The reward, checked to be a judge.

    Raises:
        ConfigurationError: it asks no judge model.
    """
    if not spec.needs.judge:
        raise ConfigurationError(
            f"{spec.name} asks no judge model: it computes. `reward check {spec.name}` tests it"
        )
    return spec


def _inline(source: str) -> bool:
    return source.lstrip().startswith("{")


def _object(source: str) -> Any:
    text = source if _inline(source) else _text(source)
    try:
        return tomllib.loads(text) if source.endswith(".toml") else json.loads(text)
    except (ValueError, RecursionError) as error:  # both decoders' errors are of this kind
        raise BadJudge(f"{_where(source)}: {error}") from None


def _where(source: str) -> str:
    return "the judge's settings" if _inline(source) else source


def _text(file: str) -> str:
    try:
        return Path(file).read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise BadJudge(f"{file}: not UTF-8") from None


def _validated(settings: Any, where: str) -> JudgeConfig:
    try:
        return config_of(settings)
    except BadJudge as error:
        raise BadJudge(f"{where}: {error}") from None


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


STARTS: Final = {
    "bedrock": """\
# Amazon Bedrock, asked with your AWS credentials.
[[models]]
model = "amazon.nova-lite-v1:0"
region = "us-east-1"
""",
    "vllm": """\
# vLLM or SGLang: vllm serve Qwen/Qwen3-8B --port 8000
prices = {"Qwen/Qwen3-8B" = [0.0, 0.0]}    # dollars of a million tokens, read and written

[[models]]
backend = "openai"
endpoint = "http://localhost:8000/v1"      # up to and with /v1
model = "Qwen/Qwen3-8B"                    # the name that the server knows
""",
    "openai": """\
# OpenAI, or LiteLLM and others with its API. The key stays in the environment.
[[models]]
backend = "openai"
endpoint = "https://api.openai.com/v1"     # LiteLLM: http://localhost:4000/v1
model = "gpt-4o-mini"
key = "env:OPENAI_API_KEY"                 # the name of the variable, and never the key
""",
    "ollama": """\
# Ollama: ollama pull qwen3:8b
prices = {"qwen3:8b" = [0.0, 0.0]}         # dollars of a million tokens, read and written

[[models]]
backend = "openai"
endpoint = "http://localhost:11434/v1"
model = "qwen3:8b"
timeout = 300.0                            # seconds of one call: the first one loads the model
""",
}
"""Files by the name of what serves the model."""


def settings_for(kind: str) -> str:
    """The file of a kind of `STARTS`."""
    return STARTS[kind]
