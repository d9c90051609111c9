"""From a model's settings to an `Ask`, one backend a module.

API keys are read here, once, and stored nowhere else.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from reward_functions.core.errors import BadJudge

if TYPE_CHECKING:
    from reward_functions.core.asking import Ask
    from reward_functions.judge_runtime.config import JudgeModel


def open_model(model: JudgeModel, connections: int) -> Ask:
    """The model that an API serves.

    Args:
        model: its settings.
        connections: open at once, at most.

    Raises:
        BadJudge: there is no key, no file of recorded answers, or no region.
    """
    if model.backend == "replay":
        from reward_functions.judge_runtime.backends.replay import Replay  # noqa: PLC0415 - unused backends

        return Replay(model.answers, model.model)
    if model.backend == "openai":
        from reward_functions.judge_runtime.backends.openai import OpenAI  # noqa: PLC0415 - are not loaded

        return OpenAI(model, _key(model), connections)
    from reward_functions.judge_runtime.backends.bedrock import Bedrock  # noqa: PLC0415 - at a cold start

    bedrock = Bedrock(model, connections)
    bedrock.connect()
    return bedrock


def _key(model: JudgeModel) -> str:
    if model.key.startswith("arn:"):
        from reward_functions.judge_runtime.aws import secret  # noqa: PLC0415 - boto3

        return secret(model.key)
    name = model.key.removeprefix("env:")
    if not name:
        return ""
    if not os.environ.get(name):
        raise BadJudge(f"{model.model}: the environment variable that its key names is not set")
    return os.environ[name]
