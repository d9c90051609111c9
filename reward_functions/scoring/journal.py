"""The results of a run while it goes on: one line a row, in a file that survives an interrupt.

Beside an output file OUT it is OUT.partial, and its first line says what was scored with what: only
a run of the same file, reward, version and parameters goes on with it. Each further line is a
result as it will be written, a tab, and its facts. A line that was cut off by the end of a process
is dropped with all after it. Without an output file it has no name, and is gone with the process.
"""

from __future__ import annotations

import fcntl
import json
import os
from array import array
from contextlib import ExitStack, contextmanager, suppress
from functools import lru_cache, partial
from tempfile import TemporaryFile, gettempdir
from typing import IO, TYPE_CHECKING, Any, Final

from reward_functions.core.errors import ConfigurationError
from reward_functions.data.atomic import named
from reward_functions.reports.score_report.digest import RowFacts
from reward_functions.reports.score_report.reasons import DATA
from reward_functions.scoring.results import RowResult

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path
    from typing import Self

SUFFIX: Final = ".partial"

MARK: Final = "partial results of reward score"
"""The first key of such a file."""

ROWS: Final = "rows"
"""How many the file has, for who looks on: it is compared with nothing."""

LONGEST: Final = 1 << 20
"""Bytes of its first line."""

NOWHERE: Final = -1
"""The offset of a row that has no result yet."""


class Journal:
    """The results so far. A row is known by its position in the file, from 0; eight bytes each.

    Args:
        stream: where they are written.
        rows: how many the file has.
        path: of the stream; None where it has no name.
    """

    def __init__(self, stream: IO[bytes], rows: int, path: Path | None = None) -> None:
        self.path = path
        self.kept = 0
        self.written = 0
        self._stream = stream
        self._offsets = array("q", [NOWHERE]) * rows
        self._end = stream.seek(0, os.SEEK_END)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        """Leave the file to a later run where an interrupt ended this one, or had ended another."""
        self._stream.close()
        interrupted = kind is not None and issubclass(kind, KeyboardInterrupt)
        if kind is None or not (self.kept or (interrupted and self.done)):
            self.remove()

    def __len__(self) -> int:
        """How many rows the file has."""
        return len(self._offsets)

    @property
    def done(self) -> int:
        """How many rows have a result."""
        return len(self) - self._offsets.count(NOWHERE)

    def __contains__(self, at: int) -> bool:
        """Whether the row has a result that needs no second attempt."""
        return self._offsets[at] != NOWHERE

    def __getitem__(self, at: int) -> RowResult:
        """The result of a row that has one."""
        line, facts = self._line(at)
        _, *parts = json.loads(facts)
        found, row = RowFacts(*parts), json.loads(line)
        message = row["error"]["message"] if found.error else ""
        return RowResult(row["id"], line, found, message)

    def add(self, positions: Iterable[int], results: Iterable[RowResult]) -> None:
        """Write the results of rows; they outlive this process, and an interrupt, from here on.

        Raises:
            OSError: there is no room for them.
        """
        lines = {
            at: f"{result.line}\t{_text(at, result.facts)}\n".encode()
            for at, result in zip(positions, results, strict=True)
        }
        put = partial(self._put, lines, self._end, self.written + len(lines))
        try:
            put()
        except KeyboardInterrupt:
            put()
            raise

    def _put(self, lines: Mapping[int, bytes], end: int, written: int) -> None:
        """Write lines at an offset; a second time changes nothing."""
        self._stream.seek(end)
        with named(self.path or f"{gettempdir()}, where results wait"):
            self._stream.writelines(lines.values())
            self._stream.flush()
        for at, line in lines.items():
            self._offsets[at] = end
            end += len(line)
        self._end, self.written = end, written

    def lines(self, positions: Iterable[int]) -> Iterator[str]:
        """The results of rows, as they are written."""
        here = NOWHERE
        for at in positions:
            if here != self._offsets[at]:
                here = self._stream.seek(self._offsets[at])
            line = self._stream.readline()
            here += len(line)
            yield line.decode().rpartition("\t")[0]

    def remove(self) -> None:
        """Give up the file."""
        if self.path:
            self.path.unlink(missing_ok=True)

    def read_kept(self) -> None:
        """Take over the rows of an interrupted run; our failures are to be scored again."""
        self._stream.seek(0)
        end = len(self._stream.readline())
        for line in self._stream:
            try:
                facts = json.loads(line.rpartition(b"\t")[2])
                at, error = range(len(self._offsets))[facts[0]], RowFacts(*facts[1:]).error
                again = error is not None and error[2] != DATA
                self._offsets[at] = NOWHERE if again else end
            except (ValueError, TypeError, IndexError):
                break
            if not line.endswith(b"\n"):
                self._offsets[at] = NOWHERE
                break
            end += len(line)
        self._stream.truncate(end)
        self._stream.seek(end)
        self._end = end
        self.kept = self.done

    def _line(self, at: int) -> tuple[str, str]:
        if self._stream.tell() != self._offsets[at]:
            self._stream.seek(self._offsets[at])
        line, _, facts = self._stream.readline().decode().rpartition("\t")
        return line, facts


def _text(at: int, facts: RowFacts) -> str:
    """The facts of a row as a JSON array, a third faster than `json` writes one."""
    if facts.error:
        return json.dumps([at, *facts])
    value, reason, prompt, length, signs, _ = facts
    return f"[{at}, {value!r}, {_quoted(reason)}, {prompt}, {length}, {signs}]"


@lru_cache
def _quoted(reason: str) -> str:
    return json.dumps(reason)


def unnamed(rows: int) -> Journal:
    """A journal that is gone with the process."""
    return Journal(TemporaryFile(), rows)


@contextmanager
def beside(
    output: Path, identity: Mapping[str, Any], rows: int, *, resume: bool
) -> Iterator[Journal]:
    """The journal beside an output file. An interrupt before it is open leaves no file.

    Args:
        output: the file.
        identity: what is scored with what, by name.
        rows: how many the file has.
        resume: go on with one that an interrupted run has left.

    Raises:
        ConfigurationError: another run has left one and is not to be resumed, still writes to it,
            or scored something else.
        OSError: it cannot be written.
    """
    path = output.with_name(output.name + SUFFIX)
    found = path.exists()
    if found and not resume:
        raise ConfigurationError(
            f"{path.name} holds the rows of an interrupted run: add --resume to go on with it, or "
            "remove it"
        )
    with ExitStack() as opened:
        if not found:
            opened.callback(path.unlink, missing_ok=True)
        stream = os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT, 0o666), "r+b")
        opened.callback(stream.close)
        if not _locked(stream):
            opened.pop_all()
            stream.close()
            raise ConfigurationError(f"{path.name} is being written by another run")
        journal = Journal(stream, rows, path)
        before = _identity(stream, path)
        if before is None:
            _begin(stream, {**identity, ROWS: rows})
            journal = Journal(stream, rows, path)
        else:
            _require_same(before, identity, path)
            journal.read_kept()
        with journal:
            opened.pop_all()
            yield journal


def _locked(stream: IO[bytes]) -> bool:
    """Whether this run alone writes to it."""
    try:
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _begin(stream: IO[bytes], identity: Mapping[str, Any]) -> None:
    stream.truncate(0)
    stream.seek(0)
    stream.write(json.dumps({MARK: True, **identity}).encode() + b"\n")
    stream.flush()


def _identity(stream: IO[bytes], path: Path) -> dict[str, Any] | None:
    """The first line; None where there is none, or it was cut off.

    Raises:
        ConfigurationError: the file is somebody's own.
    """
    stream.seek(0)
    line = stream.readline(LONGEST)
    if not line.endswith(b"\n") and len(line) < LONGEST:
        return None
    with suppress(ValueError):
        found = json.loads(line)
        if isinstance(found, dict) and MARK in found:
            return found
    raise ConfigurationError(f"{path.name} is no file of an interrupted run; remove it")


def _require_same(before: Mapping[str, Any], now: Mapping[str, Any], path: Path) -> None:
    different = [name for name in now if before.get(name) != now[name]]
    if different:
        raise ConfigurationError(
            f"{path.name} is of another run: it differs in {', '.join(different)}; remove it, or "
            "write to another file"
        )
