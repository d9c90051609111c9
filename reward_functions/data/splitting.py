"""Splits: what a held-out file shares with the one that is trained on, and how to make one.

| kind | two rows share |
| --- | --- |
| page | `metadata.page`: the same filing, another question |
| prompt | `metadata.prompt`, or the text of the last user turn to the letter |
| near-duplicate | its words, numbers and signs, without punctuation and capitals |

A row that leaks is known to the policy before it is asked. Paraphrases are not found. A sign that
operates on a number or on a variable is no punctuation: 3 + 5, 3 - 5 and 3.5 are three prompts.

A split is made by group, so that no page and no prompt stands on two sides. Groups are shuffled by
a seed, in an order that does not depend on the file's. Each goes where most rows are still missing,
so the sizes are as near to the ratio as whole groups allow.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from dataclasses import dataclass
from hashlib import blake2b
from io import StringIO
from itertools import chain, combinations
from random import Random
from typing import TYPE_CHECKING, Any, Final, Literal

from reward_functions.core.errors import ConfigurationError
from reward_functions.data.records import text_of
from reward_functions.quantities.unicode_forms import folded

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence


Shared = Literal["page", "prompt", "near-duplicate"]

_TOKEN: Final = re.compile(r"\w+|\*\*|[<>!]=|[^\w\s]")

_WRITTEN_AS: Final = str.maketrans("−–×÷·", "--*/*")
"""Signs that are written in more than one way."""

_BETWEEN: Final = frozenset({"*", "**", "/", "^", "=", "<", ">", "<=", ">=", "!="})
"""Signs with an operand on either side; in other places they set a text bold, or quote."""

_BEFORE: Final = frozenset("+-")
"""Signs with an operand behind them."""

_POINTS: Final = frozenset(".:")
"""Part of a number directly between two digits."""

_OPENING: Final = frozenset("([")
_CLOSING: Final = frozenset(")]")
_PERCENT: Final = "%"

_BRACKETS: Final = frozenset("()[]{}\\|!")
"""Beside a sign, what stands for an operand: where it begins or ends."""

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


LONG: Final = 4096
"""Characters of a group that are kept."""


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
        asked = normal(prompt_of(row))
        for mark in _marks(row, asked):
            seen[mark].append(name)
        if asked:
            self._asked.setdefault(file, defaultdict(list))[_digest(asked)].append(name)

    def leaks(self) -> list[Leak]:
        """The leaks between two files; a near-duplicate that is a duplicate is listed once."""
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
    """The text of the last user turn; "" without one."""
    messages = row.get("messages")
    for turn in reversed(messages if isinstance(messages, list) else []):
        if isinstance(turn, dict) and turn.get("role") == "user":
            return text_of(turn.get("content"))
    return ""


def group_of(row: Mapping[str, Any], by: Literal["page", "prompt"]) -> str | None:
    """The key that keeps a row on one side of a split: its page, or its prompt; None without one.

    A long one is its beginning and a digest of the whole: a split keeps one of every row.
    """
    metadata = row.get("metadata")
    named = metadata.get(by) if isinstance(metadata, dict) else None
    if not (isinstance(named, str) and named):
        named = normal(prompt_of(row)) if by == "prompt" else ""
    return f"{named[:LONG]} {_digest(named).hex()}" if len(named) > LONG else named or None


def components(keys: Iterable[Sequence[str]]) -> dict[str, str]:
    """The group of each key, where the keys of a row, and rows that share a key, are of one group.

    A group is called the first of its keys by the alphabet, in any order of the rows.

    Args:
        keys: of each row, one or more.
    """
    parents: dict[str, str] = {}

    def root(key: str) -> str:
        while parents.setdefault(key, key) != key:
            parents[key] = key = parents[parents[key]]
        return key

    for each in keys:
        first = min(map(root, each))
        for key in each:
            parents[root(key)] = first
    return {key: root(key) for key in parents}


def _marks(row: Mapping[str, Any], asked: str) -> Iterator[tuple[Shared, bytes]]:
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
        yield "near-duplicate", _digest(asked)


def normal(text: str) -> str:
    """The words, numbers and signs of a text, without its capitals and punctuation."""
    whole = folded(text).translate(_WRITTEN_AS)
    written = StringIO()
    before, here = "", None
    # A token at a time: those of a long text take a hundred times its bytes.
    for after in chain(_TOKEN.finditer(whole), [None]):
        if here is not None:
            symbol = here[0]
            if _says(symbol, before, after[0] if after else "") or (
                symbol in _POINTS and _inside_a_number(whole, here.start())
            ):
                written.write(f" {symbol}")
            before = symbol
        here = after
    return written.getvalue()[1:]


def _says(symbol: str, before: str, after: str) -> bool:
    """Whether a token says something between its neighbours, "" at an end of the text."""
    if symbol[0].isalnum() or symbol[0] == "_":
        return True
    if symbol in _BETWEEN:
        return _operand(before) and (_operand(after) or after in _BEFORE)
    if symbol in _BEFORE:
        return _operand(after)
    if symbol in _OPENING:
        return before in _BETWEEN or before in _BEFORE
    if symbol in _CLOSING:
        return after in _BETWEEN or after in _BEFORE
    if symbol == _PERCENT:
        return before[-1:].isdigit()
    return not symbol.isascii() and unicodedata.category(symbol) == "Sm"


def _operand(token: str) -> bool:
    """A number, a variable of one letter, or where a bracket stands for either."""
    return token in _BRACKETS or token[:1].isdigit() or (len(token) == 1 and token.isalpha())


def _inside_a_number(whole: str, at: int) -> bool:
    return whole[at - 1 : at].isdigit() and whole[at + 1 : at + 2].isdigit()


def _digest(text: str) -> bytes:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=DIGEST).digest()


NAMES: Final = {2: ("train", "test"), 3: ("train", "val", "test")}
"""What the parts are called, by how many there are."""

PART: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]{0,63}")
"""What a part may be called: its file is called so."""


class BadRatio(ConfigurationError):
    """A ratio that cannot be split by. The message says why."""


def parse_ratio(text: str, names: str | None = None) -> dict[str, float]:
    """The shares of `80/10/10` or `90/10`, by the name of the part; they add up to 1.

    Args:
        text: the ratio.
        names: of the parts, `train/dev/test`; None for those of `NAMES`.

    Raises:
        BadRatio: it is nothing of that kind, or the names are not as many.
    """
    try:
        parts = [float(part) for part in text.split("/")]
    except ValueError:
        parts = []
    if len(parts) not in NAMES or not all(0 < part < float("inf") for part in parts):
        raise BadRatio(f"a ratio is two or three positive numbers, 80/10/10, not {text!r}")
    called = NAMES[len(parts)] if names is None else tuple(names.split("/"))
    if len(set(called)) < len(parts) or len(called) > len(parts):
        raise BadRatio(f"{len(parts)} parts need {len(parts)} names, not {names!r}")
    if not all(map(PART.fullmatch, called)):
        raise BadRatio(f"a part is called a name of letters, digits, - and _, not {names!r}")
    return {name: part / sum(parts) for name, part in zip(called, parts, strict=True)}


def assigned(groups: Sequence[str], shares: Mapping[str, float], seed: int) -> dict[str, str]:
    """The part every group goes to.

    Args:
        groups: the group of every row.
        shares: of the parts, by name.
        seed: of the shuffle.

    Raises:
        BadRatio: a part would stay empty, for want of groups.
    """
    sizes = Counter(groups)
    order = sorted(sizes)
    Random(seed).shuffle(order)  # noqa: S311 - the same shuffle in every run
    wanting = {name: share * len(groups) for name, share in shares.items()}
    parts: dict[str, str] = {}
    for group in order:
        part = max(wanting, key=wanting.__getitem__)
        parts[group] = part
        wanting[part] -= sizes[group]
    empty = wanting.keys() - parts.values()
    if empty:
        raise BadRatio(
            f"{len(sizes):,} group{'s are' if len(sizes) != 1 else ' is'} too few for "
            f"{len(shares)} parts: "
            f"{', '.join(sorted(empty))} would be empty"
        )
    return parts
