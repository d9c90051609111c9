"""Accidents of a service and of its network, by a plan that is the same in every run.

| kind | what happens |
| --- | --- |
| `throttle` | 429 ThrottlingException with Retry-After; nothing is done |
| `error` | 500 InternalServiceError; nothing is done |
| `expired` | 403 ExpiredTokenException: the credential is to be made again; nothing is done |
| `slow` | the answer comes after `slow_seconds` |
| `dropped_before` | the connection closes without an answer; nothing is done |
| `dropped_after` | it is done, and the connection closes without an answer |
| `duplicate` | the request arrives twice, as of a proxy that retries; the second answer is sent |

The accident of a call is a function of the seed, the trajectory, the operation and the number of
the attempt, and of nothing else. So the order of threads changes nothing. `most` calls in a row
fail at most, so that a client of three attempts, as boto3's and OpenAI's are, gets through.
`expired` never comes twice in a row, as a credential that was just made is good.

Every kind can happen to every operation. Clients of OpenAI do not send a 403 again: for a rollout
that is to survive, write `sample.expired=0`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from hashlib import sha256
from math import isfinite
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from reward_functions.core.errors import ConfigurationError
from reward_functions.core.suggest import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Mapping

KINDS: Final = (
    *("throttle", "error", "expired", "slow"),
    *("dropped_before", "dropped_after", "duplicate"),
)
FAILING: Final = frozenset(KINDS) - {"slow", "duplicate"}
"""Those after which the client has no answer to its call."""

OPERATIONS: Final = ("sample", "complete", "reward")

NUMBERS: Final = {"slow_seconds": 600.0, "retry_after": 600.0, "most": 1000.0}
"""Settings beside the shares, and their maximum."""

EVERY: Final = "every"


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultPlan:
    """The calls that meet with an accident.

    Args:
        shares: by kind, or by "operation.kind" for one operation alone, which counts instead; each
            from 0 to 1, and those of an operation 1 at most in all.
        seed: another one, other calls.
        slow_seconds: how long a slow answer takes.
        retry_after: seconds that a throttled client is asked to wait.
        most: calls of one operation of one trajectory that fail in a row.

    Raises:
        ConfigurationError: an unknown kind, or a number out of its range.
    """

    shares: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    seed: int = 0
    slow_seconds: float = 0.5
    retry_after: float = 1.0
    most: int = 2

    def __post_init__(self) -> None:
        for name, share in self.shares.items():
            _require_known(name)
            if not 0 <= share <= 1:
                raise ConfigurationError(f"faults: the share of {name} is not a number from 0 to 1")
        for name, largest in NUMBERS.items():
            if not 0 <= getattr(self, name) <= largest:
                raise ConfigurationError(f"faults: {name} is not a number from 0 to {largest:g}")
        for operation in OPERATIONS:
            if sum(self._shares(operation).values()) > 1 + 1e-9:
                raise ConfigurationError(f"faults: the shares of {operation} sum to more than 1")

    @classmethod
    def parse(cls, text: str, *, seed: int = 0) -> FaultPlan:
        """The plan of a text such as "throttle=0.1,reward.dropped_after=0.2,slow_seconds=1".

        `every=0.1` gives each kind that share.

        Raises:
            ConfigurationError: it is no plan. The message names the part.
        """
        shares: dict[str, float] = {}
        numbers: dict[str, float] = {}
        for part in filter(None, map(str.strip, text.split(","))):
            name, _, value = (each.strip() for each in part.partition("="))
            if name not in {EVERY, *NUMBERS}:
                _require_known(name)
            number = _number(name, value)
            if name == EVERY:
                shares = dict.fromkeys(KINDS, number) | shares
            elif name in NUMBERS:
                numbers[name] = number
            else:
                shares[name] = number
        most = int(numbers.pop("most", cls(seed=seed).most))
        return cls(shares=shares, seed=seed, most=most, **numbers)

    def __str__(self) -> str:
        """As `parse` reads it, without the seed."""
        shares = {name: share for name, share in self.shares.items() if share}
        numbers = {name: getattr(self, name) for name in NUMBERS} if shares else {}
        return ",".join(f"{name}={value:g}" for name, value in (shares | numbers).items())

    def fault(self, trajectory_id: str, operation: str, attempt: int, previous: Previous) -> str:
        """The accident of a call; "" for none.

        Args:
            trajectory_id: whose call it is.
            operation: of `OPERATIONS`.
            attempt: of that operation for that trajectory, from 0.
            previous: what became of the calls before it.
        """
        key = f"{self.seed}\0{trajectory_id}\0{operation}\0{attempt}"
        drawn = int.from_bytes(sha256(key.encode("utf-8", "surrogatepass")).digest()[:8]) / 2**64
        kind = ""
        for name, share in self._shares(operation).items():
            drawn -= share
            if drawn < 0:
                kind = name
                break
        spared = previous.failed >= self.most or previous.kind == kind == "expired"
        return "" if kind in FAILING and spared else kind

    def _shares(self, operation: str) -> dict[str, float]:
        """By kind, in the order of `KINDS`."""
        common = {kind: self.shares.get(kind, 0.0) for kind in KINDS}
        return {kind: self.shares.get(f"{operation}.{kind}", common[kind]) for kind in KINDS}


@dataclass(frozen=True, slots=True)
class Previous:
    """The outcomes of the calls before.

    Args:
        failed: how many in a row.
        kind: the accident of the last one; "" for none.
    """

    failed: int = 0
    kind: str = ""

    def then(self, kind: str) -> Previous:
        """With one more call."""
        return Previous(self.failed + 1 if kind in FAILING else 0, kind)


NO_FAULTS: Final = FaultPlan()


def _require_known(name: str) -> None:
    operation, _, kind = name.rpartition(".")
    if operation and operation not in OPERATIONS:
        known = did_you_mean(operation, OPERATIONS)
        raise ConfigurationError(f"faults: no operation {operation[:64]!r}{known}")
    if kind not in KINDS:
        raise ConfigurationError(f"faults: no kind {kind[:64]!r}{did_you_mean(kind, KINDS)}")


def _number(name: str, value: str) -> float:
    try:
        number = float(value)
    except ValueError:
        number = -1.0
    if not isfinite(number) or number < 0:
        raise ConfigurationError(f"faults: {name} is not a number from 0 on: {value[:64]!r}")
    return number
