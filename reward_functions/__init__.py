r"""Rewards for reinforcement fine-tuning that can be trusted.

    >>> from reward_functions import get
    >>> get("gsm8k")("6 × 7 = 42\\n#### 42", "42").value
    1.0

Start with `get` for a ready reward, with `reward_function` to write one, with `score_batch` to
score many. See `reward_functions.core.errors` for the rule everything follows: a low score means
the model did badly, an exception means we could not score.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from reward_functions.core.batch import score_batch
from reward_functions.core.errors import BadReference, BadSample, RewardError
from reward_functions.core.registry import get, specs
from reward_functions.core.spec import Example, Needs, RewardSpec, Scale, reward_function
from reward_functions.core.types import (
    Evidence,
    Message,
    Metric,
    RewardResult,
    Sample,
    Score,
    Scored,
    Unscored,
    sample,
)

if TYPE_CHECKING:
    from reward_functions.core.combine import cascade, clipped, gated, weighted

__all__ = [
    "BadReference",
    "BadSample",
    "Evidence",
    "Example",
    "Message",
    "Metric",
    "Needs",
    "RewardError",
    "RewardResult",
    "RewardSpec",
    "Sample",
    "Scale",
    "Score",
    "Scored",
    "Unscored",
    "cascade",
    "clipped",
    "gated",
    "get",
    "reward_function",
    "sample",
    "score_batch",
    "specs",
    "weighted",
]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.core.combine"), name)  # few processes combine rewards
