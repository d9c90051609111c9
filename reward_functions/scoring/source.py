"""A file that is read more than once: what comes through a pipe is kept in a temporary file.

The first reading finds out whether the file can be used, before anything is scored or paid for.
"""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from hashlib import sha256
from io import TextIOWrapper
from pathlib import Path
from shutil import copyfileobj
from tempfile import TemporaryFile, gettempdir
from typing import IO, TYPE_CHECKING, Final

from reward_functions.core.errors import ConfigurationError
from reward_functions.data.atomic import named
from reward_functions.data.rows.formats import files_of

if TYPE_CHECKING:
    from collections.abc import Iterator

STANDARD: Final = "-"
"""Standard input as FILE."""


STRETCH: Final = 1 << 20
"""Bytes that are read at a time."""


class Source:
    """The rows of a command, to be read from their beginning as often as needed.

    Args:
        file: what to hand to a reader each time.
        spool: where the rows of a pipe are kept, which then stands for standard input.

    Raises:
        BadInput: of a folder it is not known what to read.
        OSError: a file cannot be looked at.
    """

    def __init__(self, file: str, spool: IO[bytes] | None = None) -> None:
        self.file = file
        self._spool = spool
        self._listed = None if spool else files_of(file)
        self._state = self._now()

    @property
    def piped(self) -> bool:
        """Whether it came through a pipe."""
        return self._spool is not None

    def again(self) -> str:
        """The file, to be read from its beginning."""
        if self._spool:
            self._spool.seek(0)
        return self.file

    def digest(self) -> str:
        """The SHA-256 of its bytes; of a folder, of its files' names and bytes.

        Raises:
            OSError: it cannot be read.
        """
        if self._spool:
            self._spool.seek(0)
            return sha256_of(self._spool)
        if len(files := self._files()) == 1 and files[0] == Path(self.file):
            return _digest(files[0])
        above = os.path.commonpath(files)
        listed = [f"{os.path.relpath(file, above)} {_digest(file)}" for file in files]
        return sha256("\n".join(listed).encode()).hexdigest()

    def require_unchanged(self) -> None:
        """Refuse results of a file that is another one by now.

        Raises:
            ConfigurationError: somebody has written to it since.
        """
        try:
            same = self._now() == self._state
        except OSError:  # a file of it is gone
            same = False
        if not same:
            raise ConfigurationError(f"{self.file} changed while it was scored; score it again")

    def _now(self) -> tuple[tuple[int, ...], ...]:
        states = [] if self._spool else [file.stat() for file in self._files()]
        return tuple((each.st_ino, each.st_size, each.st_mtime_ns) for each in states)

    def _files(self) -> list[Path]:
        """The file, or those of a folder that are read."""
        return self._listed or [Path(self.file)]


def _digest(file: Path) -> str:
    with file.open("rb") as stream:
        return sha256_of(stream)


def sha256_of(stream: IO[bytes]) -> str:
    """The SHA-256 of a stream from here on."""
    digest = sha256()
    while piece := stream.read(STRETCH):
        digest.update(piece)
    return digest.hexdigest()


@contextmanager
def spooled(file: str) -> Iterator[Source]:
    """The rows of a file, a pipe or standard input (`-`).

    Raises:
        OSError: there is no room for what comes through a pipe, or it cannot be read.
    """
    path = Path(file)
    piped = file == STANDARD or (os.path.exists(file) and not path.is_file() and not path.is_dir())  # noqa: PTH110 - "" is no path
    if not piped:
        yield Source(file)
        return
    with TemporaryFile() as spool:
        with named(f"{gettempdir()}, where a pipe is kept"):
            if file == STANDARD:
                copyfileobj(sys.stdin.buffer, spool)
            else:
                with path.open("rb") as pipe:
                    copyfileobj(pipe, spool)
        before, sys.stdin = sys.stdin, TextIOWrapper(spool)
        try:
            yield Source(STANDARD, spool)
        finally:
            sys.stdin.detach()
            sys.stdin = before
