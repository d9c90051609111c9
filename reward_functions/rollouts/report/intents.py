"""The report of a rollout, with the token that lets the service count it once.

A rollout has at most two intents: that it is complete, and its rewards. Their tokens follow from
their content, so that a second sender, in any process, sends the same bytes.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final, Literal

if TYPE_CHECKING:
    from collections.abc import Sequence

Operation = Literal["complete", "reward"]
OPERATIONS: Final[tuple[Operation, ...]] = ("complete", "reward")
"""In the order in which the service takes them."""

OnFailure = Literal["failed", "minimum"]
"""What an episode that we could not run is reported as."""

State = Literal["pending", "delivered", "refused", "expired"]

TOKEN: Final = 32
"""Hexadecimal digits of a token: 128 bits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """Where a rollout is reported.

    Args:
        job_arn: of the job.
        trajectory_id: of the rollout in it.
        endpoint: of the job's runtime, checked before a credential goes there.
        region: that requests are signed for.
        transport: one of `transports.KINDS`.
    """

    job_arn: str
    trajectory_id: str
    endpoint: str
    region: str
    transport: str = "modelled"


@dataclass(frozen=True, kw_only=True)
class Intent:
    """One report of a rollout.

    Args:
        target: where it goes.
        operation: "complete" or "reward".
        payload: the status as {"Status": "ready"}, or the rewards as {"Rewards": [1.0]}.
        created: seconds since the epoch.
        expires: when the rollout's window closes, likewise.
        of_failed: whether it is the reward of a rollout that is reported as failed: nobody
            documents whether the service takes one.
    """

    target: Target
    operation: Operation
    payload: dict[str, Any]
    created: float
    expires: float
    of_failed: bool = False

    @property
    def key(self) -> tuple[str, str, str]:
        """The key of one intent."""
        return self.target.job_arn, self.target.trajectory_id, self.operation

    @cached_property
    def body(self) -> str:
        """The payload as JSON: the same bytes for the same payload."""
        return canonical(self.payload)

    @cached_property
    def token(self) -> str:
        """The idempotency token: a hash of job, trajectory, operation and payload."""
        return client_token(*self.key, self.body)


def canonical(payload: dict[str, Any]) -> str:
    """A payload as JSON: the same bytes for the same payload."""
    return json.dumps(payload, sort_keys=True, separators=(",", ":"), allow_nan=False)


def client_token(job_arn: str, trajectory_id: str, operation: str, body: str) -> str:
    """The idempotency token of a report: a function of what it says and of nothing else."""
    parts = json.dumps([job_arn, trajectory_id, operation, body])
    return sha256(parts.encode()).hexdigest()[:TOKEN]


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """An intent in an outbox.

    Args:
        intent: the report.
        state: "pending" until it is delivered, refused for good, or too late.
        attempts: how often it was sent.
        due: when it is sent next, in seconds since the epoch.
        outcome: the name of the last outcome's type; "" before the first.
        detail: of the last outcome.
    """

    intent: Intent
    state: State = "pending"
    attempts: int = 0
    due: float = 0.0
    outcome: str = ""
    detail: str = ""


def report(
    target: Target,
    *,
    created: float,
    expires: float,
    status: str | None = None,
    rewards: Sequence[float] | None = None,
    failed: bool = False,
) -> tuple[Intent, ...]:
    """The intents of a report: its completion, its rewards or both, in the service's order.

    Args:
        target: where it goes.
        created: seconds since the epoch.
        expires: when the rollout's window closes, likewise.
        status: "ready" or "failed"; None where only the rewards are reported.
        rewards: None where only the completion is.
        failed: whether the rollout was completed as failed before.
    """
    failed = failed or status == "failed"
    payloads: dict[Operation, dict[str, Any]] = {}
    if status is not None:
        payloads["complete"] = {"Status": status}
    if rewards is not None:
        payloads["reward"] = {"Rewards": list(rewards)}
    return tuple(
        Intent(
            target=target,
            operation=operation,
            payload=payload,
            created=created,
            expires=expires,
            of_failed=failed and operation == "reward",
        )
        for operation, payload in payloads.items()
    )
