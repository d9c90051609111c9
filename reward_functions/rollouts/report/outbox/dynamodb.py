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
eventually consistent. That costs nothing but time. An entry that it shows too early is claimed by a
conditional write to the table, which fails where it is out of date. One that it shows too late is
found by the next poll. One queue is one partition of the index, which takes 1,000 writes a second.
A report takes three of the queue of pending ones (in, hold, out): 300 reports a second.
"""

from __future__ import annotations

import json
from contextlib import contextmanager, suppress
from email.utils import parsedate_to_datetime
from hashlib import sha256
from itertools import chain, islice
from math import inf
from threading import Lock
from time import sleep
from typing import TYPE_CHECKING, Any, Final

from reward_functions.core.aws_region import shell_region
from reward_functions.rollouts.report.intents import OPERATIONS
from reward_functions.rollouts.report.outbox import (
    EPISODE_KEPT,
    KEPT,
    LONGEST,
    STATES,
    age,
    changeable,
    changes_by,
    conflicting,
    episode_of,
    fields_of_episode,
    fields_of_intent,
    later,
    require_storable,
    stored_of,
)
from reward_functions.rollouts.request.clock import AGREED, steady
from reward_functions.rollouts.request.errors import OutboxUnavailable

if TYPE_CHECKING:
    import builtins
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from reward_functions.rollouts.report.intents import Intent, Stored, Target
    from reward_functions.rollouts.report.outbox import Begun, Episode
    from reward_functions.rollouts.request.outcomes import Outcome

INDEX: Final = "queue"

TIME_TO_LIVE: Final = "forget"
"""The attribute by which DynamoDB deletes what is over."""

DEFINITION: Final[dict[str, Any]] = {
    "AttributeDefinitions": [
        {"AttributeName": "key", "AttributeType": "S"},
        {"AttributeName": "kind", "AttributeType": "S"},
        {"AttributeName": "queue", "AttributeType": "S"},
        {"AttributeName": "at", "AttributeType": "N"},
    ],
    "KeySchema": [
        {"AttributeName": "key", "KeyType": "HASH"},
        {"AttributeName": "kind", "KeyType": "RANGE"},
    ],
    "GlobalSecondaryIndexes": [
        {
            "IndexName": INDEX,
            "KeySchema": [
                {"AttributeName": "queue", "KeyType": "HASH"},
                {"AttributeName": "at", "KeyType": "RANGE"},
            ],
            "Projection": {"ProjectionType": "ALL"},
        }
    ],
    "BillingMode": "PAY_PER_REQUEST",
}
"""Of the table, beside its name and its time to live."""

ACTIONS: Final = (
    "dynamodb:BatchGetItem",
    "dynamodb:ConditionCheckItem",
    "dynamodb:DeleteItem",
    "dynamodb:PutItem",
    "dynamodb:Query",
    "dynamodb:UpdateItem",
)
"""What an outbox does, on its table and on `index/*` of it."""

CREATE_ACTIONS: Final = (
    "dynamodb:CreateTable",
    "dynamodb:DescribeTable",
    "dynamodb:DescribeTimeToLive",
    "dynamodb:UpdateTimeToLive",
)
"""What `create_table` does, on the table."""

TIMEOUT: Final = 5.0
"""Seconds of a connection and of a reply."""

REQUEST_TRIES: Final = 3
"""Of botocore, for what is throttled or fails."""

PROBLEMS: Final = {
    "ResourceNotFoundException": "does not exist: `reward rollouts outbox create` makes it",
    "AccessDeniedException": f"may not be used: allow {', '.join(ACTIONS)} on it and on its index",
    "UnrecognizedClientException": "cannot be used with these credentials",
    "ExpiredTokenException": "cannot be used: the credentials have expired",
    "ProvisionedThroughputExceededException": "is throttled",
    "ThrottlingException": "is throttled",
    "RequestLimitExceeded": "is throttled",
    "NoCredentialsError": "cannot be used: there are no AWS credentials",
    "NoRegionError": "has no region: add ?region=REGION to its URL, or set AWS_REGION",
}
"""By error code, or by the name of botocore's exception; behind "the outbox table NAME"."""


def dynamodb_client(region: str = "", endpoint: str = "") -> Any:
    """A client of DynamoDB, which threads may share.

    Args:
        region: of AWS; "" for the environment's.
        endpoint: a URL in place of the service's own; "" for none.

    Raises:
        NoRegionError: of botocore, where nobody names one.
    """
    import boto3  # noqa: PLC0415 - takes a quarter of a second
    from botocore.config import Config  # noqa: PLC0415

    config = Config(
        connect_timeout=TIMEOUT,
        read_timeout=TIMEOUT,
        retries={"mode": "standard", "total_max_attempts": REQUEST_TRIES},
        max_pool_connections=64,
    )
    where = region or shell_region() or None
    return boto3.Session().client(
        "dynamodb", region_name=where, endpoint_url=endpoint or None, config=config
    )


def create_table(client: Any, name: str) -> bool:
    """Make the table of an outbox, wait until it can be used, and set its time to live.

    Args:
        client: boto3's for DynamoDB.
        name: of the table.

    Returns:
        Whether it was made; not where it was there already.

    Raises:
        OutboxUnavailable: there is a table of that name with other keys, or DynamoDB refuses.
    """
    from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415 - heavy

    try:
        made = _made(client, name)
        client.get_waiter("table_exists").wait(TableName=name, WaiterConfig={"Delay": 1})
        _require_definition(client.describe_table(TableName=name)["Table"])
        _set_time_to_live(client, name)
    except ClientError as error:
        code = error.response.get("Error", {}).get("Code", "")
        denied = f"may not be made: allow {', '.join(CREATE_ACTIONS)}"
        problem = denied if code == "AccessDeniedException" else f"cannot be made: {code}"
        raise OutboxUnavailable(f"the outbox table {name} {problem}") from None
    except BotoCoreError as error:
        problem = PROBLEMS.get(type(error).__name__, f"cannot be made: {type(error).__name__}")
        raise OutboxUnavailable(f"the outbox table {name} {problem}") from None
    return made


def _made(client: Any, name: str) -> bool:
    try:
        client.create_table(TableName=name, **DEFINITION)
    except client.exceptions.ResourceInUseException:
        return False
    return True


def _require_definition(table: dict[str, Any]) -> None:
    indexes = {each["IndexName"]: each for each in table.get("GlobalSecondaryIndexes", ())}
    (index,) = DEFINITION["GlobalSecondaryIndexes"]
    right = (
        table["KeySchema"] == DEFINITION["KeySchema"]
        and indexes.get(INDEX, {}).get("KeySchema") == index["KeySchema"]
    )
    if not right:
        raise OutboxUnavailable(
            f"the table {table['TableName']} is not an outbox: its keys or its index {INDEX!r} are "
            "others; choose another name"
        )


def _set_time_to_live(client: Any, name: str) -> None:
    found = client.describe_time_to_live(TableName=name)["TimeToLiveDescription"]
    if found["TimeToLiveStatus"] in {"DISABLED", "DISABLING"}:
        client.update_time_to_live(
            TableName=name,
            TimeToLiveSpecification={"Enabled": True, "AttributeName": TIME_TO_LIVE},
        )


BATCH: Final = 100
"""Items of a BatchGetItem, by DynamoDB's limit, and of a page of a query."""

PAUSES: Final = (0.05, 0.1, 0.2, 0.4, 0.8)
"""Seconds between the tries of a BatchGetItem that a throttled table answers in part: botocore
takes that for a success. Source: its reference asks for exponential backoff."""

PREVENTED: Final = {"None", "ConditionalCheckFailed", "TransactionConflict"}
"""Why a transaction was not carried out, where it may be tried again."""

Fields = dict[str, Any]

TRIES: Final = 8
"""Of a transaction that another one on the same rollout was in the way of."""

LEASE: Final = "lease:"
"""How the key of a lease begins; that of a rollout is hexadecimal."""


class DynamoDBOutbox:
    """The protocol `Outbox`, in a table that `create_table` makes.

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
        self.table, self.region = table, region
        self._endpoint, self._client, self._clock = endpoint, client, clock
        self._lock = Lock()
        self._seconds_ahead: float | None = None
        self._watched = False

    @property
    def name(self) -> str:
        """Its URL; an endpoint is left out, as it may hold a password."""
        return f"dynamodb://{self.table}" + (f"?region={self.region}" if self.region else "")

    def begin(self, episode: Episode, *, owner: str, now: float) -> Begun:
        """See `Outbox`."""
        key = _key(episode.target)
        fields = later(fields_of_episode(episode, owner), self._ahead())
        item = {
            **fields,
            **_item(key, "episode"),
            "queue": "running",
            "at": fields["began"],
            TIME_TO_LIVE: int(fields["expires"] + EPISODE_KEPT),
        }
        unreported = [_item(key, "complete"), _item(key, "reward")]
        for _ in range(TRIES):
            before = self._kinds(key)
            if before.keys() - {"episode"}:
                return "reported"
            owner_before = ""
            if known := before.get("episode"):
                owner_before = known["owner"]
                item["sampled"] = max(item["sampled"], int(known["sampled"]))
            if owner_before and self._living([owner_before], now):
                return "running"
            if self._transact(new=[item], over=owner_before, absent=unreported):
                return "new"
        raise self._contended()

    def sampled(self, target: Target) -> None:
        """See `Outbox`."""
        self._update(_item(_key(target), "episode"), {"sampled": 1}, where={})

    def end(self, target: Target) -> None:
        """See `Outbox`."""
        self._delete(_item(_key(target), "episode"), where={})

    def add(self, intents: Sequence[Intent], *, due: float | None = None) -> None:
        """See `Outbox`."""
        require_storable(intents)
        for _ in range(TRIES):
            key = _key(intents[0].target) if intents else ""
            there = self._kinds(key) if intents else {}
            for intent in intents:
                if there.get(intent.operation, {"token": intent.token})["token"] != intent.token:
                    raise conflicting(intent)
            new = [
                self._pending(intent, due) for intent in intents if intent.operation not in there
            ]
            if not new or self._transact(new=new, delete=[_item(key, "episode")]):
                return
        raise self._contended()

    def find(self, target: Target) -> builtins.list[Stored]:
        """See `Outbox`."""
        there = self._kinds(_key(target))
        return [self._stored(there[each]) for each in OPERATIONS if each in there]

    def due(self, now: float, limit: int = 100, *, hold: float = 0.0) -> builtins.list[Stored]:
        """See `Outbox`."""
        ready: builtins.list[Stored] = []
        now += self._ahead()
        for page in self._due(now):
            waiting = self._with_pending_completion(page)
            for item in page:
                if item["kind"] == "reward" and item["key"] in waiting:
                    continue
                # A hold fails where the item is not any more as the index had it.
                then = {"due": now + hold, "at": now + hold}
                where = {"state": "pending", "due": item["due"]}
                if not hold or self._update(_item_in(item), then, where=where):
                    ready.append(self._stored(item))
                if len(ready) == limit:
                    return ready
        return ready

    def settle(self, intent: Intent, outcome: Outcome, *, due: float | None = None) -> None:
        """See `Outbox`."""
        changes = changes_by(outcome)
        state = changes["state"]
        ahead = self._ahead()
        if due is not None:
            changes |= {"due": due + ahead, "at": due + ahead}
        if state in KEPT:
            created = intent.created + ahead
            changes |= {"queue": state, "at": created}
            changes[TIME_TO_LIVE] = int(created + KEPT[state])
        where = {"token": intent.token}
        self._update(_item_of(intent), changes, where=where, states=changeable(state))

    def lease(self, owner: str, until: float) -> None:
        """See `Outbox`; it is forgotten no sooner than an episode that it was for."""
        until += self._ahead()
        forget = int(until + 2 * EPISODE_KEPT)
        item = {**_lease(owner), "until": until, TIME_TO_LIVE: forget}
        with self._reached() as client:
            client.put_item(TableName=self.table, Item=wire(item))

    def orphans(self, now: float, limit: int = 100) -> builtins.list[Episode]:
        """See `Outbox`."""
        left: builtins.list[Episode] = []
        for page in self._queue("running"):
            living = self._living({item["owner"] for item in page}, now)
            dead = (item for item in page if item["owner"] not in living)
            left += [episode_of(later(item, -self._ahead())) for item in dead]
            if len(left) >= limit:
                break
        return left[:limit]

    def list(
        self, states: Sequence[str] = (), limit: int = 1000, *, newest: bool = False
    ) -> builtins.list[Stored]:
        """See `Outbox`; of more pending ones than the limit, it has those due first (or last)."""
        found: builtins.list[Stored] = []
        for state in states or STATES:
            items = chain.from_iterable(self._queue(state, newest=newest))
            found += map(self._stored, islice(items, limit))
        return sorted(found, key=age, reverse=newest)[:limit]

    def counts(self) -> dict[str, int]:
        """See `Outbox`; it reads every item that it counts."""
        return {queue: self._count(queue) for queue in (*STATES, "running")}

    def replay(self, intent: Intent, *, now: float) -> None:
        """See `Outbox`."""
        now += self._ahead()
        self._update(
            _item_of(intent),
            {"state": "pending", "queue": "pending", "due": now, "at": now},
            where={"token": intent.token},
            remove=("expires", TIME_TO_LIVE),
        )

    def purge(self, states: Sequence[str], before: float) -> int:
        """See `Outbox`."""
        gone = 0
        before += self._ahead()
        for state in states:
            until = inf if state == "pending" else before
            for page in self._queue(state, until=until):
                old = [_item_in(item) for item in page if item["created"] < before]
                gone += sum(self._delete(item, where={"state": state}) for item in old)
        return gone

    def close(self) -> None:
        """See `Outbox`."""
        with self._lock:
            if self._client is not None:
                self._client.close()

    def _due(self, now: float) -> Iterator[builtins.list[Fields]]:
        """What is due, by pages, and behind it what is due later than anything can be."""
        yield from self._queue("pending", until=now)
        yield from self._queue("pending", since=now + LONGEST)

    def _stored(self, item: Mapping[str, Any]) -> Stored:
        return stored_of(later(item, -self._ahead()))

    def _pending(self, intent: Intent, due: float | None) -> dict[str, Any]:
        fields = later(fields_of_intent(intent, due), self._ahead())
        return {**fields, **_item_of(intent), "queue": "pending", "at": fields["due"]}

    def _with_pending_completion(self, page: Sequence[dict[str, Any]]) -> set[str]:
        """The keys of rewards whose completion is pending, by the table itself."""
        keys = sorted({item["key"] for item in page if item["kind"] == "reward"})
        found = self._items([_item(key, "complete") for key in keys])
        return {item["key"] for item in found if item["state"] == "pending"}

    def _living(self, owners: Iterable[str], now: float) -> set[str]:
        """Those of some owners whose lease is not over, by the table itself."""
        found = self._items([_lease(owner) for owner in sorted(owners)])
        now += self._ahead()
        return {
            item["key"].removeprefix(LEASE)
            for item in found
            if now < item["until"] <= now + LONGEST
        }

    def _contended(self) -> OutboxUnavailable:
        return self._unavailable(
            f"refused a transaction {TRIES} times, for others on the same rollout"
        )

    def _ahead(self) -> float:
        """Seconds by which the service's time is ahead of the clock; 0.0 where they nearly agree.

        All who share the table have the service's.
        """
        if self._seconds_ahead is None:
            self._kinds("no rollout")
        return self._seconds_ahead or 0.0

    def _kinds(self, key: str) -> dict[str, Fields]:
        """The items under a key, by kind; strongly consistent."""
        with self._reached() as client:
            reply = client.query(
                TableName=self.table,
                KeyConditionExpression="#key = :key",
                ExpressionAttributeNames={"#key": "key"},
                ExpressionAttributeValues=wire({":key": key}),
                ConsistentRead=True,
            )
        return {item["kind"]: item for item in map(_plain, reply["Items"])}

    def _items(self, keys: Sequence[Fields]) -> Iterator[Fields]:
        """Those items that exist, in no order; strongly consistent."""
        for start in range(0, len(keys), BATCH):
            page = [wire(key) for key in keys[start : start + BATCH]]
            wanted = {self.table: {"Keys": page, "ConsistentRead": True}}
            for pause in PAUSES:
                with self._reached() as client:
                    reply = client.batch_get_item(RequestItems=wanted)
                yield from map(_plain, reply["Responses"].get(self.table, ()))
                wanted = reply.get("UnprocessedKeys", {})
                if not wanted:
                    break
                sleep(pause)
            else:
                raise self._unavailable("is throttled")

    def _queue(
        self, queue: str, *, since: float = -inf, until: float = inf, newest: bool = False
    ) -> Iterator[builtins.list[Fields]]:
        """The items of a queue in its order, by pages; as the index has them.

        Args:
            queue: its name.
            since: the first place that counts; `until` is not asked for with it.
            until: the last place that counts.
            newest: from the end.
        """
        options = {"ScanIndexForward": not newest, "Limit": BATCH}
        for reply in self._replies(queue, since, until, options):
            yield [_plain(item) for item in reply["Items"]]

    def _count(self, queue: str) -> int:
        """How many items a queue has; it reads each."""
        return sum(reply["Count"] for reply in self._replies(queue, -inf, inf, {"Select": "COUNT"}))

    def _update(
        self,
        item: Fields,
        changes: Fields,
        *,
        where: Mapping[str, Any],
        states: Sequence[str] = (),
        remove: Sequence[str] = (),
    ) -> bool:
        """Whether an item was changed.

        Args:
            item: its key and kind.
            changes: attributes and their new values.
            where: attributes and the values that they have to have.
            states: of which the item has to be in one; any where empty.
            remove: attributes that go.
        """
        sets = ", ".join(f"#{name} = :new_{name}" for name in changes)
        gone = f" REMOVE {', '.join(f'#{name}' for name in remove)}" if remove else ""
        conditions = ["attribute_exists(#key)", *(f"#{name} = :if_{name}" for name in where)]
        marks = {f":state_{number}": state for number, state in enumerate(states)}
        conditions += [f"#state IN ({', '.join(marks)})"] if states else []
        values = {f":new_{name}": value for name, value in changes.items()}
        values |= {f":if_{name}": value for name, value in where.items()}
        return self._done(
            "update_item",
            item,
            conditions,
            {"key", *changes, *where, *remove, *(["state"] if states else [])},
            values | marks,
            UpdateExpression=f"SET {sets}{gone}",
        )

    def _delete(self, item: Fields, *, where: Mapping[str, Any]) -> bool:
        """Whether an item with these attributes was there, and was deleted."""
        wanted = {**item, **where}
        conditions = [f"#{name} = :{name}" for name in wanted]
        values = {f":{name}": wanted[name] for name in wanted}
        return self._done("delete_item", item, conditions, wanted, values)

    def _done(
        self,
        operation: str,
        item: Fields,
        conditions: Iterable[str],
        names: Iterable[str],
        values: Fields,
        **more: Any,
    ) -> bool:
        """Whether something was done with an item; not where a condition does not hold."""
        with self._reached() as client:
            try:
                getattr(client, operation)(
                    TableName=self.table,
                    Key=wire(item),
                    ConditionExpression=" AND ".join(conditions),
                    ExpressionAttributeNames={f"#{name}": name for name in names},
                    ExpressionAttributeValues=wire(values),
                    **more,
                )
            except client.exceptions.ConditionalCheckFailedException:
                return False
        return True

    def _transact(
        self,
        *,
        new: Sequence[Fields] = (),
        over: str = "",
        absent: Sequence[Fields] = (),
        delete: Sequence[Fields] = (),
    ) -> bool:
        """Whether all of it was carried out; nothing was, where not.

        Args:
            new: items to write where there are none.
            over: the owner of those that they are written over.
            absent: keys of items that must not be there.
            delete: keys of items that go, if they are there.
        """
        free = {
            "TableName": self.table,
            "ConditionExpression": "attribute_not_exists(#key)",
            "ExpressionAttributeNames": {"#key": "key"},
        }
        owned = {
            "TableName": self.table,
            "ConditionExpression": "#owner = :owner",
            "ExpressionAttributeNames": {"#owner": "owner"},
            "ExpressionAttributeValues": wire({":owner": over}),
        }
        put = owned if over else free
        actions: builtins.list[Fields] = [{"Put": put | {"Item": wire(item)}} for item in new]
        actions += [{"ConditionCheck": free | {"Key": wire(key)}} for key in absent]
        actions += [{"Delete": {"TableName": self.table, "Key": wire(key)}} for key in delete]
        with self._reached() as client:
            try:
                client.transact_write_items(TransactItems=actions)
            except client.exceptions.TransactionCanceledException as error:
                reasons = error.response.get("CancellationReasons", ())
                if not {each.get("Code") for each in reasons} <= PREVENTED:
                    raise
                return False
            except client.exceptions.TransactionInProgressException:
                return False
        return True

    def _unavailable(self, problem: str) -> OutboxUnavailable:
        """The error for a problem that follows the table's name."""
        return OutboxUnavailable(f"the outbox table {self.table} {problem}")

    def _replies(self, queue: str, since: float, until: float, options: Fields) -> Iterator[Any]:
        bound = " AND #at >= :at" if since > -inf else " AND #at <= :at" if until < inf else ""
        place = since if since > -inf else until
        query = {
            "TableName": self.table,
            "IndexName": INDEX,
            "KeyConditionExpression": "#queue = :queue" + bound,
            "ExpressionAttributeNames": {"#queue": "queue"} | ({"#at": "at"} if bound else {}),
            "ExpressionAttributeValues": wire({":queue": queue, ":at": place}),
        }
        while True:
            with self._reached() as client:
                reply = client.query(**query, **options)
            yield reply
            if not reply.get("LastEvaluatedKey"):
                return
            query["ExclusiveStartKey"] = reply["LastEvaluatedKey"]

    @contextmanager
    def _reached(self) -> Iterator[Any]:
        """The client; its errors as OutboxUnavailable."""
        from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415 - heavy

        try:
            yield self._connected()
        except ClientError as error:
            code = str(error.response.get("Error", {}).get("Code", "an error"))
            raise self._unavailable(PROBLEMS.get(code, f"answers {code}")) from None
        except BotoCoreError as error:
            name = type(error).__name__
            raise self._unavailable(PROBLEMS.get(name, f"cannot be reached: {name}")) from None

    def _connected(self) -> Any:
        with self._lock:
            client = self._client or dynamodb_client(self.region, self._endpoint)
            if not self._watched:
                client.meta.events.register("after-call.dynamodb", self._tell_time)
            self._client, self._watched = client, True
            return client

    def _tell_time(self, parsed: Mapping[str, Any], **_: object) -> None:
        """Read the service's time from a reply; one that does not say leaves it as it is."""
        headers = parsed.get("ResponseMetadata", {}).get("HTTPHeaders", {})
        known = self._seconds_ahead or 0.0
        with suppress(ValueError, TypeError):
            found = parsedate_to_datetime(headers.get("date")).timestamp() - self._clock()
            if abs(found - known) > AGREED:
                known = found if abs(found) > AGREED else 0.0
        self._seconds_ahead = known


def _key(target: Target) -> str:
    """Of a rollout: ids of any length in 64 characters."""
    return sha256(json.dumps([target.job_arn, target.trajectory_id]).encode()).hexdigest()


def _item(key: str, kind: str) -> dict[str, Any]:
    return {"key": key, "kind": kind}


def _item_in(fields: Fields) -> Fields:
    return _item(fields["key"], fields["kind"])


def _item_of(intent: Intent) -> dict[str, Any]:
    return _item(_key(intent.target), intent.operation)


def _lease(owner: str) -> dict[str, Any]:
    return _item(f"{LEASE}{owner}", "lease")


def wire(fields: Mapping[str, Any]) -> Fields:
    """Attributes as DynamoDB writes them; it has no infinity: such a number is left out."""
    return {
        name: {"S": value} if isinstance(value, str) else {"N": repr(value)}
        for name, value in fields.items()
        if value != inf
    }


def _plain(item: Mapping[str, Any]) -> Fields:
    """Attributes as values; a window that was left out has no end."""
    values = {
        name: value["S"] if "S" in value else float(value["N"]) for name, value in item.items()
    }
    return {"expires": inf} | values
