"""The settings of a stage's feedback path: written at deployment, read by its function.

Each field is an environment variable, `FEEDBACK_` and the field's name in capitals. `from_env` and
`to_env` are inverse to each other, and an unknown variable with that prefix is an error.

| variable | holds |
| --- | --- |
| `FEEDBACK_STAGE` | the stage |
| `FEEDBACK_FUNCTIONS` | a JSON object: how ARNs of the stage's rewards begin, and their ends |
| `FEEDBACK_BUCKETS` | a JSON list: buckets whose results are read |
| `FEEDBACK_QUEUE` | the URL of the queue that announces results |
| `FEEDBACK_DEAD_LETTERS` | the URL of the queue for what cannot be reported |
| `FEEDBACK_OUTBOX` | where reports are durable, `dynamodb://TABLE?region=REGION` |
| `FEEDBACK_ENDPOINT` | of the job runtime, where it is not AWS's own |
| `FEEDBACK_RECEIVES` | how often a message is received before it is a dead letter |
| `FEEDBACK_NAMESPACE` | of the metrics |

An ARN has no qualifier; one that ends in `--*` names the functions of an immutable deployment, one
for each digest. What they share is written once: Lambda takes 4 KB of variables.
"""

from __future__ import annotations

import json
import re
from dataclasses import MISSING, asdict, dataclass, fields
from os.path import commonprefix
from typing import TYPE_CHECKING, Any, Final, Self

from reward_functions.core.errors import ConfigurationError
from reward_functions.core.suggest import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

PREFIX: Final = "FEEDBACK_"

GENERATIONS: Final = "--*"
"""How the ARN of an immutable deployment's functions ends."""

FUNCTION: Final = re.compile(
    r"arn:aws[a-z-]*:lambda:[a-z0-9-]+:[0-9]{12}:function:[A-Za-z0-9_-]{1,62}(?:--\*)?"
)

MOST_RECEIVES: Final = 1000
"""Of a queue's redrive policy (`maxReceiveCount`, "SetQueueAttributes" in SQS's API reference)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedbackSettings:
    """How one stage's deferred rewards are scored and reported.

    Args:
        stage: its name.
        functions: ARNs of the stage's rewards, without a qualifier.
        buckets: whose results are read.
        queue: URL of the queue that announces results, where a message waits for its next attempt.
        dead_letters: URL of a queue.
        outbox: URL of a table: `dynamodb://TABLE?region=REGION`.
        endpoint: of the job runtime; "" for AWS's own.
        receives: of a message, 1 to 1,000; the queue's redrive policy has the same number.
        namespace: of the metrics.

    Raises:
        ConfigurationError: a value is missing or wrong. The message names the variable.
    """

    stage: str
    functions: tuple[str, ...]
    buckets: tuple[str, ...]
    queue: str
    dead_letters: str
    outbox: str
    endpoint: str = ""
    receives: int = 3
    namespace: str = "RewardFunctions"

    def __post_init__(self) -> None:
        for name in ("stage", "queue", "dead_letters", "outbox", "namespace"):
            if not getattr(self, name):
                raise ConfigurationError(f"{_variable(name)} is empty")
        for name in ("functions", "buckets"):
            if not getattr(self, name):
                raise ConfigurationError(f"{_variable(name)} names nothing")
        wrong = next((arn for arn in self.functions if not FUNCTION.fullmatch(arn)), None)
        if wrong is not None:
            raise ConfigurationError(
                f"{_variable('functions')} holds {wrong[:256]!r}, which is no function's ARN "
                "without a qualifier"
            )
        if not 1 <= self.receives <= MOST_RECEIVES:
            raise ConfigurationError(f"{_variable('receives')} is not from 1 to {MOST_RECEIVES:,}")

    @classmethod
    def from_env(cls, environ: Mapping[str, str]) -> Self:
        """The settings of the variables.

        Raises:
            ConfigurationError: a variable is missing, unknown or wrong. The message names it.
        """
        known = {_variable(field.name): field for field in fields(cls)}
        for name in sorted(environ):
            if name.startswith(PREFIX) and name not in known:
                raise ConfigurationError(f"{name} is no setting{did_you_mean(name, tuple(known))}")
        for name, field in known.items():
            if field.default is MISSING and name not in environ:
                raise ConfigurationError(f"{name} is not set")
        given = {field.name: environ[name] for name, field in known.items() if name in environ}
        return cls(**{name: READ.get(name, str)(text) for name, text in given.items()})

    def to_env(self) -> dict[str, str]:
        """The variables of the settings; those that are "" are left out."""
        written = {name: WRITTEN.get(name, str)(value) for name, value in asdict(self).items()}
        return {_variable(name): text for name, text in written.items() if text}


def _variable(name: str) -> str:
    return PREFIX + name.upper()


def _names(variable: str, text: str) -> tuple[str, ...]:
    """A JSON list of strings."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = None
    return _strings(variable, found)


def _strings(variable: str, found: Any) -> tuple[str, ...]:
    if not isinstance(found, list) or not all(isinstance(each, str) and each for each in found):
        raise ConfigurationError(f"{variable} is not a JSON list of strings")
    return tuple(found)


def _begun(functions: tuple[str, ...]) -> str:
    """ARNs, what all begin with written once: it ends in a colon or a hyphen."""
    shared = re.sub("[^:-]*$", "", commonprefix(functions))  # noqa: RUF071 - they are no paths
    ends = [arn.removeprefix(shared) for arn in functions]
    return json.dumps({shared: ends}, separators=(",", ":"))


def _functions(variable: str, text: str) -> tuple[str, ...]:
    """A JSON object of lists: the ARNs that begin with its names."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise ConfigurationError(f"{variable} is not a JSON object of lists")
    return tuple(begin + end for begin, ends in found.items() for end in _strings(variable, ends))


def _whole(variable: str, text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,9}", text):
        raise ConfigurationError(f"{variable} is not a whole number")
    return int(text)


READ: Final[dict[str, Callable[[str], Any]]] = {
    "functions": lambda text: _functions(_variable("functions"), text),
    "buckets": lambda text: _names(_variable("buckets"), text),
    "receives": lambda text: _whole(_variable("receives"), text),
}
"""How a variable is read that is no plain string."""

WRITTEN: Final[dict[str, Callable[[Any], str]]] = {"functions": _begun, "buckets": json.dumps}
"""How a setting is written whose text is no variable."""
