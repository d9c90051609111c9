"""An outbox in this process: for tests, and where a durable one fails. Gone with the process."""

from __future__ import annotations

from dataclasses import replace
from math import inf
from threading import Lock
from typing import TYPE_CHECKING, Final

from reward_functions.rollouts.report.intents import OPERATIONS, Stored
from reward_functions.rollouts.report.outbox.rules import (
    DETAIL,
    LONGEST,
    STATES,
    age,
    changeable,
    conflicting,
    require_storable,
    size,
    state_after,
    storable_payload,
)
from reward_functions.rollouts.request.errors import OutboxUnavailable

if TYPE_CHECKING:
    import builtins
    from collections.abc import Iterable, Sequence

    from reward_functions.rollouts.report.intents import Intent, State, Target
    from reward_functions.rollouts.report.outbox import Begun, Episode
    from reward_functions.rollouts.request.outcomes import Outcome

Key = tuple[str, str, str]

MOST: Final = 64 * 1024 * 1024
"""Bytes of intents and payloads; what is delivered makes room for what is not."""

OVERHEAD: Final = 1_024
"""Bytes that an intent or an episode takes beside its texts; rounded up."""


class MemoryOutbox:
    """The protocol `Outbox`, in dictionaries under one lock; no call reads what is settled.

    Args:
        most: bytes that it holds. Over them `begin` and `add` raise OutboxUnavailable.
    """

    name = "memory:"

    def __init__(self, most: int = MOST) -> None:
        self.most = most
        self._intents: dict[Key, Stored] = {}
        self._in: dict[State, dict[Key, None]] = {state: {} for state in STATES}
        self._episodes: dict[tuple[str, str], tuple[str, Episode]] = {}
        self._leases: dict[str, float] = {}
        self._used = 0
        self._lock = Lock()

    def __contains__(self, target: Target) -> bool:
        """Whether it has an intent or an episode of a rollout."""
        with self._lock:
            return _of(target) in self._episodes or self._reported(target)

    def reported(self, target: Target) -> bool:
        """Whether it has an intent of a rollout."""
        with self._lock:
            return self._reported(target)

    def holds(self, intent: Intent) -> bool:
        """Whether it has this very intent."""
        with self._lock:
            return self._same(intent) is not None

    def forget(self, intent: Intent) -> None:
        """Have this very intent no more."""
        with self._lock:
            if found := self._same(intent):
                self._forget(found)

    def begin(self, episode: Episode, *, owner: str, now: float) -> Begun:
        """See `Outbox`."""
        with self._lock:
            if self._reported(episode.target):
                return "reported"
            before, known = self._episodes.get(_of(episode.target), ("", episode))
            if self._lives(before, now):
                return "running"
            kept = replace(
                episode,
                payload=storable_payload(episode),
                sampled=episode.sampled or known.sampled,
            )
            self._forget_episode(episode.target)
            self._take(_bytes(kept))
            self._episodes[_of(episode.target)] = owner, kept
            return "new"

    def sampled(self, target: Target) -> None:
        """See `Outbox`."""
        with self._lock:
            if found := self._episodes.get(_of(target)):
                owner, episode = found
                self._episodes[_of(target)] = owner, replace(episode, sampled=True)

    def end(self, target: Target) -> None:
        """See `Outbox`."""
        with self._lock:
            self._forget_episode(target)

    def add(self, intents: Sequence[Intent], *, due: float | None = None) -> None:
        """See `Outbox`."""
        require_storable(intents)
        with self._lock:
            for intent in intents:
                if intent.key in self._intents and not self._same(intent):
                    raise conflicting(intent)
            new = [intent for intent in intents if intent.key not in self._intents]
            self._take(sum(size(intent) + OVERHEAD for intent in new))
            for intent in new:
                self._put(Stored(intent=intent, due=intent.created if due is None else due))
            for intent in intents[:1]:
                self._forget_episode(intent.target)

    def find(self, target: Target) -> builtins.list[Stored]:
        """See `Outbox`."""
        with self._lock:
            keys = ((*_of(target), operation) for operation in OPERATIONS)
            return [self._intents[key] for key in keys if key in self._intents]

    def due(self, now: float, limit: int = 100, *, hold: float = 0.0) -> builtins.list[Stored]:
        """See `Outbox`."""
        with self._lock:
            ready = [each for each in self._of_states(["pending"]) if self._ready(each, now)]
            ready = sorted(ready, key=_by_due)[:limit]
            for each in ready if hold else ():
                self._put(replace(each, due=now + hold))
            return ready

    def settle(self, intent: Intent, outcome: Outcome, *, due: float | None = None) -> None:
        """See `Outbox`."""
        state = state_after(outcome)
        with self._lock:
            before = self._same(intent)
            if before is None or before.state not in changeable(state):
                return
            self._put(
                replace(
                    before,
                    state=state,
                    attempts=outcome.attempts,
                    due=before.due if due is None else due,
                    outcome=type(outcome).__name__,
                    detail=outcome.detail[:DETAIL],
                )
            )

    def lease(self, owner: str, until: float) -> None:
        """See `Outbox`."""
        with self._lock:
            self._leases[owner] = until

    def orphans(self, now: float, limit: int = 100) -> builtins.list[Episode]:
        """See `Outbox`."""
        with self._lock:
            left = (
                episode for owner, episode in self._episodes.values() if not self._lives(owner, now)
            )
            return sorted(left, key=lambda episode: episode.began)[:limit]

    def list(
        self, states: Sequence[str] = (), limit: int = 1000, *, newest: bool = False
    ) -> builtins.list[Stored]:
        """See `Outbox`."""
        with self._lock:
            return sorted(self._of_states(states or STATES), key=age, reverse=newest)[:limit]

    def counts(self) -> dict[str, int]:
        """See `Outbox`."""
        with self._lock:
            held: dict[str, int] = {state: len(keys) for state, keys in self._in.items()}
            return held | {"running": len(self._episodes)}

    def replay(self, intent: Intent, *, now: float) -> None:
        """See `Outbox`."""
        with self._lock:
            if before := self._same(intent):
                again = replace(before.intent, expires=inf)
                self._put(replace(before, intent=again, state="pending", due=now))

    def purge(self, states: Sequence[str], before: float) -> int:
        """See `Outbox`."""
        with self._lock:
            gone = [each for each in self._of_states(states) if each.intent.created < before]
            for each in gone:
                self._forget(each)
            return len(gone)

    def close(self) -> None:
        """See `Outbox`; nothing is held."""

    def _lives(self, owner: str, now: float) -> bool:
        until = self._leases.get(owner, -inf)
        return now < until <= now + LONGEST or until == inf

    def _reported(self, target: Target) -> bool:
        return any((*_of(target), operation) in self._intents for operation in OPERATIONS)

    def _same(self, intent: Intent) -> Stored | None:
        found = self._intents.get(intent.key)
        return found if found and found.intent.token == intent.token else None

    def _ready(self, stored: Stored, now: float) -> bool:
        if now < stored.due <= now + LONGEST:
            return False
        completion = self._intents.get((*_of(stored.intent.target), "complete"))
        waits = stored.intent.operation == "reward" and completion is not None
        return not (waits and completion and completion.state == "pending")

    def _of_states(self, states: Iterable[str]) -> builtins.list[Stored]:
        wanted = [keys for state, keys in self._in.items() if state in states]
        return [self._intents[key] for keys in wanted for key in keys]

    def _put(self, stored: Stored) -> None:
        """Write an intent; those of a state are in the order in which they came to it."""
        key = stored.intent.key
        if before := self._intents.get(key):
            del self._in[before.state][key]
        self._intents[key] = stored
        self._in[stored.state][key] = None

    def _take(self, wanted: int) -> None:
        while self._used + wanted > self.most and self._in["delivered"]:
            self._forget(self._intents[next(iter(self._in["delivered"]))])
        if self._used + wanted > self.most:
            raise OutboxUnavailable(
                f"the memory outbox is full: {len(self._intents)} intents in {self.most:,} bytes"
            )
        self._used += wanted

    def _forget(self, stored: Stored) -> None:
        del self._intents[stored.intent.key], self._in[stored.state][stored.intent.key]
        self._used -= size(stored.intent) + OVERHEAD

    def _forget_episode(self, target: Target) -> None:
        if found := self._episodes.pop(_of(target), None):
            self._used -= _bytes(found[1])


def _of(target: Target) -> tuple[str, str]:
    return target.job_arn, target.trajectory_id


def _bytes(episode: Episode) -> int:
    return len(episode.payload.encode()) + OVERHEAD


def _by_due(stored: Stored) -> tuple[float, float, str, str]:
    return stored.due, *age(stored)
