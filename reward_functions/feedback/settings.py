"""The settings of a stage's feedback path: written at deployment, read by its function.

An ARN has no qualifier; one that ends in `--*` names the functions of an immutable deployment, one
for each digest. Their common part is written once: Lambda takes 4 KB of variables.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from os.path import commonprefix
from typing import Any, ClassVar, Final

from reward_functions.core.settings import EnvSettings, SettingKind, json_in, setting

GENERATIONS: Final = "--*"
"""How the ARN of an immutable deployment's functions ends."""

FUNCTION: Final = re.compile(
    r"arn:aws[a-z-]*:lambda:[a-z0-9-]+:[0-9]{12}:function:[A-Za-z0-9_-]{1,62}(?:--\*)?"
)

MOST_RECEIVES: Final = 1000
"""Of a queue's redrive policy (`maxReceiveCount`, "SetQueueAttributes" in SQS's API reference)."""


def _filled(value: str) -> str:
    if not value:
        raise ValueError("is empty")
    return value


def _several(value: tuple[str, ...]) -> tuple[str, ...]:
    if not value:
        raise ValueError("names nothing")
    return value


def _arns(value: tuple[str, ...]) -> tuple[str, ...]:
    wrong = next((arn for arn in value if not FUNCTION.fullmatch(arn)), None)
    if wrong is not None:
        raise ValueError(f"holds {wrong[:256]!r}, which is no function's ARN without a qualifier")
    return _several(value)


def _receives(value: int) -> int:
    if not 1 <= value <= MOST_RECEIVES:
        raise ValueError(f"is not from 1 to {MOST_RECEIVES:,}")
    return value


def _strings(found: Any) -> tuple[str, ...]:
    if not isinstance(found, list) or not all(isinstance(each, str) and each for each in found):
        raise ValueError("is not a JSON list of strings")
    return tuple(found)


def _joined(text: str) -> tuple[str, ...]:
    """A JSON object of lists: the ARNs that begin with its names."""
    found = json_in(text)
    if isinstance(found, dict):
        return tuple(begin + end for begin, ends in found.items() for end in _strings(ends))
    raise ValueError("is not a JSON object of lists")


def _begun(functions: tuple[str, ...]) -> str:
    """ARNs, what all begin with written once: it ends in a colon or a hyphen."""
    shared = re.sub("[^:-]*$", "", commonprefix(functions))  # noqa: RUF071 - they are no paths
    ends = [arn.removeprefix(shared) for arn in functions]
    return json.dumps({shared: ends}, separators=(",", ":"))


def _whole(text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,9}", text):
        raise ValueError("is not a whole number")
    return int(text)


FILLED: Final = SettingKind("string", _filled)
NAMES: Final = SettingKind("JSON list", _several, lambda text: _strings(json_in(text)))
ARNS: Final = SettingKind("JSON object of lists", _arns, _joined, _begun)
RECEIVES: Final = SettingKind("whole number, 1 to 1,000", _receives, _whole)


@dataclass(frozen=True, kw_only=True)
class FeedbackSettings(EnvSettings):
    """How one stage's deferred rewards are scored and reported.

    Raises:
        ConfigurationError: a value is missing or wrong. The message names the variable.
    """

    PREFIX: ClassVar = "FEEDBACK_"
    UNKNOWN: ClassVar = "is no setting"
    UNSET: ClassVar = "is not set"

    stage: str = field(metadata=setting(FILLED))
    """The stage."""

    functions: tuple[str, ...] = field(metadata=setting(ARNS))
    """How ARNs of the stage's rewards begin, and their ends."""

    buckets: tuple[str, ...] = field(metadata=setting(NAMES))
    """Buckets whose results are read."""

    queue: str = field(metadata=setting(FILLED))
    """URL of the queue that announces results, where a message waits."""

    dead_letters: str = field(metadata=setting(FILLED))
    """URL of the queue for what cannot be reported."""

    outbox: str = field(metadata=setting(FILLED))
    """Where reports are durable, `dynamodb://TABLE?region=REGION`."""

    endpoint: str = ""
    """Of the job runtime; AWS's own if empty."""

    receives: int = field(default=3, metadata=setting(RECEIVES))
    """How often a message is received; the queue's redrive policy says the same."""

    namespace: str = field(default="RewardFunctions", metadata=setting(FILLED))
    """CloudWatch's namespace of metrics."""
