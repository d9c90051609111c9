"""A shard: the part of an object that is scored as one, as a line of `manifest.jsonl`.

    {"part": 3, "kind": "lines", "name": "rows.jsonl", "size": 201326592, "etag": "9b2c…",
     "start": 134217728, "end": 201326592, "line": 61234, "row": 61230}

Parts are numbered from 0 in the order of the objects and of their ranges; the results of part N
stand in `part-00000N.jsonl`. `line`, `row` and `rows` are known when all shards are counted.
"""

from __future__ import annotations

import json
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TypeVar

if TYPE_CHECKING:
    from collections.abc import Container, Mapping, Sequence

    from reward_functions.scoring.ranges import Counted

Kind = Literal["lines", "whole", "groups"]
"""A range of lines; a whole object of any format; row groups of a parquet file."""

FAILED: Final = ".failed.json"

UNCOUNTED: Final = 7
"""Fields of a shard that are known before it is counted."""

Task = Literal["count", "score"]
"""What an engine has done with shards."""


class Shard(NamedTuple):
    """One shard.

    Args:
        part: its number, from 0.
        kind: what `start` and `end` are: bytes of "lines" and "whole", row groups of "groups".
        name: of the object, below the source.
        size: of the object, in bytes.
        etag: of the object.
        start: the first byte or row group.
        end: the one after the last.
        line: lines of the object before it; of "groups" rows; None before they are counted.
        row: rows of the whole source before it; None before they are counted.
        rows: of its own; None where nobody counted them.
    """

    part: int
    kind: Kind
    name: str
    size: int
    etag: str
    start: int
    end: int
    line: int | None = None
    row: int | None = None
    rows: int | None = None

    @property
    def results(self) -> str:
        """The name of its results: `part-000003.jsonl`."""
        return f"part-{self.part:06}.jsonl"

    @property
    def begun(self) -> str:
        """The name of what is done of it, where its time was too short."""
        return f"part-{self.part:06}.begun.jsonl"

    @property
    def bytes(self) -> int:
        """That are read of its object, at most."""
        return self.end - self.start if self.kind == "lines" else self.size

    @property
    def facts(self) -> str:
        """The name of the facts of its results, which say that they are complete."""
        return f"part-{self.part:06}.facts.json"

    @property
    def failed(self) -> str:
        """The name of why it is not done, where somebody tried in vain."""
        return f"part-{self.part:06}{FAILED}"

    def is_done(self, names: Container[str]) -> bool:
        """Whether its part is done in a folder of these names."""
        return self.facts in names and self.results in names

    def item(self) -> dict[str, Any]:
        """As JSON has it, in a manifest or in the event of a function."""
        return self._asdict()

    @classmethod
    def of(cls, item: Mapping[str, Any]) -> Shard:
        """The shard that `item` wrote.

        Raises:
            ValueError: it is no shard, or leads out of its place.
        """
        found = _of(cls, item)
        inside = not found.name.startswith("/") and ".." not in found.name.split("/")
        if not (isinstance(found.part, int) and found.part >= 0 and found.etag and inside):
            raise ValueError(f"{found.name} is no object of a source, or its part no number")
        return found


class Done(NamedTuple):
    """The outcome of a shard; at most 300 bytes of JSON.

    Args:
        part: its number.
        lines: that a count found; 0 of scored shards.
        rows: that a count found, or that have a result by now.
        unscored: of them.
        seconds: that it took.
        next_row: rows of the shard that are done, where its time was too short; None where all are.
        unusable: object, line and problem, where a line is no row: the whole run is not usable.
        error: why it is not done, where something of ours failed; it may be asked again.
    """

    part: int
    lines: int = 0
    rows: int = 0
    unscored: int = 0
    seconds: float = 0.0
    next_row: int | None = None
    unusable: str = ""
    error: str = ""

    @property
    def complete(self) -> bool:
        """Whether nothing of it is left to do."""
        return self.next_row is None and not self.unusable and not self.error

    def item(self) -> dict[str, Any]:
        """As JSON has it: what is not the usual."""
        usual = self._field_defaults
        return {name: value for name, value in self._asdict().items() if value != usual.get(name)}

    @classmethod
    def of(cls, item: Mapping[str, Any]) -> Done:
        """What `item` wrote.

        Raises:
            ValueError: it is nothing of the kind.
        """
        return _of(cls, item)


Item = TypeVar("Item", Shard, Done)


def _of(cls: type[Item], item: Mapping[str, Any]) -> Item:
    try:
        return cls(**item)
    except TypeError:
        raise ValueError(f"{cls.__name__} has other fields than {sorted(item)}") from None


def digest_of(shards: Sequence[Shard]) -> str:
    """The SHA-256 of what shards are of, whether or not they are counted."""
    return sha256(json.dumps([shard[:UNCOUNTED] for shard in shards]).encode()).hexdigest()


def numbered(shards: Sequence[Shard], counts: Mapping[int, Counted]) -> list[Shard]:
    """The shards with the lines and rows before each.

    Args:
        shards: of a run, in order.
        counts: by part, of every shard.
    """
    found: list[Shard] = []
    line = row = 0
    for shard in shards:
        line = line if found and found[-1].name == shard.name else 0
        found.append(shard._replace(line=line, row=row, rows=counts[shard.part].rows))
        line += counts[shard.part].lines
        row += counts[shard.part].rows
    return found
