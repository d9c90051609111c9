"""A trajectory of the double: its turns, its state, and every report of it that arrived.

    PENDING ──complete(ready)──→ READY ──reward──→ REWARD_RECEIVED
       └──────complete(failed)─→ FAILED

A trajectory here is a picture of the moment: it does not change when the service goes on.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias

State: TypeAlias = Literal["PENDING", "READY", "REWARD_RECEIVED", "FAILED"]
STATES: Final[tuple[State, ...]] = ("PENDING", "READY", "REWARD_RECEIVED", "FAILED")
FINISHED: Final[frozenset[State]] = frozenset({"REWARD_RECEIVED", "FAILED"})

Ended: TypeAlias = Literal["taken", "replayed", "refused", "not done"]
"""Of a report: it has changed the state; it had been taken before, by its token; its state, token
or rewards did not allow it; an accident came first."""

Key: TypeAlias = tuple[str, str]
"""Job and trajectory: the ids of other jobs may be the same."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One policy call that was recorded.

    Args:
        number: from 0, once it is recorded.
        request: as it came; empty where it has given way to later ones.
        response: the assistant's message as JSON; likewise.
        prompt_tokens: an estimate, or the count of the model behind the double.
        completion_tokens: likewise.
        tool_calls: in the response.
        span_id: of the alpha API's header; "" without one.
        streamed: whether it was answered in pieces.
    """

    number: int = 0
    request: bytes = field(default=b"", repr=False)
    response: bytes = field(default=b"", repr=False)
    prompt_tokens: int = 0
    completion_tokens: int = 0
    tool_calls: int = 0
    span_id: str = ""
    streamed: bool = False

    def json(self, *, request: bool = True, response: bool = True) -> dict[str, Any]:
        """For the controls of the double, with its texts or without."""
        return {
            "number": self.number,
            "request": json.loads((request and self.request) or b"null"),
            "response": json.loads((response and self.response) or b"null"),
            "prompt_tokens": self.prompt_tokens,
            "completion_tokens": self.completion_tokens,
            "tool_calls": self.tool_calls,
            "span_id": self.span_id,
            "streamed": self.streamed,
        }


@dataclass(frozen=True, slots=True)
class Delivery:
    """One report that arrived, whatever became of it.

    Args:
        operation: "complete" or "reward".
        token: of the client; "" for none.
        body: what it says: {"Status": …} or {"Rewards": […]}.
        status: of HTTP that the service decided on, also where no answer was sent; 0 where it
            decided on none.
        ended: what became of it.
        fault: the accident that it met with; "" for none.
        credential: "sigv4" or "bearer".
        at: seconds since the epoch.
    """

    operation: str
    token: str
    body: dict[str, Any]
    status: int
    ended: Ended
    fault: str
    credential: str
    at: float

    def json(self) -> dict[str, Any]:
        """For the controls of the double."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True)
class Trajectory:
    """A trajectory, as it is now.

    Args:
        job_arn: of its job.
        trajectory_id: in the job.
        state: of `STATES`.
        turns: that were recorded.
        rewards: that were counted; None before.
        deliveries: reports, in the order in which they arrived; the first thousand.
        began: when it was made, in seconds since the epoch.
    """

    job_arn: str
    trajectory_id: str
    state: State
    turns: tuple[Turn, ...]
    rewards: tuple[float, ...] | None
    deliveries: tuple[Delivery, ...]
    began: float

    @property
    def finished(self) -> bool:
        """Whether nothing more is to come."""
        return self.state in FINISHED

    def taken(self, operation: str) -> int:
        """How many reports of an operation were counted: 1 at most, or the double is broken."""
        return sum(each.ended == "taken" for each in self.deliveries if each.operation == operation)

    def summary(self) -> dict[str, Any]:
        """For the controls of the double, without the texts."""
        return {
            "job_arn": self.job_arn,
            "trajectory_id": self.trajectory_id,
            "state": self.state,
            "turns": len(self.turns),
            "rewards": self.rewards,
            "deliveries": len(self.deliveries),
            "began": self.began,
        }

    def json(self, *, last: bool = False) -> dict[str, Any]:
        """All of it; of the texts the last response alone, where that is enough."""
        final = len(self.turns) - 1
        return self.summary() | {
            "turns": [
                turn.json(request=not last, response=not last or turn.number == final)
                for turn in self.turns
            ],
            "deliveries": [delivery.json() for delivery in self.deliveries],
        }
