"""Files that appear complete or not at all, one or several together; and one that grows by lines.

A file is written beside its place, under a name of its own that begins with a point, and takes its
name when everything that belongs with it is written. An error or Ctrl-C before that leaves what was
there before, and nothing else.

A file that grows is gone on with after an interruption. A line is on the disk when `append`
returns. An incomplete last line, left by an interruption, gives way to the next one. Such a file is
written by one command at a time, and is made for its owner alone.
"""

from __future__ import annotations

import json
import os
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from errno import EEXIST, EISDIR, ENOTDIR
from io import BufferedWriter, FileIO, TextIOWrapper
from stat import S_ISREG
from typing import TYPE_CHECKING, Any, Final, Literal, Self

from reward_functions.core.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path
    from typing import TextIO


@contextmanager
def replaced(path: Path) -> Iterator[TextIO]:
    """A file to write, which replaces the one at a path once it is complete.

    The unfinished file stands beside it from the beginning, so that a folder that cannot be written
    to is found out in time.

    Raises:
        OSError: it cannot be written.
    """
    with Together() as files:
        yield files.opened(path)


@contextmanager
def named(name: Path | str) -> Iterator[None]:
    """Let an error of writing name its file: the system's, of a full disk, names none."""
    try:
        yield
    except BrokenPipeError:  # no failure: who reads has read enough
        raise
    except OSError as error:
        if error.filename is None:
            error.filename = str(name)
        raise


class _Named(FileIO):
    """A file whose errors of writing name it.

    Args:
        path: where it is.
        mode: as of `open`, w or x.
        name: what an error calls it.
    """

    def __init__(self, path: Path, mode: str, name: str) -> None:
        super().__init__(path, mode)
        self._shown = name

    def write(self, text: Any, /) -> int:
        """Write bytes.

        Raises:
            OSError: it cannot be written; the error names it.
        """
        with named(self._shown):
            return super().write(text)


def opened(path: Path, mode: Literal["w", "x"], name: str) -> TextIO:
    """A text file to write in UTF-8, all of whose errors name it.

    Args:
        path: where it is.
        mode: w replaces what is there, x refuses to.
        name: what an error calls it.

    Raises:
        OSError: it cannot be opened.
    """
    return TextIOWrapper(BufferedWriter(_Named(path, mode, name)), encoding="utf-8")


class Together:
    """Files that take their names together, at the end of the `with`, or none of them does.

    Args:
        spared: files and folders that are read meanwhile, and never written to.
    """

    def __init__(self, spared: Iterable[Path] = ()) -> None:
        self._spared = [path.resolve() for path in spared]
        self._stack = ExitStack()
        self._made: list[Path] = []
        self._begun: list[Path] = []
        self._files: dict[Path, Path] = {}

    def __enter__(self) -> Self:
        self._stack.__enter__()
        return self

    def folder(self, path: Path) -> Path:
        """A folder to write to, made where it is missing, and gone again where nothing comes of it.

        Raises:
            OSError: it cannot be made.
        """
        for missing in reversed([path, *path.parents]):
            if not missing.exists():
                missing.mkdir()
                self._made.append(missing)
        if not path.is_dir():
            raise NotADirectoryError(ENOTDIR, os.strerror(ENOTDIR), str(path))
        return path

    def opened(self, path: Path, name: str | None = None) -> TextIO:
        """A text file to write, at a path that it takes in the end; a device is written to.

        Args:
            path: of the file.
            name: what an error calls it; its path without.

        Raises:
            OSError: it cannot be made, or would replace what is spared.
        """
        if path.is_dir():  # found out before anything takes its name
            raise IsADirectoryError(EISDIR, os.strerror(EISDIR), str(path))
        if path.exists() and not {path.resolve(), *path.resolve().parents}.isdisjoint(self._spared):
            raise FileExistsError(EEXIST, "it is being read; write to another folder", str(path))
        if path.exists() and not path.is_file():  # /dev/stdout, which nothing may replace
            return self._stack.enter_context(opened(path, "w", name or str(path)))
        unfinished = path.with_name(f".{path.name}.{os.getpid()}.unfinished")
        self._begun.append(unfinished)  # first: Ctrl-C may come as soon as the file is there
        try:
            stream = self._stack.enter_context(opened(unfinished, "x", name or str(path)))
        except OSError as error:
            error.filename = name or str(path)  # nobody knows the unfinished one
            raise
        self._files[unfinished] = path
        return stream

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, *_: object
    ) -> None:
        try:
            self._close(kind is not None)
            if kind is None:
                for unfinished, path in self._files.items():
                    unfinished.replace(path)
                self._made.clear()
        finally:
            for unfinished in self._begun:
                unfinished.unlink(missing_ok=True)
            for folder in reversed(self._made):
                with suppress(OSError):  # somebody else has put something there meanwhile
                    folder.rmdir()
        if kind is KeyboardInterrupt and error and not error.args and self._files:
            names = ", ".join(map(str, self._files.values()))
            raise KeyboardInterrupt(f"interrupted: nothing of {names} is written") from None

    def _close(self, failed: bool) -> None:  # noqa: FBT001
        """Close all files; after a failure, another one on the way says nothing new."""
        with suppress(OSError) if failed else nullcontext():
            self._stack.close()


PRIVATE: Final = 0o600
"""The mode of a new file: what models answer may repeat their prompts."""


class AppendedLines:
    """A file of lines, open for appending; nothing is changed before the first `append`.

    Args:
        path: of the file; an existing one is continued.

    Attributes:
        length: bytes of its whole lines.
        torn: what stands after them: the beginning of a line, or nothing.

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
            OSError: it cannot be written, and names the file. The former contents stay.
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
    """Refuse what is no regular file: a device has no end, and is read for ever."""
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
