"""Accidents by a plan that is the same in every run.

| kind | what happens |
| --- | --- |
| `throttle` | 429 ThrottlingException; nothing is done |
| `conflict` | 409 RetryableConflictException; nothing is done |
| `error` | 500; nothing is done |
| `forbidden` | 403; nothing is done |
| `slow` | the answer comes after `slow_seconds` |
| `dropped` | it is done, and the connection closes without an answer |

Operations are `invoke`, `stop`, `head` and `get`. Which accident a call has is a function of the
seed, the session or key, the operation and the number of the attempt; `most` in a row fail at most.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from hashlib import sha256
from threading import Lock
from typing import TYPE_CHECKING, Final

from reward_functions.core.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Mapping

KINDS: Final = ("throttle", "conflict", "error", "forbidden", "slow", "dropped")
OPERATIONS: Final = ("invoke", "stop", "head", "get")


@dataclass(frozen=True, slots=True)
class Faults:
    """Which calls meet with an accident.

    Args:
        shares: by "operation.kind", each from 0 to 1.
        seed: another one, other calls.
        slow_seconds: how long a slow answer takes.
        most: calls of one operation of one session that fail in a row.

    Raises:
        ConfigurationError: an unknown operation or kind, or a share out of its range.
    """

    shares: Mapping[str, float] = field(default_factory=dict)
    seed: int = 0
    slow_seconds: float = 0.2
    most: int = 2
    _rows: Counter[str] = field(default_factory=Counter, init=False, repr=False)
    _attempts: Counter[str] = field(default_factory=Counter, init=False, repr=False)
    _lock: Lock = field(default_factory=Lock, init=False, repr=False)

    def __post_init__(self) -> None:
        for name, share in self.shares.items():
            operation, _, kind = name.partition(".")
            if operation not in OPERATIONS or kind not in KINDS or not 0 <= share <= 1:
                raise ConfigurationError(f"faults: {name[:64]!r} is no share of an accident")

    def next(self, operation: str, whose: str) -> str:
        """The accident of the next call; "" for none."""
        call = f"{operation}\0{whose}"
        with self._lock:
            attempt = self._attempts[call]
            self._attempts[call] += 1
            digest = sha256(f"{self.seed}\0{call}\0{attempt}".encode()).digest()
            drawn = int.from_bytes(digest[:8]) / 2**64
            for kind in KINDS:
                drawn -= self.shares.get(f"{operation}.{kind}", 0.0)
                if drawn < 0 and (kind == "slow" or self._rows[call] < self.most):
                    self._rows[call] += kind != "slow"
                    return kind
            self._rows[call] = 0
        return ""
