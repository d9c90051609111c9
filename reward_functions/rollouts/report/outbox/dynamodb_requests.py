"""The requests that an outbox makes of its DynamoDB table; their errors say what to do.

A condition that does not hold is an answer, and no error.
"""

from __future__ import annotations

from contextlib import contextmanager, suppress
from email.utils import parsedate_to_datetime
from math import inf
from threading import Lock
from time import sleep
from typing import TYPE_CHECKING, Any, Final

from reward_functions.rollouts.report.outbox.dynamodb_table import INDEX, PROBLEMS, dynamodb_client
from reward_functions.rollouts.request.clock import AGREED, steady
from reward_functions.rollouts.request.errors import OutboxUnavailable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

BATCH: Final = 100
"""Items of a BatchGetItem, by DynamoDB's limit, and of a page of a query."""

PAUSES: Final = (0.05, 0.1, 0.2, 0.4, 0.8)
"""Seconds between the tries of a BatchGetItem that a throttled table answers in part: botocore
takes that for a success. Source: its reference asks for exponential backoff."""

PREVENTED: Final = {"None", "ConditionalCheckFailed", "TransactionConflict"}
"""Why a transaction was not carried out, where it may be tried again."""

Fields = dict[str, Any]


class TableRequests:
    """One table; shared by threads.

    Args:
        table: its name.
        region: of AWS; "" for the environment's.
        endpoint: a URL in place of the service's own; "" for none.
        client: boto3's for DynamoDB; one is made at first use where None.
        sleep: waits for some seconds.
        clock: of the process.
    """

    def __init__(
        self,
        table: str,
        region: str,
        endpoint: str,
        client: Any,
        *,
        sleep: Callable[[float], object] = sleep,
        clock: Callable[[], float] = steady,
    ) -> None:
        self._ahead: float | None = None
        self._clock = clock
        self.table = table
        self._region = region
        self._endpoint = endpoint
        self._client = client
        self._sleep = sleep
        self._watched = False
        self._lock = Lock()

    def ahead(self) -> float:
        """Seconds by which the service's time is ahead of the clock; 0.0 where they nearly agree.

        All who share the table have the service's.
        """
        if self._ahead is None:
            self.kinds("no rollout")
        return self._ahead or 0.0

    def kinds(self, key: str) -> dict[str, Fields]:
        """The items under a key, by kind; strongly consistent."""
        with self._reached() as client:
            reply = client.query(
                TableName=self.table,
                KeyConditionExpression="#key = :key",
                ExpressionAttributeNames={"#key": "key"},
                ExpressionAttributeValues=wire({":key": key}),
                ConsistentRead=True,
            )
        return {item["kind"]: item for item in map(plain, reply["Items"])}

    def items(self, keys: Sequence[Fields]) -> Iterator[Fields]:
        """Those items that exist, in no order; strongly consistent."""
        for start in range(0, len(keys), BATCH):
            page = [wire(key) for key in keys[start : start + BATCH]]
            wanted = {self.table: {"Keys": page, "ConsistentRead": True}}
            for pause in PAUSES:
                with self._reached() as client:
                    reply = client.batch_get_item(RequestItems=wanted)
                yield from map(plain, reply["Responses"].get(self.table, ()))
                wanted = reply.get("UnprocessedKeys", {})
                if not wanted:
                    break
                self._sleep(pause)
            else:
                raise self.unavailable("is throttled")

    def queue(
        self, queue: str, *, since: float = -inf, until: float = inf, newest: bool = False
    ) -> Iterator[list[Fields]]:
        """The items of a queue in its order, by pages; as the index has them.

        Args:
            queue: its name.
            since: the first place that counts; `until` is not asked for with it.
            until: the last place that counts.
            newest: from the end.
        """
        options = {"ScanIndexForward": not newest, "Limit": BATCH}
        for reply in self._replies(queue, since, until, options):
            yield [plain(item) for item in reply["Items"]]

    def count(self, queue: str) -> int:
        """How many items a queue has; it reads each."""
        return sum(reply["Count"] for reply in self._replies(queue, -inf, inf, {"Select": "COUNT"}))

    def put(self, item: Fields) -> None:
        """Write an item over whatever is there."""
        with self._reached() as client:
            client.put_item(TableName=self.table, Item=wire(item))

    def update(
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
        names = {"key", *changes, *where, *remove, *(["state"] if states else [])}
        values = {f":new_{name}": value for name, value in changes.items()}
        values |= {f":if_{name}": value for name, value in where.items()}
        with self._reached() as client:
            try:
                client.update_item(
                    TableName=self.table,
                    Key=wire(item),
                    UpdateExpression=f"SET {sets}{gone}",
                    ConditionExpression=" AND ".join(conditions),
                    ExpressionAttributeNames={f"#{name}": name for name in names},
                    ExpressionAttributeValues=wire(values | marks),
                )
            except client.exceptions.ConditionalCheckFailedException:
                return False
        return True

    def delete(self, item: Fields, *, where: Mapping[str, Any]) -> bool:
        """Whether an item with these attributes was there, and was deleted."""
        wanted = {**item, **where}
        with self._reached() as client:
            try:
                client.delete_item(
                    TableName=self.table,
                    Key=wire(item),
                    ConditionExpression=" AND ".join(f"#{name} = :{name}" for name in wanted),
                    ExpressionAttributeNames={f"#{name}": name for name in wanted},
                    ExpressionAttributeValues=wire({f":{name}": wanted[name] for name in wanted}),
                )
            except client.exceptions.ConditionalCheckFailedException:
                return False
        return True

    def transact(
        self,
        *,
        new: Sequence[Fields] = (),
        over: Mapping[str, Fields] | None = None,
        absent: Sequence[Fields] = (),
        delete: Sequence[Fields] = (),
    ) -> bool:
        """Whether all of it was carried out; nothing was, where not.

        Args:
            new: items to write where there are none.
            over: items to write over those of an owner, by that owner.
            absent: keys of items that must not be there.
            delete: keys of items that go, if they are there.
        """
        free = {
            "TableName": self.table,
            "ConditionExpression": "attribute_not_exists(#key)",
            "ExpressionAttributeNames": {"#key": "key"},
        }
        actions = [{"Put": free | {"Item": wire(item)}} for item in new]
        for owner, item in (over or {}).items():
            owned = {
                "TableName": self.table,
                "ConditionExpression": "#owner = :owner",
                "ExpressionAttributeNames": {"#owner": "owner"},
                "ExpressionAttributeValues": wire({":owner": owner}),
            }
            actions.append({"Put": owned | {"Item": wire(item)}})
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

    def close(self) -> None:
        """Close its connections."""
        with self._lock:
            if self._client is not None:
                self._client.close()

    def unavailable(self, problem: str) -> OutboxUnavailable:
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
            raise self.unavailable(PROBLEMS.get(code, f"answers {code}")) from None
        except BotoCoreError as error:
            name = type(error).__name__
            raise self.unavailable(PROBLEMS.get(name, f"cannot be reached: {name}")) from None

    def _connected(self) -> Any:
        with self._lock:
            client = self._client or dynamodb_client(self._region, self._endpoint)
            if not self._watched:
                client.meta.events.register("after-call.dynamodb", self._tell_time)
            self._client, self._watched = client, True
            return client

    def _tell_time(self, parsed: Mapping[str, Any], **_: object) -> None:
        """Read the service's time from a reply; one that does not say leaves it as it is."""
        headers = parsed.get("ResponseMetadata", {}).get("HTTPHeaders", {})
        known = self._ahead or 0.0
        with suppress(ValueError, TypeError):
            found = parsedate_to_datetime(headers.get("date")).timestamp() - self._clock()
            if abs(found - known) > AGREED:
                known = found if abs(found) > AGREED else 0.0
        self._ahead = known


def wire(fields: Mapping[str, Any]) -> Fields:
    """Attributes as DynamoDB writes them; it has no infinity: such a number is left out."""
    return {
        name: {"S": value} if isinstance(value, str) else {"N": repr(value)}
        for name, value in fields.items()
        if value != inf
    }


def plain(item: Mapping[str, Any]) -> Fields:
    """Attributes as values; a window that was left out has no end."""
    values = {
        name: value["S"] if "S" in value else float(value["N"]) for name, value in item.items()
    }
    return {"expires": inf} | values
