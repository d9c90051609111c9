"""Finds what a held-out file shares with the one that is trained on.

| kind | two rows share |
| --- | --- |
| page | `metadata.page`: the same filing, another question |
| prompt | `metadata.prompt`, or the text of the last user turn to the letter |
| near-duplicate | the words and digits of that turn, whatever the punctuation and capitals |

A row that leaks is known to the policy before it is asked. Paraphrases are not found.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from hashlib import blake2b
from itertools import combinations
from typing import TYPE_CHECKING, Any, Final, Literal

from reward_functions.quantities.unicode_forms import folded
from reward_functions.tools.datasets.rows import text_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

Shared = Literal["page", "prompt", "near-duplicate"]

_WORD: Final = re.compile(r"\w+")

DIGEST: Final = 12
"""Bytes of a digest: two of a million rows share one once in 10^17."""


@dataclass(frozen=True, slots=True)
class Leak:
    """What two files share.

    Args:
        shared: the kind.
        files: their names.
        rows: how many rows of the second have their like in the first.
        example: the ids of two such rows.
    """

    shared: Shared
    files: tuple[str, str]
    rows: int
    example: tuple[str, str]

    def __str__(self) -> str:
        """One line for a person."""
        one, other = self.files
        what = f"{self.shared} of {self.rows:,} row{'s' * (self.rows > 1)}"
        return f"{one} and {other}: {what}, such as {self.example[0]} and {self.example[1]}"


class Overlaps:
    """The digests of pages and prompts, by file; the prompts themselves are not kept."""

    def __init__(self) -> None:
        self._ids: dict[str, dict[tuple[Shared, bytes], list[str]]] = {}
        self._asked: dict[str, dict[bytes, list[str]]] = {}

    def add(self, file: str, name: str, row: Mapping[str, Any]) -> None:
        """Remember a row.

        Args:
            file: the name of its file.
            name: its id, for the example.
            row: as a trainer reads it.
        """
        seen = self._ids.setdefault(file, defaultdict(list))
        for mark in _marks(row):
            seen[mark].append(name)
        asked = _normal(prompt_of(row))
        if asked:
            self._asked.setdefault(file, defaultdict(list))[_digest(asked)].append(name)

    def leaks(self) -> list[Leak]:
        """What every two files share; a near-duplicate that is a duplicate is listed once."""
        return [leak for pair in combinations(self._ids, 2) for leak in self._between(*pair)]

    def repeated(self) -> Iterator[tuple[str, list[str]]]:
        """(file, ids) of rows of one file that ask the same, punctuation and capitals apart."""
        for file, asked in self._asked.items():
            yield from ((file, names) for names in asked.values() if len(names) > 1)

    def _between(self, one: str, other: str) -> Iterator[Leak]:
        first, second = self._ids[one], self._ids[other]
        duplicates: set[str] = set()
        for kind in ("page", "prompt", "near-duplicate"):
            both = {mark for mark in first.keys() & second.keys() if mark[0] == kind}
            rows = {name: mark for mark in both for name in second[mark]}
            if kind == "prompt":
                duplicates.update(rows)
            if kind == "near-duplicate":
                rows = {name: rows[name] for name in rows.keys() - duplicates}
            if rows:
                name = min(rows)
                yield Leak(kind, (one, other), len(rows), (first[rows[name]][0], name))


def prompt_of(row: Mapping[str, Any]) -> str:
    """The text of the last user turn; "" where there is none."""
    messages = row.get("messages")
    for turn in reversed(messages if isinstance(messages, list) else []):
        if isinstance(turn, dict) and turn.get("role") == "user":
            return text_of(turn.get("content"))
    return ""


def group_of(row: Mapping[str, Any], by: Literal["page", "prompt"]) -> str | None:
    """What keeps a row on one side of a split: its page, or its prompt; None without one."""
    metadata = row.get("metadata")
    named = metadata.get(by) if isinstance(metadata, dict) else None
    if isinstance(named, str) and named:
        return named
    return _normal(prompt_of(row)) or None if by == "prompt" else None


def _marks(row: Mapping[str, Any]) -> Iterator[tuple[Shared, bytes]]:
    metadata = row.get("metadata")
    page = group_of(row, "page")
    if page:
        yield "page", _digest(page)
    named = metadata.get("prompt") if isinstance(metadata, dict) else None
    if isinstance(named, str) and named:
        yield "prompt", _digest(f"metadata {named}")
        return  # such rows differ in what is judged, and share a prompt on purpose
    prompt = prompt_of(row)
    if prompt.strip():
        yield "prompt", _digest(prompt)
        yield "near-duplicate", _digest(_normal(prompt))


def _normal(text: str) -> str:
    return " ".join(_WORD.findall(folded(text)))


def _digest(text: str) -> bytes:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=DIGEST).digest()
