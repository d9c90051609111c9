r"""Rewards for reinforcement fine-tuning that can be trusted.

    >>> from reward_functions import get, testing  # doctest: +SKIP
    >>> get("gsm8k")(testing.sample("6 × 7 = 42\n#### 42", reference="42")).value
    1.0

Start with `get` for a ready reward, with `reward_function` to write one, with `score_batch` to
score many. See `reward_functions.core.errors` for the rule everything follows: a low score means
the model did badly, an exception means we could not score.

Each public name is imported from its module when it is first used: the command line and the
deployment live in this package too, and `reward --help` needs none of them.
"""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING
from typing import Any as _Any

if TYPE_CHECKING:
    from reward_functions.core.batch import score_batch
    from reward_functions.core.combine import cascade, clipped, gated, weighted
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
    )

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
    "score_batch",
    "specs",
    "weighted",
]

_MODULES = {
    "batch": ("score_batch",),
    "combine": ("cascade", "clipped", "gated", "weighted"),
    "errors": ("BadReference", "BadSample", "RewardError"),
    "registry": ("get", "specs"),
    "spec": ("Example", "Needs", "RewardSpec", "Scale", "reward_function"),
    "types": (
        *("Evidence", "Message", "Metric", "RewardResult"),
        *("Sample", "Score", "Scored", "Unscored"),
    ),
}
_HOMES = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> _Any:
    """A public name, imported when it is first used, and kept."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(_import_module(f"{__name__}.core.{_HOMES[name]}"), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
