"""Verdicts given before: in a warm function's memory, and in a DynamoDB table if one is named.

A cached verdict holds the choices and none of the texts: a model's reasons may quote the material.
Its key is a hash of the question, the model, and every setting that changes the model's answers.
Failures are not cached. A table that cannot be reached counts as empty.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from hashlib import sha256
from threading import Lock
from time import time
from typing import TYPE_CHECKING, Any, Final, Protocol

from reward_functions.core.errors import BadJudge
from reward_functions.judge_runtime.aws import client

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reward_functions.core.asking import Question
    from reward_functions.judge_runtime.config import JudgeConfig, JudgeModel

DAY: Final = 86_400


class CacheBackend(Protocol):
    """A store of choices by key."""

    def get(self, key: str) -> Mapping[str, str] | None:
        """The choices under a key; None without any."""

    def put(self, key: str, choices: Mapping[str, str]) -> None:
        """Store choices under a key."""


class LRUCache:
    """The most recently used verdicts of this process; safe to use from many threads.

    Args:
        size: how many.
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self._entries: OrderedDict[str, Mapping[str, str]] = OrderedDict()
        self._lock = Lock()

    def get(self, key: str) -> Mapping[str, str] | None:
        """The choices under a key; None without any."""
        with self._lock:
            if key in self._entries:
                self._entries.move_to_end(key)
            return self._entries.get(key)

    def put(self, key: str, choices: Mapping[str, str]) -> None:
        """Store choices under a key, and evict the least recently used."""
        with self._lock:
            self._entries[key] = choices
            self._entries.move_to_end(key)
            while len(self._entries) > self.size:
                self._entries.popitem(last=False)


class DynamoDBCache:
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
        """The choices under a key; None without any or they expired.

        The time is checked here because DynamoDB deletes expired items late.
        """
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
        """Store choices under a key; a table that refuses them is ignored."""
        from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415 - heavy

        item = {
            "key": {"S": key},
            "verdict": {"S": json.dumps(choices)},
            "expires": {"N": str(int(time() + self.seconds))},
        }
        try:
            self.client.put_item(TableName=self.name, Item=item)
        except (BotoCoreError, ClientError):
            return


class TieredCache:
    """Several caches, fastest first.

    Args:
        tiers: a verdict found in a slower one is copied to the faster ones.
    """

    def __init__(self, tiers: Sequence[CacheBackend]) -> None:
        self.tiers = tiers

    def get(
        self, question: Question, model: JudgeModel, occurrence: int = 0
    ) -> dict[str, str] | None:
        """A legal verdict given before, its texts empty; None without one."""
        key = cache_key(question, model, occurrence)
        for depth, tier in enumerate(self.tiers):
            choices = tier.get(key)
            if choices is not None and _legal(choices, question):
                for faster in self.tiers[:depth]:
                    faster.put(key, choices)
                return question.filled(choices)
        return None

    def put(
        self, question: Question, model: JudgeModel, values: Mapping[str, str], occurrence: int = 0
    ) -> None:
        """Store the choices of a verdict in every tier."""
        choices = {each.name: values[each.name] for each in question.fields if each.choices}
        for tier in self.tiers:
            tier.put(cache_key(question, model, occurrence), choices)


def open_cache(config: JudgeConfig) -> TieredCache:
    """The caches that the settings name.

    Raises:
        BadJudge: there is no region for the table.
    """
    tiers: list[CacheBackend] = [LRUCache(config.cache_size)] if config.cache_size else []
    if config.cache_table:
        from botocore.exceptions import BotoCoreError  # noqa: PLC0415 - heavy

        try:
            dynamodb = client("dynamodb", timeout=2.0)
        except BotoCoreError as error:
            raise BadJudge(f"the table {config.cache_table}: {error}") from None
        tiers.append(DynamoDBCache(dynamodb, config.cache_table, config.cache_days))
    return TieredCache(tiers)


def cache_key(question: Question, model: JudgeModel, occurrence: int = 0) -> str:
    """A hash of the question, the model, and the settings that change its answers.

    Args:
        question: what is asked.
        model: who is asked.
        occurrence: how many equal models come before it on the panel.
    """
    judge = [model.backend, model.endpoint, model.called, model.output_mode]
    numbers = [model.temperature, model.max_tokens]
    counted = [occurrence] if occurrence else []
    return sha256(json.dumps([judge, numbers, question.key, *counted]).encode()).hexdigest()


def _legal(choices: Mapping[str, str], question: Question) -> bool:
    """Whether the choices are those the question offers; a table can hold anything."""
    offered = {each.name: each.choices for each in question.fields if each.choices}
    return choices.keys() == offered.keys() and all(
        choices[name] in legal for name, legal in offered.items()
    )
