"""Files that appear complete or not at all, one or several together.

A file is written beside its place, under a name of its own that begins with a point, and takes its
name when everything that belongs with it is written. An error or Ctrl-C before that leaves what was
there before, and nothing else.
"""

from __future__ import annotations

import os
from contextlib import ExitStack, contextmanager, suppress
from errno import EEXIST, EISDIR, ENOTDIR
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
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
    if path.exists() and not path.is_file():  # /dev/stdout is written to, not replaced
        with path.open("w", encoding="utf-8") as stream:
            yield stream
        return
    with Together() as files:
        yield files.opened(path)


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

    def opened(self, path: Path) -> TextIO:
        """A text file to write, at a path that it takes in the end.

        Raises:
            OSError: it cannot be made, or would replace what is spared.
        """
        if path.is_dir():  # found out before anything takes its name
            raise IsADirectoryError(EISDIR, os.strerror(EISDIR), str(path))
        if path.exists() and not {path.resolve(), *path.resolve().parents}.isdisjoint(self._spared):
            raise FileExistsError(EEXIST, "it is being read; write to another folder", str(path))
        unfinished = path.with_name(f".{path.name}.{os.getpid()}.unfinished")
        self._begun.append(unfinished)  # first: Ctrl-C may come as soon as the file is there
        try:
            stream = self._stack.enter_context(unfinished.open("x", encoding="utf-8"))
        except OSError as error:
            error.filename = str(path)  # nobody knows the unfinished one
            raise
        self._files[unfinished] = path
        return stream

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        try:
            self._stack.close()
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
