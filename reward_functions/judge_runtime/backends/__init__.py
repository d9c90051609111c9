"""A model's settings made into something that can be asked.

A key is read here, once, and kept nowhere else.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from reward_functions.core.errors import BadJudge

if TYPE_CHECKING:
    from reward_functions.core.asking import Ask
    from reward_functions.judge_runtime.config import JudgeModel


def open_model(model: JudgeModel, connections: int) -> Ask:
    """The model, ready to be asked.

    Args:
        model: which, and where.
        connections: kept open at once.

    Raises:
        BadJudge: its key or its file of answers is not there.
    """
    if model.backend == "replay":
        from reward_functions.judge_runtime.backends.replay import Replay  # noqa: PLC0415 - what is not used

        return Replay(model.answers, model.model)
    if model.backend == "openai":
        from reward_functions.judge_runtime.backends.openai import OpenAI  # noqa: PLC0415 - is not loaded

        return OpenAI(model, _key(model), connections)
    from reward_functions.judge_runtime.backends.bedrock import Bedrock  # noqa: PLC0415 - at a cold start

    bedrock = Bedrock(model, connections)
    bedrock.warm()
    return bedrock


def _key(model: JudgeModel) -> str:
    if model.key.startswith("arn:"):
        from reward_functions.judge_runtime.backends.aws import secret  # noqa: PLC0415 - boto3

        return secret(model.key)
    name = model.key.removeprefix("env:")
    if not name:
        return ""
    if not os.environ.get(name):
        raise BadJudge(f"{model.model}: the environment variable {name} with its key is not set")
    return os.environ[name]
