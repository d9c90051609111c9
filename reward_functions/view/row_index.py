"""The rows of a file of lines: where each begins, what it earned and why, in 34 bytes each.

A file is read once, and of one that grows the new lines alone. One that begins or ends otherwise
than what was read of it is read anew. A row is shown by its bytes, which are read again. A last
line without a line break is a row where it can be read as one, and is left until then. Another line
that is no row is counted and passed over.
"""

from __future__ import annotations

import os
import re
from array import array
from dataclasses import dataclass, field
from math import inf, isnan, nan
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from reward_functions.core.means import mean
from reward_functions.view.reading import UNREADABLE, lines, opened_in

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator, Sequence
    from pathlib import Path

    from reward_functions.view.reading import Line

GLANCE: Final = 1_000
"""Rows that are read between two looks at the time."""

BEGINNING: Final = 4_096
"""Bytes at the beginning of a file, and of what was read of it before its end, by which another one
of the same name is found out."""

CLOSING: Final = b" \t\r\n]"
"""A last line of these alone is whole, and no row."""

MOST_REASONS: Final = 10_000
"""Different reasons that are kept; the rows of further ones share `OTHER`."""

OTHER: Final = "other reasons"

SHOWN: Final = 50
"""Rows of a page."""

ORDERS: Final = ("row", "value", "-value")
"""By what rows are sorted; "-" is the largest first."""


_PLAIN: Final = re.compile(r"[ !#-\[\]-~]+")
"""A text that JSON writes as it is: a line without it need not be decoded."""


class ReadRow(NamedTuple):
    """The parts of a row that are kept.

    Args:
        value: its reward; None of one without.
        reason: of the score in its normal form, or the type of the error.
        message: of the error; "" for a scored row.
        cut: whether its response seems cut off.
        key: of two rows of one key the later counts; None where none comes twice.
    """

    value: float | None
    reason: str
    message: str = ""
    cut: bool = False
    key: Hashable = None


class SeenFile(NamedTuple):
    """By what a file is known again.

    Args:
        inode: of the file system.
        changed: when the file last did, in nanoseconds.
        beginning: its first bytes.
        ending: the last bytes of those that were read.
    """

    inode: int
    changed: int
    beginning: bytes
    ending: bytes


class Reason(NamedTuple):
    """Rows that share a reason.

    Args:
        reason: of a score, or the type of an error.
        error: whether it is that of rows without a reward.
        message: of the first row; "" for scored rows.
    """

    reason: str
    error: bool
    message: str


@dataclass(frozen=True, slots=True)
class Asked:
    """Which rows are shown.

    Args:
        low: the least reward.
        high: the largest.
        unscored: rows without a reward alone.
        reason: what their reason contains, in any case.
        text: what any of their texts contains, in any case.
        sort: one of `ORDERS`.
        page: from 1.
    """

    low: float = -inf
    high: float = inf
    unscored: bool = False
    reason: str = ""
    text: str = ""
    sort: str = "row"
    page: int = 1

    @property
    def everything(self) -> bool:
        """Whether no row is left out."""
        return self == Asked(sort=self.sort, page=self.page)


class Chosen(NamedTuple):
    """A page of rows.

    Args:
        found: how many rows are of those asked for.
        rows: the positions of those on the page.
        page: which one, from 1.
        pages: how many there are, from 1.
    """

    found: int
    rows: Sequence[int]
    page: int
    pages: int


@dataclass(slots=True)
class RowIndex:
    """The rows read so far. A row is known by its position, from 0.

    Args:
        folder: resolved.
        read: what is kept of a line; None of a line that holds no row, such as a bracket. It
            raises one of `UNREADABLE` where the line should be a row and is not.
        names: of the files, in order, relative to the folder.
    """

    folder: Path
    read: Callable[[bytes], ReadRow | None]
    names: list[str]
    values: array[float] = field(default_factory=lambda: array("d"))
    reasons: list[Reason] = field(default_factory=list)
    bad: str = ""
    bad_lines: int = 0
    complete: bool = False
    torn: bool = False
    changed: int = 0
    _numbers: dict[tuple[str, bool], int] = field(default_factory=dict)
    _keys: dict[Hashable, int] = field(default_factory=dict)
    _reason_of: array[int] = field(default_factory=lambda: array("L"))
    _cut: bytearray = field(default_factory=bytearray)
    _alive: bytearray = field(default_factory=bytearray)
    _offsets: array[int] = field(default_factory=lambda: array("q"))
    _files: array[int] = field(default_factory=lambda: array("L"))
    _ends: dict[str, int] = field(default_factory=dict)
    _looks: dict[str, SeenFile] = field(default_factory=dict)

    def __len__(self) -> int:
        return sum(self._alive)

    def advance(self, names: Sequence[str], enough: Callable[[], bool]) -> None:
        """Read the lines that came since.

        Args:
            names: of the files by now; those read before, and then further ones.
            enough: asked now and then whether to stop; the next call goes on.

        Raises:
            Gone: a file cannot be read.
        """
        if names[: len(self.names)] != self.names or not all(map(self._is_same, self._ends)):
            self._forget()
        self.names = list(names)
        self.complete = self.torn = False
        for number, name in enumerate(self.names):
            if not self._read(number, name, enough):
                return
        self.complete = True

    def _is_same(self, name: str) -> bool:
        """Whether a file holds what was read of it, as far as its two ends and its clock say."""
        seen, end = self._looks[name], self._ends[name]
        with opened_in(self.folder, name) as stream:
            known = os.fstat(stream.fileno())
            same = known.st_ino == seen.inode and known.st_size >= end
            if known.st_size == end:
                same = same and known.st_ctime_ns == seen.changed
            if not same or stream.read(len(seen.beginning)) != seen.beginning:
                return False
            stream.seek(end - len(seen.ending))
            if stream.read(len(seen.ending)) != seen.ending:
                return False
            return seen.ending[-1:] in b"\n" or stream.read(1) in b"\r\n"

    def _forget(self) -> None:
        fresh = RowIndex(self.folder, self.read, self.names, changed=self.changed + 1)
        for name in self.__slots__:
            setattr(self, name, getattr(fresh, name))

    def _read(self, number: int, name: str, enough: Callable[[], bool]) -> bool:
        """Whether a file was read to its end."""
        at, ended = self._ends.setdefault(name, 0), True
        with opened_in(self.folder, name) as stream:
            for count, line in enumerate(lines(stream, at), 1):
                if not self._add(number, line):
                    break
                at = self._ends[name] = line.end
                if not count % GLANCE and enough():
                    ended = False
                    break
            known = os.fstat(stream.fileno())
            self.torn = self.torn or known.st_size > at
            stream.seek(0)
            beginning = stream.read(min(BEGINNING, at))
            stream.seek(max(0, at - BEGINNING))
            ending = stream.read(min(BEGINNING, at))
            self._looks[name] = SeenFile(known.st_ino, known.st_ctime_ns, beginning, ending)
        return ended

    def _add(self, number: int, line: Line) -> bool:
        """Whether the line is whole: of one without a line break, whether it is read as a row."""
        bad = False
        try:
            row = self.read(line.required)
        except UNREADABLE:
            row, bad = None, True
        if row is None and not line.ended and line.required.strip(CLOSING):
            return False
        self.changed += 1
        if bad:
            self.bad_lines += 1
            self.bad = self.bad or f"{self.names[number]}, from byte {line.offset:,}"
        if row is not None:
            self._keep(number, line.offset, row)
        return True

    def _keep(self, number: int, offset: int, row: ReadRow) -> None:
        if row.key is not None:
            before = self._keys.get(row.key)
            if before is not None:
                self._alive[before] = 0
            self._keys[row.key] = len(self.values)
        self.values.append(nan if row.value is None else row.value)
        self._reason_of.append(self._number(row))
        self._cut.append(row.cut)
        self._alive.append(1)
        self._offsets.append(offset)
        self._files.append(number)

    def _number(self, row: ReadRow) -> int:
        key = row.reason, row.value is None
        found = self._numbers.get(key)
        if found is None:
            if len(self.reasons) >= MOST_REASONS:
                key = OTHER, key[1]
            found = self._numbers.setdefault(key, len(self.reasons))
            if found == len(self.reasons):
                self.reasons.append(Reason(key[0], key[1], row.message))
        return found

    def each(self) -> Iterator[tuple[float, Reason, bool]]:
        """The reward (not a number in an unscored row), the reason, and whether it is cut off."""
        columns = zip(self._alive, self.values, self._reason_of, self._cut, strict=True)
        return (
            (value, self.reasons[reason], bool(cut))
            for alive, value, reason, cut in columns
            if alive
        )

    def rewards(self) -> list[float]:
        """The rewards of the rows that have one."""
        return [value for value, _, _ in self.each() if not isnan(value)]

    @property
    def mean(self) -> float | None:
        """Of the rewards; None without a reward."""
        found = self.rewards()
        return mean(found) if found else None

    def line(self, at: int) -> bytes:
        """A row as it is written.

        Raises:
            Gone: its file cannot be read.
            LookupError: there is no such row, or its file is another one by now.
        """
        if not 0 <= at < len(self._offsets):
            raise LookupError(f"there is no row {at + 1:,}")
        with opened_in(self.folder, self.names[self._files[at]]) as stream:
            for found in lines(stream, self._offsets[at]):
                if found.text is not None:
                    return found.text
                break
        raise LookupError(f"row {at + 1:,} is not there any more")

    def chosen(self, asked: Asked, texts: Callable[[bytes], str], size: int = SHOWN) -> Chosen:
        """A page of the rows that were asked for.

        Args:
            asked: which ones; a page past the last is the last.
            texts: of a row, among which `asked.text` is looked for.
            size: rows of a page.

        Raises:
            Gone: a file cannot be read.
        """
        rows = self._kept(asked)
        if asked.text:
            holding = self._holding(asked.text, texts)
            rows = [at for at in rows if at in holding]
        if asked.sort != "row":
            sign = -1.0 if asked.sort.startswith("-") else 1.0
            rows.sort(key=lambda at: inf if isnan(self.values[at]) else sign * self.values[at])
        pages = max(1, -(-len(rows) // size))
        page = min(max(1, asked.page), pages)
        return Chosen(len(rows), rows[(page - 1) * size : page * size], page, pages)

    def _kept(self, asked: Asked) -> list[int]:
        wanted = asked.reason.casefold()
        fits = [wanted in each.reason.casefold() for each in self.reasons]
        bounded = (asked.low, asked.high) != (-inf, inf)
        found = []
        for at, value in enumerate(self.values):
            scored = not isnan(value)
            if not self._alive[at] or not fits[self._reason_of[at]] or (asked.unscored and scored):
                continue
            if bounded and not (scored and asked.low <= value <= asked.high):
                continue
            found.append(at)
        return found

    def _holding(self, text: str, texts: Callable[[bytes], str]) -> set[int]:
        """The rows with a text that contains this one."""
        wanted, found = text.casefold(), set()
        sought = wanted.encode() if _PLAIN.fullmatch(wanted) else b""
        for number, name in enumerate(self.names):
            offsets = {self._offsets[at]: at for at in self._of(number)}
            with opened_in(self.folder, name) as stream:
                for line in lines(stream, 0):
                    if not line.text or sought not in line.text.lower():
                        continue
                    at = offsets.get(line.offset)
                    if at is not None and wanted in texts(line.text).casefold():
                        found.add(at)
        return found

    def _of(self, number: int) -> Iterator[int]:
        return (at for at, file in enumerate(self._files) if file == number)


def all_texts(value: Any) -> Iterator[str]:
    """The strings within a JSON value, not the names of its fields; numbers as they are written."""
    left = [value]
    while left:
        one = left.pop()
        if isinstance(one, dict):
            left.extend(one.values())
        elif isinstance(one, list):
            left.extend(one)
        elif one is not None:
            yield str(one)
