"""Which row a prompt is of: a simulated policy writes right answers from the row's reference.

The rows are those of `*.jsonl` under `rft-data/` in the emulator's buckets, of files uploaded to
the OpenAI-compatible API, and of files named at the start. A prompt that is none of theirs has no
reference, and no answer.
"""

from __future__ import annotations

from hashlib import sha256
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from reward_functions.aws.catalogue import DATA_PREFIX
from reward_functions.data.records import text_of
from reward_functions.local.loopback_service.refusals import invalid
from reward_functions.local.training_double.datafiles import prompts
from reward_functions.local.training_double.errors import JobFailed
from reward_functions.local.training_double.low_discrepancy import places

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from reward_functions.local.training_double.clients import Clients
    from reward_functions.local.training_double.datafiles import Row

LARGEST: Final = 64 * 1024 * 1024
"""Bytes of an object that is looked into."""


class Known(NamedTuple):
    """A row, and its place among the prompts of its file."""

    row: Row
    place: int


class Prompts:
    """Rows by their prompts.

    Args:
        clients: of the emulator whose buckets are looked through.
    """

    def __init__(self, clients: Clients) -> None:
        self._clients = clients
        self._rows: dict[bytes, Known] = {}
        self._read: dict[tuple[str, str], str] = {}
        self._lock = Lock()

    def add(self, rows: Iterable[Row]) -> None:
        """Know these rows of one file from now on."""
        found = {_key(row["messages"]): row for row in rows}
        known = map(Known, found.values(), places(len(found)))
        with self._lock:
            self._rows.update(zip(found, known, strict=True))

    def forget(self) -> None:
        """Know no row."""
        with self._lock:
            self._rows.clear()
            self._read.clear()

    def row_of(self, messages: Sequence[Mapping[str, Any]]) -> Known:
        """The row whose prompt these messages are.

        Args:
            messages: turns with `role` and `content`, a system prompt among them.

        Raises:
            Refused: there is none; the message says what to do.
        """
        key = _key(messages)
        if key not in self._rows:
            self._look()
        row = self._rows.get(key)
        if row is None:
            raise invalid(
                "simulation: no row has this prompt. The training double answers prompts of "
                f"*.jsonl files under s3://BUCKET/{DATA_PREFIX} on the local AWS, of uploaded "
                "files, and of `reward local up --training --data FILE`: upload the file first"
            )
        return row

    def _look(self) -> None:
        """Read what is new in the buckets."""
        s3 = self._clients.root("s3")
        for bucket, key, etag in _objects(s3):
            if self._read.get((bucket, key)) == etag:
                continue
            content = s3.get_object(Bucket=bucket, Key=key)["Body"].read()
            self._read[bucket, key] = etag
            try:
                self.add(prompts(content, key))
            except JobFailed:
                continue  # not a file of prompts, and no concern of whoever asks


def _objects(s3: Any) -> Iterator[tuple[str, str, str]]:
    """The bucket, the key and the ETag of each file of prompts."""
    for bucket in s3.list_buckets()["Buckets"]:
        name = bucket["Name"]
        pages = s3.get_paginator("list_objects_v2").paginate(Bucket=name, Prefix=DATA_PREFIX)
        for page in pages:
            for found in page.get("Contents", []):
                if found["Key"].endswith(".jsonl") and found["Size"] <= LARGEST:
                    yield name, found["Key"], found["ETag"]


def _key(messages: Sequence[Mapping[str, Any]]) -> bytes:
    digest = sha256()
    for turn in messages:
        role = "system" if turn.get("role") == "developer" else str(turn.get("role"))
        text = text_of(turn.get("content")).strip()
        digest.update(f"{role}\0{len(text)}\0{text}\0".encode())
    return digest.digest()
