"""Who scores the rows of a shard: a reward in this process, or a version of a function.

    scorer = Here(spec, reward)
    scorer = Invoked(spec, DeployedFunction(arn))
    results = scorer(rows)

A version is asked for batches. What fails as a whole is halved until the row that breaks it stands
alone; that row is unscored, and the others are scored. Rows that a reply has no time for are asked
again as a batch of their own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from reward_functions.core.spec import RewardFunction, RewardSpec
    from reward_functions.scoring.results import RowResult
    from reward_functions.scoring.rows import Unread

BATCH_ROWS: Final = 500
"""Rows of a batch, at most."""

BATCH_BYTES: Final = 5 << 20
"""Bytes of a batch; a synchronous invocation takes 6 MB."""


class Scorer(Protocol):
    """Scores batches of rows. Safe to use from many threads."""

    calls: int
    """Invocations so far."""

    def __call__(self, rows: Sequence[Unread]) -> list[RowResult]:
        """The results of a batch: one a row, in order, with the row's id.

        A row that cannot be scored has a result that says why. Whatever stands in a row, no
        exception is about it.

        Args:
            rows: `BATCH_ROWS` at most, of `BATCH_BYTES` at most unless it is one row.

        Raises:
            AwsFailed: the function is gone, may not be invoked, or is throttled for too long.
            ConfigurationError: the reward's code asked for the end of the process.
        """


class Here:
    """A reward in this process.

    Args:
        spec: the reward.
        reward: with its parameters.
    """

    def __init__(self, spec: RewardSpec, reward: RewardFunction) -> None:
        self.calls = 0
        self._spec = spec
        self._reward = reward

    def __call__(self, rows: Sequence[Unread]) -> list[RowResult]:
        """As `Scorer` says."""
        raise NotImplementedError


class Invoked:
    """A version of a function, ours or another's.

    Args:
        spec: of the reward that it serves.
        invoke: sends an event, and returns the bytes of the answer. Raises `FunctionError` where
            the function failed, and `AwsFailed` where it was not asked; `throttled` ones are tried
            again. `DeployedFunction.invoke` with its body is one.
        sleep: waits between attempts.
    """

    def __init__(
        self,
        spec: RewardSpec,
        invoke: Callable[[Any], bytes],
        *,
        sleep: Callable[[float], object] | None = None,
    ) -> None:
        self.calls = 0
        self._spec = spec
        self._invoke = invoke
        self._sleep = sleep

    def __call__(self, rows: Sequence[Unread]) -> list[RowResult]:
        """As `Scorer` says."""
        raise NotImplementedError
