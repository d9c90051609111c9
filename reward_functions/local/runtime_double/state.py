"""The trajectories of a double, and the rules by which reports change them.

    PENDING ──complete(ready)──→ READY ──reward──→ REWARD_RECEIVED
       └──────complete(failed)─→ FAILED

| operation | in PENDING | in READY | in REWARD_RECEIVED | in FAILED |
| --- | --- | --- | --- | --- |
| a policy call | PENDING | refused | refused | refused |
| complete(ready) | READY | refused | refused | refused |
| complete(failed) | FAILED | refused | refused | refused |
| reward | refused | REWARD_RECEIVED | refused | refused, or FAILED by a setting |

Before the table, the token: one that was taken before, with the same body, changes nothing and is
answered as it was the first time; with another body it is refused.

Source: the model of botocore's `sagemakerjobruntime`; the states of aws-rft-sdk.

The texts of the latest turns are kept, so many bytes of all trajectories: you read the response of
a rollout's last turn. The numbers of older turns stay.

How a double behaves where nobody knows how the service does:

| setting | meaning | what is known |
| --- | --- | --- |
| `reward_after_failed` | `conflict` or `accept` | sagemaker.train.rft sends one |
| `lengths` | `any`, or `turns`: as many rewards as turns | the model says so; its SDK sends one |
| `empty` | `accept` or `refuse` a completion without a turn | one project lost a job to it |
| `open` | whether a trajectory is made by its first call | the trainer makes them |
"""

from __future__ import annotations

import json
from collections import Counter, deque
from dataclasses import KW_ONLY, asdict, dataclass, field, replace
from hashlib import sha256
from threading import Condition
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from reward_functions.local.loopback_service.server import Refused, conflict, invalid, missing
from reward_functions.local.runtime_double.faults import NO_FAULTS, FaultPlan, Previous
from reward_functions.local.runtime_double.policies import CalculatorPolicy

if TYPE_CHECKING:
    import builtins
    from collections.abc import Callable

    from reward_functions.local.runtime_double.chat import Policy


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
        prompt_tokens: an estimate, or the count of the model that the double asks.
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
        return asdict(self) | {
            "request": json.loads((request and self.request) or b"null"),
            "response": json.loads((response and self.response) or b"null"),
        }


@dataclass(frozen=True, slots=True)
class Delivery:
    """One report that arrived, with any outcome.

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


@dataclass(slots=True)
class Trajectory:
    """A trajectory: the double's own, or a picture of it as it is now.

    Args:
        job_arn: of its job.
        trajectory_id: in the job.
        began: when it was made, in seconds since the epoch.
        state: of `STATES`.
        turns: that were recorded.
        rewards: that were counted; None before.
        deliveries: reports, in the order in which they arrived.
        attempts: calls of each operation.
        previous: the accidents of each operation.
    """

    job_arn: str
    trajectory_id: str
    began: float
    state: State = "PENDING"
    turns: list[Turn] = field(default_factory=list)
    rewards: tuple[float, ...] | None = None
    deliveries: list[Delivery] = field(default_factory=list)
    attempts: Counter[str] = field(default_factory=Counter)
    previous: dict[str, Previous] = field(default_factory=dict)

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


@dataclass(frozen=True, slots=True)
class RuntimeSettings:
    """How a double behaves.

    Args:
        policy: answers the calls of agents.
        faults: the accidents that they meet with.
        open: as the table of this module has it, with the three below.
        reward_after_failed: likewise.
        lengths: likewise.
        empty: likewise.
        trajectories: how many there may be; one more is refused with 402.
        text_bytes: of requests and responses that are kept; of older turns only the numbers are.
    """

    policy: Policy = field(default_factory=CalculatorPolicy)
    faults: FaultPlan = NO_FAULTS
    _: KW_ONLY
    open: bool = False
    reward_after_failed: Literal["conflict", "accept"] = "conflict"
    lengths: Literal["any", "turns"] = "any"
    empty: Literal["accept", "refuse"] = "accept"
    trajectories: int = 100_000
    text_bytes: int = 64 * 1024 * 1024


class KeptTexts:
    """The kept texts of turns; under their owner's lock.

    Args:
        most: bytes of all of them.
    """

    def __init__(self, most: int) -> None:
        self._most, self._used = most, 0
        self._places: deque[tuple[list[Turn], int]] = deque()

    def append(self, turns: list[Turn], turn: Turn) -> None:
        """Add a turn to those of its trajectory, with its texts unless they alone are too large."""
        if _size(turn) > self._most:
            turn = _without_texts(turn)
        while self._used + _size(turn) > self._most:
            self._give_way()
        self._used += _size(turn)
        self._places.append((turns, len(turns)))
        turns.append(turn)

    def _give_way(self) -> None:
        turns, number = self._places.popleft()
        self._used -= _size(turns[number])
        turns[number] = _without_texts(turns[number])


def _size(turn: Turn) -> int:
    return len(turn.request) + len(turn.response)


def _without_texts(turn: Turn) -> Turn:
    return replace(turn, request=b"", response=b"")


TRANSITIONS: Final[dict[tuple[str, State], State]] = {
    ("sample", "PENDING"): "PENDING",
    ("ready", "PENDING"): "READY",
    ("failed", "PENDING"): "FAILED",
    ("reward", "READY"): "REWARD_RECEIVED",
}
"""What is not here is refused."""


@dataclass(frozen=True, slots=True)
class Report:
    """A report that arrived.

    Args:
        operation: "complete" or "reward".
        body: what it says.
        token: of the client; "" for none.
        credential: "sigv4" or "bearer".
    """

    operation: str
    body: dict[str, Any]
    token: str
    credential: str

    @property
    def event(self) -> str:
        """Its event in the table of states."""
        return self.body["Status"] if self.operation == "complete" else self.operation


TURNS: Final = 10_000
"""Of one trajectory; one more is refused with 402: an agent may never come to an end."""


class Trajectories:
    """All trajectories of a double; used from many threads.

    Args:
        settings: of the double. Its faults may be replaced while it runs: `faults`.
        clock: seconds since the epoch.
    """

    def __init__(self, settings: RuntimeSettings, clock: Callable[[], float]) -> None:
        self._settings, self._clock = settings, clock
        self.faults = settings.faults
        self._changed = Condition()
        self._records: dict[Key, Trajectory] = {}
        self._tokens: dict[tuple[str, str, str], str] = {}
        self._texts = KeptTexts(settings.text_bytes)
        self._counts: Counter[tuple[str, str]] = Counter()

    def register(self, key: Key) -> None:
        """Make a trajectory, as the trainer does before a rollout; a second call makes nothing.

        Raises:
            Refused: it holds as many as it may.
        """
        with self._changed:
            if key not in self._records:
                self._make(key)

    def get(self, key: Key) -> Trajectory:
        """A trajectory as it is now.

        Raises:
            KeyError: nobody has made it.
        """
        with self._changed:
            return _picture(self._records[key])

    def named(self, trajectory_id: str, job_arn: str | None = None) -> builtins.list[Trajectory]:
        """Those of an id, in one job or in all."""
        with self._changed:
            keys = [(job_arn, trajectory_id)] if job_arn is not None else self._records
            found = [key for key in keys if key[1] == trajectory_id and key in self._records]
            return [_picture(self._records[key]) for key in found]

    def wait(self, key: Key, timeout: float) -> Trajectory:
        """The same once it has finished, or the time is over.

        Raises:
            KeyError: nobody has made it by then.
        """
        with self._changed:
            self._changed.wait_for(
                lambda: key in self._records and self._records[key].finished, timeout
            )
            return _picture(self._records[key])

    def list(self) -> list[Trajectory]:
        """All of them, the oldest first."""
        with self._changed:
            return [*map(_picture, self._records.values())]

    def counts(self) -> dict[str, dict[str, int]]:
        """How many there are of what.

        Returns:
            "states" of trajectories, "reports" as "operation ended", "faults" as "operation kind",
            "refusals" by AWS's code, and "turns".
        """
        with self._changed:
            states = Counter(record.state for record in self._records.values())
            found: dict[str, dict[str, int]] = {
                "states": {state: states[state] for state in STATES},
                "turns": {"recorded": sum(len(each.turns) for each in self._records.values())},
            }
            for kind in ("reports", "faults", "refusals"):
                counts = {name: n for (what, name), n in self._counts.items() if what == kind}
                found[kind] = dict(sorted(counts.items()))
            return found

    def count(self, kind: str, name: str) -> None:
        """Count one more."""
        with self._changed:
            self._counts[kind, name] += 1

    def fault(self, key: Key, operation: str) -> str:
        """The accident that the next call of an operation meets with; "" for none.

        Raises:
            Refused: nobody has made the trajectory, and the double is not open.
        """
        with self._changed:
            record = self._found(key)
            attempt, before = record.attempts[operation], record.previous.get(operation, Previous())
            kind = self.faults.fault(key[1], operation, attempt, before)
            record.attempts[operation] += 1
            record.previous[operation] = before.then(kind)
            if kind:
                self._counts["faults", f"{operation} {kind}"] += 1
            return kind

    def require_pending(self, key: Key) -> None:
        """Refuse a policy call unless the trajectory takes one.

        Raises:
            Refused: it is complete.
        """
        with self._changed:
            _next_state(self._found(key), "sample")

    def add_turn(self, key: Key, turn: Turn) -> None:
        """Record a policy call; its number is the next one.

        Raises:
            Refused: the trajectory was completed meanwhile, or has too many turns.
        """
        with self._changed:
            record = self._found(key)
            _next_state(record, "sample")
            if len(record.turns) >= TURNS:
                raise _quota(f"a trajectory has {TURNS} turns at most")
            self._texts.append(record.turns, replace(turn, number=len(record.turns)))

    def not_done(self, key: Key, report: Report, status: int, fault: str) -> None:
        """Record a report that an accident kept from the service."""
        with self._changed:
            self._record(key, report, status, "not done", fault)

    def take(self, key: Key, report: Report, fault: str = "") -> Trajectory | None:
        """Do what a report says, once.

        Returns:
            The trajectory, where the report has finished it.

        Raises:
            Refused: its state, its token or the rewards do not allow it.
        """
        with self._changed:
            record = self._found(key)
            before = record.state
            try:
                replayed = self._is_replay(key, report)
                if not replayed:
                    self._apply(record, report)
            except Refused as refused:
                self._record(key, report, refused.status, "refused", fault)
                raise
            self._record(key, report, 200, "replayed" if replayed else "taken", fault)
            if report.token:
                self._tokens[key[0], report.operation, report.token] = _digest(key, report)
            if record.state not in FINISHED or record.state == before:
                return None
            self._changed.notify_all()
            return _picture(record)

    def _apply(self, record: Trajectory, report: Report) -> None:
        accepted = self._settings.reward_after_failed == "accept"
        if report.operation == "reward" and record.state == "FAILED" and accepted:
            after: State = "FAILED"
        else:
            after = _next_state(record, report.event)
        if report.operation == "reward":
            record.rewards = self._rewards(record, report)
        elif after == "READY" and not record.turns and self._settings.empty == "refuse":
            raise invalid("No sampling requests were received for the trajectory")
        record.state = after

    def _rewards(self, record: Trajectory, report: Report) -> tuple[float, ...]:
        rewards = tuple(map(float, report.body["Rewards"]))
        turns = len(record.turns)
        if not rewards:
            raise invalid("Rewards holds no value")
        if self._settings.lengths == "turns" and len(rewards) != turns:
            raise invalid(f"Rewards holds {len(rewards)} values for {turns} turns")
        return rewards

    def _is_replay(self, key: Key, report: Report) -> bool:
        known = self._tokens.get((key[0], report.operation, report.token))
        if known not in (None, _digest(key, report)):
            raise conflict("the ClientToken was used with other parameters")
        return known is not None

    def _record(self, key: Key, report: Report, status: int, ended: Ended, fault: str) -> None:
        self._counts["reports", f"{report.operation} {ended}"] += 1
        made = (report.operation, report.token, report.body, int(status), ended, fault)
        delivery = Delivery(*made, report.credential, self._clock())
        self._records[key].deliveries.append(delivery)

    def _found(self, key: Key) -> Trajectory:
        record = self._records.get(key)
        if record is None and self._settings.open:
            record = self._make(key)
        if record is None:
            raise missing("The trajectory does not exist in this job")
        return record

    def _make(self, key: Key) -> Trajectory:
        if len(self._records) >= self._settings.trajectories:
            raise _quota(f"the double holds {self._settings.trajectories} trajectories at most")
        record = self._records[key] = Trajectory(*key, self._clock())
        return record


def _next_state(record: Trajectory, event: str) -> State:
    after = TRANSITIONS.get((event, record.state))
    if after is None:
        raise conflict(
            f"Cannot transition trajectory: {event} is not in valid status, which is {record.state}"
        )
    return after


def _picture(record: Trajectory) -> Trajectory:
    return replace(record, turns=[*record.turns], deliveries=[*record.deliveries])


def _digest(key: Key, report: Report) -> str:
    """What a report says, of which trajectory: the texts themselves would be kept for nothing."""
    content = json.dumps([*key, report.body], sort_keys=True)
    return sha256(content.encode()).hexdigest()


def _quota(message: str) -> Refused:
    return Refused("ServiceQuotaExceededException", message)
