"""Verdicts given before: in a warm function's memory, and in a DynamoDB table if one is named.

A remembered verdict holds the choices and none of the texts: a model's reasons may quote what it
judged. It is kept under a hash of the question and of the model with everything that changes its
answers. Failures are never remembered, and a table that cannot be reached is an empty one.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from hashlib import sha256
from threading import Lock
from time import time
from typing import TYPE_CHECKING, Any, Final, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reward_functions.core.asking import Question
    from reward_functions.judge_runtime.config import JudgeModel

DAY: Final = 86_400


class Shelf(Protocol):
    """A place verdicts are kept."""

    def get(self, key: str) -> Mapping[str, str] | None:
        """The choices kept under a key."""

    def put(self, key: str, choices: Mapping[str, str]) -> None:
        """Keep them."""


class Warm:
    """The most recently used verdicts of this process.

    Args:
        size: how many.
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self._kept: OrderedDict[str, Mapping[str, str]] = OrderedDict()
        self._lock = Lock()

    def get(self, key: str) -> Mapping[str, str] | None:
        """The choices kept under a key."""
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
            return self._kept.get(key)

    def put(self, key: str, choices: Mapping[str, str]) -> None:
        """Keep them, and forget the ones longest unused."""
        with self._lock:
            self._kept[key] = choices
            self._kept.move_to_end(key)
            while len(self._kept) > self.size:
                self._kept.popitem(last=False)


class Table:
    """A DynamoDB table: partition key `key`, attribute `verdict`, time to live `expires`.

    Args:
        client: boto3's for DynamoDB.
        name: of the table.
        days: until a verdict expires.
    """

    def __init__(self, client: Any, name: str, days: float) -> None:
        self.client = client
        self.name = name
        self.seconds = days * DAY

    def get(self, key: str) -> Mapping[str, str] | None:
        """The choices kept under a key, unless they expired: DynamoDB deletes late."""
        from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415 - heavy

        try:
            found = self.client.get_item(TableName=self.name, Key={"key": {"S": key}})
            item = found.get("Item", {})
            if float(item["expires"]["N"]) < time():
                return None
            choices = json.loads(item["verdict"]["S"])
        except (BotoCoreError, ClientError, KeyError, ValueError):
            return None
        return choices if isinstance(choices, dict) else None

    def put(self, key: str, choices: Mapping[str, str]) -> None:
        """Keep them."""
        from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415 - heavy

        item = {
            "key": {"S": key},
            "verdict": {"S": json.dumps(choices)},
            "expires": {"N": str(int(time() + self.seconds))},
        }
        try:
            self.client.put_item(TableName=self.name, Item=item)
        except (BotoCoreError, ClientError):
            return  # the next one asks again


class Memory:
    """Several shelves, nearest first.

    Args:
        shelves: what is found on a farther one is put on the nearer ones.
    """

    def __init__(self, shelves: Sequence[Shelf]) -> None:
        self.shelves = shelves

    def recall(self, question: Question, model: JudgeModel) -> dict[str, str] | None:
        """A legal verdict given before, its texts empty; None without one."""
        key = _key(question, model)
        for distance, shelf in enumerate(self.shelves):
            choices = shelf.get(key)
            if choices is not None and _fits(choices, question):
                for nearer in self.shelves[:distance]:
                    nearer.put(key, choices)
                return question.filled(choices)
        return None

    def keep(self, question: Question, model: JudgeModel, values: Mapping[str, str]) -> None:
        """Keep the choices of a verdict on every shelf."""
        choices = {each.name: values[each.name] for each in question.fields if each.choices}
        for shelf in self.shelves:
            shelf.put(_key(question, model), choices)


def _key(question: Question, model: JudgeModel) -> str:
    judge = [model.backend, model.endpoint, model.called, model.form]
    numbers = [model.temperature, model.max_tokens]
    return sha256(json.dumps([judge, numbers, question.key]).encode()).hexdigest()


def _fits(choices: Mapping[str, str], question: Question) -> bool:
    """Whether the choices are those the question offers; a table can hold anything."""
    offered = {each.name: each.choices for each in question.fields if each.choices}
    return choices.keys() == offered.keys() and all(
        choices[name] in legal for name, legal in offered.items()
    )
