"""A file that grows by whole lines of JSON, and is gone on with after an interruption.

A line is on the disk when `append` returns. An incomplete last line, left by an interruption, gives
way to the next one. A file is written by one command at a time, and is made for its owner alone.
"""

from __future__ import annotations

import json
import os
from stat import S_ISREG
from typing import TYPE_CHECKING, Any, Final, Self

from reward_functions.core.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

PRIVATE: Final = 0o600
"""The mode of a new file: what models answer may repeat their prompts."""


class AppendedLines:
    """A file of lines, open for appending; nothing is changed before the first `append`.

    Args:
        path: of the file; an existing one is continued.

    Attributes:
        length: bytes of its whole lines.
        torn: what stands behind them: the beginning of a line, or nothing.

    Raises:
        ConfigurationError: another command writes to it, or it is no regular file.
        OSError: it cannot be read or written.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = os.open(path, os.O_RDWR | os.O_CREAT, PRIVATE)
        self.length, self.torn = 0, b""
        try:
            _require_regular(self._file, path)
            _lock(self._file, path)
            for line in self._read():
                if line.endswith(b"\n"):
                    self.length += len(line)
                else:
                    self.torn = line
        except (ConfigurationError, OSError):
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def whole(self) -> Iterator[bytes]:
        """The whole lines, one after the other."""
        return (line for line in self._read() if line.endswith(b"\n"))

    def append(self, line: Mapping[str, Any]) -> None:
        """Write one object as a line of strict JSON.

        Raises:
            OSError: it cannot be written, and names the file. What stood there before still does.
            ValueError: it holds what JSON cannot, such as NaN.
        """
        left = text = f"{json.dumps(line, allow_nan=False)}\n".encode()
        try:
            os.ftruncate(self._file, self.length)
            os.lseek(self._file, self.length, os.SEEK_SET)
            while left:
                left = left[os.write(self._file, left) :]
            os.fsync(self._file)
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(self._path)) from None
        self.length, self.torn = self.length + len(text), b""

    def close(self) -> None:
        """Let other commands write to it."""
        os.close(self._file)

    def _read(self) -> Iterator[bytes]:
        os.lseek(self._file, 0, os.SEEK_SET)
        with open(self._file, "rb", closefd=False) as stream:
            yield from stream


def _require_regular(file: int, path: Path) -> None:
    """Nothing, where it ends: a device is read for ever."""
    if not S_ISREG(os.fstat(file).st_mode):
        raise ConfigurationError(f"{path} is no regular file: give another with --out")


def _lock(file: int, path: Path) -> None:
    """Keep other commands out for as long as the file is open."""
    try:
        from fcntl import LOCK_EX, LOCK_NB, flock  # noqa: PLC0415 - Windows has none
    except ImportError:
        return
    try:
        flock(file, LOCK_EX | LOCK_NB)
    except BlockingIOError:
        raise ConfigurationError(
            f"{path}: another command writes there: wait for it, or give another file with --out"
        ) from None
