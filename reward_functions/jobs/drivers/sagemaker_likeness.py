"""Whether the job that has a name is the one that is asked for.

Names are tokens: who starts a job again meets its name. What counts is what a model is made of;
tags, the app for figures and the limit of time do not.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from reward_functions.jobs.drivers.fields import text, within

if TYPE_CHECKING:
    from collections.abc import Mapping

COMPARED: Final = {
    "the model": ("ServerlessJobConfig", "BaseModelArn"),
    "the technique": ("ServerlessJobConfig", "CustomizationTechnique"),
    "the adapters": ("ServerlessJobConfig", "Peft"),
    "the sequence length": ("ServerlessJobConfig", "SequenceLength"),
    "the evaluator": ("ServerlessJobConfig", "EvaluatorArn"),
    "the output": ("OutputDataConfig", "S3OutputPath"),
}
"""What makes two requests of one name the same job, and where it stands in request and answer."""


def differences(asked: Mapping[str, Any], found: Mapping[str, Any]) -> list[str]:
    """In what a job differs from what is asked for.

    Args:
        asked: the arguments of `CreateTrainingJob`.
        found: what `DescribeTrainingJob` answers.

    Returns:
        the parts, in words; none for the same job.
    """
    different = [
        name
        for name, path in COMPARED.items()
        if _plain(within(asked, *path)) != _plain(within(found, *path))
    ]
    if _data(asked) != _data(found):
        different.append("the data")
    wanted, chosen = asked["HyperParameters"], found.get("HyperParameters")
    if any(within(chosen, name) != value for name, value in wanted.items()):
        different.append("the hyperparameters")
    return different


def _plain(value: Any) -> str:
    """A value to compare: without a slash at its end, or the version that a service added."""
    whole = text(value).rstrip("/")
    return re.sub(r"(:hub-content/SageMakerPublicHub/Model/[a-zA-Z0-9-]+)/[0-9.]+\Z", r"\1", whole)


def _data(request: Mapping[str, Any]) -> list[tuple[str, str]]:
    channels = request.get("InputDataConfig")
    return sorted(
        (
            text(within(each, "ChannelName")),
            text(within(each, "DataSource", "S3DataSource", "S3Uri")),
        )
        for each in (channels if isinstance(channels, list) else ())
    )
