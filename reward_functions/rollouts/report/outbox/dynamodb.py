"""An outbox in one DynamoDB table: where the disk dies with the machine, as on AgentCore or Lambda.

Why DynamoDB, of the three stores that every account has:

- A conditional write makes `add` put-if-absent, and a transaction makes it all or none.
- A read of the table is strongly consistent: who asks what became of a report gets the last word.
- It lists, counts and forgets (by time to live). S3 lists slowly, and has no transaction over two
  objects; a message of SQS can be neither looked up nor listed.

    key (hash of job and trajectory, kind)    kind: complete · reward · episode
    key ("lease", owner)                      until
    index `queue` (queue, at)                 queue: pending by due · running by began ·
                                              delivered, refused, expired by created

`due` and `orphans` read their own queue of the index, and none of what was delivered. The index is
eventually consistent. That costs nothing but time: what it shows too early is claimed by a
conditional write to the table, which fails where it is out of date; what it shows too late is found
by the next poll. One queue is one partition of the index, which takes 1,000 writes a second. A
report takes three of the queue of pending ones (in, hold, out): 300 reports a second.
"""

from __future__ import annotations

import json
from hashlib import sha256
from math import inf
from typing import TYPE_CHECKING, Any, Final

from reward_functions.rollouts.report.intents import OPERATIONS
from reward_functions.rollouts.report.outbox.dynamodb_requests import TableRequests
from reward_functions.rollouts.report.outbox.dynamodb_table import TIME_TO_LIVE
from reward_functions.rollouts.report.outbox.fields import (
    episode_of,
    fields_of_episode,
    fields_of_intent,
    later,
    stored_of,
)
from reward_functions.rollouts.report.outbox.rules import (
    DETAIL,
    EPISODE_KEPT,
    KEPT,
    LONGEST,
    STATES,
    age,
    changeable,
    conflicting,
    require_storable,
    state_after,
)
from reward_functions.rollouts.request.clock import steady

if TYPE_CHECKING:
    import builtins
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from reward_functions.rollouts.report.intents import Intent, Stored, Target
    from reward_functions.rollouts.report.outbox import Begun, Episode
    from reward_functions.rollouts.request.errors import OutboxUnavailable
    from reward_functions.rollouts.request.outcomes import Outcome

TRIES: Final = 8
"""Of a transaction that another one on the same rollout was in the way of."""

LEASE: Final = "lease:"
"""How the key of a lease begins; that of a rollout is hexadecimal."""


class DynamoDBOutbox:
    """The protocol `Outbox`, in a table that `dynamodb_table.create_table` makes.

    Args:
        table: its name.
        region: of AWS; "" for the environment's.
        endpoint: a URL in place of the service's own; "" for none.
        client: boto3's for DynamoDB; one is made at first use where None.
        clock: of the process: that of the times it gives and gets. The table has the service's,
            which comes with each reply.
    """

    def __init__(
        self,
        table: str,
        *,
        region: str = "",
        endpoint: str = "",
        client: Any = None,
        clock: Callable[[], float] = steady,
    ) -> None:
        self.region = region
        self._table = TableRequests(table, region, endpoint, client, clock=clock)

    @property
    def name(self) -> str:
        """Its URL; an endpoint is left out, as it may hold a password."""
        return f"dynamodb://{self._table.table}" + (f"?region={self.region}" if self.region else "")

    def begin(self, episode: Episode, *, owner: str, now: float) -> Begun:
        """See `Outbox`."""
        key = _key(episode.target)
        fields = later(fields_of_episode(episode, owner), self._table.ahead())
        item = {
            **fields,
            **_item(key, "episode"),
            "queue": "running",
            "at": fields["began"],
            TIME_TO_LIVE: int(fields["expires"] + EPISODE_KEPT),
        }
        unreported = [_item(key, "complete"), _item(key, "reward")]
        for _ in range(TRIES):
            before = self._table.kinds(key)
            if before.keys() - {"episode"}:
                return "reported"
            known = before.get("episode")
            if known is None:
                begun = self._table.transact(new=[item], absent=unreported)
            elif self._living([known["owner"]], now):
                return "running"
            else:
                taken = item | {"sampled": max(item["sampled"], int(known["sampled"]))}
                begun = self._table.transact(over={known["owner"]: taken}, absent=unreported)
            if begun:
                return "new"
        raise self._contended()

    def sampled(self, target: Target) -> None:
        """See `Outbox`."""
        self._table.update(_item(_key(target), "episode"), {"sampled": 1}, where={})

    def end(self, target: Target) -> None:
        """See `Outbox`."""
        self._table.delete(_item(_key(target), "episode"), where={})

    def add(self, intents: Sequence[Intent], *, due: float | None = None) -> None:
        """See `Outbox`."""
        require_storable(intents)
        for _ in range(TRIES):
            key = _key(intents[0].target) if intents else ""
            there = self._table.kinds(key) if intents else {}
            for intent in intents:
                if there.get(intent.operation, {"token": intent.token})["token"] != intent.token:
                    raise conflicting(intent)
            new = [
                self._pending(intent, due) for intent in intents if intent.operation not in there
            ]
            if not new or self._table.transact(new=new, delete=[_item(key, "episode")]):
                return
        raise self._contended()

    def find(self, target: Target) -> builtins.list[Stored]:
        """See `Outbox`."""
        there = self._table.kinds(_key(target))
        return [self._stored(there[each]) for each in OPERATIONS if each in there]

    def due(self, now: float, limit: int = 100, *, hold: float = 0.0) -> builtins.list[Stored]:
        """See `Outbox`."""
        ready: builtins.list[Stored] = []
        now += self._table.ahead()
        for page in self._due(now):
            waiting = self._with_pending_completion(page)
            for item in page:
                if item["kind"] == "reward" and item["key"] in waiting:
                    continue
                if not hold or self._held(item, now + hold):
                    ready.append(self._stored(item))
                if len(ready) == limit:
                    return ready
        return ready

    def settle(self, intent: Intent, outcome: Outcome, *, due: float | None = None) -> None:
        """See `Outbox`."""
        state = state_after(outcome)
        changes: dict[str, Any] = {
            "state": state,
            "attempts": outcome.attempts,
            "outcome": type(outcome).__name__,
            "detail": outcome.detail[:DETAIL],
        }
        ahead = self._table.ahead()
        if due is not None:
            changes |= {"due": due + ahead, "at": due + ahead}
        if state in KEPT:
            created = intent.created + ahead
            changes |= {"queue": state, "at": created}
            changes[TIME_TO_LIVE] = int(created + KEPT[state])
        where = {"token": intent.token}
        self._table.update(_item_of(intent), changes, where=where, states=changeable(state))

    def lease(self, owner: str, until: float) -> None:
        """See `Outbox`; it is forgotten no sooner than an episode that it was for."""
        until += self._table.ahead()
        forget = int(until + 2 * EPISODE_KEPT)
        self._table.put({**_lease(owner), "until": until, TIME_TO_LIVE: forget})

    def orphans(self, now: float, limit: int = 100) -> builtins.list[Episode]:
        """See `Outbox`."""
        left: builtins.list[Episode] = []
        for page in self._table.queue("running"):
            living = self._living({item["owner"] for item in page}, now)
            dead = [item for item in page if item["owner"] not in living]
            left += [episode_of(later(item, -self._table.ahead())) for item in dead]
            if len(left) >= limit:
                break
        return left[:limit]

    def list(
        self, states: Sequence[str] = (), limit: int = 1000, *, newest: bool = False
    ) -> builtins.list[Stored]:
        """See `Outbox`; of more pending ones than the limit, it has those due first (or last)."""
        found: builtins.list[Stored] = []
        for state in states or STATES:
            several: builtins.list[Stored] = []
            for page in self._table.queue(state, newest=newest):
                several += map(self._stored, page)
                if len(several) >= limit:
                    break
            found += several
        return sorted(found, key=age, reverse=newest)[:limit]

    def counts(self) -> dict[str, int]:
        """See `Outbox`; it reads every item that it counts."""
        return {queue: self._table.count(queue) for queue in (*STATES, "running")}

    def replay(self, intent: Intent, *, now: float) -> None:
        """See `Outbox`."""
        now += self._table.ahead()
        self._table.update(
            _item_of(intent),
            {"state": "pending", "queue": "pending", "due": now, "at": now},
            where={"token": intent.token},
            remove=("expires", TIME_TO_LIVE),
        )

    def purge(self, states: Sequence[str], before: float) -> int:
        """See `Outbox`."""
        gone = 0
        before += self._table.ahead()
        for state in states:
            until = inf if state == "pending" else before
            for page in self._table.queue(state, until=until):
                old = [item for item in page if item["created"] < before]
                items = [_item(item["key"], item["kind"]) for item in old]
                gone += sum(self._table.delete(item, where={"state": state}) for item in items)
        return gone

    def close(self) -> None:
        """See `Outbox`."""
        self._table.close()

    def _due(self, now: float) -> Iterator[builtins.list[dict[str, Any]]]:
        """What is due, by pages, and behind it what is due later than anything can be."""
        yield from self._table.queue("pending", until=now)
        yield from self._table.queue("pending", since=now + LONGEST)

    def _stored(self, item: Mapping[str, Any]) -> Stored:
        return stored_of(later(item, -self._table.ahead()))

    def _pending(self, intent: Intent, due: float | None) -> dict[str, Any]:
        fields = later(fields_of_intent(intent, due), self._table.ahead())
        return {**fields, **_item_of(intent), "queue": "pending", "at": fields["due"]}

    def _held(self, item: dict[str, Any], until: float) -> bool:
        """Whether a pending intent was still as the index had it, and is held now."""
        return self._table.update(
            _item(item["key"], item["kind"]),
            {"due": until, "at": until},
            where={"state": "pending", "due": item["due"]},
        )

    def _with_pending_completion(self, page: Sequence[dict[str, Any]]) -> set[str]:
        """The keys of rewards whose completion is pending, by the table itself."""
        keys = sorted({item["key"] for item in page if item["kind"] == "reward"})
        found = self._table.items([_item(key, "complete") for key in keys])
        return {item["key"] for item in found if item["state"] == "pending"}

    def _living(self, owners: Iterable[str], now: float) -> set[str]:
        """Those of some owners whose lease is not over, by the table itself."""
        found = self._table.items([_lease(owner) for owner in sorted(owners)])
        now += self._table.ahead()
        return {
            item["key"].removeprefix(LEASE)
            for item in found
            if now < item["until"] <= now + LONGEST
        }

    def _contended(self) -> OutboxUnavailable:
        return self._table.unavailable(
            f"refused a transaction {TRIES} times, for others on the same rollout"
        )


def _key(target: Target) -> str:
    """Of a rollout: ids of any length in 64 characters."""
    return sha256(json.dumps([target.job_arn, target.trajectory_id]).encode()).hexdigest()


def _item(key: str, kind: str) -> dict[str, Any]:
    return {"key": key, "kind": kind}


def _item_of(intent: Intent) -> dict[str, Any]:
    return _item(_key(intent.target), intent.operation)


def _lease(owner: str) -> dict[str, Any]:
    return _item(f"{LEASE}{owner}", "lease")
